//! Values and side effects of words.

use std::rc::Rc;
use std::sync::Arc;

use super::input::with_unknown;
use super::{Context, Interpreter, LONGEST_VARIABLE, VARIABLES};
use crate::builtins::shell::ParseError;
use crate::builtins::shell::commands::base_name;
use crate::builtins::shell::expand::{Choices, Expansion, Inside, UNKNOWN, choices, unknown_text};
use crate::builtins::shell::expanded::Expanded;
use crate::builtins::shell::parse::{Command, List};
use crate::builtins::shell::state::Values;
use crate::builtins::shell::word::{Assignment, Index, Operator, Substitution, Word, WordPart, is_name};

/// Programs that print lines of their input.
const PASSES_LINES: &[&str] = &[
    "awk", "bat", "col", "column", "cut", "dd", "egrep", "expand", "fgrep", "fmt", "fold", "gawk", "grep", "gsed",
    "head", "less", "mawk", "more", "nl", "pr", "pv", "rg", "sed", "sort", "sponge", "strings", "tac", "tail", "ts",
    "unexpand", "uniq",
];

/// Variables whose value is a command that other programs run, with more arguments.
const COMMANDS: &[&str] = &[
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "MANPAGER",
    "PAGER",
    "RSYNC_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "VISUAL",
];

/// Variables whose value a shell expands or runs.
const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS4", "BASH_ENV", "ENV"];

