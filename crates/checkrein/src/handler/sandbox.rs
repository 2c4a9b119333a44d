//! Sandbox of a command, with resolved paths.

use std::path::{Path, PathBuf};

use checkrein_dialects::{CommandLine, CommandSpec, FileAccess, SandboxSpec};
use checkrein_process::{Files, Sandbox};

use super::{HandlerEnv, var_expand, verified_command};

/// Returns the permissions of the process.
pub(super) fn sandbox(spec: &SandboxSpec, command: &CommandSpec, env: &HandlerEnv) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.files = files(spec, command, env);
    sandbox.network = spec.network;
    sandbox.cpu = spec.cpu;
    sandbox.memory = spec.memory;
    sandbox.processes = spec.processes;
    sandbox.open_files = spec.files;
    sandbox.file_size = spec.file_size;
    sandbox
}

/// Returns the accessible files. `None` means all files.
fn files(spec: &SandboxSpec, command: &CommandSpec, env: &HandlerEnv) -> Option<Files> {
    if spec.outside == FileAccess::Write {
        return None;
    }
    let mut files = Files::none();
    for (access, path) in [(spec.project, env.cwd.as_path()), (spec.outside, Path::new("/"))] {
        match access {
            FileAccess::None => {}
            FileAccess::Read => files.read.push(path.to_owned()),
            FileAccess::Write => files.write.push(path.to_owned()),
        }
    }
    let resolve = |path: &PathBuf| Some(env.cwd.join(var_expand::directory(&path.to_string_lossy(), env)?));
    files.read.extend(spec.read.iter().filter_map(resolve));
    files.write.extend(spec.write.iter().filter_map(resolve));
    files.read.extend(named(command, env));
    files.read.extend(command.verified_scripts.iter().map(|pins| &**pins).flat_map(verified_command::around));
    Some(files)
}

/// Returns the files in the command line: the script and its arguments. They stay readable without access to the project.
fn named(command: &CommandSpec, env: &HandlerEnv) -> Vec<PathBuf> {
    let words: Vec<&str> = match &command.run {
        CommandLine::Shell { text, .. } => {
            text.split(|c: char| c.is_whitespace() || "\"';&|()<>".contains(c)).collect()
        }
        CommandLine::Argv(words) => words.iter().map(String::as_str).collect(),
    };
    let paths = words.into_iter().filter(|word| !word.is_empty()).filter_map(|word| {
        let path = var_expand::directory(word, env)?;
        let is_relative_script = path.is_relative() && word.contains('/');
        (path.is_absolute() || is_relative_script).then(|| env.cwd.join(path))
    });
    // Not directories: access to one includes everything in it.
    paths.filter(|path| path.is_file()).collect()
}
