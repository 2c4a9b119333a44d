//! Errors of an installation.

use std::io;
use std::path::{Path, PathBuf};

use checkrein::internal::regular_file::ReadError;
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
    /// The file belongs to another user, and only that user or root can write a file with this owner.
    #[error(
        "{}: the file belongs to another user (uid {uid}, gid {gid}), and a change would make it yours (nothing was changed; \
         change the owner first, or edit it as that user)", path.display()
    )]
    OtherOwner {
        /// File.
        path: PathBuf,
        /// User id of the owner.
        uid: u32,
        /// Group id of the owner.
        gid: u32,
    },
    /// A link of the project leads out of it.
    #[error(
        "{} leads out of the project, to {} (nothing was changed; replace the link with a file, or install without --project)",
        path.display(), real.display()
    )]
    OutOfProject {
        /// File in the project.
        path: PathBuf,
        /// File that the path leads to.
        real: PathBuf,
    },
    /// The settings of the project are the user's own file.
    #[error("{}: this is your own settings file; run `checkrein {command} {agent}`", path.display())]
    OwnFile {
        /// Command for the user's settings.
        command: &'static str,
        /// Agent.
        agent: &'static str,
        /// File.
        path: PathBuf,
    },
    /// The path is no regular file, or the file is too large.
    #[error("{}: {error} (nothing was changed; remove it or move it first)", path.display())]
    Unreadable {
        /// File.
        path: PathBuf,
        /// Error of the reader.
        error: ReadError,
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
    pub(super) fn from_read_error(path: &Path, error: ReadError) -> Self {
        let path = path.to_owned();
        match error {
            ReadError::NotText(_) => Self::NotText { path },
            ReadError::DeadLink => Self::Dangling { path },
            ReadError::Io(source) => Self::Io { doing: "read", path, source },
            ReadError::NoPermission => Self::Io { doing: "read", path, source: io::ErrorKind::PermissionDenied.into() },
            error => Self::Unreadable { path, error },
        }
    }

    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}
