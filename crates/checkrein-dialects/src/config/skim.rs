//! Tells of most files, in one pass that builds nothing, that they have no hook for an event.
//!
//! Files are read before every tool call, and mostly no hook in them fits. To read all of them into trees and hooks for
//! that takes ten times as long. What is not plain here is left to who reads it in full: a key that says something about
//! other files, a name that nobody knows, a pattern that must be compiled, a text that is no JSON.

use checkrein_core::EventKind;

use super::{Shape, Wanted};
use crate::document::{Format, MAX_DEPTH, MAX_SIZE};
use crate::table::Dialect;

/// Whether the file certainly has no hook that is wanted, and says nothing about others.
pub(super) fn has_nothing(dialect: &Dialect, text: &str, format: Format, wanted: &Wanted) -> bool {
    let Some(shape) = dialect.config.skim else { return false };
    let extras = match format {
        Format::Json => false,
        Format::Jsonc => true,
        _ => return false,
    };
    // A text that starts with a byte order mark is for the patient.
    text.len() <= MAX_SIZE && Skim { bytes: text.as_bytes(), at: 0, extras, dialect, shape, wanted }.file().is_some()
}

/// `None` everywhere: it is not plain.
struct Skim<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Whether comments and trailing commas are allowed.
    extras: bool,
    dialect: &'a Dialect,
    shape: &'a Shape,
    wanted: &'a Wanted,
}

/// Keys of checkrein's own files that say nothing about hooks. Every other one is for the patient, whoever may add it.
const HARMLESS: &[&[u8]] = &[b"$schema", b"version", b"description", b"trusted_paths", b"trusted_keys"];

/// Keys that count in the settings of an agent's program, where all others are its own business.
pub(super) const SETTINGS: &[&[u8]] =
    &[b"disableAllHooks", b"allowManagedHooksOnly", b"allowedHttpHookUrls", b"httpHookAllowedEnvVars"];

impl<'a> Skim<'a> {
    fn file(mut self) -> Option<()> {
        let mut hooks = 0;
        self.space()?;
        self.members(|skim, key| {
            if key == skim.shape.root.as_bytes() {
                hooks += 1;
                return skim.hooks();
            }
            let is_plain = match skim.shape.file_keys {
                Some(_) => HARMLESS.contains(&key),
                None => !SETTINGS.contains(&key),
            };
            if !is_plain {
                return None;
            }
            skim.value()
        })?;
        self.space()?;
        (self.at == self.bytes.len() && hooks == 1).then_some(())
    }

    fn hooks(&mut self) -> Option<()> {
        match self.peek()? {
            b'[' if self.shape.flat => self.items(|skim| skim.entry(None)),
            b'{' => self.members(|skim, key| {
                let kind = skim.kind(key)?;
                if !skim.wanted.is_of(&kind) {
                    return skim.value();
                }
                if !skim.shape.group.is_empty() {
                    return None;
                }
                skim.items(|skim| skim.entry(Some(&kind)))
            }),
            _ => None,
        }
    }

    /// A group of hooks, or a hook that stands alone.
    fn entry(&mut self, of: Option<&EventKind>) -> Option<()> {
        let (mut matcher, mut events, mut has_wanted) = (None, 0, of.is_some());
        self.members(|skim, key| match key {
            b"matcher" if matcher.is_none() => {
                matcher = Some(skim.text()?);
                Some(())
            }
            b"matcher" => None,
            b"event" | b"events" if of.is_none() => {
                events += 1;
                let mut name = |skim: &mut Self| {
                    let name = skim.text()?;
                    has_wanted |= skim.wanted.is_of(&skim.kind(name)?);
                    Some(())
                };
                if skim.peek()? == b'[' { skim.items(name) } else { name(skim) }
            }
            _ => skim.value(),
        })?;
        if of.is_none() && events != 1 {
            return None;
        }
        if !has_wanted {
            return Some(());
        }
        let pattern = std::str::from_utf8(matcher?).ok()?;
        self.wanted.rules_out(self.dialect, pattern).then_some(())
    }

    fn kind(&self, name: &[u8]) -> Option<EventKind> {
        let name = std::str::from_utf8(name).ok()?;
        let own = self.dialect.kind_of(name).ok().cloned();
        own.or_else(|| name.parse().ok().filter(|_| self.dialect.has_all_events))
    }
}

/// The grammar.
impl<'a> Skim<'a> {
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

    /// The members of the object that starts here. Behind each, the reader stands behind its value.
    fn members(&mut self, mut member: impl FnMut(&mut Self, &'a [u8]) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        self.list(b'}', |skim| {
            let key = skim.text()?;
            skim.space()?;
            skim.take(b':')?;
            skim.space()?;
            member(skim, key)
        })
    }

    fn items(&mut self, item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(b'[')?;
        self.list(b']', item)
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

    /// Any value. Not recursive: what is open is kept as bits, of which one says that it is an object.
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

    fn key(&mut self) -> Option<()> {
        self.string()?;
        self.space()?;
        self.take(b':')?;
        self.space()
    }

    /// A string without escapes, as it stands there.
    fn text(&mut self) -> Option<&'a [u8]> {
        self.take(b'"')?;
        let text = self.rest().get(..plain(self.rest()))?;
        self.at += text.len();
        self.take(b'"')?;
        Some(text)
    }

    #[inline]
    fn string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            self.at += plain(self.rest());
            match self.rest() {
                [b'"', ..] => {
                    self.at += 1;
                    return Some(());
                }
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

    #[inline]
    fn space(&mut self) -> Option<()> {
        let is_over = |byte: Option<&u8>| byte.is_some_and(|byte| *byte > b' ' && *byte != b'/');
        let rest = self.rest();
        if is_over(rest.first()) {
            return Some(());
        }
        // As behind most colons.
        if rest.first() == Some(&b' ') && is_over(rest.get(1)) {
            self.at += 1;
            return Some(());
        }
        self.more_space()
    }

    fn more_space(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some(b'\n') => self.at += 1 + blanks(self.bytes.get(self.at + 1..)?),
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
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

const ONES: u64 = 0x0101_0101_0101_0101;

/// How many blanks come first. Eight at a time: most of a file that is made for people is indentation.
#[inline]
fn blanks(bytes: &[u8]) -> usize {
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (at, chunk) in chunks.iter().enumerate() {
        let other = u64::from_le_bytes(*chunk) ^ (ONES * 0x20);
        if other != 0 {
            return at * 8 + (other.trailing_zeros() / 8) as usize;
        }
    }
    chunks.len() * 8 + rest.iter().take_while(|byte| **byte == b' ').count()
}

/// How many bytes come before a quote, a backslash or a control character. Eight at a time.
#[inline]
fn plain(bytes: &[u8]) -> usize {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The lowest bit that is set is right; those above it may be set by a borrow.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (at, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let found = below(word, 0x20) | below(word ^ (ONES * 0x22), 1) | below(word ^ (ONES * 0x5c), 1);
        if found != 0 {
            return at * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    let ends = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    chunks.len() * 8 + rest.iter().position(ends).unwrap_or(rest.len())
}
