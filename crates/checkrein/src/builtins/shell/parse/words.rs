//! Parses words and quotes.

use std::rc::Rc;

use super::{Context, End, List, Parser};
use crate::builtins::shell::ParseError;
use crate::builtins::shell::word::{Substitution, Word, WordPart};

/// The quotes around a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Double,
    /// A here-document or arithmetic: as inside of double quotes, but double quotes have no meaning.
    Here,
}

impl Parser {
    /// Parses a text in which only `$`, backquotes and backslashes have a meaning.
    pub(super) fn expanded(&mut self, text: &str) -> Result<Word, ParseError> {
        self.deeper(|outer| {
            let mut parser = Self::new(text, outer.depth, true);
            let mut word = Word::default();
            while let Some(c) = parser.peek() {
                parser.quoted(c, Quotes::Here, &mut word)?;
            }
            Ok(word)
        })
    }

    /// `true` if a word starts here.
    pub(super) fn is_word_start(&self) -> bool {
        match self.peek() {
            None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')') => false,
            Some('<' | '>') => self.peek_behind(1) == Some('('),
            Some('\r') => !self.at_line_end(),
            Some(_) => true,
        }
    }

    /// Parses one word. The caller checks that a word starts here.
    pub(super) fn word(&mut self) -> Result<Word, ParseError> {
        let mut word = Word::default();
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' => break,
                '\r' if self.at_line_end() => break,
                '<' | '>' if self.peek_behind(1) == Some('(') => {
                    let kind = if c == '<' { Substitution::Source } else { Substitution::Sink };
                    self.at += 2;
                    let list = self.substitution()?;
                    word.parts.push(WordPart::Output { list, kind, quoted: true });
                }
                '<' | '>' => break,
                '(' if word.ends_bare(&['=']) => self.array(&mut word)?,
                '(' if word.ends_bare(&['@', '!', '?', '*', '+']) => self.extended_wildcard(&mut word)?,
                '(' => break,
                '~' if word.takes_tilde() => self.tilde(&mut word),
                _ => self.piece(&mut word)?,
            }
        }
        if self.at == start {
            return Err(ParseError("a word is missing"));
        }
        word.span = (!self.made).then_some((start, self.at));
        Ok(word)
    }

    /// Parses one character outside of quotes, or a whole quotation or expansion.
    pub(super) fn piece(&mut self, word: &mut Word) -> Result<(), ParseError> {
        match self.peek() {
            None => {}
            Some('\'') => {
                self.at += 1;
                let text = self.up_to_quote()?;
                word.parts.push(WordPart::Text(text));
            }
            Some('"') => {
                self.at += 1;
                self.double_quotes(word)?;
            }
            Some('\\') => {
                match self.peek_behind(1) {
                    Some('\n') => {}
                    Some(c) => word.push_text(c),
                    None => word.push_text('\\'),
                }
                // The backslash may be the last character.
                self.at = (self.at + 2).min(self.text.len());
            }
            Some('`') => self.backquotes(Quotes::None, word)?,
            Some('$') => self.dollar(Quotes::None, word)?,
            Some(c) => {
                self.at += 1;
                word.push_bare(c);
            }
        }
        Ok(())
    }

    /// Parses `~`, `~/` or `~USER` at the start of a word.
    fn tilde(&mut self, word: &mut Word) {
        self.at += 1;
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+')) {
            self.at += 1;
        }
        if !matches!(self.peek(), Some('/' | ':')) && self.is_word_start() {
            self.at = start;
            word.push_bare('~');
            return;
        }
        let user: String = self.text[start..self.at].iter().collect();
        word.parts.push(match user.as_str() {
            "" => WordPart::Home,
            "+" => WordPart::var("PWD", true),
            "-" => WordPart::var("OLDPWD", true),
            "root" => WordPart::Text("/root".to_owned()),
            user => WordPart::Text(format!("/home/{user}")),
        });
    }

    fn array(&mut self, word: &mut Word) -> Result<(), ParseError> {
        if self.in_array {
            return Err(ParseError("an array contains an array"));
        }
        self.at += 1;
        self.in_array = true;
        let mut items = Vec::new();
        loop {
            self.lines_inside()?;
            if self.take(")") {
                break;
            }
            if !self.is_word_start() {
                return Err(ParseError("an array is not closed"));
            }
            items.push(self.word()?);
        }
        word.parts.push(WordPart::Array(items));
        self.in_array = false;
        Ok(())
    }

    /// Parses `@(a|b)` and the other extended wildcards.
    fn extended_wildcard(&mut self, word: &mut Word) -> Result<(), ParseError> {
        if self.in_array {
            // Without `extglob` bash rejects the array, but it runs the lines behind it.
            return Err(ParseError("an array contains an extended wildcard"));
        }
        // The operator stands for any text, like the rest.
        if let Some(WordPart::Bare(text)) = word.parts.last_mut() {
            text.pop();
            text.push('*');
        }
        let mut open = 0_usize;
        loop {
            match self.peek() {
                None | Some('\n') => return Err(ParseError("a bracket is not closed")),
                Some('(') => open += 1,
                Some(')') => open -= 1,
                Some('|') => {}
                Some(_) => {
                    self.piece(word)?;
                    continue;
                }
            }
            self.at += 1;
            word.push_bare('*');
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// Parses up to a single quote.
    pub(super) fn up_to_quote(&mut self) -> Result<String, ParseError> {
        let start = self.at;
        while let Some(c) = self.peek() {
            self.at += 1;
            if c == '\'' {
                return Ok(self.text[start..self.at - 1].iter().collect());
            }
        }
        Err(ParseError("a quote is not closed"))
    }

    /// Parses up to a double quote.
    pub(super) fn double_quotes(&mut self, word: &mut Word) -> Result<(), ParseError> {
        word.parts.push(WordPart::Text(String::new()));
        loop {
            match self.peek() {
                None => return Err(ParseError("a double quote is not closed")),
                Some('"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(c) => self.quoted(c, Quotes::Double, word)?,
            }
        }
    }

    /// Parses one character or a whole expansion where blanks and operators have no meaning.
    pub(super) fn quoted(&mut self, c: char, quotes: Quotes, word: &mut Word) -> Result<(), ParseError> {
        match c {
            '\\' => {
                match self.peek_behind(1) {
                    Some(c @ ('$' | '`' | '\\')) => word.push_text(c),
                    Some('"') if quotes == Quotes::Double => word.push_text('"'),
                    Some('\n') => {}
                    Some(c) => {
                        word.push_text('\\');
                        word.push_text(c);
                    }
                    None => word.push_text('\\'),
                }
                // The backslash may be the last character.
                self.at = (self.at + 2).min(self.text.len());
            }
            '`' => self.backquotes(quotes, word)?,
            '$' => self.dollar(quotes, word)?,
            c => {
                self.at += 1;
                word.push_text(c);
            }
        }
        Ok(())
    }

    pub(super) fn backquotes(&mut self, quotes: Quotes, word: &mut Word) -> Result<(), ParseError> {
        self.at += 1;
        let mut inside = String::new();
        loop {
            match self.peek() {
                None => return Err(ParseError("a backquote is not closed")),
                Some('`') => {
                    self.at += 1;
                    break;
                }
                Some('\\') => {
                    match self.peek_behind(1) {
                        Some(c @ ('$' | '`' | '\\')) => inside.push(c),
                        Some('"') if quotes == Quotes::Double => inside.push('"'),
                        // Bash keeps the backslash, dash does not.
                        Some('"') if quotes == Quotes::Here => {
                            return Err(ParseError("shells differ on a quote between backquotes"));
                        }
                        Some(c) => inside.extend(['\\', c]),
                        None => {}
                    }
                    self.at = (self.at + 2).min(self.text.len());
                }
                Some(c) => {
                    inside.push(c);
                    self.at += 1;
                }
            }
        }
        let list = self.deeper(|outer| Self::new(&inside, outer.depth, true).whole())?;
        let quoted = quotes != Quotes::None;
        word.parts.push(WordPart::Output { list: Rc::new(list), kind: Substitution::Text, quoted });
        Ok(())
    }

    /// Parses commands up to `)`.
    pub(super) fn substitution(&mut self) -> Result<Rc<List>, ParseError> {
        let outer = (self.pending, self.in_substitution, self.in_array);
        (self.pending, self.in_substitution, self.in_array) = (0, true, false);
        let mut list = List::default();
        self.deeper(|parser| parser.list(&mut list, End::Paren, &Context::default()))?;
        if self.pending > 0 {
            return Err(ParseError("a here-document has no end"));
        }
        (self.pending, self.in_substitution, self.in_array) = outer;
        Ok(Rc::new(list))
    }
}
