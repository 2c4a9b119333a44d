//! Requests over connections that are kept.

use std::error::Error as _;

use checkrein_core::{Failure, FailureKind};
use hyper::Request;

use super::body::Pieces;
use super::connect::Connector;
use super::link::{Answer, Link};
use super::pool::Pool;
use super::sign::Ids;
use super::target::Origin;

/// What all hooks of an engine send their requests with.
pub(super) struct Client {
    pub(super) ids: Ids,
    connector: Connector,
    pool: Pool,
}

impl Client {
    pub(super) fn new(connector: Connector) -> Self {
        Self { ids: Ids::new(), connector, pool: Pool::default() }
    }

    /// Sends a request and reads the answer up to the cap. The request is made a second time only if a connection that was
    /// kept has gone.
    pub(super) async fn exchange(
        &self,
        origin: &Origin,
        cap: usize,
        request: impl Fn() -> Result<Request<Pieces>, Failure>,
    ) -> Result<Answer, Failure> {
        let broken = |error: &hyper::Error| net_failure(origin, &told(error));
        while let Some(mut link) = self.pool.take(origin) {
            if !link.is_idle() {
                continue;
            }
            match link.send(request()?).await {
                Ok(response) => {
                    let answer = link.read(response, cap).await.map_err(|error| broken(&error))?;
                    self.keep(origin, link, &answer);
                    return Ok(answer);
                }
                // A server may close a connection in the moment in which it is used again. The request is then sent once
                // more, on a new one; should both arrive, they have the same id.
                Err(error) if was_closed(&error) => break,
                Err(error) => return Err(broken(&error)),
            }
        }
        // Boxed, since it is rarely needed, and large: there may be a TLS handshake in it.
        Box::pin(self.exchange_anew(origin, cap, request()?)).await
    }

    /// The same on a new connection.
    async fn exchange_anew(&self, origin: &Origin, cap: usize, request: Request<Pieces>) -> Result<Answer, Failure> {
        let broken = |error: hyper::Error| net_failure(origin, &told(&error));
        let stream = self.connector.connect(origin).await.map_err(|why| net_failure(origin, &why))?;
        let mut link = Link::open(stream).await.map_err(broken)?;
        let response = link.send(request).await.map_err(broken)?;
        let answer = link.read(response, cap).await.map_err(broken)?;
        self.keep(origin, link, &answer);
        Ok(answer)
    }

    fn keep(&self, origin: &Origin, mut link: Link, answer: &Answer) {
        if !answer.body.is_cut() && link.is_idle() {
            self.pool.put(origin, link);
        }
    }
}

pub(super) fn net_failure(origin: &Origin, why: &str) -> Failure {
    Failure::new(FailureKind::HttpNet, format!("{origin} cannot be called: {why}"))
}

/// Whether the other side had gone before it answered.
fn was_closed(error: &hyper::Error) -> bool {
    let is_io = matches!(error.source(), Some(source) if source.is::<std::io::Error>());
    error.is_canceled() || error.is_closed() || error.is_incomplete_message() || is_io
}

/// An error with all that led to it. None of them knows the URL or the headers of the request.
fn told(error: &hyper::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}
