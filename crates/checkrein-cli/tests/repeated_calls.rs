//! `checkrein hook`: a call that arrives more than once gets one answer, and its hooks run once.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::io::Write as _;
use std::process::{Child, Stdio};

use common::{Place, Ran, terminal};

const USER: &str = "home/.config/checkrein/hooks.yaml";

/// Hooks that log each run, in the foreground and in the background.
const HOOKS: &str = "audit: true
hooks:
  - {id: slow, event: PreToolUse, command: 'sleep 0.2; echo slow >> \"$HOME/runs\"; echo \"reason $$\" >&2; exit 2'}
  - {id: later, event: PreToolUse, async: true, command: 'echo later >> \"$HOME/background\"'}
";

fn call(session: &str, id: &str, command: &str) -> String {
    format!(
        r#"{{"session_id":"{session}","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{command}"}},"tool_use_id":"{id}"}}"#
    )
}

fn start(place: &Place, agent: &str, payload: &str) -> Child {
    let mut child = place
        .command(&["hook", agent])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    child
}

fn lines(place: &Place, name: &str) -> usize {
    std::fs::read_to_string(place.home.path().join(name)).unwrap_or_default().lines().count()
}

fn audit(place: &Place) -> Vec<serde_json::Value> {
    let path = place.home.path().join(".local/state/checkrein/audit.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Files of kept answers.
fn answer_files(place: &Place) -> Vec<std::path::PathBuf> {
    let answers = place.home.path().join(".local/state/checkrein/sessions/answers");
    std::fs::read_dir(answers).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Sets the age of all kept answers, in seconds.
fn set_age(place: &Place, seconds: u64) {
    let time = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
    for path in answer_files(place) {
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_modified(time).unwrap();
    }
}

/// Records of repetitions in the audit log.
fn repeats(place: &Place) -> usize {
    let is_repeat = |line: &&serde_json::Value| line.to_string().contains(r#""repeat":true"#);
    audit(place).iter().filter(is_repeat).count()
}

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// Several calls arrive several times each, all at once and in any order. Some have the same id and another input.
#[test]
fn parallel_arrivals_of_a_call_run_its_hooks_once() {
    let mut numbers = Numbers(1);
    for round in 0..6 {
        let place = Place::with(&[(USER, HOOKS)]);
        // Short ids can be used again, random ones cannot.
        let prefix = if round % 2 == 0 { "id-" } else { "toolu_01A09q90qw90lq917835lq" };
        let calls: Vec<_> =
            (0..=numbers.below(3)).map(|at| call("s", &format!("{prefix}{}", at / 2), &format!("ls {at}"))).collect();
        let mut arrivals: Vec<usize> = (0..calls.len()).collect();
        for _ in 0..=numbers.below(6) {
            arrivals.insert(numbers.below(arrivals.len() + 1), numbers.below(calls.len()));
        }
        let children: Vec<_> = arrivals.iter().map(|at| (*at, start(&place, "claude", &calls[*at]))).collect();
        let mut answers = vec![None; calls.len()];
        for (at, child) in children {
            let ran = place.ran(child.wait_with_output().unwrap());
            assert!(ran.code == 0 && ran.stdout.contains("\"deny\""), "{round}: {ran:?}");
            // The reason contains the number of the process.
            assert_eq!(*answers[at].get_or_insert_with(|| ran.stdout.clone()), ran.stdout, "{round}");
        }
        assert_eq!(lines(&place, "runs"), calls.len(), "{round}: {arrivals:?}");
        assert_eq!(repeats(&place), arrivals.len() - calls.len(), "{round}: {arrivals:?}");
        let verified = place.run(&["audit", "verify"]);
        assert_eq!(verified.code, 0, "{verified:?}");
    }
}

#[test]
fn later_arrival_gets_the_same_answer() {
    let place = Place::with(&[(USER, HOOKS)]);
    let payload = call("s", "id", "ls");
    let first = place.run_with(&["hook", "claude"], &payload);
    set_age(&place, 0);
    let second = place.run_with(&["hook", "claude"], &payload);
    assert_eq!((&first.stdout, first.code), (&second.stdout, second.code));
    assert_eq!(lines(&place, "runs"), 1);
    // A background hook starts after the answer, and each start would add a line.
    let mut waited = 0;
    while lines(&place, "background") == 0 && waited < 1000 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        waited += 1;
    }
    assert_eq!(lines(&place, "background"), 1);
    let repeated = audit(&place).into_iter().find(|line| line.to_string().contains("\"repeat\":true")).unwrap();
    assert_eq!(repeated["record"]["verdict"]["decision"], "deny");
    assert!(repeated["record"]["hooks"].as_array().unwrap().is_empty());
    assert!(place.run(&["audit", "tail"]).stdout.contains("delivered again"), "the log shows it");
}

/// The state that a hook reads can change, and some model servers use an id again.
#[test]
fn old_answer_is_not_used() {
    let hooks =
        "hooks:\n  - {id: g, event: PreToolUse, command: 'test ! -e \"$HOME/locked\" || { echo no >&2; exit 2; }'}\n";
    let place = Place::with(&[(USER, hooks)]);
    let payload = call("s", "call_0", "ls");
    let first = place.run_with(&["hook", "claude"], &payload);
    assert!(!first.stdout.contains("\"deny\""), "{first:?}");
    place.write("home/locked", "");
    set_age(&place, 11);
    let second = place.run_with(&["hook", "claude"], &payload);
    assert!(second.stdout.contains("\"deny\""), "{second:?}");
    // Some of the later calls delete old answers: a unit test of the store covers which.
    assert_eq!(answer_files(&place).len(), 1);
}

/// Ids of this length are random, so the answer is valid for the whole session.
#[test]
fn answer_to_a_random_id_is_used_for_the_whole_session() {
    let place = Place::with(&[(USER, HOOKS)]);
    let id = "toolu_01A09q90qw90lq917835lq9";
    let calls = place.home.path().join(".local/state/checkrein/sessions/calls");
    let set_hours = |hours: u64| {
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(hours * 3600);
        for session in std::fs::read_dir(&calls).unwrap().map(|entry| entry.unwrap().path()) {
            for path in std::fs::read_dir(&session).unwrap().map(|entry| entry.unwrap().path()) {
                std::fs::OpenOptions::new().write(true).open(path).unwrap().set_modified(time).unwrap();
            }
            std::fs::File::open(session).unwrap().set_modified(time).unwrap();
        }
    };
    let first = place.run_with(&["hook", "claude"], &call("s", id, "ls"));
    for hours in [0, 1, 23] {
        set_hours(hours);
        let again = place.run_with(&["hook", "claude"], &call("s", id, "ls"));
        assert_eq!((&first.stdout, lines(&place, "runs")), (&again.stdout, 1), "{hours}");
    }
    assert_eq!(repeats(&place), 3);
    // Another input, another session.
    place.run_with(&["hook", "claude"], &call("s", id, "rm -rf /"));
    place.run_with(&["hook", "claude"], &call("s-2", id, "ls"));
    assert_eq!((lines(&place, "runs"), repeats(&place)), (3, 3));
    // The first call of a new session removes the answers of sessions that have ended.
    set_hours(25);
    place.run_with(&["hook", "claude"], &call("s-3", id, "ls"));
    assert_eq!(lines(&place, "runs"), 4);
    assert_eq!(std::fs::read_dir(&calls).unwrap().count(), 1);
}

#[test]
fn other_calls_are_new_questions() {
    let place = Place::with(&[(USER, HOOKS)]);
    let calls = [
        call("s", "id", "ls"),
        // The same id with another input, another id, another session.
        call("s", "id", "rm -rf /"),
        call("s", "id-2", "ls"),
        call("s-2", "id", "ls"),
        call("s", "id", "ls").replace("PreToolUse", "PermissionRequest"),
    ];
    for payload in &calls {
        place.run_with(&["hook", "claude"], payload);
    }
    assert_eq!(lines(&place, "runs"), 4);
    assert_eq!(repeats(&place), 0);
    // Another hook file is another question.
    place.write(USER, &HOOKS.replace("exit 2'", "exit 2 '"));
    place.run_with(&["hook", "claude"], &calls[0]);
    assert_eq!(lines(&place, "runs"), 5);
}

#[test]
fn calls_without_an_id_are_not_merged() {
    let place = Place::with(&[(USER, HOOKS)]);
    let payload = call("s", "", "ls").replace(r#","tool_use_id":"""#, "");
    for runs in 1..=3 {
        place.run_with(&["hook", "claude"], &payload);
        assert_eq!(lines(&place, "runs"), runs);
    }
}

/// Installs checkrein in the user's and the project's settings.
fn install_twice(place: &Place, agent: &str) {
    let note = format!("{agent} calls both, and each hook runs once");
    for (words, is_second) in
        [(&["install", agent, "--yes"][..], false), (&["install", agent, "--project", "--yes"], true)]
    {
        assert!(!place.run(&["status", agent]).stdout.contains(&note));
        let ran = place.run(words);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(format!("{}{}", ran.stdout, ran.stderr).contains(&note), is_second, "{ran:?}");
    }
    assert!(place.run(&["status", agent]).stdout.contains(&note));
}

#[test]
fn two_installations_deliver_each_event_once() {
    let hooks = "hooks:\n  - {id: s, event: Stop, command: 'echo stop >> \"$HOME/runs\"; echo again >&2; exit 2'}\n";
    for (agent, event) in [("claude", "Stop"), ("codex", "Stop"), ("gemini", "AfterAgent"), ("qwen", "Stop")] {
        let place = Place::with(&[(USER, hooks)]);
        install_twice(&place, agent);
        // Each stop arrives twice, in parallel and one after the other; the next stop has the same payload.
        let mut refused = 0;
        for round in 1..=10 {
            let active = round > 1;
            let payload =
                format!(r#"{{"session_id":"s","hook_event_name":"{event}","stop_hook_active":{active},"cwd":"/"}}"#);
            let answers: Vec<Ran> = if round % 2 == 0 {
                (0..2).map(|_| place.run_with(&["hook", agent], &payload)).collect()
            } else {
                let both: Vec<_> = (0..2).map(|_| start(&place, agent, &payload)).collect();
                both.into_iter().map(|child| place.ran(child.wait_with_output().unwrap())).collect()
            };
            assert_eq!(answers[0].stdout, answers[1].stdout, "{agent} {round}");
            if round <= 8 {
                assert!(answers[0].stdout.contains("again"), "{agent} {round}: {answers:?}");
                refused += 1;
            } else if round == 9 {
                assert!(!answers[0].stdout.contains("\"block\""), "{agent}: the limit of refusals {answers:?}");
            }
            assert_eq!(lines(&place, "runs"), round, "{agent}");
        }
        assert_eq!(refused, 8);
    }
}

#[test]
fn killed_first_arrival_does_not_block_the_second() {
    let hooks = "hooks:\n  - {id: g, event: PreToolUse, command: 'echo run >> \"$HOME/runs\"; test -e \"$HOME/second\" || { touch \"$HOME/second\"; sleep 3; }; echo no >&2; exit 2'}\n";
    let place = Place::with(&[(USER, hooks)]);
    let payload = call("s", "id", "ls");
    let mut first = start(&place, "claude", &payload);
    while !place.home.path().join("second").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let second = start(&place, "claude", &payload);
    first.kill().unwrap();
    first.wait().unwrap();
    let second = place.ran(second.wait_with_output().unwrap());
    assert!(second.stdout.contains("\"deny\""), "{second:?}");
    assert_eq!(lines(&place, "runs"), 2);
}

#[test]
fn damaged_answers_are_not_used() {
    let place = Place::with(&[(USER, HOOKS)]);
    let payload = call("s", "id", "ls");
    let first = place.run_with(&["hook", "claude"], &payload);
    let files = answer_files(&place);
    assert_eq!(files.len(), 1);
    for (runs, damage) in [(2, "{"), (3, r#"{"stdout":"{}"}"#), (4, "null")] {
        std::fs::write(&files[0], damage).unwrap();
        let again = place.run_with(&["hook", "claude"], &payload);
        assert!(again.stdout.contains("\"deny\"") && first.stdout.contains("\"deny\""));
        assert_eq!(lines(&place, "runs"), runs);
    }
}

/// A hook that asks before a push.
const ASK: &str = "hooks:\n  - {id: ask, event: PreToolUse, command: 'echo run >> \"$HOME/runs\"; \
                   echo \"{\\\"decision\\\":\\\"ask\\\",\\\"reason\\\":\\\"sure?\\\"}\"'}\n";

/// Codex calls the entries of the user and of the project for each call.
#[test]
fn approved_call_passes_for_both_entries() {
    for prefix in ["call_01A09q90qw90lq917835lq", "c"] {
        let place = Place::with(&[(USER, ASK)]);
        install_twice(&place, "codex");
        let mut runs = 0;
        let mut deliver = |id: &str, in_parallel: bool| -> Vec<Ran> {
            let payload = call("s", &format!("{prefix}{id}"), "git push");
            runs += 1;
            let answers = match in_parallel {
                true => {
                    let both: Vec<_> = (0..2).map(|_| start(&place, "codex", &payload)).collect();
                    both.into_iter().map(|child| place.ran(child.wait_with_output().unwrap())).collect()
                }
                false => (0..2).map(|_| place.run_with(&["hook", "codex"], &payload)).collect::<Vec<_>>(),
            };
            assert_eq!(lines(&place, "runs"), runs, "{id}");
            assert_eq!(answers[0].stdout, answers[1].stdout, "{id}");
            answers
        };
        for in_parallel in [false, true] {
            let denied = deliver(&format!("denied-{in_parallel}"), in_parallel);
            let (_, rest) = denied[0].stdout.split_once("checkrein approve ").unwrap_or_else(|| panic!("{denied:?}"));
            let approved = terminal::talk(place.command(&["approve", &rest[..11], "--yes"]), 100, &[]);
            assert_eq!(approved.0, 0, "{approved:?}");
            let passed = deliver(&format!("passed-{in_parallel}"), in_parallel);
            assert!(passed.iter().all(|ran| !ran.stdout.contains("\"deny\"")), "{passed:?}");
            // The next call asks again.
            assert!(deliver(&format!("next-{in_parallel}"), in_parallel)[0].stdout.contains("\"deny\""));
        }
    }
}

#[test]
fn repeat_is_logged_as_the_first_answer() {
    let place = Place::with(&[(USER, HOOKS)]);
    for _ in 0..2 {
        place.run_with(&["hook", "claude"], &call("s", "id", "ls"));
    }
    let (_, log) = place.run_json(&["log", "--json"]);
    let [first, second] = log.as_array().unwrap().as_slice() else { panic!("{log:#}") };
    assert_eq!((&first["verdict"], &second["repeat"]), (&"deny".into(), &true.into()), "{log:#}");
    for key in ["verdict", "told", "reason", "hooks", "by", "digest"] {
        assert_eq!(first[key], second[key], "{key}: {log:#}");
    }
    assert_eq!(place.run(&["log", "--denied", "--hook", "slow"]).stdout.lines().count(), 2);
}
