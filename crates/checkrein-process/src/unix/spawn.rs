//! Spawning of plain processes, by `std`.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::Pid;

use super::start::ChildStdio;
use crate::launch::{SpawnSpec, StartError};

/// Spawns a process in a group of its own.
///
/// `std` uses `posix_spawn` as long as the program is a path and nothing is to run between fork and exec. A fork would copy the
/// page tables of the host, so nothing here may force one: no `pre_exec`, no user or group.
pub(super) fn spawn(launch: &SpawnSpec<'_>, stdio: ChildStdio) -> Result<Pid, StartError> {
    let ChildStdio([stdin, stdout, stderr]) = stdio;
    let process = Command::new(launch.program)
        .arg0(launch.arg0)
        .args(launch.args.iter())
        .current_dir(launch.place.cwd())
        .env_clear()
        .envs(launch.variables())
        .process_group(0)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .map_err(StartError::before)?;
    Ok(Pid::from_child(&process))
}
