//! Handler of HTTP hooks: sends the event to an endpoint and reads its response.
//!
//! The handler never connects to link-local or cloud metadata addresses, and never follows a redirect to another origin.

mod body;
mod client;
mod connect;
mod credentials;
mod encodings;
mod factory;
pub(crate) mod header_vars;
mod origin;
pub(crate) mod sign;
mod ssrf;
mod tls;
mod url_allowlist;

use std::sync::Arc;

use checkrein_core::payload::JsonPiece;
use checkrein_core::{Failure, FailureKind, HttpReply, Reply};
use checkrein_dialects::Dialect;
use hyper::header::{CONTENT_LENGTH, HeaderValue, InvalidHeaderValue, LOCATION};
use hyper::{HeaderMap, Method, Request};

use body::Pieces;
use client::{Answer, Client, net_failure};
use credentials::Credentials;
pub use factory::{BadHttpSetting, HttpFactory};
use origin::Target;
use sign::{Id, Key, RequestId};
pub(crate) use url_allowlist::UrlPattern;

use super::{Call, Handler, HandlerFuture, HandlerProblem};

/// Maximum number of redirects.
const MAX_REDIRECTS: usize = 5;

/// Calls one endpoint.
struct Http {
    client: Arc<Client>,
    target: Target,
    method: Method,
    /// Headers of every request, with capacity for those of a single one.
    headers: HeaderMap,
    /// Credentials to redact in responses.
    credentials: Credentials,
    /// Missing variables.
    problems: Vec<HandlerProblem>,
    key: Option<Key>,
    /// Id of all requests. `None`: each one has its own.
    message_id: Option<Id>,
    require_signed_reply: bool,
    follow_redirects: bool,
    response_cap: usize,
    /// Allowlist of URLs, also for redirects.
    allow: Option<Arc<[UrlPattern]>>,
}

impl Handler for Http {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        Box::pin(self.run(call))
    }

    fn problems(&self) -> &[HandlerProblem] {
        &self.problems
    }
}

impl Http {
    async fn run(&self, call: &Call) -> Result<Reply, Failure> {
        let payload = call.payload();
        let id = self.message_id.unwrap_or_else(|| self.client.ids.next());
        let sent = RequestId::new(id, self.key.as_ref(), payload);
        let mut redirected: Option<Target> = None;
        for _ in 0..=MAX_REDIRECTS {
            let target = redirected.as_ref().unwrap_or(&self.target);
            let request = || self.request(target, payload, &sent);
            let answer = self.client.exchange(&target.origin, self.response_cap, request).await?;
            match self.redirect(target, &answer)? {
                Some(next) => redirected = Some(next),
                None => return self.checked(call.dialect, &sent, answer),
            }
        }
        Err(Failure::new(FailureKind::HttpStatus, format!("more than {MAX_REDIRECTS} redirects")))
    }

    fn request(&self, target: &Target, payload: &[JsonPiece], sent: &RequestId) -> Result<Request<Pieces>, Failure> {
        let length: usize = payload.iter().map(|piece| piece.as_ref().len()).sum();
        let mut headers = self.headers.clone();
        let put = |headers: &mut HeaderMap| {
            sent.put(headers)?;
            match length {
                0 => headers.remove(CONTENT_LENGTH),
                _ => headers.insert(CONTENT_LENGTH, HeaderValue::try_from(length.to_string())?),
            };
            Ok::<_, InvalidHeaderValue>(())
        };
        put(&mut headers).map_err(|error| net_failure(&self.target.origin, &error.to_string()))?;
        let mut request = Request::new(Pieces::new(payload));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = target.uri.clone();
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// Returns the target of a redirect to follow. 303 is not followed: it would send a GET request without the event.
    fn redirect(&self, from: &Target, answer: &Answer) -> Result<Option<Target>, Failure> {
        let location = answer.headers.get(LOCATION);
        let (true, 301 | 302 | 307 | 308, Some(location)) = (self.follow_redirects, answer.status, location) else {
            return Ok(None);
        };
        let refused = |why| Failure::new(FailureKind::HttpStatus, format!("status {}: {why}", answer.status));
        let next = location.to_str().ok().and_then(|location| from.redirected(location));
        let next = next.ok_or_else(|| refused("redirect to another scheme, host or port; it is not followed"))?;
        if self.allow.as_ref().is_some_and(|allow| !allow.iter().any(|pattern| pattern.fits(&next.url))) {
            return Err(refused("redirect to a URL that is not in the URL allowlist of the host"));
        }
        Ok(Some(next))
    }

    /// Returns the reply if it is not too long and its signature is valid. A response that is a failure needs no signature.
    fn checked(&self, dialect: &Dialect, sent: &RequestId, answer: Answer) -> Result<Reply, Failure> {
        let Answer { status, headers, body } = answer;
        let is_success = (200..300).contains(&status);
        // Reported here, because only the handler knows the cap.
        if is_success && body.is_cut() && dialect.http.decides {
            let message = format!("the response is larger than the limit of {} bytes", self.response_cap);
            return Err(Failure::new(FailureKind::OutputCap, message));
        }
        let is_used = is_success && !body.is_cut();
        if let (true, true, Some(key)) = (self.require_signed_reply, is_used, &self.key) {
            key.verify(sent, &headers, &body.bytes, sign::now()).map_err(|why| {
                let message = format!("response of {} rejected: {why}", self.target.origin);
                Failure::new(FailureKind::HttpNet, message)
            })?;
        }
        // Redaction comes after verification, because the signature covers the original bytes.
        Ok(Reply::Http(HttpReply::new(status, self.credentials.redact(body))))
    }
}
