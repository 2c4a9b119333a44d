//! The grammar. Compound commands are not kept as such: what matters is which simple commands there are, which feeds
//! which, and which is part of which function.

mod dollar;
mod redirects;
mod words;

use std::ops::Range;

use super::Unreadable;
use super::word::Word;

/// One simple command.
#[derive(Debug, Clone, Default)]
pub(super) struct Command {
    pub(super) assignments: Vec<(String, Word)>,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    /// The commands of the same list whose output it reads.
    pub(super) fed_by: Range<usize>,
    pub(super) background: bool,
    /// The function that it is part of.
    pub(super) function: Option<String>,
}

impl Command {
    fn push(&mut self, word: Word) {
        match word.assignment().filter(|_| self.words.is_empty()) {
            Some(assignment) => self.assignments.push(assignment),
            None => self.words.push(word),
        }
    }

    fn is_for(&self) -> bool {
        matches!(self.words.as_slice(), [word] if word.bare() == Some("for"))
    }
}

#[derive(Debug, Clone)]
pub(super) struct Redirect {
    pub(super) kind: RedirectKind,
    pub(super) target: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirectKind {
    Read,
    Write,
    /// The target is the text itself.
    Here,
}

/// How deep groups and substitutions may nest.
const DEPTH: usize = 32;

/// Words after which a command starts.
const RESERVED: &[&str] =
    &["if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "time", "esac", "coproc"];

/// Reads a text as a shell would.
pub(super) fn parse(text: &str) -> Result<Vec<Command>, Unreadable> {
    let mut parser = Parser::new(text, 0);
    let mut commands = Vec::new();
    parser.list(&mut commands, End::Text, &(0..0), None)?;
    Ok(commands)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Text,
    Paren,
    Brace,
}

struct Parser {
    text: Vec<char>,
    at: usize,
    depth: usize,
    /// Whether the text is made of a part of another one.
    made: bool,
    /// Where the text of the next here-document starts, and where the line ends that belongs to it.
    here: Option<(usize, usize)>,
}

impl Parser {
    fn new(text: &str, depth: usize) -> Self {
        Self { text: text.chars().collect(), at: 0, depth, made: depth > 0, here: None }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn looking_at(&self, what: &str) -> bool {
        what.chars().enumerate().all(|(n, c)| self.text.get(self.at + n) == Some(&c))
    }

    fn take(&mut self, what: &str) -> bool {
        let here = self.looking_at(what);
        if here {
            self.at += what.chars().count();
        }
        here
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Unreadable>) -> Result<T, Unreadable> {
        if self.depth >= DEPTH {
            return Err(Unreadable("it is nested too deeply"));
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// Skips what separates words, but not the ends of lines.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r') => self.at += 1,
                Some('\\') if self.text.get(self.at + 1) == Some(&'\n') => self.at += 2,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn newline(&mut self) {
        self.at += 1;
        if let Some((behind, line_end)) = self.here
            && self.at > line_end
        {
            self.at = behind;
            self.here = None;
        }
    }

    /// Reads commands up to the end.
    fn list(
        &mut self,
        out: &mut Vec<Command>,
        end: End,
        feed: &Range<usize>,
        function: Option<&str>,
    ) -> Result<(), Unreadable> {
        let mut cases = 0_usize;
        let mut pipeline = out.len();
        let mut fed_by = feed.clone();
        loop {
            self.blanks();
            let Some(c) = self.peek() else {
                return if end == End::Text { Ok(()) } else { Err(Unreadable("a bracket is not closed")) };
            };
            match c {
                '\n' | ';' => {
                    if c == '\n' {
                        self.newline();
                    } else {
                        self.at += 1;
                    }
                    (pipeline, fed_by) = (out.len(), feed.clone());
                }
                '|' if !self.looking_at("||") => {
                    self.at += 1;
                    let _ = self.take("&");
                    fed_by = pipeline..out.len();
                }
                '&' if !self.looking_at("&>") => {
                    if !self.take("&&") {
                        self.at += 1;
                        out[pipeline..].iter_mut().for_each(|command| command.background = true);
                    }
                    (pipeline, fed_by) = (out.len(), feed.clone());
                }
                '|' => {
                    self.at += 2;
                    (pipeline, fed_by) = (out.len(), feed.clone());
                }
                ')' if cases > 0 => {
                    self.at += 1;
                    (pipeline, fed_by) = (out.len(), feed.clone());
                }
                ')' if end == End::Paren => {
                    self.at += 1;
                    return Ok(());
                }
                ')' => return Err(Unreadable("a bracket is closed that was not opened")),
                '(' => {
                    if self.looking_at("((") && self.arithmetic(out)? {
                        continue;
                    }
                    self.at += 1;
                    self.deeper(|parser| parser.list(out, End::Paren, &fed_by, function))?;
                    self.redirects_behind(out, &fed_by)?;
                }
                _ => {
                    if let Some(redirect) = self.redirect()? {
                        let mut command = self.simple(None, &fed_by, function)?;
                        command.redirects.extend(redirect);
                        out.push(command);
                        continue;
                    }
                    let word = self.word()?;
                    match word.bare() {
                        Some("{") => {
                            self.deeper(|parser| parser.list(out, End::Brace, &fed_by, function))?;
                            self.redirects_behind(out, &fed_by)?;
                        }
                        Some("}") if end == End::Brace => return Ok(()),
                        Some("function") => {
                            self.blanks();
                            let name = self.word()?;
                            self.blanks();
                            if self.take("(") {
                                self.blanks();
                                let _ = self.take(")");
                            }
                            self.body(out, name.bare().unwrap_or_default())?;
                        }
                        Some("[[") => self.test()?,
                        Some(reserved) if RESERVED.contains(&reserved) => {
                            cases = cases.saturating_sub(usize::from(reserved == "esac"));
                            if reserved == "time" {
                                self.blanks();
                                let _ = self.take("-p ");
                            }
                        }
                        bare => {
                            cases += usize::from(bare == Some("case"));
                            let name = bare.map(str::to_owned);
                            self.blanks();
                            if let Some(name) = name.filter(|_| self.is_function()) {
                                self.body(out, &name)?;
                                continue;
                            }
                            let command = self.simple(Some(word), &fed_by, function)?;
                            out.push(command);
                        }
                    }
                }
            }
        }
    }

    /// Takes the `()` of a function, if it stands here.
    fn is_function(&mut self) -> bool {
        let from = self.at;
        if self.take("(") {
            self.blanks();
            if self.take(")") {
                return true;
            }
        }
        self.at = from;
        false
    }

    fn body(&mut self, out: &mut Vec<Command>, name: &str) -> Result<(), Unreadable> {
        loop {
            self.blanks();
            match self.peek() {
                Some('\n') => self.newline(),
                Some('{') => {
                    self.at += 1;
                    return self.deeper(|parser| parser.list(out, End::Brace, &(0..0), Some(name)));
                }
                Some('(') => {
                    self.at += 1;
                    return self.deeper(|parser| parser.list(out, End::Paren, &(0..0), Some(name)));
                }
                _ => return Err(Unreadable("a function has no body")),
            }
        }
    }

    /// Redirections behind a group count as a command of no words.
    fn redirects_behind(&mut self, out: &mut Vec<Command>, fed_by: &Range<usize>) -> Result<(), Unreadable> {
        let mut command = Command { fed_by: fed_by.clone(), ..Command::default() };
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => command.redirects.extend(redirect),
                None => break,
            }
        }
        if !command.redirects.is_empty() {
            out.push(command);
        }
        Ok(())
    }

    /// `(( … ))`, if it is that. What it runs counts.
    fn arithmetic(&mut self, out: &mut Vec<Command>) -> Result<bool, Unreadable> {
        let Some(end) = self.arithmetic_end(self.at + 2) else { return Ok(false) };
        let inside: String = self.text[self.at + 2..end].iter().collect();
        let word = self.expanded(&inside)?;
        self.at = end + 2;
        out.push(Command { assignments: vec![(String::new(), word)], ..Command::default() });
        Ok(true)
    }

    /// Where the `))` is that closes what starts here.
    fn arithmetic_end(&self, from: usize) -> Option<usize> {
        let mut open = 0_usize;
        for at in from..self.text.len() {
            match self.text[at] {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' => return (self.text.get(at + 1) == Some(&')')).then_some(at),
                _ => {}
            }
        }
        None
    }

    /// `[[ … ]]`: operators mean other things in there.
    fn test(&mut self) -> Result<(), Unreadable> {
        loop {
            self.blanks();
            match self.peek() {
                None => return Err(Unreadable("`[[` is not closed")),
                Some('\n') => self.newline(),
                Some('&' | '|' | '<' | '>' | '(' | ')' | ';') => self.at += 1,
                Some(_) => {
                    if self.word()?.bare() == Some("]]") {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// A simple command whose first word has been read.
    fn simple(
        &mut self,
        mut first: Option<Word>,
        fed_by: &Range<usize>,
        function: Option<&str>,
    ) -> Result<Command, Unreadable> {
        let mut command =
            Command { fed_by: fed_by.clone(), function: function.map(str::to_owned), ..Command::default() };
        loop {
            if let Some(word) = first.take() {
                command.push(word);
                continue;
            }
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                command.redirects.extend(redirect);
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => return Ok(command),
                Some('(') => match self.arithmetic_end(self.at + 2) {
                    Some(end) if self.looking_at("((") && command.is_for() => self.at = end + 2,
                    _ => return Err(Unreadable("a bracket stands where none can")),
                },
                Some(_) => {
                    let word = self.word()?;
                    command.push(word);
                }
            }
        }
    }
}
