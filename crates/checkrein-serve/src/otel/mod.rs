//! Export of spans and metrics with OpenTelemetry, over OTLP/HTTP.
//!
//! The resident process calls [`Telemetry::event`] for each event that it receives. Agents never wait for an export: the events are
//! answered before. Inputs, outputs, prompts, reasons and commands must never be exported.
//!
//! Each event is one span. Its hooks are events of the span: a record has their durations, but not their start times. The names are those of
//! checkrein, because the conventions for generative AI have no stable names for hooks. Three attributes join the spans with those of agents.

mod client;
mod names;

use std::fmt;
use std::time::{Duration, SystemTime};

use checkrein_core::{HookOutcome, HookRecord, RawJson, Record};
use checkrein_tools::decision_log::DecisionEntry;
use checkrein_tools::recording::RecordedEvent;
use jiff::Timestamp;
use opentelemetry::metrics::{Counter, Histogram, MeterProvider as _};
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Span as _, SpanKind, Status, TraceContextExt as _, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tokio::runtime::Handle;

use client::ExportClient;

use crate::protocol::ExportStatus;

/// Variable with the endpoint of a collector, which OpenTelemetry defines.
pub const ENDPOINT_VARIABLE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// Longest time of one export.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest time for the last export, when the process ends.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// Error: the export cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The endpoint is not a URL of a collector.
    #[error("`{0}` is not a URL of an OTLP collector; use a URL such as `http://127.0.0.1:4318`")]
    Endpoint(String),
    /// No certificates, or an invalid setting in a variable `OTEL_…`.
    #[error("cannot start the export of telemetry: {0}")]
    Start(String),
}

/// Settings of the export.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TelemetryOptions {
    /// Base URL of the collector. Spans go to `v1/traces` below it, metrics to `v1/metrics`.
    pub endpoint: String,
    /// Time between two exports of metrics.
    pub metric_interval: Duration,
}

impl TelemetryOptions {
    /// Settings for a collector, with the default interval of OpenTelemetry.
    pub fn new(endpoint: impl Into<String>) -> Self {
        Self { endpoint: endpoint.into(), metric_interval: Duration::from_secs(60) }
    }
}

/// Running export of events.
pub struct Telemetry {
    traces: SdkTracerProvider,
    tracer: SdkTracer,
    metrics: SdkMeterProvider,
    hook_duration: Histogram<f64>,
    decisions: Counter<u64>,
    failures: Counter<u64>,
    client: ExportClient,
}

impl Telemetry {
    /// Starts the export. It runs on the runtime of the caller.
    ///
    /// # Errors
    /// The endpoint is invalid, or the TLS client cannot start.
    pub fn start(options: &TelemetryOptions, runtime: Handle) -> Result<Self, TelemetryError> {
        let base = options.endpoint.trim_end_matches('/');
        if !(base.starts_with("http://") || base.starts_with("https://")) {
            return Err(TelemetryError::Endpoint(options.endpoint.clone()));
        }
        let started = |error: &dyn fmt::Display| TelemetryError::Start(error.to_string());
        let client = ExportClient::new(runtime, EXPORT_TIMEOUT).map_err(|error| started(&error))?;
        let spans = SpanExporter::builder()
            .with_http()
            .with_http_client(client.clone())
            .with_protocol(Protocol::HttpJson)
            .with_endpoint(format!("{base}/v1/traces"))
            .build()
            .map_err(|error| started(&error))?;
        let metrics = MetricExporter::builder()
            .with_http()
            .with_http_client(client.clone())
            .with_protocol(Protocol::HttpJson)
            .with_endpoint(format!("{base}/v1/metrics"))
            .build()
            .map_err(|error| started(&error))?;
        let resource = Resource::builder()
            .with_service_name("checkrein")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let traces = SdkTracerProvider::builder().with_batch_exporter(spans).with_resource(resource.clone()).build();
        let reader = PeriodicReader::builder(metrics).with_interval(options.metric_interval).build();
        let metrics = SdkMeterProvider::builder().with_reader(reader).with_resource(resource).build();
        let meter = metrics.meter("checkrein");
        Ok(Self {
            tracer: traces.tracer("checkrein"),
            hook_duration: meter.f64_histogram(names::HOOK_DURATION).with_unit("s").build(),
            decisions: meter.u64_counter(names::DECISIONS).build(),
            failures: meter.u64_counter(names::HOOK_FAILURES).build(),
            traces,
            metrics,
            client,
        })
    }

