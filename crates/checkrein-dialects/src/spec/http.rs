//! Settings of hooks that are HTTP endpoints. `Debug` output must never show secrets, headers or paths of URLs.

use std::fmt;

use checkrein_core::EventKind;
use checkrein_core::property::Properties;

use super::{HandlerSpec, HookSpec};

/// An HTTP endpoint that receives events.
///
/// The event is the body of the request, as JSON. Each request carries `webhook-id` and `webhook-timestamp`, and with a
/// secret `webhook-signature`, as in the Standard Webhooks specification. A success (2xx) with JSON is read like
/// the output of a process. An empty body is no opinion. Everything else is a failure.
///
/// `Debug` shows the names of headers and the origin of the URL, but no values of headers and no secret.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpSpec {
    /// URL. A name and password in it become an `authorization` header.
    pub url: String,
    /// HTTP method.
    pub method: String,
    /// Headers of the request. In values, `$NAME` and `${NAME}` are replaced by variables in [`env_allow`](Self::env_allow).
    /// Other and unset variables are empty. `$$` is a dollar.
    pub headers: Vec<(String, String)>,
    /// Names of the host's variables that headers and the secret may contain.
    pub env_allow: Vec<String>,
    /// Limit of the response in bytes. A longer response is a failure.
    pub response_cap: usize,
    /// `true` if redirects are followed: at most 5, with the same method and body, and only to the same scheme, host and port.
    pub follow_redirects: bool,
    /// Secret that signs requests: text, or base64 after `whsec_`. Variables are replaced as in headers.
    pub secret: Option<String>,
    /// `true` if responses must be signed too: with the same secret and the request's `webhook-id`, within 5 minutes.
    pub require_signed_reply: bool,
    /// `true` if the endpoint may be on this machine or in a private network. Link-local addresses and the metadata addresses of
    /// clouds are always refused.
    pub allow_private: bool,
    /// File with certificates in PEM format that the hook trusts besides those of the system. An absolute path, or one that starts
    /// with `~/`.
    pub ca_file: Option<String>,
    /// Name of the message. Requests with the same name have the same `webhook-id`. `None`: each request has a new one.
    pub message: Option<String>,
}

impl HttpSpec {
    /// Default limit of the response.
    pub const RESPONSE_CAP: usize = 1 << 20;

    pub(super) fn list_properties(&self, properties: &mut Properties) {
        let Self {
            url,
            method,
            headers,
            env_allow,
            response_cap,
            follow_redirects,
            secret,
            require_signed_reply,
            allow_private,
            ca_file,
            message,
        } = self;
        properties.add("method", method);
        properties.add("url", url);
        properties.add_each("header", headers.iter().map(|(name, value)| format!("{name}: {value}")));
        properties.add_each("sends variable", env_allow);
        properties.add_set("secret", secret.as_ref());
        if *response_cap != Self::RESPONSE_CAP {
            properties.add("response cap", response_cap.to_string());
        }
        properties.add_flag("follows redirects", *follow_redirects);
        properties.add_flag("wants signed replies", *require_signed_reply);
        properties.add_flag("public addresses only", !allow_private);
        if let Some(name) = message {
            properties.add("message", name);
        }
        if let Some(file) = ca_file {
            properties.add("trusts certificates in", file);
        }
    }

    /// An endpoint that receives events by POST.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            method: "POST".to_owned(),
            headers: Vec::new(),
            env_allow: Vec::new(),
            response_cap: Self::RESPONSE_CAP,
            follow_redirects: false,
            secret: None,
            require_signed_reply: false,
            allow_private: true,
            ca_file: None,
            message: None,
        }
    }

    /// Sets the HTTP method.
    #[must_use]
    pub fn method(mut self, method: impl Into<String>) -> Self {
        self.method = method.into();
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Allows this variable of the host in headers and the secret.
    #[must_use]
    pub fn allow_env(mut self, name: impl Into<String>) -> Self {
        self.env_allow.push(name.into());
        self
    }

    /// Sets the limit of the response.
    #[must_use]
    pub fn response_cap(mut self, bytes: usize) -> Self {
        self.response_cap = bytes;
        self
    }

    /// Follows redirects that stay at the same scheme, host and port.
    #[must_use]
    pub fn follow_redirects(mut self) -> Self {
        self.follow_redirects = true;
        self
    }

    /// Sets the secret that signs requests.
    #[must_use]
    pub fn secret(mut self, secret: impl Into<String>) -> Self {
        self.secret = Some(secret.into());
        self
    }

    /// Requires signed responses.
    #[must_use]
    pub fn require_signed_reply(mut self) -> Self {
        self.require_signed_reply = true;
        self
    }

    /// Trusts the certificates of this file besides those of the system.
    #[must_use]
    pub fn ca_file(mut self, file: impl Into<String>) -> Self {
        self.ca_file = Some(file.into());
        self
    }

    /// Gives all requests the `webhook-id` of this message, so that an endpoint recognises one that is sent again.
    #[must_use]
    pub fn message(mut self, name: impl Into<String>) -> Self {
        self.message = Some(name.into());
        self
    }

    /// Allows only public addresses.
    #[must_use]
    pub fn public_only(mut self) -> Self {
        self.allow_private = false;
        self
    }
}

