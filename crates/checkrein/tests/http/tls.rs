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
    assert_fails(&verdict, FailureKind::HttpNet, "ca_file");
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

#[tokio::test]
async fn certificates_of_a_file_are_trusted_by_its_hook() {
    let (server, pem) = server(&["localhost"]);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.pem");
    std::fs::write(&file, pem).unwrap();
    let verdict = fire(url(&server, "localhost"), |http| http.ca_file(file.to_str().unwrap())).await;
    assert_eq!(verdict.decision(), Decision::Allow, "{verdict:?}");
    // Another hook does not trust it.
    let verdict = fire(url(&server, "localhost"), |http| http).await;
    assert_fails(&verdict, FailureKind::HttpNet, "invalid peer certificate");
    for text in ["", "no certificate"] {
        std::fs::write(&file, text).unwrap();
        let verdict = fire(url(&server, "localhost"), |http| http.ca_file(file.to_str().unwrap())).await;
        assert_fails(&verdict, FailureKind::HttpNet, "has no certificates in PEM format");
    }
}

/// A project can set `SSL_CERT_FILE` for its agent. The test runs itself in a process with that variable.
#[cfg(unix)]
#[tokio::test]
async fn certificates_of_variables_are_ignored_under_an_agent() {
    const URL: &str = "CHECKREIN_TEST_URL";
    if let Ok(url) = std::env::var(URL) {
        let hook = || checkrein::HookSpec::http("h", checkrein::EventKind::PreToolUse, &url);
        let believed = checkrein::Engine::builder().hook(hook()).build().fire(event()).await;
        assert_eq!(believed.decision(), Decision::Allow, "{believed:?}");
        let ignored = checkrein::Engine::builder().hook(hook()).distrust_variables().build().fire(event()).await;
        assert_fails(&ignored, FailureKind::HttpNet, "TLS handshake failed");
        return;
    }
    let (server, pem) = server(&["localhost"]);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ca.pem");
    std::fs::write(&file, pem).unwrap();
    let mut own = std::process::Command::new(std::env::current_exe().unwrap());
    own.args(["--exact", "tls::certificates_of_variables_are_ignored_under_an_agent"]);
    let ran = own.env(URL, url(&server, "localhost")).env("SSL_CERT_FILE", &file).output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && output.contains("1 passed"), "{output}");
}
