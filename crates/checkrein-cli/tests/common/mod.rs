//! Test helpers: the program in a scratch directory, with its own home directory.
#![allow(dead_code, reason = "each test uses its own part of this")]

#[cfg(unix)]
pub mod terminal;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use assert_cmd::cargo::CommandCargoExt;

/// Reports that a test is skipped because this machine lacks a capability.
///
/// # Panics
///
/// If `CHECKREIN_REQUIRE`, a list with commas, names the capability.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub fn skip(capability: &str, reason: impl std::fmt::Display) {
    let required = std::env::var("CHECKREIN_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == capability), "{capability} is required: {reason}");
    eprintln!("skipped: {reason}");
}

pub struct Place {
    pub dir: tempfile::TempDir,
    /// The home directory. `home` in the project is a link to it, because files inside a project are not the user's own.
    pub home: tempfile::TempDir,
}

/// `PATH` of the program under test. The machine's own may have entries that hooks do not get, with a warning.
pub const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// The user's file that trusts the project.
pub const POLICY: &str = "home/.config/checkrein/hooks.d/trust.yaml";

/// The program under test: the one that cargo built, or the one that `CHECKREIN_PROGRAM` names.
fn program() -> Command {
    match std::env::var_os("CHECKREIN_PROGRAM") {
        Some(path) => Command::new(path),
        None => Command::cargo_bin("checkrein").unwrap(),
    }
}

/// `true` for a call of `checkrein hook`.
pub fn is_hook(arguments: &[&str]) -> bool {
    arguments.first().is_some_and(|first| *first == "hook" || first.starts_with('-')) && arguments.contains(&"hook")
}

/// Result of a run of the program.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    /// A repository with these files, which its user trusts.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::untrusted(files);
        let path = place.dir.path().canonicalize().unwrap();
        place.write(POLICY, &format!("trusted_paths: ['{}']\n", path.display()));
        place
    }

    /// A repository with these files, as after a clone.
    pub fn untrusted(files: &[(&str, &str)]) -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() };
        std::fs::create_dir_all(place.dir.path().join(".git")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(place.home.path(), place.dir.path().join("home")).unwrap();
        for (path, text) in files {
            place.write(path, text);
        }
        place
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        #[cfg(unix)]
        if text.starts_with("#!") {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program();
        let home = self.home.path().canonicalize().unwrap();
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", SYSTEM_PATH)
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join(".config"));
        // Under an agent, variables do not name the home directory.
        if is_hook(arguments) {
            command.arg("--home").arg(&home);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.ran(self.command(arguments).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs a command and parses its output as JSON.
    pub fn run_json(&self, arguments: &[&str]) -> (i32, serde_json::Value) {
        let output = self.command(arguments).stdin(Stdio::null()).output().unwrap();
        let json = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        (output.status.code().unwrap_or(-1), json)
    }

    pub fn run_with(&self, arguments: &[&str], stdin: &str) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that reads no input may have exited already.
        match std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => panic!("{error}"),
            _ => {}
        }
        self.ran(child.wait_with_output().unwrap())
    }

    /// Runs a command on a terminal. Escape characters are replaced by `␛`.
    #[cfg(unix)]
    pub fn run_on_terminal(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(arguments);
        command.env("TERM", "xterm-256color").envs(variables.iter().copied());
        let (code, output) = terminal::run(command);
        let text = self.tidy(&output.replace("\r\n", "\n").replace('\u{1b}', "␛"));
        Ran { code, stdout: text, stderr: String::new() }
    }

    /// The output, with placeholders for the scratch directory and for times.
    pub fn ran(&self, output: Output) -> Ran {
        let text = |bytes: Vec<u8>| self.tidy(&String::from_utf8(bytes).unwrap());
        Ran { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    fn tidy(&self, text: &str) -> String {
        let real = self.home.path().canonicalize().unwrap();
        // Entries name a home directory only if it differs from that of the account.
        let text = text.replace(&format!(" --home {}", real.display()), "");
        let text = text.replace(&*real.to_string_lossy(), "DIR/home");
        tidy(&text.replace(&*self.home.path().to_string_lossy(), "DIR/home"), self.dir.path())
    }
}

fn tidy(text: &str, dir: &Path) -> String {
    let real = dir.canonicalize().unwrap();
    let text = text.replace(&*real.to_string_lossy(), "DIR").replace(&*dir.to_string_lossy(), "DIR");
    let mut out = String::new();
    let mut rest = text.as_str();
    // `12 ms` and `"duration_ms": 12` differ from run to run.
    while let Some(at) = rest.find(" ms") {
        let digits = rest[..at].chars().rev().take_while(char::is_ascii_digit).count();
        out.push_str(&rest[..at - digits]);
        out.push_str(if digits > 0 { "N ms" } else { " ms" });
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    let mut lines: Vec<String> = out.lines().map(str::to_owned).collect();
    for line in &mut lines {
        let number =
            line.find("\"duration_ms\": ").filter(|at| line[at + 15..].starts_with(|c: char| c.is_ascii_digit()));
        if let Some(at) = number {
            let end = line[at..].find(',').map_or(line.len(), |comma| at + comma);
            line.replace_range(at..end, "\"duration_ms\": N");
        }
    }
    lines.join("\n") + if out.ends_with('\n') { "\n" } else { "" }
}
