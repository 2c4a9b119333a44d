//! Tells of most files, in one pass that builds nothing, that they have no hook for an event; and of others, which parts of
//! them have none.
//!
//! Files are read before every tool call, and mostly no hook in them fits. To read all of them into trees and hooks for
//! that takes ten times as long. What is not plain here is left to who reads it in full: a key that says something about
//! other files, a name that nobody knows, a pattern that must be compiled, a text that cannot be read.
//!
//! Only JSON is read in this way; files in other languages are read in full. What is judged is here; how JSON is written is in
//! [`json`].

mod bytes;
mod json;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};

use checkrein_core::EventKind;

use super::{Shape, Wanted};
use crate::table::Dialect;
use checkrein_document::{Format, MAX_SIZE, Span};

/// What a file has for an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Skimmed {
    /// Certainly no hook that is wanted, and it says nothing about others.
    Nothing,
    /// There may be some. In these parts, each of them a value, there is certainly none.
    NothingIn(Vec<Span>),
}

pub(super) fn skim(dialect: &Dialect, text: &str, format: Format, wanted: &Wanted) -> Skimmed {
    let unread = Skimmed::NothingIn(Vec::new());
    let Some(shape) = dialect.prefilter_layout() else { return unread };
    // A text that starts with a byte order mark is for the patient.
    if text.len() > MAX_SIZE {
        return unread;
    }
    let judge = Judge { dialect, shape, wanted, has_some: Cell::new(false), passed: RefCell::default() };
    let read = match format {
        Format::Json => judge.file(json::Json::new(text, false)),
        Format::Jsonc => judge.file(json::Json::new(text, true)),
        _ => None,
    };
    match read {
        None => unread,
        Some(()) if judge.has_some.get() => Skimmed::NothingIn(judge.passed.into_inner()),
        Some(()) => Skimmed::Nothing,
    }
}

/// A text in one language, from its start to its end. `None` everywhere: it is not plain, or no text of that language.
trait Reader<'a>: Sized {
    /// Goes to the value that the text is.
    fn start(&mut self) -> Option<()>;
    /// Sees that nothing comes behind it.
    fn end(&mut self) -> Option<()>;
    /// Whether a list starts here.
    fn is_list(&self) -> bool;
    /// The members of the object that starts here. What is called must read the value, and nothing else.
    fn members(&mut self, member: impl FnMut(&mut Self, &'a [u8]) -> Option<()>) -> Option<()>;
    /// The items of the list that starts here. What is called must read one.
    fn items(&mut self, item: impl FnMut(&mut Self) -> Option<()>) -> Option<()>;
    /// A string without escapes, as it stands there.
    fn text(&mut self) -> Option<&'a [u8]>;
    /// Any value.
    fn value(&mut self) -> Option<()>;
    /// Where it is now.
    fn at(&self) -> usize;
    /// Goes back to a place where a value started, and reads that as any value.
    fn value_at(&mut self, at: usize) -> Option<()>;
}

/// `None` everywhere: it is not plain what there is.
struct Judge<'a> {
    dialect: &'a Dialect,
    shape: &'a Shape,
    wanted: &'a Wanted,
    /// Whether there may be something.
    has_some: Cell<bool>,
    /// Where there is nothing, in the order of the text.
    passed: RefCell<Vec<Span>>,
}

/// Keys of checkrein's own files that say nothing about hooks. Every other one is for the patient, whoever may add it.
const HARMLESS: &[&[u8]] = &[b"$schema", b"version", b"description", b"trusted_paths", b"trusted_keys"];

/// Keys that count in the settings of an agent's program, where all others are its own business.
pub(super) const SETTINGS: &[&[u8]] =
    &[b"disableAllHooks", b"allowManagedHooksOnly", b"allowedHttpHookUrls", b"httpHookAllowedEnvVars"];

impl Judge<'_> {
    fn file<'t>(&self, mut text: impl Reader<'t>) -> Option<()> {
        let mut hooks = 0;
        text.start()?;
        text.members(|text, key| {
            if key == self.shape.root.as_bytes() {
                hooks += 1;
                return self.hooks(text);
            }
            let is_plain = match self.shape.file_keys {
                Some(_) => HARMLESS.contains(&key),
                None => !SETTINGS.contains(&key),
            };
            if !is_plain {
                return None;
            }
            text.value()
        })?;
        text.end()?;
        (hooks == 1).then_some(())
    }

    fn hooks<'t>(&self, text: &mut impl Reader<'t>) -> Option<()> {
        if text.is_list() {
            return if self.shape.flat { text.items(|text| self.entry(text, None)) } else { None };
        }
        text.members(|text, key| {
            let kind = self.kind(key)?;
            if !self.wanted.is_of(&kind) {
                let start = text.at();
                text.value()?;
                self.pass(start, text);
                return Some(());
            }
            if !self.shape.group.is_empty() {
                return None;
            }
            text.items(|text| self.entry(text, Some(&kind)))
        })
    }

    /// A group of hooks, or a hook that stands alone.
    fn entry<'t>(&self, text: &mut impl Reader<'t>, of: Option<&EventKind>) -> Option<()> {
        let start = text.at();
        if self.is_nothing(text, of).is_some() {
            self.pass(start, text);
            return Some(());
        }
        self.has_some.set(true);
        text.value_at(start)
    }

    fn pass<'t>(&self, start: usize, text: &impl Reader<'t>) {
        self.passed.borrow_mut().push(Span::new(start, text.at()));
    }

    /// `None`: it may be wanted.
    fn is_nothing<'t>(&self, text: &mut impl Reader<'t>, of: Option<&EventKind>) -> Option<()> {
        let (mut matcher, mut events, mut has_wanted) = (None, 0, of.is_some());
        text.members(|text, key| match key {
            b"matcher" if matcher.is_none() => {
                matcher = Some(text.text()?);
                Some(())
            }
            b"matcher" => None,
            b"event" | b"events" if of.is_none() => {
                events += 1;
                if text.is_list() {
                    return text.items(|text| self.name(text, &mut has_wanted));
                }
                self.name(text, &mut has_wanted)
            }
            _ => text.value(),
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

    fn name<'t>(&self, text: &mut impl Reader<'t>, has_wanted: &mut bool) -> Option<()> {
        let kind = self.kind(text.text()?)?;
        *has_wanted |= self.wanted.is_of(&kind);
        Some(())
    }

    fn kind(&self, name: &[u8]) -> Option<EventKind> {
        let name = std::str::from_utf8(name).ok()?;
        let own = self.dialect.kind_of(name).ok().cloned();
        own.or_else(|| name.parse().ok().filter(|_| self.dialect.has_all_events))
    }
}
