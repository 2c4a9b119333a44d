//! Coverage of sessions that real agents wrote, with the audit logs of the same runs.
//!
//! The captures are not part of the repository. `CHECKREIN_CAPTURES` names their directory, which has `AGENT/RUN/` with the agent's files
//! at their places in the home directory, and `audit.jsonl`. Without it, the tests are skipped.

#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use checkrein::audit::AuditLog;
use checkrein_tools::coverage::{Filter, Format, Places, Report, Setup, State, read_file};
use checkrein_tools::decision_log::DecisionLog;

/// Directory of the captures, or `None` with a note.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn captures() -> Option<PathBuf> {
    let named = std::env::var_os("CHECKREIN_CAPTURES").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures/transcripts");
    let found = named.or(Some(beside)).filter(|dir| dir.is_dir());
    if found.is_none() {
        eprintln!("skipped: CHECKREIN_CAPTURES names no directory with captured sessions");
    }
    found
}

fn look(dir: &Path, agent: &str, run: &str) -> Report {
    let home = dir.join(agent).join(run);
    let state = tempfile::tempdir().unwrap();
    let log = DecisionLog::in_state_directory(state.path());
    // The audit log is opened for writing its lock, so it is read from a copy.
    let audit = state.path().join("audit.jsonl");
    if home.join("audit.jsonl").exists() {
        std::fs::copy(home.join("audit.jsonl"), &audit).unwrap();
    }
    let mut filter = Filter::default();
    filter.agent = Format::of(agent);
    let setup = Setup { log_is_on: true, installer: None };
    Report::look(&Places::in_home(home), &log, &AuditLog::new(audit), &filter, &setup).unwrap()
}

/// Counts of a run: calls, judged, not obeyed, not judged, cannot tell.
fn counts(report: &Report) -> [u64; 5] {
    let counts = report.counts;
    [counts.calls, counts.judged, counts.not_obeyed, counts.not_judged, counts.cannot_tell]
}

#[test]
fn captured_sessions_have_the_states_of_their_runs() {
    let Some(dir) = captures() else { return };
    let runs = [
        // Every call passed through checkrein, and every answer was obeyed.
        ("claude", "gates-replay", [19, 19, 0, 0, 0]),
        ("codex", "gates-replay", [19, 19, 0, 0, 0]),
        ("copilot", "gates-replay", [19, 19, 0, 0, 0]),
        ("gemini", "gates-replay", [19, 19, 0, 0, 0]),
        ("qwen", "gates-replay", [19, 19, 0, 0, 0]),
        // The calls of the sub-agent were judged. No hook matched the calls of the main agent, and the audit log omits them.
        ("claude", "sub", [3, 2, 0, 0, 1]),
        ("codex", "sub", [3, 1, 0, 0, 2]),
        ("copilot", "sub", [3, 2, 0, 0, 1]),
        ("gemini", "sub", [3, 2, 0, 0, 1]),
        ("qwen", "sub", [3, 2, 0, 0, 1]),
        // Only hooks of other events matched.
        ("claude", "session", [1, 0, 0, 0, 1]),
        ("codex", "session", [1, 0, 0, 0, 1]),
        ("copilot", "session", [1, 0, 0, 0, 1]),
        ("gemini", "session", [1, 0, 0, 0, 1]),
        ("qwen", "session", [1, 0, 0, 0, 1]),
        ("cline", "session", [1, 0, 0, 0, 1]),
        // checkrein was killed while it answered.
        ("claude", "iskilled", [1, 0, 0, 1, 0]),
        ("codex", "iskilled", [1, 0, 0, 1, 0]),
        ("copilot", "iskilled", [1, 0, 0, 1, 0]),
        ("gemini", "iskilled", [1, 0, 0, 1, 0]),
        ("qwen", "iskilled", [1, 0, 0, 1, 0]),
        ("cline", "iskilled", [1, 0, 0, 1, 0]),
        // checkrein was not installed.
        ("claude", "quiet-none", [2, 0, 0, 2, 0]),
        ("codex", "quiet-none", [2, 0, 0, 2, 0]),
        ("copilot", "quiet-none", [2, 0, 0, 2, 0]),
        ("gemini", "quiet-none", [2, 0, 0, 2, 0]),
        ("qwen", "quiet-none", [2, 0, 0, 2, 0]),
        ("cline", "quiet-none", [2, 0, 0, 2, 0]),
    ];
    let mut wrong = Vec::new();
    for (agent, run, expected) in runs {
        let report = look(&dir, agent, run);
        let found = counts(&report);
        let is_clean = report.unclear_sessions == 0 && report.sessions.iter().all(|session| session.unknown_lines == 0);
        if found != expected || !is_clean || report.sessions.len() != 1 {
            wrong.push(format!("{agent} {run}: {found:?}, expected {expected:?}: {report:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn calls_of_sub_agents_name_them() {
    let Some(dir) = captures() else { return };
    // Without records, all calls are listed.
    for (agent, kind) in [
        ("claude", "general-purpose"),
        ("codex", "Parfit"),
        ("copilot", "task"),
        ("gemini", "generalist"),
        ("qwen", "general-purpose"),
    ] {
        let home = dir.join(agent).join("sub");
        let state = tempfile::tempdir().unwrap();
        let log = DecisionLog::in_state_directory(state.path());
        let audit = AuditLog::new(state.path().join("audit.jsonl"));
        let setup = Setup { log_is_on: true, installer: None };
        let report = Report::look(&Places::in_home(home), &log, &audit, &Filter::default(), &setup).unwrap();
        let kinds: Vec<_> = report
            .calls
            .iter()
            .filter(|call| call.state == State::NotJudged)
            .filter_map(|call| call.subagent.as_ref()?.kind.as_deref())
            .collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|found| *found == kind), "{agent}: {kinds:?}");
        assert!(report.summary.contains(&format!("by sub-agent `{kind}`")), "{}", report.summary);
    }
}

/// The agent's own reports about hooks in its session file have the ids that its hooks got. So they show, without checkrein's logs,
/// that these ids are those of the calls in the file.
#[test]
fn ids_of_hooks_are_those_of_calls() {
    let Some(dir) = captures() else { return };
    for (agent, event, run, least) in [
        ("claude", "\"hookEvent\":\"PreToolUse\"", "gates-replay", 4),
        ("copilot", "\"hookType\":\"preToolUse\"", "gates-replay", 19),
    ] {
        let mut files = Vec::new();
        session_files(&dir.join(agent).join(run), &mut files);
        let mut ids = BTreeSet::new();
        for line in files
            .iter()
            .flat_map(|file| std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>())
        {
            if !line.contains(event) {
                continue;
            }
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            let calls = line["data"]["input"]["toolCalls"].as_array().into_iter().flatten();
            let found = calls.map(|call| &call["id"]).chain([&line["attachment"]["toolUseID"]]);
            ids.extend(found.filter_map(|id| id.as_str().map(str::to_owned)));
        }
        let format = Format::of(agent).unwrap();
        let sessions = files.iter().flat_map(|file| read_file(format, file));
        let calls: BTreeSet<_> = sessions.flat_map(|session| session.calls).filter_map(|call| call.id).collect();
        assert!(ids.len() >= least, "{agent}: {ids:?}");
        assert!(ids.is_subset(&calls), "{agent}: {ids:?} {calls:?}");
    }
}

fn session_files(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        let is_log = entry.file_name().is_some_and(|name| name == "audit.jsonl");
        if entry.is_dir() {
            session_files(&entry, files);
        } else if entry.extension().is_some_and(|found| found == "jsonl") && !is_log {
            files.push(entry);
        }
    }
}
