//! Notifications about questions: the webhook, its signed answers, and the desktop.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failed test reports its cause by panicking"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein::internal::webhooks::{Signed, signature, verify};
use checkrein_serve::notify::{Webhook, callback};
use checkrein_serve::server::{Options, Server};
use checkrein_tools::approvals::{Approval, ApprovalState, ApprovalStore, NewApproval, Via};
use serde_json::json;

/// Bound for everything that should take less. Reached only if something hangs.
const LONG: Duration = Duration::from_secs(60);

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// A question about a call whose input has a secret.
fn question(state: &Path) -> Approval {
    question_of(state, "s")
}

fn question_of(state: &Path, session: &str) -> Approval {
    let call = json!({
        "agent": "codex", "session": session, "project": state, "cwd": null, "event": "PreToolUse", "tool": "Bash",
        "input": { "command": "deploy --token ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789" },
        "rewritten": null, "asks": [{ "hook": "guard", "source": "hooks.yaml:1", "reason": "sure?" }],
        "policy": "p", "subagent": null, "tool_call": null, "commands": [], "diff": null,
    });
    let call = serde_json::from_value(call).unwrap();
    ApprovalStore::in_state_directory(state).request(NewApproval::new(call)).unwrap()
}

struct Received {
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Received {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Reads a request, and answers it with this status.
fn answer_request(stream: TcpStream, status: &str) -> Received {
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut reader = BufReader::new(stream);
    let mut headers = Vec::new();
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let mut received = Received { headers, body: Vec::new() };
    let length = received.header("content-length").unwrap().parse().unwrap();
    received.body.resize(length, 0);
    reader.read_exact(&mut received.body).unwrap();
    write!(reader.get_mut(), "HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok").unwrap();
    received
}

#[test]
fn webhook_is_signed_and_tried_again() {
    let state = tempfile::tempdir().unwrap();
    let endpoint = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = Options::new(state.path());
    let url = format!("http://{}/hook", endpoint.local_addr().unwrap());
    options.notify.webhook = Some(Webhook { url, secret: Some(SECRET.to_owned()), ca_file: None, problem: None });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start(options)).unwrap();
    runtime.spawn(server.run(std::future::pending()));
    let approval = question(state.path());
    let mut ids = Vec::new();
    for status in ["503 Busy", "200 OK"] {
        let received = answer_request(endpoint.accept().unwrap().0, status);
        let signed = Signed {
            id: received.header("webhook-id"),
            timestamp: received.header("webhook-timestamp"),
            signatures: received.header("webhook-signature"),
        };
        verify(SECRET, &signed, &received.body, now()).unwrap();
        ids.push(received.header("webhook-id").map(str::to_owned));
        let text = String::from_utf8(received.body).unwrap();
        assert!(text.contains(&approval.id.to_string()) && text.contains("sure?"), "{text}");
        assert!(text.contains(&format!("/callback/{}", approval.id)), "{text}");
        assert!(!text.contains("ghp_"), "{text}");
    }
    assert_eq!(ids[0], ids[1], "an attempt is the same message");
    runtime.shutdown_background();
}

/// Sends a signed message, and returns the status.
fn post(address: SocketAddr, path: &str, headers: &[(&str, &str)], body: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: bot.example\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn only_the_signature_gives_an_answer() {
    let state = tempfile::tempdir().unwrap();
    let store = ApprovalStore::in_state_directory(state.path());
    let approval = question(state.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let locations = checkrein::hook_files::Locations::new(state.path());
    let router = callback::router(SECRET, store.clone(), locations);
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move { axum::serve(listener, router).await });
    let path = format!("/callback/{}", approval.id);
    let body = json!({ "id": approval.id, "decision": "approve", "by": "ann" }).to_string();
    let send = |path: &str, id: &str, time: u64, secret: &str, body: &str, sent: &str| {
        let time = time.to_string();
        let signature = signature(secret, id, &time, body.as_bytes()).unwrap();
        let headers = [("webhook-id", id), ("webhook-timestamp", &*time), ("webhook-signature", &*signature)];
        post(address, path, &headers, sent)
    };
    assert_eq!(post(address, &path, &[], &body), 401);
    assert_eq!(send(&path, "m1", now(), "another secret", &body, &body), 401);
    assert_eq!(send(&path, "m1", now() - 301, SECRET, &body, &body), 401);
    assert_eq!(send(&path, "m1", now() + 310, SECRET, &body, &body), 401);
    let changed = body.replace("approve", "deny");
    assert_eq!(send(&path, "m1", now(), SECRET, &body, &changed), 401);
    // The signature does not cover the address, so the body names the approval.
    assert_eq!(send("/callback/AAAAA-AAAAA", "m2", now(), SECRET, &body, &body), 400);
    let without_decision = json!({ "id": approval.id }).to_string();
    assert_eq!(send(&path, "m3", now(), SECRET, &without_decision, &without_decision), 400);
    let unknown = json!({ "id": "AAAAA-AAAAA", "decision": "approve" }).to_string();
    assert_eq!(send("/callback/AAAAA-AAAAA", "m6", now(), SECRET, &unknown, &unknown), 404);
    // Files that others can write are not used.
    let set_mode = |mode| std::fs::set_permissions(store.directory(), std::fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o777);
    assert_eq!(send(&path, "m7", now(), SECRET, &body, &body), 500);
    set_mode(0o700);
    assert_eq!(store.find(&approval.id).unwrap().state, ApprovalState::Pending);
    assert_eq!(send(&path, "m4", now(), SECRET, &body, &body), 200);
    let answered = store.find(&approval.id).unwrap();
    assert_eq!(answered.state, ApprovalState::Approved);
    assert_eq!((answered.answers[0].via, &*answered.answers[0].by), (Via::Webhook, "ann"));
    // A message counts once, and the first answer wins.
    assert_eq!(send(&path, "m4", now(), SECRET, &body, &body), 409);
    let deny = json!({ "id": approval.id, "decision": "deny" }).to_string();
    assert_eq!(send(&path, "m5", now(), SECRET, &deny, &deny), 409);
    assert_eq!(store.find(&approval.id).unwrap().state, ApprovalState::Approved);
    runtime.shutdown_background();
}

#[cfg(all(target_os = "linux", feature = "desktop"))]
mod desktop {
    use std::collections::HashMap;
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc;

    use zbus::zvariant::OwnedValue;

    use super::*;

    const STATE: &str = "CHECKREIN_TEST_STATE";

    struct Killed(Child);

    impl Drop for Killed {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// A small desktop.
    struct Desktop(mpsc::Sender<[String; 3]>);

    #[zbus::interface(name = "org.freedesktop.Notifications")]
    impl Desktop {
        #[expect(clippy::too_many_arguments, reason = "the interface of desktops")]
        fn notify(
            &self,
            application: String,
            _replaces: u32,
            _icon: String,
            title: String,
            body: String,
            _actions: Vec<String>,
            _hints: HashMap<String, OwnedValue>,
            _timeout: i32,
        ) -> u32 {
            let _ = self.0.send([application, title, body]);
            1
        }
    }

    #[test]
    fn desktop_shows_the_tool_and_the_id_only() {
        let bus = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(bus) = bus else {
            eprintln!("skipped: there is no dbus-daemon");
            return;
        };
        let mut bus = Killed(bus);
        let mut address = String::new();
        BufReader::new(bus.0.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let (sender, shown) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let connection = runtime.block_on(async {
            let builder = zbus::connection::Builder::address(&*address).unwrap();
            let builder = builder.name("org.freedesktop.Notifications").unwrap();
            builder.serve_at("/org/freedesktop/Notifications", Desktop(sender)).unwrap().build().await.unwrap()
        });
        let state = tempfile::tempdir().unwrap();
        // The bus is a variable of the process, so another process notifies.
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "desktop::process_that_notifies", "--ignored"])
            .env("DBUS_SESSION_BUS_ADDRESS", &address)
            .env(STATE, state.path())
            .stdout(Stdio::null())
            .spawn();
        let _child = Killed(child.unwrap());
        let approval = question(state.path());
        let [application, title, body] = shown.recv_timeout(LONG).unwrap();
        assert_eq!((&*application, &*title), ("checkrein", "Bash waits for your approval"));
        assert_eq!(body, format!("codex asks. Answer with: checkrein approve {}", approval.id));
        for session in ["t", "u", "v"] {
            question_of(state.path(), session);
        }
        let mut titles = Vec::new();
        while titles.last().is_none_or(|title| title != "4 calls wait for your approval") {
            titles.push(shown.recv_timeout(LONG).unwrap()[1].clone());
        }
        assert!(titles.len() <= 3, "{titles:?}");
        drop(connection);
    }

    /// Part of the test above.
    #[test]
    #[ignore = "part of another test"]
    fn process_that_notifies() {
        let Some(state) = std::env::var_os(STATE) else { return };
        let mut options = Options::new(state);
        options.notify.desktop = true;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::start(options).await.unwrap();
            let _ = tokio::time::timeout(LONG, server.run(std::future::pending())).await;
        });
    }
}

#[test]
fn value_has_no_secret_in_debug_output() {
    let webhook = Webhook {
        url: "https://h.example/t0ken".to_owned(),
        secret: Some("s3cret".to_owned()),
        ca_file: None,
        problem: None,
    };
    let text = format!("{webhook:?}");
    assert!(!text.contains("s3cret") && !text.contains("t0ken"), "{text}");
}
