//! The prefilter: it tells of most JSON files, in one pass that builds nothing, that no hook in them can match an event.
//!
//! Files are read before every tool call, and usually no hook matches. Reading all of them into trees and hooks takes several
//! times as long. The prefilter only finds the events and the matcher of each hook; the [`EventFilter`] decides. Everything
//! unusual is left to the full parser: a key that changes other hooks, an unknown name, an invalid pattern, a syntax error.
//!
//! It must never say that no hook can match where the full parser finds one: that would open a gate.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use checkrein_core::json::{Lexer, Piece, Token, TokenKind, decode_string, pieces, unquoted};
use checkrein_core::{EventFilter, EventKind};
use checkrein_document::{Format, MAX_SIZE};

use super::HookFileLayout;
use crate::table::Dialect;

/// Keys of checkrein's own files that say nothing about hooks. Files with any other key are left to the full parser.
const IGNORED_KEYS: &[&str] = &["$schema", "version", "description", "trusted_paths", "trusted_keys"];

/// Keys that have a meaning in the settings of an agent's program. All its other keys are ignored.
pub(super) const SETTINGS: &[&str] =
    &["disableAllHooks", "allowManagedHooksOnly", "allowedHttpHookUrls", "httpHookAllowedEnvVars"];

/// `true` if a file certainly has no hook that can match, and does not change other files. `filter` is adapted to the dialect.
pub(super) fn has_no_match(dialect: &Dialect, text: &str, format: Format, filter: &EventFilter) -> bool {
    let lexer = match format {
        Format::Json => Lexer::new(text),
        Format::Jsonc => Lexer::new(text).with_extensions(),
        Format::Yaml | Format::Toml => return false,
    };
    match dialect.prefilter_layout() {
        Some(layout) if text.len() <= MAX_SIZE && is_supported(dialect, layout) => {
            Prefilter { dialect, layout, filter, text, lexer }.file().is_some()
        }
        _ => false,
    }
}

/// `true` if the layout has no freedoms that the prefilter does not know.
fn is_supported(dialect: &Dialect, layout: &HookFileLayout) -> bool {
    !layout.root.contains('.')
        && layout.beside.is_empty()
        && layout.sibling.is_none()
        && layout.names.is_empty()
        && !layout.loose_names
        && !layout.bare
        && dialect.config.pattern.is_none()
}

/// Its functions return `None` for whatever is left to the full parser, a hook that can match included.
struct Prefilter<'a> {
    dialect: &'a Dialect,
    layout: &'a HookFileLayout,
    filter: &'a EventFilter,
    text: &'a str,
    lexer: Lexer<'a>,
}

impl<'a> Prefilter<'a> {
    fn file(&mut self) -> Option<()> {
        self.expect(TokenKind::ObjectStart)?;
        let mut roots = 0;
        while let Some(key) = self.key()? {
            if key == self.layout.root {
                roots += 1;
                self.hooks()?;
                continue;
            }
            let is_ignored = match self.layout.file_keys {
                Some(_) => IGNORED_KEYS.contains(&&*key),
                None => !SETTINGS.contains(&&*key),
            };
            if !is_ignored {
                return None;
            }
            self.skip_value()?;
        }
        let is_end = self.lexer.next_token().ok()?.is_none();
        (is_end && roots == 1).then_some(())
    }

    fn hooks(&mut self) -> Option<()> {
        match self.token()?.kind {
            TokenKind::ArrayStart if self.layout.flat => return self.entries(None),
            TokenKind::ObjectStart => {}
            _ => return None,
        }
        while let Some(name) = self.key()? {
            let kind = self.kind(&name)?;
            if !self.filter.has_kind(&kind) {
                self.skip_value()?;
                continue;
            }
            if !self.layout.group.is_empty() {
                return None;
            }
            self.expect(TokenKind::ArrayStart)?;
            self.entries(Some(&kind))?;
        }
        Some(())
    }

    /// The items of an array of hooks or groups. `kind`: the event that they are under.
    fn entries(&mut self, kind: Option<&EventKind>) -> Option<()> {
        loop {
            match self.token()?.kind {
                TokenKind::ArrayEnd => return Some(()),
                TokenKind::ObjectStart => self.entry(kind)?,
                _ => return None,
            }
        }
    }

    fn entry(&mut self, kind: Option<&EventKind>) -> Option<()> {
        let (mut matcher, mut kinds) = (None, kind.map(|kind| vec![kind.clone()]));
        while let Some(key) = self.key()? {
            match &*key {
                "matcher" if matcher.is_none() => {
                    let token = self.token()?;
                    matcher = Some(self.string(token)?);
                }
                "event" | "events" if kind.is_none() && kinds.is_none() => kinds = Some(self.kinds()?),
                // A duplicate.
                "matcher" => return None,
                "event" | "events" if kind.is_none() => return None,
                _ => self.skip_value()?,
            }
        }
        let can_match = |kind: &EventKind| {
            let accepts = |name: &str| match &matcher {
                Some(pattern) => !self.dialect.grammar(kind).rules_out(pattern, name),
                None => true,
            };
            self.filter.can_match(std::slice::from_ref(kind), accepts)
        };
        if kinds?.iter().any(can_match) { None } else { Some(()) }
    }

    /// The value of `events`: a name or an array of names.
    fn kinds(&mut self) -> Option<Vec<EventKind>> {
        let first = self.token()?;
        if first.kind != TokenKind::ArrayStart {
            let name = self.string(first)?;
            return Some(vec![self.kind(&name)?]);
        }
        let mut kinds = Vec::new();
        loop {
            let token = self.token()?;
            if token.kind == TokenKind::ArrayEnd {
                return Some(kinds);
            }
            let name = self.string(token)?;
            kinds.push(self.kind(&name)?);
        }
    }

    fn kind(&self, name: &str) -> Option<EventKind> {
        match self.dialect.kind_of(name) {
            Ok(kind) => Some(kind.clone()),
            Err(_) if self.dialect.has_all_events => name.parse().ok(),
            Err(_) => None,
        }
    }

    fn token(&mut self) -> Option<Token> {
        let token = self.lexer.next_token().ok()??;
        if let TokenKind::Key { escaped: true } | TokenKind::String { escaped: true } = token.kind {
            // The full parser refuses half of a surrogate pair.
            let inside = unquoted(&self.text[token.start..token.end]);
            if pieces(inside).any(|(piece, _)| matches!(piece, Piece::LoneSurrogate(_))) {
                return None;
            }
        }
        Some(token)
    }

    fn expect(&mut self, kind: TokenKind) -> Option<()> {
        (self.token()?.kind == kind).then_some(())
    }

    /// The next key of an object. The inner `None`: the object ends.
    fn key(&mut self) -> Option<Option<Cow<'a, str>>> {
        let token = self.token()?;
        match token.kind {
            TokenKind::Key { .. } => Some(Some(decode_string(&self.text[token.start..token.end]))),
            TokenKind::ObjectEnd => Some(None),
            _ => None,
        }
    }

    fn string(&self, token: Token) -> Option<Cow<'a, str>> {
        let TokenKind::String { .. } = token.kind else { return None };
        Some(decode_string(&self.text[token.start..token.end]))
    }

    fn skip_value(&mut self) -> Option<()> {
        let depth = self.lexer.depth();
        self.token()?;
        while self.lexer.depth() > depth {
            self.token()?;
        }
        Some(())
    }
}
