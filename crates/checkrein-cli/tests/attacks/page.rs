//! Attacks on the live page: other pages in the browser, other local programs, and guesses.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use checkrein::RawJson;
use checkrein_serve::store::{PushedEvent, Store};
use checkrein_serve::web::{self, Web, WebOptions};
use serde_json::{Value, json};

struct Page {
    dir: tempfile::TempDir,
    store: Store,
    web: Web,
    _runtime: tokio::runtime::Runtime,
}

/// A browser that is logged in.
struct Browser {
    cookie: String,
    token: String,
}

impl Page {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let options = WebOptions::new(store.clone(), dir.path(), dir.path().join("run"));
        let web = runtime.block_on(web::start(options)).unwrap();
        Self { dir, store, web, _runtime: runtime }
    }

    /// Sends bytes, and returns the whole response.
    fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.web.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // The server may close before all is sent.
        let _ = stream.write_all(bytes);
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
        let address = self.web.address().to_string();
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request.push_str(&format!("Host: {address}\r\n"));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        self.raw(format!("{request}\r\n{body}").as_bytes())
    }

    fn origin(&self) -> String {
        format!("http://{}", self.web.address())
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> String {
        let origin = self.origin();
        let mut all = vec![("Origin", origin.as_str()), ("Content-Type", "application/json")];
        all.extend_from_slice(headers);
        self.send("POST", path, &all, &body.to_string())
    }

    fn log_in(&self) -> Browser {
        let url = self.web.login().unwrap().url;
        let response = self.post("/login", &[], &json!({ "token": url.split_once('#').unwrap().1 }));
        let lower = response.to_lowercase();
        assert!(lower.contains("httponly") && lower.contains("samesite=strict"), "{response}");
        let cookie = response.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        let body: Value = serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap();
        Browser {
            cookie: cookie.split(';').next().unwrap().to_owned(),
            token: body["page"].as_str().unwrap().to_owned(),
        }
    }
}

impl Browser {
    fn headers(&self) -> [(&str, &str); 2] {
        [("Cookie", &self.cookie), ("X-Checkrein-Page", &self.token)]
    }
}

#[track_caller]
fn assert_status(response: &str, status: u16) {
    assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {response}");
}

#[test]
fn page_needs_a_login_with_two_secrets() {
    let page = Page::new();
    assert!(page.web.address().ip().is_loopback());
    let browser = page.log_in();
    assert_status(&page.send("GET", "/api/overview", &browser.headers(), ""), 200);
    let [cookie, token] = browser.headers();
    let other = page.log_in();
    for headers in [
        vec![],
        vec![cookie],
        vec![token],
        vec![other.headers()[0], token],
        vec![cookie, cookie, ("X-Checkrein-Page", "")],
    ] {
        for path in ["/api/overview", "/api/events", "/api/approvals", "/api/changes", "/api/coverage", "/api/unknown"]
        {
            assert_status(&page.send("GET", path, &headers, ""), 401);
        }
        let answer =
            page.post("/api/approvals/7KQ2M-9XDTR", &headers, &json!({ "decision": "approve", "shown_digest": "" }));
        assert_status(&answer, 401);
    }
    // The files of the page have no secret of a browser.
    let run = page.dir.path().join("run");
    for name in [web::PORT_FILE, "page.sessions"] {
        let path = run.join(name);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&browser.token) && !text.contains(browser.cookie.split_once('=').unwrap().1), "{text}");
    }
}

#[test]
fn requests_of_other_pages_are_refused() {
    let page = Page::new();
    let browser = page.log_in();
    let own = browser.headers();
    let port = page.web.address().port().to_string();
    // DNS rebinding: the name of an attacker that resolves to this machine.
    let (local, ip6) = (format!("localhost:{port}"), format!("[::1]:{port}"));
    for host in ["evil.test", "evil.test:80", "127.0.0.1", "", local.as_str(), ip6.as_str()] {
        for path in ["/", "/page.js", "/api/overview"] {
            let response = page.send("GET", path, &[&own[..], &[("Host", host)]].concat(), "");
            assert_status(&response, 421);
        }
    }
    for (name, value) in [
        ("Origin", "https://evil.test"),
        ("Origin", "null"),
        ("Origin", "http://127.0.0.1:1"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        let response = page.send("GET", "/api/overview", &[&own[..], &[(name, value)]].concat(), "");
        assert_status(&response, 403);
        assert!(!response.to_lowercase().contains("access-control-"), "{response}");
    }
    // A change needs the own origin, and a type that a form cannot send.
    let body = json!({ "rules": "hooks: []", "last": 1 }).to_string();
    assert_status(&page.send("POST", "/api/what-if", &own, &body), 403);
    let origin = page.origin();
    let form = [&own[..], &[("Origin", origin.as_str()), ("Content-Type", "text/plain")]].concat();
    assert_status(&page.send("POST", "/api/what-if", &form, &body), 415);
    let preflight = [("Origin", "https://evil.test"), ("Access-Control-Request-Method", "POST")];
    let response = page.send("OPTIONS", "/api/what-if", &preflight, "");
    assert_status(&response, 403);
    assert!(!response.to_lowercase().contains("access-control-"), "{response}");
}

#[test]
fn every_response_of_the_page_forbids_foreign_code_and_frames() {
    let page = Page::new();
    let browser = page.log_in();
    let responses = [
        page.send("GET", "/", &[], ""),
        page.send("GET", "/page.js", &[], ""),
        page.send("GET", "/api/overview", &browser.headers(), ""),
        page.send("GET", "/api/overview", &[], ""),
        page.send("GET", "/unknown", &[], ""),
        page.send("GET", "/", &[("Host", "evil.test")], ""),
        page.send("DELETE", "/", &[("Origin", &page.origin())], ""),
    ];
    for response in responses {
        let lower = response.to_lowercase();
        for header in [
            "content-security-policy: default-src 'self'; script-src 'self'; style-src 'self';",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "x-content-type-options: nosniff",
            "cache-control: no-store",
            "referrer-policy: no-referrer",
        ] {
            assert!(lower.contains(header), "{header}: {response}");
        }
        assert!(!lower.contains("unsafe-inline") && !lower.contains("access-control-"), "{response}");
    }
    let html = page.send("GET", "/", &[], "");
    assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains(" onclick="), "{html}");
    assert_eq!(html.matches("<script").count(), html.matches("<script type=\"module\" src=\"/").count());
}

