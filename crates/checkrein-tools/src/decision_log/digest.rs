//! Digest of a tool input, and its short form for people.
//!
//! An agent sends an input to its hooks and writes it to its session file, with other spaces, escapes and key order. The digest is
//! the same for both.

use checkrein::internal::{redacted_text, sha256_hex};
use serde_json::Value;

/// Maximum size of an input that is digested, in bytes. Larger ones share the digest [`LARGE`], so they are told apart by
/// their ids and their order only.
const MAX_INPUT: usize = 64 << 10;

/// Digest of inputs above [`MAX_INPUT`].
const LARGE: &str = "large";

/// Number of hexadecimal digits. 64 bits are enough to tell the calls of one session apart.
const DIGITS: usize = 16;

/// Maximum number of characters of a [`gist`].
const MAX_GIST: usize = 160;

/// Number of bytes that are searched for secrets before a gist is cut: a cut secret is not recognized.
const SEARCHED: usize = 4096;

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
    let mut text = String::with_capacity(input.len());
    match serde_json::from_str(input) {
        Ok(value) => write_canonical(&mut text, &value),
        Err(_) => text.push_str(input),
    }
    let mut digest = sha256_hex(text.as_bytes());
    digest.truncate(DIGITS);
    digest
}

/// Writes JSON with sorted keys and without spaces.
fn write_canonical(text: &mut String, value: &Value) {
    match value {
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (key, value) in entries {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write_canonical(text, value);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(text, item);
                text.push(',');
            }
            text.push(']');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

/// Returns the start of the command, path or other text that describes a call, on one line and with secrets redacted. `None`: the
/// input has no such text.
pub fn gist(input: &str) -> Option<String> {
    // The best field is near the start, if at all: the content of a large file describes nothing.
    if input.len() > MAX_INPUT {
        return None;
    }
    let value: Value = serde_json::from_str(input).ok()?;
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Object(entries) => {
            let best = GIST_FIELDS.iter().find_map(|name| entries.get(*name).and_then(text_of));
            best.or_else(|| entries.values().find_map(text_of))?
        }
        _ => return None,
    };
    Some(short(&text))
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_string) => {
            Some(items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

/// Returns the start of a text, on one line and with secrets redacted.
pub(super) fn short(text: &str) -> String {
    let mut end = text.len().min(SEARCHED);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let clean = redacted_text(&text[..end]);
    let mut line = String::new();
    for (count, c) in clean.chars().enumerate() {
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
        assert_eq!(digest(same[0]).len(), DIGITS);
        for other in [r#"{"command":"ls e","n":1}"#, r#"{"command":"ls é","n":2}"#, r#"{"command":"ls é"}"#, "", "ls"]
        {
            assert_ne!(digest(other), digest(same[0]), "{other}");
        }
        assert_eq!(digest(&format!("\"{}\"", "x".repeat(MAX_INPUT))), LARGE);
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
        }
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let found = gist(&format!(r#"{{"command":"curl -H 'Authorization: {token}' {}"}}"#, "x".repeat(500))).unwrap();
        assert!(!found.contains(&token[..12]), "{found}");
        assert_eq!(found.chars().count(), MAX_GIST + 1);
    }
}
