//! Parser for the grammar of bash. The result is a flat list of simple commands with marks: where a subshell, a branch, a loop
//! or a function starts and ends. Each command has the commands that feed it and the function that contains it.
//!
//! The parser may accept a text that bash rejects, if it finds every command in it. It rejects a text whose commands it
//! cannot find for certain; callers treat that text as unknown. This includes some texts that bash and dash parse
//! differently. If only dash finds a command (`((reboot))`, `[[ a || reboot ]]`, `$'\'; reboot #'`), the parser follows
//! bash.

mod conditions;
mod dollar;
mod here;
mod list;
mod redirects;
mod words;

use std::ops::Range;
use std::rc::Rc;

use super::ParseError;
use super::word::{Assignment, Word, WordPart};
use here::Delimiter;
use list::Lines;
pub(super) use list::{Block, List, Mark};

/// One simple command.
#[derive(Debug, Clone, Default)]
pub(super) struct Command {
    pub(super) assignments: Vec<Assignment>,
    /// Words that are expanded but not run: conditions, patterns, subscripts, arithmetic.
    pub(super) evaluated: Vec<Word>,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    /// Commands of the same list whose output is the standard input.
    pub(super) fed_by: Range<usize>,
    pub(super) background: bool,
    /// `true` if the standard input is a text or a pipe that is redirected to a group around the command.
    pub(super) in_redirected: bool,
    /// `true` if the next command runs only if this one succeeds.
    pub(super) and_then: bool,
    /// The function that contains the command.
    pub(super) function: Option<Rc<str>>,
}

impl Command {
    fn push(&mut self, word: Word) -> Result<(), ParseError> {
        if !self.words.is_empty() {
            self.words.push(word);
            return Ok(());
        }
        if word.has_open_subscript() {
            return Err(ParseError("the subscript of an array has blanks or operators"));
        }
        match word.assignment() {
            Some(assignment) => self.assignments.push(assignment),
            None => self.words.push(word),
        }
        Ok(())
    }
}

#[derive(Debug, Clone)]
pub(super) struct Redirect {
    pub(super) kind: RedirectKind,
    pub(super) target: Word,
    /// `true` if it replaces the standard input.
    pub(super) is_stdin: bool,
    /// Set until the text of a here-document has been parsed.
    delimiter: Option<Delimiter>,
}

