use checkrein::{Decision, Engine, FailureKind};

use crate::server::Server;
use crate::{ALLOW, assert_fails, event, fire, hook};

#[tokio::test]
async fn requests_have_standard_headers() {
    let server = Server::saying("200 OK", "", ALLOW);
    fire(server.url("/a/b?c=d#e"), |http| http).await;
    let request = server.request();
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/a/b?c=d"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("host"), Some(server.address.to_string().as_str()));
    assert!(request.header("webhook-id").unwrap().starts_with("msg_"));
    assert!(request.header("webhook-timestamp").unwrap().parse::<u64>().unwrap() > 1_700_000_000);
    assert_eq!(request.header("webhook-signature"), None);
    assert_eq!(request.header("authorization"), None);
}

#[tokio::test]
async fn configured_methods_are_used() {
    for method in ["PUT", "patch", "GET", "DELETE"] {
        let server = Server::saying("200 OK", "", ALLOW);
        assert_eq!(fire(server.url("/"), |http| http.method(method)).await.decision(), Decision::Allow);
        assert_eq!(server.request().method, method.to_uppercase());
    }
    for method in ["", "CONNECT", "PO ST", "GET\r\nx: y"] {
        let verdict = fire("http://localhost/", |http| http.method(method)).await;
        assert_fails(&verdict, FailureKind::Schema, "is not a usable HTTP method");
    }
}

#[tokio::test]
async fn only_allowed_variables_are_expanded() {
    let server = Server::saying("200 OK", "", ALLOW);
    let hook = hook(server.url("/"), |http| {
        http.header("Authorization", "Bearer $TOKEN")
            .header("x-both", "${TOKEN}|$OTHER|${OTHER}|$$TOKEN")
            .header("x-missing", "<$MISSING>")
            .header("content-type", "application/cloudevents+json")
            .header("x-twice", "1")
            .header("X-Twice", "2")
            .allow_env("TOKEN")
            .allow_env("MISSING")
    });
    let vars = [("TOKEN", "t0k3n"), ("OTHER", "0th3r")];
    let verdict = Engine::builder().vars(vars).hook(hook).build().fire(event()).await;
    assert_eq!(verdict.decision(), Decision::Allow);
    let request = server.request();
    assert_eq!(request.header("authorization"), Some("Bearer t0k3n"));
    assert_eq!(request.header("x-both"), Some("t0k3n|||$TOKEN"));
    assert_eq!(request.header("x-missing"), Some("<>"));
    let all = |name| request.headers.iter().filter(move |(own, _)| own == name).map(|(_, value)| value.as_str());
    assert_eq!(all("content-type").collect::<Vec<_>>(), ["application/cloudevents+json"]);
    assert_eq!(all("x-twice").collect::<Vec<_>>(), ["1", "2"]);
}

#[test]
fn missing_variables_are_reported() {
    let hook = hook("http://localhost/", |http| {
        http.header("x-a", "$SET $UNSET").header("x-b", "${OTHER}").allow_env("SET").allow_env("UNSET")
    });
    let engine = Engine::builder().vars([("SET", "1"), ("OTHER", "2")]).hook(hook).build();
    let texts: Vec<_> = engine.problems().into_iter().map(|problem| problem.to_string()).collect();
    assert!(texts.len() == 2 && texts[0].contains("sends `$UNSET` empty: the variable is not set"), "{texts:?}");
    assert!(texts[1].contains("sends `$OTHER` empty: add it to `allowedEnvVars`"), "{texts:?}");
}

#[tokio::test]
async fn last_value_of_a_duplicate_variable_applies() {
    let server = Server::saying("200 OK", "", ALLOW);
    let hook = hook(server.url("/"), |http| http.header("x-token", "$TOKEN").allow_env("TOKEN"));
    let vars = [("TOKEN", "first"), ("TOKEN", "last")];
    Engine::builder().vars(vars).hook(hook).build().fire(event()).await;
    assert_eq!(server.request().header("x-token"), Some("last"));
}

#[tokio::test]
async fn invalid_headers_are_reported_at_load() {
    for (name, value, text) in [
        ("x y", "v", "`x y` is not a valid header name"),
        ("x", "a\r\nb: c", "the value of the header `x` has characters"),
        ("Content-Length", "1", "`Content-Length` is reserved"),
        ("transfer-encoding", "chunked", "is reserved"),
        ("webhook-id", "1", "is reserved"),
    ] {
        let engine = crate::engine("http://localhost/", |http| http.header(name, value));
        assert!(engine.problems()[0].to_string().contains(text), "{:?}", engine.problems());
        assert_fails(&engine.fire(event()).await, FailureKind::Schema, text);
    }
}

#[tokio::test]
async fn credentials_in_the_url_become_a_header() {
    let server = Server::saying("200 OK", "", ALLOW);
    fire(format!("http://Aladdin:open%20sesame@{}/", server.address), |http| http).await;
    assert_eq!(server.request().header("authorization"), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
}
