//! Words of the shell grammar, and their expansion to values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use super::parse::Command;

/// One word, as it is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<WordPart>,
    /// Position in the text, in characters. `None` if the text is built from another one.
    pub(super) span: Option<Span>,
}

/// Start and end, without the end.
pub type Span = (usize, usize);

/// A piece of a word.
#[derive(Debug, Clone)]
pub(super) enum WordPart {
    /// Literal text: quoted or escaped.
    Text(String),
    /// Text without quotes: wildcards and braces apply.
    Bare(String),
    /// `~`.
    Home,
    /// `$NAME`, with the fallback for an unset variable.
    Var { name: String, fallback: Option<Fallback>, quoted: bool },
    /// The output of commands, or the name of a pipe to them.
    Output(Rc<[Command]>),
}

/// Fallback word of a variable.
#[derive(Debug, Clone)]
pub(super) struct Fallback {
    pub(super) word: Word,
    /// `true` if the fallback also replaces an empty value.
    pub(super) for_empty: bool,
}

/// The value of a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expanded {
    /// The text. Unknown parts have the form `$NAME` or `$(…)`.
    pub text: String,
    /// `true` if all of the text is known.
    pub known: bool,
    /// `true` if wildcards in it apply.
    pub glob: bool,
    /// Programs whose output is part of the value.
    pub from: Vec<String>,
    /// Position of a word that has only this value: in characters, or the index in a list of words.
    pub span: Option<Span>,
    /// `true` if a part of the text or another value of the word is missing because a limit was exceeded.
    pub cut: bool,
}

impl Expanded {
    pub(super) fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), known: true, ..Self::default() }
    }

    fn push(&mut self, text: &str) {
        // A variable that holds itself twice grows fast.
        if self.text.len() + text.len() > LONGEST {
            (self.known, self.cut) = (false, true);
        } else {
            self.text.push_str(text);
        }
    }

    fn push_unknown(&mut self, text: &str) {
        self.push(text);
        self.known = false;
    }
}

/// Maximum length of a word's value, in bytes.
const LONGEST: usize = 1 << 20;

/// Maximum length of a known variable, in bytes.
pub(super) const LONGEST_VARIABLE: usize = 4 << 10;

/// Variables and their possible values.
pub(super) type Vars = HashMap<String, Vec<String>>;

/// Maximum number of values of a word. Guards check each one.
const ALTERNATIVES: usize = 256;

/// Maximum number of opening braces in a word.
const MOST_BRACES: usize = 64;

/// Separator of fields inside of a value. A shell word cannot contain it, and the parser rejects texts that do.
const FIELD_END: char = '\0';

/// The surroundings in which a word is expanded.
pub(super) struct Expansion<'a> {
    pub(super) vars: &'a Vars,
    pub(super) home: Option<&'a str>,
    /// Returns the programs that commands inside of the word run.
    pub(super) names_of: &'a dyn Fn(&[Command]) -> Vec<String>,
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

    /// Adds a piece whose value only the running shell knows.
    pub(super) fn push_unknown(&mut self, name: String) {
        self.parts.push(WordPart::Var { name, fallback: None, quoted: true });
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
        value.parts.push(WordPart::Bare(text[start..].to_owned()));
        value.parts.extend_from_slice(&self.parts[at + 1..]);
        let subscript = Self { parts: self.parts[..at].to_vec(), span: None };
        Some(Assignment { name: name.to_owned(), subscript, value })
    }

    /// `true` for `NAME[`: bash continues the word to the `]`, including blanks and operators.
    pub(super) fn has_open_subscript(&self) -> bool {
        let Some(WordPart::Bare(first)) = self.parts.first() else { return false };
        let is_open = first.split_once('[').is_some_and(|(name, _)| is_name(name));
        is_open && !self.parts.iter().any(|part| matches!(part, WordPart::Bare(text) if text.contains(']')))
    }

    /// Returns the possible values of the word, as one text each: in assignments, redirections and here-documents.
    pub(super) fn values(&self, expansion: &Expansion<'_>) -> Vec<Expanded> {
        let mut values = expand(&self.parts, expansion, false);
        for value in &mut values {
            if value.text.contains(FIELD_END) {
                value.text = value.text.replace(FIELD_END, " ");
            }
        }
        values
    }

    /// Returns the arguments that the word expands to. Braces are expanded, variables without quotes are split, and an empty
    /// variable is no argument.
    pub(super) fn fields(&self, expansion: &Expansion<'_>) -> Vec<Expanded> {
        let Some(words) = braces(&self.parts) else {
            return vec![Expanded { cut: true, ..Expanded::default() }];
        };
        let mut fields = Vec::new();
        for parts in words.iter().map(AsRef::as_ref) {
            let is_kept = parts.iter().any(|part| !matches!(part, WordPart::Var { quoted: false, .. }));
            for value in expand(parts, expansion, false) {
                if value.text.contains(FIELD_END) {
                    let split = value.text.split(FIELD_END).filter(|text| !text.is_empty());
                    fields.extend(split.map(|text| Expanded { text: text.to_owned(), ..value.clone() }));
                } else if is_kept || !value.text.is_empty() {
                    fields.push(value);
                }
            }
        }
        fields
    }
}

