//! HTTP client of the terminal view: it reads the API of the live page, over loopback.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use hyper::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN, SET_COOKIE};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc::Sender;

/// Maximum size of an answer, in bytes.
const MAX_ANSWER: usize = 32 << 20;

/// Longest time of one request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Error: the page's server gave no usable answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApiError {
    /// The login is unknown, for example after a restart of the process.
    #[error("not logged in")]
    LoggedOut,
    #[error("the resident process does not answer: {0}")]
    Connection(String),
    #[error("{0}")]
    Refused(String),
}

impl ApiError {
    fn connection(error: impl std::fmt::Display) -> Self {
        Self::Connection(error.to_string())
    }
}

/// A session of the API.
#[derive(Debug, Clone)]
pub(super) struct Api {
    /// Address and port.
    host: String,
    cookie: String,
    page: String,
}

impl Api {
    /// Logs in with an address that has a one-time token in its fragment.
    pub(super) async fn login(url: &str) -> Result<Self, ApiError> {
        let (address, token) = url.split_once('#').ok_or_else(|| ApiError::connection("the login has no token"))?;
        let host = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let mut api = Self { host, cookie: String::new(), page: String::new() };
        let response = api.send(Method::POST, "/login", Some(&json!({ "token": token }))).await?;
        let cookie = response.headers().get(SET_COOKIE).and_then(|cookie| cookie.to_str().ok());
        api.cookie = cookie.and_then(|cookie| cookie.split(';').next()).unwrap_or_default().to_owned();
        #[derive(Deserialize)]
        struct Page {
            page: String,
        }
        let Page { page } = read(response).await?;
        api.page = page;
        Ok(api)
    }

    /// Reads a resource.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ApiError> {
        read(self.send(Method::GET, path, None).await?).await
    }

    /// Sends a message for each change, until the connection ends.
    pub(super) async fn follow(&self, changed: &Sender<()>) -> Result<(), ApiError> {
        let response = self.open(Method::GET, "/api/changes", None).await?;
        check(response.status())?;
        let mut body = response.into_body();
        while let Some(frame) =
            std::future::poll_fn(|context| hyper::body::Body::poll_frame(std::pin::Pin::new(&mut body), context)).await
        {
            let frame = frame.map_err(ApiError::connection)?;
            // Comments keep the connection alive.
            if frame.data_ref().is_some_and(|data| !data.starts_with(b":")) {
                // A full channel has a message that was not read yet.
                let _ = changed.try_send(());
            }
        }
        Err(ApiError::connection("the connection ended"))
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Response<Body>, ApiError> {
        let response = tokio::time::timeout(TIMEOUT, self.open(method, path, body)).await;
        let response = response.map_err(|_| ApiError::connection("no answer in 10 s"))??;
        check(response.status())?;
        Ok(response)
    }

    /// Sends a request over its own connection.
    async fn open(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Response<Body>, ApiError> {
        let stream = TcpStream::connect(&self.host).await.map_err(ApiError::connection)?;
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(ApiError::connection)?;
        tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.host)
            .header(ORIGIN, format!("http://{}", self.host));
        if !self.page.is_empty() {
            request = request.header(COOKIE, &self.cookie).header("x-checkrein-page", &self.page);
        }
        let body = match body {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        let request = request.body(body).map_err(ApiError::connection)?;
        let response = sender.send_request(request).await.map_err(ApiError::connection)?;
        Ok(response.map(Body::new))
    }
}

fn check(status: StatusCode) -> Result<(), ApiError> {
    match status {
        StatusCode::UNAUTHORIZED => Err(ApiError::LoggedOut),
        status if status.is_success() => Ok(()),
        status => Err(ApiError::Refused(format!("the resident process answered with status {status}"))),
    }
}

async fn read<T: DeserializeOwned>(response: Response<Body>) -> Result<T, ApiError> {
    let bytes = to_bytes(response.into_body(), MAX_ANSWER).await.map_err(ApiError::connection)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ApiError::Refused(format!("the answer has an unknown form: {error}")))
}
