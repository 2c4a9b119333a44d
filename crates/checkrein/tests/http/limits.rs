use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use checkrein::{Decision, FailureKind};

use crate::server::{Server, Then, wait_for_end};
use crate::{ALLOW, PATIENCE, assert_fails, engine, event, fire, hook};

/// Waits for the end of a connection without blocking the runtime.
async fn assert_ends(ended: mpsc::Receiver<()>) {
    let waiting = tokio::task::spawn_blocking(move || ended.recv_timeout(PATIENCE));
    waiting.await.unwrap().expect("the connection is closed");
}

#[tokio::test]
async fn response_over_the_limit_is_a_failure() {
    let server = Server::saying("200 OK", "", ALLOW);
    let exact = fire(server.url("/"), |http| http.response_cap(ALLOW.len())).await;
    assert_eq!(exact.decision(), Decision::Allow);
    let longer = fire(server.url("/"), |http| http.response_cap(ALLOW.len() - 1)).await;
    assert_fails(&longer, FailureKind::OutputCap, "the response is larger than the limit of 19 bytes");
    let chunked = Server::new(|_, stream| {
        let _ = write!(stream, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n14\r\n{ALLOW}\r\n0\r\n\r\n");
        Then::Keep
    });
    assert_eq!(fire(chunked.url("/"), |http| http.response_cap(20)).await.decision(), Decision::Allow);
    let longer = fire(chunked.url("/"), |http| http.response_cap(19)).await;
    assert_fails(&longer, FailureKind::OutputCap, "the response is larger than the limit of 19 bytes");
}

#[tokio::test]
async fn endless_response_ends_at_the_limit() {
    let (sent, ended) = (Arc::new(AtomicU64::new(0)), mpsc::channel());
    let (counted, tell) = (Arc::clone(&sent), ended.0);
    let server = Server::new(move |_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
        // Until the client closes the connection.
        while stream.write_all(chunk.as_bytes()).is_ok() {
            counted.fetch_add(chunk.len() as u64, Ordering::SeqCst);
        }
        let _ = tell.send(());
        Then::Close
    });
    let verdict = fire(server.url("/"), |http| http).await;
    assert_fails(&verdict, FailureKind::OutputCap, "bytes");
    assert_ends(ended.1).await;
    // The rest is in buffers of the system.
    assert!(sent.load(Ordering::SeqCst) < 64 << 20, "{sent:?}");
}

/// Runs in a separate process, without the memory of other tests.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_bounded_during_an_endless_response() {
    const INNER: &str = "CHECKREIN_ENDLESS";
    if std::env::var_os(INNER).is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "limits::memory_stays_bounded_during_an_endless_response", "--nocapture"])
            .env(INNER, "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
        return;
    }
    let peak_kib = || -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::new(|_, stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
            while stream.write_all(b"1000\r\n").and_then(|()| stream.write_all(&[b'x'; 0x1000])).is_ok() {
                if stream.write_all(b"\r\n").is_err() {
                    break;
                }
            }
            Then::Close
        });
        let small = Server::saying("200 OK", "", ALLOW);
        assert_eq!(fire(small.url("/"), |http| http).await.decision(), Decision::Allow);
        let before = peak_kib();
        let cap = 1 << 20;
        for _ in 0..8 {
            assert_fails(&fire(server.url("/"), |http| http.response_cap(cap)).await, FailureKind::OutputCap, "bytes");
        }
        let grown = peak_kib() - before;
        // The limit, a copy of it, and 2 MiB.
        assert!(grown <= 2 * cap as u64 / 1024 + 2048, "{grown} KiB more");
        eprintln!("8 endless answers, {grown} KiB more at the peak");
    });
}

#[tokio::test]
async fn response_with_a_large_content_length_is_not_read() {
    let server = Server::new(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n");
        wait_for_end(stream);
        Then::Close
    });
    let verdict = fire(server.url("/"), |http| http).await;
    assert_fails(&verdict, FailureKind::OutputCap, "the response is larger than the limit of 1048576 bytes");
}

#[tokio::test]
async fn endless_headers_are_a_failure() {
    let server = Server::new(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(format!("x: {}\r\n", "y".repeat(5000)).as_bytes()).is_ok() {}
        Then::Close
    });
    assert_fails(&fire(server.url("/"), |http| http).await, FailureKind::HttpNet, "cannot call http://");
}

#[tokio::test]
async fn one_deadline_covers_the_whole_request() {
    // The server sends nothing, stops in the headers, stops in the body, or sends single bytes slowly.
    for response in
        [None, Some("HTTP/1.1 200 OK\r\nx"), Some("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"), Some("drip")]
    {
        let (tell, ended) = mpsc::channel();
        let server = Server::new(move |_, stream| {
            if response == Some("drip") {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
                while stream.write_all(b" ").is_ok() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            } else {
                let _ = stream.write_all(response.unwrap_or_default().as_bytes());
                wait_for_end(stream);
            }
            let _ = tell.send(());
            Then::Close
        });
        let hook = hook(server.url("/"), |http| http).timeout(Duration::from_millis(200));
        let start = Instant::now();
        let verdict = checkrein::Engine::builder().hook(hook).build().fire(event()).await;
        assert!(start.elapsed() < PATIENCE / 2, "the server never ends");
        assert_fails(&verdict, FailureKind::Timeout, "timed out after 200ms");
        assert_ends(ended).await;
    }
}

#[tokio::test]
async fn dropping_a_fire_closes_its_connection() {
    let (tell, ended) = mpsc::channel();
    let (asked, was_asked) = tokio::sync::oneshot::channel();
    let asked = std::sync::Mutex::new(Some(asked));
    let server = Server::new(move |_, stream| {
        asked.lock().unwrap().take().map(|asked| asked.send(()));
        wait_for_end(stream);
        let _ = tell.send(());
        Then::Close
    });
    let engine = engine(server.url("/"), |http| http);
    let fire = tokio::spawn(async move { engine.fire(event()).await });
    was_asked.await.unwrap();
    fire.abort();
    assert!(fire.await.unwrap_err().is_cancelled());
    assert_ends(ended).await;
}

/// The runtime of a blocking fire does not run after the fire.
#[test]
fn a_blocking_fire_closes_its_connection_at_the_deadline() {
    let (tell, ended) = mpsc::channel();
    let server = Server::new(move |_, stream| {
        wait_for_end(stream);
        let _ = tell.send(());
        Then::Close
    });
    let hook = hook(server.url("/"), |http| http).timeout(Duration::from_millis(200));
    let engine = checkrein::Engine::builder().hook(hook).build();
    assert_fails(&engine.fire_blocking(event()), FailureKind::Timeout, "timed out after 200ms");
    ended.recv_timeout(PATIENCE).expect("the connection is closed");
}
