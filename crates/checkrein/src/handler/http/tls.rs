//! TLS settings: trusted certificates, and the text of failed handshakes.

use std::error::Error;
use std::io;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, ClientConfig, RootCertStore};

const TRUST_HINT: &str = "set SSL_CERT_FILE to a file with trusted certificates";

/// Returns the certificates of the system and `extra`.
pub(super) fn trusted_roots(extra: &[CertificateDer<'static>]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    // Certificates that cannot be parsed are not trusted.
    let _ = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let _ = roots.add_parsable_certificates(extra.iter().cloned());
    if roots.is_empty() {
        return Err(format!("the system has no trusted certificates; {TRUST_HINT}"));
    }
    Ok(roots)
}

pub(super) fn client_config(roots: RootCertStore) -> Result<Arc<ClientConfig>, String> {
    // An explicit provider: the default provider of the process belongs to the host.
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Returns the text of an error of the handshake. `None` for other errors.
pub(super) fn describe(error: &(dyn Error + 'static)) -> Option<String> {
    // The connector wraps the error of the stream, which wraps that of the handshake.
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref::<io::Error>()?;
    let hint = match inner.get_ref().and_then(|cause| cause.downcast_ref()) {
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => format!("; {TRUST_HINT}"),
        _ => String::new(),
    };
    Some(format!("TLS handshake failed: {inner}{hint}"))
}
