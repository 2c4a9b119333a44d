//! Checks of every request, and headers of every response.
//!
//! Other pages in the user's browser, other users and other local servers are hostile. The order: address, origin, session.

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::{App, api};
use crate::store::lock;

/// Header of the page token. A page of another origin cannot send it.
pub(super) const PAGE_TOKEN: &str = "x-checkrein-page";

/// Headers of every response.
static HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'self'; script-src 'self'; style-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Name of the cookie. Browsers send a cookie to every port, so two users of a machine need two names.
pub(super) fn cookie_name(port: u16) -> String {
    format!("checkrein-{port}")
}

/// Checks a request, passes it on, and adds the headers.
pub(super) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = match refusal(&app, &request) {
        Some(response) => response,
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(*name, HeaderValue::from_static(value));
    }
    response
}

fn refusal(app: &App, request: &Request) -> Option<Response> {
    let headers = request.headers();
    let address = format!("127.0.0.1:{}", app.port);
    // A name that an attacker's DNS server resolves to this machine is in `Host`.
    if single(headers, &header::HOST) != Some(address.as_str()) {
        let text = format!("open http://{address}/; other host names are refused");
        return Some(api::error(StatusCode::MISDIRECTED_REQUEST, &text));
    }
    let is_page = request.uri().path() == "/" && request.method() == Method::GET;
    let changes = request.method() != Method::GET && request.method() != Method::HEAD;
    let origin_is_own = match headers.contains_key(header::ORIGIN) {
        true => single(headers, &header::ORIGIN) == Some(&format!("http://{address}")),
        // Browsers send the origin with every change.
        false => !changes,
    };
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let site_is_own = is_page || matches!(site, None | Some(b"same-origin" | b"none"));
    if !origin_is_own || !site_is_own {
        return Some(api::error(StatusCode::FORBIDDEN, "requests of other pages are refused"));
    }
    if request.uri().path().starts_with("/api/") && !is_logged_in(app, headers) {
        return Some(api::error(StatusCode::UNAUTHORIZED, "not logged in; run `checkrein live`"));
    }
    None
}

fn is_logged_in(app: &App, headers: &HeaderMap) -> bool {
    let name = HeaderName::from_static(PAGE_TOKEN);
    match (cookie(app.port, headers), single(headers, &name)) {
        (Some(cookie), Some(page)) => lock(&app.logins).is_valid(cookie, page),
        _ => false,
    }
}

/// Returns the cookie of the session.
pub(super) fn cookie(port: u16, headers: &HeaderMap) -> Option<&str> {
    let name = cookie_name(port);
    let pairs = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    pairs.flat_map(|value| value.split(';')).find_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        if key == name { Some(value) } else { None }
    })
}

/// Returns a header that occurs once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Response to requests of unknown paths.
pub(super) async fn unknown() -> Response {
    api::error(StatusCode::NOT_FOUND, "there is no such page").into_response()
}
