//! What the program costs, against floors in the same run: a process that does nothing, and one that only reads the files.
//!
//! Each case is measured in turns with its floor, so that whatever else the machine does befalls both alike; the ratio of
//! the medians is what counts. Where others use the machine too, longer processes are interrupted more often than short
//! ones; `at best` is the ratio of the fastest tenths, which that touches least; `on top` is what comes to the floor's time.
//! `cargo bench -p checkrein-cli --bench program -- check` measures only what has `check` in its name.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a benchmark reports to people"
)]
#![cfg_attr(not(unix), allow(dead_code, unused_imports, reason = "the floors are Unix's"))]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The program that is measured, if this says where it is. What `cargo bench` builds is the same code but not the same program: its
/// parts have more features, which tests need, and other names, so that the linker does not put first what runs first.
const MEASURED: &str = "CHECKREIN_PROGRAM";
const PROGRAM: &str = env!("CARGO_BIN_EXE_checkrein");
/// How many times the floor a case may take. One that fits may add 1 ms to a hook that takes 0.75 ms, which is what it took on the
/// machine that the budgets were made on.
const BUDGETS: &[(&str, f64)] = &[("hook, one of 200 fits", 1.0 + 1.0 / 0.75), ("hook, ", 1.25)];
/// How many files `check` looks at.
const FILES: usize = 1000;

/// Hooks as a project has them; none is for the event that is fired.
const NOTHING_FITS: &str = r#"{ "hooks": {
  "PostToolUse": [{ "matcher": "Edit|Write", "hooks": [{ "command": "./format.sh" }, { "command": "./lint.sh" }] }],
  "PreToolUse": [{ "matcher": "Write", "hooks": [{ "command": "./guard.sh" }] }, { "matcher": "mcp__.*", "hooks": [{ "command": "./guard.sh" }] }],
  "SessionStart": [{ "hooks": [{ "command": "cat RULES.md" }] }]
} }"#;
const ONE_FITS: &str = r#"{ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "command": "true" }] }] } }"#;

fn main() {
    #[cfg(unix)]
    measure();
}

