//! What secrets look like.
//!
//! One table of shapes. Keys with a form of their own are found wherever they stand. Passwords have no form; they are
//! found behind a name such as `password=`, and only if they look made up: eight characters or more, letters and
//! digits, no code. That misses some and takes few harmless texts for secrets, which is the better half for a helper
//! that rewrites what a model reads.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use checkrein_core::RawJson;
use regex::Regex;

use super::json_strings::{spliced, strings};

struct Shape {
    name: &'static str,
    /// One of these is in every text that fits, in letters of any case. Most texts have none, and then nothing is compiled.
    needles: &'static [&'static str],
    /// The secret is group 1, or all of it.
    pattern: &'static str,
    /// What must hold besides, of the secret and of what follows it.
    holds: fn(&str, &str) -> bool,
}

/// What names of secrets have in them.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "access_key",
    "access-key",
    "token",
    "credential",
];

const SHAPES: &[Shape] = &[
    shape(
        "private_key",
        &["private key"],
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])*(?:[A-Za-z-]+: [^\n\\]*(?:\s|\\[nr])+)*[A-Za-z0-9+/=\s\\]{40,}(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    shape("aws_access_key", &["akia", "asia", "abia", "acca"], r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    shape(
        "aws_secret_key",
        &["aws"],
        r#"(?i)aws_?(?:secret|session)\w{0,20}["']?\s*[:=]\s*["']?([A-Za-z0-9/+]{40,}={0,2})"#,
    ),
    shape(
        "github_token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})",
    ),
    shape(
        "gitlab_token",
        &["glpat-", "gldt-", "glrt-", "glptt-", "glft-", "glsoat-", "glcbt-", "glagent-", "glimt-", "gloas-"],
        r"\bgl(?:pat|dt|rt|ptt|ft|soat|cbt|agent|imt|oas)-[A-Za-z0-9_-]{20,}",
    ),
    shape("slack_token", &["xox", "xapp-"], r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[0-9]-[A-Za-z0-9-]{10,}"),
    shape(
        "slack_webhook",
        &["hooks.slack.com"],
        r"https://hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{20,})",
    ),
    shape(
        "stripe_key",
        &["sk_", "rk_", "whsec_"],
        r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    ),
    shape("anthropic_key", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    shape("openai_key", &["sk-"], r"\bsk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})"),
    shape(
        "google_key",
        &["aiza", "ya29.", "gocspx-"],
        r"\bAIza[0-9A-Za-z_-]{35}|\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{20,}",
    ),
    shape("npm_token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36,}"),
    shape("pypi_token", &["pypi-"], r"\bpypi-[A-Za-z0-9_-]{50,}"),
    shape("huggingface_token", &["hf_"], r"\bhf_[A-Za-z0-9]{30,}"),
    shape("jwt", &["eyj"], r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    Shape {
        name: "bearer_token",
        needles: &["bearer"],
        pattern: r"(?i)\bbearer\s+([A-Za-z0-9._~+/-]{20,}=*)",
        holds: is_made_up,
    },
    shape("basic_auth", &["authorization"], r"(?i)\bauthorization\b\W{1,4}basic\s+([A-Za-z0-9+/]{8,}={0,2})"),
    shape("url_password", &["://"], r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'<>\[\]]*:([^\s/@"'<>\[\]${}*]{3,})@"#),
    Shape {
        name: "password",
        needles: NAMES,
        pattern: r#"(?i)(?:password|passwd|passphrase|secret|api[_-]?key|secret[_-]?key|access[_-]?key|token|credential)s?["']?\s{0,4}(?::=|=>|[:=])\s{0,4}["']?([A-Za-z0-9_./+=~!@#%^&*-]{8,})"#,
        holds: is_made_up,
    },
    Shape {
        name: "password",
        needles: &["--password", "--passwd", "--secret", "--api-key", "--token", "--access-token"],
        pattern: r#"--(?:password|passwd|secret|api-key|token|access-token)\s+["']?([A-Za-z0-9_./+=~!@#%^&*-]{8,})"#,
        holds: is_made_up,
    },
];

const fn shape(name: &'static str, needles: &'static [&'static str], pattern: &'static str) -> Shape {
    Shape { name, needles, pattern, holds: |_, _| true }
}

/// Whether strings in a JSON field of this name are secrets if they look made up: one of the names above is at its end.
fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let one = key.strip_suffix('s').unwrap_or(&key);
    let mut names = NAMES.iter().chain(&["secretkey", "secret_key", "secret-key"]);
    names.any(|name| key.ends_with(name) || one.ends_with(name))
}

/// Letters and digits, and neither a call, nor a type, nor a name with dots, nor a path.
fn is_made_up(value: &str, behind: &str) -> bool {
    static PLAIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+$|^(?:[A-Z][a-z]+){2,}\d?$|^[~.]{0,2}/|^(?i:password|token|secret|null|none|true|false)",
        )
        .ok()
    });
    let has = |wanted: fn(&u8) -> bool| value.as_bytes().iter().any(wanted);
    value.len() >= 8
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !behind.starts_with(['(', '[', '{', '<'])
        && !PLAIN.as_ref().is_some_and(|plain| plain.is_match(value))
}

