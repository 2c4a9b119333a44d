use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use checkrein::hook::HttpSpec;
use checkrein::{Decision, FailureKind};
use hmac::{Hmac, KeyInit as _, Mac as _};

use crate::server::{Server, respond};
use crate::{ALLOW, assert_fails, fire};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Second implementation of the specification.
fn signature(secret: &[u8], id: &str, timestamp: &str, body: &str) -> String {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret).unwrap();
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

fn key() -> Vec<u8> {
    STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

#[tokio::test]
async fn requests_are_signed() {
    for (secret, key) in [(SECRET, key()), ("plain text", b"plain text".to_vec())] {
        let server = Server::saying("200 OK", "", ALLOW);
        fire(server.url("/"), |http| http.secret(secret)).await;
        let request = server.request();
        let (id, timestamp) = (request.header("webhook-id").unwrap(), request.header("webhook-timestamp").unwrap());
        let expected = signature(&key, id, timestamp, &request.body);
        assert_eq!(request.header("webhook-signature"), Some(expected.as_str()));
        assert!(timestamp.parse::<u64>().unwrap().abs_diff(now()) < 60);
    }
}

#[tokio::test]
async fn secret_can_come_from_the_environment() {
    let server = Server::saying("200 OK", "", ALLOW);
    let hook = |name: &str| crate::hook(server.url("/"), |http| http.secret("${HOOK_SECRET}").allow_env(name));
    let builder = || checkrein::Engine::builder().vars([("HOOK_SECRET", SECRET)]);
    builder().hook(hook("HOOK_SECRET")).build().fire(crate::event()).await;
    let request = server.request();
    let (id, timestamp) = (request.header("webhook-id").unwrap(), request.header("webhook-timestamp").unwrap());
    let expected = signature(&key(), id, timestamp, &request.body);
    assert_eq!(request.header("webhook-signature"), Some(expected.as_str()));
    // A missing variable does not become an empty key.
    let verdict = builder().hook(hook("OTHER")).build().fire(crate::event()).await;
    assert_fails(&verdict, FailureKind::Schema, "`secret` is empty");
}

/// Id, timestamp and signature of a server's reply, from the id of the request and the body.
type Sign = fn(&str, &str) -> [String; 3];

async fn answered(sign: Sign) -> checkrein::Verdict {
    let server = Server::new(move |request, stream| {
        let [id, timestamp, signature] = sign(request.header("webhook-id").unwrap(), ALLOW);
        let headers =
            format!("webhook-id: {id}\r\nwebhook-timestamp: {timestamp}\r\nwebhook-signature: {signature}\r\n");
        respond(stream, "200 OK", &headers, ALLOW)
    });
    fire(server.url("/"), |http| http.secret(SECRET).require_signed_reply()).await
}

fn signed(id: &str, at: u64, body: &str, key: &[u8]) -> [String; 3] {
    [id.to_owned(), at.to_string(), signature(key, id, &at.to_string(), body)]
}

#[tokio::test]
async fn signed_replies_are_verified() {
    let right: &[Sign] = &[
        |id, body| signed(id, now(), body, &key()),
        |id, body| signed(id, now() - 60, body, &key()),
        |id, body| {
            let [id, timestamp, signature] = signed(id, now(), body, &key());
            [id, timestamp, format!("v1,b2xk v2,x {signature}")]
        },
    ];
    for sign in right {
        assert_eq!(answered(*sign).await.decision(), Decision::Allow);
    }
    let wrong: &[(Sign, &str)] = &[
        (|id, body| signed(id, now(), body, b"another key"), "signature is wrong"),
        (|id, _| signed(id, now(), "{}", &key()), "signature is wrong"),
        (|id, body| signed(id, now() - 400, body, &key()), "more than 5 minutes"),
        (|id, body| signed(id, now() + 400, body, &key()), "more than 5 minutes"),
        (|_, body| signed("msg_other", now(), body, &key()), "for another request"),
        (|id, _| [id.to_owned(), now().to_string(), "v1,".to_owned()], "signature is wrong"),
    ];
    for (sign, text) in wrong {
        assert_fails(&answered(*sign).await, FailureKind::HttpNet, text);
    }
}

#[tokio::test]
async fn unsigned_and_echoed_replies_are_rejected() {
    let required = |http: HttpSpec| http.secret(SECRET).require_signed_reply();
    for body in [ALLOW, ""] {
        let server = Server::saying("200 OK", "", body);
        let verdict = fire(server.url("/"), required).await;
        assert_fails(&verdict, FailureKind::HttpNet, "rejected: it is not signed");
    }
    // An endpoint without the secret can echo the signed request.
    let mirror = Server::new(|request, stream| {
        let own = request.headers.iter().filter(|(name, _)| name.starts_with("webhook-"));
        let headers: String = own.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        respond(stream, "200 OK", &headers, &request.body)
    });
    assert_fails(&fire(mirror.url("/"), required).await, FailureKind::HttpNet, "signature is wrong");
    let verdict = fire("http://localhost/", HttpSpec::require_signed_reply).await;
    assert_fails(&verdict, FailureKind::Schema, "signed replies are required, but there is no `secret`");
}
