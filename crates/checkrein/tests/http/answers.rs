use std::time::Duration;

use checkrein::payload::{SessionStart, ToolCall};
use checkrein::{Decision, Engine, Event, EventKind, FailureKind, HookSpec, RawJson};

use crate::server::{Server, Then};
use crate::{ALLOW, assert_fails, engine, event, fire};

#[tokio::test]
async fn responses_are_parsed_like_process_output() {
    for (status, body, decision, reason) in [
        ("200 OK", ALLOW, Decision::Allow, None),
        ("200 OK", r#"{"decision":"deny","reason":"not now"}"#, Decision::Deny, Some("not now")),
        ("201 Created", r#"{"decision":"ask","reason":"sure?"}"#, Decision::Ask, Some("sure?")),
        ("200 OK", "{}", Decision::NoOpinion, None),
        ("200 OK", "", Decision::NoOpinion, None),
        ("200 OK", " \r\n", Decision::NoOpinion, None),
        ("204 No Content", "", Decision::NoOpinion, None),
    ] {
        let server = Server::saying(status, "", body);
        let verdict = fire(server.url("/"), |http| http).await;
        assert_eq!((verdict.decision(), verdict.reason()), (decision, reason), "{status} {body}");
        assert_eq!(verdict.failures().count(), 0, "{status} {body}");
    }
}

#[tokio::test]
async fn context_reaches_the_model() {
    let server = Server::saying("200 OK", "", r#"{"hookSpecificOutput":{"additionalContext":"be kind"}}"#);
    let hook = HookSpec::http("kind", EventKind::SessionStart, server.url("/"));
    let verdict = Engine::builder().hook(hook).build().fire(Event::session_start(SessionStart::new())).await;
    assert_eq!(verdict.context()[0].text, "be kind");
}

#[tokio::test]
async fn error_statuses_are_failures() {
    for (status, kind, text) in [
        ("400 Bad Request", FailureKind::HttpStatus, "status 400"),
        ("401 Unauthorized", FailureKind::HttpStatus, "status 401"),
        ("404 Not Found", FailureKind::HttpStatus, "status 404"),
        ("500 Internal Server Error", FailureKind::HttpStatus, "status 500"),
        ("503 Service Unavailable", FailureKind::HttpStatus, "status 503"),
        ("302 Found", FailureKind::HttpStatus, "status 302"),
        ("304 Not Modified", FailureKind::HttpStatus, "status 304"),
    ] {
        let server = Server::saying(status, "location: /else\r\n", ALLOW);
        assert_fails(&fire(server.url("/"), |http| http).await, kind, text);
        assert_eq!(server.requests().len(), 1);
    }
    let server = Server::saying("200 OK", "", "<html>welcome</html>");
    assert_fails(&fire(server.url("/"), |http| http).await, FailureKind::Parse, "found '<'");
}

#[tokio::test]
async fn invalid_http_is_a_failure() {
    for response in
        ["", "hello\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-le", "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"]
    {
        let server = Server::new(move |_, stream| {
            let _ = stream.write_all(response.as_bytes());
            Then::Close
        });
        assert_fails(&fire(server.url("/"), |http| http).await, FailureKind::HttpNet, "cannot call http://");
        assert_eq!(server.requests().len(), 1, "a request on a new connection is not repeated");
    }
}

#[tokio::test]
async fn incomplete_response_is_a_failure() {
    for response in [
        "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{\"decision\":",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n14\r\n{\"decision\":\"allow\"}",
    ] {
        let server = Server::new(move |_, stream| {
            let _ = stream.write_all(response.as_bytes());
            Then::Close
        });
        assert_fails(&fire(server.url("/"), |http| http).await, FailureKind::HttpNet, "cannot call http://");
    }
}

#[tokio::test]
async fn response_may_end_with_the_connection() {
    let server = Server::new(|_, stream| {
        let _ = write!(stream, "HTTP/1.1 200 OK\r\n\r\n{ALLOW}");
        Then::Close
    });
    assert_eq!(fire(server.url("/"), |http| http).await.decision(), Decision::Allow);
}

#[tokio::test]
async fn refused_connection_is_a_failure() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let verdict = fire(format!("http://{address}/"), |http| http).await;
    assert_fails(&verdict, FailureKind::HttpNet, &format!("cannot call http://{address}: "));
    let verdict = fire("http://no-such-host.invalid/", |http| http).await;
    assert_fails(
        &verdict,
        FailureKind::HttpNet,
        "cannot call http://no-such-host.invalid: cannot resolve the host name",
    );
}

#[tokio::test]
async fn request_body_is_the_event() {
    let server = Server::saying("200 OK", "", "");
    // Large enough to be sent in pieces.
    let input = format!(r#"{{"content":"{}","n":9007199254740993}}"#, "x".repeat(3_000_000));
    let event = Event::pre_tool_use(ToolCall::new("Write", input.parse::<RawJson>().unwrap()));
    let verdict = engine(server.url("/"), |http| http).fire(event).await;
    assert_eq!(verdict.failures().count(), 0);
    let request = server.request();
    assert!(request.body.parse::<RawJson>().is_ok() && request.body.contains(&input));
    assert_eq!(request.header("content-length"), Some(request.body.len().to_string().as_str()));
}

#[tokio::test]
async fn background_request_does_not_delay_the_fire() {
    let server = Server::saying("200 OK", "", r#"{"decision":"deny"}"#);
    let hook = HookSpec::http("log", EventKind::PreToolUse, server.url("/")).in_background();
    let engine = Engine::builder().hook(hook).build();
    assert_eq!(engine.fire(event()).await.decision(), Decision::NoOpinion);
    engine.shutdown(Duration::from_secs(60)).await;
    assert_eq!(server.requests().len(), 1);
}