/// Expands the parts of a word. `splits` is `true` inside of a fallback whose text is split where it has no quotes.
fn expand(parts: &[WordPart], expansion: &Expansion<'_>, splits: bool) -> Vec<Expanded> {
    let Expansion { vars, home, names_of } = expansion;
    let mut values = vec![Expanded::literal("")];
    for part in parts {
        match part {
            WordPart::Text(text) => each(&mut values, |value| value.push(text)),
            WordPart::Bare(text) if splits => {
                let text = split(text, vars);
                each(&mut values, |value| value.push(&text));
            }
            WordPart::Bare(text) => {
                let glob = text.contains(['*', '?', '[']);
                each(&mut values, |value| {
                    value.push(text);
                    value.glob |= glob;
                });
            }
            WordPart::Home => each(&mut values, |value| value.push(home.unwrap_or("~"))),
            WordPart::Var { name, fallback, quoted } => match (vars.get(name), fallback) {
                (Some(held), fallback) => {
                    let mut ends = Vec::new();
                    for text in held {
                        match fallback {
                            Some(fallback) if fallback.for_empty && text.is_empty() => {
                                ends.extend(expand(&fallback.word.parts, expansion, !quoted));
                            }
                            _ if *quoted => ends.push(Expanded::literal(text)),
                            _ => ends.push(Expanded::literal(split(text, vars))),
                        }
                    }
                    product(&mut values, &ends);
                }
                (None, _) if name == "HOME" && home.is_some() => {
                    each(&mut values, |value| value.push(home.unwrap_or_default()));
                }
                (None, Some(fallback)) => product(&mut values, &expand(&fallback.word.parts, expansion, !quoted)),
                (None, None) => each(&mut values, |value| value.push_unknown(&format!("${name}"))),
            },
            WordPart::Output(commands) => {
                let from = names_of(commands);
                each(&mut values, |value| {
                    value.push_unknown("$(…)");
                    value.from.extend(from.iter().cloned());
                });
            }
        }
    }
    values
}

/// `NAME=value`, or `NAME[subscript]=value`.
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) subscript: Word,
    pub(super) value: Word,
}

fn each(values: &mut [Expanded], change: impl Fn(&mut Expanded)) {
    values.iter_mut().for_each(change);
}

/// Appends each end to each value.
fn product(values: &mut Vec<Expanded>, ends: &[Expanded]) {
    let append = |value: &mut Expanded, end: &Expanded| {
        value.push(&end.text);
        value.known &= end.known;
        value.glob |= end.glob;
        value.cut |= end.cut;
        value.from.extend(end.from.iter().cloned());
    };
    match ends {
        [] => {}
        [end] => each(values, |value| append(value, end)),
        // Appends without a copy: otherwise a word of many such parts takes quadratic time.
        [first, ..] if values.len() * ends.len() > ALTERNATIVES => each(values, |value| {
            append(value, first);
            value.cut = true;
        }),
        _ => {
            let pairs = values.iter().flat_map(|value| ends.iter().map(move |end| (value, end)));
            *values = pairs
                .map(|(value, end)| {
                    let mut value = value.clone();
                    append(&mut value, end);
                    value
                })
                .collect();
        }
    }
}

