//! `checkrein init`: a first config file, or that of another agent in checkrein's own format.

mod text;
mod write;

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use checkrein::Scope;
use checkrein::dialects::agents::native;
use checkrein::hook_files::{FileStatus, Locations, Sources};
use checkrein::trust::Reviewed;
use serde_json::json;
use similar::TextDiff;

use self::text::DraftFile;
use super::config::directory;
use super::dialect::DialectName;
use crate::exit::{self, Exit};

/// Writes a commented starter config, or imports the hooks of another agent.
///
/// Shows what it will write first, and asks on a terminal. A file that is there is overwritten only if that is said, there
/// or with --force. If an import would lose a gate, nothing is written unless --force is given.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes:\n  0  written, or there already    1  nothing was written, and why    64  a wrong call\n\nExample:\n  checkrein init\n  checkrein init --from claude --dry-run\n  checkrein init --user --yes"
)]
pub struct Arguments {
    /// Imports the hooks of this agent instead of the starter set
    #[arg(long, value_name = "DIALECT")]
    from: Option<DialectName>,
    /// Files to import instead of what would be found
    #[arg(requires = "from")]
    files: Vec<PathBuf>,
    /// Writes the user's own file instead of the project's
    #[arg(long)]
    user: bool,
    /// Where the agent would be started; the file goes to the root of the repository there
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Shows what would be written, and writes nothing
    #[arg(long)]
    dry_run: bool,
    /// Overwrites a file that is there, and imports also if a gate is lost
    #[arg(long)]
    force: bool,
    /// Does not ask
    #[arg(long, short)]
    yes: bool,
    /// Prints what was done as JSON, and does not ask
    #[arg(long)]
    json: bool,
}

