//! Denies agents changes to checkrein's own files, and asks before they change the entries that call checkrein.
//!
//! A managed file adds a hook with this builtin and all relevant paths of the machine: see `protect_self` in
//! [managed.md](managed.md). Tool calls are read as by [`protect_paths`](super::protect_paths), with the same limits.
//! The builtin also asks in three cases: a program or MCP tool that is not known as read-only gets one of these paths; a
//! command that cannot be parsed contains the name of one of the files; a command of checkrein may change something, such
//! as `checkrein uninstall`.
//!
//! - **Arguments**: `deny:PATH` and `ask:PATH`, absolute. Each also matches everything below. `**/` at the start of a path
//!   matches any directory, `*` at its end matches any rest of the name.
//! - **Events**: `pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_mcp`.
//!
//! Example: `protect_self deny:/etc/checkrein ask:/home/me/.claude/settings.json`

mod references;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::{Decision, Event, Failure, Opinion};

use super::off_thread;
use super::protect_paths::{AffectedPath, affected_paths};
use super::shell::{SimpleCommand, is_reader};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

pub(super) fn builtin() -> Builtin {
    let prepared = Builtin::prepared(|args| {
        let guarded = Arc::new(args.iter().map(|arg| Guarded::parse(arg)).collect::<Result<Vec<_>, _>>()?);
        if guarded.is_empty() {
            return Err("has no paths; pass at least one, such as `deny:/etc/checkrein`".into());
        }
        Ok(Builtin::new(move |call| Box::pin(run(call, Arc::clone(&guarded)))))
    });
    prepared.described(
        BuiltinDoc::new(
            "Denies agents changes to checkrein's own files, and asks before they change the entries that call checkrein.",
        )
        .args("`deny:PATH` and `ask:PATH`; a managed file sets all of them")
        .events("`pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_mcp`"),
    )
}

/// Commands of checkrein that do not change guards. The builtin asks about all others.
const HARMLESS: &[&str] = &[
    "audit",
    "bench",
    "check",
    "completions",
    "convert",
    "events",
    "explain",
    "get",
    "help",
    "hook",
    "list",
    "man",
    "replay",
    "run",
    "say",
    "schema",
    "simulate",
    "status",
    "test",
];

/// A protected path and the decision for changes to it.
#[derive(Debug, Clone)]
struct Guarded {
    decision: Decision,
    path: PathBuf,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The path and everything below it.
    Path,
    /// The path in any directory, and everything below it.
    InAnyDirectory,
    /// Every name that starts with the path.
    Prefix,
}

impl Guarded {
    fn parse(arg: &str) -> Result<Self, String> {
        let invalid =
            || format!("has an invalid argument, `{arg}`; use `deny:PATH` or `ask:PATH` with an absolute path");
        let (word, path) = arg.split_once(':').ok_or_else(invalid)?;
        let decision = match word {
            "deny" => Decision::Deny,
            "ask" => Decision::Ask,
            _ => return Err(invalid()),
        };
        let (form, path) = match (path.strip_prefix("**/"), path.strip_suffix('*')) {
            (Some(path), _) => (Form::InAnyDirectory, path),
            (None, Some(path)) => (Form::Prefix, path),
            (None, None) => (Form::Path, path),
        };
        if path.is_empty() || (form != Form::InAnyDirectory && !Path::new(path).is_absolute()) {
            return Err(invalid());
        }
        Ok(Self { decision, path: PathBuf::from(path), form })
    }

    /// Returns the names of the protected path: as given, and with links resolved.
    fn names(&self) -> Vec<PathBuf> {
        match self.form {
            Form::Path => super::paths::names(&self.path),
            _ => vec![self.path.clone()],
        }
    }

    /// `true` if a change to `file` changes the protected path, which has the names `own`.
    fn is_affected(&self, own: &[PathBuf], file: &Path, whole_tree: bool) -> bool {
        match self.form {
            Form::Path => own.iter().any(|own| {
                file.starts_with(own) || (whole_tree && own.starts_with(file) && own.symlink_metadata().is_ok())
            }),
            Form::InAnyDirectory => {
                let (protected, file): (Vec<_>, Vec<_>) = (self.path.iter().collect(), file.iter().collect());
                file.windows(protected.len()).any(|part| part == protected.as_slice())
            }
            Form::Prefix => {
                let prefix = self.path.as_os_str().as_encoded_bytes();
                file.as_os_str().as_encoded_bytes().starts_with(prefix) || (whole_tree && self.path.starts_with(file))
            }
        }
    }
}

