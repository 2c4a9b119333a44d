//! Syntax of shell texts, as the shells themselves see it: `sh -n` and `bash -n`, which parse and run nothing.
//!
//! The text goes to the standard input of the shell, because old shells ignore `-n` together with `-c`. The environment is
//! empty, so that no variable names a file to run first.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Shell that a text is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShellKind {
    Sh,
    Bash,
}

impl ShellKind {
    /// Returns the shell with this name. `None` for shells with another syntax.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name.rsplit('/').next().unwrap_or(name) {
            "sh" | "dash" | "ash" => Some(Self::Sh),
            "bash" => Some(Self::Bash),
            _ => None,
        }
    }

    fn program(self) -> Option<&'static Path> {
        let places: &[&str] = match self {
            Self::Sh => &["/bin/sh", "/usr/bin/sh"],
            Self::Bash => &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"],
        };
        places.iter().map(Path::new).find(|path| path.is_file())
    }
}

/// A syntax error.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// Line in the text, from 1.
    pub(super) line: Option<u32>,
    /// Text of the shell.
    pub(super) message: String,
}

/// Time for parsing a text.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum size of the shell's messages, in bytes.
const MAX_MESSAGES: u64 = 4096;

/// Returns the syntax error of a text. `None` if it has none, or if the shell is not there.
pub(super) fn check(text: &str, shell: ShellKind) -> Option<SyntaxError> {
    let mut command = Command::new(shell.program()?);
    if shell == ShellKind::Bash {
        command.args(["--noprofile", "--norc"]);
        // `shopt` is not run, and the patterns that it enables are syntax.
        if text.contains("extglob") {
            command.args(["-O", "extglob"]);
        }
    }
    command.arg("-n").env_clear().current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let (input, messages) = (child.stdin.take(), child.stderr.take());
    let text = text.to_owned();
    // Threads, because a shell that stops reading would block the write. They end with the pipes of the shell.
    let writer = std::thread::spawn(move || {
        if let Some(mut input) = input {
            // A shell that has found an error closes its input.
            let _ = input.write_all(text.as_bytes());
        }
    });
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(messages) = messages {
            let _ = messages.take(MAX_MESSAGES).read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let is_success = wait(&mut child);
    let _ = writer.join();
    let messages = reader.join().ok()?;
    match is_success {
        Some(false) => parse(&messages),
        _ => None,
    }
}

/// Waits for the shell. `None` if it takes too long.
fn wait(child: &mut Child) -> Option<bool> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if start.elapsed() < TIMEOUT => std::thread::sleep(Duration::from_millis(1)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// Parses the first message: `sh: 3: Syntax error: …` of dash, `bash: line 3: syntax error …` of bash.
fn parse(messages: &str) -> Option<SyntaxError> {
    let first = messages.lines().find(|line| !line.trim().is_empty())?;
    let mut line = None;
    let mut rest = first;
    while line.is_none()
        && let Some((part, behind)) = rest.split_once(": ")
    {
        line = part.trim_start_matches("line ").parse().ok();
        rest = behind;
    }
    let message = if line.is_some() { rest } else { first };
    let message = message.strip_prefix("Syntax error: ").or(message.strip_prefix("syntax error: ")).unwrap_or(message);
    Some(SyntaxError { line, message: message.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_shells_are_parsed() {
        for (text, line, message) in [
            ("/bin/sh: 3: Syntax error: Unterminated quoted string\n", Some(3), "Unterminated quoted string"),
            (
                "/bin/bash: line 1: syntax error near unexpected token `fi'\n",
                Some(1),
                "syntax error near unexpected token `fi'",
            ),
            ("something else", None, "something else"),
        ] {
            assert_eq!(parse(text), Some(SyntaxError { line, message: message.to_owned() }), "{text}");
        }
        assert_eq!(parse("\n"), None);
    }

    #[test]
    fn text_is_parsed_and_not_run() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("ran");
        for shell in [ShellKind::Sh, ShellKind::Bash].into_iter().filter(|shell| shell.program().is_some()) {
            let text = format!("touch {0}; $(touch {0}); `touch {0}`\n", file.display());
            assert_eq!(check(&text, shell), None);
            assert!(!file.exists());
            assert!(check("echo 'not closed\n", shell).is_some());
            assert!(check("if true; then echo; \n", shell).is_some());
        }
    }
}
