//! The resident process: its life, its socket, and that it is never in the way of an agent.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failed test reports its cause by panicking"
)]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use checkrein_serve::client::Client;
use checkrein_serve::protocol::{self, Kind, Request};
use common::{Place, Ran};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Bound for everything that should take milliseconds. Reached only if something hangs.
const LONG: Duration = Duration::from_secs(30);

const HOOKS: &str = r#"{ "hooks": [
  { "id": "denies", "event": "PreToolUse", "matcher": "Bash", "command": "grep -q deny || exit 0; echo no >&2; exit 2" },
  { "id": "asks", "event": "PreToolUse", "matcher": "Bash", "command": "grep -q ask || exit 0; echo '{\"decision\":\"ask\",\"reason\":\"sure?\"}'" }
] }"#;

const USER_FILE: &str = "home/.config/checkrein/hooks.json";

/// A running process. It is killed at the end of a test.
struct Served {
    child: Child,
    _output: BufReader<std::process::ChildStdout>,
}

impl Served {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(&["serve"]);
        let mut child =
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        // The line appears when the process answers.
        lines.read_line(&mut line).unwrap();
        assert!(line.starts_with("checkrein serves (pid "), "{line:?}");
        Self { child, _output: lines }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn wait(mut self) -> i32 {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(start.elapsed() < LONG, "the process did not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn place() -> Place {
    Place::with(&[(USER_FILE, HOOKS)])
}

fn state(place: &Place) -> PathBuf {
    place.home.path().canonicalize().unwrap().join(".local/state/checkrein")
}

fn socket(place: &Place) -> PathBuf {
    state(place).join("run/serve.sock")
}

fn status(place: &Place) -> protocol::ProcessStatus {
    Client::connect_within(&state(place), LONG).unwrap().status(LONG).unwrap()
}

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn payload(number: u32, command: &str) -> String {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "tool_use_id": format!("t{number}"),
        "tool_name": "Bash", "tool_input": { "command": format!("echo {command} {number}") },
    })
    .to_string()
}

/// Lines of the decision log about events, without what differs from run to run.
fn decisions(place: &Place) -> Vec<Value> {
    let text = fs::read_to_string(state(place).join("decisions.jsonl")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut events: Vec<_> = lines.filter(|line| line["kind"] != "start").collect();
    for event in &mut events {
        for key in ["time", "us", "project"] {
            event.as_object_mut().unwrap().remove(key);
        }
    }
    events
}

#[test]
fn process_starts_answers_and_ends() {
    let place = place();
    let (code, found) = place.run_json(&["serve", "status", "--json"]);
    assert_eq!((code, &found["state"]), (1, &json!("not_running")), "{found}");
    let served = Served::start(&place, &[]);
    let (code, found) = place.run_json(&["serve", "status", "--json"]);
    assert_eq!((code, &found["state"], &found["process"]["pid"]), (0, &json!("running"), &json!(served.child.id())));
    assert!(found["process"]["page"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{found}");
    let mode = |path: PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(state(&place).join("run")), mode(socket(&place))), (0o700, 0o600));
    // One process per user.
    for arguments in [&["serve"][..], &["serve", "--detach"]] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("the resident process is already running (pid "), "{ran:?}");
    }
    let ran = place.run(&["serve", "stop"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(served.wait(), 0);
    assert!(!socket(&place).exists());
    let ran = place.run(&["serve", "stop"]);
    assert_eq!((ran.code, &*ran.stderr), (0, "checkrein: the resident process does not run\n"));
}

#[test]
fn signals_end_the_process_and_remove_the_socket() {
    let place = place();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let served = Served::start(&place, &[]);
        served.signal(signal);
        assert_eq!(served.wait(), 0);
        assert!(!socket(&place).exists());
    }
    // After a crash, the socket remains. The next process replaces it.
    let served = Served::start(&place, &[]);
    served.signal(Signal::KILL);
    assert_eq!(served.wait(), -1);
    assert!(socket(&place).exists());
    assert_eq!(place.run(&["serve", "status"]).code, 1);
    let served = Served::start(&place, &[]);
    assert_eq!(status(&place).pid, served.child.id());
}

