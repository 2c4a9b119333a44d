//! Managed hooks of an administrator, through the program. No variable moves the directory of managed files, so that each
//! call runs in a root directory of its own, in unprivileged namespaces. Systems without them skip these tests; tests of the
//! library cover the same cases.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

mod common;

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use common::{Place, Ran};

/// Creates a root directory with the system's directories and this `etc`, and runs a program in it.
const ROOM: &str = r#"
set -e
root=$1 etc=$2 program=$3 dir=$4; shift 4
mount -t tmpfs -o mode=755 none "$root"
for part in bin sbin lib lib32 lib64 usr dev proc tmp; do
    if [ -L "/$part" ]; then cp -P "/$part" "$root/$part"
    elif [ -d "/$part" ]; then mkdir "$root/$part"; mount --rbind "/$part" "$root/$part"; fi
done
for part in "$(dirname "$program")" "$dir"; do
    [ -d "$root$part" ] || { mkdir -p "$root$part"; mount --rbind "$part" "$root$part"; }
done
cp -r "$etc" "$root/etc"
if [ -n "$OPEN" ]; then chmod "$OPEN" "$root$WHAT"; fi
exec chroot "$root" sh -c 'cd "$0" && exec "$@"' "$dir" "$program" "$@"
"#;

struct Machine {
    place: Place,
}

impl Machine {
    /// A machine with these files in a project, a home and `etc`. `None`: the system has no user namespaces.
    fn with(files: &[(&str, &str)]) -> Option<Self> {
        let can = Command::new("unshare").args(["-rm", "sh", "-c", "mount -t tmpfs none /mnt"]).output();
        if !can.is_ok_and(|tried| tried.status.success()) {
            common::skip("userns", "no user namespaces without privileges");
            return None;
        }
        let place = Place::with(files);
        std::fs::create_dir_all(place.dir.path().join("room")).unwrap();
        std::fs::create_dir_all(place.dir.path().join("etc")).unwrap();
        let mut waiting = vec![place.dir.path().join("etc")];
        while let Some(path) = waiting.pop() {
            let mode = if path.is_dir() { 0o755 } else { 0o644 };
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            waiting.extend(std::fs::read_dir(&path).into_iter().flatten().map(|entry| entry.unwrap().path()));
        }
        Some(Self { place })
    }

    /// Runs the program with these variables besides the usual ones.
    fn run(&self, arguments: &[&str], variables: &[(&str, &str)], stdin: &str) -> Ran {
        let inner = self.place.command(arguments);
        let dir = self.place.dir.path();
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", ROOM, "sh"]).args([dir.join("room"), dir.join("etc")]);
        command.arg(inner.get_program()).arg(dir).args(inner.get_args()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?)))).envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes());
        self.place.ran(child.wait_with_output().unwrap())
    }

    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let ran = self.run(arguments, &[], "");
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", ran.stdout, ran.stderr))
    }
}

const BASH: &str =
    r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#;

const MANAGED: &str = "etc/checkrein/hooks.yaml";
const GUARD: &str = "hooks: [{id: guard, event: PreToolUse, matcher: Bash, command: 'echo guarded >&2; exit 2'}]\n";

