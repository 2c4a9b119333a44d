//! The script that a hook runs, and what is wrong with it.

use std::path::{Path, PathBuf};

use checkrein_dialects::{CommandLine, CommandSpec, Data, Dialect, HookSpec};

use super::code::Code;
use super::{answers, fields, shell};
use checkrein::internal::shell::{ShellEnv, simple_commands, simple_commands_of_argv};

/// How much of a script is looked at.
const LOOKED_AT: u64 = 256 * 1024;

/// What a hook runs.
pub(super) enum Script {
    /// A file.
    File {
        path: PathBuf,
        text: Option<String>,
        /// Whether it is run itself, and not given to an interpreter.
        direct: bool,
    },
    /// Text in the config file itself.
    Inline(String),
    /// A program, or something that only a shell can know.
    Unknown,
}

/// Programs that run the script which is their first operand.
const INTERPRETERS: &[&str] =
    &["sh", "bash", "dash", "zsh", "fish", "python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "uv"];

/// Tells of a lint: its code, the line, and what is wrong.
pub(super) type Tell<'a> = dyn FnMut(&'static str, Option<u32>, String) + 'a;

impl Script {
    pub(super) fn of(command: &CommandSpec, dialect: &Dialect, dir: &Path) -> Self {
        let from = command.cwd.as_ref().map_or_else(|| dir.to_owned(), |cwd| dir.join(cwd));
        let world = ShellEnv { home: None, cwd: &from };
        let project = dir.to_string_lossy();
        // What the agent puts there is known.
        let filled = |text: &str| {
            dialect.process.variables.iter().filter(|row| row.from == Data::ProjectDir).fold(
                text.to_owned(),
                |text, row| {
                    let braced = format!("${{{}}}", row.name);
                    text.replace(&braced, &project).replace(&format!("${}", row.name), &project)
                },
            )
        };
        let (found, inline) = match &command.run {
            CommandLine::Shell { text, .. } => (simple_commands(&filled(text), world), Some(text)),
            CommandLine::Argv(argv) => {
                let argv: Vec<_> = argv.iter().map(|word| filled(word)).collect();
                (simple_commands_of_argv(&argv, world), None)
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
        let path = from.join(&word.text);
        Self::File { text: read(&path), path, direct: !interpreted }
    }

    /// What it says, where that is known.
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

    pub(super) fn lint(&self, hook: &HookSpec, tell: &mut Tell<'_>) {
        if let Self::File { path, text, direct } = self {
            file(path, text.as_deref(), *direct, tell);
        }
        if let Some(text) = self.text() {
            let code = Code::of(text);
            if code.is_shell {
                shell::lint(&code, hook, tell);
            }
            answers::lint(&code, hook, tell);
            fields::lint(&code, hook, tell);
        }
    }
}

/// A text that is not too long; programs are none.
fn read(path: &Path) -> Option<String> {
    path.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= LOOKED_AT)?;
    let bytes = std::fs::read(path).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn file(path: &Path, text: Option<&str>, direct: bool, tell: &mut Tell<'_>) {
    if !path.exists() {
        tell("script-missing", None, format!("its script {} is not there", path.display()));
        return;
    }
    #[cfg(unix)]
    if direct
        && let Ok(metadata) = path.metadata()
        && std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 == 0
    {
        tell("not-executable", None, format!("its script {} may not be executed", path.display()));
    }
    let Some(text) = text else { return };
    let first = text.lines().next().unwrap_or_default();
    match first.strip_prefix("#!") {
        None if direct => tell("no-shebang", Some(1), "there is no `#!` line".to_owned()),
        Some(line) => {
            let program = line.split_whitespace().next().unwrap_or_default();
            if program.is_empty() || (program.starts_with('/') && !Path::new(program).exists()) {
                tell("bad-shebang", Some(1), format!("the interpreter `{program}` is not there"));
            }
        }
        None => {}
    }
    if let Some(at) = text.split('\n').position(|line| line.ends_with('\r')) {
        tell("crlf", Some(at as u32 + 1), "the line ends like those of Windows".to_owned());
    }
}
