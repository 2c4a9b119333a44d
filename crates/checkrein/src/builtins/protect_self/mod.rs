//! Denies agents changes to checkrein's own files, and asks before they change the entries that call checkrein.
//!
//! A managed file adds a hook with this builtin and all relevant paths of the machine: see `protect_self` in
//! [managed.md](managed.md). Tool calls are read as by [`protect_paths`](super::protect_paths), with the same limits.
//! The builtin also asks in these cases: a program or MCP tool that is not known as read-only gets one of these paths; a
//! command that cannot be parsed contains the name of one of the files; a command of checkrein may change something, such
//! as `checkrein uninstall`, or a command ends its processes. A path or a directory that only a running shell knows may be
//! one of these paths, so the builtin asks. `checkrein approve`, `deny`, `approvals`, `live` and `serve` are denied.
//!
//! - **Arguments**: `deny:PATH` and `ask:PATH`, absolute. Each also matches everything below. `**/` at the start of a path
//!   matches any directory, `*` at its end matches any rest of the name.
//! - **Events**: `pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_mcp`.
//!
//! Example: `protect_self deny:/etc/checkrein ask:/home/me/.claude/settings.json`

mod attempt;
mod control;
mod references;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::{Decision, Event, Failure, Opinion};

pub use self::attempt::Attempt;
use super::doubt::has_unknown_name;
use super::off_thread;
use super::protect_paths::{Affected, AffectedPath, Reach, affected_paths, components};
use super::shell::Expanded;
use super::text::head;
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

pub(super) fn builtin() -> Builtin {
    let prepared = Builtin::prepared(|args| {
        let guarded = Arc::new(args.iter().map(|arg| Guarded::parse(arg)).collect::<Result<Vec<_>, _>>()?);
        if guarded.is_empty() {
            return Err("has no paths; pass at least one, such as `deny:/etc/checkrein`".into());
        }
        Ok(Builtin::new(move |call| Box::pin(run(call, Arc::clone(&guarded)))))
    });
    prepared.works_at(super::is_before_tool).described(
        BuiltinDoc::new(
            "Denies agents changes to checkrein's own files, and asks before they change the entries that call checkrein.",
        )
        .args("`deny:PATH` and `ask:PATH`; a managed file sets all of them")
        .events("`pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`, `pre_file_write`, `pre_mcp`"),
    )
}

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

    /// `true` if a relative path is the end of the protected path.
    fn ends_with(&self, relative: &Path) -> bool {
        relative.components().next().is_some() && self.path.ends_with(relative)
    }

    /// `true` if a change to `file` changes the protected path, which has the names `own`.
    fn is_affected(&self, own: &[PathBuf], file: &Path, reach: Reach) -> bool {
        let whole_tree = reach != Reach::Exact;
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
    let affected = affected_paths(event, cwd, home);
    let Affected { paths, unknown, astray, parsed } = &affected;
    if control::answers_questions(parsed) {
        return Opinion::deny(
            "this runs or may run a command of checkrein that is for the user, such as `checkrein approve`; tell the user to run it \
             in a terminal",
        );
    }
    let paths: Vec<_> = paths.iter().map(|path| (path.names().collect::<Vec<_>>(), path.reach)).collect();
    let mut question = None;
    // Most calls affect no path. Then the names of guarded paths, which need the disk, are not resolved.
    let candidates = if paths.is_empty() { &guarded[..0] } else { guarded };
    for path in candidates {
        let own = path.names();
        let hit = paths
            .iter()
            .find_map(|(files, reach)| Some((files.iter().find(|file| path.is_affected(&own, file, *reach))?, *reach)));
        let Some((file, reach)) = hit else { continue };
        let file = file.display();
        if reach == Reach::Into {
            question.get_or_insert_with(|| format!("this may change files of checkrein below {file}. Allow?"));
        } else if path.decision == Decision::Deny {
            return Opinion::deny(format!("agents may not modify checkrein's files ({file})"));
        } else {
            question.get_or_insert_with(|| format!("this changes {file}, which runs checkrein's guards. Allow?"));
        }
    }
    let question = question
        .or_else(|| control::changes_guards(parsed))
        .or_else(|| {
            let path = unknown.iter().find(|path| could_be_guarded(path, guarded))?;
            let text = path.text.replace(char::is_control, " ");
            let shown = head(&text, 60);
            Some(format!(
                "only the running shell knows `{shown}`, which may belong to checkrein; write the path. Allow?"
            ))
        })
        .or_else(|| {
            let path = astray.iter().find(|path| guarded.iter().any(|guarded| guarded.ends_with(path)))?;
            let shown = path.display();
            Some(format!("only the running shell knows the directory of `{shown}`; write the whole path. Allow?"))
        })
        .or_else(|| {
            let mut paths = references::in_tool_input(event, home, &cwd.to_owned());
            paths.extend(parsed.simple_commands.iter().flat_map(|command| references::in_command(command, home)));
            if paths.len() > references::MAX_PATHS {
                return Some(format!(
                    "this names more than {} paths, which are not all checked. Allow?",
                    references::MAX_PATHS
                ));
            }
            let files: Vec<_> = paths.iter().flat_map(AffectedPath::names).collect();
            let hit = |path: &Guarded| {
                let own = path.names();
                files.iter().find(|file| path.is_affected(&own, file, Reach::Exact))
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

/// `true` if the name of an unknown path is unknown, or could be the name of a guarded file or directory.
fn could_be_guarded(path: &Expanded, guarded: &[Guarded]) -> bool {
    let names = || guarded.iter().filter_map(|guarded| guarded.path.file_name()?.to_str());
    has_unknown_name(path) || components(path).any(|part| names().any(|name| part.could_be(name)))
}

/// `true` if the input contains the name of a protected file.
fn names_guarded_file(event: &Event, guarded: &[Guarded]) -> bool {
    let Some(input) = event.tool_input() else { return false };
    let text = input.as_str();
    let names = guarded.iter().filter_map(|path| path.path.file_name()?.to_str());
    names.chain(["checkrein"]).any(|name| text.contains(name))
}
