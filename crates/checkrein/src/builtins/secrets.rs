//! Finds and redacts secrets in texts and JSON, by the table of [`secret_formats`](super::secret_formats).
//!
//! Keys with a fixed format are found anywhere. Passwords have no format. They are found behind a name such as
//! `password=`, and only if they look generated: eight characters or more, letters and digits, no code. This misses some
//! passwords, but it rarely redacts harmless text that a model needs.
//!
//! `redact_secrets`, the audit log, recordings and observers use this module. A redaction must not change other bytes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use checkrein_core::RawJson;
use regex::Regex;

use super::json_strings::{spliced, strings};
use super::secret_formats::{NAMES, SHAPES, Shape};

/// `true` if generated-looking strings in a JSON field of this name are secrets: the name ends with one of [`NAMES`].
fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let one = key.strip_suffix('s').unwrap_or(&key);
    let mut names = NAMES.iter().chain(&["secretkey", "secret_key", "secret-key"]);
    names.any(|name| key.ends_with(name) || one.ends_with(name))
}

/// `true` for letters and digits that are neither a call, a type, a name with dots nor a path.
pub(super) fn is_generated(value: &str, behind: &str) -> bool {
    static PLAIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+$|^(?:[A-Z][a-z]+){2,}\d?$|^[~.]{0,2}/|^(?i:password|token|secret|null|none|true|false)",
        )
        .ok()
    });
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    value.len() >= 8
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !behind.starts_with(['(', '[', '{', '<'])
        && !PLAIN.as_ref().is_some_and(|plain| plain.is_match(value))
}

/// Compiled patterns. Each is compiled at the first text with one of its needles: compiling all of them would take too long
/// in a process that handles one event.
static COMPILED: LazyLock<Vec<OnceLock<Option<Regex>>>> =
    LazyLock::new(|| SHAPES.iter().map(|_| OnceLock::new()).collect());

fn compiled(rank: usize) -> Option<&'static Regex> {
    let pattern = SHAPES.get(rank)?.pattern;
    COMPILED.get(rank)?.get_or_init(|| Regex::new(pattern).ok()).as_ref()
}

fn needles() -> impl Iterator<Item = (usize, &'static str)> {
    SHAPES.iter().enumerate().flat_map(|(rank, shape)| shape.needles.iter().map(move |needle| (rank, *needle)))
}

/// Automaton for all needles, and the index of each needle's shape.
static NEEDLES: LazyLock<Option<(AhoCorasick, Vec<usize>)>> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    let automaton = builder.ascii_case_insensitive(true).build(needles().map(|(_, needle)| needle)).ok()?;
    Some((automaton, needles().map(|(rank, _)| rank).collect()))
});

