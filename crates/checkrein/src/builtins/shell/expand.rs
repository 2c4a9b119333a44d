//! Expansion of words to values.
//!
//! A variable may have several values. [`choices`] lists the combinations that are possible for some words, and each
//! combination expands the words once.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::braces::braces;
use super::expanded::Expanded;
use super::state::State;
use super::word::{Index, Operator, Substitution, Var, Word, WordPart};

/// Maximum number of combinations. With more, variables are unknown.
const COMBINATIONS: usize = 256;

/// Stands for unknown text in a script that is built from other values.
pub(super) const UNKNOWN: char = '\u{10FFFD}';

/// Returns a text of which nothing is known.
pub(super) fn unknown_text() -> Arc<str> {
    UNKNOWN.to_string().into()
}

/// `true` if nothing of a text is known.
pub(super) fn is_unknown(text: &str) -> bool {
    text.contains(UNKNOWN) && text.chars().all(|c| c == UNKNOWN || c.is_whitespace())
}

/// One of the possible values of a variable.
#[derive(Debug, Clone)]
pub(super) enum Choice {
    Value(Rc<[String]>),
    /// A value that only the running shell knows.
    Other,
    /// No value: the fallback applies.
    Unset,
}

/// Values of variables, by name.
pub(super) type Choices = HashMap<String, Choice>;

/// The surroundings in which a word is expanded.
pub(super) struct Expansion<'a> {
    pub(super) state: &'a State,
    pub(super) choices: &'a Choices,
    /// Results of command lists inside of words, by the address of the list.
    pub(super) ran: &'a HashMap<usize, Inside>,
}

/// Result of a command list inside of a word.
#[derive(Debug, Clone)]
pub(super) struct Inside {
    /// Programs that it runs.
    pub(super) names: Rc<[String]>,
    /// Its output. `None` if it is the content of files.
    pub(super) printed: Option<Arc<str>>,
}

/// Returns the combinations of values that the variables in these words may have. There is at least one.
pub(super) fn choices<'a>(words: impl Iterator<Item = &'a Word>, state: &State, home: Option<&str>) -> Vec<Choices> {
    let mut names = Vec::new();
    words.for_each(|word| variables(&word.parts, &mut names));
    let mut all = vec![Choices::new()];
    for (name, has_fallback) in names {
        let possible = possible(&name, has_fallback, state, home);
        let possible = if all.len() * possible.len() > COMBINATIONS { vec![Choice::Other] } else { possible };
        if let [choice] = possible.as_slice() {
            all.iter_mut().for_each(|choices| drop(choices.insert(name.clone(), choice.clone())));
            continue;
        }
        let pairs = all.iter().flat_map(|choices| possible.iter().map(move |choice| (choices, choice)));
        all = pairs
            .map(|(choices, choice)| {
                let mut choices = choices.clone();
                choices.insert(name.clone(), choice.clone());
                choices
            })
            .collect();
    }
    all
}

fn possible(name: &str, has_fallback: bool, state: &State, home: Option<&str>) -> Vec<Choice> {
    let mut possible: Vec<_> = match state.get(name) {
        Some(values) => {
            let mut known: Vec<_> = values.known.iter().cloned().map(Choice::Value).collect();
            known.extend(values.other.then_some(Choice::Other));
            known
        }
        None if name == "HOME" && home.is_some() => {
            vec![Choice::Value([home.unwrap_or_default().to_owned()].into())]
        }
        None if name == "PWD" => {
            let known = state.cwds.iter().map(|cwd| Choice::Value([cwd.to_string_lossy().into_owned()].into()));
            known.chain((!state.cwd_known).then_some(Choice::Other)).collect()
        }
        None => vec![Choice::Other],
    };
    if has_fallback && possible.iter().any(|choice| matches!(choice, Choice::Other)) {
        possible.push(Choice::Unset);
    }
    possible
}

