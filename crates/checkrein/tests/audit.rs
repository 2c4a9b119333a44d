//! The audit log: what is written, what is noticed, and what many writers do to it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test that fails may say so")]

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
    AuditLog::at(dir.path().join("logs/audit.jsonl"))
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
    assert!(found.is_fine() && found.cuts.is_empty() && found.lines == 5, "{found:?}");
    log
}

fn bash(command: &str) -> Event {
    let input = RawJson::parse(format!(r#"{{"command":{}}}"#, RawJson::string(command))).unwrap();
    Event::pre_tool_use(ToolCall::new("Bash", input))
}

#[tokio::test]
async fn every_fire_with_hooks_is_written_and_no_other() {
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
async fn on_a_full_disk_gates_close_if_that_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("audit.jsonl");
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    for (effect, decision) in [
        (FailurePolicy::Open, Decision::NoOpinion),
        (FailurePolicy::Closed, Decision::Deny),
        (FailurePolicy::Ask, Decision::Ask),
    ] {
        let engine = Engine::builder()
            .hook(HookSpec::shell("h", EventKind::PreToolUse, "true"))
            .hook(HookSpec::shell("h", EventKind::PostToolUse, "true"))
            .audit(AuditLog::at(&path).on_failure(effect))
            .build();
        let (verdict, record) = engine.fire_recorded(bash("ls")).await;
        assert_eq!(verdict.decision(), decision);
        assert_eq!(record.verdict.decision, decision, "the record says what the verdict says");
        assert_eq!(record.hooks.len(), 1);
        let warned = verdict.warnings().iter().map(ToString::to_string).collect::<String>();
        assert!(warned.contains("nothing was written to the audit log") && warned.contains("No space"), "{warned}");
        // Nothing waits for leave there.
        let after = Event::post_tool_use(ToolOutcome::new("Bash", RawJson::default()));
        assert_eq!(engine.fire(after).await.decision(), Decision::NoOpinion);
    }
}

#[test]
fn what_was_changed_is_found() {
    type Change = fn(&mut Vec<String>);
    let changes: &[(&str, Change, &[FindingKind])] = &[
        ("a word", |lines| lines[2] = lines[2].replace("number 3", "number 9"), &[FindingKind::Altered]),
        ("a line less", |lines| drop(lines.remove(1)), &[FindingKind::Removed]),
        ("the first", |lines| drop(lines.remove(0)), &[FindingKind::Removed]),
        ("the last", |lines| drop(lines.pop()), &[FindingKind::Truncated]),
        ("all", Vec::clear, &[FindingKind::Altered, FindingKind::Truncated]),
        (
            "two in turn",
            |lines| lines.swap(1, 2),
            &[FindingKind::Removed, FindingKind::Reordered, FindingKind::Altered],
        ),
        ("one twice", |lines| lines.insert(3, lines[2].clone()), &[FindingKind::Reordered]),
        ("something else", |lines| lines.insert(2, "{}".to_owned()), &[FindingKind::Altered]),
        ("half a line", |lines| lines[2].truncate(40), &[FindingKind::Removed, FindingKind::Altered]),
    ];
    for (what, change, expected) in changes {
        let dir = tempfile::tempdir().unwrap();
        let log = five(&dir);
        let mut lines = lines_of(&log);
        change(&mut lines);
        put(&log, &lines);
        let found = log.verify(None).unwrap();
        let told: HashSet<_> = kinds(&found).iter().map(|kind| format!("{kind:?}")).collect();
        let wanted: HashSet<_> = expected.iter().map(|kind| format!("{kind:?}")).collect();
        assert!(!found.is_fine() && told.is_subset(&wanted), "{what}: {found:#?}");
        // It stays so, whoever writes on.
        log.append(refusal("later")).unwrap();
        assert!(!log.verify(None).unwrap().is_fine(), "{what}");
    }
}

#[test]
fn every_changed_byte_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let log = five(&dir);
    let text = std::fs::read(log.path()).unwrap();
    for at in 0..text.len() {
        let mut other = text.clone();
        other[at] ^= 1;
        std::fs::write(log.path(), &other).unwrap();
        let found = log.verify(None).unwrap();
        // Without its line break the last line looks as if it had been cut there, which is what happens in a crash.
        assert!(!found.is_fine() || (at == text.len() - 1 && !found.cuts.is_empty()), "byte {at}: {found:?}");
    }
}

#[test]
fn a_head_that_is_gone_or_another_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let log = five(&dir);
    let head = log.path().with_extension("jsonl.head");
    let kept = std::fs::read_to_string(&head).unwrap();
    std::fs::remove_file(&head).unwrap();
    assert_eq!(kinds(&log.verify(None).unwrap()), [FindingKind::Head]);
    std::fs::write(&head, kept.replace(|c: char| c.is_ascii_hexdigit() && c != '5', "0")).unwrap();
    assert_eq!(kinds(&log.verify(None).unwrap()), [FindingKind::Head]);
    // A line that was kept elsewhere shows it if all was written anew.
    std::fs::write(&head, &kept).unwrap();
    let last = log.verify(None).unwrap().last.unwrap();
    assert!(log.verify(Some(&last)).unwrap().is_fine());
    std::fs::remove_dir_all(log.path().parent().unwrap()).unwrap();
    let again = five(&dir);
    assert_eq!(kinds(&again.verify(Some(&last)).unwrap()), [FindingKind::NotExpected]);
    assert_eq!(last.to_string().parse::<Head>().unwrap(), last);
}

