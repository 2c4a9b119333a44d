//! Finds the script that a hook runs, and runs the lints of scripts on it.

use std::path::{Path, PathBuf};

use checkrein::Scope;
use checkrein::handler::HandlerEnv;
use checkrein::internal::shell::{ShellEnv, lexical, simple_commands, simple_commands_of_argv};
use checkrein::internal::{is_interpreter, regular_file, repository, script_operand, variables_of};
use checkrein_dialects::{CommandLine, CommandSpec, Cwd, Data, HandlerSpec, HookSpec, Shell};

use super::code::Code;
use super::programs::Programs;
use super::syntax::ShellKind;
use super::{answers, bashisms, fields, shell, syntax, variables};

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
        /// `true` if the path is relative.
        is_relative: bool,
        /// `true` if the path is relative to the directory of the event.
        depends_on_cwd: bool,
    },
    /// Command text in the config file.
    Inline(String),
    /// Another program, or a command whose words only a shell can determine.
    Unknown,
}

/// Callback that receives a finding: the lint's code, the line and the message.
pub(super) type Report<'a> = dyn FnMut(&'static str, Option<u32>, String) + 'a;

impl Script {
    pub(super) fn from_command(command: &CommandSpec, hook: &HookSpec, env: &HandlerEnv) -> Self {
        let (dialect, dir) = (hook.dialect, env.cwd.as_path());
        let variables = variables_of(hook, env).unwrap_or_default();
        let home = variables.iter().rev().find(|(name, _)| name == "HOME").and_then(|(_, home)| home.to_str());
        let home = home.filter(|home| Path::new(home).is_absolute());
        let base = command.script_dir.as_deref().unwrap_or(dir);
        let cwd = command.cwd.as_ref().map_or_else(|| base.to_owned(), |cwd| base.join(cwd));
        let shell_env = ShellEnv { home, cwd: &cwd };
        let (found, inline) = match &command.run {
            CommandLine::Shell { text, .. } => {
                (simple_commands(&with_directories(text, hook, dir), shell_env), Some(text))
            }
            CommandLine::Argv(argv) => {
                let argv: Vec<_> = argv.iter().map(|word| with_directories(word, hook, dir)).collect();
                (simple_commands_of_argv(&argv, shell_env), None)
            }
        };
        let otherwise = || inline.map_or(Self::Unknown, |text| Self::Inline(text.clone()));
        let Ok(found) = found else { return otherwise() };
        let [step] = &found[..] else { return otherwise() };
        let args: Vec<&str> = step.args.iter().map(|arg| arg.text.as_str()).collect();
        let operand = script_operand(&step.name, &args);
        let is_interpreter = is_interpreter(&step.name);
        let word = match operand {
            Some(index) => step.args.get(index),
            None if is_interpreter => None,
            None => Some(&step.program),
        };
        let Some(word) = word.filter(|word| word.known && !word.glob) else { return otherwise() };
        let looks_like_a_file = word.text.contains('/') || (operand.is_some() && word.text.contains('.'));
        if !looks_like_a_file || word.text.starts_with('~') || word.text.contains("://") {
            return otherwise();
        }
        let path = cwd.join(&word.text);
        let is_relative = Path::new(&word.text).is_relative();
        let has_own_directory = command.cwd.is_some() || command.script_dir.is_some() || dialect.has_all_events;
        let depends_on_cwd = is_relative && !has_own_directory && dialect.process.cwd != Cwd::Host;
        Self::File { text: read(&path), path, direct: operand.is_none(), is_relative, depends_on_cwd }
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

    pub(super) fn lint(&self, hook: &HookSpec, env: &HandlerEnv, report: &mut Report<'_>) {
        let programs = Programs::of_hook(hook, env);
        if let Self::File { path, text, direct, .. } = self {
            file(path, text.as_deref(), *direct, &programs, report);
            self.relative(hook, &env.cwd, report);
        }
        if let Some(program) = program_with_tilde(hook) {
            let text = format!(
                "program `{program}` is not found: only a shell expands `~`, and a command with `args` has none; write the \
                 whole path, or omit `args`"
            );
            report("program-missing", None, text);
        }
        let command = command_text(hook, &env.cwd);
        if let Some(command) = &command {
            let mut of_command = |code: &'static str, _: Option<u32>, message: String| report(code, None, message);
            programs.lint(command, &env.cwd, self.path(), &mut of_command);
        }
        if let Some(text) = self.text() {
            let code = Code::new(text);
            if code.is_shell {
                shell::lint(&code, hook, report);
                variables::lint(&code, hook, env, report);
                self.syntax(&code, hook, report);
                if matches!(self, Self::File { .. }) && self.shell(&code, hook).is_some() {
                    programs.lint(text, &env.cwd, None, report);
                }
            }
            answers::lint(&code, hook, report);
            fields::lint(&code, hook, report);
        }
    }

    /// Shell that runs the text. `None` if it is unknown or has another syntax.
    fn shell(&self, code: &Code<'_>, hook: &HookSpec) -> Option<ShellKind> {
        match self {
            Self::File { direct, .. } => {
                let interpreter = code.text.lines().next().and_then(|line| line.strip_prefix("#!"));
                match interpreter {
                    Some(line) => ShellKind::named(line.split_whitespace().find(|word| !word.ends_with("/env"))?),
                    None if *direct => Some(ShellKind::Sh),
                    None => None,
                }
            }
            Self::Inline(_) => {
                let HandlerSpec::Command(command) = &hook.handler else { return None };
                match (&command.run, hook.dialect.process.shell) {
                    (CommandLine::Shell { shell: Some(shell), .. }, _) => ShellKind::named(shell.first()?),
                    (_, Shell::Sh) => Some(ShellKind::Sh),
                    (_, Shell::Bash) => Some(ShellKind::Bash),
                    (_, Shell::User | Shell::Variable(_) | Shell::None) => None,
                }
            }
            Self::Unknown => None,
        }
    }

    fn syntax(&self, code: &Code<'_>, hook: &HookSpec, report: &mut Report<'_>) {
        // Carriage returns are reported by themselves.
        let Some(shell) = self.shell(code, hook).filter(|_| !code.text.contains('\r')) else { return };
        let has_bashisms = shell == ShellKind::Sh && bashisms::lint(code.text, report);
        let shell = if has_bashisms { ShellKind::Bash } else { shell };
        if let Some(error) = syntax::check(code.text, shell) {
            report("shell-syntax", error.line, format!("shell syntax error: {}", error.message));
        }
    }

    /// Reports a relative path that depends on the directory in which the agent works.
    fn relative(&self, hook: &HookSpec, dir: &Path, report: &mut Report<'_>) {
        let Self::File { path, is_relative: true, depends_on_cwd, .. } = self else { return };
        let source = &hook.info.source;
        let is_in_project = || source.file.as_ref().is_some_and(|file| Path::new(file).starts_with(dir));
        if !matches!(source.scope, Scope::Project | Scope::Local) && !is_in_project() {
            return;
        }
        if !lexical(path).starts_with(repository(dir).unwrap_or(dir)) {
            let text = format!("script `{}` is outside of the project", lexical(path).display());
            report("relative-script", None, text);
        }
        let variable = hook.dialect.process.variables.iter().find(|row| row.from == Data::ProjectDir);
        if let Some(variable) = variable.filter(|_| *depends_on_cwd) {
            let text = format!(
                "the path of the script is relative to the directory of the event, which the agent changes; start it with \
                 `\"${}\"/`",
                variable.name
            );
            report("relative-script", None, text);
        }
    }
}

/// Program of a command without a shell whose path starts with `~/`.
fn program_with_tilde(hook: &HookSpec) -> Option<&str> {
    let HandlerSpec::Command(command) = &hook.handler else { return None };
    let CommandLine::Argv(argv) = &command.run else { return None };
    argv.first().map(String::as_str).filter(|program| program.starts_with("~/"))
}

/// Command text for a shell, with known variables.
fn command_text(hook: &HookSpec, dir: &Path) -> Option<String> {
    let HandlerSpec::Command(command) = &hook.handler else { return None };
    match &command.run {
        CommandLine::Shell { text, .. } => Some(with_directories(text, hook, dir)),
        CommandLine::Argv(argv) => {
            let quoted = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
            Some(argv.iter().map(quoted).collect::<Vec<_>>().join(" "))
        }
    }
}

/// Replaces variables that hold a known directory: that of the project, and that of the plugin.
fn with_directories(text: &str, hook: &HookSpec, dir: &Path) -> String {
    let script_dir = match &hook.handler {
        HandlerSpec::Command(command) => command.script_dir.as_deref(),
        _ => None,
    };
    let project = script_dir.unwrap_or(dir).to_string_lossy();
    let of_agent = hook.dialect.process.variables.iter().filter(|row| row.from == Data::ProjectDir);
    let own: &[(String, String)] = match &hook.handler {
        HandlerSpec::Command(command) => &command.env_set,
        _ => &[],
    };
    let of_plugin = hook.dialect.config.plugin.and_then(|plugin| {
        own.iter().find(|(name, _)| name == plugin.root_variable).map(|(name, value)| (name.as_str(), value.as_str()))
    });
    let known = of_agent.map(|row| (row.name, &*project)).chain(of_plugin);
    known.fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value)
    })
}

/// Reads a text file of at most [`MAX_SCRIPT_SIZE`]. Returns `None` for binary files.
fn read(path: &Path) -> Option<String> {
    regular_file::read_text(path, MAX_SCRIPT_SIZE).ok().filter(|text| !text.contains('\0'))
}

fn file(path: &Path, text: Option<&str>, direct: bool, programs: &Programs, report: &mut Report<'_>) {
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
            } else if let Some(named) = program_of_env(line).filter(|named| programs.lack(named)) {
                report("bad-shebang", Some(1), format!("interpreter `{named}` is not in the hook's PATH"));
            }
        }
        None => {}
    }
    if let Some(at) = text.split('\n').position(|line| line.ends_with('\r')) {
        report("crlf", Some(at as u32 + 1), "the line ends with CRLF".to_owned());
    }
}

/// Program that a `#!` line starts by `env`. `None` for other lines.
fn program_of_env(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    if !words.next()?.ends_with("/env") {
        return None;
    }
    words.find(|word| !word.starts_with('-') && !word.contains('=')).filter(|word| !word.contains('/'))
}
