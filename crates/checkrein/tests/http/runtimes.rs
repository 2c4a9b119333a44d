//! Connections belong to the runtime that opened them.

use checkrein::{Decision, Engine};

use crate::server::Server;
use crate::{ALLOW, engine, event};

fn engine_and_server() -> (Engine, Server) {
    let server = Server::saying("200 OK", "", ALLOW);
    (engine(server.url("/"), |http| http), server)
}

#[test]
fn blocking_fires_work_outside_a_runtime() {
    let (engine, server) = engine_and_server();
    for _ in 0..3 {
        assert_eq!(engine.fire_blocking(event()).decision(), Decision::Allow);
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn blocking_fires_work_inside_a_runtime() {
    let (engine, server) = engine_and_server();
    for _ in 0..3 {
        assert_eq!(engine.fire_blocking(event()).decision(), Decision::Allow);
        assert_eq!(engine.fire(event()).await.decision(), Decision::Allow);
    }
    // One for each runtime.
    assert_eq!(server.connections(), 2);
}

#[test]
fn fires_work_in_short_lived_runtimes() {
    let (engine, server) = engine_and_server();
    for round in 0..6 {
        let mut builder = match round % 2 {
            0 => tokio::runtime::Builder::new_current_thread(),
            _ => tokio::runtime::Builder::new_multi_thread(),
        };
        let runtime = builder.enable_all().build().unwrap();
        for _ in 0..3 {
            assert_eq!(runtime.block_on(engine.fire(event())).decision(), Decision::Allow);
        }
        assert_eq!(engine.fire_blocking(event()).decision(), Decision::Allow);
    }
    assert_eq!(server.requests().len(), 24);
    // One for each runtime. With several threads, a connection may become available only after the next request.
    assert!((7..=13).contains(&server.connections()), "{}", server.connections());
}

#[test]
fn engine_can_be_dropped_before_or_after_its_runtime() {
    let (engine, _server) = engine_and_server();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(engine.fire(event()));
    drop(runtime);
    drop(engine);
    let (engine, _server) = engine_and_server();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        engine.fire(event()).await;
        drop(engine);
    });
}