impl Interpreter<'_> {
    /// Follows the commands and assignments inside of a word.
    pub(super) fn side_effects(&mut self, word: &Word) -> Result<(), ParseError> {
        self.work.spend(4 * word.parts.len())?;
        for part in &word.parts {
            match part {
                WordPart::Output { list, kind, .. } => {
                    // A substitution runs in a subshell: its variables and its directory do not remain.
                    let state = self.state.clone();
                    let (first, frames) = (self.commands.len(), self.frames.len());
                    self.processes += 1;
                    let outer = self.input.clone();
                    self.has_pipes |= *kind == Substitution::Source;
                    if *kind == Substitution::Sink {
                        self.input.text = Some(unknown_text());
                    }
                    let ran = self.part(list, 0..list.commands.len(), 0..list.marks.len())?;
                    self.input = outer;
                    self.processes -= 1;
                    self.frames.truncate(frames);
                    self.state = state;
                    let names: Vec<_> = self.commands[first..].iter().map(|command| command.name.clone()).collect();
                    self.work.spend(8 * names.len())?;
                    let printed = if *kind == Substitution::Sink { None } else { self.printed(list, 0, &ran)? };
                    self.ran.insert(place(list), Inside { names: names.into(), printed });
                }
                WordPart::Var(var) => {
                    self.calculates |= var.operator == Operator::Substring
                        || var.operator == Operator::Indirect
                        || var.index == Index::Unknown;
                    self.side_effects(&var.word)?;
                    if var.operator == Operator::Assign && is_name(&var.name) {
                        let values = self.values(&var.word)?;
                        let mut values = self.known_values(&values);
                        let before = self.state.get(&var.name).cloned().unwrap_or_else(Values::unknown);
                        values.join(&before, &mut self.work)?;
                        self.set(&var.name, values)?;
                    }
                }
                WordPart::Arithmetic(inner) => {
                    self.side_effects(inner)?;
                    self.arithmetic(inner)?;
                }
                WordPart::Array(items) => {
                    for item in items {
                        self.side_effects(item)?;
                    }
                }
                WordPart::Text(_) | WordPart::Bare(_) | WordPart::Home => {}
            }
        }
        Ok(())
    }

    /// Follows arithmetic. Variables that it may set become unknown.
    fn arithmetic(&mut self, word: &Word) -> Result<(), ParseError> {
        self.calculates = true;
        for part in &word.parts {
            if let WordPart::Text(text) | WordPart::Bare(text) = part {
                self.calculated(text)?;
            }
        }
        Ok(())
    }

    /// Makes the variables unknown that an arithmetic text may set.
    pub(super) fn calculated(&mut self, text: &str) -> Result<(), ParseError> {
        self.calculates = true;
        self.work.spend(text.len())?;
        if !text.contains('=') && !text.contains("++") && !text.contains("--") {
            return Ok(());
        }
        let names = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|name| is_name(name));
        for name in names {
            if self.state.get(name).is_some_and(|values| !values.other) || name == "IFS" {
                self.set(name, Values::unknown())?;
            }
        }
        Ok(())
    }

    /// Returns the combinations of values of the variables in these words.
    pub(super) fn combinations<'w>(
        &mut self,
        words: impl Iterator<Item = &'w Word>,
    ) -> Result<Vec<Choices>, ParseError> {
        let all = choices(words, &self.state, self.env.home);
        self.work.spend(all.iter().map(|choices| 1 + 8 * choices.len()).sum())?;
        Ok(all)
    }

    /// Returns the possible values of a word, as one text each.
    pub(super) fn values(&mut self, word: &Word) -> Result<Vec<Expanded>, ParseError> {
        let mut values = Vec::new();
        for choices in self.combinations(std::iter::once(word))? {
            let value = word.value(&self.expansion(&choices));
            self.charge(word, std::slice::from_ref(&value))?;
            if !values.contains(&value) {
                self.work.spend(values.len())?;
                values.push(value);
            }
        }
        Ok(values)
    }

    /// Returns the arguments that a word expands to. `is_only` is `true` if no other values are possible.
    pub(super) fn fields(
        &mut self,
        word: &Word,
        choices: &Choices,
        is_only: bool,
    ) -> Result<Vec<Expanded>, ParseError> {
        let mut fields = word.fields(&self.expansion(choices));
        self.charge(word, &fields)?;
        if let [value] = fields.as_mut_slice() {
            let is_fixed = |part: &WordPart| match part {
                WordPart::Text(_) | WordPart::Bare(_) => true,
                WordPart::Home => self.env.home.is_some() && self.state.get("HOME").is_none(),
                WordPart::Var(var) => var.operator == Operator::None && self.inherited.contains(&var.name),
                _ => false,
            };
            // A word of a nested script has no position in the text.
            let is_written = self.scripts == 1 && is_only;
            if is_written && value.known && !value.glob && word.parts.iter().all(is_fixed) {
                value.span = word.span;
            }
        }
        Ok(fields)
    }

    fn expansion<'e>(&'e self, choices: &'e Choices) -> Expansion<'e> {
        Expansion { state: &self.state, choices, ran: &self.ran }
    }

    fn charge(&mut self, word: &Word, values: &[Expanded]) -> Result<(), ParseError> {
        let size = |value: &Expanded| 16 + value.text.len() + 8 * (value.from.len() + value.unknown.len());
        self.work.spend(4 * word.parts.len() + values.iter().map(size).sum::<usize>())?;
        if values.iter().any(|value| value.cut) {
            return Err(ParseError("its words expand to too much"));
        }
        Ok(())
    }

    /// Assigns a value. `exported` is `true` in front of a program.
    pub(super) fn assign(&mut self, assignment: &Assignment, exported: bool) -> Result<(), ParseError> {
        let name = assignment.name.as_str();
        let mut values = if assignment.subscript.is_some() {
            Values::unknown()
        } else if let Some(items) = assignment.value.parts.iter().find_map(|part| match part {
            WordPart::Array(items) => Some(items),
            _ => None,
        }) {
            self.array(items)?
        } else {
            let values = self.values(&assignment.value)?;
            self.known_values(&values)
        };
        if assignment.appends {
            values = self.appended(name, &values)?;
        }
        values.exported = exported;
        self.set(name, values)
    }

    /// Returns the values of `export NAME=value` and similar words. Some shells split them, others do not.
    pub(super) fn declared(
        &mut self,
        command: &Command,
        words: &[Expanded],
        choices: &Choices,
    ) -> Result<Vec<(String, Values)>, ParseError> {
        let is_declaration =
            |word: &Expanded| matches!(word.text.as_str(), "export" | "readonly" | "local" | "declare" | "typeset");
        let mut values = Vec::new();
        if !words.iter().take(3).any(is_declaration) {
            return Ok(values);
        }
        for word in &command.words {
            let Some(assignment) = word.assignment().filter(|assignment| assignment.subscript.is_none()) else {
                continue;
            };
            let split = self.fields(word, choices, false)?;
            if split.len() != 1 || split[0].may_split {
                let value = assignment.value.value(&self.expansion(choices));
                self.charge(word, std::slice::from_ref(&value))?;
                values.push((assignment.name, self.known_values(&[value])));
            }
        }
        Ok(values)
    }

    fn array(&mut self, items: &[Word]) -> Result<Values, ParseError> {
        let has_subscript =
            |item: &Word| matches!(item.parts.first(), Some(WordPart::Bare(text)) if text.starts_with('['));
        let mut values = Values { other: items.iter().any(has_subscript), ..Values::default() };
        for choices in self.combinations(items.iter())? {
            let mut elements = Vec::new();
            for item in items {
                elements.extend(self.fields(item, &choices, false)?);
            }
            if elements.iter().all(is_certain) {
                values.known.push(elements.into_iter().map(|value| value.text).collect());
            } else {
                values.other = true;
            }
        }
        Ok(values)
    }

    /// Returns the values of `NAME+=value`.
    fn appended(&mut self, name: &str, ends: &Values) -> Result<Values, ParseError> {
        let Some(starts) = self.state.get(name).filter(|starts| !starts.fixed) else { return Ok(Values::unknown()) };
        let mut values = Values { other: starts.other || ends.other, ..Values::default() };
        for start in &starts.known {
            for end in &ends.known {
                let length = start.iter().chain(end.iter()).map(String::len).sum::<usize>();
                self.work.spend(16 + length)?;
                // `a+=(x)` and `a+=x` differ for arrays.
                match (&**start, &**end) {
                    ([start], [end]) if start.len() + end.len() <= LONGEST_VARIABLE => {
                        values.known.push([format!("{start}{end}")].into());
                        values.known.push([start.clone(), end.clone()].into());
                    }
                    _ => values.other = true,
                }
            }
        }
        if values.known.len() > super::super::state::VALUES {
            values = Values::unknown();
        }
        Ok(values)
    }

    /// Returns the values that are known, and whether there are others.
    pub(super) fn known_values(&self, values: &[Expanded]) -> Values {
        let mut known = Values::default();
        for value in values {
            if value.known && !value.may_split && value.text.len() <= LONGEST_VARIABLE {
                let text: Rc<[String]> = [value.text.clone()].into();
                if value.glob {
                    known.other = true;
                }
                if !known.known.contains(&text) {
                    known.known.push(text);
                }
            } else {
                known.other = true;
            }
        }
        if known.known.len() > super::super::state::VALUES {
            known = Values::unknown();
        }
        known
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, values: Values) -> Result<(), ParseError> {
        self.assigned.insert(name.to_owned());
        if self.assigned.len() > VARIABLES {
            return Err(ParseError("it sets too many variables"));
        }
        self.holds_code |= values.known.iter().flat_map(|value| value.iter()).any(|text| is_code(text));
        let mut ever = values.clone();
        ever.other |= self.ever.get(name).is_none();
        if let Some(before) = self.ever.get(name) {
            ever.join(before, &mut self.work)?;
        }
        self.ever.set(name, ever, &mut self.work)?;
        if PROMPTS.contains(&name) {
            self.prompt(&values)?;
        } else if name == "PROMPT_COMMAND" {
            for text in values.known.iter().flat_map(|value| value.iter()) {
                self.traps.push(text.clone());
            }
        }
        if COMMANDS.contains(&name) {
            let known = values.known.iter().filter_map(|value| value.first()).filter(|text| !text.trim().is_empty());
            self.helpers.extend(known.cloned());
        }
        if values.other && matches!(name, "PS4" | "PROMPT_COMMAND" | "BASH_ENV") {
            self.push_unknown(&format!("${name}"), &[], &Context::default())?;
        }
        self.state.set(name, values, &mut self.work)
    }

    /// Follows the substitutions in a prompt, which a shell expands when it prints the prompt.
    fn prompt(&mut self, values: &Values) -> Result<(), ParseError> {
        for text in values.known.iter().flat_map(|value| value.iter()) {
            if text.contains(['$', '`']) {
                // A here-document expands as a prompt does.
                self.traps.push(format!(": <<\u{1}\n{text}\n\u{1}\n"));
            }
        }
        Ok(())
    }

    /// Returns the output of a program. `None` if it is the content of files.
    pub(super) fn output(&mut self, words: &[Expanded], context: &Context) -> Result<Option<Arc<str>>, ParseError> {
        let Some((first, args)) = words.split_first() else { return Ok(Some("".into())) };
        let name = first.text.as_str();
        if !first.known || self.functions.contains_key(name) || self.aliases.contains_key(name) {
            return Ok(Some(unknown_text()));
        }
        let text = match base_name(name) {
            "tee" => return Ok(context.input.text.clone()),
            "cat" => return self.contents(args, context),
            name if PASSES_LINES.contains(&name) => {
                // Which of the lines are printed, and with which changes, is unknown.
                let input = self.contents(args, context)?;
                let text = with_unknown(input.as_deref().unwrap_or_default());
                self.work.spend(text.len())?;
                return Ok(Some(text));
            }
            "yes" => with_unknown(&joined(args)).as_ref().to_owned(),
            "echo" => {
                let is_option = |arg: &&Expanded| {
                    arg.text.strip_prefix('-').is_some_and(|letters| {
                        !letters.is_empty() && letters.chars().all(|letter| matches!(letter, 'n' | 'e' | 'E'))
                    })
                };
                let operands = &args[args.iter().take_while(is_option).count()..];
                joined(operands) + "\n"
            }
            "printf" => {
                let args = args.split_first().filter(|(first, _)| first.text == "--").map_or(args, |(_, rest)| rest);
                let Some((format, values)) = args.split_first() else { return Ok(Some("".into())) };
                let values = joined(values);
                let format = as_script(format);
                // Other formats than these are not followed exactly.
                let is_plain = matches!(format.as_str(), "%s" | "%s\\n" | "%s\n" | "%b");
                match (is_plain, format.contains('%'), unescaped(&format)) {
                    (true, ..) => values,
                    (false, false, Some(text)) if !args.iter().any(|arg| arg.glob) => {
                        self.work.spend(text.len())?;
                        return Ok(Some(text.into()));
                    }
                    (false, false, _) => format,
                    (false, true, _) => format!("{} {values}{UNKNOWN}", format.replace("%s", " ")),
                }
            }
            _ => return Ok(Some(unknown_text())),
        };
        self.work.spend(text.len())?;
        let is_glob = args.iter().any(|arg| arg.glob);
        // Shells differ on backslashes.
        let text = if text.contains('\\') {
            format!("{}{UNKNOWN}", text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\"))
        } else if is_glob {
            format!("{text}{UNKNOWN}")
        } else {
            text
        };
        Ok(Some(text.into()))
    }

    /// Returns the text of the files that a program reads, or of its standard input. `None` if all are files of the disk.
    fn contents(&mut self, args: &[Expanded], context: &Context) -> Result<Option<Arc<str>>, ParseError> {
        let mut operands = args.iter().filter(|arg| !arg.text.starts_with('-') || arg.text == "-").peekable();
        if operands.peek().is_none() {
            return Ok(context.input.text.clone());
        }
        let mut text = None;
        for operand in operands {
            if let Some(content) = self.content(operand, &context.input)? {
                self.work.spend(content.len())?;
                text.get_or_insert_with(String::new).push_str(&content);
            }
        }
        Ok(text.map(Arc::from))
    }
}

