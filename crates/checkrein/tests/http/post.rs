//! The builtin `http_post`.

use checkrein::handler::HttpFactory;
use checkrein::{Engine, EventKind, HookSpec, Registry, Verdict};

use crate::event;
use crate::server::{Server, Then};

fn hook(args: &[&str]) -> HookSpec {
    HookSpec::builtin("tell", EventKind::PreToolUse, "http_post").args(args.iter().copied())
}

async fn post(args: &[&str]) -> Verdict {
    Engine::builder().hook(hook(args)).build().fire(event()).await
}

#[tokio::test]
async fn posts_a_fixed_body_and_drops_the_response() {
    let server = Server::saying("200 OK", "", r#"{"decision":"block","reason":"unsolicited"}"#);
    let verdict = post(&[&server.url("/notify"), r#"{"text":"done"}"#, "--allow-private"]).await;
    assert_eq!(verdict, Verdict::default());
    let request = server.request();
    assert_eq!((request.method.as_str(), request.body.as_str()), ("POST", r#"{"text":"done"}"#));
}

#[tokio::test]
async fn errors_are_messages_and_not_failures() {
    let broken = Server::saying("500 Oh", "", "");
    let moved = Server::saying("302 Found", "location: /elsewhere\r\n", "");
    for (url, says) in [
        (broken.url("/"), "status 500"),
        (moved.url("/"), "status 302"),
        ("http://127.0.0.1:9/".to_owned(), "cannot post"),
        ("http://no-such-host.invalid/".to_owned(), "cannot post"),
    ] {
        let verdict = post(&[&url, "{}", "--allow-private"]).await;
        assert_eq!((verdict.failures().count(), verdict.decision().is_block()), (0, false), "{verdict:?}");
        assert!(verdict.messages()[0].text.contains(says), "{verdict:?}");
    }
    assert_eq!(moved.requests().len(), 1);
}

#[tokio::test]
async fn url_outside_the_allowlist_is_a_message() {
    let mut registry = Registry::new();
    registry.register("http", HttpFactory::new().allow_urls(["https://hooks.example.com/*"]).unwrap()).unwrap();
    let engine = Engine::builder().registry(registry).hook(hook(&["https://example.org/", "{}"])).build();
    let verdict = engine.fire(event()).await;
    assert_eq!((verdict.failures().count(), verdict.decision().is_block()), (0, false), "{verdict:?}");
    assert!(verdict.messages()[0].text.contains("not in the URL allowlist"), "{verdict:?}");
}

#[tokio::test]
async fn response_of_any_length_is_dropped() {
    let server = Server::new(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n");
        Then::Close
    });
    assert_eq!(post(&[&server.url("/"), "{}", "--allow-private"]).await, Verdict::default());
}

#[test]
fn invalid_url_is_reported_at_load() {
    for (url, says) in [
        (
            "http://127.0.0.1:9/SECRET",
            "a loopback or private address, which hooks may not call; `--allow-private` allows it",
        ),
        ("http://me:SECRET@[::1]/", "`--allow-private` allows it"),
        ("http://169.254.169.254/SECRET", "a link-local address, which hooks may not call"),
        ("http://SECRET:SECRET/", "invalid URL"),
    ] {
        let engine = Engine::builder().hook(hook(&[url, "{}"])).build();
        let problem = engine.problems().first().unwrap_or_else(|| panic!("{url} was loaded")).to_string();
        assert!(problem.contains("builtin `http_post` cannot post") && problem.contains(says), "{problem}");
        assert!(!problem.contains("SECRET") && problem.contains("post.rs"), "{problem}");
        assert_eq!(problem.contains("--allow-private"), says.contains("--allow-private"), "{problem}");
    }
    for args in [&["https://example.com/", "{}"][..], &["http://127.0.0.1:9/", "{}", "--allow-private"]] {
        assert!(Engine::builder().hook(hook(args)).build().problems().is_empty(), "{args:?}");
    }
}