/// Wherever the last line is cut, as when its writer was ended: the next writer notes it, and nothing else is lost.
#[test]
fn a_cut_at_any_byte_is_noted_and_told_from_a_forgery() {
    let dir = tempfile::tempdir().unwrap();
    let log = five(&dir);
    let whole = std::fs::read(log.path()).unwrap();
    let head_path = log.path().with_extension("jsonl.head");
    let last_begins = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    // The writer had not come to the head yet.
    let fourth = log.lines().unwrap().nth(3).unwrap().unwrap().head;
    for at in last_begins..whole.len() {
        std::fs::write(log.path(), &whole[..at]).unwrap();
        std::fs::write(&head_path, format!("{:>20}:{}\n", fourth.seq, fourth.hash)).unwrap();
        let found = log.verify(None).unwrap();
        assert!(found.is_fine(), "{at}: {found:?}");
        assert_eq!(found.cuts.len(), usize::from(at > last_begins));
        log.append(refusal("next")).unwrap();
        let found = log.verify(None).unwrap();
        assert!(found.is_fine(), "{at}: {found:?}");
        // One that lacks only its line break is not lost.
        let was_cut = at > last_begins && at < whole.len() - 1;
        assert_eq!(found.cuts.len(), usize::from(was_cut), "{at}");
        if !was_cut {
            continue;
        }
        assert_eq!(found.cuts[0].line, 5);
        let noted = log.lines().unwrap().map(Result::unwrap).find(|line| line.entry.kind == EntryKind::Cut).unwrap();
        assert_eq!(noted.entry.bytes, Some((at - last_begins) as u64));
        // What is left of it cannot be changed either.
        if at - last_begins > 1 && at % 16 == 0 {
            let mut text = std::fs::read(log.path()).unwrap();
            text[last_begins] = b'x';
            std::fs::write(log.path(), text).unwrap();
            assert_eq!(kinds(&log.verify(None).unwrap()), [FindingKind::Altered]);
        }
    }
}

