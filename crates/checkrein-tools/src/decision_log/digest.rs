//! Digest of a tool input, and its short form for people.
//!
//! An agent sends an input to its hooks and writes it to its session file, with other spaces, escapes and key order. The digest is
//! the same for both. `checkrein hook` computes both for every call, so this uses the parser that has read the payload, and compiles
//! no patterns.

use std::borrow::Cow;
use std::fmt::Write as _;

use checkrein::internal::{cut_at_secret, redacted_text};
use checkrein_core::RawJson;

/// Maximum size of an input that is digested, in bytes. Larger ones share the digest [`LARGE`], so only their ids and their
/// order distinguish them.
const MAX_INPUT: usize = 64 << 10;

/// Digest of inputs above [`MAX_INPUT`].
const LARGE: &str = "large";

/// Maximum number of characters of a [`gist`].
const MAX_GIST: usize = 160;

/// Number of bytes that are searched for secrets before a gist is cut: a cut secret is not recognized.
const MAX_SEARCHED_BYTES: usize = 4096;

/// Maximum depth of an input that is digested in its canonical form.
const MAX_DEPTH: usize = 64;

/// Fields that describe a call best, the best first.
const GIST_FIELDS: &[&str] = &[
    "command",
    "cmd",
    "commands",
    "file_path",
    "filePath",
    "path",
    "url",
    "pattern",
    "query",
    "prompt",
    "description",
];

/// Returns the digest of a tool input in JSON. Text that is not valid JSON has a digest, too.
pub fn digest(input: &str) -> String {
    if input.len() > MAX_INPUT {
        return LARGE.to_owned();
    }
    match RawJson::parse(input) {
        Ok(json) => digest_json(&json),
        Err(_) => digest_text(input),
    }
}

/// As [`digest`], for JSON that is parsed.
pub(super) fn digest_json(input: &RawJson) -> String {
    if input.as_str().len() > MAX_INPUT {
        return LARGE.to_owned();
    }
    let mut text = String::with_capacity(input.as_str().len());
    write_canonical(&mut text, input, 0);
    digest_text(&text)
}

/// Returns the FNV-1a hash of a text, with 128 bits folded to 64. It must never change: logs keep digests.
///
/// The digest only tells calls of one session apart, so it needs no cryptographic hash. Those look for features of the processor first,
/// which took 20 µs in a virtual machine.
fn digest_text(text: &str) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = text.bytes().fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    let folded = (hash >> 64) ^ (hash & u128::from(u64::MAX));
    format!("{folded:016x}")
}

/// Writes JSON with sorted keys and without spaces and escapes. Strings have their length in front, so that no two values have the same
/// form.
fn write_canonical(text: &mut String, json: &RawJson, depth: usize) {
    if depth > MAX_DEPTH {
        text.push_str(json.as_str());
    } else if let Some(entries) = json.entries() {
        let mut entries: Vec<_> = entries.map(|entry| (entry.key(), entry.to_json())).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        text.push('{');
        for (key, value) in entries {
            write_string(text, &key);
            write_canonical(text, &value, depth + 1);
        }
        text.push('}');
    } else if let Some(items) = json.items() {
        text.push('[');
        for item in items {
            match RawJson::parse(item) {
                Ok(item) => write_canonical(text, &item, depth + 1),
                Err(_) => text.push_str(item),
            }
            text.push(',');
        }
        text.push(']');
    } else if let Some(string) = json.as_text() {
        write_string(text, &string);
    } else {
        text.push_str(json.as_str().trim());
        text.push(',');
    }
}

fn write_string(text: &mut String, string: &str) {
    let _ = write!(text, "{}:", string.len());
    text.push_str(string);
}

/// Returns the start of the command, path or other text that describes a call, on one line and with secrets redacted. `None`: the
/// input has no such text.
pub fn gist(input: &str) -> Option<String> {
    Some(shortened(&best_text(&RawJson::parse(input).ok()?)?, redacted_text))
}

/// As [`gist`], for JSON that is parsed, and in less time. Redacts more.
pub(super) fn quick_gist(input: &RawJson) -> Option<String> {
    Some(short(&best_text(input)?))
}

