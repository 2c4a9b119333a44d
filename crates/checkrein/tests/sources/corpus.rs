//! Files as they should not be. Each is read as every dialect that has files: nothing panics, what is wrong is said, and
//! where. That it ends soon and takes little memory follows from the limits of the reader, not from a clock.
//!
//! What cannot be checked in, such as pipes, circles of links and 50 MiB, is made in `unreadable`.

use std::path::PathBuf;

use checkrein::Engine;
use checkrein::dialects::agents::native;
use checkrein::dialects::{self, Dialect};
use checkrein::hook::HookState;
use checkrein::hook_files::{FileStatus, Loaded, Locations, Sources};

/// Names of files that nothing is wrong with start so.
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

/// What holds for every file in every dialect.
fn check(dialect: &'static Dialect, path: &PathBuf) -> Loaded {
    let (sources, loaded) = load(dialect, path);
    let name = format!("{} as {}", path.display(), dialect.name);
    for told in &loaded.diagnostics {
        assert!(!told.file.is_empty() && !told.message.is_empty(), "{name}: {told:?}");
        let whole = ["missing-file", "io-error", "bad-url-pattern", "no-effect"].contains(&told.code);
        assert!(told.at.is_some() || whole, "{name}: no place: {told}");
        assert!(!told.to_string().contains('\0'), "{name}");
        if let Some(at) = &told.at {
            assert!(at.place.line > 0 && at.place.column > 0, "{name}: {told}");
        }
    }
    let unknown = loaded.files[0].status.is_unknown();
    let closed = loaded.hooks.iter().any(|spec| matches!(spec.state, HookState::Broken(_)));
    let has_gates = checkrein::EventKind::ALL.iter().any(|kind| dialect.is_gate(kind));
    assert!(!unknown || closed || !has_gates, "{name}: an open gate");
    // Whatever was read can be loaded.
    let engine = Engine::builder().sources(sources).build();
    assert_eq!(engine.diagnostics().len(), loaded.diagnostics.len());
    loaded
}

#[test]
fn every_broken_file_is_told_of() {
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
    assert_eq!(silent, [""; 0], "nothing is said of them");
}

#[test]
fn no_file_breaks_any_dialect() {
    for dialect in dialects::ALL.iter().filter(|dialect| !dialect.config.files.is_empty()) {
        corpus().iter().for_each(|path| drop(check(dialect, path)));
    }
}

#[test]
fn a_file_cut_off_anywhere_is_never_a_panic() {
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
