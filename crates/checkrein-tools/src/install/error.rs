//! What can go wrong.

use std::io;
use std::path::PathBuf;

use checkrein_core::Scope;
use checkrein_document::LineColumn;

/// Why an agent's settings were not written. Nothing is half done then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// Its settings are not known, or cannot be written by a program.
    #[error("checkrein cannot write the settings of {agent}: {by_hand}")]
    ByHand {
        /// The agent.
        agent: &'static str,
        /// What to do instead.
        by_hand: String,
        /// What to put into the file, as a file that has nothing else in it. `None`: nothing would help.
        paste: Option<String>,
    },
    /// Nobody knows where the file is.
    #[error("nobody knows where {agent} keeps the {scope}'s settings: set HOME")]
    Nowhere {
        /// The agent.
        agent: &'static str,
        /// Whose settings.
        scope: Scope,
    },
    /// The file is no text that can be changed.
    #[error("{}:{}:{}: {message}; mend the file first, nothing was changed", path.display(), place.line, place.column)]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: LineColumn,
        /// What is wrong.
        message: String,
    },
    /// It is not in UTF-8.
    #[error("{}: it is not text in UTF-8; nothing was changed", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// It is write-protected.
    #[error("{}: it is read-only, and somebody may mean it; make it writable (chmod u+w) and try again", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// It is a link that leads nowhere.
    #[error("{}: it is a link to something that is not there; nothing was changed", path.display())]
    Dangling {
        /// The link.
        path: PathBuf,
    },
    /// A program of somebody else is where ours would be.
    #[error("{}: somebody else's hook is there; call `{command}` from it, or move it away", path.display())]
    Taken {
        /// The file.
        path: PathBuf,
        /// What would have been called.
        command: String,
    },
    /// The system does not let it be.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl InstallError {
    pub(super) fn io(doing: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }
}