/// For each first letter, the needles with their shapes.
type ByFirst = [Vec<(usize, &'static [u8])>; 128];

/// Needles by first letter, for short texts: building the automaton takes longer than searching some thousand bytes.
static BY_FIRST: LazyLock<ByFirst> = LazyLock::new(|| {
    let mut all = [const { Vec::new() }; 128];
    for (rank, needle) in needles() {
        if let Some(group) = needle.bytes().next().and_then(|first| all.get_mut(usize::from(first))) {
            group.push((rank, needle.as_bytes()));
        }
    }
    all
});

/// Number of bytes that a process searches without the automaton, in all texts together. A process for one event never
/// builds it; a long-running process builds it soon.
const SHORT: usize = 16 * 1024;
static SEARCHED: AtomicUsize = AtomicUsize::new(0);

/// Counts the text and returns `true` if it is within [`SHORT`].
fn count_as_short(text: &str) -> bool {
    SEARCHED.load(Ordering::Relaxed) + text.len() <= SHORT && SEARCHED.fetch_add(text.len(), Ordering::Relaxed) <= SHORT
}

/// Returns the shapes that may match a part of the text.
fn candidates(text: &str) -> impl Iterator<Item = usize> + use<> {
    let mut found = [false; SHAPES.len()];
    // Case-insensitive patterns match two letters beyond ASCII as `s` and `k`. The needle search does not.
    let is_plain = text.is_ascii() || !text.contains(['\u{17f}', '\u{212a}']);
    if is_plain && count_as_short(text) {
        mark_short(text.as_bytes(), &mut found);
    } else if is_plain && let Some((needles, shapes)) = NEEDLES.as_ref() {
        for needle in needles.find_overlapping_iter(text) {
            if let Some(found) = shapes.get(needle.pattern().as_usize()).and_then(|rank| found.get_mut(*rank)) {
                *found = true;
            }
        }
    } else {
        found = [true; SHAPES.len()];
    }
    (0..SHAPES.len()).filter(move |rank| found[*rank])
}

fn mark_short(bytes: &[u8], found: &mut [bool]) {
    for (start, byte) in bytes.iter().enumerate() {
        let group = BY_FIRST.get(usize::from(byte.to_ascii_lowercase())).map_or(&[][..], Vec::as_slice);
        for (rank, needle) in group {
            let end = start + needle.len();
            let is_here = || bytes.get(start..end).is_some_and(|part| part.eq_ignore_ascii_case(needle));
            if let Some(found) = found.get_mut(*rank).filter(|found| !**found && is_here()) {
                *found = true;
            }
        }
    }
}

/// Returns the ranges of secrets, in order and without overlaps, with the names of their shapes.
fn find(text: &str) -> Vec<(Range<usize>, &'static str)> {
    // The shortest match is a password in a URL.
    if text.len() < 8 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for rank in candidates(text) {
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
            // Two shapes overlap: one note for both, with the more specific name.
            Some((last, last_rank)) if place.start < last.end => {
                last.end = last.end.max(place.end);
                *last_rank = (*last_rank).min(rank);
            }
            _ => apart.push((place, rank)),
        }
    }
    apart.into_iter().filter_map(|(place, rank)| Some((place, SHAPES.get(rank)?.name))).collect()
}

/// `true` if a text contains a secret.
pub fn has_secret(text: &str) -> bool {
    !find(text).is_empty()
}

/// The replacement for a secret. No shape matches it or a part of it.
fn note(name: &str) -> Cow<'static, str> {
    Cow::Owned(format!("[redacted:{name}]"))
}

/// Returns the text with its secrets redacted.
pub fn redacted_text(text: &str) -> Cow<'_, str> {
    let mut clean = Cow::Borrowed(text);
    loop {
        // Repeated until nothing is found, for the reason given in `redact_json`.
        let parts: Vec<_> = find(&clean).into_iter().map(|(place, name)| (place, note(name))).collect();
        if parts.is_empty() {
            return clean;
        }
        clean = Cow::Owned(spliced(&clean, parts));
    }
}

/// Returns the text up to the first word that may belong to a secret. Redacts more than [`redacted_text`], but compiles no pattern: that
/// takes milliseconds in a process that handles one event.
pub fn cut_at_secret(text: &str) -> Cow<'_, str> {
    // See `candidates`.
    if text.contains(['\u{17f}', '\u{212a}']) {
        return Cow::Borrowed("[redacted]");
    }
    let has_long_run = has_long_run(text);
    let words = word_starts(text.as_bytes());
    let shapes = SHAPES.iter().filter(|shape| has_long_run || is_short(shape));
    let starts = shapes
        .flat_map(|shape| shape.needles.iter().filter_map(|needle| place_of(shape, needle.as_bytes(), text, &words)));
    let Some(start) = starts.min() else { return Cow::Borrowed(text) };
    let before = text.get(..start).unwrap_or_default();
    let words = before.trim_end_matches(|c: char| !c.is_whitespace());
    Cow::Owned(format!("{words}[redacted]"))
}

/// Returns `true` if the secrets of a shape can be shorter than those that [`has_long_run`] finds.
fn is_short(shape: &Shape) -> bool {
    shape.needles.iter().any(|needle| matches!(*needle, "--passphrase" | "sshpass" | "openssl" | "curl"))
}

/// Returns the places at which words begin.
fn word_starts(bytes: &[u8]) -> Vec<usize> {
    let mut is_in_word = false;
    let mut starts = Vec::new();
    for (place, byte) in bytes.iter().enumerate() {
        let is_word = byte.is_ascii_alphanumeric() || *byte == b'_';
        if is_word && !is_in_word {
            starts.push(place);
        }
        is_in_word = is_word;
    }
    starts
}

/// Returns the first place at which a needle may belong to a secret.
fn place_of(shape: &Shape, needle: &[u8], text: &str, words: &[usize]) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = *needle.first()?;
    let is_needle = |start: usize| {
        bytes[start].to_ascii_lowercase() == first
            && bytes.get(start..start + needle.len()).is_some_and(|part| part.eq_ignore_ascii_case(needle))
    };
    let may_match = |start: &usize| is_needle(*start) && may_be_secret(shape, needle, text, *start);
    match shape.outline.is_at_word_start {
        // A byte beyond ASCII may end a word in the pattern or not.
        true if text.is_ascii() => words.iter().copied().find(may_match),
        _ => (0..bytes.len()).find(may_match),
    }
}

