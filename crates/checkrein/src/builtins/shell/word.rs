use std::collections::HashMap;

use super::parse::Command;

/// One word, as it is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
    /// Where it stands in the text, counted in characters. `None`: in a text that is made of another one.
    pub(super) span: Option<Span>,
}

/// From where to where.
pub type Span = (usize, usize);

/// A piece of a word.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Taken as it is: quoted or escaped.
    Text(String),
    /// Not quoted: wildcards and braces count.
    Bare(String),
    /// `~`.
    Home,
    /// `$NAME`, with what stands in if there is none.
    Var { name: String, fallback: Option<String> },
    /// What commands print, or the name of a pipe to them.
    Output(Vec<Command>),
}

/// What a word comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Value {
    /// The text. What is not known is spelt as it was: `$NAME`, `$(…)`.
    pub text: String,
    /// Whether all of it is known.
    pub known: bool,
    /// Whether wildcards in it count.
    pub glob: bool,
    /// The programs whose output is part of it.
    pub from: Vec<String>,
    /// Where the word stands that is this and nothing else, whoever runs the text: in characters, in a list of words its
    /// place in the list.
    pub span: Option<Span>,
}

impl Value {
    pub(super) fn literal(text: impl Into<String>) -> Self {
        Self { text: text.into(), known: true, ..Self::default() }
    }

    fn push(&mut self, text: &str) {
        // A variable that holds itself twice grows fast.
        if self.text.len() + text.len() > LONGEST {
            self.known = false;
        } else {
            self.text.push_str(text);
        }
    }
}

/// The longest text that is put together.
const LONGEST: usize = 1 << 20;

/// The longest text that a variable is known to hold.
pub(super) const LONGEST_VARIABLE: usize = 4 << 10;

/// Variables and what they may hold.
pub(super) type Vars = HashMap<String, Vec<String>>;

/// A word with many alternatives is cut off there: each is judged by itself.
const ALTERNATIVES: usize = 32;

impl Word {
    pub(super) fn push_text(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push(c),
            _ => self.parts.push(Part::Text(c.into())),
        }
    }

    pub(super) fn push_bare(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(Part::Bare(text)) => text.push(c),
            _ => self.parts.push(Part::Bare(c.into())),
        }
    }

    /// The word if it is one piece that is not quoted: what reserved words and operators look like.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Bare(text)] => Some(text),
            _ => None,
        }
    }

    /// The name and the value of `NAME=value`.
    pub(super) fn assignment(&self) -> Option<(String, Self)> {
        let Some(Part::Bare(first)) = self.parts.first() else { return None };
        let (name, start) = first.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        if !is_name(name) {
            return None;
        }
        let mut parts = self.parts.clone();
        parts[0] = Part::Bare(start.to_owned());
        Some((name.to_owned(), Self { parts, span: None }))
    }

    /// What the word may come to. `names_of` tells which programs commands run.
    pub(super) fn values(
        &self,
        vars: &Vars,
        home: Option<&str>,
        names_of: &dyn Fn(&[Command]) -> Vec<String>,
    ) -> Vec<Value> {
        let mut values = vec![Value::literal("")];
        for part in &self.parts {
            match part {
                Part::Text(text) => each(&mut values, |value| value.push(text)),
                Part::Bare(text) => {
                    let glob = text.contains(['*', '?', '[']);
                    values = product(&values, &braces(text), |value| value.glob |= glob);
                }
                Part::Home => match home {
                    Some(home) => each(&mut values, |value| value.push(home)),
                    None => each(&mut values, |value| value.text.push('~')),
                },
                Part::Var { name, fallback } => match (vars.get(name), fallback) {
                    (Some(held), _) => values = product(&values, held, |_| {}),
                    (None, _) if name == "HOME" && home.is_some() => {
                        each(&mut values, |value| value.push(home.unwrap_or_default()));
                    }
                    (None, Some(fallback)) => each(&mut values, |value| value.push(fallback)),
                    (None, None) => each(&mut values, |value| {
                        value.text.push('$');
                        value.text.push_str(name);
                        value.known = false;
                    }),
                },
                Part::Output(commands) => {
                    let from = names_of(commands);
                    each(&mut values, |value| {
                        value.text.push_str("$(…)");
                        value.known = false;
                        value.from.extend(from.iter().cloned());
                    });
                }
            }
        }
        values
    }
}

fn each(values: &mut [Value], change: impl Fn(&mut Value)) {
    values.iter_mut().for_each(change);
}

fn product(values: &[Value], ends: &[String], change: impl Fn(&mut Value)) -> Vec<Value> {
    let pairs = values.iter().flat_map(|value| ends.iter().map(move |end| (value, end)));
    pairs
        .take(ALTERNATIVES)
        .map(|(value, end)| {
            let mut value = value.clone();
            value.push(end);
            change(&mut value);
            value
        })
        .collect()
}

/// `a{b,c}d` as `abd` and `acd`.
fn braces(text: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut waiting = vec![text.to_owned()];
    while let Some(text) = waiting.pop() {
        match first_braces(&text) {
            Some(alternatives) if done.len() + waiting.len() + alternatives.len() <= ALTERNATIVES => {
                waiting.extend(alternatives);
            }
            _ => done.push(text),
        }
    }
    done
}

/// What comes of the first innermost pair of braces with a comma.
fn first_braces(text: &str) -> Option<Vec<String>> {
    let mut open = None;
    let mut commas = false;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, open) {
            (b'{', _) => (open, commas) = (Some(at), false),
            (b',', Some(_)) => commas = true,
            (b'}', Some(start)) if commas => {
                let (before, inside, behind) = (&text[..start], &text[start + 1..at], &text[at + 1..]);
                return Some(inside.split(',').map(|one| format!("{before}{one}{behind}")).collect());
            }
            (b'}', _) => open = None,
            _ => {}
        }
    }
    None
}

pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_come_apart() {
        let mut all = braces("/{etc,usr}/x");
        all.sort();
        assert_eq!(all, ["/etc/x", "/usr/x"]);
        assert_eq!(braces("{}"), ["{}"]);
        assert_eq!(braces("a{b"), ["a{b"]);
        assert!(braces(&"{a,b}".repeat(40)).len() <= ALTERNATIVES);
    }
}
