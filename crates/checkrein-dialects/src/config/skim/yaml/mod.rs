//! The part of YAML that people write: blocks, lists and objects in brackets, texts on one line, texts in blocks of lines.
//!
//! All else is left to who reads it in full, and so is whatever that one may refuse or read in another way: anchors, aliases,
//! tags, merge keys, directives, several documents, texts that go on in the next line, tabs, odd indentation. Whoever adds
//! something here must be sure that it is read the same there; `tests` compares the two.

#[cfg(test)]
mod outline;
mod scalar;

use super::Reader;
use super::bytes::blanks;
#[cfg(test)]
pub(super) use outline::Outline;

/// How deep things may nest here. Files of people have seven levels.
const MAX_DEPTH: usize = 24;

pub(super) struct Yaml<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the line starts.
    line: usize,
    /// How far the line is indented, where it has just started. Below 0: the text is over.
    column: isize,
    /// How far that is indented in which the value stands that comes next.
    parent: isize,
    stands: Stands,
    /// How many brackets are open.
    brackets: usize,
    depth: usize,
}

/// Where the value stands that comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// Behind a key.
    Behind,
    /// Behind a dash, where an object can start.
    Item,
    /// In a line of its own.
    Alone,
    /// Nowhere: the next line is something else.
    Nowhere,
}

impl<'a> Reader<'a> for Yaml<'a> {
    fn start(&mut self) -> Option<()> {
        self.content()?;
        if self.column == 0 && self.rest().starts_with(b"---") {
            self.at += 3;
            self.end_line()?;
        }
        // An empty file is not this one's business.
        (self.column == 0).then_some(())
    }

    fn end(&mut self) -> Option<()> {
        (self.at == self.bytes.len()).then_some(())
    }

    fn at(&self) -> usize {
        self.at
    }

    /// Where a value starts does not say here where it ends.
    fn value_at(&mut self, _: usize) -> Option<()> {
        None
    }

    #[inline]
    fn is_list(&self) -> bool {
        match self.peek() {
            Some(b'[') => self.stands != Stands::Nowhere,
            Some(b'-') => self.stands == Stands::Alone && self.is_dash(),
            _ => false,
        }
    }

    fn members(&mut self, mut member: impl FnMut(&mut Self, &'a [u8]) -> Option<()>) -> Option<()> {
        if self.stands == Stands::Nowhere {
            return None;
        }
        if self.peek()? == b'{' {
            return self.brackets(b'}', |yaml| {
                let key = yaml.key()?;
                member(yaml, key)
            });
        }
        let indent = match self.stands {
            Stands::Alone => self.column,
            Stands::Item => (self.at - self.line).cast_signed(),
            _ => return None,
        };
        self.deeper()?;
        loop {
            let key = self.key()?;
            self.begin(indent, Stands::Behind)?;
            member(self, key)?;
            if self.column != indent {
                break;
            }
        }
        self.depth -= 1;
        (self.column < indent).then_some(())
    }

    fn items(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if !self.is_list() {
            return None;
        }
        if self.peek()? == b'[' {
            return self.brackets(b']', item);
        }
        let indent = self.column;
        self.deeper()?;
        while self.column == indent && self.is_dash() {
            self.at += 1;
            self.begin(indent, Stands::Item)?;
            item(self)?;
        }
        self.depth -= 1;
        // A key may stand as far to the right as the list that the key before it has.
        (self.column <= indent).then_some(())
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        if self.brackets == 0 && !matches!(self.stands, Stands::Behind | Stands::Item) {
            return None;
        }
        let text = match self.peek()? {
            quote @ (b'"' | b'\'') => self.quoted_as_is(quote)?,
            _ => {
                let text = self.unquoted()?.trim_ascii_end();
                scalar::is_text(text).then_some(text)?
            }
        };
        self.end_value()?;
        Some(text)
    }

    fn value(&mut self) -> Option<()> {
        if self.stands == Stands::Nowhere {
            return Some(());
        }
        match self.peek()? {
            b'[' => return self.items(Self::value),
            b'{' => return self.members(|yaml, _| yaml.value()),
            b'-' if self.is_list() => return self.items(Self::value),
            _ if self.is_object() => return self.members(|yaml, _| yaml.value()),
            b'|' | b'>' if self.brackets == 0 => return self.lines(),
            quote @ (b'"' | b'\'') => self.quoted(quote)?,
            _ => drop(self.unquoted()?),
        }
        self.end_value()
    }
}

