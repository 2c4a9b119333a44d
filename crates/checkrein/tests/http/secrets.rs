//! Credentials reach the endpoint and nobody else.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use checkrein::{Engine, HookSpec, HttpSpec};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event as TraceEvent, Metadata, Subscriber};

use crate::server::{Server, Then, respond};
use crate::{ALLOW, event, hook};

/// Stands in every place that can hold a credential.
const SECRET: &str = "s3cr3t";

/// Writes down everything that is traced.
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

/// Everything that a fire leaves behind, as text.
async fn traces(hook: HookSpec) -> String {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let mut text = format!("{hook:?}\n");
    let engine = Engine::builder().vars([("KEY", SECRET)]).hook(hook).build();
    let (verdict, record) = engine.fire_recorded(event()).await;
    write!(text, "{verdict:?}\n{record:?}\n{engine:?}\n{:?}\n", engine.problems()).unwrap();
    text + &log.0.lock().unwrap()
}

#[tokio::test]
async fn credentials_are_in_no_trace_of_a_fire() {
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
async fn credentials_that_cannot_be_sent_are_not_shown_either() {
    for change in [
        |http: HttpSpec| http.header("x", format!("{SECRET}\n")),
        |http: HttpSpec| http.secret(format!("whsec_{SECRET}!")),
    ] {
        let text = traces(hook("http://localhost/", change)).await;
        assert!(text.contains("cannot be loaded") && !text.contains(SECRET), "{text}");
    }
}
