//! Host and port in URLs and in addresses such as `host:port`.

use std::ops::Range;

use crate::builtins::shell::Expanded;

/// Parts of a URL.
#[derive(Debug, Clone)]
pub(super) struct Url {
    /// In lower case. Empty if the text has none.
    pub(super) scheme: String,
    pub(super) host: Expanded,
    pub(super) port: Option<u16>,
}

/// Returns the parts of a URL, or of a host with an optional port and path.
pub(super) fn parse(word: &Expanded) -> Url {
    let text = word.text.as_str();
    let is_known = |at: usize| !word.unknown.iter().any(|range| range.contains(&at));
    let scheme = text.find("://").filter(|at| is_known(*at));
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    let scheme = scheme.filter(|at| *at > 0 && text[..*at].chars().all(is_scheme));
    let start = scheme.map_or(0, |at| at + 3);
    let is_end = |(at, c): &(usize, char)| matches!(c, '/' | '?' | '#' | '\\') && is_known(start + at);
    let end = text[start..].char_indices().find(is_end).map_or(text.len(), |(at, _)| start + at);
    let (host, port) = host_and_port(word, start..end);
    let scheme = scheme.map(|at| text[..at].to_ascii_lowercase()).unwrap_or_default();
    Url { scheme, host, port }
}

/// Splits `user@host:port`. Brackets around an IPv6 address are removed.
pub(super) fn host_and_port(word: &Expanded, range: Range<usize>) -> (Expanded, Option<u16>) {
    let authority = &word.text[range.clone()];
    let start = range.start + authority.rfind('@').map_or(0, |at| at + 1);
    let authority = &word.text[start..range.end];
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (start + 1..start + 1 + host.len(), rest.strip_prefix(':')),
        None => match authority.rsplit_once(':') {
            // An IPv6 address without brackets has no port.
            Some((host, _)) if host.contains(':') => (start..range.end, None),
            Some((host, port)) => (start..start + host.len(), Some(port)),
            None => (start..range.end, None),
        },
    };
    let mut host = if host.is_empty() { Expanded { known: true, ..Expanded::default() } } else { word.part(host) };
    // Programs expand braces and classes in hosts on their own.
    if host.text.contains(['{', '}', '[', ']']) && !host.text.contains(':') {
        host = Expanded::unknown_text(&host.text);
    }
    (host, port.and_then(|port| port.parse().ok()))
}

/// Returns the URLs with a scheme in a text.
pub(super) fn find_all(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").filter_map(move |(at, _)| {
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
        let start = text[..at]
            .rfind(|c| !is_scheme(c))
            .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
        let is_end = |c: char| c.is_whitespace() || "\"'`<>()[]{},;|".contains(c) || c.is_control();
        let end = text[at + 3..].find(is_end).map_or(text.len(), |end| at + 3 + end);
        if start < at && end > at + 3 { Some(text[start..end].trim_end_matches(['.', ','])) } else { None }
    })
}
