//! Typed access to the nodes of a test file. Collects diagnostics.

use std::time::Duration;

use checkrein_core::{RawJson, closest_match};
use checkrein_dialects::Dialect;
use checkrein_dialects::config::{Diagnostic, Location, Severity};
use checkrein_document::{LineIndex, Member, Node, Span};

use super::super::keys::{Key, PATTERN};
use super::super::pattern::TextPattern;

pub(super) struct TestFileReader<'a> {
    file: String,
    lines: LineIndex<'a>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> TestFileReader<'a> {
    pub(super) fn new(file: String, text: &'a str) -> Self {
        Self { file, lines: LineIndex::new(text), diagnostics: Vec::new() }
    }

    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.at.as_ref().map(|at| at.span.start));
        self.diagnostics
    }

    /// Number of diagnostics so far.
    pub(super) fn count(&self) -> usize {
        self.diagnostics.len()
    }

    pub(super) fn line(&self, span: Span) -> u32 {
        self.lines.place(span.start).line
    }

    pub(super) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(code, span, message.into(), None);
    }

    fn report(&mut self, code: &'static str, span: Span, message: String, help: Option<String>) {
        let diagnostic =
            Diagnostic::of_file(Severity::Error, code, self.file.clone(), message).at(Location::of(&self.lines, span));
        self.diagnostics.push(match help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        });
    }

    /// Reports unknown keys.
    pub(super) fn keys(&mut self, members: &[Member<'_>], known: &[Key]) {
        let names: Vec<_> = known.iter().map(|key| key.name).collect();
        for member in members.iter().filter(|member| !names.contains(&&*member.key)) {
            self.unknown("unknown-key", member.key_span, "key", &member.key, &names);
        }
    }

    /// Reports an unknown value, with the closest known one or all known ones as help.
    pub(super) fn unknown(&mut self, code: &'static str, span: Span, what: &str, word: &str, known: &[&str]) {
        let help = match closest_match(word, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("use one of: {}", known.join(", ")),
        };
        self.report(code, span, format!("unknown {what} `{word}`"), Some(help));
    }

    pub(super) fn wrong_type(&mut self, node: &Node<'_>, what: &str, expected: &str) {
        self.error("wrong-type", node.span, format!("`{what}` must be {expected}, but is {}", node.type_name()));
    }

    pub(super) fn object<'n, 't>(&mut self, node: &'n Node<'t>, what: &str) -> Option<&'n [Member<'t>]> {
        self.or_wrong(node.as_object(), node, what, "an object")
    }

    pub(super) fn array<'n, 't>(&mut self, node: &'n Node<'t>, what: &str) -> Option<&'n [Node<'t>]> {
        self.or_wrong(node.as_array(), node, what, "an array")
    }

    pub(super) fn text(&mut self, node: &Node<'_>, what: &str) -> Option<String> {
        self.or_wrong(node.as_str().map(str::to_owned), node, what, "a string")
    }

    pub(super) fn flag(&mut self, node: &Node<'_>, what: &str) -> Option<bool> {
        self.or_wrong(node.as_bool(), node, what, "true or false")
    }

    pub(super) fn integer(&mut self, node: &Node<'_>, what: &str) -> Option<i32> {
        let number = node.as_number().and_then(|number| number.parse().ok());
        self.or_wrong(number, node, what, "an integer")
    }

    fn or_wrong<T>(&mut self, read: Option<T>, node: &Node<'_>, what: &str, expected: &str) -> Option<T> {
        if read.is_none() {
            self.wrong_type(node, what, expected);
        }
        read
    }

    /// Items of an array, or the node itself.
    pub(super) fn several<'n, 't>(&self, node: &'n Node<'t>) -> &'n [Node<'t>] {
        node.as_array().unwrap_or(std::slice::from_ref(node))
    }

    /// Reads a string or a list of strings.
    pub(super) fn texts(&mut self, node: &Node<'_>, what: &str) -> Vec<String> {
        self.several(node).iter().filter_map(|node| self.text(node, what)).collect()
    }

    pub(super) fn json(&mut self, node: &Node<'_>) -> Option<RawJson> {
        let json = RawJson::parse(node.to_json());
        if let Err(error) = &json {
            self.error("bad-value", node.span, error.to_string());
        }
        json.ok()
    }

    pub(super) fn dialect(&mut self, node: &Node<'_>) -> Option<&'static Dialect> {
        let name = self.text(node, "as")?;
        let found = checkrein_dialects::find(&name);
        if found.is_none() {
            let names: Vec<_> = checkrein_dialects::ALL.iter().map(|dialect| dialect.name).collect();
            self.unknown("unknown-dialect", node.span, "dialect", &name, &names);
        }
        found
    }

    /// Reads a regular expression, or an object with one of the keys of [`PATTERN`].
    pub(super) fn pattern(&mut self, node: &Node<'_>, what: &str) -> Option<TextPattern> {
        let (name, text, span) = match node.as_object() {
            None if node.as_str().is_none() => {
                self.wrong_type(node, what, "a regular expression, or an object such as `contains: text`");
                return None;
            }
            None => ("matches", node.as_str()?.to_owned(), node.span),
            Some(members) => {
                self.keys(members, PATTERN);
                let [member] = members else {
                    let names: Vec<_> = PATTERN.iter().map(|key| key.name).collect();
                    self.error(
                        "wrong-type",
                        node.span,
                        format!("`{what}` must have exactly one of the keys {}", names.join(", ")),
                    );
                    return None;
                };
                let key = PATTERN.iter().find(|key| key.name == member.key)?;
                (key.name, self.text(&member.value, key.name)?, member.value.span)
            }
        };
        match TextPattern::named(name, &text)? {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                // The last line holds the message; the lines before it show the position.
                let why = error.to_string();
                let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
                self.error("bad-pattern", span, format!("invalid regular expression: {why}"));
                None
            }
        }
    }

    /// Reads `500ms`, `1m30s`, or a number of seconds.
    pub(super) fn duration(&mut self, node: &Node<'_>, what: &str) -> Option<Duration> {
        let time = match (node.as_str(), node.as_number()) {
            (Some(text), _) => {
                checkrein_dialects::config::parse_duration(text).map_err(|why| format!("`{text}` {why}"))
            }
            (_, Some(number)) => {
                let seconds = number.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                seconds
                    .map(|time| Some(time).filter(|time| !time.is_zero()))
                    .ok_or_else(|| format!("`{number}` is not a duration in seconds"))
            }
            _ => {
                self.wrong_type(node, what, "a duration such as `500ms`, or seconds");
                return None;
            }
        };
        match time {
            Ok(Some(time)) => Some(time),
            Ok(None) => {
                self.error("bad-time", node.span, format!("`{what}` must be greater than 0"));
                None
            }
            Err(why) => {
                self.error("bad-time", node.span, why);
                None
            }
        }
    }
}
