//! HTTP hooks with endpoints that an attacker controls.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::common::Place;
use crate::{PROJECT, USER, asked, assert_denied};

fn hook(url: &str, more: &str) -> String {
    format!("hooks: [{{id: far, event: PreToolUse, url: {}, timeout: 20{more}}}]", json!(url))
}

/// Starts a server that gives this answer to every request, and returns its address.
fn server(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            // The answer does not depend on the body.
            let _ = stream.read(&mut [0; 65536]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn cloud_metadata_addresses_are_blocked_in_every_spelling() {
    for host in [
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "0251.0376.0251.0376",
        "169.254.43518",
        "0xa9.254.0251.254",
        "169.254.169.254.",
        "①⑥⑨.254.169.254",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[64:ff9b::a9fe:a9fe]",
        "[fd00:ec2::254]",
        "ann:pw@169.254.169.254",
        "100.100.100.200",
    ] {
        let place = Place::with(&[(PROJECT, &hook(&format!("http://{host}/latest/meta-data"), ""))]);
        assert_denied(&asked(&place, &[]), "address");
    }
}

#[test]
fn redirects_to_blocked_addresses_are_rejected() {
    for location in ["http://169.254.169.254/", "//0xa9fea9fe/", "http://[::ffff:a9fe:a9fe]/"] {
        let server = server(answer("307 Temporary Redirect", &format!("Location: {location}\r\n"), ""));
        let place = Place::with(&[(PROJECT, &hook(&format!("http://{server}/"), ""))]);
        assert_denied(&asked(&place, &[]), "failed");
    }
}

/// The allowlist rejects other names of the same machine and names that only look similar.
#[test]
fn url_allowlist_cannot_be_bypassed() {
    let server = server(answer("200 OK", "", r#"{"decision":"allow"}"#));
    let port = server.rsplit(':').next().unwrap();
    for host in ["0x7f.1", "2130706433", "127.1", "hooks.example.com@127.0.0.1", "127.0.0.1"] {
        let place = Place::with(&[
            (PROJECT, &hook(&format!("http://{host}:{port}/"), "")),
            (USER, "allowedHttpHookUrls: ['http://hooks.example.com/*', 'http://hooks.example.com:*/*']\nhooks: []"),
        ]);
        let ran = asked(&place, &[]);
        assert!(!ran.stdout.contains("allow\""), "{host}: {ran:?}");
    }
}

#[test]
fn unsigned_answer_is_rejected() {
    let secret = ", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, require_signed_reply: true";
    for headers in ["", "webhook-signature: v1,AAAA\r\nwebhook-id: x\r\nwebhook-timestamp: 1\r\n"] {
        let server = server(answer("200 OK", headers, r#"{"decision":"allow"}"#));
        let place = Place::with(&[(PROJECT, &hook(&format!("http://{server}/"), secret))]);
        assert_denied(&asked(&place, &[]), "sign");
    }
}

/// The name resolves to a harmless address at first and to the metadata address of a cloud later. checkrein connects to the
/// address that it has checked, and resolves again for each request. The test resolves names with its own file, in
/// unprivileged namespaces; systems without them skip it.
#[cfg(target_os = "linux")]
#[test]
fn dns_rebinding_is_rejected() {
    const IN_ROOM: &str = r#"mount --bind "$1" /etc/hosts && shift && exec "$@""#;
    let can = std::process::Command::new("unshare").args(["-rm", "true"]).output();
    if !can.is_ok_and(|tried| tried.status.success()) {
        return;
    }
    let server = server(answer("200 OK", "", r#"{"decision":"deny","reason":"the endpoint says no"}"#));
    let port = server.rsplit(':').next().unwrap();
    let place = Place::with(&[(USER, &hook(&format!("http://changing.test:{port}/"), ""))]);
    let hosts = place.dir.path().join("hosts");
    let call = |address: &str| {
        std::fs::write(&hosts, format!("{address} changing.test\n")).unwrap();
        let inner = place.command(&["hook", "claude"]);
        let mut command = std::process::Command::new("unshare");
        command.args(["-rm", "sh", "-c", IN_ROOM, "sh"]).arg(&hosts).arg(inner.get_program()).args(inner.get_args());
        command.current_dir(place.dir.path()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let pipe = std::process::Stdio::piped;
        let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
        let sent = crate::sent("Bash", &json!({ "command": "ls" }));
        child.stdin.take().unwrap().write_all(sent.as_bytes()).unwrap();
        place.ran(child.wait_with_output().unwrap())
    };
    for _ in 0..2 {
        assert_denied(&call("127.0.0.1"), "the endpoint says no");
        assert_denied(&call("169.254.169.254"), "address");
        assert_denied(&call("::ffff:169.254.169.254"), "address");
    }
}