/// Returns `true` if a needle in a text may belong to a secret of its shape.
fn may_be_secret(shape: &Shape, needle: &[u8], text: &str, start: usize) -> bool {
    let (Some(before), Some(after)) = (text.get(..start), text.get(start + needle.len()..)) else { return true };
    if shape.outline.is_upper && !text.as_bytes()[start].is_ascii_uppercase() {
        return false;
    }
    let begins = |text: &str, part: &str| text.get(..part.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(part));
    let has_option = |options: &[&str]| options.iter().any(|option| after.contains(option));
    match shape.name {
        "private_key" => return before.contains("-----BEGIN"),
        "aws_secret_key" => {
            let name = after.strip_prefix('_').unwrap_or(after);
            return begins(name, "secret") || begins(name, "session");
        }
        "okta_token" | "bearer_token" => return after.starts_with(char::is_whitespace),
        "basic_auth" => {
            return begins(after.trim_start_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_'), "basic");
        }
        "url_password" => return after.split(char::is_whitespace).next().is_some_and(|word| word.contains('@')),
        "password" => {
            return match needle {
                b"--passphrase" => after.starts_with([' ', '=']),
                b"sshpass" => has_option(&[" -p"]),
                b"openssl" => has_option(&[" -k ", " -K ", "pass:"]),
                b"curl" => has_option(&[" -u", " -U", " --user", " --proxy-user"]) && after.contains(':'),
                _ if needle.starts_with(b"--") => after.starts_with(char::is_whitespace) && has_generated(after),
                _ => is_assigned(after),
            };
        }
        _ => {}
    }
    if shape.outline.length == 0 {
        return true;
    }
    let begin = match shape.outline.is_at_word_start {
        true => start,
        false => before.rfind(char::is_whitespace).unwrap_or(0),
    };
    let word = text[begin..].trim_start().split(char::is_whitespace).next().unwrap_or_default();
    // Generated text of this length has digits or letters in upper case.
    let is_varied =
        word.bytes().any(|byte| !byte.is_ascii_lowercase() && byte.is_ascii_alphanumeric() || !byte.is_ascii());
    word.len() >= shape.outline.length && (is_varied || shape.outline.length < 16)
}

/// Returns `true` if a text begins with the rest of a name, an assignment and a value that may be generated.
fn is_assigned(text: &str) -> bool {
    let rest = text.strip_prefix(['_', '-']).unwrap_or(text);
    let rest = if rest.get(..3).is_some_and(|key| key.eq_ignore_ascii_case("key")) { &rest[3..] } else { text };
    let rest = rest.strip_prefix(['s', 'S']).unwrap_or(rest);
    let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest).trim_start();
    rest.starts_with([':', '=']) && has_generated(rest.trim_start_matches([':', '=', '>']))
}

/// Returns `true` if a text begins with a word of at least eight characters, with letters and digits.
fn has_generated(text: &str) -> bool {
    let word = text.trim_start().split(char::is_whitespace).next().unwrap_or_default();
    let has = |class: fn(&u8) -> bool| word.as_bytes().iter().any(class);
    word.len() >= 8 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

/// Returns `true` if a text has a run of characters that is long enough for a secret: every secret is one, or is a password in a URL.
fn has_long_run(text: &str) -> bool {
    let (mut length, mut has_digit, mut has_upper, mut has_lower) = (0, false, false, false);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"_./+=~!#%^&*-".contains(&byte) {
            length += 1;
            has_digit |= byte.is_ascii_digit();
            has_upper |= byte.is_ascii_uppercase();
            has_lower |= byte.is_ascii_lowercase();
        } else if byte == b'@' || !byte.is_ascii() {
            return true;
        } else {
            (length, has_digit, has_upper, has_lower) = (0, false, false, false);
        }
        if length >= 16 || length >= 8 && (has_digit || has_upper && has_lower) {
            return true;
        }
    }
    false
}

/// Returns the JSON with the secrets in its strings redacted, or `None` if it has none. All other bytes stay the same.
pub fn redacted_json(json: &RawJson) -> Option<RawJson> {
    redact_json(json).map(|(clean, _)| clean)
}

