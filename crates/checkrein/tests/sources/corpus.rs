//! Broken files, each read in every dialect with files. Nothing panics, and every problem is reported with its position. The
//! limits of the reader bound time and memory.
//!
//! `unreadable` creates what cannot be checked in: pipes, loops of links and a file of 50 MiB.

use std::path::PathBuf;

use checkrein::Engine;
use checkrein::dialects::agents::native;
use checkrein::dialects::{self, Dialect};
use checkrein::hook::HookState;
use checkrein::hook_files::{FileStatus, Loaded, Locations, Sources};

/// Prefix of the names of valid files.
const SUCCESS: &str = "fine-";

fn corpus() -> Vec<PathBuf> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn load(dialect: &'static Dialect, path: &PathBuf) -> (Sources, Loaded) {
    let nowhere = Locations::new("/nowhere");
    let sources = Sources::of_files_in(dialect, [path], "/nowhere", nowhere);
    let loaded = sources.load();
    (sources, loaded)
}

/// Checks that hold for every file in every dialect.
fn check(dialect: &'static Dialect, path: &PathBuf) -> Loaded {
    let (sources, loaded) = load(dialect, path);
    let name = format!("{} as {}", path.display(), dialect.name);
    for diagnostic in &loaded.diagnostics {
        assert!(!diagnostic.file.is_empty() && !diagnostic.message.is_empty(), "{name}: {diagnostic:?}");
        let is_for_file = ["missing-file", "io-error", "bad-url-pattern", "no-effect"].contains(&diagnostic.code);
        assert!(diagnostic.at.is_some() || is_for_file, "{name}: no position: {diagnostic}");
        assert!(!diagnostic.to_string().contains('\0'), "{name}");
        if let Some(at) = &diagnostic.at {
            assert!(at.place.line > 0 && at.place.column > 0, "{name}: {diagnostic}");
        }
    }
    let unknown = loaded.files[0].status.is_unknown();
    let closed = loaded.hooks.iter().any(|spec| matches!(spec.state, HookState::Broken(_)));
    let has_gates = checkrein::EventKind::ALL.iter().any(|kind| dialect.is_gate(kind));
    assert!(!unknown || closed || !has_gates, "{name}: an open gate");
    // An engine can load the result.
    let engine = Engine::builder().sources(sources).build();
    assert_eq!(engine.diagnostics().len(), loaded.diagnostics.len());
    loaded
}

#[test]
fn every_broken_file_is_reported() {
    let files = corpus();
    assert!(files.len() >= 60, "{}", files.len());
    let mut silent = Vec::new();
    for path in &files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let loaded = check(&native::DIALECT, path);
        if name.starts_with(SUCCESS) {
            assert!(loaded.diagnostics.is_empty(), "{name}: {}", loaded.diagnostics[0]);
            assert_eq!(loaded.files[0].status, FileStatus::Found);
        } else if loaded.diagnostics.is_empty() {
            silent.push(name);
        }
    }
    assert_eq!(silent, [""; 0], "files without diagnostics");
}

#[test]
fn no_file_panics_in_any_dialect() {
    for dialect in dialects::ALL.iter().filter(|dialect| !dialect.config.files.is_empty()) {
        corpus().iter().for_each(|path| drop(check(dialect, path)));
    }
}

#[test]
fn truncated_file_never_panics() {
    let dir = tempfile::tempdir().unwrap();
    let whole = r#"{"include": ["native"], "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"id": "ä", "command": "x", "timeout": 1.5, "env": {"A": "\u00e4"}, "if": "Bash(git *)"}]}]}}"#;
    for (name, text) in [
        ("a.json", whole),
        ("a.yaml", "hooks:\n  PreToolUse:\n  - matcher: &m Bash\n    hooks: [{command: 'ä', id: *m}]\n"),
        ("a.toml", "[[hooks]]\nevents = [\"Stop\"]\ncommand = '''ä'''\nenv = { A = \"\\u00e4\" }\n"),
    ] {
        for end in 0..text.len() {
            let path = dir.path().join(name);
            std::fs::write(&path, &text.as_bytes()[..end]).unwrap();
            check(&native::DIALECT, &path);
        }
    }
}