/// Replaces the separators in an unquoted text by [`FIELD_END`].
fn split(text: &str, vars: &Vars) -> String {
    let separators = vars.get("IFS").map(Vec::as_slice).unwrap_or_default();
    let separates = |c: char| c.is_ascii_whitespace() || separators.iter().any(|own| own.contains(c));
    text.chars().map(|c| if separates(c) { FIELD_END } else { c }).collect()
}

/// A character that may be part of braces, or another part of the word.
#[derive(Clone, Copy)]
enum Atom<'a> {
    Bare(char),
    Other(&'a WordPart),
}

/// Expands `a{b,c}d` to `abd` and `acd`. Returns `None` if there are too many.
fn braces(parts: &[WordPart]) -> Option<Vec<Cow<'_, [WordPart]>>> {
    let opening = |part: &WordPart| match part {
        WordPart::Bare(text) => text.matches('{').count(),
        _ => 0,
    };
    match parts.iter().map(opening).sum::<usize>() {
        0 => return Some(vec![Cow::Borrowed(parts)]),
        count if count > MOST_BRACES => return None,
        _ => {}
    }
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            WordPart::Bare(text) => atoms.extend(text.chars().map(Atom::Bare)),
            part => atoms.push(Atom::Other(part)),
        }
    }
    let words = alternatives(&atoms)?;
    let word = |atoms: Vec<Atom<'_>>| {
        let mut word = Word::default();
        for atom in atoms {
            match atom {
                Atom::Bare(c) => word.push_bare(c),
                Atom::Other(part) => word.parts.push(part.clone()),
            }
        }
        Cow::Owned(word.parts)
    };
    Some(words.into_iter().map(word).collect())
}

fn alternatives<'a>(atoms: &[Atom<'a>]) -> Option<Vec<Vec<Atom<'a>>>> {
    for (start, atom) in atoms.iter().enumerate() {
        if !matches!(atom, Atom::Bare('{')) {
            continue;
        }
        // Each alternative is between two of these.
        let ends = ends(&atoms[start..]);
        let Some((last, [_, _, ..])) = ends.split_last() else { continue };
        let rests = alternatives(&atoms[start + last + 1..])?;
        let mut words = Vec::new();
        for pair in ends.windows(2) {
            for inner in alternatives(&atoms[start + pair[0] + 1..start + pair[1]])? {
                for rest in &rests {
                    if words.len() == ALTERNATIVES {
                        return None;
                    }
                    words.push([&atoms[..start], &inner, rest].concat());
                }
            }
        }
        return Some(words);
    }
    Some(vec![atoms.to_vec()])
}

/// Returns the positions of an opening brace, its commas and its closing brace. Empty if the brace is not closed.
fn ends(atoms: &[Atom<'_>]) -> Vec<usize> {
    let mut ends = vec![0];
    let mut open = 0_usize;
    for (at, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Bare('{') => open += 1,
            Atom::Bare(',') if open == 1 => ends.push(at),
            Atom::Bare('}') if open == 1 => {
                ends.push(at);
                return ends;
            }
            Atom::Bare('}') => open -= 1,
            _ => {}
        }
    }
    Vec::new()
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Option<Vec<String>> {
        let text_of = |parts: Cow<'_, [WordPart]>| match parts.as_ref() {
            [WordPart::Bare(text)] => text.clone(),
            _ => String::new(),
        };
        Some(braces(&[WordPart::Bare(text.to_owned())])?.into_iter().map(text_of).collect())
    }

    #[test]
    fn braces_expand_in_order() {
        for (text, all) in [
            ("/{etc,usr}/x", &["/etc/x", "/usr/x"][..]),
            ("{}", &["{}"]),
            ("a{b", &["a{b"]),
            ("{a,b}{c,d}", &["ac", "ad", "bc", "bd"]),
            ("{a,b{c,d}}", &["a", "bc", "bd"]),
            ("{{a,b}", &["{a", "{b"]),
            ("{a,b}}", &["a}", "b}"]),
            ("{a,}", &["a", ""]),
        ] {
            assert_eq!(expanded(text).unwrap(), all, "{text}");
        }
        for text in ["{a,b}".repeat(9), "{a,b}".repeat(4000), "{a,".repeat(4000) + &"}".repeat(4000)] {
            assert_eq!(expanded(&text), None);
        }
    }
}
