//! Files that a tool call reads, writes, deletes or executes.
//!
//! Rules use them as `paths`. They come from the same reader as the paths of `protect_paths`. The disk is read only for wildcards,
//! for the fields `real` and `exists`, and for directories that are read or deleted as a whole.

mod fact;
mod pattern;
mod protected;
mod secret;
mod system;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use checkrein_core::Event;
use checkrein_expression::{Field, List, Schema, Type, Value};

use self::fact::PathFact;
use super::{cached, file_word as word, formats};
use crate::builtins::commands::ParsedCommands;
use crate::builtins::protect_paths::access::{self, ACCESSES};

/// Fields of a path.
pub(crate) static SCHEMA: Schema = Schema {
    name: "path",
    doc: "A file or directory that the call reads, writes, deletes or executes.",
    fields: &[
        Field { name: "path", kind: Type::String, doc: "Path as written." },
        Field { name: "abs", kind: Type::Format(&formats::ABSOLUTE), doc: "Absolute path without `.` and `..`." },
        Field { name: "real", kind: Type::Format(&formats::ABSOLUTE), doc: "Absolute path with all links resolved." },
        Field { name: "name", kind: Type::Format(&formats::FILE_NAME), doc: "Last part of the path." },
        Field {
            name: "ext",
            kind: Type::Format(&formats::EXTENSION),
            doc: "Extension without the dot; empty if there is none.",
        },
        Field { name: "access", kind: Type::OneOf(ACCESSES), doc: "`read`, `write`, `delete` or `execute`." },
        Field {
            name: "in_project",
            kind: Type::Bool,
            doc: "`true` if the path is the project or is in it, also with links resolved.",
        },
        Field { name: "in_home", kind: Type::Bool, doc: "`true` if the path is the home directory or is in it." },
        Field { name: "exists", kind: Type::Bool, doc: "`true` if the file exists." },
        Field { name: "secret", kind: Type::Bool, doc: "`true` if the file usually holds credentials." },
        Field {
            name: "protected",
            kind: Type::Bool,
            doc: "`true` if the file controls agents or other programs: hooks, settings of agents, CI, shell profiles.",
        },
        Field {
            name: "of_agent",
            kind: Type::Bool,
            doc: "`true` if the file belongs to checkrein, or to the hooks and settings of an agent.",
        },
        Field {
            name: "system",
            kind: Type::Bool,
            doc: "`true` if the path is the root or is in a directory of the system.",
        },
        Field {
            name: "known_start",
            kind: Type::Format(&formats::ABSOLUTE),
            doc: "Absolute path up to its first unknown part: `/dev/` for `/dev/$DISK`; empty for `$FILE`.",
        },
        Field { name: "program", kind: Type::String, doc: "Program that uses the file; empty for tools." },
        Field {
            name: "remote",
            kind: Type::Bool,
            doc: "`true` if the program runs on another machine or in a container. Other fields then describe a file of this name; `exists` is unknown.",
        },
    ],
    methods: &[],
};

/// Directories that paths are relative to and compared with.
#[derive(Debug, Clone)]
pub(crate) struct PathContext {
    pub(crate) cwd: PathBuf,
    /// Root of the project.
    pub(crate) project: PathBuf,
    pub(crate) home: Option<String>,
    /// Files that exist, for tests of rules. `None`: the disk is read.
    pub(crate) files: Option<Vec<PathBuf>>,
}

/// Maximum number of paths of a call. The rest of a longer list is unknown.
const MOST: usize = 2000;

/// Returns the files of a call as a list of objects.
pub(crate) fn paths(event: &Event, commands: &ParsedCommands, context: &PathContext) -> Value {
    let context = Arc::new(context.clone());
    let used = access::of_call(event, commands, &context.cwd, context.home.as_deref());
    let mut facts: Vec<PathFact> = used.into_iter().flat_map(|used| PathFact::all(used, &context)).collect();
    let mut rest = commands.parse_error.map(word::unknown);
    if facts.len() > MOST {
        facts.truncate(MOST);
        rest = Some(word::unknown("more paths"));
    }
    let elements: Vec<_> = facts.into_iter().map(cached::value).collect();
    Value::List(List { elements: elements.into(), rest })
}