/// Collects the names of variables, and whether one of their uses has a fallback.
fn variables(parts: &[WordPart], names: &mut Vec<(String, bool)>) {
    let mut add = |name: &str, has_fallback: bool| match names.iter_mut().find(|(other, _)| other == name) {
        Some((_, any)) => *any |= has_fallback,
        None => names.push((name.to_owned(), has_fallback)),
    };
    for part in parts {
        match part {
            WordPart::Var(var) => {
                let has_fallback = matches!(var.operator, Operator::Default | Operator::Assign | Operator::Alternative);
                if has_fallback || matches!(var.operator, Operator::None | Operator::Required) {
                    add(&var.name, has_fallback);
                }
            }
            WordPart::Home => add("HOME", false),
            _ => {}
        }
    }
    for part in parts {
        match part {
            WordPart::Var(var) => variables(&var.word.parts, names),
            WordPart::Array(items) => items.iter().for_each(|item| variables(&item.parts, names)),
            _ => {}
        }
    }
}

impl Word {
    /// Returns the value of the word as one text: in assignments, redirections and here-documents.
    pub(super) fn value(&self, expansion: &Expansion<'_>) -> Expanded {
        let mut builder = Builder::new(expansion, false);
        builder.parts(&self.parts, false);
        builder.end_field();
        builder.fields.pop().unwrap_or_else(|| Expanded::literal(""))
    }

    /// Returns the arguments that the word expands to. Braces are expanded, variables without quotes are split, and an empty
    /// variable is no argument.
    pub(super) fn fields(&self, expansion: &Expansion<'_>) -> Vec<Expanded> {
        let Some(words) = braces(&self.parts) else {
            return vec![Expanded { cut: true, ..Expanded::default() }];
        };
        let mut builder = Builder::new(expansion, true);
        let expands = words.len() > 1 || words.first().is_some_and(|word| word.len() != self.parts.len());
        if expands && is_read_again(&self.parts) {
            return vec![Expanded { may_split: true, ..Expanded::unknown_text("${…}") }];
        }
        for parts in &words {
            builder.vanishes = false;
            builder.parts(parts, false);
            builder.end_word(parts);
        }
        builder.fields
    }
}

/// `true` if the words that braces expand to mean something else than their parts: `$a{b,c}`, `{$,}a`, `{~,a}`.
fn is_read_again(parts: &[WordPart]) -> bool {
    let mut behind_variable = false;
    parts.iter().any(|part| {
        let again = match part {
            WordPart::Bare(text) => text.contains(['$', '~']) || behind_variable && text.starts_with('{'),
            _ => false,
        };
        behind_variable = matches!(part, WordPart::Var(var) if var.is_bare);
        again
    })
}

/// Separators of words in values without quotes.
enum Separators {
    Characters(String),
    Unknown,
}

struct Builder<'a> {
    expansion: &'a Expansion<'a>,
    /// `false` if the result is one text.
    splits: bool,
    separators: Separators,
    fields: Vec<Expanded>,
    current: Option<Expanded>,
    /// `true` if `"$@"` had no values.
    vanishes: bool,
}

