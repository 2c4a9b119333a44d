use checkrein_core::{Decision, RawJson};
use checkrein_tools::decision_log::{DecisionEntry, DecisionLog};
use serde_json::{Value, json};

use super::*;

/// Line of the decision log.
fn line(number: u64, fields: &Value) -> String {
    let mut line = json!({
        "time": format!("2026-01-31T08:{:02}:{:02}.{:03}Z", number / 60_000 % 60, number / 1000 % 60, number % 1000),
        "agent": "claude", "session": "s", "project": "/nowhere", "event": "pre_tool_use", "tool": "Bash",
        "command": format!("run {number}"), "verdict": "no_opinion", "us": number,
    });
    for (key, value) in fields.as_object().unwrap() {
        line[key] = value.clone();
    }
    line.to_string()
}

fn entry(line: &str) -> DecisionEntry {
    serde_json::from_str(line).unwrap()
}

fn record(hooks: &Value) -> RawJson {
    let record = json!({
        "event": "pre_tool_use", "dialect": "claude", "subject": "Bash",
        "verdict": {
            "decision": "no_opinion", "reason": null, "reasons": [], "context": [], "system_messages": [], "stop_reason": null,
            "original_input": { "command": "ls" }, "effective_input": { "command": "ls" }, "effective_prompt": null,
            "effective_output": null, "warnings": [], "cancelled": false,
        },
        "hooks": hooks,
    });
    let recorded = json!({
        "time": "2026-01-31T08:00:00.000Z", "agent": "claude", "project": "/nowhere", "event": { "event": "pre_tool_use" },
        "record": record, "redaction": false, "checkrein": "0.1.0",
    });
    RawJson::parse(recorded.to_string()).unwrap()
}

fn hook(id: &str, outcome: &str, decision: Option<&str>, duration: u64) -> Value {
    json!({
        "id": id, "source": { "scope": "user", "file": "/h.yaml", "line": 3 }, "handler": "command", "outcome": outcome,
        "decision": decision, "failure": if outcome == "failure" { Some("timeout") } else { None }, "detail": "too slow",
        "exit_code": 0, "duration_ms": duration, "stdout": null, "stderr": null, "truncated": false,
    })
}

fn push(store: &Store, line: &str, record: Option<RawJson>) {
    store.insert(&PushedEvent { line: line.to_owned(), record }).unwrap();
}

fn all() -> Query {
    Query { limit: usize::MAX, ..Query::default() }
}

#[test]
fn event_that_arrives_twice_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let log = DecisionLog::in_state_directory(dir.path());
    log.append(entry(&line(1, &json!({ "hooks": ["guard"] })))).unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut changes = store.subscribe();
    let written = std::fs::read_to_string(log.path()).unwrap().lines().last().unwrap().to_owned();
    assert_eq!(store.page(&all()).total, 1);
    assert_eq!((store.hooks()[0].only_logged, store.hooks()[0].runs), (1, 0));

    push(&store, &written, Some(record(&json!([hook("guard", "opinion", Some("deny"), 5)]))));
    push(&store, &format!("{written}\n"), Some(record(&json!([hook("guard", "opinion", Some("deny"), 5)]))));
    let page = store.page(&all());
    assert_eq!(page.total, 1);
    let stats = &store.hooks()[0];
    assert_eq!((stats.only_logged, stats.runs, stats.denials, stats.p50_ms), (0, 1, 1, Some(5)));
    assert!(matches!(changes.try_recv(), Ok(Change::Record(id)) if id == page.events[0].id));
    assert!(changes.try_recv().is_err());

    // The push is first, the line second.
    log.append(entry(&line(2, &json!({})))).unwrap();
    let written = std::fs::read_to_string(log.path()).unwrap().lines().last().unwrap().to_owned();
    push(&store, &written, None);
    store.read_log().unwrap();
    assert_eq!(store.page(&all()).total, 2);
}

#[test]
fn lines_of_the_log_arrive_also_after_a_rotation() {
    let dir = tempfile::tempdir().unwrap();
    let log = DecisionLog::in_state_directory(dir.path()).max_size(2000);
    let store = Store::open(dir.path()).unwrap();
    let mut changes = store.subscribe();
    for number in 0..40 {
        log.append(entry(&line(number, &json!({})))).unwrap();
        if number % 5 == 4 {
            store.read_log().unwrap();
        }
    }
    let found: Vec<_> = store.page(&all()).events.iter().rev().map(|row| row.us).collect();
    assert_eq!(found, (0..40).collect::<Vec<_>>());
    assert!(matches!(changes.try_recv(), Ok(Change::Event(row)) if row.position == 1));
}

#[test]
fn thread_follows_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut changes = store.subscribe();
    DecisionLog::in_state_directory(dir.path()).append(entry(&line(7, &json!({})))).unwrap();
    let change = changes.blocking_recv().unwrap();
    assert!(matches!(change, Change::Event(row) if row.us == 7));
}

#[test]
fn hook_that_is_not_approved_has_no_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut untrusted = hook("guard", "failure", None, 0);
    untrusted["failure"] = "untrusted".into();
    push(&store, &line(1, &json!({ "hooks": ["guard"] })), Some(record(&json!([untrusted]))));
    let stats = &store.hooks()[0];
    assert_eq!((stats.runs, stats.failures, stats.p50_ms), (0, 1, None));
    assert!(stats.last_error.as_ref().unwrap().starts_with("untrusted"), "{stats:?}");
}

