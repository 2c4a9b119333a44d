use std::sync::Arc;

use checkrein::handler::HttpFactory;
use checkrein::{Decision, FailureKind};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::{Server, respond};
use crate::{ALLOW, assert_fails, engine_with, event, fire};

/// A server with a certificate for these names, and the certificate.
fn server(names: &[&str]) -> (Server, String) {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let config = Arc::new(config);
    let wrap = move |stream| -> Box<dyn crate::server::Stream> {
        Box::new(StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream))
    };
    (Server::wrapped(wrap, |_, stream| respond(stream, "200 OK", "", ALLOW)), cert.pem())
}

fn url(server: &Server, host: &str) -> String {
    format!("https://{host}:{}/", server.address.port())
}

#[tokio::test]
async fn untrusted_certificate_is_a_failure() {
    let (server, _) = server(&["localhost"]);
    let verdict = fire(url(&server, "localhost"), |http| http).await;
    assert_fails(&verdict, FailureKind::HttpNet, "TLS handshake failed: invalid peer certificate");
    assert_fails(&verdict, FailureKind::HttpNet, "SSL_CERT_FILE");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn trusted_certificate_is_valid_for_its_names() {
    let (server, pem) = server(&["localhost", "127.0.0.1"]);
    let factory = || HttpFactory::new().extra_root_pem(&pem).unwrap();
    for host in ["localhost", "127.0.0.1"] {
        let engine = engine_with(factory(), url(&server, host));
        for _ in 0..3 {
            let verdict = engine.fire(event()).await;
            assert_eq!(verdict.decision(), Decision::Allow, "{verdict:?}");
        }
    }
    assert_eq!((server.connections(), server.requests().len()), (2, 6));
    let factory = factory().known_host("other.example.com", [server.address.ip()]);
    let verdict = engine_with(factory, url(&server, "other.example.com")).fire(event()).await;
    assert_fails(&verdict, FailureKind::HttpNet, "not valid for name");
    assert!(HttpFactory::new().extra_root_pem("no certificate").is_err());
    assert!(CryptoProvider::get_default().is_none(), "no process-wide setting is changed");
}

#[tokio::test]
async fn server_without_tls_is_a_failure() {
    let server = Server::saying("200 OK", "", ALLOW);
    assert_fails(&fire(url(&server, "localhost"), |http| http).await, FailureKind::HttpNet, "TLS handshake failed");
}
