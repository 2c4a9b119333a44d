//! Words and quotes.

use super::{Command, End, Parser};
use crate::builtins::shell::Unreadable;
use crate::builtins::shell::word::{Part, Word};

impl Parser {
    /// A text in which only `$`, backquotes and backslashes count.
    pub(super) fn expanded(&mut self, text: &str) -> Result<Word, Unreadable> {
        self.deeper(|outer| {
            let mut parser = Self::new(text, outer.depth);
            let mut word = Word::default();
            while let Some(c) = parser.peek() {
                parser.in_double_quotes(c, &mut word)?;
            }
            Ok(word)
        })
    }

    /// One word. There is one here.
    pub(super) fn word(&mut self) -> Result<Word, Unreadable> {
        let mut word = Word::default();
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | ')' => break,
                '<' | '>' if self.text.get(self.at + 1) == Some(&'(') => {
                    self.at += 2;
                    let commands = self.commands_in_parens()?;
                    word.parts.push(Part::Output(commands));
                }
                '<' | '>' => break,
                '(' => match self.text.get(self.at.wrapping_sub(1)).filter(|_| self.at > start) {
                    // An array.
                    Some('=') => self.array(&mut word)?,
                    // One of bash's longer wildcards.
                    Some('@' | '!' | '?' | '*' | '+') => {
                        while let Some(c) = self.peek() {
                            self.at += 1;
                            word.push_bare(if c == '(' || c == ')' || c == '|' { '*' } else { c });
                            if c == ')' {
                                break;
                            }
                        }
                    }
                    _ => break,
                },
                '\'' => {
                    self.at += 1;
                    word.parts.push(Part::Text(self.up_to_quote('\'')?));
                }
                '"' => {
                    self.at += 1;
                    word.parts.push(Part::Text(String::new()));
                    loop {
                        match self.peek() {
                            None => return Err(Unreadable("a double quote is not closed")),
                            Some('"') => break self.at += 1,
                            Some(c) => self.in_double_quotes(c, &mut word)?,
                        }
                    }
                }
                '\\' => {
                    self.at += 1;
                    match self.peek() {
                        Some('\n') => {}
                        Some(c) => word.push_text(c),
                        None => word.push_text('\\'),
                    }
                    self.at += 1;
                }
                '`' => self.backquotes(&mut word)?,
                '$' => self.dollar(&mut word, false)?,
                '~' if self.at == start => {
                    self.at += 1;
                    let from = self.at;
                    while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+')) {
                        self.at += 1;
                    }
                    let user: String = self.text[from..self.at].iter().collect();
                    word.parts.push(match user.as_str() {
                        "" => Part::Home,
                        "+" => Part::Var { name: "PWD".to_owned(), fallback: None },
                        "-" => Part::Var { name: "OLDPWD".to_owned(), fallback: None },
                        "root" => Part::Text("/root".to_owned()),
                        user => Part::Text(format!("/home/{user}")),
                    });
                }
                c => {
                    self.at += 1;
                    word.push_bare(c);
                }
            }
        }
        word.span = (!self.made).then_some((start, self.at));
        Ok(word)
    }

    fn array(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        self.at += 1;
        loop {
            self.blanks();
            match self.peek() {
                None => return Err(Unreadable("a list is not closed")),
                Some(')') => break self.at += 1,
                Some('\n') => self.newline(),
                Some(';' | '&' | '|' | '<' | '>' | '(') => return Err(Unreadable("an operator stands in a list")),
                Some(_) => {
                    let item = self.word()?;
                    word.parts.extend(item.parts);
                    word.push_text(' ');
                }
            }
        }
        Ok(())
    }

    pub(super) fn up_to_quote(&mut self, quote: char) -> Result<String, Unreadable> {
        let from = self.at;
        while let Some(c) = self.peek() {
            self.at += 1;
            if c == quote {
                return Ok(self.text[from..self.at - 1].iter().collect());
            }
        }
        Err(Unreadable("a quote is not closed"))
    }

    pub(super) fn in_double_quotes(&mut self, c: char, word: &mut Word) -> Result<(), Unreadable> {
        match c {
            '\\' => {
                self.at += 1;
                match self.peek() {
                    Some(c @ ('$' | '`' | '"' | '\\')) => word.push_text(c),
                    Some('\n') => {}
                    Some(c) => {
                        word.push_text('\\');
                        word.push_text(c);
                    }
                    None => word.push_text('\\'),
                }
                self.at += 1;
            }
            '`' => self.backquotes(word)?,
            '$' => self.dollar(word, true)?,
            c => {
                self.at += 1;
                word.push_text(c);
            }
        }
        Ok(())
    }

    fn backquotes(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        self.at += 1;
        let mut inside = String::new();
        loop {
            match self.peek() {
                None => return Err(Unreadable("a backquote is not closed")),
                Some('`') => break self.at += 1,
                Some('\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(c @ ('$' | '`' | '\\')) => inside.push(c),
                        Some(c) => inside.extend(['\\', c]),
                        None => {}
                    }
                    self.at += 1;
                }
                Some(c) => {
                    inside.push(c);
                    self.at += 1;
                }
            }
        }
        let commands = self.deeper(|outer| {
            let mut commands = Vec::new();
            Self::new(&inside, outer.depth).list(&mut commands, End::Text, &(0..0), None)?;
            Ok(commands)
        })?;
        word.parts.push(Part::Output(commands));
        Ok(())
    }

    pub(super) fn commands_in_parens(&mut self) -> Result<Vec<Command>, Unreadable> {
        self.deeper(|parser| {
            let mut commands = Vec::new();
            parser.list(&mut commands, End::Paren, &(0..0), None)?;
            Ok(commands)
        })
    }
}