#[test]
fn memory_and_disk_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits { rows: 1000, records: 256 << 10 };
    let store = Store::with_limits(dir.path(), limits).unwrap();
    for number in 0..5000 {
        let fields = json!({ "session": format!("session {}", number / 10), "hooks": [format!("hook {number}")] });
        push(&store, &line(number, &fields), Some(record(&json!([]))));
    }
    let state = lock(&store.inner.state);
    assert_eq!((state.rows.len(), state.positions.len()), (1000, 1000));
    drop(state);
    let size: u64 = std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(size <= limits.records, "{size}");
    assert_eq!(store.page(&all()).total, 1000);
    assert_eq!(store.hooks().len(), 0);
    // Old records have gone, the newest is there.
    let newest = store.page(&Query { limit: 1, ..Query::default() }).events[0].id;
    assert!(store.record(newest).unwrap().unwrap().record.is_some());
    let oldest = EventId::of(&entry(&line(0, &json!({ "session": "session 0", "hooks": ["hook 0"] }))));
    assert!(store.record(oldest).unwrap().is_none());
}

#[test]
fn pages_continue_each_other_while_events_arrive() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    for number in 0..100 {
        let verdict = if number % 10 == 0 { "deny" } else { "no_opinion" };
        push(&store, &line(number, &json!({ "verdict": verdict, "reason": "Not NOW" })), None);
    }
    let first = store.page(&Query { limit: 60, ..Query::default() });
    push(&store, &line(100, &json!({})), None);
    let second = store.page(&Query { until: Some(first.until), skip: 60, limit: 60, ..Query::default() });
    let found: Vec<_> = first.events.iter().chain(&second.events).map(|row| row.us).collect();
    assert_eq!(found, (0..100).rev().collect::<Vec<_>>());
    let denied = store.page(&Query { answer: Some(Decision::Deny), ..all() });
    assert_eq!((denied.total, denied.events.len()), (10, 10));
    for (text, total) in [("not now", 100), ("RUN 5", 11), ("bash", 101), ("other", 0)] {
        assert_eq!(store.page(&Query { text: Some(text.to_owned()), ..all() }).total, total, "{text}");
    }
    assert_eq!(store.page(&Query { session: Some("other".to_owned()), ..all() }).total, 0);
}

#[test]
fn failures_and_durations_of_hooks_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    for number in 0..100 {
        let hooks = json!([hook("slow", "opinion", None, number + 1), hook("other", "skipped", None, 0)]);
        push(&store, &line(number, &json!({})), Some(record(&hooks)));
    }
    push(&store, &line(200, &json!({})), Some(record(&json!([hook("slow", "failure", None, 9)]))));
    let check = |store: &Store| {
        let hooks = store.hooks();
        let (other, slow) = (&hooks[0], &hooks[1]);
        assert_eq!((slow.runs, slow.failures, slow.p50_ms, slow.p95_ms), (101, 1, Some(50), Some(95)));
        assert_eq!((slow.last_error.as_deref(), slow.source.as_str()), (Some("timeout: too slow"), "/h.yaml:3"));
        assert_eq!((other.runs, other.skipped, other.p50_ms), (0, 100, None));
    };
    check(&store);
    drop(store);
    // Records on disk are counted after a restart.
    check(&Store::open(dir.path()).unwrap());
}

#[test]
fn state_of_a_session_is_that_of_its_last_event() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let none = HashMap::new();
    let now = format!("{:.3}", Timestamp::now());
    let state = |event: &str, verdict: &str, time: &str| {
        push(&store, &line(1, &json!({ "event": event, "time": time, "verdict": verdict, "command": event })), None);
        store.sessions(&none)[0].state
    };
    assert_eq!(state("session_start", "no_opinion", "2026-01-31T08:00:00.000Z"), SessionState::Idle);
    assert_eq!(state("pre_tool_use", "no_opinion", "2026-01-31T08:00:01.000Z"), SessionState::Quiet);
    assert_eq!(state("stop", "no_opinion", "2026-01-31T08:00:02.000Z"), SessionState::Idle);
    assert_eq!(state("pre_tool_use", "deny", &now), SessionState::Working);
    assert_eq!(store.sessions(&none)[0].denials, 1);
    // A late line of the past changes only the counts.
    assert_eq!(state("session_end", "no_opinion", "2026-01-31T08:00:03.000Z"), SessionState::Working);
    let pending = HashMap::from([(("claude".to_owned(), "s".to_owned()), 2)]);
    assert_eq!((store.sessions(&pending)[0].state, store.sessions(&pending)[0].pending), (SessionState::Waiting, 2));
    assert_eq!(state("session_end", "no_opinion", "2999-01-31T08:00:03.000Z"), SessionState::Ended);
}

#[test]
fn secrets_are_redacted_before_a_record_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    push(&store, &line(1, &json!({})), Some(RawJson::string(&format!("token {token}"))));
    for file in std::fs::read_dir(dir.path()).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(text.contains("[redacted:github_token]") && !text.contains(&token), "{text}");
    }
    assert!(store.insert(&PushedEvent { line: "{".to_owned(), record: None }).is_err());
}