/// Returns the text that `printf` prints for a format without values. `None`: it has other escapes than those that all shells
/// have.
fn unescaped(format: &str) -> Option<String> {
    let mut text = String::with_capacity(format.len());
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        text.push(match characters.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '\\' => '\\',
            _ => return None,
        });
    }
    Some(text)
}

/// `true` if the value is exactly one known text.
pub(super) fn is_certain(value: &Expanded) -> bool {
    value.known && !value.glob && !value.may_split && !value.cut
}

/// `true` if arithmetic would run a command in this value.
pub(super) fn is_code(text: &str) -> bool {
    text.find('[').is_some_and(|at| text[at..].contains("$(") || text[at..].contains('`'))
}

/// Returns the text of a value for a script, with [`UNKNOWN`] in place of unknown parts.
pub(super) fn as_script(value: &Expanded) -> String {
    if value.known {
        return value.text.clone();
    }
    let mut text = String::new();
    let mut end = 0;
    for range in &value.unknown {
        text.push_str(value.text.get(end..range.start).unwrap_or_default());
        text.push(UNKNOWN);
        end = range.end;
    }
    text.push_str(value.text.get(end..).unwrap_or_default());
    if value.unknown.is_empty() {
        text.push(UNKNOWN);
    }
    text
}

/// Returns a script in a form for callers.
pub(super) fn as_shown(text: &str) -> String {
    text.replace(UNKNOWN, "$(…)")
}

/// Returns the words with blanks between them, for a script.
pub(super) fn joined(args: &[Expanded]) -> String {
    args.iter().map(as_script).collect::<Vec<_>>().join(" ")
}

/// Identifies a list of commands inside of a word by its address, during the lifetime of its tree.
fn place(list: &Rc<List>) -> usize {
    Rc::as_ptr(list).addr()
}