#[test]
fn the_chain_goes_on_over_files() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir).max_size(1200);
    for number in 1..=20 {
        log.append(refusal(&format!("number {number}"))).unwrap();
    }
    let found = log.verify(None).unwrap();
    assert!(found.is_fine() && found.files > 3 && found.lines == 20, "{found:?}");
    let seen: Vec<_> = log.lines().unwrap().map(|line| line.unwrap().head.seq).collect();
    assert_eq!(seen, (1..=20).collect::<Vec<_>>());
    assert!(log.path().metadata().unwrap().len() <= 1200);
    // An end between the renaming and the next line leaves no file.
    let live = log.path().metadata().unwrap().len();
    assert!(live > 0);
    let last = found.last.unwrap().seq;
    std::fs::rename(log.path(), format!("{}.{last:012}", log.path().display())).unwrap();
    assert_eq!(log.append(refusal("after")).unwrap().seq, 21);
    assert!(log.verify(None).unwrap().is_fine());
    // And one within the first line of a new file leaves a part of that.
    std::fs::rename(log.path(), format!("{}.{:012}", log.path().display(), 21)).unwrap();
    std::fs::write(log.path(), r#"{"time":"20"#).unwrap();
    assert_eq!(log.append(refusal("after")).unwrap().seq, 23);
    let found = log.verify(None).unwrap();
    assert!(found.is_fine() && found.cuts.len() == 1, "{found:?}");
    // A file in the middle cannot be taken away.
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(log.path().parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    std::fs::remove_file(&files[2]).unwrap();
    assert_eq!(kinds(&log.verify(None).unwrap()), [FindingKind::Removed]);
}

#[test]
fn it_can_be_looked_at_while_others_write() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir).max_size(2000);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| (0..150).for_each(|_| drop(log.append(refusal("one of many")).unwrap()))))
            .collect();
        while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            let found = log.verify(None).unwrap();
            assert!(found.is_fine() && found.cuts.is_empty(), "{found:?}");
            let seen: Vec<_> = log.lines().unwrap().map(|line| line.unwrap().head.seq).collect();
            assert_eq!(seen, (1..=seen.len() as u64).collect::<Vec<_>>());
        }
    });
    assert_eq!(log.verify(None).unwrap().lines, 450);
}

#[test]
fn old_files_are_full() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir).max_age(Duration::from_nanos(1));
    log.append(refusal("one")).unwrap();
    let begun = std::time::Instant::now();
    // The clock in the line counts milliseconds.
    while begun.elapsed() < Duration::from_millis(3) {
        std::hint::spin_loop();
    }
    log.append(refusal("two")).unwrap();
    let found = log.verify(None).unwrap();
    assert!(found.is_fine() && found.files == 2, "{found:?}");
}

#[test]
fn what_files_say_wrongly_is_told_and_taken_for_the_stricter() {
    let dir = tempfile::tempdir().unwrap();
    for (said, code) in [
        ("audit: yes please", "wrong-type"),
        ("audit: {on_failure: clsoed}", "unknown-value"),
        ("audit: {pth: x}", "unknown-key"),
    ] {
        let config = dir.path().join("hooks.yaml");
        std::fs::write(&config, format!("{said}\nhooks: []\n")).unwrap();
        let loaded = Sources::of_files(&native::DIALECT, [&config]).load();
        let codes: Vec<_> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, [code], "{said}");
        assert!(loaded.audit.unwrap().closed, "{said}");
    }
    for (said, code) in [("max_size: 0", "bad-size"), ("max_size: many", "bad-size"), ("max_age: soon", "bad-time")] {
        let config = dir.path().join("hooks.yaml");
        std::fs::write(&config, format!("audit: {{{said}}}\nhooks: []\n")).unwrap();
        let loaded = Sources::of_files(&native::DIALECT, [&config]).load();
        assert_eq!(loaded.diagnostics[0].code, code, "{said}");
    }
}

/// How many rounds: a thousand in the full run.
fn rounds() -> usize {
    let stress = std::env::var("CHECKREIN_STRESS").ok().filter(|value| !value.is_empty() && value != "0");
    if stress.is_some() { 1000 } else { 25 }
}

const WRITE_TO: &str = "CHECKREIN_TEST_AUDIT_LOG";

