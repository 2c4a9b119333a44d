//! `coverage --watch` and `log --follow`: the program runs, events arrive, and their lines are printed.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use super::common::Place;
use super::{Agent, Call, LATER, SINCE, TIME, call, place};

/// A running command whose output is read line by line. It is killed at the end of the test.
struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command(arguments);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Waits for the next line.
    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    fn json(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    /// Asserts that the command still runs.
    fn runs(&mut self) {
        assert!(self.child.try_wait().unwrap().is_none());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends calls to `checkrein hook`, as the agent does.
fn send(place: &Place, agent: &str, ids: &[&'static str], command: &'static str) {
    let agent = Agent::named(agent);
    for id in ids {
        let arguments = [&["hook", agent.name], agent.options].concat();
        place.run_with(&arguments, &(agent.payload)(&call(id, command, 1, true)).to_string());
    }
}

#[test]
fn log_shows_events_as_they_arrive() {
    let place = place();
    // The log does not exist yet.
    let mut log = Running::start(&place, &["log", "--follow", "--json"]);
    for id in ["one", "two", "three"] {
        send(&place, "claude", &[id], "ls");
        let entry = log.json();
        assert_eq!((&entry["call"], &entry["verdict"]), (&id.into(), &"no_opinion".into()), "{entry}");
    }
    // Another file of the same name, as after a rotation.
    let file = place.path("home/.local/state/checkrein/decisions.jsonl");
    std::fs::rename(&file, file.with_file_name("decisions.1.jsonl")).unwrap();
    send(&place, "claude", &["four"], "ls");
    assert_eq!(log.json()["call"], "four");
    log.runs();
}

#[test]
fn log_follows_only_what_is_asked_for() {
    let place = place();
    send(&place, "claude", &["before"], "forbidden");
    let mut log = Running::start(&place, &["log", "-f", "--denied", "--agent", "claude", "--hook", "guard"]);
    assert!(log.line().contains("deny"), "the present lines come first");
    send(&place, "claude", &["a"], "ls");
    send(&place, "qwen", &["b"], "forbidden of qwen");
    send(&place, "claude", &["c"], "forbidden of claude");
    let line = log.line();
    assert!(line.contains("forbidden of claude") && line.contains("deny") && line.ends_with("guard"), "{line}");
    log.runs();
}

/// A judged call and a missed one, which are there before the first look.
const PRESENT: [Call; 2] = [call("a", "ls a", 1, true), call("b", "rm b", 0, true)];

#[test]
fn coverage_reports_missed_calls_as_they_are_made() {
    let claude = Agent::named("claude");
    let place = place();
    claude.play(&place, &PRESENT);
    claude.edit(&place, TIME, LATER);
    let mut watch = Running::start(&place, &["coverage", "--watch", "--since", SINCE]);
    assert_eq!(watch.line(), "1 of 2 tool calls judged; 1 by Claude Code was never seen");
    assert!(watch.line().starts_with("watching for new calls"));
    send(&place, "claude", &["d"], "forbidden d");
    let more = [call("c", "rm c", 0, true), call("d", "forbidden d", 1, true), call("e", "ls e", 0, false)];
    claude.write(&place, &[&PRESENT, &more[..]].concat());
    claude.edit(&place, TIME, LATER);
    let mut lines: Vec<_> = (0..3).map(|_| watch.line()).collect();
    lines.sort();
    let parts = |line: &String| (line[..11].trim().to_owned(), line.rsplit_once("Bash  ").unwrap().1.to_owned());
    let found: Vec<_> = lines.iter().map(parts).collect();
    let expected = [("not judged", "ls e"), ("not judged", "rm c"), ("not obeyed", "forbidden d")];
    assert_eq!(found, expected.map(|(state, command)| (state.to_owned(), command.to_owned())));
    watch.runs();
}

#[test]
fn coverage_reports_missed_calls_as_json_lines() {
    let claude = Agent::named("claude");
    let place = place();
    claude.play(&place, &PRESENT);
    let Running { child, lines } = &mut Running::start(&place, &["coverage", "--watch", "--json", "--since", SINCE]);
    // JSON has no line for the first look, so further calls follow until one is reported.
    std::thread::scope(|scope| {
        let next = scope.spawn(|| lines.next().unwrap().unwrap());
        let mut calls = PRESENT.to_vec();
        while !next.is_finished() {
            assert!(child.try_wait().unwrap().is_none());
            calls.push(call(format!("c{}", calls.len()).leak(), "rm c", 0, true));
            claude.write(&place, &calls);
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
        let call: Value = serde_json::from_str(&next.join().unwrap()).unwrap();
        assert_eq!((&call["state"], &call["command"]), (&"not-judged".into(), &"rm c".into()), "{call}");
    });
}
