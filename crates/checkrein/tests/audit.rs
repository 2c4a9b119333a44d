//! The audit log: entries, detection of changes, and concurrent writers.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed test reports its cause by panicking"
)]

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use checkrein::audit::{AuditEntry, AuditLog, EntryKind, FindingKind, Head, Verification};
use checkrein::dialects::agents::native;
use checkrein::payload::{Prompt, ToolCall, ToolOutcome};
use checkrein::{Decision, Engine, Event, EventKind, FailurePolicy, HookSpec, RawJson, Sources};

fn log_in(dir: &tempfile::TempDir) -> AuditLog {
    AuditLog::new(dir.path().join("logs/audit.jsonl"))
}

fn refusal(why: &str) -> AuditEntry {
    AuditEntry::refusal(Some(&EventKind::PreToolUse), why)
}

fn lines_of(log: &AuditLog) -> Vec<String> {
    std::fs::read_to_string(log.path()).unwrap().lines().map(str::to_owned).collect()
}

fn put(log: &AuditLog, lines: &[String]) {
    std::fs::write(log.path(), lines.join("\n") + "\n").unwrap();
}

fn kinds(found: &Verification) -> Vec<FindingKind> {
    found.findings.iter().map(|finding| finding.kind).collect()
}

/// A log with five lines.
fn five(dir: &tempfile::TempDir) -> AuditLog {
    let log = log_in(dir);
    for number in 1..=5 {
        assert_eq!(log.append(refusal(&format!("number {number}"))).unwrap().seq, number);
    }
    let found = log.verify(None).unwrap();
    assert!(found.is_intact() && found.cuts.is_empty() && found.lines == 5, "{found:?}");
    log
}

fn bash(command: &str) -> Event {
    let input = RawJson::parse(format!(r#"{{"command":{}}}"#, RawJson::string(command))).unwrap();
    Event::pre_tool_use(ToolCall::new("Bash", input))
}

#[tokio::test]
async fn only_events_with_hooks_are_logged() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir);
    let hook = HookSpec::shell("guard", EventKind::PreToolUse, "grep -q rm && echo no >&2 && exit 2; exit 0");
    let engine = Engine::builder().hook(hook).audit(log.clone()).build();
    assert_eq!(engine.fire(bash("rm x")).await.decision(), Decision::Deny);
    engine.fire(Event::prompt_submit(Prompt::new("hi"))).await;
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let (_, record) = engine.fire_recorded(bash(&secret)).await;
    let lines: Vec<_> = log.lines().unwrap().map(Result::unwrap).collect();
    let seen: Vec<_> = lines
        .iter()
        .map(|line| {
            let record = line.entry.record.as_ref().unwrap();
            (line.head.seq, record.event.as_str(), record.verdict.decision, record.hooks[0].id.as_str())
        })
        .collect();
    let expected = [(1, "pre_tool_use", Decision::Deny, "guard"), (2, "pre_tool_use", Decision::NoOpinion, "guard")];
    assert_eq!(seen, expected);
    assert!(record.verdict.original_input.unwrap().as_str().contains(&secret));
    let text = std::fs::read_to_string(log.path()).unwrap();
    assert!(!text.contains(&secret) && text.contains("[redacted:github_token]"), "{text}");
    use std::os::unix::fs::PermissionsExt as _;
    for path in [log.path().to_owned(), log.path().with_extension("jsonl.head")] {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
    }
}

#[tokio::test]
async fn full_disk_blocks_gates_by_policy() {
    let dir = tempfile::tempdir().unwrap();
    let (full, null, fifo) = (dir.path().join("full"), dir.path().join("null"), dir.path().join("fifo"));
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    std::os::unix::fs::symlink("/dev/null", &null).unwrap();
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for (path, effect, decision) in [
        (&full, FailurePolicy::Open, Decision::NoOpinion),
        (&full, FailurePolicy::Closed, Decision::Deny),
        (&full, FailurePolicy::Ask, Decision::Ask),
        (&null, FailurePolicy::Closed, Decision::Deny),
        (&fifo, FailurePolicy::Closed, Decision::Deny),
    ] {
        let engine = Engine::builder()
            .hook(HookSpec::shell("h", EventKind::PreToolUse, "true"))
            .hook(HookSpec::shell("h", EventKind::PostToolUse, "true"))
            .audit(AuditLog::new(path).on_failure(effect))
            .build();
        let (verdict, record) = engine.fire_recorded(bash("ls")).await;
        assert_eq!(verdict.decision(), decision);
        assert_eq!(record.verdict.decision, decision, "the record has the decision of the verdict");
        assert_eq!(record.hooks.len(), 1);
        let warned = verdict.warnings().iter().map(ToString::to_string).collect::<String>();
        assert!(warned.contains("audit log") && warned.contains("not a regular file"), "{warned}");
        // Nothing waits for leave there.
        let after = Event::post_tool_use(ToolOutcome::new("Bash", RawJson::default()));
        assert_eq!(engine.fire(after).await.decision(), Decision::NoOpinion);
    }
}