/// As [`redacted_json`], with the secrets that were redacted.
pub(crate) fn redact_json(json: &RawJson) -> Option<(RawJson, RedactedSecrets)> {
    // Text beside a note may match a shape that it did not match before. Therefore the search is repeated until nothing
    // is found. Each round leaves fewer characters that are not notes.
    let mut clean: Option<RawJson> = None;
    let mut secrets = RedactedSecrets::default();
    loop {
        let current = clean.as_ref().unwrap_or(json);
        let mut parts = Vec::new();
        for string in strings(current) {
            let text = &*string.text.decoded;
            if is_secret_under(string.key.as_deref(), text) {
                secrets.add("password");
                parts.push((string.place(&(0..text.len())), note("password")));
                continue;
            }
            for (place, name) in find(text) {
                secrets.add(name);
                parts.push((string.place(&place), note(name)));
            }
        }
        if parts.is_empty() {
            return clean.map(|clean| (clean, secrets));
        }
        // Notes need no escapes, so the result is valid JSON.
        clean = Some(RawJson::parse(spliced(current.as_str(), parts)).ok()?);
    }
}

/// The number of redacted secrets of each kind, in the order of the text. Displayed as `2 GitHub tokens and 1 credential`.
#[derive(Debug, Default)]
pub(crate) struct RedactedSecrets(Vec<(&'static str, usize)>);

impl RedactedSecrets {
    fn add(&mut self, name: &'static str) {
        let label = SHAPES.iter().find(|shape| shape.name == name).map_or(name, |shape| shape.label);
        match self.0.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => self.0.push((label, 1)),
        }
    }

    /// Returns the secrets with an article if there is one: `an AWS access key`.
    pub(crate) fn found(&self) -> String {
        match self.0[..] {
            [(label, 1)] => {
                let is_vowel = label.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']) || label.starts_with("npm");
                format!("{} {label}", if is_vowel { "an" } else { "a" })
            }
            _ => self.to_string(),
        }
    }

    /// Returns a short noun for the secrets: `key`.
    pub(crate) fn noun(&self) -> &'static str {
        match self.0[..] {
            [(label, 1)] => label.rsplit(' ').next().unwrap_or(label),
            _ => "secrets",
        }
    }
}

impl fmt::Display for RedactedSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.0.len().saturating_sub(1);
        for (index, (label, count)) in self.0.iter().enumerate() {
            let separator = match index {
                0 => "",
                index if index == last => " and ",
                _ => ", ",
            };
            let plural = if *count == 1 { "" } else { "s" };
            write!(f, "{separator}{count} {label}{plural}")?;
        }
        Ok(())
    }
}

