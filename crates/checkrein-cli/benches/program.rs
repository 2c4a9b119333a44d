//! The cost of the program. A floor is a process that does nothing, or one that only reads the same files.
//! `cargo bench -p checkrein-cli --bench program -- check` measures only what has `check` in its name.
//!
//! Other load on the machine interrupts long processes more often than short ones: `at best` is closest to an idle machine.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a benchmark reports to people")]
#![cfg_attr(not(unix), allow(dead_code, unused_imports, reason = "the floors are Unix's"))]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use checkrein_bench::Bench;

/// Names the program that is measured, such as the static one that is shipped. `cargo bench` builds another one, with the features
/// that tests need.
const MEASURED: &str = "CHECKREIN_PROGRAM";
const PROGRAM: &str = env!("CARGO_BIN_EXE_checkrein");
/// Allowed multiple of the floor for a call in which no hook runs.
const NO_HOOK_RUNS: f64 = 1.0;
/// Allowed multiple of a call without a hook if the rules of four packs decide.
const FOUR_PACKS: f64 = 3.0;
/// Allowed multiple of a call without the resident process.
const RESIDENT: f64 = 1.2;
/// Allowed multiple of the median of one agent for the 99th percentile of 64 agents at once.
const LOAD: f64 = 3.0;
/// Allowed time on top of the hook's own.
const ONE_HOOK_RUNS: Duration = Duration::from_micros(1500);
/// Number of files for `check`.
const FILES: u32 = 1000;

/// Hooks of a usual project. None matches the fired event.
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
    let bench = Bench::from_args();
    let case = |name: &str| bench.case(name).rounds(300);
    let place = tempfile::tempdir().unwrap();
    let nothing = || ended(&mut command(Path::new("/bin/true"), place.path()));
    case("--version").compare(|| checkrein(place.path(), &["--version"]), nothing);
    write(place.path(), NOTHING_FITS);
    let fire = ["run", "PreToolUse", "--tool", "Bash"];
    case("run, nothing fits").compare(|| checkrein(place.path(), &fire), nothing);
    case("explain, nothing fits").compare(|| checkrein(place.path(), &["explain", "PreToolUse"]), nothing);
    let one = tempfile::tempdir().unwrap();
    write(one.path(), ONE_FITS);
    let shell = || ended(command(Path::new("/bin/sh"), one.path()).args(["-c", "true"]));
    case("run, one hook `true`").compare(|| checkrein(one.path(), &fire), nothing);
    case("run, one hook `true`, against sh -c true").compare(|| checkrein(one.path(), &fire), shell);

    hooks(&bench);

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
    let read = || ended(command(Path::new("/bin/cat"), many.path()).args(&names));
    bench.case("check, 1,000 files, each").rounds(15).work(FILES).compare(|| checkrein(many.path(), &check), read);
}

fn measured() -> PathBuf {
    std::env::var_os(MEASURED).map_or_else(|| PROGRAM.into(), PathBuf::from)
}

/// The command that agents start before every tool call.
#[cfg(unix)]
fn hooks(bench: &Bench) {
    let payload = |tool: &str| {
        format!(
            r#"{{"session_id":"4f1f6d0e-3c58-4b8e-9d0a-5a0c4b1d7e21","transcript_path":"/home/ann/.claude/projects/x/4f1f6d0e.jsonl","cwd":"/home/ann/project","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{{"command":"echo hi","description":"Say hi"}},"tool_use_id":"toolu_01"}}"#
        )
    };
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(place.path().join("project/.git")).unwrap();
    std::fs::write(place.path().join("grep.json"), payload("Grep")).unwrap();
    // A call with the same id is answered without its hooks, so both sides write a new one.
    let id = std::cell::Cell::new(0);
    let new_task = || {
        id.set(id.get() + 1);
        let text =
            payload("Task").replace("/home/ann/project", "/").replace("toolu_01", &format!("toolu_{}", id.get()));
        std::fs::write(place.path().join("task.json"), text).unwrap();
        "task.json"
    };
    let project = place.path().join("project");
    let with_stdin = |program: &str, sent: &str| {
        let mut command = command(Path::new(program), &project);
        command.env("HOME", place.path().join("home")).stdin(std::fs::File::open(place.path().join(sent)).unwrap());
        command
    };
    // A copy, as it is installed: a file that the linker has just written is mapped page by page.
    let program = place.path().join("checkrein");
    std::fs::copy(measured(), &program).unwrap();
    let program = program.to_str().unwrap();
    // Under an agent, variables do not name the home directory.
    let home = place.path().join("home");
    std::fs::create_dir_all(&home).unwrap();
    let home = home.to_str().unwrap();
    let hook = |sent: &str| ended(with_stdin(program, sent).args(["hook", "claude", "--home", home]));
    let no_hook_runs = |name: &str, budget: Option<f64>| {
        let mut case = bench.case(name).rounds(500);
        if let Some(budget) = budget {
            case = case.budget(budget);
        }
        case.compare(|| hook("grep.json"), || ended(&mut with_stdin("/bin/true", "grep.json")));
    };
    no_hook_runs("hook, no files", Some(NO_HOOK_RUNS));
    packs(bench, place.path(), &payload("Bash").replace("/home/ann/project", "/"), program);
    resident(bench, place.path(), &payload("Bash").replace("/home/ann/project", "/"), program);
    let events = ["PreToolUse", "PostToolUse", "Stop", "SessionStart", "UserPromptSubmit", "PreCompact"];
    many_hooks(place.path(), &events, "json", as_json);
    no_hook_runs("hook, 200 hooks in 5 files, none fits", Some(NO_HOOK_RUNS));
    bench
        .case("hook, one of 200 fits, against that hook")
        .rounds(500)
        .budget_on_top(ONE_HOOK_RUNS)
        .compare(|| hook(new_task()), || ended(with_stdin("/bin/sh", new_task()).args(["-c", "true"])));
    many_hooks(place.path(), &["PreToolUse"], "json", as_json);
    no_hook_runs("hook, 200 hooks at the event, none fits", Some(NO_HOOK_RUNS));
    // YAML files are parsed in full.
    many_hooks(place.path(), &events, "yaml", as_yaml);
    no_hook_runs("hook, 200 hooks in 5 YAML files, none fits", None);
    many_hooks(place.path(), &["PreToolUse"], "yaml", as_yaml);
    no_hook_runs("hook, 200 at the event in YAML, none fits", None);
}

