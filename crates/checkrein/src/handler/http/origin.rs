//! Targets of requests: URLs and their origins.
//!
//! Only the origin of a URL is ever shown, because the rest may contain secrets.

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Uri;
use percent_encoding::percent_decode_str;
use url::{Host, Url};

use super::ssrf;

/// Scheme, host, port and allowed addresses. Requests to equal origins can share connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) tls: bool,
    pub(super) host: Host<String>,
    pub(super) port: u16,
    pub(super) allow_private: bool,
}

impl Origin {
    /// Returns the host, and the port if it is not the default one.
    pub(super) fn authority(&self) -> String {
        let default = if self.tls { 443 } else { 80 };
        if self.port == default { self.host.to_string() } else { format!("{}:{}", self.host, self.port) }
    }

    /// Returns the IP address, if the host is one.
    pub(super) fn literal(&self) -> Option<IpAddr> {
        match self.host {
            Host::Ipv4(ip) => Some(ip.into()),
            Host::Ipv6(ip) => Some(ip.into()),
            Host::Domain(_) => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.tls { "https" } else { "http" }, self.authority())
    }
}

/// Checked URL of a request.
pub(super) struct Target {
    pub(super) origin: Origin,
    pub(super) url: Url,
    /// The URL without credentials and fragment.
    pub(super) uri: Uri,
}

impl Target {
    /// Parses and checks a URL.
    ///
    /// # Errors
    /// The problem, without more of the URL than its origin.
    pub(super) fn parse(text: &str, allow_private: bool) -> Result<Self, String> {
        Self::new(Url::parse(text).map_err(|error| format!("invalid URL: {error}"))?, allow_private)
    }

    pub(super) fn new(url: Url, allow_private: bool) -> Result<Self, String> {
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return Err("the URL must start with `http://` or `https://`".to_owned()),
        };
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err("the URL has no host".to_owned());
        };
        let origin = Origin { tls, host: host.to_owned(), port, allow_private };
        let refused = origin.literal().and_then(|ip| ssrf::refusal(ip, allow_private));
        if let Some(refusal) = refused {
            return Err(format!("{origin} is {refusal}, which hooks may not call"));
        }
        let uri = format!("{}://{}{}", url.scheme(), origin.authority(), path_and_query(&url))
            .parse()
            .map_err(|_| "the URL has an invalid host or path".to_owned())?;
        Ok(Self { origin, url, uri })
    }

    /// Returns the target of a redirect. `None` if it has another scheme, host or port.
    pub(super) fn redirected(&self, location: &str) -> Option<Self> {
        let url = self.url.join(location).ok()?;
        Self::new(url, self.origin.allow_private).ok().filter(|target| target.origin == self.origin)
    }

    /// Returns an `authorization` header with the name and password of the URL.
    pub(super) fn authorization(&self) -> Option<String> {
        let (name, password) = (self.url.username(), self.url.password());
        if name.is_empty() && password.is_none() {
            return None;
        }
        let mut credentials: Vec<u8> = percent_decode_str(name).collect();
        credentials.push(b':');
        credentials.extend(percent_decode_str(password.unwrap_or_default()));
        Some(format!("Basic {}", STANDARD.encode(credentials)))
    }
}

pub(super) fn path_and_query(url: &Url) -> String {
    match url.query() {
        None => url.path().to_owned(),
        Some(query) => format!("{}?{query}", url.path()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_addresses_are_refused_in_every_notation() {
        for host in [
            "169.254.169.254",
            "2852039166",
            "0xa9fea9fe",
            "0xa9.0xfe.0xa9.0xfe",
            "0251.0376.0251.0376",
            "169.254.43518",
            "169.254.169.254.",
            "①⑥⑨.254.169.254",
            "%31%36%39.254.169.254",
            "[::ffff:169.254.169.254]",
            "[::ffff:a9fe:a9fe]",
            "[fd00:ec2::254]",
            "[FE80::1]",
            "[64:ff9b:1::a9fe:a9fe]",
            "100.100.100.200",
        ] {
            let problem = Target::parse(&format!("http://me:SECRET@{host}/?k=SECRET"), true).err().expect(host);
            assert!(problem.ends_with("which hooks may not call") && !problem.contains("SECRET"), "{problem}");
        }
    }

    #[test]
    fn redirects_to_another_origin_are_refused() {
        let target = Target::parse("https://example.com/a/b?c", true).unwrap();
        let uri =
            |location| target.redirected(location).and_then(|target| Some(target.uri.path_and_query()?.to_string()));
        assert_eq!(uri("../d?e#f").as_deref(), Some("/d?e"));
        assert_eq!(uri("https://example.com:443/x").as_deref(), Some("/x"));
        assert_eq!(uri("https://EXAMPLE.com/x").as_deref(), Some("/x"));
        for location in
            ["http://example.com/", "//evil.com/", "https://example.com:444/", "https://a@example.com.evil/"]
        {
            assert_eq!(uri(location), None, "{location}");
        }
    }

    #[test]
    fn errors_do_not_contain_the_url() {
        for url in
            ["", "SECRET", "ftp://SECRET", "file:///SECRET", "http://SECRET:SECRET/", "http://", "http://SEC RET/"]
        {
            let problem = Target::parse(url, true).err().expect(url);
            assert!(!problem.contains("SEC"), "{problem}");
        }
    }

    #[test]
    fn credentials_of_a_url_become_a_header() {
        let header = |url| Target::parse(url, true).unwrap().authorization();
        assert_eq!(header("http://Aladdin:open%20sesame@x/").as_deref(), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        assert_eq!(header("http://x/"), None);
    }
}
