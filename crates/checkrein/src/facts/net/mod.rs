//! Hosts that a tool call contacts.
//!
//! Rules use them as `net`. Hosts come from the words of commands and from URLs in the input of tools. Names are never
//! resolved: the scope of a host follows from its text alone.

mod address;
mod programs;
mod remote;
#[cfg(test)]
mod tests;
mod tools;
mod url;

use std::ops::Range;

use checkrein_core::Event;
use checkrein_expression::{Field, List, Object, Schema, Type, Value};

use super::{RepositoryState, cached, file_word as word, formats};
use crate::builtins::commands::ParsedCommands;
use crate::builtins::shell::Expanded;

/// Values of `scope`.
const SCOPES: &[&str] = &["loopback", "private", "public", "metadata", "unknown"];

/// Fields of a connection.
pub(crate) static SCHEMA: Schema = Schema {
    name: "connection",
    doc: "A host that the call contacts.",
    fields: &[
        Field { name: "host", kind: Type::Format(&formats::HOST), doc: "Name or address of the host, in lower case." },
        Field {
            name: "port",
            kind: Type::Range(0, 65_535),
            doc: "Port; the default of the scheme, or 0 if it is not known.",
        },
        Field {
            name: "scheme",
            kind: Type::Format(&formats::SCHEME),
            doc: "Scheme such as `https` or `ssh`; empty if there is none.",
        },
        Field {
            name: "scope",
            kind: Type::OneOf(SCOPES),
            doc: "`loopback`, `private`, `public`, `metadata` (credentials of cloud machines) or `unknown`, from the text of \
                  the host alone.",
        },
        Field { name: "upload", kind: Type::Bool, doc: "`true` if the call sends data to the host." },
        Field { name: "url", kind: Type::String, doc: "URL or address as written." },
        Field { name: "program", kind: Type::String, doc: "Program that connects; empty for tools." },
    ],
    methods: &[],
};

/// Returns the connections of a call as a list of objects.
pub(crate) fn net(event: &Event, commands: &ParsedCommands, given: Option<&RepositoryState>) -> Value {
    let mut connections = tools::in_input(event);
    for command in &commands.simple_commands {
        connections.extend(programs::in_command(command, given));
    }
    let elements: Vec<_> = connections.into_iter().map(cached::value).collect();
    let rest = commands.parse_error.map(word::unknown);
    Value::List(List { elements: elements.into(), rest })
}

/// A host that a call contacts.
#[derive(Debug, Clone)]
struct Connection {
    /// Host as written, without user and port.
    host: Expanded,
    /// `None` if the port is not known.
    port: Option<u16>,
    scheme: String,
    upload: bool,
    /// URL or address as written.
    url: Expanded,
    program: String,
}

impl Connection {
    /// `true` if the scheme is a part of an unknown text: `curl $URL`.
    fn has_open_scheme(&self) -> bool {
        let starts_unknown = self.url.unknown.first().is_some_and(|range| range.start == 0);
        self.scheme == "http" && starts_unknown && !self.url.text.contains("://")
    }

    /// `true` for `host:$PORT`.
    fn has_open_port(&self) -> bool {
        let is_port = |range: &Range<usize>| self.url.text[..range.start].ends_with(':');
        self.url.unknown.iter().filter(|range| range.start > 0).any(is_port)
    }
}

impl Object for Connection {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn field(&self, index: usize) -> Value {
        match index {
            0 if self.host.known => self.host.text.to_ascii_lowercase().trim_end_matches('.').into(),
            0 => word::value(&self.host),
            1 if self.port.is_none() && (self.has_open_port() || self.has_open_scheme()) => {
                Value::Unknown(word::unknown(&self.url.text))
            }
            1 => i64::from(self.port.or_else(|| address::default_port(&self.scheme)).unwrap_or(0)).into(),
            2 if self.has_open_scheme() => Value::Unknown(word::unknown(&self.url.text)),
            2 => self.scheme.as_str().into(),
            3 => address::scope(&self.host),
            4 => self.upload.into(),
            5 => word::value(&self.url),
            _ => self.program.as_str().into(),
        }
    }
}
