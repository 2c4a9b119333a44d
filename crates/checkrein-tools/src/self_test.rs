//! Self-test of an installed entry: a call that checkrein must deny, sent through the command of the entry.
//!
//! `checkrein doctor` issues a [`Canary`]: a random token, and an empty file with that name in the user's state directory. It sends
//! a tool call with the token to the command of the entry. The agent adapter denies a call with an issued token, and
//! its reason names the token and the number of hooks.
//!
//! A canary can only deny. A call with a token that is not issued is judged as any other call. Only the user can write the directory,
//! and a process that can write there gains nothing but denials.

use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein::internal::is_private;
use checkrein::internal::line_file::make_private_directory;
use checkrein_core::{Decision, EventKind, HookState, RawJson};
use checkrein_dialects::{Dialect, HookSpec};
use checkrein_process::{ExecContext, HookCommand, Limits, Stdin};
use serde_json::json;

use crate::AgentCall;

/// Start of the word that marks a call of a self-test.
const MARK: &str = "checkrein-self-test-";
/// Number of characters of a token.
const LENGTH: usize = 32;
/// Longest wait for the answer of an entry.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Age at which the file of a self-test that was killed is removed.
const MAX_AGE: Duration = Duration::from_secs(3600);

/// Directory of the issued tokens in a state directory.
fn directory(state: &Path) -> PathBuf {
    state.join("self-test")
}

/// A token that `checkrein hook` answers with a denial, until it is dropped.
#[derive(Debug)]
pub struct Canary {
    token: String,
    path: PathBuf,
}

impl Canary {
    /// Issues a token.
    ///
    /// # Errors
    /// The state directory cannot be written, or other users can write it.
    pub fn issue(state: &Path) -> io::Result<Self> {
        let dir = directory(state);
        make_private_directory(&dir)?;
        is_private(&dir).map_err(io::Error::other)?;
        remove_old(&dir);
        // The keys of a `RandomState` come from the random numbers of the system.
        let keys = RandomState::new();
        let token = format!("{:016x}{:016x}", keys.hash_one(0_u8), keys.hash_one(1_u8));
        let path = dir.join(&token);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path)?;
        Ok(Self { token, path })
    }

    /// Word that a call must contain.
    fn word(&self) -> String {
        format!("{MARK}{}", self.token)
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn remove_old(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|found| found.modified()).map(|time| time.elapsed());
        if age.is_ok_and(|age| age.is_ok_and(|age| age > MAX_AGE)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the issued token that a payload contains. Reads the directory only if the payload has the mark.
pub(crate) fn issued_token<'p>(payload: &'p str, state: &Path) -> Option<&'p str> {
    let dir = directory(state);
    let candidates = payload.match_indices(MARK).filter_map(|(at, mark)| payload.get(at + mark.len()..)?.get(..LENGTH));
    let is_token = |text: &&str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_file = |token: &&str| dir.join(token).symlink_metadata().is_ok_and(|found| found.is_file());
    let token = candidates.filter(is_token).find(is_file)?;
    if is_private(&dir).is_ok_and(|exists| exists) { Some(token) } else { None }
}

/// Reason of the denial of a canary.
pub(crate) fn reason(token: &str, hooks: &[HookSpec]) -> String {
    format!("{MARK}{token} is denied as expected; hooks in force: {}", count(hooks))
}

/// Number of entries that can run.
fn count(hooks: &[HookSpec]) -> usize {
    hooks.iter().filter(|hook| hook.state == HookState::Ready).count()
}

/// Result of a self-test.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelfTest {
    /// The entry denied the call.
    Passed {
        /// Time until the answer.
        duration: Duration,
    },
    /// The entry denied the call, and the hooks that it sees are others than those of this process.
    OtherHooks {
        /// Number of hooks that the entry sees.
        seen: usize,
        /// Number of hooks that this process sees.
        expected: usize,
    },
    /// The entry did not deny the call as expected. Contains the reason.
    Failed(String),
    /// The test could not run. Contains the reason.
    Impossible(String),
}

/// Fires a canary through the command of an entry, as the agent does.
#[derive(Debug)]
#[non_exhaustive]
pub struct SelfTestCall {
    agent: &'static Dialect,
    call: AgentCall,
    canary: Canary,
}

