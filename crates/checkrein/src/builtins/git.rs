//! Queries to git, for builtins that add context.
//!
//! The repository is not trusted. Git comes from a directory of the system, and no setting of the repository makes it run
//! another program: file monitors, filters, hooks, external diffs, signature checks and lazy fetches are switched off.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein_core::Failure;
use checkrein_process::{ExecContext, HookCommand, Limits, Stdin};

use super::failure;
use crate::handler::BuiltinCall;

/// Limit for one query. The timeout of the hook usually comes first, and also ends the process.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of an answer.
const OUTPUT: usize = 1 << 20;

/// Directories that hold programs of the system. `PATH` is not used: a project can set it.
#[cfg(unix)]
const DIRECTORIES: &[&str] = &[
    "/usr/bin",
    "/usr/local/bin",
    "/bin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
    "/nix/var/nix/profiles/default/bin",
];
#[cfg(not(unix))]
const DIRECTORIES: &[&str] = &[r"C:\Program Files\Git\cmd", r"C:\Program Files (x86)\Git\cmd"];

/// Settings that replace those of the repository. Git reads `safe.bareRepository` only from the command line and from files
/// of the user.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
];

/// Returns the answer of git, or `None` outside of a repository. The text is cut at 1 MiB.
pub(super) async fn run(call: &BuiltinCall<'_>, query: &[&str]) -> Result<Option<String>, Failure> {
    let Some(git) = find() else {
        return Err(failure(format!("git is in none of the directories {}", DIRECTORIES.join(", "))));
    };
    let place = ExecContext::new(call.cwd()).env(variables(call));
    let listed = ["config", "--null", "--name-only", "--get-regexp", r"^filter\."];
    let filters = match run_program(&git, &place, &[], &listed).await? {
        Some(names) => names.split('\0').filter_map(without_filter).collect(),
        None => Vec::new(),
    };
    run_program(&git, &place, &filters, query).await
}

/// The setting that switches off a part of a filter: its command is empty, and git does not require it.
fn without_filter(name: &str) -> Option<String> {
    match name.rsplit_once('.')?.1 {
        "required" => Some(format!("{name}=false")),
        _ => Some(format!("{name}=")),
    }
}

fn find() -> Option<PathBuf> {
    let program = if cfg!(windows) { "git.exe" } else { "git" };
    DIRECTORIES.iter().map(|directory| Path::new(directory).join(program)).find(|path| path.is_file())
}

async fn run_program(
    git: &Path,
    place: &ExecContext,
    settings: &[String],
    query: &[&str],
) -> Result<Option<String>, Failure> {
    let cannot_run = |error: &dyn std::fmt::Display| failure(format!("cannot run git: {error}"));
    let mut argv = vec![git.to_string_lossy().into_owned(), "--no-pager".to_owned(), "--no-optional-locks".to_owned()];
    for setting in SETTINGS.iter().copied().chain(settings.iter().map(String::as_str)) {
        argv.extend(["-c".to_owned(), setting.to_owned()]);
    }
    argv.extend(query.iter().map(|word| (*word).to_owned()));
    let command = HookCommand::argv(argv).prepare(place).map_err(|error| cannot_run(&error))?;
    let limits = Limits::new(TIMEOUT).output_cap(OUTPUT);
    let output = command.run(place, &Stdin::bytes(""), &limits).await.map_err(|error| cannot_run(&error))?;
    if output.timed_out {
        return Err(failure(format!("git took longer than {TIMEOUT:?}")));
    }
    let complaint = String::from_utf8_lossy(&output.stderr.bytes);
    match output.exit.code() {
        // An empty result of `config` or `rev-parse --verify --quiet`.
        Some(1) if complaint.is_empty() => Ok(Some(String::new())),
        Some(0) => Ok(Some(String::from_utf8_lossy(&output.stdout.bytes).into_owned())),
        Some(128) if complaint.contains("not a git repository") => Ok(None),
        // An embedded bare repository could come with the project.
        Some(128) if complaint.contains("cannot use bare repository") => Ok(None),
        _ => Err(failure(format!("git ended with {}: {}", output.exit, complaint.lines().next().unwrap_or_default()))),
    }
}

/// Variables for git: the user's home, and fixed values. None of them selects a program.
fn variables(call: &BuiltinCall<'_>) -> Vec<(OsString, OsString)> {
    const PASSED_ON: &[&str] = &["HOME", "USERPROFILE", "SystemRoot", "XDG_CONFIG_HOME", "GIT_CEILING_DIRECTORIES"];
    const FIXED: &[(&str, &str)] = &[("LC_ALL", "C"), ("GIT_TERMINAL_PROMPT", "0"), ("GIT_NO_LAZY_FETCH", "1")];
    let path = std::env::join_paths(DIRECTORIES).unwrap_or_default();
    let passed_on = PASSED_ON.iter().filter_map(|name| Some(((*name).into(), call.env.var_os(name)?.to_owned())));
    let fixed = FIXED.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    passed_on.chain(fixed).chain([("PATH".into(), path)]).collect()
}
