//! Questions to git, as a process that nothing is left of.

use std::ffi::OsString;
use std::time::Duration;

use checkrein_core::Failure;
use checkrein_process::{ExecContext, HookCommand, Limits, Stdin};

use super::failure;
use crate::handler::BuiltinCall;

/// The hook's own limit usually comes first, and ends the process too.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How much of what git says is kept.
const OUTPUT: usize = 1 << 20;

/// What git says, or `None` outside of a repository. The text may be cut at 1 MiB.
pub(super) async fn ask(call: &BuiltinCall<'_>, question: &[&str]) -> Result<Option<String>, Failure> {
    let place = ExecContext::new(call.cwd()).env(variables(call));
    // The repository's own settings may name programs that git would run for these questions. Those that watch files,
    // check signatures and show differences are not run. Filters, as git LFS has them, are: git needs them to tell
    // what has changed.
    let mut argv =
        vec!["git", "--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"];
    argv.extend(question);
    let git = HookCommand::argv(argv).prepare(&place).map_err(|error| failure(format!("cannot ask git: {error}")))?;
    let limits = Limits::new(TIMEOUT).output_cap(OUTPUT);
    let reply = git
        .run(&place, &Stdin::bytes(""), &limits)
        .await
        .map_err(|error| failure(format!("cannot ask git: {error}")))?;
    if reply.timed_out {
        return Err(failure(format!("git took longer than {TIMEOUT:?}")));
    }
    let complaint = String::from_utf8_lossy(&reply.stderr.bytes);
    match reply.exit.code() {
        // How git says no to a question, without a complaint.
        Some(1) if complaint.is_empty() => Ok(Some(String::new())),
        Some(0) => Ok(Some(String::from_utf8_lossy(&reply.stdout.bytes).into_owned())),
        Some(128) if complaint.contains("not a git repository") => Ok(None),
        _ => Err(failure(format!("git ended with {}: {}", reply.exit, complaint.lines().next().unwrap_or_default()))),
    }
}

/// What git needs to find itself and its user's settings, and to answer in words that are known.
fn variables(call: &BuiltinCall<'_>) -> Vec<(OsString, OsString)> {
    const PASSED_ON: &[&str] =
        &["PATH", "HOME", "USERPROFILE", "SystemRoot", "XDG_CONFIG_HOME", "GIT_CEILING_DIRECTORIES"];
    const FIXED: &[(&str, &str)] = &[("LC_ALL", "C"), ("GIT_TERMINAL_PROMPT", "0")];
    let passed_on = PASSED_ON.iter().filter_map(|name| Some(((*name).into(), call.env.var_os(name)?.to_owned())));
    passed_on.chain(FIXED.iter().map(|(name, value)| ((*name).into(), (*value).into()))).collect()
}
