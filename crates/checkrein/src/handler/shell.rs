//! Shells named by environment variables such as `SHELL`.
//!
//! A project's settings can set variables of an agent. So a variable must not make a program of the project the shell of a
//! guard, nor a program like `true`, which would accept every command and disable the guard.

use std::path::{Path, PathBuf};

use checkrein_core::Scope;
use checkrein_dialects::CommandSpec;

use super::{HandlerEnv, environment};
use crate::trust::is_system;

/// Names of known shells.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "oksh", "ash", "fish", "rbash", "yash"];

/// Value of such a variable.
pub(super) enum ShellVariable {
    /// An accepted shell.
    Shell(String),
    /// Unset, or a missing program: with that, no hook could run.
    Unusable,
    /// A program that is not accepted as a shell.
    Refused,
}

/// `true` if a program is inside of the project, another checkout or a cache of packages.
fn is_in_others_code(path: &Path, env: &HandlerEnv) -> bool {
    let home = env.var("HOME").map(PathBuf::from);
    let is_foreign = || path.parent().is_some_and(|dir| environment::is_foreign(dir, home.as_deref()));
    env.project_roots().contains(path) || is_foreign()
}

/// Returns the shell that a variable names, for a hook of this scope.
pub(super) fn from_variable(variable: &str, spec: &CommandSpec, scope: Scope, env: &HandlerEnv) -> ShellVariable {
    let Some(named) = env.var(variable) else { return ShellVariable::Unusable };
    let path = Path::new(&named);
    let has_place = path.components().count() > 1 || named.contains('/');
    if has_place && !path.exists() {
        return ShellVariable::Unusable;
    }
    let is_requested = scope != Scope::Managed && spec.env_allow.iter().any(|own| own == variable);
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let is_shell = || SHELLS.contains(&name);
    let is_trusted_location = || match scope {
        Scope::Managed => has_place && is_system(path),
        _ => !has_place || (path.is_absolute() && !is_in_others_code(path, env)),
    };
    if is_requested || (is_shell() && is_trusted_location()) {
        ShellVariable::Shell(named)
    } else {
        ShellVariable::Refused
    }
}
