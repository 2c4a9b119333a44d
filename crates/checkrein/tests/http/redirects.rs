use checkrein::handler::HttpFactory;
use checkrein::hook::HttpSpec;
use checkrein::{Decision, FailureKind};

use crate::server::{Request, Server, Stream, Then, respond};
use crate::{ALLOW, assert_fails, event, fire};

/// A server that redirects `/`.
fn leading_to(status: &'static str, location: impl Into<String>) -> Server {
    let headers = format!("location: {}\r\n", location.into());
    Server::new(move |request: &Request, stream: &mut dyn Stream| -> Then {
        match request.path.as_str() {
            "/" => respond(stream, status, &headers, "moved"),
            _ => respond(stream, "200 OK", "", ALLOW),
        }
    })
}

#[tokio::test]
async fn redirects_on_the_same_host_are_followed_on_request() {
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let server = leading_to(status, "there?x");
        let verdict = fire(server.url("/"), HttpSpec::follow_redirects).await;
        assert_eq!(verdict.decision(), Decision::Allow, "{status}");
        let requests = server.requests();
        let [first, second] = &requests[..] else { panic!("{requests:?}") };
        // The event is sent again with every status. Old clients would send a GET request.
        assert_eq!((second.method.as_str(), second.path.as_str()), ("POST", "/there?x"));
        assert_eq!((&first.body, first.header("webhook-id")), (&second.body, second.header("webhook-id")));
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn unfollowed_redirect_names_the_fix() {
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let server = leading_to(status, "/there");
        let verdict = fire(server.url("/"), |http| http).await;
        let says = format!("status {}: the redirect was not followed; use its target", &status[..3]);
        assert_fails(&verdict, FailureKind::HttpStatus, &says);
        assert_fails(&verdict, FailureKind::HttpStatus, "`HttpSpec::follow_redirects`");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn redirects_to_another_origin_are_never_followed() {
    let other = Server::saying("200 OK", "", ALLOW);
    for location in [
        other.url("/"),
        format!("//{}/", other.address),
        format!("http://localhost:{}/", other.address.port()),
        "https://127.0.0.1/".to_owned(),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "file:///etc/passwd".to_owned(),
        "http://[".to_owned(),
    ] {
        let server = leading_to("307 Temporary Redirect", &location);
        let verdict = fire(server.url("/"), HttpSpec::follow_redirects).await;
        assert_fails(&verdict, FailureKind::HttpStatus, "status 307: redirect to another scheme, host or port");
        assert_eq!(server.requests().len(), 1, "{location}");
    }
    assert_eq!(other.connections(), 0);
    // Another scheme of the same host and port.
    let server = Server::new(|request, stream| {
        let location = format!("location: https://{}/there\r\n", request.header("host").unwrap());
        respond(stream, "307 Temporary Redirect", &location, "")
    });
    let verdict = fire(server.url("/"), HttpSpec::follow_redirects).await;
    assert_fails(&verdict, FailureKind::HttpStatus, "redirect to another scheme, host or port");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn redirects_303_300_and_loops_are_failures() {
    for status in ["303 See Other", "300 Multiple Choices"] {
        let server = leading_to(status, "/there");
        let verdict = fire(server.url("/"), HttpSpec::follow_redirects).await;
        assert_fails(&verdict, FailureKind::HttpStatus, &format!("status {}", &status[..3]));
    }
    let server = Server::saying("302 Found", "", "");
    assert_fails(&fire(server.url("/"), HttpSpec::follow_redirects).await, FailureKind::HttpStatus, "status 302");
    let server = leading_to("302 Found", "/");
    let verdict = fire(server.url("/"), HttpSpec::follow_redirects).await;
    assert_fails(&verdict, FailureKind::HttpStatus, "more than 5 redirects");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn allowlist_applies_to_redirects_and_hooks() {
    let server = leading_to("307 Temporary Redirect", "/there");
    let mut registry = checkrein::Registry::new();
    let factory = HttpFactory::new().allow_urls([format!("http://{}/", server.address)]).unwrap();
    registry.register("http", factory).unwrap();
    let hook = crate::hook(server.url("/"), HttpSpec::follow_redirects);
    let engine = checkrein::Engine::builder().registry(registry).hook(hook).build();
    assert_fails(&engine.fire(event()).await, FailureKind::HttpStatus, "not in the URL allowlist");
    assert_eq!(server.requests().len(), 1);
    engine.replace_all(vec![crate::hook(server.url("/there"), |http| http)]);
    assert!(engine.problems()[0].to_string().contains("not in the URL allowlist"), "{:?}", engine.problems());
    assert_fails(&engine.fire(event()).await, FailureKind::HttpNet, "not in the URL allowlist");
    assert_eq!(server.requests().len(), 1);
    assert!(HttpFactory::new().allow_urls(["example.com"]).is_err());
}
