//! Connections of the page's port. Every user of the machine can connect to it, so their number and their waits are bounded.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// Wait after a failed `accept`, for example without free descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Limits of the connections.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Number of open connections. Further ones are closed at once.
    pub(super) open: usize,
    /// Longest wait for the head of a request.
    pub(super) head: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { open: 256, head: Duration::from_secs(8) }
    }
}

/// Serves until the sender of `end` is dropped.
pub(super) async fn serve(listener: TcpListener, router: Router, mut end: watch::Receiver<()>, limits: Limits) {
    let open = Arc::new(Semaphore::new(limits.open));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ended(&mut end) => return,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&open).try_acquire_owned() else { continue };
        let (service, mut end) = (TowerToHyperService::new(router.clone()), end.clone());
        tokio::spawn(async move {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(limits.head);
            let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
            tokio::select! {
                // The client sees the errors of its connection.
                _ = connection.as_mut() => {}
                () = ended(&mut end) => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
            drop(permit);
        });
    }
}

async fn ended(end: &mut watch::Receiver<()>) {
    while end.changed().await.is_ok() {}
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;

    async fn answer(address: std::net::SocketAddr) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // A closed connection refuses the request.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text).await;
        text
    }

    #[tokio::test]
    async fn half_requests_do_not_block_the_page() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "hello" }));
        let (alive, end) = watch::channel(());
        let limits = Limits { open: 4, head: Duration::from_millis(1500) };
        let server = tokio::spawn(serve(listener, router, end, limits));
        assert!(answer(address).await.ends_with("hello"));
        let start = Instant::now();
        let mut half = Vec::new();
        for _ in 0..4 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost:").await.unwrap();
            half.push(stream);
        }
        assert_eq!(answer(address).await, "", "a connection above the limit is closed");
        while !answer(address).await.ends_with("hello") {
            assert!(start.elapsed() < Duration::from_secs(20), "half requests keep their connections");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        drop(alive);
        tokio::time::timeout(Duration::from_secs(10), server).await.unwrap().unwrap();
    }
}
