//! [`Shown`]: a tool call for display.
//!
//! Everything in it comes from a model, so each text is bounded, has no credential, and has no character that moves or hides others.

use std::borrow::Cow;

use checkrein::internal::{redacted_json, redacted_text, sha256_hex};
use checkrein_core::RawJson;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parsed::ParsedCommand;
use crate::visible::{LINES, printable, visible};

/// Maximum number of characters of a value. Longer ones keep their start and end.
const MAX_VALUE: usize = 4000;

/// Maximum number of characters of a name, a reason or a directory.
const MAX_SHORT: usize = 1000;

/// Maximum number of fields.
const MAX_FIELDS: usize = 40;

/// Maximum number of words of a command.
const MAX_WORDS: usize = 100;

/// Maximum number of characters of a diff.
const MAX_DIFF: usize = 20_000;

/// A tool and its input, for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shown {
    /// Tool.
    pub tool: String,
    /// Fields of the input. An input without fields has one with the name `input`.
    pub fields: Vec<ShownField>,
    /// Programs of a shell command. Empty for other tools.
    pub commands: Vec<ParsedCommand>,
    /// Number of further programs, which are not in `commands`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_commands: usize,
    /// Changes of a file, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// `true` if a field or a program is missing, or if a value is cut or redacted.
    pub is_partial: bool,
}

/// Field of a tool input, for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownField {
    /// Name.
    pub name: String,
    /// Value. A text is shown as it is, other values as JSON.
    pub text: String,
}

impl Shown {
    pub(super) fn new(tool: &str, input: &RawJson) -> Self {
        let clean = redacted_json(input);
        let mut is_partial = clean.is_some();
        let input = clean.as_ref().unwrap_or(input);
        let mut field = |name: &str, value: &RawJson| {
            let text = value.as_text().unwrap_or_else(|| Cow::Borrowed(value.as_str()));
            let (text, is_cut) = cut(&text, MAX_VALUE);
            is_partial |= is_cut;
            ShownField { name: short(name), text: visible(&text, LINES) }
        };
        let fields: Vec<_> = match input.entries() {
            Some(entries) => entries.take(MAX_FIELDS).map(|entry| field(&entry.key(), &entry.to_json())).collect(),
            None => vec![field("input", input)],
        };
        let is_partial = is_partial || input.entries().is_some_and(|entries| entries.count() > MAX_FIELDS);
        Self { tool: short(tool), fields, commands: Vec::new(), more_commands: 0, diff: None, is_partial }
    }

    /// Adds the programs and the changes of a file.
    pub(super) fn explained(mut self, commands: &[ParsedCommand], more_commands: usize, diff: Option<&str>) -> Self {
        let words = |words: &[String]| words.iter().take(MAX_WORDS).map(|word| short(word)).collect();
        let command = |command: &ParsedCommand| ParsedCommand {
            words: words(&command.words),
            wrappers: words(&command.wrappers),
            pipes_to: words(&command.pipes_to),
            is_known: command.is_known,
        };
        self.commands = commands.iter().map(command).collect();
        self.more_commands = more_commands;
        let is_cut =
            |words: &[String]| words.len() > MAX_WORDS || words.iter().any(|word| word.chars().count() > MAX_SHORT);
        let has_cut = |command: &ParsedCommand| {
            [&command.words, &command.wrappers, &command.pipes_to].into_iter().any(|words| is_cut(words))
        };
        self.is_partial |= more_commands > 0 || commands.iter().any(has_cut);
        self.diff = diff.map(|diff| {
            let clean = redacted_text(diff);
            let (text, is_cut) = cut(&clean, MAX_DIFF);
            self.is_partial |= is_cut;
            visible(&text, LINES)
        });
        self
    }

    /// Returns the SHA-256 of the texts.
    pub(super) fn digest(&self) -> String {
        format!("sha256:{}", sha256_hex(serde_json::to_string(self).unwrap_or_default().as_bytes()))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde needs")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Returns a text without credentials and hidden characters, on one line, with a bounded length.
pub(super) fn short(text: &str) -> String {
    printable(&cut(&redacted_text(text), MAX_SHORT).0)
}

/// Returns the start and the end of a long text. `true`: something was removed.
fn cut(text: &str, max: usize) -> (Cow<'_, str>, bool) {
    let count = text.chars().count();
    if count <= max {
        return (text.into(), false);
    }
    let start: String = text.chars().take(max / 2).collect();
    let end: String = text.chars().skip(count - max / 2).collect();
    (format!("{start} […{} characters…] {end}", count - max / 2 * 2).into(), true)
}
