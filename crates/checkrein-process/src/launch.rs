use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use crate::exec_context::ExecContext;
use crate::marker::{MARKER, Marker};
use crate::sandbox::SandboxError;

/// All that one start needs, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpawnSpec<'a> {
    /// A path with a directory in it. Absolute, or relative to the place's directory.
    pub(crate) program: &'a Path,
    /// The name that the process sees as its own.
    #[cfg_attr(windows, expect(dead_code, reason = "Windows has one name for both"))]
    pub(crate) arg0: &'a OsStr,
    pub(crate) args: Args<'a>,
    pub(crate) place: &'a ExecContext,
    /// The value of `PWD`, where it must differ from the one in the place.
    pub(crate) pwd: Option<&'a OsStr>,
    pub(crate) marker: &'a Marker,
    /// The sandbox's own temporary directory.
    pub(crate) temporary: Option<&'a Path>,
    /// Whether nobody reads stdout.
    pub(crate) stdout_closed: bool,
}

/// git fails if its file in the home directory is there and cannot be read. This variable names another one.
const GIT_CONFIG: (&str, &str) = ("GIT_CONFIG_GLOBAL", "/dev/null");

impl<'a> SpawnSpec<'a> {
    /// The variables of the new process. If a name occurs twice, the last value applies.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> + use<'a> {
        let hides_git_config = self.hides_home() && self.place.var(GIT_CONFIG.0).is_none();
        let own = [
            Some((OsStr::new(MARKER), self.marker.value())),
            self.pwd.map(|pwd| (OsStr::new("PWD"), pwd)),
            self.temporary.map(|path| (OsStr::new("TMPDIR"), path.as_os_str())),
            hides_git_config.then_some((OsStr::new(GIT_CONFIG.0), OsStr::new(GIT_CONFIG.1))),
        ];
        let given = self.place.variables().iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        given.chain(own.into_iter().flatten())
    }

    /// Returns whether the sandbox keeps the home directory from the process.
    fn hides_home(&self) -> bool {
        let files = self.place.sandboxed().and_then(|sandbox| sandbox.files.as_ref());
        let (Some(files), Some(home)) = (files, self.place.var("HOME")) else { return false };
        !files.read.iter().chain(&files.write).any(|open| Path::new(home).starts_with(open))
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Args<'a> {
    List(&'a [OsString]),
    /// A shell's own arguments, and the text.
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

/// A start that failed.
#[derive(Debug)]
pub(crate) struct StartError {
    pub(crate) error: io::Error,
    /// Whether the process ran, if only for a moment. It must not be started a second time then.
    pub(crate) ran: bool,
    /// What the sandbox had to do with it.
    pub(crate) sandbox: Option<SandboxError>,
}

impl StartError {
    pub(crate) fn before(error: io::Error) -> Self {
        Self { error, ran: false, sandbox: None }
    }

    pub(crate) fn after(error: io::Error) -> Self {
        Self { error, ran: true, sandbox: None }
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "needs a sandbox"))]
    pub(crate) fn sandbox(problem: SandboxError) -> Self {
        Self { error: io::ErrorKind::Unsupported.into(), ran: false, sandbox: Some(problem) }
    }
}