#[test]
fn login_of_the_page_works_once_and_cannot_be_guessed() {
    let page = Page::new();
    let login = page.web.login().unwrap();
    let token = login.url.split_once('#').unwrap().1;
    assert_eq!(token.len(), 64);
    assert_status(&page.post("/login", &[], &json!({ "token": token })), 200);
    for used in [token, &login.code, "", "\0", "AAAA-AAAA"] {
        assert_status(&page.post("/login", &[], &json!({ "token": used })), 403);
    }
    let login = page.web.login().unwrap();
    // Guesses are slow, and another user of the machine cannot prevent a login with them.
    let start = std::time::Instant::now();
    for number in 0..3 {
        assert_status(&page.post("/login", &[], &json!({ "token": format!("AAAA-AA{number:02}") })), 403);
    }
    assert!(start.elapsed() >= Duration::from_secs(3), "{:?}", start.elapsed());
    assert_status(&page.post("/login", &[], &json!({ "token": login.code })), 200);
}

#[test]
fn hostile_requests_do_not_stop_the_page() {
    let page = Page::new();
    let browser = page.log_in();
    let own = browser.headers();
    for (method, path, status) in [
        ("GET", "/../../../etc/passwd", 404),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd", 404),
        ("GET", "/api/events/../../etc/passwd", 404),
        ("GET", "/api/events/..%2f..%2fetc%2fpasswd", 404),
        ("GET", "/api/events/0000000000000000", 404),
        ("GET", "/api/events/%00", 404),
        ("GET", "/api/approvals/7KQ2M-9XDTR/input", 404),
        ("GET", "/api/events?limit=-1", 400),
        ("GET", "/api/events?limit=99999999999999999999999", 400),
        ("GET", "/login", 405),
    ] {
        assert_status(&page.send(method, path, &own, ""), status);
    }
    let answer = json!({ "decision": "approve", "shown_digest": "" });
    assert_status(&page.post("/api/approvals/7KQ2M-9XDTR", &own, &answer), 404);
    assert_status(&page.post("/api/approvals/x", &own, &answer), 404);
    assert_status(&page.post("/api/what-if", &own, &json!({ "rules": "x".repeat(1 << 20), "last": 1 })), 413);
    assert_status(&page.post("/api/what-if", &own, &json!({ "rules": "hooks: [", "last": 1 })), 422);
    for bytes in [
        b"\0\0\0\0\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        [b"GET / HTTP/1.1\r\nHost: x\r\nX: ".to_vec(), vec![b'a'; 2 << 20], b"\r\n\r\n".to_vec()].concat(),
        [b"GET /".to_vec(), vec![b'a'; 2 << 20], b" HTTP/1.1\r\n\r\n".to_vec()].concat(),
        [b"GET / HTTP/1.1\r\n".to_vec(), b"X: y\r\n".repeat(10_000), b"\r\n".to_vec()].concat(),
    ] {
        let response = page.raw(&bytes);
        assert!(response.is_empty() || response.starts_with("HTTP/1.1 4"), "{response}");
    }
    assert_status(&page.send("GET", "/api/overview", &own, ""), 200);
}

#[test]
fn page_gets_no_secrets() {
    let page = Page::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let line = json!({ "time": "2026-01-31T08:00:00.000Z", "agent": "claude", "event": "pre_tool_use", "verdict": "no_opinion" });
    let record = RawJson::parse(
        json!({ "event": { "tool_input": { "command": format!("curl -H 'X: {token}'") } } }).to_string(),
    );
    page.store.insert(&PushedEvent { line: line.to_string(), record: Some(record.unwrap()) }).unwrap();
    let browser = page.log_in();
    let body = |path: &str| page.send("GET", path, &browser.headers(), "").split_once("\r\n\r\n").unwrap().1.to_owned();
    let events = body("/api/events");
    let start = events.find("\"id\":\"").unwrap() + 6;
    let full = body(&format!("/api/events/{}", &events[start..start + 16]));
    assert!(full.contains("[redacted:github_token]") && !full.contains(&token), "{full}");
}