/// A file that keeps nothing, at each path of a log, closes the gate. No reader waits for it.
#[tokio::test]
async fn only_regular_files_are_a_log() {
    let kinds = [
        "fifo",
        "socket",
        "directory",
        "loop",
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "to-fifo",
        "to-socket",
        "to-file",
        "dead",
    ];
    for file in ["audit.jsonl", "audit.jsonl.head", "audit.jsonl.000000000005"] {
        for kind in kinds {
            let dir = tempfile::tempdir().unwrap();
            let log = AuditLog::new(dir.path().join("audit.jsonl")).on_failure(FailurePolicy::Closed);
            let (path, target) = (dir.path().join(file), dir.path().join("target"));
            let mkfifo = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
            let bind = |path: &Path| std::os::unix::net::UnixListener::bind(path).unwrap();
            let mut socket = None;
            match kind {
                "fifo" => mkfifo(&path),
                "socket" => socket = Some(bind(&path)),
                "directory" => std::fs::create_dir(&path).unwrap(),
                "loop" => std::os::unix::fs::symlink(file, &path).unwrap(),
                "to-fifo" => mkfifo(&target),
                "to-socket" => socket = Some(bind(&target)),
                "to-file" => std::fs::write(&target, "").unwrap(),
                _ => {}
            }
            if kind.starts_with("to-") || kind == "dead" {
                std::os::unix::fs::symlink(&target, &path).unwrap();
            } else if kind.starts_with('/') {
                std::os::unix::fs::symlink(kind, &path).unwrap();
            }
            let is_full_file = file.ends_with('5');
            let hook = HookSpec::shell("h", EventKind::PreToolUse, "true");
            let engine = Engine::builder().hook(hook).audit(log.clone()).build();
            let verdict = engine.fire(bash("ls")).await;
            // A link to a regular file is allowed for a full file, which is only read.
            if !(is_full_file && kind == "to-file") {
                assert_eq!(verdict.decision(), Decision::Deny, "{kind} at {file}: {verdict:?}");
                assert!(verdict.reason().unwrap().contains("audit log"), "{kind} at {file}: {verdict:?}");
            }
            if kind != "to-file" {
                assert!(log.verify(None).is_err(), "{kind} at {file}");
                assert!(log.lines().is_err(), "{kind} at {file}");
            }
            assert!(target.metadata().map_or(true, |found| found.len() == 0), "{kind} at {file}");
            drop(socket);
        }
    }
}

/// A line without an end is no entry. No reader takes it into memory.
#[test]
fn huge_file_is_no_log() {
    let dir = tempfile::tempdir().unwrap();
    let log = AuditLog::new(dir.path().join("audit.jsonl"));
    std::fs::File::create(log.path()).unwrap().set_len(1 << 40).unwrap();
    for result in [log.append(refusal("x")).map(drop), log.verify(None).map(drop)] {
        assert!(result.unwrap_err().to_string().contains("no audit log"));
    }
    assert!(log.lines().unwrap().next().unwrap().is_err());
}

#[test]
fn changed_logs_are_detected() {
    type Change = fn(&mut Vec<String>);
    let changes: &[(&str, Change, &[FindingKind])] = &[
        ("changed word", |lines| lines[2] = lines[2].replace("number 3", "number 9"), &[FindingKind::Altered]),
        ("removed line", |lines| drop(lines.remove(1)), &[FindingKind::Removed]),
        ("removed first line", |lines| drop(lines.remove(0)), &[FindingKind::Removed]),
        ("removed last line", |lines| drop(lines.pop()), &[FindingKind::Truncated]),
        ("removed lines", Vec::clear, &[FindingKind::Altered, FindingKind::Truncated]),
        (
            "swapped lines",
            |lines| lines.swap(1, 2),
            &[FindingKind::Removed, FindingKind::Reordered, FindingKind::Altered],
        ),
        ("repeated line", |lines| lines.insert(3, lines[2].clone()), &[FindingKind::Reordered]),
        ("inserted line", |lines| lines.insert(2, "{}".to_owned()), &[FindingKind::Altered]),
        ("shortened line", |lines| lines[2].truncate(40), &[FindingKind::Removed, FindingKind::Altered]),
    ];
    for (label, change, expected) in changes {
        let dir = tempfile::tempdir().unwrap();
        let log = five(&dir);
        let mut lines = lines_of(&log);
        change(&mut lines);
        put(&log, &lines);
        let found = log.verify(None).unwrap();
        let reported: HashSet<_> = kinds(&found).iter().map(|kind| format!("{kind:?}")).collect();
        let expected: HashSet<_> = expected.iter().map(|kind| format!("{kind:?}")).collect();
        assert!(!found.is_intact() && reported.is_subset(&expected), "{label}: {found:#?}");
        // A later entry does not hide the change.
        log.append(refusal("later")).unwrap();
        assert!(!log.verify(None).unwrap().is_intact(), "{label}");
    }
}