/// The value of a variable.
enum Found<'a> {
    Unknown,
    Unset,
    One(&'a str),
    Many(&'a [String]),
    Args(&'a [Expanded]),
}

impl<'a> Builder<'a> {
    fn new(expansion: &'a Expansion<'a>, splits: bool) -> Self {
        let separators = match expansion.state.get("IFS") {
            None => Separators::Characters(" \t\n".to_owned()),
            Some(values) => match (values.known.as_slice(), values.other) {
                ([value], false) => Separators::Characters(value.first().cloned().unwrap_or_default()),
                _ => Separators::Unknown,
            },
        };
        Self { expansion, splits, separators, fields: Vec::new(), current: None, vanishes: false }
    }

    fn field(&mut self) -> &mut Expanded {
        self.current.get_or_insert_with(|| Expanded::literal(""))
    }

    fn end_field(&mut self) {
        let Some(mut field) = self.current.take() else { return };
        if field.glob && field.known && !field.text.contains(['*', '?']) {
            // A bracket alone, as in `[ -f x ]`, is no wildcard.
            let open = field.text.find('[').unwrap_or(field.text.len());
            field.glob = field.text[open..].contains(']');
        }
        self.fields.push(field);
    }

    fn end_word(&mut self, parts: &[WordPart]) {
        let is_quoted = |part: &WordPart| match part {
            WordPart::Text(text) => text.is_empty(),
            WordPart::Var(var) => var.quoted,
            _ => false,
        };
        let is_empty = self.current.as_ref().is_some_and(|value| value.text.is_empty() && value.known);
        if self.vanishes && is_empty && parts.iter().all(is_quoted) {
            self.current = None;
        }
        self.end_field();
    }

    fn push(&mut self, text: &str) {
        let field = self.field();
        let mut pieces = text.split(UNKNOWN);
        field.push(pieces.next().unwrap_or_default());
        for piece in pieces {
            field.push_unknown("${…}");
            field.push(piece);
        }
    }

    fn push_bare(&mut self, text: &str) {
        let may_split = self.splits && text.contains(UNKNOWN);
        self.push(text);
        let field = self.field();
        field.glob |= text.contains(['*', '?', '[']);
        field.may_split |= may_split;
    }

    fn push_unknown(&mut self, text: &str, may_split: bool) {
        let may_split = may_split && self.splits;
        let field = self.field();
        field.push_unknown(text);
        field.may_split |= may_split;
    }

    /// Adds a value without quotes.
    fn push_split(&mut self, text: &str) {
        if !self.splits {
            return self.push(text);
        }
        let separators = match &self.separators {
            Separators::Characters(separators) => separators.clone(),
            Separators::Unknown => return self.push_unknown("${…}", true),
        };
        // Blanks around another separator belong to it.
        let mut is_blank_before = false;
        let mut rest = text;
        while let Some(at) = rest.find(|c| separators.contains(c)) {
            let (piece, behind) = rest.split_at(at);
            if !piece.is_empty() {
                self.push_bare(piece);
                is_blank_before = false;
            }
            let separator = behind.chars().next().unwrap_or_default();
            rest = &behind[separator.len_utf8()..];
            if " \t\n".contains(separator) {
                is_blank_before |= self.current.is_some();
            } else if self.current.is_none() && !is_blank_before {
                self.push("");
            }
            if !" \t\n".contains(separator) {
                is_blank_before = false;
            }
            self.end_field();
        }
        if !rest.is_empty() {
            self.push_bare(rest);
        }
    }

    /// Adds the parts of a word. `in_fallback` is `true` in a word whose text is split where it has no quotes.
    fn parts(&mut self, parts: &[WordPart], in_fallback: bool) {
        for part in parts {
            match part {
                WordPart::Text(text) => self.push(text),
                WordPart::Bare(text) if in_fallback => self.push_split(text),
                WordPart::Bare(text) => self.push_bare(text),
                WordPart::Home => match self.expansion.choices.get("HOME") {
                    Some(Choice::Value(value)) => {
                        let value = value.first().cloned().unwrap_or_default();
                        self.push(&value);
                    }
                    _ => self.push_unknown("~", false),
                },
                WordPart::Var(var) => self.var(var),
                WordPart::Output { list, kind, quoted } => {
                    self.push_unknown("$(…)", !quoted);
                    let inside = self.expansion.ran.get(&Rc::as_ptr(list).addr());
                    let field = self.field();
                    field.from.extend(inside.into_iter().flat_map(|inside| inside.names.iter().cloned()));
                    if *kind == Substitution::Text && is_only_output(parts) {
                        field.printed = inside.and_then(|inside| inside.printed.clone());
                    }
                    if *kind == Substitution::Source {
                        field.content = match inside {
                            Some(inside) if parts.len() == 1 => inside.printed.clone(),
                            _ => Some(unknown_text()),
                        };
                    }
                }
                WordPart::Arithmetic(_) => {
                    let may_split = !matches!(&self.separators, Separators::Characters(own) if own.trim().is_empty());
                    self.push_unknown("$((…))", may_split);
                }
                WordPart::Array(items) => {
                    for item in items {
                        let value = item.value(self.expansion);
                        let field = self.field();
                        field.append(&value);
                        field.push(" ");
                    }
                }
            }
        }
    }

    fn find(&self, var: &Var) -> Found<'a> {
        let args = self.expansion.state.args.as_deref();
        match (var.name.as_str(), args) {
            ("@" | "*", Some(args)) => return Found::Args(args),
            ("@" | "*" | "0", _) => return Found::Unknown,
            (name, args) if name.starts_with(|c: char| c.is_ascii_digit()) => {
                let Some(args) = args else { return Found::Unknown };
                return match name.parse::<usize>().map(|number| number.checked_sub(1)) {
                    Ok(Some(index)) => {
                        args.get(index).map_or(Found::Unset, |arg| Found::Args(std::slice::from_ref(arg)))
                    }
                    Ok(None) => Found::Unknown,
                    Err(_) => Found::Unset,
                };
            }
            _ => {}
        }
        match self.expansion.choices.get(&var.name) {
            Some(Choice::Value(value)) => match var.index {
                Index::None => Found::One(value.first().map_or("", String::as_str)),
                Index::All | Index::Joined => Found::Many(value),
                Index::Number(number) => value.get(number).map_or(Found::Unset, |text| Found::One(text)),
                Index::Unknown => Found::Unknown,
            },
            Some(Choice::Unset) => Found::Unset,
            Some(Choice::Other) | None => Found::Unknown,
        }
    }

    fn var(&mut self, var: &Var) {
        let quoted = var.quoted || !self.splits;
        let is_all = var.index == Index::All || var.name == "@";
        let found = match var.operator {
            Operator::Substring | Operator::Indirect | Operator::Other => Found::Unknown,
            _ => self.find(var),
        };
        let is_empty = match &found {
            Found::One(text) => text.is_empty(),
            Found::Many(texts) => texts.iter().all(String::is_empty),
            Found::Args(args) => args.iter().all(|arg| arg.text.is_empty()),
            Found::Unknown | Found::Unset => false,
        };
        let is_missing = matches!(found, Found::Unset) || var.for_empty && is_empty;
        let is_word = match var.operator {
            Operator::Default | Operator::Assign => is_missing,
            Operator::Alternative if is_missing => return,
            Operator::Alternative => {
                // Whether positional parameters are set may be unknown.
                let is_set = !matches!(found, Found::Unknown) || self.expansion.choices.contains_key(&var.name);
                if !is_set || var.index != Index::None || is_all {
                    return self.push_unknown(&shown(var), !quoted || is_all);
                }
                true
            }
            _ => false,
        };
        if is_word {
            return self.parts(&var.word.parts, !quoted);
        }
        match found {
            Found::Unset => {}
            Found::Unknown => self.push_unknown(&shown(var), !quoted || is_all),
            Found::One(text) if quoted => self.push(text),
            Found::One(text) => self.push_split(text),
            Found::Many(texts) => {
                let texts: Vec<_> = texts.iter().map(Expanded::literal).collect();
                self.list(&texts, quoted, is_all);
            }
            Found::Args(args) => self.list(args, quoted, is_all),
        }
    }

    /// Adds the elements of an array or the arguments.
    fn list(&mut self, items: &[Expanded], quoted: bool, is_all: bool) {
        let is_usual = matches!(&self.separators, Separators::Characters(own) if own.starts_with(' '));
        if quoted && (!is_all || !self.splits) && items.len() > 1 && !is_usual {
            return self.push_unknown("${…}", false);
        }
        self.vanishes |= items.is_empty();
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                if quoted && (!is_all || !self.splits) { self.push(" ") } else { self.end_field() }
            }
            if quoted {
                let item = Expanded { span: None, glob: false, ..item.clone() };
                self.field().append(&item);
            } else if item.unknown.is_empty() && item.known {
                self.push_split(&item.text);
            } else {
                self.push_unknown("${…}", true);
            }
        }
    }
}

/// `true` if a word is one substitution, with or without quotes.
fn is_only_output(parts: &[WordPart]) -> bool {
    let is_empty = |part: &&WordPart| matches!(part, WordPart::Text(text) if text.is_empty());
    parts.iter().filter(|part| !is_empty(part)).count() == 1
}

/// Returns the text that stands for an unknown variable.
fn shown(var: &Var) -> String {
    if !var.text.is_empty() && var.text != var.name {
        format!("${{{}}}", var.text)
    } else if var.operator == Operator::Other {
        var.text.clone()
    } else {
        format!("${}", var.name)
    }
}
