//! Runs git for the builtins that report the state of a repository.
//!
//! Each call is one process with a timeout. It must not run programs that the repository's settings name, except filters.

use std::ffi::OsString;
use std::time::Duration;

use checkrein_core::Failure;
use checkrein_process::{ExecContext, HookCommand, Limits, Stdin};

use super::failure;
use crate::handler::BuiltinCall;

/// Timeout of a git process. The hook's own timeout is usually shorter and also ends the process.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of the output, in bytes.
const OUTPUT: usize = 1 << 20;

/// Returns the output of git, cut at 1 MiB, or `None` outside of a repository.
pub(super) async fn run(call: &BuiltinCall<'_>, args: &[&str]) -> Result<Option<String>, Failure> {
    let context = ExecContext::new(call.cwd()).env(variables(call));
    // The repository's settings may name programs that git would run. Those that watch files, check signatures and show
    // diffs are disabled. Filters, such as those of git LFS, run: git needs them to detect changes.
    let mut argv =
        vec!["git", "--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"];
    argv.extend(args);
    let git = HookCommand::argv(argv).prepare(&context).map_err(|error| failure(format!("cannot run git: {error}")))?;
    let limits = Limits::new(TIMEOUT).output_cap(OUTPUT);
    let reply = git
        .run(&context, &Stdin::bytes(""), &limits)
        .await
        .map_err(|error| failure(format!("cannot run git: {error}")))?;
    if reply.timed_out {
        return Err(failure(format!("git did not finish within {TIMEOUT:?}")));
    }
    let stderr = String::from_utf8_lossy(&reply.stderr.bytes);
    match reply.exit.code() {
        // `git rev-parse --quiet` exits with 1 and an empty stderr if there is no such revision.
        Some(1) if stderr.is_empty() => Ok(Some(String::new())),
        Some(0) => Ok(Some(String::from_utf8_lossy(&reply.stdout.bytes).into_owned())),
        Some(128) if stderr.contains("not a git repository") => Ok(None),
        _ => Err(failure(format!("git failed: {}: {}", reply.exit, stderr.lines().next().unwrap_or_default()))),
    }
}

/// Variables that git needs to find its programs and the user's settings, and to print messages in English.
fn variables(call: &BuiltinCall<'_>) -> Vec<(OsString, OsString)> {
    const PASSED_ON: &[&str] =
        &["PATH", "HOME", "USERPROFILE", "SystemRoot", "XDG_CONFIG_HOME", "GIT_CEILING_DIRECTORIES"];
    const FIXED: &[(&str, &str)] = &[("LC_ALL", "C"), ("GIT_TERMINAL_PROMPT", "0")];
    let passed_on = PASSED_ON.iter().filter_map(|name| Some(((*name).into(), call.env.var_os(name)?.to_owned())));
    passed_on.chain(FIXED.iter().map(|(name, value)| ((*name).into(), (*value).into()))).collect()
}
