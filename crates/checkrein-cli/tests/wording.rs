//! Checks the mechanical rules of `docs/STYLE.md` over sources, documents, snapshots and help output: words that are not
//! used, and first words of doc comments.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Words and phrases to avoid. Each is matched as whole words, in any letter case.
const AVOIDED: &[&str] = &[
    "nobody",
    "somebody",
    "whoever",
    "anybody",
    "everybody",
    "he",
    "his",
    "him",
    "is told",
    "are told",
    "was told",
    "were told",
    "be told",
    "taken for",
    "mend",
    "mends",
    "mended",
    "passed over",
    "in vain",
    "anew",
    "all the same",
    "gives leave",
    "stands still",
];

/// First words that a doc comment does not have.
const OPENINGS: &[&str] = &["What", "Whether", "How", "Where", "Which", "Whose", "Who", "The same", "It"];

/// Lines that may have such words: a part of the path, a part of the line, and the reason.
const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("docs/STYLE.md", "", "the page lists words to avoid"), ("tests/wording.rs", "", "this list")];

/// Data that other projects or agents wrote.
const FOREIGN: &[&str] = &["tests/captures", "tests/corpus", "captures.tsv", "/target/", "LICENSE"];

#[test]
fn sources_and_documents_use_plain_words() {
    let mut found = Vec::new();
    for (path, text) in files(&["rs", "md", "snap", "yaml", "yml", "toml", "svg"]) {
        for (number, line) in text.lines().enumerate() {
            found.extend(avoided_in(line).map(|word| format!("{path}:{}: `{word}`: {}", number + 1, line.trim())));
        }
    }
    found.retain(|line| !is_exception(line));
    assert!(found.is_empty(), "{} lines with words that docs/STYLE.md replaces:\n{}", found.len(), found.join("\n"));
}

#[test]
fn doc_comments_start_with_a_noun_or_a_verb() {
    let mut found = Vec::new();
    for (path, text) in files(&["rs"]) {
        let mut previous = "";
        for (number, line) in text.lines().map(str::trim).enumerate() {
            if is_doc_comment(line) && !is_doc_comment(previous) {
                let words = line[3..].trim_start();
                if OPENINGS.iter().any(|opening| starts_with_word(words, opening)) {
                    found.push(format!("{path}:{}: {line}", number + 1));
                }
            }
            previous = line;
        }
    }
    assert!(found.is_empty(), "{} doc comments with such a first word:\n{}", found.len(), found.join("\n"));
}

#[test]
fn help_uses_plain_words() {
    let mut pending = vec![Vec::new()];
    let mut pages = 0;
    while let Some(words) = pending.pop() {
        let help = help(&words);
        pages += 1;
        for line in help.lines() {
            let word = avoided_in(line).next();
            assert!(
                word.is_none(),
                "`checkrein {} --help` has `{}`: {line}",
                words.join(" "),
                word.unwrap_or_default()
            );
        }
        pending.extend(commands(&help).into_iter().map(|name| [words.clone(), vec![name]].concat()));
    }
    assert!(pages > 20, "only {pages} pages of help were found");
}

#[test]
fn the_exception_list_is_short_and_in_use() {
    assert!(EXCEPTIONS.len() <= 20);
    let all = files(&["rs", "md", "snap", "yaml", "yml", "toml", "svg"]);
    for (path, part, reason) in EXCEPTIONS {
        assert!(!reason.is_empty());
        let is_used = all
            .iter()
            .filter(|(file, _)| file.contains(path))
            .any(|(_, text)| text.lines().any(|line| line.contains(part) && avoided_in(line).next().is_some()));
        assert!(is_used, "no line needs the exception ({path}, {part})");
    }
}

/// Avoided words of a line.
fn avoided_in(line: &str) -> impl Iterator<Item = &'static str> {
    let line = line.to_lowercase();
    AVOIDED.iter().copied().filter(move |word| {
        line.match_indices(word).any(|(start, _)| {
            let before = line[..start].chars().next_back();
            let after = line[start + word.len()..].chars().next();
            !before.is_some_and(is_word_character) && !after.is_some_and(is_word_character)
        })
    })
}

fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn is_exception(found: &str) -> bool {
    EXCEPTIONS.iter().any(|(path, part, _)| found.contains(path) && found.contains(part))
}

fn is_doc_comment(line: &str) -> bool {
    (line.starts_with("///") || line.starts_with("//!")) && !line.starts_with("////")
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.chars().next().is_some_and(is_word_character))
}

/// Help of a command.
fn help(words: &[String]) -> String {
    let program = assert_cmd::cargo::cargo_bin("checkrein");
    let output = Command::new(program).args(words).arg("--help").env("NO_COLOR", "1").output().unwrap();
    assert!(output.status.success(), "`checkrein {} --help` failed", words.join(" "));
    String::from_utf8(output.stdout).unwrap()
}

/// Names of the commands that a help page lists: indented words that have help of their own.
fn commands(help: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_list = false;
    for line in help.lines() {
        if !line.starts_with(' ') && !line.is_empty() {
            is_list = line.ends_with(':')
                && !["Options:", "Global options:", "Arguments:", "Exit codes:", "Example:"].contains(&line);
            continue;
        }
        let name = line.split_whitespace().next().unwrap_or_default();
        let is_name =
            !name.is_empty() && name.chars().all(|character| character.is_ascii_lowercase() || character == '-');
        if is_list && line.starts_with("  ") && !line.starts_with("   ") && is_name && name != "help" {
            names.push(name.to_owned());
        }
    }
    names
}

/// Text files of the repository with one of these extensions, by path below its root.
fn files(extensions: &[&str]) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in [".github", "crates", "docs", "fuzz"] {
        collect(&root.join(folder), &mut found);
    }
    found.extend(fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()));
    let mut texts = Vec::new();
    for path in found {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        let is_asked_for = path.extension().is_some_and(|own| extensions.iter().any(|extension| own == *extension));
        if is_asked_for && !FOREIGN.iter().any(|part| format!("/{name}").contains(part)) {
            texts.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(texts.len() > 100, "only {} files were found", texts.len());
    texts.sort();
    texts
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                collect(&path, found);
            }
        } else {
            found.push(path);
        }
    }
}