impl SelfTestCall {
    /// Prepares a shell call of an agent that is started in `dir`.
    ///
    /// # Errors
    /// The reason why the test cannot run.
    pub fn new(agent: &'static Dialect, dir: &Path, state: &Path) -> Result<Self, String> {
        let canary = Canary::issue(state)
            .map_err(|error| format!("cannot write a token to {}: {error}", directory(state).display()))?;
        // The command is harmless, in case a program other than checkrein reads it.
        let input = json!({ "command": format!("echo {}", canary.word()) }).to_string();
        let input = RawJson::parse(input).map_err(|error| error.to_string())?;
        let call =
            AgentCall::tool(agent, &EventKind::PreToolUse, "Bash", &input, dir).map_err(|error| error.to_string())?;
        Ok(Self { agent, call, canary })
    }

    /// Kind of the event, which has an entry.
    pub fn kind(&self) -> EventKind {
        self.call.event.kind()
    }

    /// Runs the command of the entry with these variables, and reads its answer as the agent does. `hooks` are those that the entry
    /// should see.
    pub fn run(
        &self,
        command: &HookCommand,
        dir: &Path,
        variables: &[(String, std::ffi::OsString)],
        hooks: &[HookSpec],
    ) -> SelfTest {
        let context = ExecContext::new(dir).env(variables.iter().cloned());
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return SelfTest::Impossible(format!("cannot start a runtime: {error}")),
        };
        let resolved = match command.clone().prepare(&context) {
            Ok(resolved) => resolved,
            Err(error) => return SelfTest::Failed(format!("the command cannot be started: {error}")),
        };
        let stdin = Stdin::bytes(self.call.payload.clone());
        let output = match runtime.block_on(resolved.run(&context, &stdin, &Limits::new(TIMEOUT))) {
            Ok(output) => output,
            Err(error) => return SelfTest::Failed(format!("the command cannot be started: {error}")),
        };
        if output.timed_out {
            return SelfTest::Failed(format!("no answer within {} s", TIMEOUT.as_secs()));
        }
        let [stdout, stderr] =
            [&output.stdout, &output.stderr].map(|stream| String::from_utf8_lossy(&stream.bytes).into_owned());
        let Some(code) = output.exit.code() else {
            return SelfTest::Failed(format!("the command ended with {:?}", output.exit));
        };
        let told = self.call.read(self.agent, code, &stdout, &stderr);
        let Some(seen) = self.hooks_in(&stdout).or_else(|| self.hooks_in(&stderr)) else {
            let text = [stderr.trim(), stdout.trim()].into_iter().find(|text| !text.is_empty()).unwrap_or("no output");
            let text: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
            return SelfTest::Failed(format!("the answer does not have the token (exit code {code}: {text})"));
        };
        if !matches!(told.decision(), Decision::Deny | Decision::Halt) {
            let agent = self.agent.name;
            return SelfTest::Failed(format!("{agent} would read the denial as `{}`", told.decision()));
        }
        let expected = count(hooks);
        match seen == expected {
            true => SelfTest::Passed { duration: output.duration },
            false => SelfTest::OtherHooks { seen, expected },
        }
    }

    /// Number of hooks in an answer to this canary.
    fn hooks_in(&self, text: &str) -> Option<usize> {
        let (_, rest) = text.split_once(&self.canary.word())?;
        let (_, rest) = rest.split_once("hooks in force: ")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may say so")]
mod tests {
    use super::*;

    #[test]
    fn only_an_issued_token_is_recognized() {
        let state = tempfile::tempdir().unwrap();
        let state = state.path().join("checkrein");
        assert_eq!(issued_token(&format!("{MARK}{}", "0".repeat(LENGTH)), &state), None);
        let canary = Canary::issue(&state).unwrap();
        let word = canary.word();
        assert_eq!(issued_token(&format!("{{\"command\":\"echo {word}\"}}"), &state), Some(canary.token.as_str()));
        for other in [
            format!("{MARK}{}", "0".repeat(LENGTH)),
            word[..word.len() - 1].to_owned(),
            word.to_uppercase(),
            format!("{MARK}../../../../../../../../../etc/passw"),
            format!("{MARK}{}", "é".repeat(LENGTH)),
            MARK.to_owned(),
        ] {
            assert_eq!(issued_token(&other, &state), None, "{other}");
        }
        drop(canary);
        assert_eq!(issued_token(&word, &state), None);
    }

    #[cfg(unix)]
    #[test]
    fn tokens_in_a_shared_directory_are_ignored() {
        use std::os::unix::fs::PermissionsExt as _;

        let state = tempfile::tempdir().unwrap();
        let canary = Canary::issue(state.path()).unwrap();
        fs::set_permissions(directory(state.path()), fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(issued_token(&canary.word(), state.path()), None);
    }
}
