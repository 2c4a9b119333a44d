//! The builtin `http_post`.

use checkrein::payload::Stop;
use checkrein::{Engine, Event, EventKind, HookSpec, Verdict};

use crate::server::Server;

async fn post(args: &[&str]) -> Verdict {
    let hook = HookSpec::builtin("tell", EventKind::Stop, "http_post").args(args.iter().copied());
    Engine::builder().hook(hook).build().fire(Event::stop(Stop::new())).await
}

#[tokio::test]
async fn posts_a_fixed_body_and_drops_the_answer() {
    let server = Server::saying("200 OK", "", r#"{"decision":"block","reason":"nobody asked"}"#);
    let verdict = post(&[&server.url("/told"), r#"{"text":"done"}"#, "--allow-private"]).await;
    assert_eq!(verdict, Verdict::default());
    let request = server.request();
    assert_eq!((request.method.as_str(), request.body.as_str()), ("POST", r#"{"text":"done"}"#));
}

#[tokio::test]
async fn what_goes_wrong_is_a_message_and_no_failure() {
    let server = Server::saying("500 Oh", "", "");
    for (url, flag, says) in [
        (server.url("/"), "--allow-private", "status 500"),
        ("http://127.0.0.1:9/".to_owned(), "--allow-private", "could not post"),
    ] {
        let verdict = post(&[&url, "{}", flag]).await;
        assert_eq!(verdict.failures().count(), 0);
        assert!(verdict.messages()[0].text.contains(says), "{verdict:?}");
    }
    let refused = post(&[&server.url("/"), "{}"]).await;
    assert!(!refused.messages().is_empty() || refused.failures().count() > 0, "this machine is refused: {refused:?}");
    assert_eq!(server.connections(), 1);
}
