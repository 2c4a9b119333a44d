//! Every claim of `SECURITY.md` has a test, and every test of an attack has a claim.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// `PATH.rs::NAME` in backticks.
fn named(text: &str) -> BTreeSet<(String, String)> {
    let parts = text.split('`').skip(1).step_by(2);
    parts
        .filter_map(|part| part.split_once(".rs::"))
        .map(|(file, name)| (format!("{file}.rs"), name.to_owned()))
        .collect()
}

/// Functions of a file that are tests.
fn tests_in(file: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut tests = BTreeSet::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        let function = line.trim_start_matches("async ").strip_prefix("fn ");
        match function.and_then(|rest| rest.split('(').next()) {
            Some(name) if std::mem::take(&mut is_test) => drop(tests.insert(name.to_owned())),
            _ => {
                is_test = (is_test && line.starts_with("#["))
                    || line.starts_with("#[test]")
                    || line.starts_with("#[tokio::test");
            }
        }
    }
    tests
}

#[test]
fn every_claim_has_a_test_and_every_attack_a_claim() {
    let text = std::fs::read_to_string(root().join("SECURITY.md")).unwrap();
    let named = named(&text);
    for (file, name) in &named {
        assert!(tests_in(&root().join(file)).contains(name), "SECURITY.md names {file}::{name}, which is no test");
    }
    // A claim is an entry of a list below the heading of the claims.
    let defended = text.split("\n## ").find(|part| part.starts_with("What is defended")).unwrap();
    for claim in defended.split("\n- ").skip(1) {
        assert!(claim.contains(".rs::"), "a claim without a test: {claim}");
    }
    let directory = "crates/checkrein-cli/tests/attacks";
    for entry in std::fs::read_dir(root().join(directory)).unwrap().flatten() {
        let file = entry.file_name().into_string().unwrap();
        for name in tests_in(&entry.path()).into_iter().filter(|_| file != "claims.rs") {
            let of = (format!("{directory}/{file}"), name);
            assert!(named.contains(&of), "{}::{} is not in SECURITY.md", of.0, of.1);
        }
    }
}
