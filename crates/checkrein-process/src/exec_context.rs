use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sandbox::Sandbox;

/// Where a process runs: its working directory, its whole environment, and its [`Sandbox`]. Clones share the data.
///
/// Nothing of the host's environment is added, save the [marker](crate::MARKER).
///
/// ```
/// use checkrein_process::Place;
///
/// let place = Place::new("/tmp").env([("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8")]);
/// assert_eq!(place.var("LANG").unwrap(), "C.UTF-8");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ExecContext {
    cwd: Arc<Path>,
    env: Arc<[(OsString, OsString)]>,
    sandbox: Option<Arc<Sandbox>>,
}

impl ExecContext {
    /// This working directory and an empty environment. A relative directory is taken from the host's own, now.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        let cwd = std::path::absolute(&cwd).unwrap_or(cwd);
        Self { cwd: cwd.into(), env: Arc::new([]), sandbox: None }
    }

    /// The same with these variables and no others. Of a name that comes twice, the last value counts.
    #[must_use]
    pub fn env<K: Into<OsString>, V: Into<OsString>>(mut self, variables: impl IntoIterator<Item = (K, V)>) -> Self {
        self.env = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// The same with these variables besides.
    #[must_use]
    pub fn also<K: Into<OsString>, V: Into<OsString>>(mut self, variables: impl IntoIterator<Item = (K, V)>) -> Self {
        let more = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.env = self.env.iter().cloned().chain(more).collect();
        self
    }

    /// The same with another working directory.
    #[must_use]
    pub fn at(self, cwd: impl Into<PathBuf>) -> Self {
        Self { env: self.env, sandbox: self.sandbox, ..Self::new(cwd) }
    }

    /// The same in a sandbox.
    #[must_use]
    pub fn sandbox(mut self, sandbox: impl Into<Arc<Sandbox>>) -> Self {
        self.sandbox = Some(sandbox.into());
        self
    }

    /// The sandbox, if there is one.
    pub fn sandboxed(&self) -> Option<&Sandbox> {
        self.sandbox.as_deref()
    }

    /// The working directory.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// All variables.
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.env
    }

    /// The value of a variable.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        let same = |have: &OsStr| {
            if cfg!(windows) { have.eq_ignore_ascii_case(name) } else { have == name }
        };
        let (_, value) = self.env.iter().rev().find(|(have, _)| same(have))?;
        Some(value)
    }
}

impl fmt::Debug for ExecContext {
    // The values of variables may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place")
            .field("cwd", &self.cwd)
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("sandbox", &self.sandbox)
            .finish()
    }
}
