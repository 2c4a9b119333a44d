//! Parses here-documents. Their text starts behind the line that names them, after all of its quotes are closed.

use super::{Command, List, Parser};
use crate::builtins::shell::ParseError;
use crate::builtins::shell::word::{Word, WordPart};

/// The line that ends a here-document.
#[derive(Debug, Clone)]
pub(super) struct Delimiter {
    text: String,
    /// `true` if variables in the text are not expanded.
    quoted: bool,
    strips_tabs: bool,
}

impl Delimiter {
    pub(super) fn new(word: &Word, strips_tabs: bool) -> Result<Self, ParseError> {
        let mut delimiter = Self { text: String::new(), quoted: false, strips_tabs };
        for part in &word.parts {
            match part {
                WordPart::Bare(text) => delimiter.text.push_str(text),
                WordPart::Text(text) => {
                    delimiter.quoted = true;
                    delimiter.text.push_str(text);
                }
                _ => return Err(ParseError("the end of a here-document is not a plain word")),
            }
        }
        Ok(delimiter)
    }
}

impl Parser {
    /// Moves to the next line, behind the here-documents that start there.
    pub(super) fn newline(&mut self, out: &mut List) -> Result<(), ParseError> {
        self.at += 1;
        if self.pending == 0 {
            return Ok(());
        }
        let out = &mut out.commands;
        let is_waiting = |command: &Command| command.redirects.iter().any(|redirect| redirect.delimiter.is_some());
        let mut found = 0;
        let first = out.iter().rposition(|command| {
            found += command.redirects.iter().filter(|redirect| redirect.delimiter.is_some()).count();
            found == self.pending
        });
        let first = first.ok_or(ParseError("a here-document starts in the middle of a command"))?;
        for command in out[first..].iter_mut().filter(|command| is_waiting(command)) {
            for redirect in &mut command.redirects {
                if let Some(delimiter) = redirect.delimiter.take() {
                    redirect.target = self.here_document(&delimiter)?;
                }
            }
        }
        self.pending = 0;
        Ok(())
    }

    fn here_document(&mut self, delimiter: &Delimiter) -> Result<Word, ParseError> {
        let mut body = String::new();
        // Bash joins lines that a backslash continues before it compares them, and dash does not.
        let mut joined: Option<String> = None;
        loop {
            if self.at >= self.text.len() {
                return Err(ParseError("a here-document has no end"));
            }
            let rest = &self.text[self.at..];
            let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
            let line: String = rest[..length].iter().collect();
            self.at = (self.at + length + 1).min(self.text.len());
            let line = if delimiter.strips_tabs { line.trim_start_matches('\t') } else { &line };
            if joined.is_none() && line == delimiter.text {
                break;
            }
            let backslashes = line.len() - line.trim_end_matches('\\').len();
            let is_continued = !delimiter.quoted && backslashes % 2 == 1;
            let is_joined = joined.is_some();
            let mut whole = joined.take().unwrap_or_default();
            whole.push_str(if is_continued { &line[..line.len() - 1] } else { line });
            // Inside of `$( … )`, bash also ends the text at `END)`.
            let behind = line.strip_prefix(delimiter.text.as_str());
            let is_cut = self.in_substitution && behind.is_some_and(|behind| behind.contains(')'));
            if is_cut || (is_joined && whole == delimiter.text) {
                return Err(ParseError("a here-document may end in two places"));
            }
            if is_continued {
                joined = Some(whole);
            }
            body.push_str(line);
            body.push('\n');
        }
        if delimiter.quoted { Ok(Word { parts: vec![WordPart::Text(body)], span: None }) } else { self.expanded(&body) }
    }
}
