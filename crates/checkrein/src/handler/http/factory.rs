//! Making handlers for HTTP endpoints, and what they share.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use checkrein_core::{Failure, FailureKind};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::Http;
use super::client::Client;
use super::credentials::{Credentials, names_credential};
use super::header_vars::fill;
use super::origin::Target;
use super::sign::{self, Key, RequestId};
use super::url_allowlist::UrlPattern;
use crate::handler::{Handler, HandlerEnv, HandlerFactory, HandlerProblem};
use checkrein_dialects::{HandlerSpec, HookSpec, HttpSpec};

/// Makes handlers for HTTP endpoints. All of them share connections. A [`Registry`](crate::Registry) has one under the
/// name `http`; register another for other settings.
///
/// ```
/// use checkrein::handler::HttpFactory;
/// use checkrein::{Engine, EventKind, HookSpec, Registry};
///
/// let mut registry = Registry::new();
/// registry.register("http", HttpFactory::new().allow_urls(["https://hooks.example.com/*", "http://localhost:*"])?)?;
/// let engine = Engine::builder()
///     .registry(registry)
///     .hook(HookSpec::http("elsewhere", EventKind::Stop, "https://example.org/"))
///     .build();
/// assert!(engine.problems()[0].to_string().contains("not on the list"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct HttpFactory {
    allow: Option<Arc<[UrlPattern]>>,
    known_hosts: HashMap<String, Vec<IpAddr>>,
    extra_roots: Vec<CertificateDer<'static>>,
    /// Made with the first handler.
    client: OnceLock<Arc<Client>>,
}

/// A setting of an [`HttpFactory`] that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadHttpSetting {
    /// No pattern for URLs.
    #[error("`{0}` is no pattern for URLs: it needs a scheme and a host, as in `https://*.example.com/*`")]
    Pattern(String),
    /// No certificates in PEM form.
    #[error("there are no certificates in PEM form here")]
    Certificate,
}

impl HttpFactory {
    /// Any URL, the certificates that the system trusts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets hooks call only URLs that fit one of these patterns. `*` stands for any text within the scheme, the host, the
    /// port, or the path with the query. A pattern without a port is for the scheme's own, one without a path for all
    /// paths.
    ///
    /// # Errors
    /// A pattern that no URL fits.
    pub fn allow_urls<P: AsRef<str>>(mut self, patterns: impl IntoIterator<Item = P>) -> Result<Self, BadHttpSetting> {
        let parse = |pattern: P| {
            let pattern = pattern.as_ref();
            UrlPattern::parse(pattern).ok_or_else(|| BadHttpSetting::Pattern(pattern.to_owned()))
        };
        self.allow = Some(patterns.into_iter().map(parse).collect::<Result<_, _>>()?);
        Ok(self)
    }

    /// Trusts these certificates as well as those that the system trusts.
    ///
    /// # Errors
    /// Text without certificates in PEM form.
    pub fn extra_root_pem(mut self, pem: impl AsRef<[u8]>) -> Result<Self, BadHttpSetting> {
        let parsed: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_ref()).collect();
        match parsed {
            Ok(found) if !found.is_empty() => self.extra_roots.extend(found),
            _ => return Err(BadHttpSetting::Certificate),
        }
        Ok(self)
    }

    /// Takes these for the addresses of a host, rather than asking the system. Addresses that hooks may not call are
    /// refused all the same.
    #[must_use]
    pub fn known_host(mut self, host: impl Into<String>, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        self.known_hosts.insert(host.into().to_ascii_lowercase(), addresses.into_iter().collect());
        self
    }

    /// Whether hooks can have this URL, whatever the host's own list says.
    ///
    /// # Errors
    /// What is wrong with it, without more of it than its origin.
    pub(crate) fn check_url(url: &str, allow_private: bool) -> Result<(), String> {
        Target::parse(url, allow_private).map(drop)
    }

    fn client(&self) -> &Arc<Client> {
        self.client.get_or_init(|| Arc::new(Client::new(self.known_hosts.clone(), self.extra_roots.clone())))
    }
}

impl fmt::Debug for HttpFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpFactory").field("allow", &self.allow).finish_non_exhaustive()
    }
}

