//! HTTP hooks of two agents.

use std::time::Duration;

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::{claude, evva};
use checkrein::document::Format;
use checkrein::payload::ToolCall;
use checkrein::{Decision, Engine, Event, FailureKind, RawJson, Scope, Verdict};

use crate::server::{Server, wait_for_end};

/// An engine with these hooks at an event.
fn engine(dialect: &'static Dialect, event: &str, hooks: &[String]) -> Engine {
    let text = format!(r#"{{"hooks":{{"{event}":[{{"hooks":[{}]}}]}}}}"#, hooks.join(","));
    let decoded = dialect.decode("settings.json", Scope::User, &text, Format::Json);
    Engine::builder().settle_as(dialect).hooks(decoded.hooks).build()
}

fn endpoint(server: &Server, more: &str) -> String {
    format!(r#"{{"type":"http","url":"{}"{more}}}"#, server.url("/hook"))
}

fn command(text: &str) -> String {
    format!(r#"{{"type":"command","command":{}}}"#, RawJson::string(text))
}

fn kinds(verdict: &Verdict) -> Vec<FailureKind> {
    verdict.failures().map(|(_, failure)| failure.kind).collect()
}

#[cfg(unix)]
#[tokio::test]
async fn testagent_runs_endpoints_and_commands_in_order() {
    let allow = Server::saying("200 OK", "", r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#);
    let broken = Server::saying("500 Internal Server Error", "", r#"{"decision":"approve"}"#);
    let deny = Server::saying("200 OK", "", r#"{"decision":"block","reason":"endpoint"}"#);
    let hooks = [
        endpoint(&allow, r#","headers":{"Authorization":"Bearer $TOKEN","X-Own":"1"}"#),
        endpoint(&broken, ""),
        command("echo command >&2; exit 2"),
        endpoint(&deny, ""),
    ];
    let verdict = engine(&claude::SENDER, "PreToolUse", &hooks).fire(crate::event()).await;
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("command")), "the first deny");
    assert_eq!(kinds(&verdict), [FailureKind::HttpStatus], "reported with the verdict");
    assert_eq!(deny.requests().len(), 1, "a deny does not end the chain");
    let request = allow.request();
    assert_eq!((request.method.as_str(), request.header("content-type")), ("POST", Some("application/json")));
    assert_eq!(request.header("authorization"), Some("Bearer $TOKEN"), "variables are not expanded");
    assert_eq!(request.header("x-own"), Some("1"));
    let body: RawJson = request.body.parse().unwrap();
    assert_eq!(body.field("hook_event_name").unwrap().as_text().as_deref(), Some("PreToolUse"));
}

#[tokio::test]
async fn testagent_settles_permission_requests() {
    let behavior = |word: &str, message: &str| {
        format!(r#"{{"hookSpecificOutput":{{"decision":{{"behavior":"{word}","message":"{message}"}}}}}}"#)
    };
    for (bodies, decision, reason) in [
        ([behavior("allow", "1"), behavior("allow", "2")], Decision::Allow, Some("2")),
        ([behavior("deny", "1"), behavior("allow", "2")], Decision::Deny, Some("1")),
        ([behavior("allow", "1"), behavior("deny", "2")], Decision::Deny, Some("2")),
        (["{}".to_owned(), String::new()], Decision::NoOpinion, None),
    ] {
        let servers =
            bodies.map(|body| Server::new(move |_, stream| crate::server::respond(stream, "200 OK", "", &body)));
        let hooks = servers.each_ref().map(|server| endpoint(server, ""));
        let event = Event::permission_request(ToolCall::new("Bash", RawJson::default()));
        let verdict = engine(&claude::SENDER, "PermissionRequest", &hooks).fire(event).await;
        assert_eq!((verdict.decision(), verdict.reason()), (decision, reason));
    }
}

#[tokio::test]
async fn testagent_calls_the_next_endpoint_after_a_timeout() {
    let silent = Server::new(|_, stream| {
        wait_for_end(stream);
        crate::server::Then::Close
    });
    let next = Server::saying("200 OK", "", r#"{"decision":"block","reason":"next"}"#);
    let hooks = [endpoint(&silent, r#","timeout":1"#), endpoint(&next, "")];
    let verdict = engine(&claude::SENDER, "PreToolUse", &hooks).fire(crate::event()).await;
    assert_eq!((verdict.reason(), kinds(&verdict)), (Some("next"), vec![FailureKind::Timeout]));
}

#[tokio::test]
async fn evva_endpoints_cannot_decide() {
    let answers = [("200 OK", vec![]), ("204 No Content", vec![]), ("404 Not Found", vec![FailureKind::HttpStatus])];
    for (status, failures) in answers {
        let server = Server::saying(status, "", r#"{"decision":"block"}"#);
        let hook =
            endpoint(&server, r#","async":false,"method":"PUT","headers":{"content-type":"text/x","x-a":"b$HOME"}"#);
        let verdict = engine(&evva::DIALECT, "PreToolUse", &[hook]).fire(crate::event()).await;
        assert_eq!((verdict.decision().is_block(), kinds(&verdict)), (false, failures), "{status}");
        let request = server.request();
        assert_eq!((request.method.as_str(), request.header("x-a")), ("PUT", Some("b$HOME")), "{status}");
        assert_eq!(request.header("content-type"), Some("text/x"), "the hook's header takes precedence");
    }
    let server = Server::saying("200 OK", "", "");
    let engine = engine(&evva::DIALECT, "PostToolUse", &[endpoint(&server, "")]);
    let event = Event::post_tool_use(checkrein::payload::ToolOutcome::new("Bash", RawJson::default()));
    let (_, record) = engine.fire_recorded(event).await;
    assert_eq!(record.hooks[0].detail.as_deref(), Some("runs in the background (cannot block)"));
    assert_eq!(engine.shutdown(Duration::from_secs(20)).await.ended, 0);
    assert_eq!(server.requests().len(), 1);
}
