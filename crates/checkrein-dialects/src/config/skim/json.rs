//! JSON, and JSON with comments.

use super::Reader;
use super::bytes::{below, find, past_blanks, same};
use checkrein_document::MAX_DEPTH;

pub(super) struct Json<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether comments and trailing commas are allowed.
    extras: bool,
}

impl<'a> Reader<'a> for Json<'a> {
    fn start(&mut self) -> Option<()> {
        self.space()
    }

    fn end(&mut self) -> Option<()> {
        self.space()?;
        (self.at == self.bytes.len()).then_some(())
    }

    #[inline]
    fn is_list(&self) -> bool {
        self.peek() == Some(b'[')
    }

    fn members(&mut self, mut member: impl FnMut(&mut Self, &'a [u8]) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        self.list(b'}', |json| {
            let key = json.text()?;
            json.space()?;
            json.take(b':')?;
            json.space()?;
            member(json, key)
        })
    }

    fn items(&mut self, item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        self.list(b']', item)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let start = self.at;
        self.at = past_plain(self.bytes, start);
        let text = self.bytes.get(start..self.at)?;
        self.take(b'"')?;
        Some(text)
    }

    fn at(&self) -> usize {
        self.at
    }

    fn value_at(&mut self, at: usize) -> Option<()> {
        self.at = at;
        self.value()
    }

    /// Not recursive: what is open is kept as bits, of which one says that it is an object.
    fn value(&mut self) -> Option<()> {
        let (mut depth, mut objects) = (0_usize, 0_u128);
        'value: loop {
            match self.peek()? {
                b'"' => self.string()?,
                open @ (b'{' | b'[') => {
                    // What stands outside is at most five levels.
                    if depth == MAX_DEPTH - 8 {
                        return None;
                    }
                    self.at += 1;
                    self.space()?;
                    let is_object = open == b'{';
                    if self.peek()? == if is_object { b'}' } else { b']' } {
                        self.at += 1;
                    } else {
                        depth += 1;
                        objects = objects << 1 | u128::from(is_object);
                        if is_object {
                            self.key()?;
                        }
                        continue 'value;
                    }
                }
                _ => self.scalar()?,
            }
            // A value has ended: close what it completes, or go on to its neighbour.
            loop {
                if depth == 0 {
                    return Some(());
                }
                self.space()?;
                let is_object = objects & 1 == 1;
                let close = if is_object { b'}' } else { b']' };
                let mut next = self.peek()?;
                if next == b',' {
                    self.at += 1;
                    self.space()?;
                    next = self.peek()?;
                    if !(self.extras && next == close) {
                        if is_object {
                            self.key()?;
                        }
                        continue 'value;
                    }
                }
                if next != close {
                    return None;
                }
                self.at += 1;
                depth -= 1;
                objects >>= 1;
            }
        }
    }
}

impl<'a> Json<'a> {
    pub(super) fn new(text: &'a str, extras: bool) -> Self {
        Self { bytes: text.as_bytes(), at: 0, extras }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn list(&mut self, close: u8, mut one: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.space()?;
        if self.peek()? == close {
            self.at += 1;
            return Some(());
        }
        loop {
            one(self)?;
            self.space()?;
            match self.peek()? {
                b',' => {
                    self.at += 1;
                    self.space()?;
                    if self.extras && self.peek()? == close {
                        self.at += 1;
                        return Some(());
                    }
                }
                byte if byte == close => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    fn key(&mut self) -> Option<()> {
        self.string()?;
        self.space()?;
        self.take(b':')?;
        self.space()
    }

    #[inline]
    fn string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            self.at = past_plain(self.bytes, self.at);
            if self.peek()? == b'"' {
                self.at += 1;
                return Some(());
            }
            match self.rest() {
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
                // A surrogate may be half of a pair or alone.
                [b'\\', b'u', digits @ ..] => {
                    let digits = digits.get(..4)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) || matches!(digits.first(), Some(b'd' | b'D')) {
                        return None;
                    }
                    self.at += 6;
                }
                _ => return None,
            }
        }
    }

    /// A number or a word.
    fn scalar(&mut self) -> Option<()> {
        let length = self.rest().iter().take_while(|byte| is_scalar(**byte)).count();
        let text = self.rest().get(..length)?;
        self.at += length;
        (matches!(text, b"true" | b"false" | b"null") || is_number(text)).then_some(())
    }

    /// Mostly there is none, and then this is one look.
    #[inline(always)]
    fn space(&mut self) -> Option<()> {
        if self.is_behind_space() { Some(()) } else { self.some_space() }
    }

    #[inline(always)]
    fn is_behind_space(&self) -> bool {
        self.peek().is_some_and(|byte| byte > b' ' && byte != b'/')
    }

    #[inline(never)]
    fn some_space(&mut self) -> Option<()> {
        // As behind most colons, or before most lines.
        match self.peek() {
            Some(b' ') => self.at += 1,
            Some(b'\n') => self.at = past_blanks(self.bytes, self.at + 1),
            _ => {}
        }
        if self.is_behind_space() { Some(()) } else { self.more_space() }
    }

    fn more_space(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                Some(b'/') if self.extras => self.comment()?,
                _ => return Some(()),
            }
        }
    }

    fn comment(&mut self) -> Option<()> {
        match self.rest() {
            [b'/', b'/', rest @ ..] => self.at += 2 + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', rest @ ..] => self.at += 4 + rest.windows(2).position(|pair| pair == b"*/")?,
            _ => return None,
        }
        Some(())
    }
}

fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')
}

/// Whole numbers and decimal fractions; what has an exponent is for the patient.
fn is_number(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, fraction) = match text.iter().position(|byte| *byte == b'.') {
        Some(point) => (&text[..point], Some(&text[point + 1..])),
        None => (text, None),
    };
    let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    digits(whole) && (whole.len() == 1 || !whole.starts_with(b"0")) && fraction.is_none_or(digits)
}

/// The place of the first quote, backslash or control character from this one on.
#[inline]
fn past_plain(bytes: &[u8], from: usize) -> usize {
    let marks = |word| below(word, 0x20) | same(word, b'"') | same(word, b'\\');
    find(bytes, from, marks, |byte| byte < 0x20 || matches!(byte, b'"' | b'\\'))
}
