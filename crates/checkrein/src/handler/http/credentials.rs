//! Redaction of credentials in HTTP responses.
//!
//! Error pages often repeat the request, and responses become part of records and verdicts. So credentials that were sent to an
//! endpoint are redacted from its response.

use std::borrow::Cow;
use std::ops::Range;

use checkrein_core::{Captured, RawJson};
use hyper::HeaderMap;
use hyper::header::COOKIE;
use percent_encoding::percent_decode_str;

use super::encodings::encoded_end;
use super::origin::{Target, path_and_query};
use crate::builtins::json_strings::{spliced, strings};

/// Replacement of a credential. It needs no escapes, so JSON stays valid.
const NOTE: &str = "[redacted:credential]";

/// Minimum length of a credential. Shorter values occur in unrelated text too often.
const MIN_LENGTH: usize = 6;

/// Words of decisions. A variable with such a value is a setting, not a credential.
const DECISION_WORDS: &[&str] = &["allow", "approve", "block", "continue", "deny", "false", "none", "null", "true"];

/// Parts of names of headers and query parameters with credentials.
const NAME_PARTS: &[&str] = &["auth", "cookie", "credential", "key", "passw", "secret", "session", "sig", "token"];

/// Credentials that are sent to the endpoint of one hook.
pub(super) struct Credentials {
    /// Longest first, because one may be part of another.
    values: Vec<String>,
    /// First bytes of credentials in any encoding.
    starts: [bool; 256],
}

impl Credentials {
    /// Collects credentials of the URL and the headers, and `known` ones.
    ///
    /// Only values whose name or form marks them as credentials: a response can contain tool input, which must not lose a
    /// word that happens to be in a header.
    pub(super) fn new(target: &Target, headers: &HeaderMap, known: Vec<String>) -> Self {
        let mut values = known;
        let url = &target.url;
        let password = url.password().unwrap_or_default();
        values.extend([password.to_owned(), percent_decode_str(password).decode_utf8_lossy().into_owned()]);
        let in_query = url.query_pairs().filter(|(name, _)| names_credential(name));
        values.extend(in_query.map(|(_, value)| value.into_owned()));
        if url.path().split('/').any(looks_like_token) {
            values.extend([path_and_query(url), url.path().to_owned()]);
        }
        for (name, value) in headers.iter().filter(|(name, _)| names_credential(name.as_str())) {
            let text = value.to_str().unwrap_or_default();
            if name == COOKIE {
                values.extend(text.split(';').filter_map(|cookie| Some(cookie.split_once('=')?.1.to_owned())));
            } else {
                // Without the scheme, such as `Bearer`.
                values.push(text.split_once(' ').map_or(text, |(_, value)| value).to_owned());
            }
        }
        Self::from_values(values)
    }

    fn from_values(values: Vec<String>) -> Self {
        let is_word = |value: &str| DECISION_WORDS.iter().any(|word| word.eq_ignore_ascii_case(value));
        let mut values: Vec<_> = values.into_iter().map(|value| value.trim().to_owned()).collect();
        values.retain(|value| value.len() >= MIN_LENGTH && !is_word(value));
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let mut starts = [false; 256];
        for first in values.iter().filter_map(|value| value.bytes().next()).chain(*br"\&%") {
            starts[usize::from(first)] = true;
        }
        Self { values, starts }
    }

    /// Redacts credentials in a body. JSON stays valid: only string values are redacted, because a changed key could drop a
    /// decision.
    pub(super) fn redact(&self, body: Captured) -> Captured {
        let bytes = &body.bytes;
        let as_text = self.find(bytes);
        if as_text.is_empty() {
            return body;
        }
        let clean = match RawJson::parse_bytes(bytes.trim_ascii()) {
            Ok(json) => {
                let all = strings(&json);
                let parts = all.iter().flat_map(|string| {
                    let places = self.find(string.text.decoded.as_bytes()).into_iter();
                    places.map(|place| (string.place(&place), Cow::Borrowed(NOTE)))
                });
                spliced(json.as_str(), parts).into_bytes()
            }
            Err(_) => {
                let mut clean = Vec::with_capacity(bytes.len());
                let mut done = 0;
                for place in as_text {
                    clean.extend_from_slice(&bytes[done..place.start]);
                    clean.extend_from_slice(NOTE.as_bytes());
                    done = place.end;
                }
                clean.extend_from_slice(&bytes[done..]);
                clean
            }
        };
        // A cut body stays marked as cut.
        let left_unread = body.total.saturating_sub(bytes.len() as u64);
        let total = clean.len() as u64 + left_unread;
        Captured::new(clean, total)
    }

    /// Finds credentials in a text.
    fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        let mut start = 0;
        while start < text.len() {
            start = match self.end_of_match(text, start) {
                Some(end) => {
                    places.push(start..end);
                    end
                }
                None => start + 1,
            };
        }
        places
    }

    /// Returns the end of a credential that starts at this position, in any encoding.
    fn end_of_match(&self, text: &[u8], start: usize) -> Option<usize> {
        if !self.starts[usize::from(*text.get(start)?)] {
            return None;
        }
        self.values.iter().find_map(|value| match text[start..].starts_with(value.as_bytes()) {
            true => Some(start + value.len()),
            false => encoded_end(text, start, value),
        })
    }
}

