//! `EngineBuilder::try_build` with valid and broken hooks.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::path::Path;

use checkrein::dialects::agents::native;
use checkrein::engine::ProblemKind;
use checkrein::hook_files::Sources;
use checkrein::{Engine, EventKind, HookSpec, Trust};

const GATE: EventKind = EventKind::PreToolUse;

fn write(dir: &Path, text: &str) -> Sources {
    let file = dir.join("hooks.yaml");
    std::fs::write(&file, text).unwrap();
    Sources::of_files(&native::DIALECT, [file])
}

#[test]
fn valid_hooks_are_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let sources = write(dir.path(), "hooks:\n  PreToolUse:\n    - id: a\n      command: 'true'\n");
    let engine = Engine::builder().sources(sources).hook(HookSpec::shell("b", GATE, "true")).try_build().unwrap();
    assert_eq!(engine.hooks_for(&GATE).len(), 2);
    assert!(Engine::builder().try_build().is_ok());
}

#[test]
fn error_in_a_file_is_listed_once_with_its_position() {
    let dir = tempfile::tempdir().unwrap();
    let sources =
        write(dir.path(), "hooks:\n  PreToolUse:\n    - id: a\n      command: ''\n  Nonsense:\n    - command: x\n");
    let builder = || Engine::builder().sources(sources.clone()).hook(HookSpec::builtin("b", GATE, "add_dat"));
    let error = builder().try_build().unwrap_err();
    let text = error.to_string();
    let codes: Vec<_> = error.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["missing-key", "closed-gate", "unknown-event"], "{text}");
    let [problem] = &error.problems[..] else { panic!("{text}") };
    assert_eq!(problem.hook.id, "b");
    assert!(matches!(problem.kind, ProblemKind::NotLoaded(_)));
    assert!(text.starts_with("hooks cannot be loaded: 4 errors\n"), "{text}");
    for part in ["hooks.yaml:3:", "hooks.yaml:5:", "did you mean `add_date`?"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let engine = builder().build();
    assert!(engine.has(&GATE), "`build` succeeds, and broken hooks close their gates");
    assert_eq!(engine.problems().len(), 2);
}

#[test]
fn warnings_and_unapproved_hooks_are_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir_all(project.join(".checkrein")).unwrap();
    let file = project.join(".checkrein/hooks.yaml");
    std::fs::write(&file, "hooks:\n  PreToolUse:\n    - command: 'true'\n").unwrap();
    let trust = Trust::in_dir(dir.path().join("state"));
    let sources = Sources::of_files(&native::DIALECT, [file]).as_of_project().trust(trust);
    let background = HookSpec::shell("late", GATE, "true").in_background();
    let engine = Engine::builder().sources(sources).hook(background).try_build().unwrap();
    let kinds: Vec<_> = engine.problems().into_iter().map(|problem| problem.kind).collect();
    assert!(matches!(&kinds[..], [ProblemKind::NotApproved(_), ProblemKind::BackgroundGate]), "{kinds:?}");
}
