//! The part of `checkrein hook`: pushes an answered event, and starts the process if the user's file says so.
//!
//! The agent waits for the end of `checkrein hook`, so nothing here waits longer than a few milliseconds. Every error is ignored:
//! the decision log has the event anyway.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use checkrein::hook_files::{Locations, UserDirs};
use checkrein_serve::client::{Client, ClientError, PUSH_TIMEOUT};
use checkrein_serve::protocol::MAX_FRAME;
use checkrein_serve::runtime_dir::RuntimeDir;
use checkrein_tools::agent_adapter::AgentResponse;

/// Time without work after which a process ends that was started on demand, in seconds.
const IDLE_EXIT: &str = "1800";

/// Time between two attempts to start the process.
const PAUSE: Duration = Duration::from_secs(60);

/// Name of the file whose time is that of the last attempt.
const LAST_ATTEMPT: &str = "last-start";

/// `PATH` of a process that was started on demand. The variables of an agent may come from a project.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

pub(super) fn after_answer(response: &AgentResponse, dirs: &UserDirs, locations: &Locations) {
    let start = Instant::now();
    let Some(state) = locations.state_dir() else { return };
    // Without a logged event there is nothing to tell, and no reason to start.
    let Some(logged) = &response.logged else { return };
    match Client::connect(&state) {
        Ok(client) => {
            let record = logged.recorded(response.record.as_ref());
            // A frame has a limit. The page then has the line only.
            let record = record.filter(|record| record.len() + 2 * logged.line.len() < MAX_FRAME - 1024);
            let parent = std::env::var("TRACEPARENT").ok();
            let left = PUSH_TIMEOUT.saturating_sub(start.elapsed());
            let _ = client.push(&logged.line, record.as_deref(), parent.as_deref(), left);
        }
        Err(ClientError::NotRunning) if response.resident => start_process(&state, dirs, locations),
        Err(_) => {}
    }
}

/// Starts the process, unless that was tried a moment ago, or no user can use it.
fn start_process(state: &Path, dirs: &UserDirs, locations: &Locations) {
    // Services of root and jobs of CI have no user who looks at a page.
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    if rustix::process::geteuid().is_root() || is_ci {
        return;
    }
    let Ok(dir) = RuntimeDir::create(state) else { return };
    if !claim_attempt(&dir.path().join(LAST_ATTEMPT)) {
        return;
    }
    let (Some(program), Some(home)) = (checkrein_tools::own_program::path(), &locations.home) else { return };
    let mut command = Command::new(program);
    command.args(["serve", "--detached", "--idle-exit", IDLE_EXIT]);
    // A project can set variables of an agent. They must not choose what the process loads and where it looks.
    command.env_clear().env("PATH", SYSTEM_PATH).env("HOME", home);
    for (name, dir) in [("XDG_CONFIG_HOME", &dirs.config), ("XDG_STATE_HOME", &dirs.state)] {
        if let Some(dir) = dir {
            command.env(name, dir);
        }
    }
    let _ = command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

/// Returns `true` if the last attempt was long enough ago. A time in the future is no reason to wait.
fn claim_attempt(path: &Path) -> bool {
    let last = fs::symlink_metadata(path).and_then(|found| found.modified());
    if last.is_ok_and(|last| SystemTime::now().duration_since(last).is_ok_and(|age| age < PAUSE)) {
        return false;
    }
    // On a full disk, no attempt is made.
    let file = checkrein::internal::line_file::open_to_write(path);
    file.and_then(|file: File| file.set_modified(SystemTime::now())).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_attempt_per_minute_also_after_a_clock_jump() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(LAST_ATTEMPT);
        assert!(claim_attempt(&path));
        assert!(!claim_attempt(&path));
        let set = |time| File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        set(SystemTime::now() - PAUSE);
        assert!(claim_attempt(&path));
        set(SystemTime::now() + Duration::from_secs(86_400));
        assert!(claim_attempt(&path));
        assert!(!claim_attempt(&path));
    }
}
