//! The shell that a variable names.
//!
//! A project's settings can set variables for an agent. A program of the project would run unasked as a shell, and `true` takes
//! every text for done: a guard would say nothing.

use std::path::Path;

use checkrein_core::Scope;
use checkrein_dialects::CommandSpec;

use super::HandlerEnv;
use crate::trust::{ProjectRoots, is_system};

/// What shells are called.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "oksh", "ash", "fish", "rbash", "yash"];

/// What a variable says.
pub(super) enum Named {
    /// This shell.
    Shell(String),
    /// Nothing, or one that is not there, which would keep every hook from running.
    Nothing,
    /// What is not taken for one.
    Refused,
}

/// The shell for a hook of this scope, as the variable says.
pub(super) fn of_variable(variable: &str, spec: &CommandSpec, scope: Scope, env: &HandlerEnv) -> Named {
    let Some(named) = env.var(variable) else { return Named::Nothing };
    let path = Path::new(&named);
    let has_place = path.components().count() > 1 || named.contains('/');
    if has_place && !path.exists() {
        return Named::Nothing;
    }
    let is_asked_for = scope != Scope::Managed && spec.env_allow.iter().any(|own| own == variable);
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let is_shell = || SHELLS.contains(&name);
    let lies_well = || match scope {
        Scope::Managed => has_place && is_system(path),
        _ => !has_place || (path.is_absolute() && !ProjectRoots::around(&env.cwd).has(path)),
    };
    if is_asked_for || (is_shell() && lies_well()) { Named::Shell(named) } else { Named::Refused }
}