/// Blocks.
impl<'a> Yaml<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        Self { bytes, at: 0, line: 0, column: -1, parent: -1, stands: Stands::Alone, brackets: 0, depth: 0 }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    #[inline]
    fn is_dash(&self) -> bool {
        matches!(self.rest(), [b'-', b' ' | b'\n' | b'\r', ..] | [b'-'])
    }

    /// Whether a key comes next, in a block.
    #[inline]
    fn is_object(&self) -> bool {
        match self.stands {
            Stands::Alone => true,
            Stands::Item if self.brackets == 0 => {
                let mut ahead = Self { ..*self };
                ahead.key().is_some()
            }
            _ => false,
        }
    }

    /// A key and its colon.
    #[inline]
    fn key(&mut self) -> Option<&'a [u8]> {
        let quote = self.peek().filter(|first| matches!(first, b'"' | b'\''));
        let key = match quote {
            Some(quote) => self.quoted_as_is(quote)?,
            None => self.word()?,
        };
        if self.brackets > 0 {
            self.at += blanks(self.rest());
        }
        // The parser has a limit as well.
        if key.len() > 512 || self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        if self.brackets == 0 {
            return matches!(self.peek(), None | Some(b' ' | b'\n' | b'\r')).then_some(key);
        }
        if quote.is_none() && self.peek()? != b' ' {
            return None;
        }
        self.at += blanks(self.rest());
        Some(key)
    }

    /// Behind a key or a dash: goes to the value.
    #[inline]
    fn begin(&mut self, indent: isize, inline: Stands) -> Option<()> {
        self.parent = indent;
        self.at += blanks(self.rest());
        if !matches!(self.peek(), None | Some(b'\n' | b'\r' | b'#')) {
            self.stands = inline;
            return Some(());
        }
        self.end_line()?;
        let is_list = inline == Stands::Behind && self.column == indent && self.is_dash();
        self.stands = if self.column > indent || is_list { Stands::Alone } else { Stands::Nowhere };
        Some(())
    }

    #[inline]
    fn end_value(&mut self) -> Option<()> {
        if self.brackets == 0 { self.end_line() } else { Some(()) }
    }

    /// Goes to the next line that has something, behind what may stand at the end of this one.
    #[inline]
    fn end_line(&mut self) -> Option<()> {
        self.at += blanks(self.rest());
        if self.peek() == Some(b'#') {
            self.comment()?;
        }
        self.next_line()?;
        self.content()
    }

    /// Over the end of the line, if it is there.
    #[inline]
    fn next_line(&mut self) -> Option<()> {
        match self.rest() {
            [b'\n', ..] => self.at += 1,
            [b'\r', b'\n', ..] => self.at += 2,
            [] => {}
            _ => return None,
        }
        Some(())
    }

    /// At the start of a line: goes to the next thing that is no comment.
    #[inline]
    fn content(&mut self) -> Option<()> {
        loop {
            self.line = self.at;
            self.at += blanks(self.rest());
            match self.peek() {
                None => {
                    self.column = -1;
                    return Some(());
                }
                Some(b'#') => self.comment()?,
                Some(b'\n' | b'\r') => {}
                Some(_) => {
                    self.column = (self.at - self.line).cast_signed();
                    return Some(());
                }
            }
            self.next_line()?;
        }
    }

    /// Only behind a blank or at the start of a line.
    fn comment(&mut self) -> Option<()> {
        let before = self.at.checked_sub(1).and_then(|before| self.bytes.get(before));
        if !matches!(before, None | Some(b' ' | b'\n')) {
            return None;
        }
        self.line_of_text()
    }
}

/// Brackets.
impl<'a> Yaml<'a> {
    fn brackets(&mut self, close: u8, mut one: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.deeper()?;
        self.brackets += 1;
        self.stands = Stands::Behind;
        self.at += 1;
        self.space()?;
        while self.peek()? != close {
            one(self)?;
            self.space()?;
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == close => break,
                _ => return None,
            }
            self.space()?;
        }
        self.at += 1;
        self.depth -= 1;
        self.brackets -= 1;
        self.end_value()
    }

    /// Also over lines, if they are indented as they must be.
    #[inline]
    fn space(&mut self) -> Option<()> {
        self.at += blanks(self.rest());
        if !matches!(self.peek()?, b'\n' | b'\r' | b'#') {
            return Some(());
        }
        self.end_line()?;
        // There, three dashes or dots are the end of the document.
        let is_mark = self.column == 0 && matches!(self.peek()?, b'-' | b'.');
        (self.column > self.parent && !is_mark).then_some(())
    }
}
