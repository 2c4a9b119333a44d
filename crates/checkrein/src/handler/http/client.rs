//! HTTP client, shared by all hooks of a factory.
//!
//! The client never follows redirects: [`Http`](super::Http) does, after checks.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::iter::successors;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use checkrein_core::{Captured, Failure, FailureKind};
use hyper::body::{Body as _, Incoming};
use hyper::http::Extensions;
use hyper::{HeaderMap, Request, Response};
use hyper_util::client::legacy::connect::HttpInfo;
use hyper_util::client::legacy::{self, Error as ClientError};
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::{self, Handle};

use super::body::Pieces;
use super::connect::{Connector, Resolver, connector};
use super::origin::Origin;
use super::sign::Ids;
use super::tls::{self, Certificates};

/// Maximum number of pools. The oldest one is dropped: its runtime has most likely ended.
const MAX_POOLS: usize = 16;

pub(super) struct Client {
    pub(super) ids: Ids,
    known_hosts: Arc<HashMap<String, Vec<IpAddr>>>,
    extra_roots: Vec<CertificateDer<'static>>,
    certificates: Certificates,
    /// Loaded on first use: reading the certificates of the system takes milliseconds.
    tls: OnceLock<Result<Arc<ClientConfig>, String>>,
    /// The newest pool is last.
    pools: Mutex<Vec<(PoolKey, Pool)>>,
    /// Local addresses of connections with at least one response. Closed connections are not removed: at worst a request on
    /// a new connection from the same port is sent twice, with the same id.
    used: Mutex<HashSet<SocketAddr>>,
}

type Pool = legacy::Client<Connector, Pieces>;

/// A runtime, `Origin::tls` and `Origin::allow_private`. Tasks of the runtime that opened a connection drive it, so no other
/// runtime may use it.
type PoolKey = (runtime::Id, bool, bool);

/// A response, up to the cap.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Captured,
}

impl Client {
    pub(super) fn new(
        known_hosts: HashMap<String, Vec<IpAddr>>,
        extra_roots: Vec<CertificateDer<'static>>,
        certificates: Certificates,
    ) -> Self {
        Self {
            ids: Ids::new(),
            known_hosts: Arc::new(known_hosts),
            extra_roots,
            certificates,
            tls: OnceLock::new(),
            pools: Mutex::default(),
            used: Mutex::default(),
        }
    }

    /// Sends a request and reads the response up to the cap.
    pub(super) async fn exchange(
        &self,
        origin: &Origin,
        cap: usize,
        request: impl Fn() -> Result<Request<Pieces>, Failure>,
    ) -> Result<Answer, Failure> {
        let pool = self.pool(origin).map_err(|why| net_failure(origin, &why))?;
        loop {
            match pool.request(request()?).await {
                Ok(response) => {
                    lock(&self.used).extend(local_addr(response.extensions()));
                    let answer = read(response, cap).await;
                    return answer.map_err(|error| net_failure(origin, &describe(&error)));
                }
                // A server may close an idle connection just before its reuse. The request is then sent again, with the
                // same id. On a new connection it is an error.
                Err(error) if is_closed(&error) && self.take_used(&error) => {}
                Err(error) => return Err(net_failure(origin, &describe(&error))),
            }
        }
    }

    fn pool(&self, origin: &Origin) -> Result<Pool, String> {
        let runtime = Handle::try_current().map_err(|error| error.to_string())?.id();
        let key = (runtime, origin.tls, origin.allow_private);
        let mut pools = lock(&self.pools);
        if let Some((_, pool)) = pools.iter().find(|(known, _)| *known == key) {
            return Ok(pool.clone());
        }
        let config = match origin.tls {
            true => {
                let load = || tls::client_config(tls::trusted_roots(&self.certificates, &self.extra_roots)?);
                self.tls.get_or_init(load).clone()?
            }
            // Required by the connector, but never used.
            false => tls::client_config(RootCertStore::empty())?,
        };
        let resolver = Resolver { known_hosts: Arc::clone(&self.known_hosts), allow_private: origin.allow_private };
        let pool: Pool = legacy::Client::builder(TokioExecutor::new()).build(connector(resolver, config));
        if pools.len() >= MAX_POOLS {
            pools.remove(0);
        }
        pools.push((key, pool.clone()));
        Ok(pool)
    }

    /// Removes the connection of an error. Returns `true` if it had a response before.
    fn take_used(&self, error: &ClientError) -> bool {
        let mut extensions = Extensions::new();
        if let Some(connection) = error.connect_info() {
            connection.get_extras(&mut extensions);
        }
        local_addr(&extensions).is_some_and(|address| lock(&self.used).remove(&address))
    }
}

fn local_addr(extensions: &Extensions) -> Option<SocketAddr> {
    extensions.get().map(HttpInfo::local_addr)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a response up to the cap. The rest is not read, which closes the connection.
async fn read(response: Response<Incoming>, cap: usize) -> hyper::Result<Answer> {
    let (head, mut body) = response.into_parts();
    let announced = body.size_hint().exact().unwrap_or(0);
    let (mut bytes, mut total, mut has_waited) = (Vec::new(), 0, false);
    while announced.max(total) <= cap as u64 {
        let next = poll_fn(|cx| {
            let next = Pin::new(&mut body).poll_frame(cx);
            has_waited |= next.is_pending();
            next
        });
        let Some(frame) = next.await else { break };
        // Trailers have no data.
        let data = frame?.into_data().unwrap_or_default();
        total += data.len() as u64;
        bytes.extend_from_slice(&data[..data.len().min(cap - bytes.len())]);
    }
    if has_waited {
        // Lets the client's task put the connection back into the pool. Otherwise the next request would open a new one.
        tokio::task::yield_now().await;
    }
    let body = Captured::new(bytes, total.max(announced));
    Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
}

pub(super) fn net_failure(origin: &Origin, why: &str) -> Failure {
    Failure::new(FailureKind::HttpNet, format!("cannot call {origin}: {why}"))
}

/// `true` if the server closed the connection before it responded.
fn is_closed(error: &ClientError) -> bool {
    let Some(error) = error.source().and_then(|source| source.downcast_ref::<hyper::Error>()) else { return false };
    let is_io = error.source().is_some_and(<dyn Error>::is::<io::Error>);
    error.is_canceled() || error.is_closed() || error.is_incomplete_message() || is_io
}

/// Returns the innermost cause of an error. It contains nothing of the URL or the headers of the request.
fn describe(error: &(dyn Error + 'static)) -> String {
    let causes = || successors(Some(error), |&error| error.source());
    causes().find_map(tls::describe).or_else(|| Some(causes().last()?.to_string())).unwrap_or_default()
}
