//! [`SpawnSpec`] and [`StartError`]: the interface between the portable code and the code for each system.
//!
//! [`ResolvedCommand`](crate::ResolvedCommand) creates the specification of one start; `unix/` and `windows.rs` start the
//! process.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use crate::exec_context::ExecContext;
use crate::marker::{MARKER, Marker};
use crate::sandbox::SandboxError;

/// Borrowed input of one process start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpawnSpec<'a> {
    /// A path with a directory in it. Absolute, or relative to the working directory.
    pub(crate) program: &'a Path,
    /// The first argument: the name that the process gets.
    #[cfg_attr(windows, expect(dead_code, reason = "Windows derives the name from the program"))]
    pub(crate) arg0: &'a OsStr,
    pub(crate) args: Args<'a>,
    pub(crate) context: &'a ExecContext,
    /// The value of `PWD`, if it must differ from the one in the context.
    pub(crate) pwd: Option<&'a OsStr>,
    pub(crate) marker: &'a Marker,
    /// The private temporary directory of the sandbox.
    pub(crate) temporary: Option<&'a Path>,
    /// `true` if writes to stdout must fail.
    pub(crate) stdout_closed: bool,
}

/// git fails if its configuration in the home directory exists and cannot be read. This variable replaces that file.
const GIT_CONFIG: (&str, &str) = ("GIT_CONFIG_GLOBAL", "/dev/null");

impl<'a> SpawnSpec<'a> {
    /// The variables of the new process. If a name occurs twice, the last value applies.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> + use<'a> {
        let hides_git_config = self.hides_home() && self.context.var(GIT_CONFIG.0).is_none();
        let own = [
            Some((OsStr::new(MARKER), self.marker.value())),
            self.pwd.map(|pwd| (OsStr::new("PWD"), pwd)),
            self.temporary.map(|path| (OsStr::new("TMPDIR"), path.as_os_str())),
            hides_git_config.then_some((OsStr::new(GIT_CONFIG.0), OsStr::new(GIT_CONFIG.1))),
        ];
        let given = self.context.variables().iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        given.chain(own.into_iter().flatten())
    }

    /// Returns `true` if the sandbox does not allow the home directory.
    fn hides_home(&self) -> bool {
        let files = self.context.sandboxed().and_then(|sandbox| sandbox.files.as_ref());
        let (Some(files), Some(home)) = (files, self.context.var("HOME")) else { return false };
        !files.read.iter().chain(&files.write).any(|open| Path::new(home).starts_with(open))
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Args<'a> {
    List(&'a [OsString]),
    /// The arguments of a shell, and the text.
    Shell(&'a [OsString], &'a OsStr),
}

impl<'a> Args<'a> {
    pub(crate) fn iter(self) -> impl Iterator<Item = &'a OsStr> {
        let (list, text) = match self {
            Self::List(list) => (list, None),
            Self::Shell(list, text) => (list, Some(text)),
        };
        list.iter().map(OsString::as_os_str).chain(text)
    }
}

/// Failure of a start.
#[derive(Debug)]
pub(crate) struct StartError {
    pub(crate) error: io::Error,
    /// `true` if the program was executed. It must not be started again then.
    pub(crate) ran: bool,
    /// The problem of the sandbox, if that is the cause.
    pub(crate) sandbox: Option<SandboxError>,
}

impl StartError {
    /// A failure before the program was executed.
    pub(crate) fn before(error: io::Error) -> Self {
        Self { error, ran: false, sandbox: None }
    }

    /// A failure after the program was executed.
    pub(crate) fn after(error: io::Error) -> Self {
        Self { error, ran: true, sandbox: None }
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "needs a sandbox"))]
    pub(crate) fn sandbox(problem: SandboxError) -> Self {
        Self { error: io::ErrorKind::Unsupported.into(), ran: false, sandbox: Some(problem) }
    }
}
