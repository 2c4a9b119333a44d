//! Files that are no plain files, at every place that a command reads: each command ends, with bounded memory, and names the
//! problem.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::Place;

/// Memory of a command in KiB. A command that reads a device to its end exceeds it.
const MEMORY: &str = "2000000";

/// A hang is a failure. No command needs a fraction of this.
const WATCHDOG: Duration = Duration::from_secs(180);

/// Kinds of files, and texts of which a command must print one.
const ODD: &[(&str, &[&str])] = &[
    ("link to /dev/zero", &["a device"]),
    ("link to /dev/tty", &["a device"]),
    ("fifo", &["a named pipe"]),
    ("link to a fifo", &["a named pipe"]),
    ("socket", &["a socket"]),
    ("directory", &["a directory"]),
    ("loop", &["part of a loop", "Too many levels", "Symbolic link loop"]),
    ("sparse", &["1099511627776 bytes", "longer than", "more than"]),
    ("utf-16", &["UTF-8", "invalid JSON", "exists", "not an entry"]),
];

fn create(kind: &str, path: &Path) -> Option<UnixListener> {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let fifo = |path: &Path| rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    match kind {
        "link to /dev/zero" => symlink("/dev/zero", path).unwrap(),
        "link to /dev/tty" => symlink("/dev/tty", path).unwrap(),
        "fifo" => fifo(path),
        "link to a fifo" => {
            let target = path.with_extension("pipe");
            fifo(&target);
            symlink(target, path).unwrap();
        }
        "socket" => return Some(UnixListener::bind(path).unwrap()),
        "directory" => std::fs::create_dir(path).unwrap(),
        "loop" => symlink(path.file_name().unwrap(), path).unwrap(),
        "sparse" => File::create(path).unwrap().set_len(1 << 40).unwrap(),
        "utf-16" => {
            let text: Vec<u8> = "\u{feff}{\"hooks\": []}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
            std::fs::write(path, text).unwrap();
        }
        other => panic!("{other}"),
    }
    None
}

/// Runs a command with a memory limit. Returns its exit code, or `None` after a signal, and its output.
fn bounded(mut command: Command) -> (Option<i32>, String) {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "ulimit -v \"$0\" && exec \"$@\"", MEMORY]).arg(command.get_program()).args(command.get_args());
    shell.current_dir(command.get_current_dir().unwrap()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command = shell;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.read_to_end(&mut text);
        let _ = stderr.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > WATCHDOG {
            child.kill().unwrap();
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    (status.code(), reader.join().unwrap())
}

/// Runs every command with every odd file at this path. `seen`: the command reports the file.
fn check(path: &str, commands: &[(&[&str], bool)]) {
    for (kind, texts) in ODD {
        let place = Place::untrusted(&[
            (".checkrein/guard.sh", "#!/bin/sh\nexit 0\n"),
            ("good.yaml", "hooks: [{id: good, event: Stop, command: ./.checkrein/guard.sh}]\n"),
        ]);
        let _ = std::fs::remove_file(place.dir.path().join(path));
        let _socket = create(kind, &place.dir.path().join(path));
        for (arguments, seen) in commands {
            let (code, output) = bounded(place.command(arguments));
            assert!(code.is_some_and(|code| code != 101), "{kind} at {path}, {arguments:?}: {code:?} {output}");
            if *seen {
                let is_named = texts.iter().any(|text| output.contains(text));
                assert!(is_named, "{kind} at {path}, {arguments:?}: {code:?} {output}");
            }
        }
        // No command replaces the file.
        assert!(place.dir.path().join(path).symlink_metadata().is_ok(), "{kind} at {path}");
    }
}

#[test]
fn agent_settings_of_the_user() {
    check(
        "home/.claude/settings.json",
        &[
            (&["install", "claude", "--yes"], true),
            (&["install", "claude", "--dry-run"], true),
            (&["uninstall", "claude", "--yes"], true),
            (&["status"], true),
            (&["status", "--json"], true),
        ],
    );
}

#[test]
fn agent_settings_of_a_project() {
    check(
        ".claude/settings.json",
        &[
            (&["install", "claude", "--project", "--yes"], true),
            (&["uninstall", "claude", "--project", "--yes"], true),
            (&["status"], true),
            (&["list", "--as", "claude"], true),
            (&["check", "--as", "claude"], true),
            (&["convert", "--from", "claude", "--to", "native"], true),
            (&["init", "--from", "claude", "--yes"], false),
            (&["trust", "list", "--as", "claude"], true),
        ],
    );
}

#[test]
fn backup_of_agent_settings() {
    check(
        "home/.claude/settings.json.checkrein-backup",
        &[(&["install", "claude", "--yes"], false), (&["uninstall", "claude", "--yes"], false), (&["status"], false)],
    );
}

#[test]
fn hook_file_of_a_project() {
    check(
        ".checkrein/hooks.yaml",
        &[
            (&["list"], true),
            (&["check"], true),
            (&["trust"], true),
            (&["trust", "list"], true),
            (&["trust", "check"], true),
            (&["trust", "approve", "--all", "--yes"], true),
            (&["trust", "lock"], false),
            (&["init", "--project", "--yes"], true),
            (&["init", "--project", "--dry-run"], false),
            (&["convert", "--from", "native", "--to", "claude"], true),
            (&["run", "PreToolUse"], true),
            (&["explain", "PreToolUse"], true),
            (&["status"], false),
            (&["test"], false),
            (&["simulate"], false),
        ],
    );
}

#[test]
fn hook_file_of_the_user() {
    check(
        "home/.config/checkrein/hooks.yaml",
        &[
            (&["list"], true),
            (&["check"], true),
            (&["trust", "list"], false),
            (&["run", "PreToolUse"], true),
            (&["init", "--user", "--yes"], true),
            (&["status"], false),
        ],
    );
}

#[test]
fn script_of_a_hook() {
    check(
        ".checkrein/guard.sh",
        &[
            (&["check", "--config", "good.yaml"], false),
            (&["trust", "list", "--config", "good.yaml"], false),
            (&["trust", "approve", "--all", "--yes"], false),
            (&["list", "--config", "good.yaml"], false),
            (&["run", "Stop", "--config", "good.yaml"], false),
        ],
    );
}

#[test]
fn files_that_arguments_name() {
    check(
        "odd",
        &[
            (&["replay", "odd", "--config", "good.yaml"], true),
            (&["test", "odd", "--config", "good.yaml"], false),
            (&["simulate", "odd"], true),
            (&["run", "PreToolUse", "--payload", "odd"], true),
            (&["run", "PreToolUse", "--tool", "Bash", "--input", "@odd"], true),
            (&["audit", "verify", "--file", "odd"], false),
            (
                &["convert", "good.yaml", "--from", "native", "--to", "claude", "--force", "--output", "odd/below"],
                false,
            ),
            (&["check", "odd"], true),
        ],
    );
}

#[test]
fn test_files() {
    check(".checkrein/tests/odd.test.yaml", &[(&["test"], false), (&["check"], false)]);
}

#[test]
fn state_of_the_user() {
    let state = "home/.local/state/checkrein";
    check(&format!("{state}/recording.json"), &[(&["record", "status"], true)]);
    check(
        &format!("{state}/audit.jsonl"),
        &[(&["audit", "verify"], true), (&["audit", "tail"], false), (&["audit", "export"], false)],
    );
    check(&format!("{state}/audit.jsonl.head"), &[(&["audit", "verify"], false)]);
    check("checkrein.lock", &[(&["trust", "list"], false), (&["trust", "check", "--lock"], false)]);
}