fn is_secret_under(key: Option<&str>, value: &str) -> bool {
    let Some(key) = key else { return false };
    let is_word = || !value.contains(|c: char| c.is_whitespace() || "[](){}<>$".contains(c));
    is_secret_key(key) && is_word() && is_generated(value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_search_and_automaton_find_the_same_needles() {
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
        assert!(
            is_generated("abcd1234", "") && !is_generated("config.password2", "") && !is_generated("sha256sum", "(")
        );
    }

    #[test]
    fn every_match_contains_a_needle() {
        use proptest::strategy::{Strategy as _, ValueTree as _};
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for (rank, shape) in SHAPES.iter().enumerate() {
            // proptest cannot generate word boundaries.
            let texts = proptest::string::string_regex(&shape.pattern.replace(r"\b", "")).unwrap();
            for _ in 0..200 {
                let text = texts.new_tree(&mut runner).unwrap().current();
                assert!(candidates(&text).any(|candidate| candidate == rank), "{}: {text}", shape.name);
            }
        }
        assert_eq!(candidates("plain text: nothing of it is a concern here").count(), 0);
    }

    #[test]
    fn text_before_a_secret_has_no_part_of_it() {
        use proptest::strategy::{Strategy as _, ValueTree as _};
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for shape in SHAPES {
            let texts = proptest::string::string_regex(&shape.pattern.replace(r"\b", "")).unwrap();
            for round in 0..200 {
                let found = texts.new_tree(&mut runner).unwrap().current();
                let text = if round % 2 == 0 { found } else { format!("curl -H {found} x") };
                let cut = cut_at_secret(&text);
                for (place, name) in find(&text) {
                    assert!(!cut.contains(&text[place]), "{name}: {text} became {cut}");
                }
            }
        }
    }

    #[test]
    fn ordinary_commands_are_not_cut() {
        for text in [
            "ls -la",
            "cargo test --workspace --locked",
            "git commit -m 'tokenizer: add tokens'",
            "curl https://example.com/a/b2c3d4e5f6",
            "cat src/password_field.rs",
            "echo é",
            "node scripts/build-production.js",
            "cat src/models/user_controller.py",
            "go test ./internal/controller/...",
            "pytest tests/test_users.py tests/integration/test_the_whole_application_end_to_end.py",
            "aws s3 cp s3://bucket/path/to/object2 ./directory/of/objects",
            "npm run build:production -- --mode=development2",
            "kubectl get pods -n kube-system api-controller-manager-with-a-long-name",
            "vim src/main/java/com/example/UserControllerIntegrationTest.java",
            "cargo test --package checkrein-tools --lib coverage::formats::claude::tests",
            "git checkout feature/token-refresh-v2-redesign",
            "docker compose -f docker-compose.production.yml up --detach",
            "curl -s https://example.com:8080/status",
            "openssl x509 -in certificate.pem -noout -dates",
            "gpg --passphrase-file /etc/passphrase1 --decrypt file.gpg",
            "sort -u names.txt",
            "curl -H 'x-user-id:12' https://a.b/c",
        ] {
            assert_eq!(cut_at_secret(text), text);
            assert_eq!(redacted_text(text), text);
        }
        for (text, cut, whole) in [
            ("curl -u admin:s3cr3t https://a.b", "[redacted]", "curl -u admin:[redacted:password] https://a.b"),
            ("curl -s --user=me:pw x", "[redacted]", "curl -s --user=me:[redacted:password] x"),
            ("sshpass -p hunter2 ssh me@host", "[redacted]", "sshpass -p [redacted:password] ssh me@host"),
            ("gpg --passphrase hunter2 -d x", "gpg [redacted]", "gpg --passphrase [redacted:password] -d x"),
            ("openssl enc -k hunter2 -in x", "[redacted]", "openssl enc -k [redacted:password] -in x"),
            ("openssl enc -pass pass:hunter2", "[redacted]", "openssl enc -pass pass:[redacted:password]"),
        ] {
            assert_eq!((&*cut_at_secret(text), &*redacted_text(text)), (cut, whole));
        }
        for text in ["curl -u $USER:$PASSWORD x", "gpg --passphrase \"$P\" x"] {
            assert_eq!(redacted_text(text), text);
        }
        assert_eq!(cut_at_secret("git clone https://me:hunter22@example.com/x"), "git clone [redacted]");
        assert_eq!(cut_at_secret("PASSWORD=hunter22hunter22 ./run"), "[redacted]");
    }

    #[test]
    fn secret_keys_are_recognized() {
        for key in ["password", "API-KEYS", "clientSecret", "accessKey", "aws_secret_key", "max_tokens", "SecretKeys"] {
            assert!(is_secret_key(key), "{key}");
        }
        for key in ["key", "tokenizer", "secretary", "command", "s", ""] {
            assert!(!is_secret_key(key), "{key}");
        }
    }

    #[test]
    fn redacted_secrets_are_counted_by_kind() {
        let mut secrets = RedactedSecrets::default();
        for name in ["github_token", "password", "github_token"] {
            secrets.add(name);
        }
        assert_eq!(secrets.to_string(), "2 GitHub tokens and 1 credential");
        assert_eq!((secrets.found().as_str(), secrets.noun()), ("2 GitHub tokens and 1 credential", "secrets"));
        for (name, found, noun) in [
            ("aws_access_key", "an AWS access key", "key"),
            ("npm_token", "an npm token", "token"),
            ("password", "a credential", "credential"),
        ] {
            let mut one = RedactedSecrets::default();
            one.add(name);
            assert_eq!((one.found().as_str(), one.noun()), (found, noun));
        }
        secrets.add("jwt");
        assert_eq!(secrets.to_string(), "2 GitHub tokens, 1 credential and 1 JSON web token");
    }

    #[test]
    fn notes_are_not_redacted_again() {
        for shape in SHAPES {
            let note = note(shape.name);
            let text = RawJson::string(&format!("password={note} token: {note} Bearer {note}"));
            assert_eq!(redacted_json(&text), None, "{note}");
        }
    }
}
