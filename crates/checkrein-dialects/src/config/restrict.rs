//! The key `restrict` of an administrator's file, which limits hooks that are not managed.
//!
//! An invalid restriction must never allow anything: an invalid list allows nothing, and an unknown key closes all gates.

use checkrein_core::{Scope, closest_match};

use super::Decoder;
use checkrein_document::Node;

/// Limits of hooks that are not managed. `None` in a field: no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restrictions {
    /// Scopes whose hooks may run.
    pub scopes: Option<Vec<Scope>>,
    /// Kinds of handlers that hooks may have.
    pub handlers: Option<Vec<String>>,
    /// Patterns of the URLs that hooks may call.
    pub urls: Option<Vec<String>>,
    /// Names of variables that hooks may get, besides those that every program needs. A `*` at the end matches any ending.
    pub env: Option<Vec<String>>,
}

/// A key of `restrict`.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RestrictKey {
    /// Name of the key.
    pub name: &'static str,
    /// Description.
    pub about: &'static str,
    /// Valid words. Empty: any.
    pub words: &'static [&'static str],
    /// Stores the words.
    field: Field,
}

type Field = fn(&mut Restrictions, Vec<String>);

/// All keys of `restrict`.
pub const RESTRICT_KEYS: &[RestrictKey] = &[
    RestrictKey {
        name: "scopes",
        about: "Scopes whose hooks may run. Managed hooks always run.",
        words: &["managed", "user", "project", "local", "plugin"],
        field: |restrictions, words| restrictions.scopes = Some(words.iter().filter_map(|word| scope(word)).collect()),
    },
    RestrictKey {
        name: "handlers",
        about: "Kinds of handlers that other hooks may have.",
        words: &[],
        field: |restrictions, words| restrictions.handlers = Some(words),
    },
    RestrictKey {
        name: "urls",
        about: "Patterns of the URLs that other hooks may call.",
        words: &[],
        field: |restrictions, words| restrictions.urls = Some(words),
    },
    RestrictKey {
        name: "env",
        about: "Names of variables that other hooks may get, besides those that every program needs. `CI_*` stands for all names that begin with `CI_`.",
        words: &[],
        field: |restrictions, words| restrictions.env = Some(words),
    },
];

const SCOPES: &[Scope] = &[Scope::Managed, Scope::User, Scope::Project, Scope::Local, Scope::Plugin];

fn scope(word: &str) -> Option<Scope> {
    SCOPES.iter().copied().find(|scope| scope.to_string() == word)
}

/// Reads the restrictions. An invalid list allows nothing. An unknown key could restrict anything, so it closes all gates.
pub(super) fn read(decoder: &mut Decoder<'_>, node: &Node<'_>) -> Restrictions {
    let mut restrictions = Restrictions::default();
    let names: Vec<_> = RESTRICT_KEYS.iter().map(|key| key.name).collect();
    let members = match decoder.object(node, "restrict") {
        Ok(members) => members,
        Err(why) => {
            decoder.broken_somewhere("restrict", node.span, &why);
            return restrictions;
        }
    };
    decoder.check_keys(members, &names);
    for member in members {
        let Some(key) = RESTRICT_KEYS.iter().find(|key| key.name == member.key) else {
            let why = format!("unknown restriction `{}`", member.key);
            decoder.broken_somewhere("restrict", member.key_span, &why);
            continue;
        };
        let line = decoder.place(member.key_span).line;
        decoder.settings.lines.push((format!("restrict.{}", key.name), line));
        let words = decoder.texts(&member.value, &format!("restrict.{}", key.name)).unwrap_or_default();
        for (word, item) in words.iter().zip(member.value.as_array().unwrap_or_default()) {
            if !key.words.is_empty() && !key.words.contains(&word.as_str()) {
                decoder.unknown("unknown-value", item.span, "value", word, key.words);
            }
        }
        if key.name == "handlers" {
            warn_misspelt_handlers(decoder, &words, &member.value);
        }
        (key.field)(&mut restrictions, words);
    }
    restrictions
}

/// Reports misspelt kinds of handlers. Other unknown kinds are valid, because a host can register its own.
fn warn_misspelt_handlers(decoder: &mut Decoder<'_>, words: &[String], node: &Node<'_>) {
    let known = || crate::agents::native::LAYOUT.handlers.iter().map(|row| row.kind);
    for (word, item) in words.iter().zip(node.as_array().unwrap_or_default()) {
        if let Some(meant) = closest_match(word, known()).filter(|meant| meant != word) {
            let text = format!("unknown kind of handler `{word}`");
            decoder.warning("unknown-value", item.span, text).help = Some(format!("did you mean `{meant}`?"));
        }
    }
}