/// Each is compiled when a text has one of its needles: a process that runs for one event has no time for all of them.
static COMPILED: LazyLock<Vec<OnceLock<Option<Regex>>>> =
    LazyLock::new(|| SHAPES.iter().map(|_| OnceLock::new()).collect());

fn compiled(rank: usize) -> Option<&'static Regex> {
    let pattern = SHAPES.get(rank)?.pattern;
    COMPILED.get(rank)?.get_or_init(|| Regex::new(pattern).ok()).as_ref()
}

fn needles() -> impl Iterator<Item = (usize, &'static str)> {
    SHAPES.iter().enumerate().flat_map(|(rank, shape)| shape.needles.iter().map(move |needle| (rank, *needle)))
}

/// All needles, and the shape that each belongs to.
static NEEDLES: LazyLock<Option<(AhoCorasick, Vec<usize>)>> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    let automaton = builder.ascii_case_insensitive(true).build(needles().map(|(_, needle)| needle)).ok()?;
    Some((automaton, needles().map(|(rank, _)| rank).collect()))
});

/// For each letter the needles that begin with it, and their shapes.
type ByFirst = [Vec<(usize, &'static [u8])>; 128];

/// The same by first letters, for short texts: it takes longer to make an automaton than to read some thousand of them.
static BY_FIRST: LazyLock<ByFirst> = LazyLock::new(|| {
    let mut all = [const { Vec::new() }; 128];
    for (rank, needle) in needles() {
        if let Some(of_first) = needle.bytes().next().and_then(|first| all.get_mut(usize::from(first))) {
            of_first.push((rank, needle.as_bytes()));
        }
    }
    all
});

/// So much is read without an automaton, in one text and in all of them together: a process that answers one event never makes
/// it, one that goes on soon has it.
const SHORT: usize = 16 * 1024;
static READ: AtomicUsize = AtomicUsize::new(0);

fn is_little(text: &str) -> bool {
    READ.load(Ordering::Relaxed) + text.len() <= SHORT && READ.fetch_add(text.len(), Ordering::Relaxed) <= SHORT
}

/// The shapes that may fit something in a text.
fn may_fit(text: &str) -> impl Iterator<Item = usize> + use<> {
    let mut wanted = [false; SHAPES.len()];
    // Two letters beyond ASCII are other cases of `s` and `k` for who reads patterns.
    let is_plain = text.is_ascii() || !text.contains(['\u{17f}', '\u{212a}']);
    if is_plain && is_little(text) {
        mark_short(text.as_bytes(), &mut wanted);
    } else if let Some((needles, shapes)) = NEEDLES.as_ref().filter(|_| is_plain) {
        for found in needles.find_overlapping_iter(text) {
            if let Some(wanted) = shapes.get(found.pattern().as_usize()).and_then(|rank| wanted.get_mut(*rank)) {
                *wanted = true;
            }
        }
    } else {
        wanted = [true; SHAPES.len()];
    }
    (0..SHAPES.len()).filter(move |rank| wanted[*rank])
}

fn mark_short(bytes: &[u8], wanted: &mut [bool]) {
    for (at, byte) in bytes.iter().enumerate() {
        let of_first = BY_FIRST.get(usize::from(byte.to_ascii_lowercase())).map_or(&[][..], Vec::as_slice);
        for (rank, needle) in of_first {
            let is_here = || bytes.get(at..at + needle.len()).is_some_and(|part| part.eq_ignore_ascii_case(needle));
            if let Some(wanted) = wanted.get_mut(*rank).filter(|wanted| !**wanted && is_here()) {
                *wanted = true;
            }
        }
    }
}

/// Where secrets stand, in order and without overlaps, and what they are.
fn find(text: &str) -> Vec<(Range<usize>, &'static str)> {
    // The shortest of them all, a password in a URL, with all around it.
    if text.len() < 8 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for rank in may_fit(text) {
        let (Some(shape), Some(regex)) = (SHAPES.get(rank), compiled(rank)) else { continue };
        for captures in regex.captures_iter(text) {
            let Some(place) = captures.get(1).or_else(|| captures.get(0)).map(|secret| secret.range()) else {
                continue;
            };
            if (shape.holds)(&text[place.clone()], &text[place.end..]) {
                found.push((place, rank));
            }
        }
    }
    found.sort_by_key(|(place, rank)| (place.start, *rank));
    let mut apart: Vec<(Range<usize>, usize)> = Vec::new();
    for (place, rank) in found {
        match apart.last_mut() {
            // Two shapes fit the same: one note for both, with the name that says more.
            Some((last, last_rank)) if place.start < last.end => {
                last.end = last.end.max(place.end);
                *last_rank = (*last_rank).min(rank);
            }
            _ => apart.push((place, rank)),
        }
    }
    apart.into_iter().filter_map(|(place, rank)| Some((place, SHAPES.get(rank)?.name))).collect()
}

/// Whether a text has a secret in it that has a form of its own.
pub(crate) fn has_secret(text: &str) -> bool {
    !find(text).is_empty()
}

/// Stands in place of a secret. No shape fits it, or part of it.
fn note(name: &str) -> Cow<'static, str> {
    Cow::Owned(format!("[redacted:{name}]"))
}

/// The text without the secrets in it.
pub(crate) fn redacted_text(text: &str) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    loop {
        // Again until nothing is found, as below.
        let parts: Vec<_> = find(&clean).into_iter().map(|(place, name)| (place, note(name))).collect();
        if parts.is_empty() {
            return clean;
        }
        clean = Cow::Owned(spliced(&clean, parts));
    }
}

