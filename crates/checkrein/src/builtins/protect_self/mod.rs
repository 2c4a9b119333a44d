//! Keeps agents off checkrein's own files, and asks before the entries are changed that call it.
//!
//! An administrator's file brings a hook with this builtin and all paths that matter on the machine: see `protect_self` in
//! [managed.md](managed.md). Tool calls are read as [`protect_paths`](super::protect_paths) reads them, with the same limits.
//! A program or a tool of an MCP server that is not known to only read, and that is given one of these paths, is asked about.
//! Where a command cannot be read and speaks of one of the files, it is asked about. Commands of the program itself that
//! change something, such as `checkrein uninstall`, are asked about too.
//!
//! - **Arguments**: `deny:PATH` and `ask:PATH`, absolute. Each fits what is below it as well. `**/` at the start of a path
//!   stands for any directory, `*` at its end for any rest of its name.
//! - **Events**: `pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_mcp`.
//!
//! Example: `protect_self deny:/etc/checkrein ask:/home/me/.claude/settings.json`

mod references;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::{Decision, Event, Failure, Opinion};

use super::off_thread;
use super::protect_paths::{AffectedPath, touched};
use super::shell::{SimpleCommand, is_reader};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

pub(super) fn builtin() -> Builtin {
    let prepared = Builtin::prepared(|args| {
        let guarded = Arc::new(args.iter().map(|arg| Guarded::read(arg)).collect::<Result<Vec<_>, _>>()?);
        if guarded.is_empty() {
            return Err("has nothing to protect; give it paths such as `deny:/etc/checkrein`".into());
        }
        Ok(Builtin::new(move |call| Box::pin(run(call, Arc::clone(&guarded)))))
    });
    prepared.described(
        BuiltinDoc::new(
            "Keeps agents off checkrein's own files, and asks before the entries are changed that call it.",
        )
        .args("`deny:PATH` and `ask:PATH`; an administrator's file brings them all")
        .events("`pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_mcp`"),
    )
}

/// Commands of the program that change nothing which guards anybody. All others are asked about.
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

/// A path that is protected, and what is done about it.
#[derive(Debug, Clone)]
struct Guarded {
    decision: Decision,
    path: PathBuf,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// This path, and what is below it.
    Here,
    /// The same, in any directory.
    Anywhere,
    /// Every name that starts so.
    Start,
}

impl Guarded {
    fn read(arg: &str) -> Result<Self, String> {
        let wrong = || format!("has an argument that cannot be read, `{arg}`; write `deny:PATH` or `ask:PATH`");
        let (word, path) = arg.split_once(':').ok_or_else(wrong)?;
        let decision = match word {
            "deny" => Decision::Deny,
            "ask" => Decision::Ask,
            _ => return Err(wrong()),
        };
        let (form, path) = match (path.strip_prefix("**/"), path.strip_suffix('*')) {
            (Some(path), _) => (Form::Anywhere, path),
            (None, Some(path)) => (Form::Start, path),
            (None, None) => (Form::Here, path),
        };
        if path.is_empty() || (form != Form::Anywhere && !Path::new(path).is_absolute()) {
            return Err(wrong());
        }
        Ok(Self { decision, path: PathBuf::from(path), form })
    }

    /// Its own names: as it is given, and where links lead.
    fn names(&self) -> Vec<PathBuf> {
        match self.form {
            Form::Here => super::paths::names(&self.path),
            _ => vec![self.path.clone()],
        }
    }

    /// Whether a change of this file is a change of what is protected, under one of its names.
    fn is_touched(&self, own: &[PathBuf], file: &Path, whole_tree: bool) -> bool {
        match self.form {
            Form::Here => own.iter().any(|own| {
                file.starts_with(own) || (whole_tree && own.starts_with(file) && own.symlink_metadata().is_ok())
            }),
            Form::Anywhere => {
                let (wanted, have): (Vec<_>, Vec<_>) = (self.path.iter().collect(), file.iter().collect());
                have.windows(wanted.len()).any(|part| part == wanted.as_slice())
            }
            Form::Start => {
                let start = self.path.as_os_str().as_encoded_bytes();
                file.as_os_str().as_encoded_bytes().starts_with(start) || (whole_tree && self.path.starts_with(file))
            }
        }
    }
}

