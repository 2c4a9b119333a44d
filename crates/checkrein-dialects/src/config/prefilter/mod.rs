//! The prefilter: it detects, in one pass without a tree, that no hook of a JSON file can match an event.
//!
//! Files are read before every tool call, and usually no hook matches. Decoding them in full takes several times as long. The
//! prefilter finds only the events and the matcher of each hook. It leaves unusual files to the full parser: a key that changes
//! other hooks, an unknown name, an invalid pattern, a syntax error.
//!
//! The prefilter must never report "no match" for a file in which the full parser finds a matching hook, because that opens a gate.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use checkrein_core::json::{Lexer, Piece, Token, TokenKind, decode_string, pieces, unquoted};
use checkrein_core::{EventFilter, EventKind};
use checkrein_document::{Format, MAX_SIZE};

use super::HookFileLayout;
use crate::table::Dialect;

/// Keys of checkrein's own files without effect on hooks. Files with any other key are left to the full parser.
const IGNORED_KEYS: &[&str] = &["$schema", "version", "description", "trusted_paths", "trusted_keys"];

/// Keys of an agent's settings file that affect hooks. All other keys are ignored.
pub(super) const SETTINGS: &[&str] =
    &["disableAllHooks", "allowManagedHooksOnly", "allowedHttpHookUrls", "httpHookAllowedEnvVars"];

/// `true` if a file has no hook that can match and no setting for other files. `filter` must be adapted to the dialect.
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

/// `true` if the prefilter supports all features of the layout.
fn is_supported(dialect: &Dialect, layout: &HookFileLayout) -> bool {
    !layout.root.contains('.')
        && layout.beside.is_empty()
        && layout.sibling.is_none()
        && layout.names.is_empty()
        && !layout.loose_names
        && !layout.bare
        && dialect.config.pattern.is_none()
}

/// Scanner of one file. Its functions return `None` if the file is left to the full parser: it is unusual, or a hook can match.
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

    /// Scans an array of hooks or groups. `kind`: the event that contains them.
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
                // Duplicate keys.
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

    /// Scans the value of `events`: a name or an array of names.
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
            // The full parser rejects half of a surrogate pair.
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

    /// Returns the next key of an object. The inner `None`: end of the object.
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
