//! Hooks that are HTTP endpoints.

mod body;
mod client;
mod connect;
mod credentials;
mod encodings;
mod factory;
mod header_vars;
mod origin;
mod sign;
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
use sign::{Key, RequestId};
pub(crate) use url_allowlist::UrlPattern;

use super::{Call, Handler, HandlerFuture, HandlerProblem};

/// How many redirects are followed.
const REDIRECTS: usize = 5;

/// Calls one endpoint.
struct Http {
    client: Arc<Client>,
    target: Target,
    method: Method,
    /// Those of every request, with room for what only one has.
    headers: HeaderMap,
    /// What of all that nobody but the endpoint may see.
    credentials: Credentials,
    /// Variables that were asked for and are not there.
    problems: Vec<HandlerProblem>,
    key: Option<Key>,
    require_signed_reply: bool,
    follow_redirects: bool,
    response_cap: usize,
    /// Where redirects may lead, if there is a list.
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
        let sent = RequestId::new(self.client.ids.next(), self.key.as_ref(), payload);
        let mut redirected: Option<Target> = None;
        for _ in 0..=REDIRECTS {
            let target = redirected.as_ref().unwrap_or(&self.target);
            let request = || self.request(target, payload, &sent);
            let answer = self.client.exchange(&target.origin, self.response_cap, request).await?;
            match self.redirect(target, &answer)? {
                Some(next) => redirected = Some(next),
                None => return self.checked(call.dialect, &sent, answer),
            }
        }
        Err(Failure::new(FailureKind::HttpStatus, format!("more than {REDIRECTS} redirects")))
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

    /// Where the answer sends us, if it does and we go. 303 is not among those: it would turn the event into a question
    /// without one.
    fn redirect(&self, from: &Target, answer: &Answer) -> Result<Option<Target>, Failure> {
        let location = answer.headers.get(LOCATION);
        let (true, 301 | 302 | 307 | 308, Some(location)) = (self.follow_redirects, answer.status, location) else {
            return Ok(None);
        };
        let refused = |why| Failure::new(FailureKind::HttpStatus, format!("status {}: {why}", answer.status));
        let next = location.to_str().ok().and_then(|location| from.redirected(location));
        let next = next.ok_or_else(|| refused("a redirect that leaves the scheme, host or port is not followed"))?;
        if self.allow.as_ref().is_some_and(|allow| !allow.iter().any(|pattern| pattern.fits(&next.url))) {
            return Err(refused("the redirect leads to a URL that hooks may not call"));
        }
        Ok(Some(next))
    }

    /// The reply, if it is not too long and nothing is wrong with its signature. What is a failure anyway needs none.
    fn checked(&self, dialect: &Dialect, sent: &RequestId, answer: Answer) -> Result<Reply, Failure> {
        let Answer { status, headers, body } = answer;
        let is_success = (200..300).contains(&status);
        // Said here, since only the handler knows the cap.
        if is_success && body.is_cut() && dialect.http.decides {
            let message = format!("the answer is larger than the cap of {} bytes", self.response_cap);
            return Err(Failure::new(FailureKind::OutputCap, message));
        }
        let counts = is_success && !body.is_cut();
        if let (true, true, Some(key)) = (self.require_signed_reply, counts, &self.key) {
            key.verify(sent, &headers, &body.bytes, sign::now()).map_err(|why| {
                let message = format!("{} was called, but {why}", self.target.origin);
                Failure::new(FailureKind::HttpNet, message)
            })?;
        }
        // Only now: what was signed is what came.
        Ok(Reply::Http(HttpReply::new(status, self.credentials.taken_out_of(body))))
    }
}
