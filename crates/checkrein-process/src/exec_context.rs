//! [`ExecContext`]: the working directory, the environment and the sandbox of a process.
//!
//! Callers create it, and every start uses it. A process never inherits variables of the host.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sandbox::Sandbox;

/// Working directory, complete environment and [`Sandbox`] of a process. Clones share the data.
///
/// The process inherits no variable of the host. Only the [marker](crate::MARKER) is added.
///
/// ```
/// use checkrein_process::ExecContext;
///
/// let context = ExecContext::new("/tmp").env([("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8")]);
/// assert_eq!(context.var("LANG").unwrap(), "C.UTF-8");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ExecContext {
    cwd: Arc<Path>,
    env: Arc<[(OsString, OsString)]>,
    sandbox: Option<Arc<Sandbox>>,
}

impl ExecContext {
    /// A working directory with an empty environment. A relative directory is resolved against the current one of the host.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        let cwd = std::path::absolute(&cwd).unwrap_or(cwd);
        Self { cwd: cwd.into(), env: Arc::new([]), sandbox: None }
    }

    /// Replaces all variables. If a name occurs twice, the last value applies.
    #[must_use]
    pub fn env<K: Into<OsString>, V: Into<OsString>>(mut self, variables: impl IntoIterator<Item = (K, V)>) -> Self {
        self.env = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// Adds variables.
    #[must_use]
    pub fn add_env<K: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let more = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.env = self.env.iter().cloned().chain(more).collect();
        self
    }

    /// Replaces the working directory.
    #[must_use]
    pub fn with_cwd(self, cwd: impl Into<PathBuf>) -> Self {
        Self { env: self.env, sandbox: self.sandbox, ..Self::new(cwd) }
    }

    /// Sets the sandbox.
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

    /// The value of a variable. Names are case-insensitive on Windows.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        let is_same = |other: &OsStr| {
            if cfg!(windows) { other.eq_ignore_ascii_case(name) } else { other == name }
        };
        let (_, value) = self.env.iter().rev().find(|(other, _)| is_same(other))?;
        Some(value)
    }
}

impl fmt::Debug for ExecContext {
    // The values of variables may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecContext")
            .field("cwd", &self.cwd)
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("sandbox", &self.sandbox)
            .finish()
    }
}