impl HandlerFactory for HttpFactory {
    fn build(&self, hook: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
        let HandlerSpec::Http(spec) = &hook.handler else {
            return Err(Failure::new(FailureKind::UnknownHandler, "not an HTTP endpoint"));
        };
        let target = Target::parse(&spec.url, spec.allow_private).map_err(unreachable_url)?;
        if self.allow.as_ref().is_some_and(|allow| !allow.iter().any(|pattern| pattern.fits(&target.url))) {
            return Err(unreachable_url("its URL is not on the list of those that hooks may call"));
        }
        let (known, problems) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let value = |name: &str| {
            let value = variable(spec, env, name);
            problems.borrow_mut().extend(value.is_none().then(|| is_missing(spec, name)));
            known.borrow_mut().extend(value.clone().filter(|_| names_credential(name)));
            value
        };
        let filled = |text: &str| if hook.dialect.http.variables { fill(text, value) } else { text.to_owned() };
        let key = match &spec.secret {
            None if spec.require_signed_reply => return Err(wrong("signed answers need a secret")),
            None => None,
            Some(secret) => {
                let secret = fill(secret, value);
                let key = Key::new(&secret).map_err(wrong)?;
                known.borrow_mut().extend([sign::bare(&secret).to_owned(), secret]);
                Some(key)
            }
        };
        let mut headers = headers(spec, &target, filled)?;
        let credentials = Credentials::new(&target, &headers, known.into_inner());
        // Each request has a copy, which need not grow for what is its own.
        RequestId::make_room(&mut headers, key.is_some());
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static(""));
        Ok(Arc::new(Http {
            client: Arc::clone(self.client()),
            method: method(&spec.method)?,
            headers,
            credentials,
            problems: problems.into_inner(),
            target,
            key,
            require_signed_reply: spec.require_signed_reply,
            follow_redirects: spec.follow_redirects,
            response_cap: spec.response_cap,
            allow: self.allow.clone(),
        }))
    }
}

fn unreachable_url(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::HttpNet, why)
}

fn wrong(what: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Schema, what)
}

/// A variable of the host, if the hook may have it.
fn variable(spec: &HttpSpec, env: &HandlerEnv, name: &str) -> Option<String> {
    let is_allowed = spec.env_allow.iter().any(|allowed| allowed == name);
    env.var_os(name).filter(|_| is_allowed)?.to_str().map(str::to_owned)
}

/// That a variable has no value, and what to do.
fn is_missing(spec: &HttpSpec, name: &str) -> HandlerProblem {
    let why = match spec.env_allow.iter().any(|allowed| allowed == name) {
        true => "is not set",
        false => "is not among the variables that it allows (`allowedEnvVars`, `HttpSpec::allow_env`)",
    };
    HandlerProblem::new(format!("is sent without the value of `${name}`, which {why}"))
}

fn method(name: &str) -> Result<Method, Failure> {
    match Method::from_bytes(name.to_ascii_uppercase().as_bytes()) {
        Ok(method) if method != Method::CONNECT => Ok(method),
        _ => Err(wrong(format!("`{name}` is no method that a hook can be called with"))),
    }
}

/// Headers that say how the message is sent. A hook that set them could only break it.
const OURS: &[HeaderName] = &[
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

fn headers(spec: &HttpSpec, target: &Target, filled: impl Fn(&str) -> String) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("checkrein/", env!("CARGO_PKG_VERSION"))));
    headers.insert(header::HOST, secret_value("host", &target.origin.authority())?);
    if let Some(authorization) = target.authorization() {
        headers.insert(header::AUTHORIZATION, secret_value("authorization", &authorization)?);
    }
    let mut own = HeaderMap::new();
    for (name, text) in &spec.headers {
        let parsed: HeaderName = name.parse().map_err(|_| wrong(format!("`{name}` is no name for a header")))?;
        if OURS.contains(&parsed) || [sign::ID, sign::TIMESTAMP, sign::SIGNATURE].contains(&parsed) {
            return Err(wrong(format!("the header `{name}` cannot be set by a hook")));
        }
        // One name may come more than once.
        own.append(parsed, secret_value(name, &filled(text))?);
    }
    for name in own.keys() {
        headers.remove(name);
    }
    headers.extend(own);
    Ok(headers)
}

fn secret_value(name: &str, text: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| wrong(format!("the value of the header `{name}` has characters that headers cannot have")))?;
    value.set_sensitive(true);
    Ok(value)
}
