//! HTTP client of the exporters. The threads of OpenTelemetry use it, which have no tokio runtime, so it sends requests on the runtime of
//! the process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

use crate::protocol::ExportStatus;

type Connector = HttpsConnector<HttpConnector>;
type HttpConnector = hyper_util::client::legacy::connect::HttpConnector;

#[derive(Debug, Clone)]
pub(super) struct ExportClient {
    inner: HyperClient<Connector>,
    runtime: Handle,
    status: Arc<Mutex<ExportStatus>>,
}

impl ExportClient {
    /// Creates a client with the certificates of the system.
    pub(super) fn new(runtime: Handle, timeout: Duration) -> std::io::Result<Self> {
        let builder = HttpsConnectorBuilder::new();
        let provider = rustls::crypto::ring::default_provider();
        let connector = builder.with_provider_and_native_roots(provider)?.https_or_http().enable_http1().build();
        Ok(Self { inner: HyperClient::new(connector, timeout, None), runtime, status: Arc::default() })
    }

    pub(super) fn status(&self) -> ExportStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl HttpClient for ExportClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.inner.clone();
        let sent = self.runtime.spawn(async move { client.send_bytes(request).await }).await;
        let result = sent.map_err(HttpError::from).and_then(|answer| answer);
        let error = match &result {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("the collector answered with status {}", response.status())),
            Err(error) => Some(error.to_string()),
        };
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        match error {
            None => status.accepted += 1,
            Some(error) => (status.failed, status.last_error) = (status.failed + 1, Some(error)),
        }
        result
    }
}
