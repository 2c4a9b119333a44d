//! Check of a converted hook: the other agent must accept its file, and its script must work there.

use std::path::Path;

use checkrein_core::Scope;
use checkrein_dialects::config::Severity;
use checkrein_dialects::{Dialect, HookSpec};
use checkrein_document::Format;

use crate::lint;

/// A problem of a hook's script that exists only with the other agent.
pub(super) struct Finding {
    pub(super) message: String,
    /// `true` if a guard with this problem cannot block.
    pub(super) is_dead: bool,
}

/// Lists the problems that a converted hook has and the original does not have.
///
/// # Errors
/// The reason why the other agent rejects the file.
pub(super) fn findings(hook: &HookSpec, text: &str, to: &'static Dialect, dir: &Path) -> Result<Vec<Finding>, String> {
    let format = if text.starts_with('{') { Format::Json } else { Format::Yaml };
    let scope = Scope::Project;
    let decoded = to.decode("", scope, text, format);
    if let Some(error) = decoded.diagnostics.into_iter().find(|found| found.severity == Severity::Error) {
        return Err(error.message);
    }
    let env = lint::environment(dir);
    let before = lint::lint(std::slice::from_ref(hook), &env);
    let new =
        lint::lint(&decoded.hooks, &env).into_iter().filter(|found| !before.iter().any(|had| had.code == found.code));
    let id_prefixes: Vec<_> = decoded.hooks.iter().map(|hook| format!("hook `{}`: ", hook.info.id)).collect();
    let findings = new.map(|found| {
        let message = id_prefixes.iter().find_map(|prefix| found.message.strip_prefix(prefix.as_str()));
        let message = message.unwrap_or(&found.message).to_owned();
        Finding { message, is_dead: DEAD.contains(&found.code) }
    });
    Ok(findings.collect())
}

/// Lints about guards that never block.
const DEAD: [&str; 6] =
    ["exit-1", "matcher-fits-nothing", "unknown-answer", "json-to-stderr", "answer-with-exit", "answer-not-read"];