async fn run(call: BuiltinCall<'_>, guarded: Arc<Vec<Guarded>>) -> Result<Opinion, Failure> {
    if call.event.tool_input().is_none() {
        return Ok(Opinion::none());
    }
    let (event, cwd, home) = (call.event.clone(), call.cwd(), call.env.var("HOME"));
    off_thread(move || judge(&event, &guarded, &cwd, home.as_deref())).await
}

fn judge(event: &Event, guarded: &[Guarded], cwd: &Path, home: Option<&str>) -> Opinion {
    let (touched, reading) = touched(event, cwd, home);
    let touched: Vec<_> =
        touched.iter().map(|one: &AffectedPath| (one.names().collect::<Vec<_>>(), one.whole_tree)).collect();
    let mut asks = None;
    for one in guarded.iter().filter(|_| !touched.is_empty()) {
        let own = one.names();
        let hit = touched
            .iter()
            .find_map(|(files, whole_tree)| files.iter().find(|file| one.is_touched(&own, file, *whole_tree)));
        let Some(file) = hit else { continue };
        let file = file.display();
        if one.decision == Decision::Deny {
            return Opinion::deny(format!(
                "{file} is, or holds, one of checkrein's own files, which agents do not change"
            ));
        }
        asks.get_or_insert_with(|| {
            format!("{file} is, or holds, what makes checkrein guard agents; shall it be changed?")
        });
    }
    let asks = asks.or_else(|| reading.steps.iter().find_map(changes_itself)).or_else(|| {
        let mut maybe = references::of_tool(event, home, &cwd.to_owned());
        maybe.extend(reading.steps.iter().flat_map(|step| references::of_step(step, home)));
        let files: Vec<_> = maybe.iter().flat_map(AffectedPath::names).collect();
        let hit = |one: &Guarded| {
            let own = one.names();
            files.iter().find(|file| one.is_touched(&own, file, false))
        };
        let file = guarded.iter().filter(|_| !files.is_empty()).find_map(hit)?;
        Some(format!(
            "{} is one of checkrein's files or guards an agent, and it may be changed; shall it?",
            file.display()
        ))
    });
    let unread = || {
        let why = reading.unreadable?;
        speaks_of(event, guarded)
            .then(|| format!("the command cannot be read ({why}), and it speaks of checkrein's files"))
    };
    asks.or_else(unread).map_or_else(Opinion::none, Opinion::ask)
}

/// Whether a command calls the program for something that changes what it guards.
fn changes_itself(step: &SimpleCommand) -> Option<String> {
    let name = step.name.strip_suffix(".exe").unwrap_or(&step.name);
    let is_word = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    let command = match name {
        "checkrein" => step.operands().next(),
        // Others may start it: `npx checkrein uninstall`.
        _ if is_reader(name) => None,
        _ => step.args.windows(2).find(|pair| is_itself(&pair[0].text) && is_word(&pair[1].text)).map(|pair| &pair[1]),
    }?;
    let is_harmless = command.known && HARMLESS.contains(&command.text.as_str());
    (!is_harmless).then(|| format!("`checkrein {}` may change what guards this agent; shall it run?", command.text))
}

fn is_itself(word: &str) -> bool {
    word.rsplit('/').next() == Some("checkrein")
}

/// Whether the input has the name of a file that is protected.
fn speaks_of(event: &Event, guarded: &[Guarded]) -> bool {
    let Some(input) = event.tool_input() else { return false };
    let text = input.as_str();
    let names = guarded.iter().filter_map(|one| one.path.file_name()?.to_str());
    names.chain(["checkrein"]).any(|name| text.contains(name))
}
