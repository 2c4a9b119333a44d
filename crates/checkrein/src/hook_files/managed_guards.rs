//! Hardening of managed hooks: a fixed `PATH`, no `once`, and checks of their programs.

use std::path::Path;

use checkrein_dialects::config::{Diagnostic, Severity};
use checkrein_dialects::{CommandLine, CommandSpec, HandlerSpec, HookSpec};

use super::locations::Locations;
use super::ownership;
use crate::builtins::shell::{ShellEnv, simple_commands, simple_commands_of_argv};

/// `PATH` of managed commands. The project can set the `PATH` of the agent.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/// Prepares a managed hook. `thorough` also checks its programs.
pub(super) fn prepare(spec: &mut HookSpec, place: &Locations, thorough: bool) -> Vec<Diagnostic> {
    let mut notes: Vec<_> = disable_once(spec).into_iter().collect();
    if let HandlerSpec::Command(command) = &mut spec.handler {
        let problems = if thorough { program_problems(command, place) } else { Vec::new() };
        if cfg!(unix) && !command.env_set.iter().any(|(name, _)| name == "PATH") {
            command.env_set.push(("PATH".to_owned(), PATH.to_owned()));
        }
        notes.extend(problems.into_iter().map(|problem| note(spec, "unguarded-program", &problem)));
    }
    notes
}

/// Removes `once` from a gate. The store of past runs may be writable by an agent, so a guard must run every time.
fn disable_once(spec: &mut HookSpec) -> Option<Diagnostic> {
    if !spec.once {
        return None;
    }
    let kind = spec.kinds.iter().find(|kind| kind.contract().is_gate())?;
    let text = format!("`once` is ignored: managed hooks at `{kind}` run every time");
    spec.once = false;
    Some(note(spec, "no-effect", &text))
}

/// Describes programs of a command that other users can replace. Programs without a path come from the fixed `PATH`.
fn program_problems(command: &CommandSpec, place: &Locations) -> Vec<String> {
    let world = ShellEnv { home: None, cwd: Path::new("/") };
    let steps = match &command.run {
        CommandLine::Shell { text, .. } => simple_commands(text, world),
        CommandLine::Argv(argv) => simple_commands_of_argv(argv, world),
    };
    let steps = steps.unwrap_or_default();
    let paths = steps.iter().map(|step| &step.program).filter(|program| program.known && program.text.contains('/'));
    paths
        .filter_map(|program| {
            let path = Path::new(&program.text);
            if !path.is_absolute() {
                return Some(format!(
                    "`{}` is relative to the agent's working directory, so a project can replace it; use an absolute path",
                    program.text
                ));
            }
            let problem = ownership::check(path, place).problem?;
            Some(format!("other users can replace `{}`: {problem}", program.text))
        })
        .collect()
}

fn note(spec: &HookSpec, code: &'static str, message: &str) -> Diagnostic {
    let info = &spec.info;
    let line = info.source.line.map(|line| format!(" in line {line}")).unwrap_or_default();
    let text = format!("hook `{}`{line}: {message}", info.id);
    Diagnostic::of_file(Severity::Warning, code, info.source.file.clone().unwrap_or_default(), text)
}
