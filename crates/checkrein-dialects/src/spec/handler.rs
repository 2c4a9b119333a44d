//! Handlers of hooks as they are configured: a command, an HTTP endpoint, a builtin, a rule, a callback, or a handler of the host.

use std::fmt::{self, Write as _};

use checkrein_core::RawJson;
use checkrein_core::property::{Properties, Property};

use super::{Callback, CommandSpec, HttpSpec, RuleSpec};

/// Handler of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandlerSpec {
    /// A command.
    Command(CommandSpec),
    /// An HTTP endpoint.
    Http(HttpSpec),
    /// A builtin of the registry.
    Builtin(BuiltinSpec),
    /// A rule.
    Rule(Box<RuleSpec>),
    /// A callback of the host.
    Callback(Callback),
    /// A handler of a kind that the host has registered.
    Other {
        /// Name of the kind.
        kind: String,
        /// Settings of the handler.
        settings: RawJson,
    },
}

impl HandlerSpec {
    /// Returns the kind, by which the registry finds the handler.
    pub fn kind(&self) -> HandlerKind<'_> {
        match self {
            Self::Command(_) => HandlerKind::Command,
            Self::Http(_) => HandlerKind::Http,
            Self::Builtin(_) => HandlerKind::Builtin,
            Self::Rule(_) => HandlerKind::Rule,
            Self::Callback(_) => HandlerKind::Callback,
            Self::Other { kind, .. } => HandlerKind::Other(kind),
        }
    }

    /// Returns a text that identifies the handler. It may contain secrets, so it must not be shown.
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
            Self::Rule(rule) => rule.list_properties(properties),
            // Callbacks are code of the host: they need no approval, and no two are equal.
            Self::Callback(callback) => properties.add("callback", format!("{callback:?}")),
            Self::Other { kind, settings } => {
                properties.add("handler", kind);
                properties.add("settings", settings.as_str());
            }
        }
    }
}

/// Kind of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HandlerKind<'a> {
    /// A command.
    Command,
    /// An HTTP endpoint.
    Http,
    /// A builtin of the registry.
    Builtin,
    /// A rule.
    Rule,
    /// A callback of the host.
    Callback,
    /// A kind that the host has registered under this name.
    Other(&'a str),
}

impl<'a> HandlerKind<'a> {
    /// Returns the name, as in files and records.
    pub fn name(self) -> &'a str {
        match self {
            Self::Command => "command",
            Self::Http => "http",
            Self::Builtin => "builtin",
            Self::Rule => "rule",
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

/// Returns a text that is equal only for equal properties.
pub(super) fn text_of(properties: &[Property]) -> String {
    let mut text = String::new();
    for Property { label, value } in properties {
        // The length separates the values.
        let _ = writeln!(text, "{label}:{}:{value}", value.len());
    }
    text
}

/// A builtin of the registry and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltinSpec {
    /// Name.
    pub name: String,
    /// Arguments.
    pub args: Vec<String>,
}
