//! Finds the script that a hook runs, and runs the lints of scripts on it.

use std::path::{Path, PathBuf};

use checkrein_dialects::{CommandLine, CommandSpec, Data, Dialect, HookSpec};

use super::code::Code;
use super::{answers, fields, shell};
use checkrein::internal::regular_file;
use checkrein::internal::shell::{ShellEnv, simple_commands, simple_commands_of_argv};

/// Largest script that is read, in bytes.
const MAX_SCRIPT_SIZE: u64 = 256 * 1024;

/// Script of a command hook.
pub(super) enum Script {
    /// A script file.
    File {
        path: PathBuf,
        text: Option<String>,
        /// `true` if the file is executed itself, not passed to an interpreter.
        direct: bool,
    },
    /// Command text in the config file.
    Inline(String),
    /// Another program, or a command whose words only a shell can determine.
    Unknown,
}

/// Programs that run the script in their first operand.
const INTERPRETERS: &[&str] =
    &["sh", "bash", "dash", "zsh", "fish", "python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "uv"];

/// Callback that receives a finding: the lint's code, the line and the message.
pub(super) type Report<'a> = dyn FnMut(&'static str, Option<u32>, String) + 'a;

impl Script {
    pub(super) fn from_command(command: &CommandSpec, dialect: &Dialect, dir: &Path) -> Self {
        let base = command.script_dir.as_deref().unwrap_or(dir);
        let cwd = command.cwd.as_ref().map_or_else(|| base.to_owned(), |cwd| base.join(cwd));
        let env = ShellEnv { home: None, cwd: &cwd };
        let project = base.to_string_lossy();
        // The agent sets these variables to the project directory, which is known.
        let expand = |text: &str| {
            dialect.process.variables.iter().filter(|row| row.from == Data::ProjectDir).fold(
                text.to_owned(),
                |text, row| {
                    let braced = format!("${{{}}}", row.name);
                    text.replace(&braced, &project).replace(&format!("${}", row.name), &project)
                },
            )
        };
        let (found, inline) = match &command.run {
            CommandLine::Shell { text, .. } => (simple_commands(&expand(text), env), Some(text)),
            CommandLine::Argv(argv) => {
                let argv: Vec<_> = argv.iter().map(|word| expand(word)).collect();
                (simple_commands_of_argv(&argv, env), None)
            }
        };
        let otherwise = || inline.map_or(Self::Unknown, |text| Self::Inline(text.clone()));
        let Ok(found) = found else { return otherwise() };
        let [step] = &found[..] else { return otherwise() };
        let interpreted = INTERPRETERS.contains(&step.name.as_str());
        let word = if interpreted { step.operands().next() } else { Some(&step.program) };
        let Some(word) = word.filter(|word| word.known && !word.glob) else { return otherwise() };
        let looks_like_a_file = word.text.contains('/') || (interpreted && word.text.contains('.'));
        if !looks_like_a_file || word.text.starts_with('~') {
            return otherwise();
        }
        let path = cwd.join(&word.text);
        Self::File { text: read(&path), path, direct: !interpreted }
    }

    /// Text of the script, if it was readable.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::File { text, .. } => text.as_deref(),
            Self::Inline(text) => Some(text),
            Self::Unknown => None,
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            _ => None,
        }
    }

    pub(super) fn lint(&self, hook: &HookSpec, report: &mut Report<'_>) {
        if let Self::File { path, text, direct } = self {
            file(path, text.as_deref(), *direct, report);
        }
        if let Some(text) = self.text() {
            let code = Code::new(text);
            if code.is_shell {
                shell::lint(&code, hook, report);
            }
            answers::lint(&code, hook, report);
            fields::lint(&code, hook, report);
        }
    }
}

/// Reads a text file of at most [`MAX_SCRIPT_SIZE`]. Returns `None` for binary files.
fn read(path: &Path) -> Option<String> {
    regular_file::read_text(path, MAX_SCRIPT_SIZE).ok().filter(|text| !text.contains('\0'))
}

fn file(path: &Path, text: Option<&str>, direct: bool, report: &mut Report<'_>) {
    if !path.exists() {
        report("script-missing", None, format!("script `{}` does not exist", path.display()));
        return;
    }
    #[cfg(unix)]
    if direct
        && let Ok(metadata) = path.metadata()
        && std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 == 0
    {
        report("not-executable", None, format!("script `{}` is not executable", path.display()));
    }
    let Some(text) = text else { return };
    let first = text.lines().next().unwrap_or_default();
    match first.strip_prefix("#!") {
        None if direct => report("no-shebang", Some(1), "the script has no `#!` line".to_owned()),
        Some(line) => {
            let program = line.split_whitespace().next().unwrap_or_default();
            if program.is_empty() || (program.starts_with('/') && !Path::new(program).exists()) {
                report("bad-shebang", Some(1), format!("interpreter `{program}` does not exist"));
            }
        }
        None => {}
    }
    if let Some(at) = text.split('\n').position(|line| line.ends_with('\r')) {
        report("crlf", Some(at as u32 + 1), "the line ends with CRLF".to_owned());
    }
}
