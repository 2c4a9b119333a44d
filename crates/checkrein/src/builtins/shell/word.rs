//! Words of the shell grammar.

use std::rc::Rc;

use super::expanded::Span;
use super::parse::List;

/// One word, as it is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<WordPart>,
    /// Position in the text, in characters. `None` if the text is built from another one.
    pub(super) span: Option<Span>,
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub(super) enum WordPart {
    /// Literal text: quoted or escaped.
    Text(String),
    /// Text without quotes: wildcards and braces apply.
    Bare(String),
    /// `~`.
    Home,
    /// `$NAME` or `${…}`.
    Var(Box<Var>),
    /// The output of commands, or the name of a pipe from or to them.
    Output { list: Rc<List>, kind: Substitution, quoted: bool },
    /// `$((…))`, with the text between the brackets.
    Arithmetic(Word),
    /// `(…)` behind `NAME=`.
    Array(Vec<Word>),
}

/// The use of commands inside of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Substitution {
    /// `$(…)`: their output is the text.
    Text,
    /// `<(…)`: the text names a pipe with their output.
    Source,
    /// `>(…)`: the text names a pipe to their standard input.
    Sink,
}

/// `$NAME` or `${…}`.
#[derive(Debug, Clone, Default)]
pub(super) struct Var {
    pub(super) name: String,
    /// The text between the braces, if there are any.
    pub(super) text: String,
    pub(super) index: Index,
    pub(super) operator: Operator,
    /// `true` if the operator also applies to an empty value.
    pub(super) for_empty: bool,
    /// The word behind the operator.
    pub(super) word: Word,
    pub(super) quoted: bool,
    /// `true` for `$NAME` without braces.
    pub(super) is_bare: bool,
}

/// The elements of an array that a variable stands for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Index {
    #[default]
    None,
    /// `[@]`.
    All,
    /// `[*]`.
    Joined,
    Number(usize),
    Unknown,
}

/// Operation of `${…}` on the value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Operator {
    #[default]
    None,
    /// `-`.
    Default,
    /// `=`.
    Assign,
    /// `+`.
    Alternative,
    /// `?`.
    Required,
    /// `:`, with arithmetic behind it.
    Substring,
    /// `!`: the value of the variable that this one names.
    Indirect,
    /// The result is unknown.
    Other,
}

impl WordPart {
    pub(super) fn var(name: impl Into<String>, quoted: bool) -> Self {
        Self::Var(Box::new(Var { name: name.into(), quoted, ..Var::default() }))
    }

    /// Returns a piece whose value only the running shell knows.
    pub(super) fn unknown(text: &str) -> Self {
        Self::Var(Box::new(Var { text: text.to_owned(), operator: Operator::Other, quoted: true, ..Var::default() }))
    }
}

impl Word {
    pub(super) fn push_text(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(WordPart::Text(text)) => text.push(c),
            _ => self.parts.push(WordPart::Text(c.into())),
        }
    }

    pub(super) fn push_bare(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(WordPart::Bare(text)) => text.push(c),
            _ => self.parts.push(WordPart::Bare(c.into())),
        }
    }

    /// Returns the text of a word that is one piece without quotes, such as a reserved word or an operator.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [WordPart::Bare(text)] => Some(text),
            _ => None,
        }
    }

    /// `true` if the word ends in this character, without quotes.
    pub(super) fn ends_bare(&self, c: &[char]) -> bool {
        matches!(self.parts.last(), Some(WordPart::Bare(text)) if text.ends_with(c))
    }

    /// `true` behind `NAME=` and each `:` of the value, where bash expands `~` too.
    pub(super) fn takes_tilde(&self) -> bool {
        let Some(WordPart::Bare(first)) = self.parts.first() else { return self.parts.is_empty() };
        let name = first.split_once('=').map_or("", |(name, _)| name);
        is_name(name.strip_suffix('+').unwrap_or(name)) && self.ends_bare(&['=', ':'])
    }

    /// Splits `NAME=value` and `NAME[subscript]=value`.
    pub(super) fn assignment(&self) -> Option<Assignment> {
        let Some(WordPart::Bare(first)) = self.parts.first() else { return None };
        let name_end = first.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let (name, rest) = first.split_at(name_end);
        if !is_name(name) {
            return None;
        }
        let (at, start) = if rest.starts_with('[') {
            let closes = |(at, part): (usize, &WordPart)| match part {
                WordPart::Bare(text) => {
                    let bracket = text.find("]=").or_else(|| text.find("]+="))?;
                    let equals = bracket + text[bracket..].find('=')?;
                    Some((at, equals + 1))
                }
                _ => None,
            };
            self.parts.iter().enumerate().find_map(closes)?
        } else if rest.starts_with('=') {
            (0, name_end + 1)
        } else if rest.starts_with("+=") {
            (0, name_end + 2)
        } else {
            return None;
        };
        let Some(WordPart::Bare(text)) = self.parts.get(at) else { return None };
        let mut value = Self::default();
        let appends = text[..start].ends_with("+=");
        if start < text.len() {
            value.parts.push(WordPart::Bare(text[start..].to_owned()));
        }
        value.parts.extend_from_slice(&self.parts[at + 1..]);
        let subscript = rest.starts_with('[').then(|| Self { parts: self.parts[..at].to_vec(), span: None });
        Some(Assignment { name: name.to_owned(), appends, subscript, value })
    }

    /// `true` for `NAME[`: bash continues the word to the `]`, including blanks and operators.
    pub(super) fn has_open_subscript(&self) -> bool {
        let Some(WordPart::Bare(first)) = self.parts.first() else { return false };
        let is_open = first.split_once('[').is_some_and(|(name, _)| is_name(name));
        is_open && !self.parts.iter().any(|part| matches!(part, WordPart::Bare(text) if text.contains(']')))
    }
}

/// `NAME=value`, or `NAME[subscript]=value`.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub(super) name: String,
    /// `true` for `+=`.
    pub(super) appends: bool,
    pub(super) subscript: Option<Word>,
    pub(super) value: Word,
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
