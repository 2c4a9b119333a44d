//! Hooks that are HTTP endpoints, and where they might lead.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::common::Place;
use crate::{PROJECT, USER, asked, assert_denied};

fn hook(url: &str, more: &str) -> String {
    format!("hooks: [{{id: far, event: PreToolUse, url: {}, timeout: 20{more}}}]", json!(url))
}

/// Answers every request with this, and says where it listens.
fn server(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            // The head is enough: the answer does not depend on the rest.
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
fn credentials_of_the_cloud_are_out_of_reach_in_every_spelling() {
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
fn a_redirect_does_not_lead_there_either() {
    for location in ["http://169.254.169.254/", "//0xa9fea9fe/", "http://[::ffff:a9fe:a9fe]/"] {
        let server = server(answer("307 Temporary Redirect", &format!("Location: {location}\r\n"), ""));
        let place = Place::with(&[(PROJECT, &hook(&format!("http://{server}/"), ""))]);
        assert_denied(&asked(&place, &[]), "failed");
    }
}

/// A list of endpoints holds for other names of the same machine, and for names that only look right.
#[test]
fn a_list_of_endpoints_cannot_be_talked_round() {
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
fn an_answer_without_its_signature_does_not_count() {
    let secret = ", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw, require_signed_reply: true";
    for headers in ["", "webhook-signature: v1,AAAA\r\nwebhook-id: x\r\nwebhook-timestamp: 1\r\n"] {
        let server = server(answer("200 OK", headers, r#"{"decision":"allow"}"#));
        let place = Place::with(&[(PROJECT, &hook(&format!("http://{server}/"), secret))]);
        assert_denied(&asked(&place, &[]), "sign");
    }
}