#[test]
fn every_changed_byte_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let log = five(&dir);
    let text = std::fs::read(log.path()).unwrap();
    for index in 0..text.len() {
        let mut other = text.clone();
        other[index] ^= 1;
        std::fs::write(log.path(), &other).unwrap();
        let found = log.verify(None).unwrap();
        // Without its line break the last line is an incomplete line, as after a crash.
        assert!(!found.is_intact() || (index == text.len() - 1 && !found.cuts.is_empty()), "byte {index}: {found:?}");
    }
}

#[test]
fn missing_or_wrong_head_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let log = five(&dir);
    let head = log.path().with_extension("jsonl.head");
    let kept = std::fs::read_to_string(&head).unwrap();
    std::fs::remove_file(&head).unwrap();
    assert_eq!(kinds(&log.verify(None).unwrap()), [FindingKind::Head]);
    std::fs::write(&head, kept.replace(|c: char| c.is_ascii_hexdigit() && c != '5', "0")).unwrap();
    assert_eq!(kinds(&log.verify(None).unwrap()), [FindingKind::Head]);
    // An entry that was stored elsewhere reveals a rewritten log.
    std::fs::write(&head, &kept).unwrap();
    let last = log.verify(None).unwrap().last.unwrap();
    assert!(log.verify(Some(&last)).unwrap().is_intact());
    std::fs::remove_dir_all(log.path().parent().unwrap()).unwrap();
    let again = five(&dir);
    assert_eq!(kinds(&again.verify(Some(&last)).unwrap()), [FindingKind::NotExpected]);
    assert_eq!(last.to_string().parse::<Head>().unwrap(), last);
}

/// Lines at the end and the head are removed together. The next writer records it.
#[test]
fn lines_removed_together_with_the_head_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let log = five(&dir);
    let text = std::fs::read_to_string(log.path()).unwrap();
    let first: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
    std::fs::write(log.path(), first).unwrap();
    std::fs::remove_file(log.path().with_extension("jsonl.head")).unwrap();
    log.append(refusal("next")).unwrap();
    assert!(log.lines().unwrap().any(|line| line.unwrap().entry.kind == EntryKind::Broken));
    assert!(!log.verify(None).unwrap().is_intact());
}

/// Wherever the last line is cut, as when its writer was ended: the next writer notes it, and nothing else is lost.
#[test]
fn cut_line_is_marked_and_distinguished_from_tampering() {
    let dir = tempfile::tempdir().unwrap();
    let log = five(&dir);
    let whole = std::fs::read(log.path()).unwrap();
    let head_path = log.path().with_extension("jsonl.head");
    let last_begins = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    // The killed writer has not written the head.
    let fourth = log.lines().unwrap().nth(3).unwrap().unwrap().head;
    for at in last_begins..whole.len() {
        std::fs::write(log.path(), &whole[..at]).unwrap();
        std::fs::write(&head_path, format!("{:>20}:{}\n", fourth.seq, fourth.hash)).unwrap();
        let found = log.verify(None).unwrap();
        assert!(found.is_intact(), "{at}: {found:?}");
        assert_eq!(found.cuts.len(), usize::from(at > last_begins));
        log.append(refusal("next")).unwrap();
        let found = log.verify(None).unwrap();
        assert!(found.is_intact(), "{at}: {found:?}");
        // An entry that lacks only its line break is not lost.
        let was_cut = at > last_begins && at < whole.len() - 1;
        assert_eq!(found.cuts.len(), usize::from(was_cut), "{at}");
        if !was_cut {
            continue;
        }
        assert_eq!(found.cuts[0].line, 5);
        let noted = log.lines().unwrap().map(Result::unwrap).find(|line| line.entry.kind == EntryKind::Cut).unwrap();
        assert_eq!(noted.entry.bytes, Some((at - last_begins) as u64));
        // A change of the incomplete line is detected.
        if at - last_begins > 1 && at % 16 == 0 {
            let mut text = std::fs::read(log.path()).unwrap();
            text[last_begins] = b'x';
            std::fs::write(log.path(), text).unwrap();
            assert_eq!(kinds(&log.verify(None).unwrap()), [FindingKind::Altered]);
        }
    }
}

