//! Credentials that an endpoint was sent, taken out of what it answers: pages for errors like to repeat a request, and what
//! is answered gets into records and verdicts.

use std::borrow::Cow;
use std::ops::Range;

use checkrein_core::{Captured, RawJson};
use hyper::HeaderMap;
use hyper::header::COOKIE;
use percent_encoding::percent_decode_str;

use super::encodings::spelt_end;
use super::origin::{Target, path_and_query};
use crate::builtins::json_strings::{spliced, strings};

/// Stands in place of a credential. It needs no escapes, so what was JSON is JSON.
const NOTE: &str = "[redacted:credential]";

/// Whatever is shorter stands in too many texts that have nothing to do with it.
const LEAST: usize = 6;

/// What answers decide with. A variable that says so is a setting and no credential.
const WORDS: &[&str] = &["allow", "approve", "block", "continue", "deny", "false", "none", "null", "true"];

/// What names of headers and of parts of a query have in them if their values are credentials.
const NAMES: &[&str] = &["auth", "cookie", "credential", "key", "passw", "secret", "session", "sig", "token"];

/// What one hook's endpoint is sent and nobody else may see.
pub(super) struct Credentials {
    /// The longest first, since one may be part of another.
    values: Vec<String>,
    /// Bytes that one of them can start with, in some spelling.
    starts: [bool; 256],
}

impl Credentials {
    /// Of the URL, of these headers, and others that are known. Only what says by its name or its looks that it is one: what hooks
    /// answer is also what tools are called with, and must not lose a word that happens to be in a header.
    pub(super) fn new(target: &Target, headers: &HeaderMap, known: Vec<String>) -> Self {
        let mut values = known;
        let url = &target.url;
        let password = url.password().unwrap_or_default();
        values.extend([password.to_owned(), percent_decode_str(password).decode_utf8_lossy().into_owned()]);
        let in_query = url.query_pairs().filter(|(name, _)| names_credential(name));
        values.extend(in_query.map(|(_, value)| value.into_owned()));
        if url.path().split('/').any(is_made_up) {
            values.extend([path_and_query(url), url.path().to_owned()]);
        }
        for (name, value) in headers.iter().filter(|(name, _)| names_credential(name.as_str())) {
            let text = value.to_str().unwrap_or_default();
            if name == COOKIE {
                values.extend(text.split(';').filter_map(|cookie| Some(cookie.split_once('=')?.1.to_owned())));
            } else {
                // The scheme, as in `Bearer`, may be told.
                values.push(text.split_once(' ').map_or(text, |(_, behind)| behind).to_owned());
            }
        }
        Self::of(values)
    }

    fn of(values: Vec<String>) -> Self {
        let is_word = |value: &str| WORDS.iter().any(|word| word.eq_ignore_ascii_case(value));
        let mut values: Vec<_> = values.into_iter().map(|value| value.trim().to_owned()).collect();
        values.retain(|value| value.len() >= LEAST && !is_word(value));
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        let mut starts = [false; 256];
        for first in values.iter().filter_map(|value| value.bytes().next()).chain(*br"\&%") {
            starts[usize::from(first)] = true;
        }
        Self { values, starts }
    }

    /// The body without them. What was JSON is JSON: only in what its strings say they are looked for, not in keys, or a no could
    /// get lost.
    pub(super) fn taken_out_of(&self, body: Captured) -> Captured {
        let bytes = &body.bytes;
        let as_text = self.places(bytes);
        if as_text.is_empty() {
            return body;
        }
        let clean = match RawJson::parse_bytes(bytes.trim_ascii()) {
            Ok(json) => {
                let all = strings(&json);
                let parts = all.iter().flat_map(|string| {
                    let places = self.places(string.text.says.as_bytes()).into_iter();
                    places.map(|place| (string.place(&place), Cow::Borrowed(NOTE)))
                });
                spliced(json.as_str(), parts).into_bytes()
            }
            Err(_) => {
                let mut clean = Vec::with_capacity(bytes.len());
                let mut at = 0;
                for place in as_text {
                    clean.extend_from_slice(&bytes[at..place.start]);
                    clean.extend_from_slice(NOTE.as_bytes());
                    at = place.end;
                }
                clean.extend_from_slice(&bytes[at..]);
                clean
            }
        };
        // What was cut stays cut.
        let left_unread = body.total.saturating_sub(bytes.len() as u64);
        let total = clean.len() as u64 + left_unread;
        Captured::new(clean, total)
    }

    /// Where they stand in a text.
    fn places(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        let mut at = 0;
        while at < text.len() {
            at = match self.end_in_text(text, at) {
                Some(end) => {
                    places.push(at..end);
                    end
                }
                None => at + 1,
            };
        }
        places
    }

    /// Where a credential ends that starts here.
    fn end_in_text(&self, text: &[u8], at: usize) -> Option<usize> {
        if !self.starts[usize::from(*text.get(at)?)] {
            return None;
        }
        self.values.iter().find_map(|value| match text[at..].starts_with(value.as_bytes()) {
            true => Some(at + value.len()),
            false => spelt_end(text, at, value),
        })
    }
}

/// Whether a part of a path may be a token.
fn is_made_up(part: &str) -> bool {
    let has = |wanted: fn(&u8) -> bool| part.as_bytes().iter().any(wanted);
    part.len() >= 8 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

pub(super) fn names_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(values: &[&str], body: &str) -> String {
        let credentials = Credentials::of(values.iter().map(|value| (*value).to_owned()).collect());
        let body = credentials.taken_out_of(body.into());
        assert!(!body.is_cut());
        body.text().into_owned()
    }

    #[test]
    fn credentials_are_taken_out_of_text_and_json() {
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
    fn what_was_cut_stays_cut_and_what_is_no_text_stays_none() {
        let credentials = Credentials::of(vec!["s3cr3t".to_owned()]);
        let body = credentials.taken_out_of(Captured::new(b"{\"a\":\"\xffs3cr3t\"}".to_vec(), 100));
        assert_eq!(body.bytes, b"{\"a\":\"\xff[redacted:credential]\"}");
        assert!(body.is_cut());
    }

    #[test]
    fn where_credentials_stand() {
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
