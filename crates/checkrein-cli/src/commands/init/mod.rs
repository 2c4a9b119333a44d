//! `checkrein init`: writes a starter hook file, or imports the hooks of another agent.
//!
//! `text` creates the file's text, `agents` asks which agents to guard. Existing files are replaced only after a yes or
//! with --force.

mod agents;
mod import;
mod text;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use checkrein::dialects::Dialect;
use checkrein::dialects::agents::native;
use checkrein::dialects::packs;
use checkrein::document::{Format, MAX_SIZE};
use checkrein::hook_files::{FileStatus, Locations, Sources};
use checkrein::internal::regular_file::{self, ReadError};
use checkrein::trust::Reviewed;
use checkrein::{EventKind, Scope};
use serde_json::json;
use similar::TextDiff;

use self::text::DraftFile;
use super::ask::confirm;
use super::config::directory;
use super::dialect::DialectName;
use super::{display_path, output_file};
use crate::exit::{self, Exit};

/// Write a starter config, or import an agent's hooks
///
/// Writes a small set of hooks for all your projects. They deny destructive commands and ask before a push. Finds the
/// agents on this machine, and asks which of them to guard. With --project, the hooks are for the project. With --from,
/// they are the hooks of an agent, for the project unless --user is set.
///
/// Shows the hooks first, and with -v the whole file. Without a terminal, the starter set is written only with --yes,
/// --force or --json. An existing file is overwritten only after a yes or with --force. If an import would lose a
/// blocking hook, nothing is written without --force.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   written, already there, or a dry run
  1   not written; a dry run that would lose a blocking hook
  64  usage error

Example:
  checkrein init
  checkrein init --project --yes
  checkrein init --from claude --dry-run")]
pub struct Arguments {
    /// Import the hooks of this agent instead of the starter set
    #[arg(long, value_name = "AGENT")]
    from: Option<DialectName>,
    /// Files to import instead of the usual locations
    #[arg(requires = "from")]
    files: Vec<PathBuf>,
    /// Write your own file; this is the default without --from
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// Write the file of the project, which its users share
    #[arg(long)]
    project: bool,
    /// Start directory; the project file is at the root of its repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Show the file, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Overwrite an existing file, and import even if a blocking hook is lost
    #[arg(long)]
    force: bool,
    /// Do not ask, and guard all agents that are found
    #[arg(long, short)]
    yes: bool,
    /// Print the result as JSON, and do not ask
    #[arg(long)]
    json: bool,
}