/// One of many hooks.
#[cfg(unix)]
struct Hook<'a> {
    id: String,
    event: &'a str,
    matcher: Option<&'a str>,
    command: String,
}

/// Number of agents at the same time.
#[cfg(unix)]
const AGENTS: usize = 64;
/// Events of each agent.
#[cfg(unix)]
const EVENTS: usize = 100;

/// A call with the resident process, against the same call without it.
#[cfg(unix)]
fn resident(bench: &Bench, place: &Path, payload: &str, program: &str) {
    let (project, sent) = (place.join("project"), place.join("pushed.json"));
    std::fs::write(&sent, payload.replace("toolu_01", "")).unwrap();
    for home in ["with", "without"] {
        std::fs::create_dir_all(place.join(home)).unwrap();
    }
    let in_home = |home: &str| {
        let mut command = command(Path::new(program), &project);
        command.env("HOME", place.join(home));
        command
    };
    if !in_home("with").args(["serve", "--detach", "--no-desktop"]).stdout(Stdio::null()).status().unwrap().success() {
        return;
    }
    let hook = |home: &str| {
        let mut command = in_home(home);
        command.stdin(std::fs::File::open(&sent).unwrap());
        ended(command.args(["hook", "claude", "--home"]).arg(place.join(home)));
    };
    bench
        .case("hook, resident process, against none")
        .rounds(500)
        .budget(RESIDENT)
        .compare(|| hook("with"), || hook("without"));
    // Load: the times of 64 agents at once, against those of one agent.
    if std::env::var_os("CHECKREIN_LOAD").is_some() {
        let timed = |count: usize| {
            let mut times: Vec<Duration> = (0..count)
                .map(|_| {
                    let start = std::time::Instant::now();
                    hook("with");
                    start.elapsed()
                })
                .collect();
            times.sort_unstable();
            times
        };
        let alone = timed(EVENTS * 4);
        let mut all: Vec<Duration> = std::thread::scope(|scope| {
            let agents: Vec<_> = (0..AGENTS).map(|_| scope.spawn(|| timed(EVENTS))).collect();
            agents.into_iter().flat_map(|agent| agent.join().unwrap()).collect()
        });
        all.sort_unstable();
        let (p50, p99) = (alone[alone.len() / 2], all[all.len() * 99 / 100]);
        let ratio = p99.as_secs_f64() / p50.as_secs_f64();
        let verdict = if ratio > LOAD { format!(", over the budget of {LOAD}") } else { String::new() };
        println!(
            "one agent: p50 {p50:?}; {AGENTS} agents, {} events: p50 {:?}, p99 {p99:?} = {ratio:.2} x one agent{verdict}",
            all.len(),
            all[all.len() / 2]
        );
    }
    in_home("with").args(["serve", "stop"]).stderr(Stdio::null()).status().unwrap();
}

/// Rules of four packs decide about an ordinary command, against the same call without a hook.
#[cfg(unix)]
fn packs(bench: &Bench, place: &Path, payload: &str, program: &str) {
    let (project, sent) = (place.join("project"), place.join("bash.json"));
    std::fs::write(&sent, payload.replace("echo hi", "cargo test --workspace 2>&1 | tail -20").replace("toolu_01", ""))
        .unwrap();
    let guarded = place.join("guarded");
    std::fs::create_dir_all(guarded.join(".config/checkrein")).unwrap();
    std::fs::create_dir_all(place.join("bare")).unwrap();
    let file = guarded.join(".config/checkrein/hooks.yaml");
    std::fs::write(file, "packs: [filesystem, git, secrets, self]\n").unwrap();
    let hook = |home: &str| {
        let mut command = command(Path::new(program), &project);
        command.stdin(std::fs::File::open(&sent).unwrap());
        ended(command.args(["hook", "claude", "--home"]).arg(place.join(home)));
    };
    bench
        .case("hook, rules of four packs, against no hook")
        .rounds(500)
        .budget(FOUR_PACKS)
        .compare(|| hook("guarded"), || hook("bare"));
}

/// Writes 200 hooks in five files, for these events in turn. One of them is for the tool `Task`, and runs `true`.
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

/// A command with the same environment and streams for all measurements.
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