async fn run(call: BuiltinCall<'_>, guarded: Arc<Vec<Guarded>>) -> Result<Opinion, Failure> {
    if call.event.tool_input().is_none() {
        return Ok(Opinion::none());
    }
    let (event, cwd, home) = (call.event.clone(), call.cwd(), call.env.var("HOME"));
    off_thread(move || check(&event, &guarded, &cwd, home.as_deref())).await
}

fn check(event: &Event, guarded: &[Guarded], cwd: &Path, home: Option<&str>) -> Opinion {
    let (affected, parsed) = affected_paths(event, cwd, home);
    let affected: Vec<_> =
        affected.iter().map(|path: &AffectedPath| (path.names().collect::<Vec<_>>(), path.whole_tree)).collect();
    let mut question = None;
    // Most calls affect no path. Then the names of guarded paths, which need the disk, are not resolved.
    let candidates = if affected.is_empty() { &guarded[..0] } else { guarded };
    for path in candidates {
        let own = path.names();
        let hit = affected
            .iter()
            .find_map(|(files, whole_tree)| files.iter().find(|file| path.is_affected(&own, file, *whole_tree)));
        let Some(file) = hit else { continue };
        let file = file.display();
        if path.decision == Decision::Deny {
            return Opinion::deny(format!("agents may not modify checkrein's files ({file})"));
        }
        question.get_or_insert_with(|| format!("this changes {file}, which runs checkrein's guards. Allow?"));
    }
    let question = question
        .or_else(|| parsed.simple_commands.iter().find_map(changes_guards))
        .or_else(|| {
            let mut paths = references::in_tool_input(event, home, &cwd.to_owned());
            paths.extend(parsed.simple_commands.iter().flat_map(|command| references::in_command(command, home)));
            let files: Vec<_> = paths.iter().flat_map(AffectedPath::names).collect();
            let hit = |path: &Guarded| {
                let own = path.names();
                files.iter().find(|file| path.is_affected(&own, file, false))
            };
            let file = if files.is_empty() { None } else { guarded.iter().find_map(hit) }?;
            Some(format!("this may change {}, which belongs to checkrein or runs its guards. Allow?", file.display()))
        })
        .or_else(|| {
            let why = parsed.parse_error?;
            if !names_guarded_file(event, guarded) {
                return None;
            }
            Some(format!("cannot parse the command ({why}), and it names checkrein's files. Allow?"))
        });
    question.map_or_else(Opinion::none, Opinion::ask)
}

/// Returns the question if a command calls checkrein in a way that may change its guards.
fn changes_guards(command: &SimpleCommand) -> Option<String> {
    let name = command.name.strip_suffix(".exe").unwrap_or(&command.name);
    let is_word = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    let subcommand = match name {
        "checkrein" => command.operands().next(),
        // Other programs may start it: `npx checkrein uninstall`.
        _ if is_reader(name) => None,
        _ => command
            .args
            .windows(2)
            .find(|pair| is_checkrein(&pair[0].text) && is_word(&pair[1].text))
            .map(|pair| &pair[1]),
    }?;
    if subcommand.known && HARMLESS.contains(&subcommand.text.as_str()) {
        return None;
    }
    Some(format!("`checkrein {}` may change the guards of this agent. Allow?", subcommand.text))
}

fn is_checkrein(word: &str) -> bool {
    word.rsplit('/').next() == Some("checkrein")
}

/// `true` if the input contains the name of a protected file.
fn names_guarded_file(event: &Event, guarded: &[Guarded]) -> bool {
    let Some(input) = event.tool_input() else { return false };
    let text = input.as_str();
    let names = guarded.iter().filter_map(|path| path.path.file_name()?.to_str());
    names.chain(["checkrein"]).any(|name| text.contains(name))
}