#[test]
fn detached_process_outlives_its_caller_until_it_is_idle() {
    let place = place();
    let ran = place.run(&["serve", "--detach", "--idle-exit", "1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("checkrein serves in the background (pid "), "{ran:?}");
    eventually("an idle process ends", || place.run(&["serve", "status"]).code == 1 && !socket(&place).exists());
}

#[test]
fn detached_process_says_why_it_cannot_start() {
    let place = place();
    fs::create_dir_all(state(&place)).unwrap();
    fs::write(state(&place).join("run"), "").unwrap();
    let ran = place.run(&["serve", "--detach"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("/run is no directory; remove it"), "{ran:?}");
    // A process that cannot be found is no process that does not run.
    let (code, found) = place.run_json(&["serve", "status", "--json"]);
    assert_eq!((code, &found["state"]), (1, &json!("unknown")), "{found}");
}

#[test]
fn stopped_process_is_reported_as_one_that_does_not_answer() {
    let place = place();
    let served = Served::start(&place, &[]);
    served.signal(Signal::STOP);
    let (code, found) = place.run_json(&["serve", "status", "--json"]);
    assert_eq!((code, &found["state"]), (1, &json!("unknown")), "{found}");
    let why = found["problem"].as_str().unwrap();
    assert!(why.starts_with("the resident process does not answer"), "{why}");
}

/// Pseudo-random numbers with a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

fn hook(place: &Place, payload: &str) -> Ran {
    let start = Instant::now();
    let ran = place.run_with(&["hook", "claude"], payload);
    assert!(start.elapsed() < LONG, "the hook hung");
    ran
}

#[test]
fn process_is_never_in_the_way() {
    for seed in 1..=4 {
        let mut numbers = Numbers(seed);
        let (without, with) = (place(), place());
        let mut served = None;
        let mut alive = false;
        for number in 0..25 {
            let payload = payload(number, ["deny", "ask", "pass"][usize::try_from(numbers.below(3)).unwrap()]);
            let expected = hook(&without, &payload);
            match numbers.below(6) {
                0 | 1 if !alive => {
                    drop(served.take());
                    served = Some(Served::start(&with, &[]));
                    alive = true;
                }
                2 if alive => served.as_ref().unwrap().signal(Signal::STOP),
                3 if alive => served.as_ref().unwrap().signal(Signal::CONT),
                _ => {}
            }
            let kills = alive && numbers.below(4) == 0;
            let pid = served.as_ref().map(|served: &Served| Pid::from_child(&served.child));
            let pause = Duration::from_micros(numbers.below(20_000));
            let found = std::thread::scope(|scope| {
                if let (true, Some(pid)) = (kills, pid) {
                    scope.spawn(move || {
                        std::thread::sleep(pause);
                        kill_process(pid, Signal::KILL).unwrap();
                    });
                }
                hook(&with, &payload)
            });
            alive = alive && !kills;
            assert_eq!(
                (found.code, &found.stdout, &found.stderr),
                (expected.code, &expected.stdout, &expected.stderr),
                "seed {seed}, event {number}"
            );
        }
        assert_eq!(decisions(&with), decisions(&without), "seed {seed}");
        assert_eq!(decisions(&with).len(), 25);
        drop(served);
        // The process reads the log, so it has every event.
        let _served = Served::start(&with, &[]);
        assert_eq!(status(&with).events, 25);
    }
}

#[test]
fn hook_waits_for_a_stopped_process_at_most_a_moment() {
    let place = place();
    let served = Served::start(&place, &[]);
    served.signal(Signal::STOP);
    // Fills the buffers of the socket and its queue.
    let mut open = Vec::new();
    // The process may accept some more before it stops.
    let mut failures = 0;
    while failures < 50 {
        match Client::connect(&state(&place)) {
            Ok(client) => open.push(client.into_stream()),
            Err(_) => {
                failures += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
    assert!(Client::connect(&state(&place)).is_err());
    let ran = hook(&place, &payload(1, "deny"));
    assert!(ran.stdout.contains("\"permissionDecision\":\"deny\""), "{ran:?}");
}

#[test]
fn garbage_on_the_socket_is_harmless() {
    let place = place();
    let served = Served::start(&place, &[]);
    let send = |bytes: &[u8]| {
        let mut stream = UnixStream::connect(socket(&place)).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(answer.get(4..).unwrap_or_default()).into_owned()
    };
    let mut numbers = Numbers(7);
    for _ in 0..300 {
        let length = numbers.below(64);
        let mut bytes: Vec<u8> = (0..length).map(|_| u8::try_from(numbers.below(256)).unwrap()).collect();
        if numbers.below(2) == 0 {
            bytes = protocol::frame(&String::from_utf8_lossy(&bytes));
        }
        if numbers.below(3) == 0 {
            bytes.truncate(usize::try_from(numbers.below(8)).unwrap());
        }
        send(&bytes);
    }
    assert!(send(&u32::MAX.to_le_bytes()).contains("is too large; the limit is 16777216"));
    assert!(send(&protocol::frame(r#"{"version":9,"kind":"event"}"#)).contains("unknown version `9`"));
    assert!(send(&protocol::frame(r#"{"version":1,"kind":"judge"}"#)).contains("unknown kind of request `judge`"));
    assert!(send(&protocol::frame(r#"{"version":1,"kind":"event"}"#)).contains("missing field `line`"));
    let half = protocol::frame(&Request::text(Kind::Stop));
    assert!(!send(&half[..half.len() - 1]).contains("ok"));
    // Idle connections do not keep others out.
    let idle: Vec<_> = (0..100).map(|_| UnixStream::connect(socket(&place)).unwrap()).collect();
    let found = status(&place);
    assert_eq!((found.pid, found.events), (served.child.id(), 0));
    assert!(found.refused >= 5, "{found:?}");
    drop(idle);
}

#[test]
fn large_records_arrive() {
    let place = place();
    let _served = Served::start(&place, &[]);
    let text = "x".repeat(10 << 20);
    let line = r#"{"time":"2026-01-01T00:00:00.000Z","agent":"claude","event":"pre_tool_use","verdict":"deny","us":1}"#;
    let record = json!({ "event": { "tool_input": { "command": text } } }).to_string();
    Client::connect(&state(&place)).unwrap().push(line, Some(&record), None, LONG).unwrap();
    eventually("the event is in the store", || status(&place).received == 1);
    assert_eq!(status(&place).events, 1);
    let too_large = format!("\"{}\"", "x".repeat(protocol::MAX_FRAME));
    assert!(Client::connect(&state(&place)).unwrap().push(line, Some(&too_large), None, LONG).is_err());
}

/// Removes a directory in which the process may write at the same time.
fn remove_at_once(path: PathBuf) -> std::io::Result<()> {
    let moved = path.with_extension("removed");
    fs::rename(path, &moved)?;
    fs::remove_dir_all(moved)
}

#[test]
fn removed_directory_is_created_again() {
    let place = place();
    let served = Served::start(&place, &[]);
    for remove in [remove_at_once, |path: PathBuf| fs::remove_file(path.join("serve.sock"))] {
        remove(state(&place).join("run")).unwrap();
        // Meanwhile, agents get their answers.
        assert!(hook(&place, &payload(1, "deny")).stdout.contains("deny"));
        eventually("the process listens again", || {
            Client::connect(&state(&place)).is_ok_and(|mut client| client.status(LONG).is_ok())
        });
        assert_eq!(status(&place).pid, served.child.id());
    }
    // Another process has taken the place.
    remove_at_once(state(&place).join("run")).unwrap();
    let other = Served::start(&place, &[]);
    assert_eq!(served.wait(), 1);
    assert_eq!(status(&place).pid, other.child.id());
}

/// Events of many senders at the same time, as `checkrein hook` sends them: a line in the log, and a connection.
fn push_many(place: &Place, senders: u32, events: u32) -> (u64, u64) {
    let state = state(place);
    let sent: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..senders)
            .map(|sender| {
                let state = &state;
                scope.spawn(move || {
                    let (mut sent, mut refused) = (0, 0);
                    let mut log = fs::File::options().append(true).create(true).open(state.join("decisions.jsonl")).unwrap();
                    for event in 0..events {
                        let call = format!("{sender}-{event}");
                        let line = json!({
                            "time": "2026-01-01T00:00:00.000Z", "agent": "claude", "session": format!("s{sender}"),
                            "event": "pre_tool_use", "call": call, "tool": "Bash", "command": "ls", "verdict": "allow", "us": 900,
                        })
                        .to_string();
                        log.write_all(format!("{line}\n").as_bytes()).unwrap();
                        match Client::connect(state).and_then(|client| client.push(&line, None, None, LONG)) {
                            Ok(()) => sent += 1,
                            Err(_) => refused += 1,
                        }
                    }
                    (sent, refused)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    sent.into_iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
}

#[test]
fn events_of_64_agents_arrive() {
    let place = place();
    let _served = Served::start(&place, &[]);
    let (sent, refused) = push_many(&place, 64, 100);
    eprintln!("64 senders: {sent} events were pushed, {refused} connections were refused");
    // A full queue refuses a connection. The process has these events from the log.
    assert_eq!(sent + refused, 6400);
    eventually("all events are in the store", || status(&place).received == sent && status(&place).events >= 6400);
    assert_eq!(status(&place).events, 6400);
}

/// Resident memory in KiB, and number of open descriptors.
#[cfg(target_os = "linux")]
fn resources(pid: u32) -> (u64, usize) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let memory = line.trim().trim_end_matches(" kB").parse().unwrap();
    (memory, fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count())
}

/// `CHECKREIN_SOAK=100000` sets the number of events.
#[cfg(target_os = "linux")]
#[test]
fn memory_and_descriptors_stay_flat() {
    let events: u32 = std::env::var("CHECKREIN_SOAK").ok().and_then(|number| number.parse().ok()).unwrap_or(4000);
    let place = place();
    let served = Served::start(&place, &[]);
    let mut total = 0;
    let mut samples = Vec::new();
    for _ in 0..10 {
        total += push_many(&place, 8, events / 80).0;
        eventually("the events are in the store", || status(&place).received == total);
        samples.push(resources(served.child.id()));
    }
    eprintln!("{total} events, (KiB, descriptors) after each tenth: {samples:?}");
    let descriptors: Vec<_> = samples.iter().map(|(_, descriptors)| *descriptors).collect();
    assert!(descriptors.iter().max().unwrap() - descriptors.iter().min().unwrap() <= 8, "{descriptors:?}");
    // A row takes less than 1 KiB, and the ring has a bounded number of rows.
    let growth = samples[9].0.saturating_sub(samples[0].0);
    assert!(growth < 4096 + total, "{samples:?}");
}

#[test]
fn hook_starts_the_process_only_for_a_user() {
    let starts = |text: &str, ci: Option<&str>| {
        let place = Place::with(&[(USER_FILE, text)]);
        let mut command = place.command(&["hook", "claude"]);
        if let Some(ci) = ci {
            command.env("CI", ci);
        }
        let home = place.home.path().canonicalize().unwrap();
        if rustix::process::geteuid().is_root() {
            // Root starts no process on demand, so another user does it here.
            command = as_nobody(&command, &[&home, place.dir.path()])?;
        }
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.unwrap();
        child.stdin.take().unwrap().write_all(payload(1, "pass").as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        let attempted = state(&place).join("run/last-start").exists();
        let pid = state(&place).join("run/serve.lock");
        if attempted {
            eventually("the process has its lock", || fs::read_to_string(&pid).is_ok_and(|pid| !pid.is_empty()));
            let pid: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
            kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
        }
        Some(attempted)
    };
    let resident = HOOKS.replacen('{', "{ \"resident\": true,", 1);
    let Some(attempted) = starts(&resident, None) else { return };
    assert!(attempted);
    assert_eq!(starts(&resident, Some("true")), Some(false));
    assert_eq!(starts(HOOKS, None), Some(false));
}

#[test]
fn root_starts_no_process_on_demand() {
    if !rustix::process::geteuid().is_root() {
        common::skip("root", "this test is for root");
        return;
    }
    let place = Place::with(&[(USER_FILE, &HOOKS.replacen('{', "{ \"resident\": true,", 1))]);
    hook(&place, &payload(1, "pass"));
    assert!(!state(&place).join("run").exists());
}

/// The command as another user, who owns these directories. `None`: this machine cannot do that.
fn as_nobody(command: &Command, directories: &[&Path]) -> Option<Command> {
    let can = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", "test", "-x"])
        .arg(command.get_program())
        .status();
    if !can.is_ok_and(|status| status.success()) {
        common::skip("setpriv", "no other user can run the program");
        return None;
    }
    for directory in directories {
        let owned = Command::new("chown").args(["-R", "-h", "65534:65534"]).arg(directory).status().unwrap();
        assert!(owned.success());
        fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut other = Command::new("setpriv");
    other
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .arg(command.get_program())
        .args(command.get_args());
    other.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(other)
}

#[test]
fn unit_starts_this_program() {
    let place = place();
    let unit = place.run(&["serve", "unit", "--systemd"]).stdout;
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=\"")).unwrap();
    let (program, rest) = line.split_once('"').unwrap();
    assert_eq!(rest, " serve");
    assert!(Path::new(program).is_file(), "{unit}");
    let list = place.run(&["serve", "unit", "--launchd"]).stdout;
    // The parser reads no document types.
    let text: String = list.lines().filter(|line| !line.starts_with("<!DOCTYPE")).collect();
    let parsed = roxmltree::Document::parse(&text).unwrap();
    let texts: Vec<_> =
        parsed.descendants().filter(|node| node.has_tag_name("string")).filter_map(|node| node.text()).collect();
    assert!(texts.contains(&program) && texts.contains(&"serve"), "{texts:?}");
}

#[test]
fn doctor_mentions_the_process() {
    let place = place();
    assert!(place.run(&["doctor"]).stdout.contains("the resident process does not run"));
    let served = Served::start(&place, &[]);
    let shown = place.run(&["doctor"]).stdout;
    assert!(
        shown.contains(&format!(
            "pid {}, checkrein {}, page http://127.0.0.1:",
            served.child.id(),
            env!("CARGO_PKG_VERSION")
        )),
        "{shown}"
    );
}

#[test]
fn files_without_a_log_are_named() {
    let place = Place::with(&[(USER_FILE, r#"{ "log": false, "hooks": [] }"#)]);
    let _served = Served::start(&place, &[]);
    let shown = place.run(&["serve", "status"]);
    assert!(format!("{}{}", shown.stdout, shown.stderr).contains("`log: false`: `checkrein hook` sends no events"));
    assert!(place.run(&["doctor"]).stdout.contains("`log: false`"));
}

#[test]
fn webhook_without_its_secret_is_a_problem() {
    let file = |secret: &str| {
        let url = r#""url": "http://127.0.0.1:9/""#;
        format!(r#"{{ "approval_webhook": {{ {url}, {secret} }}, "hooks": [] }}"#)
    };
    let unset = r#""secret": "$CHECKREIN_TEST_UNSET", "allowedEnvVars": ["CHECKREIN_TEST_UNSET"]"#;
    let private = r#""secret_file": "~/secret""#;
    for (text, mode, problem) in [
        (
            unset,
            0o600,
            Some("the variable `CHECKREIN_TEST_UNSET` is not set in the resident process; use `secret_file`"),
        ),
        (private, 0o644, Some("others can read the `secret_file`")),
        (private, 0o600, None),
    ] {
        use std::os::unix::fs::PermissionsExt as _;
        let place = Place::with(&[(USER_FILE, &file(text)), ("home/secret", "a secret\n")]);
        let secret = place.home.path().join("secret");
        fs::set_permissions(secret, fs::Permissions::from_mode(mode)).unwrap();
        let _served = Served::start(&place, &["--no-desktop"]);
        match problem {
            Some(text) => eventually(text, || status(&place).problems.iter().any(|problem| problem.contains(text))),
            None => assert_eq!(status(&place).problems, Vec::<String>::new()),
        }
    }
    let place = Place::with(&[(USER_FILE, r#"{ "approval_webhook": { "url": "ftp://h/" }, "hooks": [] }"#)]);
    let checked = place.run(&["check"]);
    assert!(checked.code != 0, "{checked:?}");
    assert!(format!("{}{}", checked.stdout, checked.stderr).contains("must start with `https://`"), "{checked:?}");
}

#[test]
fn record_of_an_approved_call_names_the_approval() {
    use checkrein_tools::approvals::{Answer, ApprovalStore, Via};
    let place = place();
    let _served = Served::start(&place, &["--no-desktop"]);
    let denied = place.run_with(&["hook", "codex"], &payload(1, "ask"));
    assert!(denied.stdout.contains("checkrein approve"), "{denied:?}");
    let store = ApprovalStore::in_state_directory(&state(&place));
    let id = store.list().unwrap()[0].id.clone();
    store.answer(&id, Answer::approve(Via::Page, "ann")).unwrap();
    place.run_with(&["hook", "codex"], &payload(1, "ask").replace("\"t1\"", "\"t2\""));
    let approval = format!(r#""approval":{{"id":"{id}","by":"ann","via":"page"}}"#);
    let records = || fs::read_to_string(state(&place).join("live-records.jsonl")).unwrap_or_default();
    eventually("the record of the call", || records().contains(&approval));
}