impl Redirect {
    /// `true` if the standard input is no file of the disk: a text, a pipe, or a descriptor.
    pub(super) fn is_text(&self) -> bool {
        let is_file = |word: &Word| word.parts.iter().all(|part| !matches!(part, WordPart::Output { .. }));
        let names_device = |word: &Word| {
            word.bare().is_some_and(|text| text.contains("/fd/") || text.contains("/dev/") && text != "/dev/null")
        };
        match self.kind {
            RedirectKind::Here | RedirectKind::Copy => self.is_stdin,
            RedirectKind::Read => self.is_stdin && (!is_file(&self.target) || names_device(&self.target)),
            RedirectKind::Write | RedirectKind::Append => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirectKind {
    Read,
    Write,
    Append,
    /// The target is the text itself.
    Here,
    /// The target is another descriptor, which becomes the standard input.
    Copy,
}

/// Maximum nesting of groups and substitutions. Each level takes stack.
const DEPTH: usize = 32;

/// Maximum length of a text, in bytes.
const LONGEST: usize = 1 << 20;

/// Maximum number of commands in one pipeline: each keeps the names of all before it.
const LONGEST_PIPELINE: usize = 256;

/// Parses a text as bash does.
pub(super) fn parse(text: &str) -> Result<Rc<List>, ParseError> {
    if text.len() > LONGEST {
        return Err(ParseError("it is too long"));
    }
    // Values of words use this character as a separator.
    if text.contains('\0') {
        return Err(ParseError("it contains a null character"));
    }
    Parser::new(text, 0, false).whole().map(Rc::new)
}

/// The end of a list of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Text,
    /// `)`.
    Paren,
    /// `}`.
    Brace,
    /// `;;` or `esac`.
    Case,
    /// `fi`.
    If,
    /// `done`.
    Loop,
}

/// Input and function of a list of commands.
#[derive(Debug, Clone, Default)]
struct Context {
    /// Commands whose output is the standard input.
    feed: Range<usize>,
    /// The function that contains the list.
    function: Option<Rc<str>>,
}

impl Context {
    fn command(&self) -> Command {
        Command { fed_by: self.feed.clone(), function: self.function.clone(), ..Command::default() }
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
    depth: usize,
    /// `true` if the text is built from a part of another one.
    made: bool,
    /// Number of here-documents whose text starts behind this line.
    pending: usize,
    /// `true` between `$(` and `)`.
    in_substitution: bool,
    /// `true` between `NAME=(` and `)`.
    in_array: bool,
}

impl Parser {
    fn new(text: &str, depth: usize, made: bool) -> Self {
        let text = text.chars().collect();
        Self { text, at: 0, depth, made, pending: 0, in_substitution: false, in_array: false }
    }

    /// Parses the whole text as commands.
    fn whole(mut self) -> Result<List, ParseError> {
        let mut list = List::default();
        self.list(&mut list, End::Text, &Context::default())?;
        Ok(list)
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn peek_behind(&self, characters: usize) -> Option<char> {
        self.text.get(self.at + characters).copied()
    }

    fn looking_at(&self, token: &str) -> bool {
        token.chars().enumerate().all(|(n, c)| self.text.get(self.at + n) == Some(&c))
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.looking_at(token);
        if found {
            self.at += token.chars().count();
        }
        found
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<T, ParseError> {
        if self.depth >= DEPTH {
            return Err(ParseError("it is nested too deeply"));
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    /// `true` at a carriage return that ends a line. Elsewhere it is an ordinary character.
    fn at_line_end(&self) -> bool {
        self.peek() == Some('\r') && matches!(self.peek_behind(1), None | Some('\n'))
    }

    /// Skips separators of words, but not the ends of lines.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\r') if self.at_line_end() => self.at += 1,
                Some('\\') if self.peek_behind(1) == Some('\n') => self.at += 2,
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips blanks and ends of lines.
    fn lines(&mut self, out: &mut List) -> Result<(), ParseError> {
        loop {
            self.blanks();
            match self.peek() {
                Some('\n') => self.newline(out)?,
                _ => return Ok(()),
            }
        }
    }

    /// Skips blanks and ends of lines where here-documents cannot start.
    fn lines_inside(&mut self) -> Result<(), ParseError> {
        if self.pending == 0 {
            return self.lines(&mut List::default());
        }
        self.blanks();
        match self.peek() {
            Some('\n') => Err(ParseError("a here-document starts in the middle of a command")),
            _ => Ok(()),
        }
    }

    /// Parses commands up to the end. Returns `true` if another pattern of a `case` follows.
    fn list(&mut self, out: &mut List, end: End, context: &Context) -> Result<bool, ParseError> {
        let mut lines = Lines::new(out);
        let mut inner = context.clone();
        loop {
            self.blanks();
            let Some(c) = self.peek() else {
                if end != End::Text {
                    return Err(ParseError("a group, a loop or a condition is not closed"));
                }
                if self.pending > 0 {
                    return Err(ParseError("a here-document has no end"));
                }
                lines.end(out);
                return Ok(false);
            };
            match c {
                '\n' => {
                    self.newline(out)?;
                    lines.end(out);
                    inner.feed = context.feed.clone();
                }
                ';' if self.looking_at(";;") || self.looking_at(";&") => {
                    if end != End::Case {
                        return Err(ParseError("`;;` is outside of `case`"));
                    }
                    self.at += if self.looking_at(";;&") { 3 } else { 2 };
                    lines.end(out);
                    return Ok(true);
                }
                '|' if !self.looking_at("||") => {
                    self.at += 1;
                    let _ = self.take("&");
                    if out.commands.len() - lines.pipeline.0 > LONGEST_PIPELINE {
                        return Err(ParseError("a pipeline is too long"));
                    }
                    inner.feed = lines.pipeline.0..out.commands.len();
                    lines.pipe(out);
                    self.lines(out)?;
                }
                ';' | '&' | '|' if !self.looking_at("&>") => {
                    if c == ';' {
                        self.at += 1;
                        lines.end(out);
                    } else if self.looking_at("&&") || c == '|' {
                        self.at += 2;
                        lines.condition(out, c == '&');
                        self.lines(out)?;
                    } else {
                        self.at += 1;
                        out.commands[lines.pipeline.0..].iter_mut().for_each(|command| command.background = true);
                        lines.background(out);
                    }
                    inner.feed = context.feed.clone();
                }
                ')' if end == End::Paren => {
                    self.at += 1;
                    lines.end(out);
                    return Ok(false);
                }
                ')' => return Err(ParseError("a closing bracket has no opening bracket")),
                '(' => self.parens(out, &inner)?,
                _ => {
                    if self.command(out, end, &inner, &mut lines)? {
                        lines.end(out);
                        lines.close(out);
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Parses one command that does not start with a bracket. Returns `true` at the end of the list.
    fn command(&mut self, out: &mut List, end: End, context: &Context, lines: &mut Lines) -> Result<bool, ParseError> {
        let mut command = context.command();
        if self.redirect(&mut command)? {
            self.simple(out, command)?;
            return Ok(false);
        }
        if self.looking_at("!(") {
            // Without extended wildcards, which are off by default, this is the negation of a group.
            self.at += 1;
            lines.negated = true;
            return Ok(false);
        }
        let word = self.word()?;
        let Some(keyword) = word.bare() else {
            command.push(word)?;
            self.simple(out, command)?;
            return Ok(false);
        };
        match keyword {
            "}" if end == End::Brace => return Ok(true),
            "fi" if end == End::If => return Ok(true),
            "done" if end == End::Loop => return Ok(true),
            "esac" if end == End::Case => return Ok(true),
            "!" => lines.negated = true,
            "then" if end == End::If => lines.then(out),
            "elif" if end == End::If => lines.otherwise(out, false)?,
            "else" if end == End::If => lines.otherwise(out, true)?,
            "do" if end == End::Loop => lines.end(out),
            "}" | "fi" | "done" | "esac" | "then" | "elif" | "else" | "do" => {
                return Err(ParseError("a reserved word is in the wrong place"));
            }
            "time" => {
                self.blanks();
                for option in ["-p", "--"] {
                    let is_whole = !self.peek_behind(2).is_some_and(|c| !matches!(c, ' ' | '\t'));
                    if self.looking_at(option) && is_whole {
                        self.at += 2;
                        self.blanks();
                    }
                }
                // With other options, `time` is the program of this name.
                if self.peek() == Some('-') {
                    command.push(word)?;
                    self.simple(out, command)?;
                }
            }
            "coproc" => self.coprocess(out, context)?,
            "function" => {
                self.blanks();
                let name = self.word()?.bare().unwrap_or_default().to_owned();
                self.blanks();
                let _ = self.empty_parens();
                self.function(out, name)?;
            }
            keyword => {
                if !self.compound(keyword, out, context)? {
                    let name = keyword.to_owned();
                    self.blanks();
                    if self.empty_parens() {
                        self.function(out, name)?;
                    } else {
                        command.push(word)?;
                        self.simple(out, command)?;
                    }
                }
            }
        }
        Ok(false)
    }

    /// Parses the rest of a compound command behind its first word. Returns `false` if it is no compound command.
    fn compound(&mut self, keyword: &str, out: &mut List, context: &Context) -> Result<bool, ParseError> {
        let start = out.commands.len();
        match keyword {
            "{" => self.group(out, End::Brace, context)?,
            "if" => self.group(out, End::If, context)?,
            "while" | "until" => {
                out.enter(Block::Loop);
                self.group(out, End::Loop, context)?;
                out.leave();
            }
            "for" | "select" => self.for_loop(keyword, out, context)?,
            "case" => self.deeper(|parser| parser.case(out, context))?,
            "[[" => {
                let evaluated = self.conditions()?;
                out.push(Command { evaluated, ..context.command() });
            }
            _ => return Ok(false),
        }
        self.redirects_behind(out, context, start)?;
        Ok(true)
    }

    fn group(&mut self, out: &mut List, end: End, context: &Context) -> Result<(), ParseError> {
        self.deeper(|parser| parser.list(out, end, context)).map(|_| ())
    }

    /// Parses `( … )` or `(( … ))`.
    fn parens(&mut self, out: &mut List, context: &Context) -> Result<(), ParseError> {
        let start = out.commands.len();
        if !self.arithmetic(out, context)? {
            self.at += 1;
            out.enter(Block::Subshell);
            self.group(out, End::Paren, context)?;
            out.leave();
        }
        self.redirects_behind(out, context, start)
    }

    /// Parses `(( … ))`. Returns `false` if it is no arithmetic.
    fn arithmetic(&mut self, out: &mut List, context: &Context) -> Result<bool, ParseError> {
        let Some(inside) = self.arithmetic_text()? else { return Ok(false) };
        let mut word = Word::default();
        word.parts.push(WordPart::Arithmetic(self.expanded(&inside)?));
        out.push(Command { evaluated: vec![word], ..context.command() });
        Ok(true)
    }

    /// Parses the head of a loop and its body.
    fn for_loop(&mut self, keyword: &str, out: &mut List, context: &Context) -> Result<(), ParseError> {
        self.blanks();
        if !self.arithmetic(out, context)? {
            let mut command = context.command();
            let mut head = Word::default();
            keyword.chars().for_each(|c| head.push_bare(c));
            command.words = vec![head, self.word()?];
            self.lines(out)?;
            let before = self.at;
            let word = if self.is_word_start() { self.word()? } else { Word::default() };
            if word.bare() == Some("in") {
                command.words.push(word);
                self.blanks();
                while self.is_word_start() {
                    command.words.push(self.word()?);
                    self.blanks();
                }
                if !matches!(self.peek(), Some(';' | '\n')) {
                    return Err(ParseError("the list of a loop has no end"));
                }
            } else {
                self.at = before;
            }
            out.push(command);
        }
        self.blanks();
        let _ = self.take(";");
        self.lines(out)?;
        let word = if self.is_word_start() { self.word()? } else { Word::default() };
        out.enter(Block::Loop);
        match word.bare() {
            Some("do") => self.group(out, End::Loop, context)?,
            Some("{") => self.group(out, End::Brace, context)?,
            _ => return Err(ParseError("a loop has no body")),
        }
        out.leave();
        Ok(())
    }

    fn case(&mut self, out: &mut List, context: &Context) -> Result<(), ParseError> {
        const MALFORMED: ParseError = ParseError("`case` has no patterns");
        self.blanks();
        if !self.is_word_start() {
            return Err(MALFORMED);
        }
        let subject = self.word()?;
        out.push(Command { evaluated: vec![subject], ..context.command() });
        self.lines(out)?;
        if !self.is_word_start() || self.word()?.bare() != Some("in") {
            return Err(MALFORMED);
        }
        loop {
            self.lines(out)?;
            let is_open = self.take("(");
            self.blanks();
            let mut evaluated = Vec::new();
            loop {
                if !self.is_word_start() {
                    return Err(MALFORMED);
                }
                let pattern = self.word()?;
                if pattern.bare() == Some("esac") && !is_open && evaluated.is_empty() {
                    return Ok(());
                }
                evaluated.push(pattern);
                self.blanks();
                if self.take(")") {
                    break;
                }
                if !self.take("|") {
                    return Err(MALFORMED);
                }
                self.blanks();
            }
            out.push(Command { evaluated, ..context.command() });
            // Another pattern may match, and `;&` goes on with the next commands.
            out.enter(Block::Branch);
            let goes_on = self.list(out, End::Case, context)?;
            out.leave();
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// Parses the text behind `coproc`: a command, or a name and a compound command.
    fn coprocess(&mut self, out: &mut List, context: &Context) -> Result<(), ParseError> {
        let start = out.commands.len();
        out.enter(Block::Subshell);
        self.coprocess_inside(out, context)?;
        out.leave();
        // Its standard input is a pipe.
        out.commands[start..].iter_mut().for_each(|command| command.in_redirected = true);
        Ok(())
    }

    fn coprocess_inside(&mut self, out: &mut List, context: &Context) -> Result<(), ParseError> {
        self.blanks();
        if self.peek() == Some('(') {
            return self.parens(out, context);
        }
        let mut command = context.command();
        if !self.redirect(&mut command)? && self.is_word_start() {
            let first = self.word()?;
            if let Some(keyword) = first.bare()
                && self.compound(keyword, out, context)?
            {
                return Ok(());
            }
            command.push(first)?;
            self.blanks();
            if self.peek() == Some('(') {
                return self.parens(out, context);
            }
            if self.is_word_start() {
                let second = self.word()?;
                if let Some(keyword) = second.bare()
                    && self.compound(keyword, out, context)?
                {
                    return Ok(());
                }
                command.push(second)?;
            }
        }
        self.simple(out, command)
    }

    /// Takes the `()` of a function.
    fn empty_parens(&mut self) -> bool {
        let start = self.at;
        if self.take("(") {
            self.blanks();
            if self.take(")") {
                return true;
            }
        }
        self.at = start;
        false
    }

    /// Parses the body of a function.
    fn function(&mut self, out: &mut List, name: String) -> Result<(), ParseError> {
        const NO_BODY: ParseError = ParseError("a function has no body");
        let name: Rc<str> = name.into();
        let context = Context { feed: 0..0, function: Some(name.clone()) };
        self.lines(out)?;
        out.enter(Block::Function(name));
        if self.peek() == Some('(') {
            self.parens(out, &context)?;
        } else {
            if !self.is_word_start() {
                return Err(NO_BODY);
            }
            let word = self.word()?;
            let keyword = word.bare().ok_or(NO_BODY)?;
            if !self.compound(keyword, out, &context)? {
                return Err(NO_BODY);
            }
        }
        out.leave();
        Ok(())
    }

    /// Adds the redirections behind a compound command as a command without words. The compound command starts at `start`.
    fn redirects_behind(&mut self, out: &mut List, context: &Context, start: usize) -> Result<(), ParseError> {
        let mut command = context.command();
        loop {
            self.blanks();
            if !self.redirect(&mut command)? {
                break;
            }
        }
        if command.redirects.iter().any(Redirect::is_text) {
            out.commands[start..].iter_mut().for_each(|command| command.in_redirected = true);
        }
        if !command.redirects.is_empty() {
            out.push(command);
        }
        Ok(())
    }

    /// Parses the rest of a simple command.
    fn simple(&mut self, out: &mut List, mut command: Command) -> Result<(), ParseError> {
        // To other shells than bash, `a &>x b` is two commands.
        let mut second = None;
        loop {
            self.blanks();
            if self.looking_at("&>") {
                second = Some(command.words.len());
            }
            if self.redirect(&mut command)? {
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => {
                    let second = second.map(|at| command.words[at..].to_vec()).unwrap_or_default();
                    let (fed_by, function) = (command.fed_by.clone(), command.function.clone());
                    out.push(command);
                    if !second.is_empty() {
                        out.push(Command { words: second, fed_by, function, ..Command::default() });
                    }
                    return Ok(());
                }
                Some('(') => return Err(ParseError("a bracket is in the wrong place")),
                Some(_) => {
                    let word = self.word()?;
                    command.push(word)?;
                }
            }
        }
    }
}