/// The JSON without the secrets in its strings; `None` if it has none. All else is as it was, byte for byte.
pub fn redacted_json(json: &RawJson) -> Option<RawJson> {
    // What stands beside a note may fit a shape that it did not fit before, so this looks again until nothing is found.
    // Each round leaves fewer characters that are not notes.
    let mut clean: Option<RawJson> = None;
    loop {
        let now = clean.as_ref().unwrap_or(json);
        let mut parts = Vec::new();
        for string in strings(now) {
            let says = &*string.text.says;
            if is_secret_under(string.key.as_deref(), says) {
                parts.push((string.place(&(0..says.len())), note("password")));
                continue;
            }
            parts.extend(find(says).into_iter().map(|(place, name)| (string.place(&place), note(name))));
        }
        if parts.is_empty() {
            return clean;
        }
        // Notes need no escapes, so what was JSON is JSON.
        clean = Some(RawJson::parse(spliced(now.as_str(), parts)).ok()?);
    }
}

fn is_secret_under(key: Option<&str>, value: &str) -> bool {
    let Some(key) = key else { return false };
    let is_word = || !value.contains(|c: char| c.is_whitespace() || "[](){}<>$".contains(c));
    is_secret_key(key) && is_word() && is_made_up(value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_makes_no_difference_how_needles_are_looked_for() {
        let secrets =
            ["ghp_", "AKIA", "eyJ", "://", "Password=", "--TOKEN x", "xox", "-----BEGIN RSA PRIVATE KEY", "sk-ant-"];
        for secret in secrets.into_iter().chain(["", "nothing here", "ghp", "é://"]) {
            for padding in [0, 1, 7, 100] {
                let text = format!("{0}{secret}{0}", "é.".repeat(padding));
                let mut short = [false; SHAPES.len()];
                mark_short(text.as_bytes(), &mut short);
                let mut long = [false; SHAPES.len()];
                let (needles, shapes) = NEEDLES.as_ref().unwrap();
                for found in needles.find_overlapping_iter(&text) {
                    long[shapes[found.pattern().as_usize()]] = true;
                }
                assert_eq!(short, long, "{text}");
            }
        }
    }

    #[test]
    fn every_shape_compiles() {
        assert!((0..SHAPES.len()).all(|rank| compiled(rank).is_some()));
        assert!(NEEDLES.is_some());
        assert!(is_made_up("abcd1234", "") && !is_made_up("config.password2", "") && !is_made_up("sha256sum", "("));
    }

    #[test]
    fn what_fits_has_a_needle() {
        use proptest::strategy::{Strategy as _, ValueTree as _};
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for (rank, shape) in SHAPES.iter().enumerate() {
            // Borders of words cannot be made up.
            let texts = proptest::string::string_regex(&shape.pattern.replace(r"\b", "")).unwrap();
            for _ in 0..200 {
                let text = texts.new_tree(&mut runner).unwrap().current();
                assert!(may_fit(&text).any(|may| may == rank), "{}: {text}", shape.name);
            }
        }
        assert_eq!(may_fit("plain text: nothing of it is a concern here").count(), 0);
    }

    #[test]
    fn keys_that_name_secrets() {
        for key in ["password", "API-KEYS", "clientSecret", "accessKey", "aws_secret_key", "max_tokens", "SecretKeys"] {
            assert!(is_secret_key(key), "{key}");
        }
        for key in ["key", "tokenizer", "secretary", "command", "s", ""] {
            assert!(!is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn notes_are_no_secrets() {
        for shape in SHAPES {
            let note = note(shape.name);
            let text = RawJson::string(&format!("password={note} token: {note} Bearer {note}"));
            assert_eq!(redacted_json(&text), None, "{note}");
        }
    }
}