#[cfg(unix)]
fn measure() {
    let wanted = std::env::args().nth(1).filter(|argument| !argument.starts_with('-')).unwrap_or_default();
    let show = |name: &str, rounds: usize, each: usize, run: &mut dyn FnMut(), floor: &mut dyn FnMut()| {
        if name.contains(&wanted) {
            compare(name, rounds, each, run, floor);
        }
    };
    println!(
        "{:<44} {:>10} {:>10} {:>8} {:>8} {:>8} {:>10}",
        "case", "time", "floor", "x floor", "budget", "at best", "on top"
    );
    let place = tempfile::tempdir().unwrap();
    let nothing = &mut || ended(&mut command(Path::new("/bin/true"), place.path()));
    show("--version", 300, 1, &mut || checkrein(place.path(), &["--version"]), nothing);
    write(place.path(), NOTHING_FITS);
    let fire = ["run", "PreToolUse", "--tool", "Bash"];
    show("run, nothing fits", 300, 1, &mut || checkrein(place.path(), &fire), nothing);
    show("explain, nothing fits", 300, 1, &mut || checkrein(place.path(), &["explain", "PreToolUse"]), nothing);
    let one = tempfile::tempdir().unwrap();
    write(one.path(), ONE_FITS);
    let shell = &mut || ended(command(Path::new("/bin/sh"), one.path()).args(["-c", "true"]));
    show("run, one hook `true`", 300, 1, &mut || checkrein(one.path(), &fire), nothing);
    show("run, one hook `true`, against sh -c true", 300, 1, &mut || checkrein(one.path(), &fire), shell);

    hooks(&show);

    let many = tempfile::tempdir().unwrap();
    let names: Vec<_> = (0..FILES).map(|n| format!("{n}.json")).collect();
    for name in &names {
        std::fs::write(many.path().join(name), NOTHING_FITS.replace("./", "./scripts/")).unwrap();
    }
    std::fs::create_dir(many.path().join("scripts")).unwrap();
    for script in ["format.sh", "lint.sh", "guard.sh"] {
        use std::os::unix::fs::PermissionsExt;
        let path = many.path().join("scripts").join(script);
        std::fs::write(&path, "#!/bin/sh\necho no >&2\nexit 2\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let check = [&["check"], &names[..]].concat();
    let read = &mut || ended(command(Path::new("/bin/cat"), many.path()).args(&names));
    show("check, 1,000 files, each", 15, FILES, &mut || checkrein(many.path(), &check), read);
}

fn measured() -> PathBuf {
    std::env::var_os(MEASURED).map_or_else(|| PROGRAM.into(), PathBuf::from)
}

/// Measures one case against its floor.
type Show<'a> = &'a dyn Fn(&str, usize, usize, &mut dyn FnMut(), &mut dyn FnMut());

/// What agents start before every tool call.
#[cfg(unix)]
fn hooks(show: Show<'_>) {
    let payload = |tool: &str| {
        format!(
            r#"{{"session_id":"4f1f6d0e-3c58-4b8e-9d0a-5a0c4b1d7e21","transcript_path":"/home/ann/.claude/projects/x/4f1f6d0e.jsonl","cwd":"/home/ann/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{{"command":"echo hi","description":"Say hi"}},"tool_use_id":"toolu_01"}}"#
        )
    };
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(place.path().join("project/.git")).unwrap();
    std::fs::write(place.path().join("grep.json"), payload("Grep")).unwrap();
    std::fs::write(place.path().join("task.json"), payload("Task").replace("/home/ann/project", "/")).unwrap();
    let project = place.path().join("project");
    let with_stdin = |program: &str, sent: &str| {
        let mut command = command(Path::new(program), &project);
        command.env("HOME", place.path().join("home")).stdin(std::fs::File::open(place.path().join(sent)).unwrap());
        command
    };
    // As it is installed: a copy. How the linker has written a file, bit by bit, it stays in memory, and each of its pages
    // is mapped by itself.
    let program = place.path().join("checkrein");
    std::fs::copy(measured(), &program).unwrap();
    let program = program.to_str().unwrap();
    let hook = |sent: &str| ended(with_stdin(program, sent).args(["hook", "claude"]));
    let nothing = &mut || ended(&mut with_stdin("/bin/true", "grep.json"));
    show("hook, no files", 500, 1, &mut || hook("grep.json"), nothing);
    let events = ["PreToolUse", "PostToolUse", "Stop", "SessionStart", "UserPromptSubmit", "PreCompact"];
    many_hooks(place.path(), &events, "json", as_json);
    show("hook, 200 hooks in 5 files, none fits", 500, 1, &mut || hook("grep.json"), nothing);
    // The hook's own time is the floor: what is above it is what checkrein adds.
    let own = &mut || ended(with_stdin("/bin/sh", "task.json").args(["-c", "true"]));
    show("hook, one of 200 fits, against that hook", 500, 1, &mut || hook("task.json"), own);
    many_hooks(place.path(), &["PreToolUse"], "json", as_json);
    show("hook, 200 hooks at the event, none fits", 500, 1, &mut || hook("grep.json"), nothing);
    many_hooks(place.path(), &events, "yaml", as_yaml);
    show("hook, 200 hooks in 5 YAML files, none fits", 500, 1, &mut || hook("grep.json"), nothing);
    many_hooks(place.path(), &["PreToolUse"], "yaml", as_yaml);
    show("hook, 200 at the event in YAML, none fits", 500, 1, &mut || hook("grep.json"), nothing);
}

/// One of many hooks.
#[cfg(unix)]
struct Hook<'a> {
    id: String,
    event: &'a str,
    matcher: Option<&'a str>,
    command: String,
}

/// 200 hooks in five files, for these events in turn. One of them is for the tool `Task`, and runs `true`.
#[cfg(unix)]
fn many_hooks(place: &Path, events: &[&str], extension: &str, written: fn(&[Hook<'_>]) -> String) {
    let tools = ["Bash", "Edit|Write", "mcp__.*__write.*", "WebFetch", "^(Read|Glob)$", "NotebookEdit"];
    let files = [
        "home/.config/checkrein/hooks",
        "home/.config/checkrein/hooks.d/guards",
        "home/.config/checkrein/hooks.d/notes",
        "project/.checkrein/hooks",
        "project/.checkrein/hooks.local",
    ];
    for (number, file) in files.iter().enumerate() {
        let hook = |at: usize| {
            let (event, tool, command) = match at {
                100 => ("PreToolUse", "Task", "true".to_owned()),
                _ => {
                    let script = format!("/home/ann/.config/checkrein/scripts/guard-{at}.sh");
                    let command = format!("{script} --check \"$CLAUDE_PROJECT_DIR\"");
                    (events[at % events.len()], tools[at % tools.len()], command)
                }
            };
            let matcher = event.contains("Tool").then_some(tool);
            Hook { id: format!("hook-{at}"), event, matcher, command }
        };
        let hooks: Vec<_> = (number * 40..number * 40 + 40).map(hook).collect();
        for other in ["json", "yaml"] {
            let _ = std::fs::remove_file(place.join(format!("{file}.{other}")));
        }
        let path = place.join(format!("{file}.{extension}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, written(&hooks)).unwrap();
    }
}

/// Groups under events, as agents' settings have them.
#[cfg(unix)]
fn as_json(hooks: &[Hook<'_>]) -> String {
    let mut events = serde_json::Map::new();
    for Hook { id, event, matcher, command } in hooks {
        let mut group = serde_json::json!({ "hooks": [{ "id": id, "command": command, "timeout": 10 }] });
        if let Some(matcher) = matcher {
            group["matcher"] = (*matcher).into();
        }
        let groups = events.entry(*event).or_insert_with(|| serde_json::json!([]));
        groups.as_array_mut().unwrap().push(group);
    }
    serde_json::to_string_pretty(&serde_json::json!({ "hooks": events })).unwrap()
}

/// One list, as people write it.
#[cfg(unix)]
fn as_yaml(hooks: &[Hook<'_>]) -> String {
    let mut text = "# What we guard.\nhooks:\n".to_owned();
    for Hook { id, event, matcher, command } in hooks {
        text.push_str(&format!("  - id: {id}\n    event: {event}\n"));
        if let Some(matcher) = matcher {
            text.push_str(&format!("    matcher: {matcher}\n"));
        }
        text.push_str(&format!("    command: {command}\n    timeout: 10\n"));
    }
    text
}

fn write(dir: &Path, hooks: &str) {
    std::fs::create_dir_all(dir.join(".git")).unwrap();
    std::fs::create_dir_all(dir.join(".checkrein")).unwrap();
    std::fs::write(dir.join(".checkrein/hooks.json"), hooks).unwrap();
}

/// With the same environment and streams for all.
fn command(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", dir);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn ended(command: &mut Command) {
    assert!(command.status().unwrap().success());
}

fn checkrein(dir: &Path, arguments: &[&str]) {
    ended(command(&measured(), dir).args(arguments));
}

fn compare(name: &str, rounds: usize, each: usize, run: &mut dyn FnMut(), floor: &mut dyn FnMut()) {
    let (mut own, mut bare) = (Vec::new(), Vec::new());
    for round in 0..rounds + 3 {
        let (ours, floors) = (timed(run), timed(floor));
        if round >= 3 {
            own.push(ours / each as u32);
            bare.push(floors / each as u32);
        }
    }
    own.sort_unstable();
    bare.sort_unstable();
    let us = |times: &[Duration], part: usize| times[times.len() / part].as_nanos() as f64 / 1000.0;
    let (time, floor) = (us(&own, 2), us(&bare, 2));
    let at_best = us(&own, 10) / us(&bare, 10);
    let (ratio, on_top) = (time / floor, time - floor);
    let budget = BUDGETS.iter().find(|(of, _)| name.starts_with(of)).map(|(_, budget)| *budget);
    let shown = budget.map_or_else(|| "-".to_owned(), |budget| format!("{budget:.2}"));
    let over = if budget.is_some_and(|budget| ratio > budget) { "  over budget" } else { "" };
    println!("{name:<44} {time:>7.0} us {floor:>7.0} us {ratio:>8.2} {shown:>8} {at_best:>8.2} {on_top:>7.0} us{over}");
}

fn timed(run: &mut dyn FnMut()) -> Duration {
    let begun = Instant::now();
    run();
    begun.elapsed()
}