impl HookSpec {
    /// A hook that posts events to an HTTP endpoint.
    ///
    /// ```
    /// use checkrein_core::EventKind;
    /// use checkrein_dialects::HookSpec;
    ///
    /// let guard = HookSpec::http("guard", EventKind::PreToolUse, "https://hooks.example.com/guard")
    ///     .request(|http| http.header("authorization", "Bearer $GUARD_TOKEN").allow_env("GUARD_TOKEN"));
    /// assert_eq!(guard.handler.kind().name(), "http");
    /// ```
    #[track_caller]
    pub fn http(id: impl Into<String>, kind: EventKind, url: impl Into<String>) -> Self {
        Self::new(id, kind, HandlerSpec::Http(HttpSpec::new(url)))
    }

    /// Changes the request. Other handlers stay unchanged.
    #[must_use]
    pub fn request(mut self, change: impl FnOnce(HttpSpec) -> HttpSpec) -> Self {
        if let HandlerSpec::Http(http) = self.handler {
            self.handler = HandlerSpec::Http(change(http));
        }
        self
    }
}

impl HttpSpec {
    /// Returns the part of its URL without secrets.
    pub fn url_shown(&self) -> String {
        shown(&self.url)
    }
}

impl fmt::Debug for HttpSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header_names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpSpec")
            .field("url", &shown(&self.url))
            .field("method", &self.method)
            .field("headers", &header_names)
            .field("env_allow", &self.env_allow)
            .field("response_cap", &self.response_cap)
            .field("follow_redirects", &self.follow_redirects)
            .field("has_secret", &self.secret.is_some())
            .field("require_signed_reply", &self.require_signed_reply)
            .field("allow_private", &self.allow_private)
            .field("ca_file", &self.ca_file)
            .finish()
    }
}

/// Returns the part of a URL without secrets. Names and passwords are before the host, tokens in paths and queries. The text may
/// be an invalid URL.
fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return "…".to_owned();
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let is_scheme = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match (is_scheme, path) {
        (false, _) => "…".to_owned(),
        // A password with a slash looks like a path.
        (true, path) if path.contains('@') => format!("{scheme}://…"),
        (true, "" | "/") => format!("{scheme}://{host}{path}"),
        (true, _) => format!("{scheme}://{host}/…"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_origin_of_a_url_is_shown() {
        for (url, expected) in [
            ("http://localhost:8080", "http://localhost:8080"),
            ("http://localhost:8080/", "http://localhost:8080/"),
            ("https://hooks.example.com/services/TOKEN", "https://hooks.example.com/…"),
            ("https://me:SECRET@example.com/?token=SECRET", "https://example.com/…"),
            ("https://me:SEC@RET@example.com#SECRET", "https://example.com/…"),
            ("https://me:SEC/RET@example.com", "https://…"),
            ("https:/me:SECRET@example.com", "…"),
            ("me:SECRET@example.com", "…"),
            ("me:SECRET@x://example.com", "…"),
            ("", "…"),
        ] {
            assert_eq!(shown(url), expected);
        }
    }

    #[test]
    fn debug_output_has_no_secrets() {
        let spec = HttpSpec::new("https://u:SECRET@h/SECRET?q=SECRET").header("x-key", "SECRET").secret("SECRET");
        let text = format!("{spec:?} {:?}", HandlerSpec::Http(spec.clone()));
        assert!(!text.contains("SECRET"), "{text}");
        assert!(text.contains("x-key") && text.contains("https://h/…"), "{text}");
    }
}
