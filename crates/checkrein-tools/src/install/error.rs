//! Errors of an installation.

use std::io;
use std::path::PathBuf;

use checkrein_core::Scope;
use checkrein_document::LineColumn;

/// Error for an agent's settings that cannot be edited. The file at fault is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The settings have an unknown location or a format that checkrein cannot edit.
    #[error("checkrein cannot edit the settings of {agent}: {by_hand}")]
    ByHand {
        /// Agent.
        agent: &'static str,
        /// Instructions for the user.
        by_hand: String,
        /// Entries to paste, as a complete file. `None` if the agent has no such file.
        paste: Option<String>,
    },
    /// The location of the file is unknown.
    #[error("cannot locate the {scope} settings of {agent}; set HOME")]
    Nowhere {
        /// Agent.
        agent: &'static str,
        /// Scope of the settings.
        scope: Scope,
    },
    /// The file cannot be parsed, or its structure leaves no room for the entries.
    #[error("{}:{}:{}: {message} (nothing was changed; fix the file first)", path.display(), place.line, place.column)]
    Broken {
        /// File.
        path: PathBuf,
        /// Location in the file.
        place: LineColumn,
        /// Problem.
        message: String,
    },
    /// The file is not UTF-8.
    #[error("{}: the file is not valid UTF-8 (nothing was changed; convert it first)", path.display())]
    NotText {
        /// File.
        path: PathBuf,
    },
    /// The file is read-only.
    #[error("{}: the file is read-only; make it writable (chmod u+w) and try again", path.display())]
    ReadOnly {
        /// File.
        path: PathBuf,
    },
    /// The file is a dangling symbolic link.
    #[error("{}: the target of this symbolic link does not exist (nothing was changed; fix the link first)", path.display())]
    Dangling {
        /// Link.
        path: PathBuf,
    },
    /// Another program has the name that ours needs.
    #[error("{}: another hook has this name; call `{command}` from it, or move it", path.display())]
    Taken {
        /// File.
        path: PathBuf,
        /// Command that our program would have called.
        command: String,
    },
    /// A file operation failed.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// Operation, as a verb.
        doing: &'static str,
        /// File or directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl InstallError {
    pub(super) fn io(doing: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}