/// What came of it.
enum InitResult {
    Written,
    /// It was there already, word for word.
    Same,
    /// Nothing was written, and why: a word for programs, and a sentence.
    Not(&'static str, String),
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dir = directory(&arguments.dir)?;
    let scope = if arguments.user { Scope::User } else { Scope::Project };
    let proposed = match &arguments.from {
        None => DraftFile::starter(),
        Some(DialectName(from)) => DraftFile::import(from, &arguments.files, &dir, scope)?,
    };
    let target = Target::find(&dir, scope, proposed.extension)?;
    let done = settle(arguments, &proposed, &target)?;
    if arguments.json {
        tell_json(&proposed, &target, &done)?;
    }
    match &done {
        InitResult::Written => super::print_note(&format!("wrote {}", target.path.display())),
        InitResult::Same => super::print_note(&format!("{} says this already", target.path.display())),
        InitResult::Not(_, why) => super::print_note(&format!("nothing was written: {why}")),
    }
    if matches!(done, InitResult::Written) && scope == Scope::Project {
        approve(&dir, &target.path, arguments.from.is_none());
    }
    for other in target.others.iter().filter(|_| matches!(done, InitResult::Written)) {
        super::print_note(&format!("{} is there, too, and both are read", other.display()));
    }
    let fine = matches!(done, InitResult::Written | InitResult::Same) || (arguments.dry_run && proposed.gates == 0);
    Ok(if fine { exit::SUCCESS } else { exit::FAILURE })
}

fn settle(arguments: &Arguments, proposed: &DraftFile, target: &Target) -> Result<InitResult> {
    for lost in &proposed.notes {
        super::print_note(lost);
    }
    if target.text.as_deref() == Some(&proposed.text) {
        return Ok(InitResult::Same);
    }
    if !arguments.json {
        show(proposed, target)?;
    }
    if arguments.dry_run {
        return Ok(InitResult::Not("dry-run", "this is what would be".to_owned()));
    }
    if proposed.gates > 0 && !arguments.force {
        let why = format!("gates that would stop guarding anything: {}; --force writes all the same", proposed.gates);
        return Ok(InitResult::Not("gates-lost", why));
    }
    let there: Vec<_> = target.is_there.then_some(&target.path).into_iter().chain(&target.others).collect();
    let asks = !arguments.yes && !arguments.force && !arguments.json && is_watched();
    if asks {
        if !asked(target)? {
            return Ok(InitResult::Not("declined", "you said no".to_owned()));
        }
    } else if let (Some(there), false) = (there.first(), arguments.force) {
        let why = format!("{} is there; --force writes all the same", there.display());
        return Ok(InitResult::Not("exists", why));
    }
    write::write(&target.path, &proposed.text, target.is_there, arguments.user)?;
    Ok(InitResult::Written)
}

/// Approves what was written: who asked for it has seen it. Scripts that imported hooks name were not shown, so these wait.
fn approve(dir: &Path, written: &Path, is_starter: bool) {
    let review = Sources::discover(&native::DIALECT, dir).review();
    let is_written = |hook: &&Reviewed| hook.hook.source.file.as_deref().is_some_and(|file| Path::new(file) == written);
    let (seen, unseen): (Vec<_>, Vec<_>) =
        review.awaiting().into_iter().filter(is_written).partition(|hook| is_starter || hook.scripts.is_empty());
    match review.approve(&seen) {
        Ok(()) if seen.is_empty() => {}
        Ok(()) => super::print_note(&format!(
            "{} of it approved: see `checkrein trust`",
            super::pluralize(seen.len(), "hook")
        )),
        // It is written, and can be approved later.
        Err(error) => super::print_note(&format!("{error}; none of it runs yet: see `checkrein trust`")),
    }
    if !unseen.is_empty() {
        let count = super::pluralize(unseen.len(), "hook");
        super::print_note(&format!("{count} with scripts to be looked at: see `checkrein trust`"));
    }
}

/// The text, or what it changes. Only that goes to standard output.
fn show(proposed: &DraftFile, target: &Target) -> Result<()> {
    let path = target.path.display();
    let mut out = anstream::stdout().lock();
    match &target.text {
        None => {
            super::print_note(&format!("this goes to {path}:"));
            out.write_all(proposed.text.as_bytes())?;
        }
        Some(old) => {
            super::print_note(&format!("this changes in {path}:"));
            let diff = TextDiff::from_lines(old.as_str(), &proposed.text);
            let diff = diff.unified_diff().header("there", "new").to_string();
            // What is there may be anybody's: it must not steer the terminal.
            let steers = |c: char| super::is_terminal_control(c) && !matches!(c, '\n' | '\t');
            out.write_all(diff.replace(steers, " ").as_bytes())?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Whether somebody is there to be asked.
fn is_watched() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn asked(target: &Target) -> Result<bool> {
    let verb = if target.is_there { "overwrite" } else { "write" };
    write!(anstream::stderr(), "checkrein: {verb} {}? [y/N] ", target.path.display())?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
}

fn tell_json(proposed: &DraftFile, target: &Target, done: &InitResult) -> Result<()> {
    let (outcome, why) = match done {
        InitResult::Written => ("written", None),
        InitResult::Same => ("same", None),
        InitResult::Not(word, why) => (*word, Some(why)),
    };
    let told = json!({
        "path": target.path.to_string_lossy(),
        "written": matches!(done, InitResult::Written),
        "outcome": outcome,
        "why": why,
        "text": proposed.text,
        "lost": proposed.lost,
        "gates_lost": proposed.gates,
    });
    writeln!(anstream::stdout(), "{told:#}")?;
    Ok(())
}

/// Where it goes, and what is there.
struct Target {
    path: PathBuf,
    is_there: bool,
    /// What the file says now, if it can be read.
    text: Option<String>,
    /// Files in other formats that are read as well.
    others: Vec<PathBuf>,
}

impl Target {
    /// Beside the hooks that are in force here, so that none of them is put out of force by a nearer file.
    fn find(dir: &Path, scope: Scope, extension: &str) -> Result<Self> {
        let loaded = Sources::discover(&native::DIALECT, dir).load();
        let is_hooks = |path: &Path| path.file_stem().is_some_and(|stem| stem == "hooks");
        let mut there: Vec<PathBuf> = loaded
            .files
            .into_iter()
            .filter(|file| file.scope == scope && file.status != FileStatus::Missing && is_hooks(&file.path))
            .map(|file| file.path)
            .collect();
        let folder = match there.first().and_then(|path| path.parent()) {
            Some(folder) => folder.to_owned(),
            None if scope == Scope::User => {
                let config = Locations::default().config;
                config.ok_or_else(|| anyhow::anyhow!("nobody knows your home directory: set HOME"))?.join("checkrein")
            }
            None => repository(dir).unwrap_or(dir).join(".checkrein"),
        };
        let path = folder.join("hooks").with_extension(extension);
        let is_there = path.symlink_metadata().is_ok();
        there.retain(|other| *other != path);
        let text = std::fs::read_to_string(&path).ok();
        Ok(Self { path, is_there, text, others: there })
    }
}

fn repository(dir: &Path) -> Option<&Path> {
    dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())
}
