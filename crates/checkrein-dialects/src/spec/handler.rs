//! Handlers of hooks as they are configured: a command, an HTTP endpoint, a builtin, a callback, or a handler of the host.

use std::fmt::{self, Write as _};

use checkrein_core::RawJson;
use checkrein_core::property::{Properties, Property};

use super::{Callback, CommandSpec, HttpSpec};

/// What does a hook's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandlerSpec {
    /// A process.
    Command(CommandSpec),
    /// An HTTP endpoint.
    Http(HttpSpec),
    /// A function of the registry.
    Builtin(BuiltinSpec),
    /// A function of the host.
    Callback(Callback),
    /// What only the host knows: a kind that it has registered, and settings for it.
    Other {
        /// The kind.
        kind: String,
        /// Its settings.
        settings: RawJson,
    },
}

impl HandlerSpec {
    /// The kind by which the registry finds it.
    pub fn kind(&self) -> HandlerKind<'_> {
        match self {
            Self::Command(_) => HandlerKind::Command,
            Self::Http(_) => HandlerKind::Http,
            Self::Builtin(_) => HandlerKind::Builtin,
            Self::Callback(_) => HandlerKind::Callback,
            Self::Other { kind, .. } => HandlerKind::Other(kind),
        }
    }

    /// What tells it from other handlers, secrets included: not for the eyes of people.
    pub(crate) fn identity(&self) -> String {
        let mut properties = Properties::new();
        self.list_properties(&str::to_owned, &mut properties);
        text_of(&properties.into_vec())
    }

    pub(super) fn list_properties(&self, path: &dyn Fn(&str) -> String, properties: &mut Properties) {
        match self {
            Self::Command(command) => command.list_properties(path, properties),
            Self::Http(http) => http.list_properties(properties),
            Self::Builtin(BuiltinSpec { name, args }) => {
                properties.add("builtin", name);
                properties.add_each("argument", args);
            }
            // Callbacks are code of the host: they need no approval, and each is its own.
            Self::Callback(callback) => properties.add("callback", format!("{callback:?}")),
            Self::Other { kind, settings } => {
                properties.add("handler", kind);
                properties.add("settings", settings.as_str());
            }
        }
    }
}

/// The kind of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HandlerKind<'a> {
    /// A process.
    Command,
    /// An HTTP endpoint.
    Http,
    /// A function of the registry.
    Builtin,
    /// A function of the host.
    Callback,
    /// A kind that the host has registered under this name.
    Other(&'a str),
}

impl<'a> HandlerKind<'a> {
    /// The name, as in files and records.
    pub fn name(self) -> &'a str {
        match self {
            Self::Command => "command",
            Self::Http => "http",
            Self::Builtin => "builtin",
            Self::Callback => "callback",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for HandlerKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that is the same for the same properties, and for no others.
pub(super) fn text_of(properties: &[Property]) -> String {
    let mut text = String::new();
    for Property { label, value } in properties {
        // With the length, so that no value runs into the next one.
        let _ = writeln!(text, "{label}:{}:{value}", value.len());
    }
    text
}

/// A function of the registry, and what it is called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltinSpec {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<String>,
}
