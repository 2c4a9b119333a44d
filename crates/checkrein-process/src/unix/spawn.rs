//! Spawn of processes without a sandbox, with `std::process`.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::Pid;

use super::start::ChildStdio;
use crate::launch::{SpawnSpec, StartError};

/// Spawns a process in its own group.
///
/// `std` uses `posix_spawn` if the program is a path and no code runs between fork and exec. A fork would copy the page
/// tables of the host, so nothing here may cause one: no `pre_exec`, no user or group.
pub(super) fn spawn(spec: &SpawnSpec<'_>, stdio: ChildStdio) -> Result<Pid, StartError> {
    let ChildStdio([stdin, stdout, stderr]) = stdio;
    let process = Command::new(spec.program)
        .arg0(spec.arg0)
        .args(spec.args.iter())
        .current_dir(spec.context.cwd())
        .env_clear()
        .envs(spec.variables())
        .process_group(0)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .map_err(StartError::before)?;
    Ok(Pid::from_child(&process))
}
