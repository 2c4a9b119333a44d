//! Factory of HTTP handlers. It checks URLs, headers and secrets when a hook is loaded.
//!
//! Error messages never contain more of a URL than its origin, because the rest may be secret.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

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
use super::sign::{self, Id, Key, RequestId};
use super::tls::Certificates;
use super::url_allowlist::UrlPattern;
use crate::handler::{Handler, HandlerEnv, HandlerFactory, HandlerProblem};
use crate::sync::lock;
use checkrein_dialects::{HandlerSpec, HookSpec, HttpSpec};

/// Creates handlers for HTTP endpoints, which share connections. A [`Registry`](crate::Registry) has one under the name
/// `http`; register another one for other settings.
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
/// assert!(engine.problems()[0].to_string().contains("not in the URL allowlist"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct HttpFactory {
    allow: Option<Arc<[UrlPattern]>>,
    known_hosts: HashMap<String, Vec<IpAddr>>,
    extra_roots: Vec<CertificateDer<'static>>,
    /// Clients by their trusted certificates. Each is created with its first handler.
    clients: Mutex<HashMap<Certificates, Arc<Client>>>,
}

/// Invalid setting of an [`HttpFactory`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadHttpSetting {
    /// Invalid URL pattern.
    #[error("`{0}` is not a URL pattern; it needs a scheme and a host, as in `https://*.example.com/*`")]
    Pattern(String),
    /// Text without certificates in PEM format.
    #[error("the text contains no certificates in PEM format")]
    Certificate,
}

impl HttpFactory {
    /// Creates a factory for all URLs, with the trusted certificates of the system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Restricts hooks to URLs that match one of these patterns.
    ///
    /// `*` matches any text within the scheme, the host, the port, or the path with the query. A pattern without a port means
    /// the default port of the scheme. A pattern without a path matches all paths.
    ///
    /// # Errors
    /// A pattern that no URL can match.
    pub fn allow_urls<P: AsRef<str>>(mut self, patterns: impl IntoIterator<Item = P>) -> Result<Self, BadHttpSetting> {
        let parse = |pattern: P| {
            let pattern = pattern.as_ref();
            UrlPattern::parse(pattern).ok_or_else(|| BadHttpSetting::Pattern(pattern.to_owned()))
        };
        self.allow = Some(patterns.into_iter().map(parse).collect::<Result<_, _>>()?);
        Ok(self)
    }

    /// Trusts these certificates in addition to those of the system.
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

    /// Sets the addresses of a host, in place of name resolution. Addresses that hooks may not call are refused anyway.
    #[must_use]
    pub fn known_host(mut self, host: impl Into<String>, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        self.known_hosts.insert(host.into().to_ascii_lowercase(), addresses.into_iter().collect());
        self
    }

    /// Checks the URL of a hook. Ignores the allowlist of the host.
    ///
    /// # Errors
    /// The problem, without more of the URL than its origin.
    pub(crate) fn check_url(url: &str, allow_private: bool) -> Result<(), String> {
        Target::parse(url, allow_private).map(drop)
    }

    /// Returns the client for hooks with these certificates.
    fn client(&self, certificates: Certificates) -> Arc<Client> {
        let mut clients = lock(&self.clients);
        let client = clients.entry(certificates).or_insert_with_key(|certificates| {
            Arc::new(Client::new(self.known_hosts.clone(), self.extra_roots.clone(), certificates.clone()))
        });
        Arc::clone(client)
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
            return Err(unreachable_url(format!("{} is not in the URL allowlist of the host", target.origin)));
        }
        let (known, problems) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let value = |name: &str| {
            let value = variable(spec, env, name);
            match &value {
                None => problems.borrow_mut().push(missing_variable(spec, name)),
                Some(value) if names_credential(name) => known.borrow_mut().push(value.clone()),
                Some(_) => {}
            }
            value
        };
        let filled = |text: &str| if hook.dialect.http.variables { fill(text, value) } else { text.to_owned() };
        let key = match &spec.secret {
            None if spec.require_signed_reply => {
                return Err(invalid("signed replies are required, but there is no `secret` to check them with"));
            }
            None => None,
            Some(secret) => {
                let secret = fill(secret, value);
                let key = Key::new(&secret).map_err(invalid)?;
                known.borrow_mut().extend([sign::bare(&secret).to_owned(), secret]);
                Some(key)
            }
        };
        let file = match spec.ca_file.as_deref().map(|file| (file, file.strip_prefix("~/"))) {
            Some((_, Some(in_home))) => match env.var("HOME") {
                Some(home) => Some(Path::new(&home).join(in_home)),
                None => return Err(invalid("`ca_file` starts with `~/`, and the home directory is unknown")),
            },
            Some((file, None)) => Some(PathBuf::from(file)),
            None => None,
        };
        if let Some(Err(why)) = file.as_deref().map(super::tls::check_file) {
            problems.borrow_mut().push(HandlerProblem::fatal(why));
        }
        let certificates = Certificates { file, from_variables: env.trusts_variables };
        let mut headers = headers(spec, &target, filled)?;
        let credentials = Credentials::new(&target, &headers, known.into_inner());
        // Each request clones the headers; the clone must not grow for the headers of one request.
        RequestId::make_room(&mut headers, key.is_some());
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static(""));
        Ok(Arc::new(Http {
            client: self.client(certificates),
            method: method(&spec.method)?,
            headers,
            credentials,
            problems: problems.into_inner(),
            target,
            key,
            message_id: spec.message.as_deref().map(Id::named),
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

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Schema, message)
}

/// Returns a variable of the host, if the hook may have it.
fn variable(spec: &HttpSpec, env: &HandlerEnv, name: &str) -> Option<String> {
    if !spec.env_allow.iter().any(|allowed| allowed == name) {
        return None;
    }
    env.var_os(name)?.to_str().map(str::to_owned)
}

/// Problem of a variable without a value.
fn missing_variable(spec: &HttpSpec, name: &str) -> HandlerProblem {
    let why = match spec.env_allow.iter().any(|allowed| allowed == name) {
        true => "the variable is not set",
        false => "add it to `allowedEnvVars` (`HttpSpec::allow_env`) to send it",
    };
    HandlerProblem::new(format!("sends `${name}` empty: {why}"))
}

fn method(name: &str) -> Result<Method, Failure> {
    match Method::from_bytes(name.to_ascii_uppercase().as_bytes()) {
        Ok(method) if method != Method::CONNECT => Ok(method),
        _ => Err(invalid(format!("`{name}` is not a usable HTTP method; use for example `POST`"))),
    }
}

/// Headers of the transport. A hook that sets them could only break the request.
const RESERVED: &[HeaderName] = &[
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
        let parsed: HeaderName = name.parse().map_err(|_| invalid(format!("`{name}` is not a valid header name")))?;
        if RESERVED.contains(&parsed) || [sign::ID, sign::TIMESTAMP, sign::SIGNATURE].contains(&parsed) {
            return Err(invalid(format!("the header `{name}` is reserved; remove it from the hook")));
        }
        // A header may occur more than once.
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
        .map_err(|_| invalid(format!("the value of the header `{name}` has characters that are invalid in headers")))?;
    value.set_sensitive(true);
    Ok(value)
}