/// Returns the text that describes an input best. Large values are skipped: content describes no call.
fn best_text(input: &RawJson) -> Option<String> {
    let is_large = |text: &str| text.len() > MAX_INPUT;
    let Some(entries) = input.entries() else {
        return if is_large(input.as_str()) { None } else { input.as_text().map(Cow::into_owned) };
    };
    let rank = |key: &str| GIST_FIELDS.iter().position(|name| *name == key).unwrap_or(GIST_FIELDS.len());
    let mut best: Option<(usize, String)> = None;
    for entry in entries {
        let rank = rank(&entry.key());
        if best.as_ref().is_none_or(|(other, _)| rank < *other)
            && !is_large(entry.value())
            && let Some(text) = text_of(&entry.to_json())
        {
            best = Some((rank, text));
        }
    }
    best.map(|(_, text)| text)
}

fn text_of(value: &RawJson) -> Option<String> {
    if let Some(text) = value.as_text() {
        return if text.is_empty() { None } else { Some(text.into_owned()) };
    }
    let words: Option<Vec<_>> = value.items()?.map(RawJson::text_of).collect();
    words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
}

/// Returns the start of a text, on one line and without secrets.
pub(super) fn short(text: &str) -> String {
    shortened(text, cut_at_secret)
}

fn shortened(text: &str, redact: fn(&str) -> Cow<'_, str>) -> String {
    let mut end = text.len().min(MAX_SEARCHED_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut line = String::new();
    for (count, c) in redact(&text[..end]).chars().enumerate() {
        if count == MAX_GIST {
            line.push('…');
            break;
        }
        line.push(if c.is_control() { ' ' } else { c });
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_ignores_the_spelling_of_json() {
        let same = [
            r#"{"command":"ls é","n":1}"#,
            r#"{ "n": 1, "command": "ls \u00e9" }"#,
            "{\n\"command\": \"ls \\u00E9\",\r\n\"n\":1}",
        ];
        for text in same {
            assert_eq!(digest(text), digest(same[0]), "{text}");
        }
        // Known values of the hash: the empty text, and `a`.
        assert_eq!(digest_text(""), format!("{:016x}", 0x6c62_272e_07bb_0142_u64 ^ 0x62b8_2175_6295_c58d));
        assert_eq!(digest_text("a"), format!("{:016x}", 0xd228_cb69_6f1a_8caf_u64 ^ 0x7891_2b70_4e4a_8964));
        let others = [
            r#"{"command":"ls e","n":1}"#,
            r#"{"command":"ls é","n":2}"#,
            r#"{"command":"ls é","n":"1"}"#,
            r#"{"command":"ls é"}"#,
            r#"{"command":["ls é"],"n":1}"#,
            "",
            "ls",
        ];
        for other in others {
            assert_ne!(digest(other), digest(same[0]), "{other}");
        }
        assert_ne!(digest(r#"["a","b"]"#), digest(r#"["a,b"]"#));
        assert_ne!(digest("[1,23]"), digest("[12,3]"));
        assert_eq!(digest(&format!("\"{}\"", "x".repeat(MAX_INPUT))), LARGE);
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(digest(&deep), digest(&deep));
    }

    #[test]
    fn gist_is_short_redacted_and_on_one_line() {
        let cases = [
            (r#"{"description":"d","command":"ls\n-l"}"#, Some("ls -l")),
            (r#"{"commands":["a","b"]}"#, Some("a b")),
            (r#"{"other":"x"}"#, Some("x")),
            (r#""text""#, Some("text")),
            (r#"{"n":1}"#, None),
            ("not json", None),
            (r#"{"command":"\u001b[31mred"}"#, Some(" [31mred")),
        ];
        for (input, expected) in cases {
            assert_eq!(gist(input).as_deref(), expected, "{input}");
            let quick = RawJson::parse(input).ok().and_then(|json| quick_gist(&json));
            assert_eq!(quick.as_deref(), expected, "{input}");
        }
        let large = format!(r#"{{"content":"{}","file_path":"/a"}}"#, "x".repeat(MAX_INPUT + 1));
        assert_eq!(gist(&large).as_deref(), Some("/a"));
        assert_eq!(quick_gist(&RawJson::parse(&*large).unwrap()).as_deref(), Some("/a"));
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let input = format!(r#"{{"command":"curl -H 'Authorization: {token}' {}"}}"#, "x".repeat(500));
        let found = gist(&input).unwrap();
        assert!(!found.contains(&token[..12]), "{found}");
        assert_eq!(found.chars().count(), MAX_GIST + 1);
        assert_eq!(quick_gist(&RawJson::parse(input).unwrap()).as_deref(), Some("curl -H 'Authorization: [redacted]"));
    }
}
