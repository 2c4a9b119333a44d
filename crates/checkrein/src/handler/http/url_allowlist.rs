//! Patterns of URL allowlists, of hosts and of hook files.

use url::Url;

use super::origin::path_and_query;
use crate::wildcard::wildcard;

/// A URL pattern with `*` for any text. Scheme, host, port and path are compared separately, so a `*` in the host never
/// matches a part of the path, or the other way round.
#[derive(Debug, Clone)]
pub(crate) struct UrlPattern {
    scheme: String,
    host: String,
    port: String,
    /// Path and query. `None` matches all.
    path: Option<String>,
}

impl UrlPattern {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            let all = || "*".to_owned();
            return Some(Self { scheme: all(), host: all(), port: all(), path: None });
        }
        let (scheme, rest) = text.split_once("://")?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // A colon inside brackets belongs to an IPv6 address.
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => (authority, default_port(scheme)),
        };
        let is_complete = !scheme.is_empty() && !host.is_empty() && !port.is_empty() && !authority.contains('@');
        is_complete.then(|| Self {
            scheme: scheme.to_ascii_lowercase(),
            host: without_dot(host).to_ascii_lowercase(),
            port: port.to_owned(),
            path: (!path.is_empty()).then(|| path.to_owned()),
        })
    }

    pub(crate) fn fits(&self, url: &Url) -> bool {
        let port = url.port_or_known_default().unwrap_or_default().to_string();
        wildcard(&self.scheme, url.scheme())
            && wildcard(&self.host, without_dot(url.host_str().unwrap_or_default()))
            && wildcard(&self.port, &port)
            && self.path.as_ref().is_none_or(|path| wildcard(path, &path_and_query(url)))
    }
}

/// Removes a trailing dot: `example.com.` is the same host as `example.com`.
fn without_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

fn default_port(scheme: &str) -> &'static str {
    match scheme {
        "http" => "80",
        "https" => "443",
        _ => "*",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_urls_by_component() {
        for (pattern, url, expected) in [
            ("*", "http://anything:81/x", true),
            ("https://hooks.example.com/*", "https://hooks.example.com/a/b?c", true),
            ("https://hooks.example.com/*", "https://HOOKS.example.com:443/", true),
            ("https://hooks.example.com/*", "http://hooks.example.com/", false),
            ("https://hooks.example.com/*", "https://hooks.example.com:8443/", false),
            ("https://hooks.example.com*", "https://hooks.example.com.evil.com/", true),
            ("https://hooks.example.com", "https://hooks.example.com.evil.com/", false),
            ("https://hooks.example.com", "https://hooks.example.com/any", true),
            ("https://hooks.example.com/*", "https://hooks.example.com./x", true),
            ("https://hooks.example.com./*", "https://hooks.example.com/x", true),
            ("https://*.example.com/*", "https://a.b.example.com/x", true),
            ("https://*.example.com/*", "https://evil.com/.example.com/", false),
            ("https://*.example.com/*", "https://evil.com?.example.com/", false),
            ("https://*.example.com/*", "https://evil.com#.example.com/", false),
            ("https://example.com/*", "https://example.com@evil.com/", false),
            ("https://example.com/safe/*", "https://example.com/safe/../other", false),
            ("https://example.com/a*b*c", "https://example.com/abxbc", true),
            ("https://example.com/a*b*c", "https://example.com/acb", false),
            ("http://localhost:*", "http://localhost:8080/x", true),
            ("http://localhost:*/", "http://localhost:8080/x", false),
            ("*://localhost:*/*", "https://localhost/x", true),
            ("http://[::1]:8080/*", "http://[::1]:8080/", true),
            ("http://[::1]/*", "http://[::1]/", true),
        ] {
            let fits = UrlPattern::parse(pattern).unwrap().fits(&url.parse().unwrap());
            assert_eq!(fits, expected, "{pattern} {url}");
        }
        for pattern in ["", "localhost", "https://", "://x", "https:///x", "https://me@x/", "http://x:/"] {
            assert!(UrlPattern::parse(pattern).is_none(), "{pattern}");
        }
    }
}
