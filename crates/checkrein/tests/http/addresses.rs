use std::net::IpAddr;

use checkrein::handler::HttpFactory;
use checkrein::hook::HttpSpec;
use checkrein::{Decision, FailureKind};

use crate::server::Server;
use crate::{ALLOW, assert_fails, engine, engine_with, event, fire};

#[tokio::test]
async fn refused_addresses_are_reported_at_load() {
    for host in [
        "169.254.169.254",
        "169.254.1.1:8080",
        "[::ffff:169.254.169.254]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "2852039166",
        "0xa9fea9fe",
    ] {
        let engine = engine(format!("http://{host}/latest/meta-data/"), |http| http);
        assert!(engine.problems()[0].to_string().contains("which hooks may not call"), "{:?}", engine.problems());
        assert_fails(&engine.fire(event()).await, FailureKind::HttpNet, "which hooks may not call");
    }
}

#[tokio::test]
async fn host_names_are_refused_by_their_address() {
    for (name, address) in [
        ("metadata.google.internal", "169.254.169.254"),
        ("innocent.example.com", "fe80::1"),
        ("innocent.example.com", "::ffff:169.254.169.254"),
        ("innocent.example.com", "fd00:ec2::254"),
    ] {
        let factory = HttpFactory::new().known_host(name, [address.parse().unwrap()]);
        let engine = engine_with(factory, format!("http://{name}/"));
        assert!(engine.problems().is_empty(), "the name alone is not refused");
        assert_fails(&engine.fire(event()).await, FailureKind::HttpNet, "which hooks may not call");
    }
}

#[tokio::test]
async fn only_allowed_addresses_of_a_host_are_used() {
    let server = Server::saying("200 OK", "", ALLOW);
    let addresses: [IpAddr; 2] = ["169.254.169.254".parse().unwrap(), server.address.ip()];
    let factory = HttpFactory::new().known_host("mixed.example.com", addresses);
    let engine = engine_with(factory, format!("http://MIXED.example.com:{}/", server.address.port()));
    assert_eq!(engine.fire(event()).await.decision(), Decision::Allow);
}

#[tokio::test]
async fn other_addresses_are_tried_after_a_failed_one() {
    let server = Server::saying("200 OK", "", ALLOW);
    // The first two refuse connections.
    let addresses: [IpAddr; 3] = ["127.0.0.2".parse().unwrap(), "::1".parse().unwrap(), server.address.ip()];
    let factory = HttpFactory::new().known_host("several.example.com", addresses);
    let engine = engine_with(factory, format!("http://several.example.com:{}/", server.address.port()));
    assert_eq!(engine.fire(event()).await.decision(), Decision::Allow);
}

#[tokio::test]
async fn local_addresses_are_allowed_unless_the_hook_is_public_only() {
    let server = Server::saying("200 OK", "", ALLOW);
    let url = format!("http://localhost:{}/", server.address.port());
    assert_eq!(fire(&url, |http| http).await.decision(), Decision::Allow);
    assert_fails(&fire(&url, HttpSpec::public_only).await, FailureKind::HttpNet, "private address");
    assert_fails(&fire(server.url("/"), HttpSpec::public_only).await, FailureKind::HttpNet, "private address");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn open_connection_is_not_reused_for_a_stricter_hook() {
    let server = Server::saying("200 OK", "", ALLOW);
    let url = format!("http://localhost:{}/", server.address.port());
    let engine = engine(&url, |http| http);
    assert_eq!(engine.fire(event()).await.decision(), Decision::Allow);
    engine.replace_all(vec![crate::hook(&url, HttpSpec::public_only)]);
    assert_fails(&engine.fire(event()).await, FailureKind::HttpNet, "private address");
    assert_eq!(server.requests().len(), 1);
}
