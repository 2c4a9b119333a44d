//! Environment variables with data of the event, for dialects that have them.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use checkrein_core::payload::Field;
use checkrein_core::{Event, EventKind};
use checkrein_dialects::payload::text_at;
use checkrein_dialects::{Data, Dialect};

use crate::private_file;

/// Maximum length of a variable. Linux refuses to start a program with a variable of 128 KiB, or with too many variables. A
/// long value must not keep a guard from running, so it goes to a file.
const MAX_VALUE: usize = 64 * 1024;

/// Variables for one run, and files with values that are too long. Dropping it removes the files.
#[derive(Debug, Default)]
pub(super) struct Variables {
    pub(super) all: Vec<(OsString, OsString)>,
    files: Vec<PathBuf>,
}

impl Variables {
    /// Returns the variables of the dialect for this event.
    ///
    /// # Errors
    /// A value is too long, and its file cannot be written.
    pub(super) fn for_event(dialect: &Dialect, event: &Event, project: &Path) -> io::Result<Self> {
        let mut variables = Self::default();
        for row in dialect.process.variables {
            let value = value(row.from, dialect, event, project).or_else(|| row.absent.map(str::to_owned));
            if let Some(value) = value {
                variables.set(row.name, value)?;
            }
        }
        Ok(variables)
    }

    fn set(&mut self, name: &str, value: String) -> io::Result<()> {
        if value.len() <= MAX_VALUE && !value.contains('\0') {
            self.all.push((name.into(), value.into()));
            return Ok(());
        }
        let path = private_file::write(&std::env::temp_dir(), "", value.as_bytes())?;
        self.files.push(path.clone());
        let mut reference = OsString::from("@");
        reference.push(&path);
        self.all.push((name.into(), reference));
        self.all.push((format!("{name}_FILE").into(), path.into()));
        Ok(())
    }
}

impl Drop for Variables {
    fn drop(&mut self) {
        for path in &self.files {
            // The hook may have removed the file.
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns the value of a row of the table.
fn value(data: Data, dialect: &Dialect, event: &Event, project: &Path) -> Option<String> {
    let kind = event.kind();
    match data {
        Data::SentEventName => Some(dialect.sent_name_of(&kind).to_owned()),
        Data::EventName => Some(dialect.name_of(&kind).unwrap_or(kind.name()).to_owned()),
        Data::Fixed(text) => Some(text.to_owned()),
        Data::ProjectDir => Some(project.to_string_lossy().into_owned()),
        Data::Field(name) => text_at(event, name),
        Data::FirstOf(names) => names.iter().find_map(|name| text_at(event, name)),
        Data::ToolFailed => {
            let is_error = matches!(event.field("is_error"), Some(Field::Flag(true)));
            Some(u8::from(is_error || kind == EventKind::PostToolFailure).to_string())
        }
        Data::Digit(name) => match event.field(name)? {
            Field::Flag(flag) => Some(u8::from(flag).to_string()),
            _ => None,
        },
    }
}

/// Expands `${NAME}` in a word of a command, for variables that are known when the hook is loaded.
pub(super) fn filled(word: &str, dialect: &Dialect, project: &Path) -> String {
    let known = dialect.process.variables.iter().filter(|row| row.from == Data::ProjectDir);
    known.fold(word.to_owned(), |word, row| word.replace(&format!("${{{}}}", row.name), &project.to_string_lossy()))
}