/// `true` if a component of a path may be a token.
fn looks_like_token(part: &str) -> bool {
    let has = |wanted: fn(&u8) -> bool| part.as_bytes().iter().any(wanted);
    part.len() >= 8 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

pub(super) fn names_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAME_PARTS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(values: &[&str], body: &str) -> String {
        let credentials = Credentials::from_values(values.iter().map(|value| (*value).to_owned()).collect());
        let body = credentials.redact(body.into());
        assert!(!body.is_cut());
        body.text().into_owned()
    }

    #[test]
    fn credentials_are_redacted_in_text_and_json() {
        const N: &str = "[redacted:credential]";
        for (value, body, expected) in [
            ("s3cr3t", "no such thing", "no such thing".to_owned()),
            ("s3cr3t", "<p>s3cr3ts3cr3t", format!("<p>{N}{N}")),
            ("s3cr3t", r"C:\s3cr3t", format!(r"C:\{N}")),
            ("n3cr3t", r"a\n3cr3t", format!(r"a\{N}")),
            ("a/b\"cd", r#"{"x":"a\/b\"cd"}"#, format!(r#"{{"x":"{N}"}}"#)),
            ("a/b\"cd", r#"{"x":"\u0061\u002F\u0062\"\u0063\u0064"}"#, format!(r#"{{"x":"{N}"}}"#)),
            ("a/b\"cd", r#"cut: {"x":"a\/b\"cd"#, format!(r#"cut: {{"x":"{N}"#)),
            ("a/b=<c>", "<p>a&#x2F;b&#61;&lt;c&gt;", format!("<p>{N}")),
            ("a/b=<c>", "?token=a%2Fb%3d%3Cc%3E&d", format!("?token={N}&d")),
            ("%41%42", r#"{"x":"%41%42"}"#, format!(r#"{{"x":"{N}"}}"#)),
            (r"a\nbcd", r#"{"x":"a\nbcd"}"#, r#"{"x":"a\nbcd"}"#.to_owned()),
            (r"a\nbcd", r#"{"x":"a\\nbcd"}"#, format!(r#"{{"x":"{N}"}}"#)),
            (r"a\nbcd", r"plain a\nbcd", format!("plain {N}")),
            ("n3cr3t", r#"{"x":"a\n3cr3t"}"#, r#"{"x":"a\n3cr3t"}"#.to_owned()),
            ("pässword😀", r#"{"x":"p\u00e4ssword\ud83d\ude00"}"#, format!(r#"{{"x":"{N}"}}"#)),
            ("12345678", r#"{"a":12345678,"b":"12345678"}"#, format!(r#"{{"a":12345678,"b":"{N}"}}"#)),
            ("s3cr3t", r#"{"s3cr3t" : "s3cr3t"}"#, format!(r#"{{"s3cr3t" : "{N}"}}"#)),
            ("reason", r#"{"reason":"the reason"}"#, format!(r#"{{"reason":"the {N}"}}"#)),
            (r#"x":"y"#, r#"{"x":"y"}"#, r#"{"x":"y"}"#.to_owned()),
            ("short", "short", "short".to_owned()),
            ("Deny", r#"{"decision":"Deny"}"#, r#"{"decision":"Deny"}"#.to_owned()),
        ] {
            assert_eq!(clean(&[value], body), expected, "{value} in {body}");
        }
        assert_eq!(clean(&["s3cr3t", "s3cr3t-key"], "s3cr3t-key, s3cr3t"), format!("{N}, {N}"));
    }

    #[test]
    fn redaction_keeps_cut_bodies_and_invalid_utf8() {
        let credentials = Credentials::from_values(vec!["s3cr3t".to_owned()]);
        let body = credentials.redact(Captured::new(b"{\"a\":\"\xffs3cr3t\"}".to_vec(), 100));
        assert_eq!(body.bytes, b"{\"a\":\"\xff[redacted:credential]\"}");
        assert!(body.is_cut());
    }

    #[test]
    fn credentials_are_collected_from_url_and_headers() {
        let url = "https://ann%40x:pa%2Fssw@example.com/hooks/T0000000/B00000?token=t0k3ns&page=firsts";
        let target = Target::parse(url, true).unwrap();
        let headers = [("authorization", "Bearer b3arer"), ("cookie", "a=c00kie; b=c11kie"), ("x-team", "the-reds")];
        let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let all = Credentials::new(&target, &headers.into_iter().collect(), vec!["v4lues".to_owned()]).values;
        for value in ["pa/ssw", "pa%2Fssw", "t0k3ns", "b3arer", "c00kie", "c11kie", "v4lues"] {
            assert!(all.iter().any(|own| own == value), "{value}: {all:?}");
        }
        assert!(all.iter().any(|own| own == "/hooks/T0000000/B00000"));
        assert!(!all.iter().any(|own| own == "firsts" || own == "the-reds" || own.starts_with("ann")), "{all:?}");
        let plain = Target::parse("https://example.com/hooks/before-tools", true).unwrap();
        assert_eq!(Credentials::new(&plain, &HeaderMap::new(), Vec::new()).values, [""; 0]);
    }
}
