//! The README is true: every command in its `console` blocks is run, and what it prints is compared.
//!
//! The directory `readme` has the files that they are about. `UPDATE_DOCS=1` writes what they print now.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may say so")]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::Place;

/// The directory as the README shows it.
const SHOWN_DIR: &str = "/home/ann/project";

#[test]
fn commands_print_what_the_readme_shows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let place = Place::untrusted(&[]);
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readme"), place.dir.path());
    let (mut renewed, mut rest, mut count) = (String::new(), text.as_str(), 0);
    while let Some((before, block)) = rest.split_once("```console\n") {
        let (block, after) = block.split_once("```").unwrap();
        let real = replay(&place, block);
        count += block.lines().filter(|line| line.starts_with("$ ")).count();
        // Times alone are no reason to change the text.
        let kept = if steady(block) == steady(&real) { block } else { &real };
        renewed += &format!("{before}```console\n{kept}```");
        rest = after;
    }
    renewed += rest;
    assert!(count >= 5, "only {count} commands were found");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &renewed).unwrap();
    } else if renewed != text {
        let line = text.lines().zip(renewed.lines()).position(|(old, new)| old != new).unwrap_or_default();
        panic!(
            "README.md is not current from line {} on: UPDATE_DOCS=1 cargo test -p checkrein-cli --test readme\nit prints:\n{}",
            line + 1,
            renewed.lines().skip(line).take(12).collect::<Vec<_>>().join("\n")
        );
    }
}

/// The block with what its commands really print.
fn replay(place: &Place, block: &str) -> String {
    let mut real = String::new();
    let mut status = 0;
    for command in block.lines().filter(|line| line.starts_with("$ ")) {
        let output = run(place, &command[2..], &mut status);
        real += &format!("{command}\n{output}");
    }
    real
}

/// Runs a line as a shell in the directory would, after one that ended with this status.
fn run(place: &Place, line: &str, status: &mut i32) -> String {
    let program = place.command(&[]);
    let folder = Path::new(program.get_program()).parent().unwrap().to_owned();
    let found = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&found))).unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n(exit {status})\n{line}")])
        .current_dir(place.dir.path())
        .env_clear()
        .env("PATH", path)
        .env("HOME", place.dir.path().join("home"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    *status = output.status.code().unwrap();
    let real = place.dir.path().canonicalize().unwrap();
    String::from_utf8(output.stdout).unwrap().replace(&*real.to_string_lossy(), SHOWN_DIR)
}

/// Without what is different every time: times, fractions, and the blanks that make room for them.
fn steady(text: &str) -> String {
    let is_number =
        |word: &str| word.contains(|c: char| c.is_ascii_digit()) && word.trim_end_matches('%').parse::<f64>().is_ok();
    let mut steady = String::new();
    for line in text.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let mut shown = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let unit = words.get(at + 1).map(|next| next.trim_end_matches([')', ',']));
            let is_time = is_number(word) && unit.is_some_and(|unit| ["µs", "ms", "s"].contains(&unit));
            let is_unit = at > 0 && is_number(words[at - 1]) && ["µs", "ms", "s"].contains(word);
            let is_fraction = is_number(word) && word.contains('.');
            shown.push(if is_time || is_fraction {
                "N"
            } else if is_unit {
                "T"
            } else {
                word
            });
        }
        let indent = line.len() - line.trim_start().len();
        steady += &format!("{:indent$}{}\n", "", shown.join(" "));
    }
    steady
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).unwrap();
        }
    }
}
