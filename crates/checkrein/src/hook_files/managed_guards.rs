//! What makes an administrator's hooks hard to get round, besides where they stand.

use std::path::Path;

use checkrein_dialects::config::{Diagnostic, Severity};
use checkrein_dialects::{CommandLine, CommandSpec, HandlerSpec, HookSpec};

use super::locations::Locations;
use super::ownership;
use crate::builtins::shell::{ShellEnv, simple_commands, simple_commands_of_argv};

/// Where their commands find programs. The variable that an agent has may be set by the project that it works in.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin";

/// Prepares a hook. `thorough`: also looks at its program.
pub(super) fn prepare(spec: &mut HookSpec, place: &Locations, thorough: bool) -> Vec<Diagnostic> {
    let mut notes: Vec<_> = every_time(spec).into_iter().collect();
    if let HandlerSpec::Command(command) = &mut spec.handler {
        let said = if thorough { programs(command, place) } else { Vec::new() };
        if cfg!(unix) && !command.env_set.iter().any(|(name, _)| name == "PATH") {
            command.env_set.push(("PATH".to_owned(), PATH.to_owned()));
        }
        notes.extend(said.into_iter().map(|said| note(spec, "unguarded-program", &said)));
    }
    notes
}

/// That a guard has had its one run is kept where an agent might write, so it runs every time.
fn every_time(spec: &mut HookSpec) -> Option<Diagnostic> {
    let kind = spec.kinds.iter().find(|kind| kind.contract().is_gate()).filter(|_| spec.once)?;
    let said = format!("it runs every time: an administrator's guard of `{kind}` cannot be `once`");
    spec.once = false;
    Some(note(spec, "no-effect", &said))
}

/// Programs of a command that somebody else can put there, in words. What is found by its name is the system's.
fn programs(command: &CommandSpec, place: &Locations) -> Vec<String> {
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
                let said = "is looked for where the agent works, so a project can bring its own: write the whole path";
                return Some(format!("`{}` {said}", program.text));
            }
            let problem = ownership::of(path, place).problem?;
            Some(format!("somebody else can change what `{}` does: {problem}", program.text))
        })
        .collect()
}

fn note(spec: &HookSpec, code: &'static str, said: &str) -> Diagnostic {
    let info = &spec.info;
    let line = info.source.line.map(|line| format!(" in line {line}")).unwrap_or_default();
    let text = format!("hook `{}`{line}: {said}", info.id);
    Diagnostic::of_file(Severity::Warning, code, info.source.file.clone().unwrap_or_default(), text)
}
