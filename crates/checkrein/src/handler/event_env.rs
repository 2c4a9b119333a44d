//! Variables that hold data of the event, for dialects that have them.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use checkrein_core::payload::Field;
use checkrein_core::{Event, EventKind};
use checkrein_dialects::payload::text_at;
use checkrein_dialects::{Data, Dialect};

use crate::private_file;

/// What one variable may hold. The system refuses to start a program with one of 128 KiB, and with too many of them; a
/// value that cannot be passed must not keep a guard from running.
const MOST: usize = 64 * 1024;

/// Variables for one run, and files with what is too large for them. Dropping it removes the files.
#[derive(Debug, Default)]
pub(super) struct Variables {
    pub(super) all: Vec<(OsString, OsString)>,
    files: Vec<PathBuf>,
}

impl Variables {
    /// Those that the dialect has for this event.
    ///
    /// # Errors
    /// A value that is too large, and no file can be written.
    pub(super) fn of(dialect: &Dialect, event: &Event, project: &Path) -> io::Result<Self> {
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
        if value.len() <= MOST && !value.contains('\0') {
            self.all.push((name.into(), value.into()));
            return Ok(());
        }
        let path = private_file::write(&std::env::temp_dir(), "", value.as_bytes())?;
        self.files.push(path.clone());
        let mut says = OsString::from("@");
        says.push(&path);
        self.all.push((name.into(), says));
        self.all.push((format!("{name}_FILE").into(), path.into()));
        Ok(())
    }
}

impl Drop for Variables {
    fn drop(&mut self) {
        for path in &self.files {
            // Whoever has removed it before us was faster.
            let _ = fs::remove_file(path);
        }
    }
}

/// What a row of the table stands for.
fn value(data: Data, dialect: &Dialect, event: &Event, project: &Path) -> Option<String> {
    let kind = event.kind();
    match data {
        Data::EventName => Some(dialect.name_of(&kind).unwrap_or(kind.name()).to_owned()),
        Data::Fixed(text) => Some(text.to_owned()),
        Data::ProjectDir => Some(project.to_string_lossy().into_owned()),
        Data::Field(name) => text_at(event, name),
        Data::FirstOf(names) => names.iter().find_map(|name| text_at(event, name)),
        Data::ToolFailed => {
            let says_so = matches!(event.field("is_error"), Some(Field::Flag(true)));
            Some(u8::from(says_so || kind == EventKind::PostToolFailure).to_string())
        }
        Data::Digit(name) => match event.field(name)? {
            Field::Flag(flag) => Some(u8::from(flag).to_string()),
            _ => None,
        },
    }
}

/// A word of a command with `${NAME}` filled in, for what is known when the hook is loaded.
pub(super) fn filled(word: &str, dialect: &Dialect, project: &Path) -> String {
    let known = dialect.process.variables.iter().filter(|row| row.from == Data::ProjectDir);
    known.fold(word.to_owned(), |word, row| word.replace(&format!("${{{}}}", row.name), &project.to_string_lossy()))
}
