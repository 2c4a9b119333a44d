//! Credentials reach only the endpoint.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use checkrein::hook::HttpSpec;
use checkrein::{Engine, HookSpec};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event as TraceEvent, Metadata, Subscriber};

use crate::server::{Server, Then, respond};
use crate::{ALLOW, event, hook};

/// Value of every credential.
const SECRET: &str = "s3cr3t";

/// Records everything that is traced.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        attributes.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &TraceEvent<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn secretive(url: String) -> HookSpec {
    hook(url, |http: HttpSpec| {
        http.header("authorization", format!("Bearer {SECRET}"))
            .header("x-key", "$KEY")
            .allow_env("KEY")
            .secret(format!("{SECRET}-key"))
            .follow_redirects()
    })
}

/// A server that repeats the request in a page, or as the reason of a reply.
fn echoing(status: &'static str, body: fn(&str) -> String) -> Server {
    Server::new(move |request, stream| {
        let headers: Vec<_> = request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        respond(stream, status, "", &body(&headers.join(", ")))
    })
}

/// The text as a JSON string, with few or all characters escaped.
fn json_string(text: &str, escape_all: bool) -> String {
    let escaped = text.chars().map(|character| match character {
        _ if escape_all => format!("\\u{:04X}", u32::from(character)),
        '"' | '\\' | '/' => format!("\\{character}"),
        _ => character.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// All output of a fire, as text.
async fn traces(hook: HookSpec) -> String {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let mut text = format!("{hook:?}\n");
    let engine = Engine::builder().vars([("KEY", SECRET)]).hook(hook).build();
    let (verdict, record) = engine.fire_recorded(event()).await;
    write!(text, "{verdict:?}\n{record:?}\n{engine:?}\n{:?}\n", engine.problems()).unwrap();
    engine.problems().iter().for_each(|problem| writeln!(text, "{problem}").unwrap());
    text + &log.0.lock().unwrap()
}

#[tokio::test]
async fn credentials_appear_in_no_output_of_a_fire() {
    let good = Server::saying("200 OK", "", ALLOW);
    let broken = Server::saying("500 Internal Server Error", "", "");
    let moved = Server::saying("302 Found", "location: http://me:s3cr3t@elsewhere/s3cr3t\r\n", "");
    let rude = Server::new(|_, _| Then::Close);
    let noisy = Server::new(|_, stream| respond(stream, "200 OK", "", "not JSON"));
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hosts = [&good, &broken, &moved, &rude, &noisy].map(|server| server.address.to_string());
    let others = [gone.to_string(), "169.254.169.254".into(), "no-such-host.invalid".into(), "a:b:c".into()];
    for host in hosts.into_iter().chain(others) {
        for scheme in ["http", "https", "ftp"] {
            let url = format!("{scheme}://me:{SECRET}@{host}/{SECRET}?token={SECRET}#{SECRET}");
            let text = traces(secretive(url)).await;
            assert!(!text.contains(SECRET), "{host}: {text}");
            assert!(text.contains("guard") && text.contains("x-key"), "{text}");
        }
    }
    let request = good.requests()[0].clone();
    assert_eq!(request.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert_eq!(request.header("x-key"), Some(SECRET));
    assert_eq!(request.path, format!("/{SECRET}?token={SECRET}"));
}

#[tokio::test]
async fn invalid_credentials_appear_in_no_output() {
    for change in [
        |http: HttpSpec| http.header("x", format!("{SECRET}\n")),
        |http: HttpSpec| http.secret(format!("whsec_{SECRET}!")),
    ] {
        let text = traces(hook("http://localhost/", change)).await;
        assert!(text.contains("cannot be loaded") && !text.contains(SECRET), "{text}");
    }
}

#[tokio::test]
async fn echoed_credentials_appear_in_no_output() {
    let page = echoing("500 Internal Server Error", |sent| format!("<p>bad request: {sent}</p>"));
    let status = echoing("403 Forbidden", |sent| format!(r#"{{"error":{}}}"#, json_string(sent, false)));
    let reason = echoing("200 OK", |sent| format!(r#"{{"decision":"deny","reason":{}}}"#, json_string(sent, false)));
    let spelt = echoing("200 OK", |sent| format!(r#"{{"decision":"deny","reason":{}}}"#, json_string(sent, true)));
    let noise = echoing("200 OK", |sent| format!("no JSON, {sent}"));
    let odd = format!("\"{SECRET}/\\");
    for server in [&page, &status, &reason, &spelt, &noise] {
        // The password of a URL is sent only without an `authorization` header.
        for hook in [
            secretive(server.url("/")),
            hook(format!("http://me:{SECRET}@{}/", server.address), |http| http),
            hook(server.url("/"), |http| http.header("x-key", "${KEY}").header("cookie", "a=$ODD").allow_env("ODD")),
            hook(server.url("/"), |http| http.header("x-any", "$ODD_TOKEN").allow_env("ODD_TOKEN")),
        ] {
            let engine =
                Engine::builder().vars([("KEY", SECRET), ("ODD", &odd), ("ODD_TOKEN", &odd)]).hook(hook).build();
            let (verdict, record) = engine.fire_recorded(event()).await;
            let text = format!("{verdict:?}\n{record:?}");
            let encoded = "bWU6czNjcjN0";
            assert!(!text.contains(SECRET) && !text.contains(encoded), "{text}");
            assert!(text.contains("[redacted:credential]"), "{text}");
            assert!(verdict.decision().is_block(), "{text}");
        }
    }
    // The reply is still valid.
    let verdict =
        Engine::builder().vars([("KEY", SECRET)]).hook(secretive(reason.url("/"))).build().fire(event()).await;
    assert_eq!(verdict.failures().count(), 0, "{verdict:?}");
    let reason = verdict.reason().unwrap_or_default();
    assert!(reason.contains("authorization: Bearer [redacted:credential], x-key: [redacted:credential]"), "{reason}");
}

#[tokio::test]
async fn ordinary_header_values_are_not_redacted() {
    let server = Server::saying("200 OK", "", r#"{"decision":"deny","reason":"abc: no red cars before 2000"}"#);
    let hook = hook(server.url("/"), |http| {
        http.header("x-mode", "$MODE")
            .header("x-short", "$SHORT")
            .header("x-colour", "red cars")
            .allow_env("MODE")
            .allow_env("SHORT")
    });
    let engine = Engine::builder().vars([("MODE", "deny"), ("SHORT", "no red cars")]).hook(hook).build();
    let verdict = engine.fire(event()).await;
    assert_eq!(verdict.failures().count(), 0, "{verdict:?}");
    assert_eq!(verdict.reason(), Some("abc: no red cars before 2000"));
}
