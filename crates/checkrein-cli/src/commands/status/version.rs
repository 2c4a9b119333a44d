//! Asks agents for their versions, with `PROGRAM --version`. An agent that does not answer in time has no version.
//!
//! Only programs whose files do not tell their version are asked, and only those that are known to change no files then.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use checkrein_tools::install::Detected;

use crate::commands::visible::is_hidden;

/// Longest wait for the answer of an agent.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Number of bytes of the output that are read.
const MAX_OUTPUT: u64 = 4096;

/// Versions of agents: from their files, or else from the programs, which are asked at the same time if `starts` is `true`.
pub fn of_all<'a>(agents: impl Iterator<Item = &'a Detected>, starts: bool) -> Vec<Option<String>> {
    let start = |program: PathBuf| std::thread::spawn(move || ask(&program));
    let asked: Vec<_> = agents
        .map(|agent| {
            let can_ask = starts && agent.prints_version && agent.version.is_none();
            (agent.version.clone(), agent.program.clone().filter(|_| can_ask).map(start))
        })
        .collect();
    asked.into_iter().map(|(known, thread)| known.or_else(|| thread?.join().ok().flatten())).collect()
}

fn ask(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let output = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    // Processes that the agent has started can keep the pipe open after its exit.
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = output.take(MAX_OUTPUT).read_to_end(&mut text);
        let _ = sender.send(text);
    });
    let start = Instant::now();
    let text = receiver.recv_timeout(TIMEOUT).ok();
    loop {
        match child.try_wait() {
            Ok(None) if text.is_some() && start.elapsed() < TIMEOUT => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            Ok(Some(status)) if status.success() => break,
            _ => return None,
        }
    }
    number(&String::from_utf8_lossy(&text?))
}

/// The first word that looks like a version.
fn number(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        let mut parts = word.split('.');
        let digits = |part: Option<&str>| part.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()));
        digits(parts.next()) && digits(parts.next())
    };
    let words = text.split_whitespace().map(|word| word.trim_start_matches('v').trim_end_matches([',', ')', ';', '.']));
    words.into_iter().find(|word| is_version(word)).map(|word| word.chars().filter(|c| !is_hidden(*c)).collect())
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn version_is_found_in_the_output_of_agents() {
        for (text, version) in [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            (" 1.50.0\n", Some("1.50.0")),
            ("crush version v0.24.4\n", Some("0.24.4")),
            ("GitHub Copilot CLI 1.0.102.\n", Some("1.0.102")),
            ("1.105.1\nabcdef\nx64\n", Some("1.105.1")),
            ("no such thing", None),
            ("", None),
        ] {
            assert_eq!(number(text).as_deref(), version, "{text:?}");
        }
    }
}
