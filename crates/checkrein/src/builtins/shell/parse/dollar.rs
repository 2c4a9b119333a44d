//! What starts with `$`: variables, substitutions, arithmetic, C's quotes.

use super::Parser;
use crate::builtins::shell::Unreadable;
use crate::builtins::shell::word::{Part, Word, is_name};

impl Parser {
    /// What starts with `$`.
    pub(super) fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Unreadable> {
        self.at += 1;
        match self.peek() {
            Some('(') => {
                if self.looking_at("((")
                    && let Some(end) = self.arithmetic_end(self.at + 2)
                {
                    let inside: String = self.text[self.at + 2..end].iter().collect();
                    let inner = self.expanded(&inside)?;
                    self.at = end + 2;
                    word.parts.extend(inner.parts.into_iter().filter(|part| matches!(part, Part::Output(_))));
                    word.parts.push(Part::Var { name: "((…))".to_owned(), fallback: None });
                    return Ok(());
                }
                self.at += 1;
                let commands = self.commands_in_parens()?;
                word.parts.push(Part::Output(commands));
            }
            Some('{') => {
                self.at += 1;
                self.braced(word)?;
            }
            Some('\'') if !quoted => {
                self.at += 1;
                let text = self.ansi_c()?;
                word.parts.push(Part::Text(text));
            }
            // Translated text: the quotes mean what they mean without the `$`.
            Some('"') if !quoted => {}
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let from = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.at += 1;
                }
                let name = self.text[from..self.at].iter().collect();
                word.parts.push(Part::Var { name, fallback: None });
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 1;
                word.parts.push(Part::Var { name: c.into(), fallback: None });
            }
            _ => word.push_text('$'),
        }
        Ok(())
    }

    /// `${…}`, behind the brace.
    fn braced(&mut self, word: &mut Word) -> Result<(), Unreadable> {
        let from = self.at;
        let mut open = 0_usize;
        loop {
            match self.peek() {
                None => return Err(Unreadable("`${` is not closed")),
                Some('\\') => self.at += 1,
                Some('\'') if open == 0 && self.text.get(self.at - 1) == Some(&'-') => {
                    self.at += 1;
                    let _ = self.up_to_quote('\'')?;
                    continue;
                }
                Some('{') => open += 1,
                Some('}') if open == 0 => break,
                Some('}') => open -= 1,
                Some(_) => {}
            }
            self.at += 1;
        }
        let inside: String = self.text[from..self.at.min(self.text.len())].iter().collect();
        self.at += 1;
        let name_end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inside.len());
        let (name, rest) = inside.split_at(name_end);
        let inner = self.expanded(rest)?;
        let runs = inner.parts.iter().any(|part| matches!(part, Part::Output(_)));
        if runs {
            word.parts.extend(inner.parts.into_iter().filter(|part| matches!(part, Part::Output(_))));
        }
        let fallback = [":-", "-", ":=", "="].iter().find_map(|operator| rest.strip_prefix(operator));
        let fallback =
            fallback.filter(|_| !runs && is_name(name)).map(|text| text.trim_matches(['"', '\'']).to_owned());
        let name = if is_name(name) { name.to_owned() } else { format!("{{{inside}}}") };
        // Cut to size or replaced in part, its value is another one.
        let changed = !rest.is_empty() && fallback.is_none();
        let name = if changed { format!("{{{inside}}}") } else { name };
        word.parts.push(Part::Var { name, fallback });
        Ok(())
    }

    /// `$'…'`, behind the quote.
    fn ansi_c(&mut self) -> Result<String, Unreadable> {
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else { return Err(Unreadable("a quote is not closed")) };
            self.at += 1;
            match c {
                '\'' => return Ok(text),
                '\\' => {
                    let Some(c) = self.peek() else { return Err(Unreadable("a quote is not closed")) };
                    self.at += 1;
                    match c {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        'r' => text.push('\r'),
                        'a' | 'b' | 'e' | 'E' | 'f' | 'v' => text.push(' '),
                        'x' => text.extend(self.number(16, 2)),
                        'u' => text.extend(self.number(16, 4)),
                        'U' => text.extend(self.number(16, 8)),
                        '0'..='7' => {
                            self.at -= 1;
                            text.extend(self.number(8, 3));
                        }
                        c => text.push(c),
                    }
                }
                c => text.push(c),
            }
        }
    }

    fn number(&mut self, radix: u32, most: usize) -> Option<char> {
        let mut code = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            code = code.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        char::from_u32(code)
    }
}