fn is_guarded(ran: &Ran) -> bool {
    ran.stdout.contains(r#""permissionDecision":"deny""#) && ran.stdout.contains("guarded")
}

#[test]
fn no_option_or_variable_bypasses_managed_hooks() {
    let Some(machine) = Machine::with(&[
        (MANAGED, GUARD),
        ("mine.json", r#"{"disableAllHooks": true, "hooks": []}"#),
        ("home/.config/checkrein/hooks.json", r#"{"allow_skip": true, "disableAllHooks": true, "compat": "exact"}"#),
        (
            ".checkrein/hooks.json",
            r#"{"hooks": [{"id": "guard", "event": "PreToolUse", "order": -9, "command": "true"}]}"#,
        ),
    ]) else {
        return;
    };
    let dir = machine.place.dir.path().to_string_lossy().into_owned();
    let variables: &[&[(&str, &str)]] = &[
        &[],
        &[("CHECKREIN", "0")],
        &[("CHECKREIN_SKIP", "guard,protect-self")],
        &[("HOME", &dir), ("XDG_CONFIG_HOME", &dir), ("XDG_CONFIG_DIRS", &dir), ("XDG_STATE_HOME", &dir)],
    ];
    for variables in variables {
        for arguments in [
            &["hook", "claude"][..],
            &["hook", "claude", "--config", "mine.json"],
            &["hook", "claude", "--fail-open", "--config", "mine.json"],
        ] {
            let ran = machine.run(arguments, variables, BASH);
            assert!(is_guarded(&ran), "{arguments:?} {variables:?}: {} {}", ran.stdout, ran.stderr);
        }
        for arguments in [
            &["run", "PreToolUse", "--tool", "Bash"][..],
            &["run", "PreToolUse", "--tool", "Bash", "--config", "mine.json"],
            &["run", "PreToolUse", "--tool", "Bash", "--as", "claude"],
        ] {
            let ran = machine.run(arguments, variables, "");
            assert!(ran.stdout.contains("guarded"), "{arguments:?} {variables:?}: {} {}", ran.stdout, ran.stderr);
        }
    }
}

#[test]
fn managed_hooks_run_in_tests_and_simulations() {
    let case = "cases:\n  - name: shell\n    event: PreToolUse\n    tool: Bash\n    expect: { decision: deny }\n";
    let script = "steps:\n  - tool: Bash\n    input: { command: ls }\n";
    let files = [(MANAGED, GUARD), ("mine.json", r#"{"hooks": []}"#), ("x.test.yaml", case), ("session.yaml", script)];
    let Some(machine) = Machine::with(&files) else { return };
    let ran = machine.run(&["test", "x.test.yaml", "--config", "mine.json"], &[], "");
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    let ran = machine.run(&["simulate", "session.yaml", "--config", "mine.json"], &[], "");
    assert!(ran.stdout.contains("guarded"), "{} {}", ran.stdout, ran.stderr);
}

#[test]
fn insecure_managed_file_is_reported_and_blocks_everything() {
    let Some(machine) = Machine::with(&[(MANAGED, "hooks: [{event: PreToolUse, command: touch ran}]\n")]) else {
        return;
    };
    for (mode, what, writable) in [
        ("664", "/etc/checkrein/hooks.yaml", "group-writable"),
        ("777", "/etc/checkrein", "world-writable"),
        ("777", "/etc", "world-writable"),
    ] {
        let open = &[("OPEN", mode), ("WHAT", what)];
        let told = format!("{what} is {writable} ");
        let ran = machine.run(&["hook", "claude"], open, BASH);
        assert!(ran.stdout.contains(r#""permissionDecision":"deny""#) && ran.stdout.contains(&told), "{}", ran.stdout);
        for arguments in [
            &["list"][..],
            &["check"],
            &["explain", "PreToolUse", "--tool", "Bash"],
            &["run", "PreToolUse", "--tool", "Bash"],
            &["status", "--effective"],
        ] {
            let ran = machine.run(arguments, open, "");
            let all = format!("{}{}", ran.stdout, ran.stderr);
            assert!(all.contains("error[insecure-permissions]") && all.contains(&told), "{arguments:?}: {all}");
        }
        assert_eq!(machine.run(&["status", "--effective"], open, "").code, 1);
        assert!(!machine.place.dir.path().join("ran").exists());
    }
}

#[test]
fn status_effective_shows_settings_with_their_places() {
    let managed = "restrict:\n  scopes: [user]\n  handlers: [builtin]\naudit: { path: /var/log/agents.jsonl, on_failure: closed }\n";
    let Some(machine) = Machine::with(&[
        (MANAGED, &format!("{managed}{GUARD}")),
        ("home/.config/checkrein/hooks.json", r#"{"hooks": [{"id": "mine", "event": "Stop", "command": "true"}]}"#),
        (".checkrein/hooks.json", r#"{"hooks": [{"id": "theirs", "event": "Stop", "builtin": "log"}]}"#),
    ]) else {
        return;
    };
    let shown = machine.json(&["status", "--effective", "--json"]);
    let again = machine.json(&["status", "--effective", "--json"]);
    assert_eq!(shown, again, "the same each time");
    let found: Vec<_> = shown["files"].as_array().unwrap().iter().filter(|file| file["status"] == "found").collect();
    assert_eq!(found.iter().map(|file| &file["scope"]).collect::<Vec<_>>(), ["managed", "user", "user", "project"]);
    assert_eq!(found[0]["ownership"], serde_json::json!({"owner": 0, "mode": "0644", "fine": true, "problem": null}));
    assert!(found[1]["ownership"].is_null() && found.iter().all(|file| file["sha256"].as_str().unwrap().len() == 64));
    let settings: Vec<_> = shown["settings"].as_array().unwrap().iter().collect();
    let setting = |key: &str| *settings.iter().find(|setting| setting["key"] == key).unwrap();
    assert_eq!(setting("restrict.scopes")["value"], serde_json::json!(["user"]));
    assert_eq!(setting("restrict.scopes")["line"], 2);
    assert_eq!(setting("restrict.handlers")["line"], 3);
    assert_eq!(setting("audit")["value"]["path"], "/var/log/agents.jsonl");
    assert_eq!(setting("protect_self")["value"], true);
    let hook = |id: &str| shown["hooks"].as_array().unwrap().iter().find(|hook| hook["id"] == id).unwrap();
    assert_eq!(hook("guard")["state"], "ready");
    assert_eq!(hook("guard")["events"][0]["on_failure"], "closed");
    for (id, line) in [
        ("mine", "(`restrict.handlers` in /etc/checkrein/hooks.yaml:3)"),
        ("theirs", "(`restrict.scopes` in /etc/checkrein/hooks.yaml:2)"),
    ] {
        assert_eq!(hook(id)["state"], "disabled");
        assert!(hook(id)["why"].as_str().unwrap().ends_with(line), "{}", hook(id)["why"]);
        let listed = machine.run(&["list"], &[], "");
        assert!(listed.stdout.contains(line), "{}", listed.stdout);
        let explained = machine.run(&["explain", "Stop"], &[], "");
        assert!(
            explained.stdout.contains("disabled: the administrator does not allow ") && explained.stdout.contains(line),
            "{}",
            explained.stdout
        );
    }
    let text = machine.run(&["status", "--effective"], &[], "").stdout;
    for part in ["writable only by the administrator", "restrict.scopes: [\"user\"]", "ignored under agents"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn agents_cannot_change_managed_files() {
    let Some(machine) = Machine::with(&[(MANAGED, "hooks: []\n")]) else { return };
    let sent = |tool: &str, input: &str| {
        format!(r#"{{"hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input}}}"#)
    };
    for (tool, input, word) in [
        ("Bash", r#"{"command":"echo x | tee /etc/checkrein/hooks.yaml"}"#, "deny"),
        ("Edit", r#"{"file_path":"/etc/checkrein/hooks.yaml"}"#, "deny"),
        ("Edit", r#"{"file_path":".claude/settings.json"}"#, "ask"),
        ("Bash", r#"{"command":"checkrein uninstall --all"}"#, "ask"),
    ] {
        let ran = machine.run(&["hook", "claude"], &[], &sent(tool, input));
        assert!(ran.stdout.contains(&format!(r#""permissionDecision":"{word}""#)), "{input}: {}", ran.stdout);
    }
    let ran = machine.run(&["hook", "claude"], &[], BASH);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", 0), "{}", ran.stderr);
}

#[test]
fn doctor_finds_a_managed_file_that_others_can_write() {
    let Some(machine) = Machine::with(&[(MANAGED, GUARD), ("home/.claude/settings.json", "{}\n")]) else { return };
    let installed = machine.run(&["install", "claude"], &[], "");
    assert_eq!(installed.code, 0, "{} {}", installed.stdout, installed.stderr);
    let managed = |open: &[(&str, &str)]| {
        let ran = machine.run(&["doctor", "--json"], open, "");
        let report: serde_json::Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", ran.stdout, ran.stderr));
        let checks = report["sections"][0]["checks"].as_array().unwrap().clone();
        (ran.code, checks.into_iter().find(|check| check["check"] == "managed").unwrap(), report)
    };
    let (code, check, report) = managed(&[]);
    assert_eq!((code, check["level"].as_str()), (0, Some("ok")), "{report:#}");
    let (code, check, report) = managed(&[("OPEN", "g+w"), ("WHAT", "/etc/checkrein/hooks.yaml")]);
    assert_eq!((code, check["level"].as_str()), (1, Some("problem")), "{report:#}");
    assert!(check["text"].as_str().unwrap().contains("is group-writable (mode 0664)"), "{check}");
    assert_eq!(check["fix"], "as the administrator: chmod go-w /etc/checkrein/hooks.yaml");
}