/// A process that `writers_that_are_killed_at_random` starts. It prints each line's head when it is written. Not a test.
#[test]
#[ignore = "another test starts it as a process of its own"]
fn a_writer() {
    let Some(path) = std::env::var_os(WRITE_TO) else { return };
    let log = AuditLog::at(path).max_size(1 << 20);
    let pick = RandomState::new();
    for number in 0_u64.. {
        let size = [10, 3_000, 50_000, 200_000][(pick.hash_one(number) % 4) as usize];
        let head = log.append(refusal(&"x ".repeat(size / 2))).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "\nwrote {head}").and_then(|()| out.flush()).unwrap();
        if pick.hash_one((number, number)) % 6 == 0 {
            end_within_a_line(log.path(), pick.hash_one((number, 1)));
        }
    }
}

/// Does what a writer does that crashes in the middle of a write, which a signal from outside seldom hits.
fn end_within_a_line(log: &Path, pick: u64) {
    let lock = std::fs::OpenOptions::new().write(true).open(log.with_extension("jsonl.head")).unwrap();
    fs4::FileExt::lock(&lock).unwrap();
    let text = std::fs::read(log).unwrap_or_default();
    // A writer notes what was cut before it writes itself.
    if text.last().is_some_and(|byte| *byte != b'\n') {
        return;
    }
    let line = format!(r#"{{"time":"2026-01-01T00:00:00.000Z","kind":"fire","x":"{}"#, "y".repeat(10_000));
    let most = if pick.is_multiple_of(2) { 100 } else { line.len() };
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(log).unwrap();
    file.write_all(&line.as_bytes()[..1 + (pick >> 1) as usize % (most - 1)]).unwrap();
    std::process::abort();
}

/// Ends writers in the middle of whatever they do: no line is lost that a writer has been told is written, every cut is
/// found, and nothing looks like a forgery.
#[test]
fn writers_that_are_killed_at_random() {
    use std::os::unix::process::ExitStatusExt as _;
    const ABORTED: i32 = 6;
    let dir = tempfile::tempdir().unwrap();
    let log = log_in(&dir);
    let (mut crashes, mut all_crashes) = (0, 0);
    let mut written = BTreeSet::new();
    for round in 0..rounds() {
        let (told, heads) = mpsc::channel();
        let mut writers: Vec<_> = (0..3).map(|_| writer(log.path(), &told)).collect();
        drop(told);
        // So many lines from now, whoever writes them, the writers are ended one by one.
        let pick = RandomState::new();
        for (at, writer) in writers.iter_mut().enumerate() {
            for _ in 0..=(pick.hash_one((round, at)) % 8) {
                written.extend(heads.recv().ok());
            }
            writer.kill().unwrap();
            crashes += usize::from(writer.wait().unwrap().signal() == Some(ABORTED));
        }
        written.extend(heads.iter());
        let found = log.verify(None).unwrap();
        assert!(found.is_fine(), "round {round}: {:?}", found.findings);
        assert!(found.cuts.len() >= crashes, "round {round}: {crashes} crashes, {:?}", found.cuts);
        if round % 10 == 9 || round + 1 == rounds() {
            let there: BTreeSet<_> = log.lines().unwrap().map(|line| line.unwrap().head.to_string()).collect();
            let lost: Vec<_> = written.difference(&there).collect();
            assert!(lost.is_empty(), "round {round}: {lost:?}");
            // What was found once need not be looked at again.
            std::fs::remove_dir_all(log.path().parent().unwrap()).unwrap();
            written.clear();
            all_crashes += std::mem::take(&mut crashes);
        }
    }
    println!("{} rounds, {all_crashes} crashes within a line", rounds());
    assert!(all_crashes > 0);
}

fn writer(log: &Path, told: &mpsc::Sender<String>) -> std::process::Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_writer", "--include-ignored", "--nocapture"]).env(WRITE_TO, log);
    let mut writer = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (out, told) = (BufReader::new(writer.stdout.take().unwrap()), told.clone());
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            // A line that was cut is no word of its writer.
            let head = line.strip_prefix("wrote ").filter(|head| head.parse::<Head>().is_ok());
            if head.is_some_and(|head| told.send(head.to_owned()).is_err()) {
                return;
            }
        }
    });
    writer
}
