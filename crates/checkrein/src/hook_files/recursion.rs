//! Hooks that call checkrein, in files that checkrein reads.
//!
//! `checkrein install` puts `checkrein hook …` into an agent's own file. If checkrein includes that file, running the entry
//! would start checkrein again, which would read the file again. So such an entry never runs.

use std::path::Path;

use checkrein_core::HookState;
use checkrein_dialects::config::{Diagnostic, Severity};
use checkrein_dialects::{CommandLine, HandlerSpec, HookSpec};

use crate::builtins::shell::{ShellEnv, SimpleCommand, simple_commands, simple_commands_of_argv};

/// Disables a hook that calls checkrein, and reports it.
pub(super) fn disable(spec: &mut HookSpec) -> Option<Diagnostic> {
    let HandlerSpec::Command(command) = &spec.handler else { return None };
    let world = ShellEnv { home: None, cwd: Path::new("/") };
    let steps = match &command.run {
        CommandLine::Shell { text, .. } => simple_commands(text, world),
        CommandLine::Argv(argv) => simple_commands_of_argv(argv, world),
    };
    if spec.state != HookState::Ready || !steps.is_ok_and(|steps| steps.iter().any(is_own)) {
        return None;
    }
    spec.state = HookState::Disabled;
    spec.disabled_by = Some("calls checkrein".to_owned());
    let info = &spec.info;
    let file = info.source.file.clone().unwrap_or_default();
    let line = info.source.line.map(|line| format!(" in line {line}")).unwrap_or_default();
    let text = format!(
        "hook `{}`{line} is disabled: it calls checkrein, which already runs the other hooks of this file",
        info.id
    );
    Some(Diagnostic::of_file(Severity::Warning, "calls-itself", file, text))
}

fn is_own(step: &SimpleCommand) -> bool {
    let name = step.name.strip_suffix(".exe").unwrap_or(&step.name);
    name == "checkrein" && step.operands().next().is_some_and(|word| word.text == "hook")
}
