//! Making connections.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::Host;

use super::address;
use super::link::Stream;
use super::target::Origin;

/// How long one address of a host may keep the next one waiting.
const HEAD_START: Duration = Duration::from_millis(250);

/// Makes connections.
#[derive(Default)]
pub(super) struct Connector {
    /// Addresses of hosts that the system is not asked for.
    pub(super) known_hosts: HashMap<String, Vec<IpAddr>>,
    /// Who is trusted besides those whom the system trusts.
    pub(super) extra_roots: Vec<CertificateDer<'static>>,
    /// Made when it is first needed: reading what the system trusts takes milliseconds.
    tls: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl Connector {
    pub(super) fn new(known_hosts: HashMap<String, Vec<IpAddr>>, extra_roots: Vec<CertificateDer<'static>>) -> Self {
        Self { known_hosts, extra_roots, tls: OnceLock::new() }
    }

    /// # Errors
    /// Why there is no connection, in words that show nothing of the URL but its origin.
    pub(super) async fn connect(&self, origin: &Origin) -> Result<Box<dyn Stream>, String> {
        let stream = reach(self.addresses(origin).await?).await.map_err(|error| error.to_string())?;
        // Requests are written in one go; waiting for more of them only costs time.
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        if !origin.tls {
            return Ok(Box::new(stream));
        }
        let config = self.tls.get_or_init(|| tls_config(&self.extra_roots)).clone()?;
        let name = match &origin.host {
            Host::Domain(name) => ServerName::try_from(name.clone()).map_err(|error| error.to_string())?,
            Host::Ipv4(ip) => IpAddr::from(*ip).into(),
            Host::Ipv6(ip) => IpAddr::from(*ip).into(),
        };
        let stream = TlsConnector::from(config).connect(name, stream).await;
        Ok(Box::new(stream.map_err(|error| {
            let hint = if is_of_unknown_issuer(&error) { format!(" ({TRUSTING})") } else { String::new() };
            format!("no TLS: {error}{hint}")
        })?))
    }

    /// The addresses that may be connected to. They are looked up once, and nobody looks again before connecting: a name
    /// cannot mean one address when it is checked and another one when it is used.
    async fn addresses(&self, origin: &Origin) -> Result<Vec<SocketAddr>, String> {
        let found: Vec<IpAddr> = match &origin.host {
            Host::Ipv4(ip) => vec![(*ip).into()],
            Host::Ipv6(ip) => vec![(*ip).into()],
            Host::Domain(name) => match self.known_hosts.get(name) {
                Some(known) => known.clone(),
                None => tokio::net::lookup_host((name.as_str(), origin.port))
                    .await
                    .map_err(|error| format!("its address cannot be found: {error}"))?
                    .map(|address| address.ip())
                    .collect(),
            },
        };
        let mut refused = None;
        let mut allowed = Vec::new();
        for ip in found {
            match address::refusal(ip, origin.allow_private) {
                Some(refusal) => refused = Some(format!("it is at {ip}, {refusal}, which hooks may not call")),
                None => allowed.push(SocketAddr::new(ip, origin.port)),
            }
        }
        if allowed.is_empty() { Err(refused.unwrap_or_else(|| "it has no address".to_owned())) } else { Ok(allowed) }
    }
}

/// A connection to the first address that answers. They are tried in order, and side by side when one takes long.
async fn reach(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    if let [only] = *addresses {
        return TcpStream::connect(only).await;
    }
    let mut error = io::Error::new(io::ErrorKind::NotFound, "no address");
    // Those that are still tried end with the set.
    let mut tried = JoinSet::new();
    let mut addresses = addresses.into_iter();
    loop {
        let next = addresses.next();
        if let Some(address) = next {
            tried.spawn(TcpStream::connect(address));
        }
        let wait = if next.is_some() { HEAD_START } else { Duration::MAX };
        match tokio::time::timeout(wait, tried.join_next()).await {
            Ok(Some(Ok(Ok(stream)))) => return Ok(stream),
            Ok(Some(Ok(Err(failed)))) => error = failed,
            Ok(Some(Err(failed))) => error = failed.into(),
            Ok(None) => return Err(error),
            // The next address has its turn.
            Err(_) => {}
        }
    }
}

/// How a user says whom he trusts.
const TRUSTING: &str = "SSL_CERT_FILE can name a file with the certificates of those that are trusted";

fn is_of_unknown_issuer(error: &io::Error) -> bool {
    let error = error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>());
    matches!(error, Some(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)))
}

fn tls_config(extra_roots: &[CertificateDer<'static>]) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    // A certificate that cannot be read is not trusted; that is all there is to it.
    let _ = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let _ = roots.add_parsable_certificates(extra_roots.iter().cloned());
    if roots.is_empty() {
        return Err(format!("the system has no certificates that it trusts ({TRUSTING})"));
    }
    // Named here, since one for the whole process is the host's to choose.
    let provider = Arc::new(ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
