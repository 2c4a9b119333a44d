//! TLS settings: trusted certificates, and the text of failed handshakes.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, ClientConfig, RootCertStore};

const TRUST_HINT: &str = "set `ca_file` of the hook to a file with trusted certificates";

/// Trusted certificates besides those of the host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Certificates {
    /// File of the hook.
    pub(super) file: Option<PathBuf>,
    /// `true` if `SSL_CERT_FILE` and `SSL_CERT_DIR` of the process replace the certificates of the system.
    pub(super) from_variables: bool,
}

/// Returns the certificates of the system, those of the hook's file, and `extra`.
pub(super) fn trusted_roots(
    certificates: &Certificates,
    extra: &[CertificateDer<'static>],
) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    // Certificates that cannot be parsed are not trusted.
    let _ = roots.add_parsable_certificates(system_certificates(certificates.from_variables));
    let _ = roots.add_parsable_certificates(extra.iter().cloned());
    if let Some(file) = &certificates.file {
        add_file(&mut roots, file)?;
    }
    if roots.is_empty() {
        return Err(format!("the system has no trusted certificates; {TRUST_HINT}"));
    }
    Ok(roots)
}

/// Adds the certificates of a hook's file.
fn add_file(roots: &mut RootCertStore, file: &Path) -> Result<(), String> {
    let found = rustls_native_certs::load_certs_from_paths(Some(file), None);
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added > 0 {
        return Ok(());
    }
    let why = found.errors.first().map_or_else(String::new, |error| format!(" ({error})"));
    Err(format!("`ca_file` {} has no certificates in PEM format{why}", file.display()))
}

/// Checks that a hook's file has certificates.
pub(super) fn check_file(file: &Path) -> Result<(), String> {
    add_file(&mut RootCertStore::empty(), file)
}

/// Files with the trusted certificates of the system, in Linux distributions, BSD and macOS.
#[cfg(unix)]
const SYSTEM_FILES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
    "/etc/openssl/certs/ca-certificates.crt",
];

/// Returns the certificates of the system. The library function believes `SSL_CERT_FILE` and `SSL_CERT_DIR`, which a project can
/// set for its agent.
fn system_certificates(from_variables: bool) -> Vec<CertificateDer<'static>> {
    #[cfg(unix)]
    if !from_variables && ["SSL_CERT_FILE", "SSL_CERT_DIR"].iter().any(|name| std::env::var_os(name).is_some()) {
        let file = SYSTEM_FILES.iter().map(Path::new).find(|file| file.is_file());
        return file.map_or_else(Vec::new, |file| rustls_native_certs::load_certs_from_paths(Some(file), None).certs);
    }
    #[cfg(not(unix))]
    let _ = from_variables;
    rustls_native_certs::load_native_certs().certs
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
