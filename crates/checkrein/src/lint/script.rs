//! The script that a hook runs, and what is wrong with it.

use std::path::{Path, PathBuf};

use checkrein_core::EventKind;
use checkrein_dialects::{CommandLine, CommandSpec, Data, Dialect, HookSpec};

use super::is_gate;
use crate::builtins::shell::{World, steps, steps_of_argv};

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
        let world = World { home: None, cwd: &from };
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
            CommandLine::Shell { text, .. } => (steps(&filled(text), world), Some(text)),
            CommandLine::Argv(argv) => {
                let argv: Vec<_> = argv.iter().map(|word| filled(word)).collect();
                (steps_of_argv(&argv, world), None)
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

    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            _ => None,
        }
    }

    pub(super) fn lint(&self, hook: &HookSpec, tell: &mut Tell<'_>) {
        let text = match self {
            Self::File { path, text, direct } => {
                file(path, text.as_deref(), *direct, tell);
                text.as_deref()
            }
            Self::Inline(text) => Some(text.as_str()),
            Self::Unknown => None,
        };
        if let Some(text) = text {
            content(text, hook, &mut |code, line, message| {
                if !text.contains(&format!("checkrein: allow {code}")) {
                    tell(code, line, message);
                }
            });
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

fn content(text: &str, hook: &HookSpec, tell: &mut Tell<'_>) {
    let lines = || text.lines().zip(1_u32..).filter(|(line, _)| !line.trim_start().starts_with('#'));
    let shell = !text.starts_with("#!") || text.lines().next().is_some_and(|first| first.contains("sh"));
    let gate = is_gate(hook);
    let (one, two) = (blocks(hook, 1), blocks(hook, 2));
    if gate && shell {
        for (_, number) in lines().filter(|(line, _)| exits_with(line, 1)) {
            if two && !one {
                tell("exit-1", Some(number), "`exit 1` stops nothing here, only `exit 2` does".to_owned());
            }
        }
        let speaks = text.contains(">&2") || text.contains("/dev/stderr") || text.contains("permissionDecision");
        if let Some((_, number)) = lines().find(|(line, _)| exits_with(line, 2)).filter(|_| two && !speaks) {
            tell("deny-without-reason", Some(number), "blocks, and never says why".to_owned());
        }
    }
    for (line, number) in lines() {
        let decides =
            line.contains("\"decision\"") || line.contains("permissionDecision") || line.contains("\"continue\"");
        if shell && decides && line.contains(">&2") {
            tell("json-to-stderr", Some(number), "prints a decision to standard error".to_owned());
        }
    }
    let strict = lines().any(|(line, _)| line.trim_start().starts_with("set -") && line.contains('e'));
    if shell && strict {
        let bare = |line: &str| {
            let line = line.trim_start();
            let is_grep = line.starts_with("grep ") || line.contains("=$(grep ") || line.contains("| grep ");
            is_grep
                && !line.contains("||")
                && !line.contains("&&")
                && !line.starts_with("if ")
                && !line.contains("then")
        };
        if let Some((_, number)) = lines().find(|(line, _)| bare(line)) {
            tell("errexit-grep", Some(number), "ends the script under `set -e` when nothing is found".to_owned());
        }
    }
    fields(hook, &mut lines(), tell);
}

/// Whether an exit code stops something for this hook.
fn blocks(hook: &HookSpec, code: i32) -> bool {
    use checkrein_core::{Decision, Effect, ProcessExit, ProcessReply, Reply};
    let kinds = hook.hook.kinds.iter().filter(|kind| hook.dialect.is_gate(kind));
    kinds.into_iter().any(|kind| {
        let reply = ProcessReply::new(ProcessExit::Code(code)).stderr("x");
        match hook.dialect.read(&crate::catalogue::event(kind), Reply::Process(reply), hook.strict) {
            Ok(opinion) => opinion.decision() >= Decision::Deny,
            Err(failure) => {
                let own = hook.hook.info.on_failure;
                own.unwrap_or_else(|| hook.dialect.failure_effect(kind, failure.kind)) == Effect::Closed
            }
        }
    })
}

fn exits_with(line: &str, code: u8) -> bool {
    let words: Vec<_> = line.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '}' | ')')).collect();
    words.windows(2).any(|pair| pair[0] == "exit" && pair[1] == code.to_string())
}

/// Fields of the payload that a script reads with jq and the agent does not send.
fn fields(hook: &HookSpec, lines: &mut dyn Iterator<Item = (&str, u32)>, tell: &mut Tell<'_>) {
    let [kind] = &hook.hook.kinds[..] else { return };
    let known = top_level(hook.dialect, kind);
    if known.is_empty() {
        return;
    }
    for (line, number) in lines.filter(|(line, _)| line.contains("jq ")) {
        for name in read_fields(line).filter(|name| !known.iter().any(|known| known == name)) {
            let close = checkrein_core::closest(&name, known.iter().map(String::as_str));
            let hint = close.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
            let text = format!("reads `.{name}`, which {} does not send here{hint}", hook.dialect.name);
            tell("unknown-field", Some(number), text);
        }
    }
}

/// All fields that a payload of this kind can have.
fn top_level(dialect: &Dialect, kind: &EventKind) -> Vec<String> {
    let first = |path: &str| path.split('.').next().unwrap_or(path).to_owned();
    let named = dialect.row(kind).and_then(|row| row.named).map_or(dialect.payload.event, |(place, _)| place);
    let mut names: Vec<_> = dialect.fields_at(kind).map(|row| first(row.name)).chain([first(named)]).collect();
    if dialect.payload.everything {
        let own = kind.fields().iter().chain(checkrein_core::Envelope::fields());
        names.extend(own.map(|field| field.name.to_owned()));
        names.push("event".to_owned());
        names.extend(checkrein_core::Target::ALL.iter().map(|target| format!("original_{target}")));
    }
    names
}

/// Names right behind a dot that starts a path of jq.
fn read_fields(line: &str) -> impl Iterator<Item = String> {
    let program = line.split("jq ").nth(1).unwrap_or_default();
    let mut names = Vec::new();
    let mut before = ' ';
    let mut rest = program.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '.' && matches!(before, ' ' | '\'' | '"' | '(' | '|' | ',') {
            let mut name = String::new();
            while let Some(next) = rest.peek().copied().filter(|next| next.is_alphanumeric() || *next == '_') {
                name.push(next);
                rest.next();
            }
            if name.chars().next().is_some_and(char::is_alphabetic) {
                names.push(name);
            }
            // What follows a pipe is about something else.
        }
        if c == '|' {
            break;
        }
        before = c;
    }
    names.into_iter()
}
