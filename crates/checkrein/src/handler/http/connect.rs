//! Connector of the HTTP client.
//!
//! The connector resolves each host name once per connection and connects only to allowed addresses.
//! [`Target`](super::Target) checks hosts that are IP addresses.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::vec;

use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use rustls::ClientConfig;
use tokio::net::lookup_host;
use tower_service::Service;

use super::ssrf;

/// Timeout for all addresses of a host together. An address without an answer leaves time for the others.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) type Connector = HttpsConnector<HttpConnector<Resolver>>;

pub(super) fn connector(resolver: Resolver, tls: Arc<ClientConfig>) -> Connector {
    let mut tcp = HttpConnector::new_with_resolver(resolver);
    tcp.enforce_http(false);
    // A request is one write, so Nagle's algorithm would only delay it.
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    HttpsConnector::from((tcp, tls))
}

/// Resolves a host and refuses addresses that hooks may not call.
#[derive(Clone)]
pub(super) struct Resolver {
    /// Hosts with fixed addresses.
    pub(super) known_hosts: Arc<HashMap<String, Vec<IpAddr>>>,
    pub(super) allow_private: bool,
}

impl Service<Name> for Resolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = String;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, String>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), String>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let resolver = self.clone();
        Box::pin(async move { Ok(resolver.allowed(name.as_str()).await?.into_iter()) })
    }
}

impl Resolver {
    async fn allowed(&self, name: &str) -> Result<Vec<SocketAddr>, String> {
        // The connector sets the port.
        let found: Vec<SocketAddr> = match self.known_hosts.get(name) {
            Some(known) => known.iter().map(|&ip| (ip, 0).into()).collect(),
            None => match lookup_host((name, 0)).await {
                Ok(found) => found.collect(),
                Err(error) => return Err(format!("cannot resolve the host name: {error}")),
            },
        };
        let mut refused = "the host name has no address".to_owned();
        let mut allowed = Vec::new();
        for address in found {
            let ip = address.ip();
            match ssrf::refusal(ip, self.allow_private) {
                Some(refusal) => refused = format!("the host is at {ip}, {refusal}, which hooks may not call"),
                None => allowed.push(address),
            }
        }
        if allowed.is_empty() { Err(refused) } else { Ok(allowed) }
    }
}