/// Result of the command.
enum InitResult {
    Written,
    /// The file has this text already.
    Same,
    /// Nothing was written: the reason as a word for JSON, and as a sentence.
    Not(&'static str, String),
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dir = directory(&arguments.dir)?;
    let is_import = arguments.from.is_some();
    let scope = match arguments.project || (is_import && !arguments.user) {
        true => Scope::Project,
        false => Scope::User,
    };
    let mut agents = if is_import { Vec::new() } else { agents::find(&dir) };
    let proposed = match &arguments.from {
        None => DraftFile::starter(),
        Some(DialectName(from)) => import::draft(from, &arguments.files, &dir, scope)?,
    };
    let target = Target::find(&dir, scope, proposed.extension)?;
    let done = write_if_allowed(arguments, &proposed, &target, &mut agents)?;
    if arguments.json {
        print_json(&proposed, &target, &done, &agents)?;
    }
    match &done {
        InitResult::Written => super::print_note(&format!("wrote {}", display_path(&target.path))),
        InitResult::Same => super::print_note(&format!("{} is up to date", display_path(&target.path))),
        InitResult::Not("dry-run", why) => super::print_note(&format!("nothing was written: {why}")),
        InitResult::Not(_, why) => super::print_failure(&format!("nothing was written: {why}")),
    }
    if matches!(done, InitResult::Written) && scope == Scope::Project {
        match arguments.from {
            None => approve(&dir, &target.path),
            Some(_) => import::print_unapproved(&dir, &target.path),
        }
    }
    if matches!(done, InitResult::Written) {
        for other in &target.others {
            super::print_note(&format!("{} exists too; checkrein reads both files", display_path(other)));
        }
    }
    if matches!(done, InitResult::Written | InitResult::Same) {
        print_next_steps(is_import, &agents);
    }
    let fine = matches!(done, InitResult::Written | InitResult::Same) || (arguments.dry_run && proposed.gates == 0);
    Ok(if fine { exit::SUCCESS } else { exit::FAILURE })
}

/// Prints the commands that a user runs next.
fn print_next_steps(is_import: bool, agents: &[&'static Dialect]) {
    if is_import {
        return super::print_note("next: `checkrein install` makes your agents call checkrein");
    }
    let cannot_ask: Vec<_> =
        agents.iter().filter(|agent| !agent.can_ask(&EventKind::PreToolUse)).map(|agent| agent.title()).collect();
    if !cannot_ask.is_empty() {
        let names = cannot_ask.join(", ");
        super::print_note(&format!(
            "hooks of {names} cannot ask: a push is denied there, and the model is asked to tell you"
        ));
    }
    match agents {
        [] => super::print_note("next: `checkrein install AGENT` makes an agent call checkrein; none was found here"),
        agents => {
            let words: Vec<_> = agents.iter().map(|agent| agent.name).collect();
            let (words, names) = (words.join(" "), agents::names(agents));
            super::print_note(&format!("next: `checkrein install {words}` makes {names} call checkrein"));
        }
    }
    super::print_note("then: `checkrein try 'git push'` shows the answer that an agent gets");
}

fn write_if_allowed(
    arguments: &Arguments,
    proposed: &DraftFile,
    target: &Target,
    agents: &mut Vec<&'static Dialect>,
) -> Result<InitResult> {
    for note in &proposed.notes {
        super::print_note(note);
    }
    if target.text.as_deref() == Some(&proposed.text) {
        return Ok(InitResult::Same);
    }
    if !arguments.json {
        // The user knows neither the hooks of another agent nor the difference from an existing file.
        let in_full = arguments.from.is_some() || arguments.dry_run || super::is_verbose() || target.text.is_some();
        if in_full { show(proposed, target)? } else { show_summary(proposed, target)? }
    }
    if arguments.dry_run {
        return Ok(InitResult::Not("dry-run", "this is a dry run".to_owned()));
    }
    if proposed.gates > 0 && !arguments.force {
        let hooks = super::pluralize(proposed.gates, "blocking hook");
        let why = format!("{hooks} would stop blocking (--force to write anyway)");
        return Ok(InitResult::Not("gates-lost", why));
    }
    let own = if target.exists { Some(&target.path) } else { None };
    let existing = own.into_iter().chain(&target.others).next();
    let asks = !arguments.yes && !arguments.force && !arguments.json;
    let is_import = arguments.from.is_some();
    if asks && is_watched() {
        let declined = || Ok(InitResult::Not("declined", "you answered no".to_owned()));
        let confirms = existing.is_some() || is_import || agents.is_empty();
        if confirms && !ask(target)? {
            return declined();
        }
        if !agents.is_empty() {
            let Some(chosen) = agents::ask(agents)? else { return declined() };
            *agents = chosen;
        }
    } else if let (Some(existing), false) = (existing, arguments.force) {
        let why = match existing == &target.path {
            true => format!("{} already exists; use --force to overwrite it", display_path(existing)),
            false => format!("{} already exists; use --force to write a second file", display_path(existing)),
        };
        return Ok(InitResult::Not("exists", why));
    } else if asks && !is_import {
        let why = match &agents[..] {
            [] => "there is no terminal to ask on; use --yes".to_owned(),
            found => format!(
                "there is no terminal to ask which agents to guard; use --yes for all that were found ({})",
                agents::names(found)
            ),
        };
        return Ok(InitResult::Not("no-terminal", why));
    }
    output_file::write(&target.path, &proposed.text, target.exists, target.is_private)?;
    Ok(InitResult::Written)
}

/// Approves the hooks of the starter set, which checkrein itself wrote.
fn approve(dir: &Path, written: &Path) {
    let review = Sources::discover(&native::DIALECT, dir).review();
    let is_written = |hook: &&Reviewed| hook.hook.source.file.as_deref().is_some_and(|file| Path::new(file) == written);
    let count = |hooks: &[&Reviewed]| super::layout::count_hooks(hooks.iter().map(|hook| &*hook.hook));
    let written: Vec<_> = review.awaiting().into_iter().filter(is_written).collect();
    match review.approve(&written) {
        Ok(()) if written.is_empty() => {}
        Ok(()) => super::print_note(&format!("approved {}", super::pluralize(count(&written), "hook"))),
        // The file is written, and its hooks can be approved later.
        Err(error) => {
            super::print_note(&format!("{error}; no hook runs until you approve it: checkrein trust approve --all"));
        }
    }
}

/// Prints one line for each pack and each other hook of the file.
fn show_summary(proposed: &DraftFile, target: &Target) -> Result<()> {
    let path = display_path(&target.path);
    super::print_note(&format!("will write {path} (-v shows it):"));
    let decoded = native::DIALECT.decode(&path, Scope::User, &proposed.text, Format::Yaml);
    let mut lines: Vec<(&str, String)> = Vec::new();
    for hook in &decoded.hooks {
        let Some(pack) = super::selection::pack_of(hook).and_then(packs::find) else {
            lines.push((&hook.info.id, hook.description.clone().unwrap_or_default()));
            continue;
        };
        if !lines.iter().any(|(name, _)| *name == pack.name) {
            lines.push((pack.name, format!("pack: {}", pack.description)));
        }
    }
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let mut out = anstream::stdout().lock();
    for (name, about) in lines {
        writeln!(out, "  {name:width$}  {about}")?;
    }
    Ok(())
}

/// Prints the text, or its difference from the existing file, on standard output.
fn show(proposed: &DraftFile, target: &Target) -> Result<()> {
    let path = display_path(&target.path);
    let mut out = anstream::stdout().lock();
    match &target.text {
        None => {
            super::print_note(&format!("will write {path}:"));
            out.write_all(super::visible::result(&proposed.text).as_bytes())?;
        }
        Some(old) => {
            super::print_note(&format!("will change {path}:"));
            let diff = TextDiff::from_lines(old.as_str(), &proposed.text);
            let diff = diff.unified_diff().header("existing", "new").to_string();
            // The existing file is foreign text: control characters must not reach the terminal.
            out.write_all(super::visible::visible(&diff, super::LINES).as_bytes())?;
        }
    }
    out.flush()?;
    Ok(())
}

/// `true` if a user can be asked.
fn is_watched() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn ask(target: &Target) -> Result<bool> {
    let verb = if target.exists { "overwrite" } else { "write" };
    confirm(&format!("{verb} {}", display_path(&target.path)))
}

fn print_json(proposed: &DraftFile, target: &Target, done: &InitResult, agents: &[&'static Dialect]) -> Result<()> {
    let (outcome, why) = match done {
        InitResult::Written => ("written", None),
        InitResult::Same => ("same", None),
        InitResult::Not(word, why) => (*word, Some(why)),
    };
    let report = json!({
        "path": target.path.to_string_lossy(),
        "written": matches!(done, InitResult::Written),
        "outcome": outcome,
        "why": why,
        "text": proposed.text,
        "lost": proposed.lost,
        "gates_lost": proposed.gates,
        "agents": agents.iter().map(|agent| agent.name).collect::<Vec<_>>(),
    });
    writeln!(anstream::stdout(), "{report:#}")?;
    Ok(())
}

/// File to write, and the files that exist.
struct Target {
    path: PathBuf,
    /// `true` if only its user may read the file.
    is_private: bool,
    exists: bool,
    /// Text of the existing file, if it can be read.
    text: Option<String>,
    /// Existing hook files in other formats, which checkrein reads as well.
    others: Vec<PathBuf>,
}

impl Target {
    /// Finds the file to write. It is in the folder of the hook files that apply here, so that it does not replace them.
    fn find(dir: &Path, scope: Scope, extension: &str) -> Result<Self> {
        let loaded = Sources::discover(&native::DIALECT, dir).load();
        let is_hooks = |path: &Path| path.file_stem().is_some_and(|stem| stem == "hooks");
        let mut existing: Vec<PathBuf> = loaded
            .files
            .into_iter()
            .filter(|file| file.scope == scope && file.status != FileStatus::Missing && is_hooks(&file.path))
            .map(|file| file.path)
            .collect();
        let folder = match existing.first().and_then(|path| path.parent()) {
            Some(folder) => folder.to_owned(),
            None if scope == Scope::User => {
                let config = Locations::default().config;
                config.ok_or_else(|| anyhow::anyhow!("cannot find your home directory; set HOME"))?.join("checkrein")
            }
            None => repository(dir).unwrap_or(dir).join(".checkrein"),
        };
        let path = folder.join("hooks").with_extension(extension);
        let exists = path.symlink_metadata().is_ok();
        existing.retain(|other| *other != path);
        let text = match regular_file::read_text(&path, MAX_SIZE as u64) {
            Ok(text) => Some(text),
            Err(error) if error.is_missing() => None,
            // The text cannot be shown, and --force replaces it.
            Err(ReadError::NotText(_) | ReadError::DeadLink) => None,
            Err(error) => bail!("cannot read {}: {error}; remove it or move it first", path.display()),
        };
        if scope != Scope::User {
            output_file::check_inside(&path, dir)?;
        }
        Ok(Self { path, is_private: scope == Scope::User, exists, text, others: existing })
    }
}

fn repository(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())
}