#[test]
fn chain_continues_over_files() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir).max_size(1200);
    for number in 1..=20 {
        log.append(refusal(&format!("number {number}"))).unwrap();
    }
    let found = log.verify(None).unwrap();
    assert!(found.is_intact() && found.files > 3 && found.lines == 20, "{found:?}");
    let seen: Vec<_> = log.lines().unwrap().map(|line| line.unwrap().head.seq).collect();
    assert_eq!(seen, (1..=20).collect::<Vec<_>>());
    assert!(log.path().metadata().unwrap().len() <= 1200);
    // A writer that is killed between the renaming and the next entry leaves no current file.
    let live = log.path().metadata().unwrap().len();
    assert!(live > 0);
    let last = found.last.unwrap().seq;
    std::fs::rename(log.path(), format!("{}.{last:012}", log.path().display())).unwrap();
    assert_eq!(log.append(refusal("after")).unwrap().seq, 21);
    assert!(log.verify(None).unwrap().is_intact());
    // A writer that is killed in the first line of a new file leaves a part of the line.
    std::fs::rename(log.path(), format!("{}.{:012}", log.path().display(), 21)).unwrap();
    std::fs::write(log.path(), r#"{"time":"20"#).unwrap();
    assert_eq!(log.append(refusal("after")).unwrap().seq, 23);
    let found = log.verify(None).unwrap();
    assert!(found.is_intact() && found.cuts.len() == 1, "{found:?}");
    // Removing a file in the middle is detected.
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(log.path().parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    std::fs::remove_file(&files[2]).unwrap();
    assert_eq!(kinds(&log.verify(None).unwrap()), [FindingKind::Removed]);
}

#[test]
fn log_can_be_verified_during_writes() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir).max_size(2000);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| (0..150).for_each(|_| drop(log.append(refusal("one of many")).unwrap()))))
            .collect();
        while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            let found = log.verify(None).unwrap();
            assert!(found.is_intact() && found.cuts.is_empty(), "{found:?}");
            let seen: Vec<_> = log.lines().unwrap().map(|line| line.unwrap().head.seq).collect();
            assert_eq!(seen, (1..=seen.len() as u64).collect::<Vec<_>>());
        }
    });
    assert_eq!(log.verify(None).unwrap().lines, 450);
}

#[test]
fn old_file_is_replaced_by_a_new_one() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir).max_age(Duration::from_nanos(1));
    log.append(refusal("one")).unwrap();
    let start = std::time::Instant::now();
    // The time in the entry has milliseconds.
    while start.elapsed() < Duration::from_millis(3) {
        std::hint::spin_loop();
    }
    log.append(refusal("two")).unwrap();
    let found = log.verify(None).unwrap();
    assert!(found.is_intact() && found.files == 2, "{found:?}");
}

#[test]
fn invalid_audit_settings_are_reported_and_fail_closed() {
    let dir = tempfile::tempdir().unwrap();
    for (setting, code) in [
        ("audit: yes please", "wrong-type"),
        ("audit: {on_failure: clsoed}", "unknown-value"),
        ("audit: {pth: x}", "unknown-key"),
    ] {
        let config = dir.path().join("hooks.yaml");
        std::fs::write(&config, format!("{setting}\nhooks: []\n")).unwrap();
        let loaded = Sources::of_files(&native::DIALECT, [&config]).load();
        let codes: Vec<_> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, [code], "{setting}");
        assert!(loaded.audit.unwrap().closed, "{setting}");
    }
    for (setting, code) in [("max_size: 0", "bad-size"), ("max_size: many", "bad-size"), ("max_age: soon", "bad-time")]
    {
        let config = dir.path().join("hooks.yaml");
        std::fs::write(&config, format!("audit: {{{setting}}}\nhooks: []\n")).unwrap();
        let loaded = Sources::of_files(&native::DIALECT, [&config]).load();
        assert_eq!(loaded.diagnostics[0].code, code, "{setting}");
    }
}

