use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use crate::marker::Marker;
use crate::place::Place;
use crate::sandbox::SandboxError;

/// All that one start needs, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launch<'a> {
    /// A path with a directory in it. Absolute, or relative to the place's directory.
    pub(crate) program: &'a Path,
    /// The name that the process sees as its own.
    #[cfg_attr(windows, expect(dead_code, reason = "Windows has one name for both"))]
    pub(crate) arg0: &'a OsStr,
    pub(crate) args: Args<'a>,
    pub(crate) place: &'a Place,
    /// The value of `PWD`, where it must differ from the one in the place.
    pub(crate) pwd: Option<&'a OsStr>,
    pub(crate) marker: &'a Marker,
    /// The sandbox's own temporary directory.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "needs a sandbox"))]
    pub(crate) temporary: Option<&'a Path>,
    /// Whether nobody reads stdout.
    pub(crate) stdout_closed: bool,
}

#[cfg(all(test, target_os = "linux"))]
impl<'a> Launch<'a> {
    /// Of a program that does nothing.
    pub(crate) fn of_nothing(place: &'a Place, marker: &'a Marker) -> Self {
        Self {
            program: Path::new("/bin/true"),
            arg0: "true".as_ref(),
            args: Args::List(&[]),
            place,
            pwd: None,
            marker,
            temporary: None,
            stdout_closed: false,
        }
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
