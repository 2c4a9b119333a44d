//! Keeps `docs/dependencies.md` honest: the crates that are named in manifests, and the places with `unsafe`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may say so")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The rows of the table under a heading, as cells.
fn table(heading: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let part = text.split("\n## ").find(|part| part.starts_with(heading)).unwrap();
    let rows = part.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn every_crate_is_listed_with_its_users_and_a_reason() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let packages = metadata["packages"].as_array().unwrap();
    let own: BTreeSet<_> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    // The users of each crate. `true`: not only in tests.
    let mut users: BTreeMap<&str, BTreeMap<&str, bool>> = BTreeMap::new();
    for package in packages {
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            if !own.contains(name) {
                let users = users.entry(name).or_default().entry(package["name"].as_str().unwrap()).or_default();
                *users |= dependency["kind"] != "dev";
            }
        }
    }
    let shown = |(user, ships): (&&str, &bool)| if *ships { (*user).to_owned() } else { format!("tests of {user}") };
    let expected: Vec<_> = users
        .iter()
        .map(|(name, users)| (format!("`{name}`"), users.iter().map(shown).collect::<Vec<_>>().join(", ")))
        .collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        update_users(&expected);
    }
    let listed = table("Crates");
    assert!(listed.iter().all(|row| row.len() == 3 && row[2].len() > 10), "each has a reason: {listed:?}");
    let listed: Vec<_> = listed.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    assert_eq!(
        listed, expected,
        "docs/dependencies.md differs: UPDATE_DOCS=1 cargo test -p checkrein-cli --test supply_chain"
    );
}

/// Rewrites the second column of the table. Crates come and go by hand: each needs a reason.
fn update_users(expected: &[(String, String)]) {
    let path = root().join("docs/dependencies.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let updated = text.lines().map(|line| {
        let row = expected.iter().find(|(name, _)| line.starts_with(&format!("| {name} | ")));
        match (row, line.rsplit_once(" | ")) {
            (Some((name, users)), Some((_, reason))) => format!("| {name} | {users} | {reason}\n"),
            _ => format!("{line}\n"),
        }
    });
    std::fs::write(&path, updated.collect::<String>()).unwrap();
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The maximum number of `unsafe` in all crates.
const MOST_UNSAFE: usize = 40;

/// Number of unsafe blocks, functions and impls in code. Comments are ignored.
fn count_unsafe(text: &str) -> usize {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code = code.collect::<Vec<_>>().join("\n");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices("unsafe")
        .filter(|(at, word)| {
            let behind = &code[at + word.len()..];
            let begins =
                ["{", "fn", "impl", "extern", "trait"].iter().any(|what| behind.trim_start().starts_with(what));
            !code[..*at].ends_with(is_word) && !behind.starts_with(is_word) && begins
        })
        .count()
}

#[test]
fn every_unsafe_is_listed_with_a_reason() {
    assert_eq!(count_unsafe("unsafe { x } // unsafe {\nunsafe_code unsafe fn f() {} not_unsafe {"), 2);
    let root = root();
    let mut found = BTreeMap::new();
    for member in std::fs::read_dir(root.join("crates")).unwrap().flatten() {
        let src = member.path().join("src");
        let mut files = Vec::new();
        sources(&src, &mut files);
        for file in files {
            let count = count_unsafe(&std::fs::read_to_string(&file).unwrap());
            if count > 0 {
                found.insert(format!("`{}`", file.strip_prefix(&root).unwrap().display()), count.to_string());
            }
        }
        let main =
            ["lib.rs", "main.rs"].map(|name| std::fs::read_to_string(src.join(name)).unwrap_or_default()).concat();
        let forbids = main.contains("#![forbid(unsafe_code)]");
        let has_unsafe = member.file_name() == "checkrein-process";
        assert_eq!(forbids, !has_unsafe, "{:?}", member.file_name());
    }
    let total: usize = found.values().map(|count| count.parse::<usize>().unwrap()).sum();
    assert!(total <= MOST_UNSAFE, "{total} are more than {MOST_UNSAFE}");
    let listed = table("`unsafe`");
    assert!(listed.iter().all(|row| row.len() == 3 && row[2].len() > 10), "each has a reason: {listed:?}");
    let listed: BTreeMap<_, _> = listed.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    assert_eq!(listed, found, "docs/dependencies.md lists what sources have");
}