    /// Exports an event. `traceparent` is the variable `TRACEPARENT` of the agent's call: the span becomes a part of that trace.
    pub fn event(&self, entry: &DecisionEntry, record: Option<&Record>, traceparent: Option<&str>) {
        self.count(entry, record);
        let end = entry.time.parse::<Timestamp>().map_or_else(|_| SystemTime::now(), SystemTime::from);
        let start = end.checked_sub(Duration::from_micros(entry.us)).unwrap_or(end);
        let mut span = self
            .tracer
            .span_builder(format!("{} {}", names::EVENT, entry.event))
            .with_kind(SpanKind::Internal)
            .with_start_time(start)
            .with_attributes(names::event_attributes(entry))
            .start_with_context(&self.tracer, &parent(traceparent));
        for hook in record.map(|record| record.hooks.as_slice()).unwrap_or_default() {
            span.add_event_with_timestamp(names::HOOK, end, names::hook_attributes(hook));
        }
        if record.is_some_and(|record| record.hooks.iter().any(has_failed)) {
            span.set_status(Status::error("a hook failed"));
        }
        span.end_with_timestamp(end);
    }

    /// As [`event`](Self::event), for a line of the decision log and a [`RecordedEvent`] in JSON. Returns `false` if the line is not
    /// valid.
    pub fn line(&self, line: &str, record: Option<&RawJson>, traceparent: Option<&str>) -> bool {
        let Ok(entry) = serde_json::from_str::<DecisionEntry>(line) else { return false };
        let recorded = record.and_then(|recorded| recorded.read::<RecordedEvent>().ok());
        self.event(&entry, recorded.as_ref().map(|recorded| &recorded.record), traceparent);
        true
    }

    fn count(&self, entry: &DecisionEntry, record: Option<&Record>) {
        if entry.repeat {
            return;
        }
        let mut common = vec![KeyValue::new(names::ATTRIBUTE_EVENT, entry.event.clone())];
        common.push(KeyValue::new(names::ATTRIBUTE_AGENT, entry.agent.clone()));
        let mut decided = common.clone();
        decided.push(KeyValue::new(names::ATTRIBUTE_DECISION, entry.verdict.to_string()));
        self.decisions.add(1, &decided);
        for hook in record.map(|record| record.hooks.as_slice()).unwrap_or_default() {
            let mut attributes = common.clone();
            attributes.push(KeyValue::new(names::ATTRIBUTE_HOOK, hook.id.clone()));
            if let Some(kind) = hook.failure {
                let mut failed = attributes.clone();
                failed.push(KeyValue::new(names::ATTRIBUTE_FAILURE, kind.name()));
                self.failures.add(1, &failed);
            }
            if let Some(duration) = hook.duration_ms {
                attributes.push(KeyValue::new(names::ATTRIBUTE_OUTCOME, names::outcome(hook.outcome)));
                self.hook_duration.record(Duration::from_millis(duration).as_secs_f64(), &attributes);
            }
        }
    }

    /// Exports so far, for `checkrein serve status`.
    pub fn status(&self) -> ExportStatus {
        self.client.status()
    }

    /// Exports the rest and ends. Blocks for a few seconds at most, so a task calls it through `spawn_blocking`.
    pub fn stop(&self) {
        let _ = self.traces.shutdown_with_timeout(STOP_TIMEOUT);
        let _ = self.metrics.shutdown_with_timeout(STOP_TIMEOUT);
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry").field("status", &self.status()).finish_non_exhaustive()
    }
}

fn has_failed(hook: &HookRecord) -> bool {
    hook.outcome == HookOutcome::Failure
}

/// Returns the context of the agent's span, or an empty one.
fn parent(traceparent: Option<&str>) -> Context {
    let Some(value) = traceparent else { return Context::new() };
    let carrier = std::collections::HashMap::from([("traceparent".to_owned(), value.to_owned())]);
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier);
    if context.span().span_context().is_valid() { context } else { Context::new() }
}

#[cfg(test)]
mod tests;
