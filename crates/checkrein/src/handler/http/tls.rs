//! Trusted certificates, and the text of a handshake that fails.

use std::error::Error;
use std::io;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, ClientConfig, RootCertStore};

const TRUST_HINT: &str = "SSL_CERT_FILE can name a file with trusted certificates";

/// The certificates of the system and these.
pub(super) fn trusted_roots(extra: &[CertificateDer<'static>]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    // Certificates that cannot be parsed are not trusted.
    let _ = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let _ = roots.add_parsable_certificates(extra.iter().cloned());
    if roots.is_empty() {
        return Err(format!("the system has no trusted certificates ({TRUST_HINT})"));
    }
    Ok(roots)
}

pub(super) fn client_config(roots: RootCertStore) -> Result<Arc<ClientConfig>, String> {
    // The provider is given here: the provider of the process is the host's choice.
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The text of an error, if it is one of the handshake.
pub(super) fn describe(error: &(dyn Error + 'static)) -> Option<String> {
    // The connector wraps the error of the stream, which wraps that of the handshake.
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref::<io::Error>()?;
    let hint = match inner.get_ref().and_then(|cause| cause.downcast_ref()) {
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => format!(" ({TRUST_HINT})"),
        _ => String::new(),
    };
    Some(format!("no TLS: {inner}{hint}"))
}
