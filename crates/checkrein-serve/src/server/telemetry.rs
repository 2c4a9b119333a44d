//! The export of telemetry, which is a feature of the build.

#[cfg(feature = "otel")]
pub(super) use crate::otel::Telemetry;

use std::sync::Arc;

use super::StartError;

/// Starts the export to a collector.
#[cfg(feature = "otel")]
pub(super) fn start(endpoint: &str) -> Result<Arc<Telemetry>, StartError> {
    use crate::otel::TelemetryOptions;
    let telemetry = Telemetry::start(&TelemetryOptions::new(endpoint), tokio::runtime::Handle::current());
    telemetry.map(Arc::new).map_err(|error| StartError::Telemetry(error.to_string()))
}

/// There is no export in this build.
#[cfg(not(feature = "otel"))]
pub(super) fn start(_: &str) -> Result<Arc<Telemetry>, StartError> {
    let why = "this program was built without the feature `otel`; build it with `--features otel`";
    Err(StartError::Telemetry(why.to_owned()))
}

/// The export of a build without it: no value exists.
#[cfg(not(feature = "otel"))]
#[derive(Debug)]
pub(super) enum Telemetry {}

#[cfg(not(feature = "otel"))]
impl Telemetry {
    pub(super) fn line(&self, _: &str, _: Option<&checkrein_core::RawJson>, _: Option<&str>) -> bool {
        match *self {}
    }

    pub(super) fn status(&self) -> crate::protocol::ExportStatus {
        match *self {}
    }

    pub(super) fn stop(&self) {
        match *self {}
    }
}