/// Number of rounds: 1000 with `CHECKREIN_STRESS`.
fn rounds() -> usize {
    let stress = std::env::var("CHECKREIN_STRESS").ok().filter(|value| !value.is_empty() && value != "0");
    if stress.is_some() { 1000 } else { 25 }
}

const WRITE_TO: &str = "CHECKREIN_TEST_AUDIT_LOG";

/// Writer process of `killed_writers_lose_no_entries`. It prints the head of each written entry. Not a test.
#[test]
#[ignore = "another test starts it as its own process"]
fn writer_process() {
    let Some(path) = std::env::var_os(WRITE_TO) else { return };
    let log = AuditLog::new(path).max_size(1 << 20);
    let pick = RandomState::new();
    for number in 0_u64.. {
        let size = [10, 3_000, 50_000, 200_000][(pick.hash_one(number) % 4) as usize];
        let head = log.append(refusal(&"x ".repeat(size / 2))).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nwrote {head}").and_then(|()| out.flush()).unwrap();
        if pick.hash_one((number, number)) % 6 == 0 {
            crash_within_a_line(log.path(), pick.hash_one((number, 1)));
        }
    }
}

/// Crashes in the middle of a write, which a signal from outside rarely hits.
fn crash_within_a_line(log: &Path, pick: u64) {
    let lock = std::fs::OpenOptions::new().write(true).open(log.with_extension("jsonl.head")).unwrap();
    fs4::FileExt::lock(&lock).unwrap();
    let text = std::fs::read(log).unwrap_or_default();
    // A writer marks a cut line before it writes its own entry.
    if text.last().is_some_and(|byte| *byte != b'\n') {
        return;
    }
    let line = format!(r#"{{"time":"2026-01-01T00:00:00.000Z","kind":"fire","x":"{}"#, "y".repeat(10_000));
    let most = if pick.is_multiple_of(2) { 100 } else { line.len() };
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
    file.write_all(&line.as_bytes()[..1 + (pick >> 1) as usize % (most - 1)]).unwrap();
    std::process::abort();
}

/// Kills writers at random times: no entry is lost that a writer has reported, every cut is found, and no finding is a sign
/// of tampering.
#[test]
fn killed_writers_lose_no_entries() {
    use std::os::unix::process::ExitStatusExt as _;
    const ABORTED: i32 = 6;
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir);
    let (mut crashes, mut all_crashes) = (0, 0);
    let mut written = BTreeSet::new();
    for round in 0..rounds() {
        let (sender, heads) = mpsc::channel();
        let mut writers: Vec<_> = (0..3).map(|_| start_writer(log.path(), &sender)).collect();
        drop(sender);
        // Each writer is killed after a random number of entries of all writers.
        let pick = RandomState::new();
        for (index, writer) in writers.iter_mut().enumerate() {
            for _ in 0..=(pick.hash_one((round, index)) % 8) {
                written.extend(heads.recv().ok());
            }
            writer.kill().unwrap();
            crashes += usize::from(writer.wait().unwrap().signal() == Some(ABORTED));
        }
        written.extend(heads.iter());
        let found = log.verify(None).unwrap();
        assert!(found.is_intact(), "round {round}: {:?}", found.findings);
        assert!(found.cuts.len() >= crashes, "round {round}: {crashes} crashes, {:?}", found.cuts);
        if round % 10 == 9 || round + 1 == rounds() {
            let present: BTreeSet<_> = log.lines().unwrap().map(|line| line.unwrap().head.to_string()).collect();
            let lost: Vec<_> = written.difference(&present).collect();
            assert!(lost.is_empty(), "round {round}: {lost:?}");
            // Keeps the log small: checked entries are not needed any more.
            std::fs::remove_dir_all(log.path().parent().unwrap()).unwrap();
            written.clear();
            all_crashes += std::mem::take(&mut crashes);
        }
    }
    println!("{} rounds, {all_crashes} crashes within a line", rounds());
    assert!(all_crashes > 0);
}

fn start_writer(log: &Path, sender: &mpsc::Sender<String>) -> std::process::Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "writer_process", "--include-ignored", "--nocapture"]).env(WRITE_TO, log);
    let mut writer = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (out, sender) = (BufReader::new(writer.stdout.take().unwrap()), sender.clone());
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            // A killed writer may leave a partial line.
            let head = line.strip_prefix("wrote ").filter(|head| head.parse::<Head>().is_ok());
            if head.is_some_and(|head| sender.send(head.to_owned()).is_err()) {
                return;
            }
        }
    });
    writer
}
