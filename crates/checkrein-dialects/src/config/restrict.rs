//! The key `restrict` of an administrator's file.

use checkrein_core::{Scope, closest_match};

use super::Decoder;
use checkrein_document::Node;

/// What hooks that an administrator has not set himself may be. `None`: whatever they like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restrictions {
    /// Whose hooks may run.
    pub scopes: Option<Vec<Scope>>,
    /// The kinds of handlers that they may have.
    pub handlers: Option<Vec<String>>,
    /// Patterns of the URLs that they may call.
    pub urls: Option<Vec<String>>,
    /// Names of variables that they may get, besides what every program needs. One that ends in `*` stands for all that begin
    /// so.
    pub env: Option<Vec<String>>,
}

/// A key of `restrict`.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RestrictKey {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub about: &'static str,
    /// The words that it may have. Empty: any.
    pub words: &'static [&'static str],
    /// The place of its words.
    field: Field,
}

type Field = fn(&mut Restrictions, Vec<String>);

/// All of them.
pub const RESTRICT_KEYS: &[RestrictKey] = &[
    RestrictKey {
        name: "scopes",
        about: "Whose hooks may run; the administrator's own always do.",
        words: &["managed", "user", "project", "local", "plugin"],
        field: |restrictions, words| restrictions.scopes = Some(words.iter().filter_map(|word| scope(word)).collect()),
    },
    RestrictKey {
        name: "handlers",
        about: "The kinds of handlers that hooks of others may have.",
        words: &[],
        field: |restrictions, words| restrictions.handlers = Some(words),
    },
    RestrictKey {
        name: "urls",
        about: "Patterns of the URLs that hooks of others may call.",
        words: &[],
        field: |restrictions, words| restrictions.urls = Some(words),
    },
    RestrictKey {
        name: "env",
        about: "Names of variables that hooks of others may get, besides what every program needs; `CI_*` is all that begin with `CI_`.",
        words: &[],
        field: |restrictions, words| restrictions.env = Some(words),
    },
];

const SCOPES: &[Scope] = &[Scope::Managed, Scope::User, Scope::Project, Scope::Local, Scope::Plugin];

fn scope(word: &str) -> Option<Scope> {
    SCOPES.iter().copied().find(|scope| scope.to_string() == word)
}

/// What cannot be read is taken for the strictest: nothing is allowed by it. A key that nobody knows might have restricted
/// anything, so all is closed.
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
            let why = format!("a restriction that nobody knows, `{}`", member.key);
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
            misspelt_handlers(decoder, &words, &member.value);
        }
        (key.field)(&mut restrictions, words);
    }
    restrictions
}

/// A host may have kinds of its own, so only what looks like a slip of the pen is told.
fn misspelt_handlers(decoder: &mut Decoder<'_>, words: &[String], node: &Node<'_>) {
    let known = || crate::agents::native::SHAPE.handlers.iter().map(|row| row.kind);
    for (word, item) in words.iter().zip(node.as_array().unwrap_or_default()) {
        if let Some(meant) = closest_match(word, known()).filter(|meant| meant != word) {
            let text = format!("no handlers of the kind `{word}` are known");
            decoder.warning("unknown-value", item.span, text).help = Some(format!("did you mean `{meant}`?"));
        }
    }
}
