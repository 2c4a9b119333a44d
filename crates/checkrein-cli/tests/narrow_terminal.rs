//! Lines of reports break between words on a narrow terminal, and stay whole elsewhere.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::{Place, terminal};

const COLUMNS: usize = 60;

const PROJECT: &str = "hooks:
  - id: guard-with-a-rather-long-name
    event: PreToolUse
    matcher: Bash|Write|Edit|MultiEdit
    if: Bash(git push *)
    description: a text of many words that does not fit into one line of a narrow terminal
    command: python3 scripts/check.py --strict --all --verbose --report target/report.txt --limit 100
  - {id: unknown, event: PreToolUse, builtin: nothing_like_it}
";

/// Returns the lines without colors.
fn lines(shown: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = shown;
    while let Some((before, escape)) = rest.split_once('\u{1b}') {
        text += before;
        let end = escape.find(|c: char| c.is_ascii_alphabetic()).map_or(escape.len(), |at| at + 1);
        rest = &escape[end..];
    }
    text += rest;
    text.lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn lists_of_hooks_fit_the_terminal() {
    let place = Place::untrusted(&[(".checkrein/hooks.yaml", PROJECT)]);
    for arguments in [&["list"][..], &["trust", "--no-pager"], &["trust", "check"]] {
        let columns = u16::try_from(COLUMNS).unwrap();
        let (_, shown) = terminal::talk(place.command(arguments), columns, &[]);
        let lines = lines(&shown);
        assert!(lines.len() > 2, "{shown}");
        for line in &lines {
            let has_words = line.trim_start().contains(' ');
            assert!(line.chars().count() <= COLUMNS || !has_words, "{arguments:?}: {line:?}\n{shown}");
        }
    }
    let whole = place.run(&["list"]).stdout;
    assert!(
        whole.contains("guard-with-a-rather-long-name  on Bash|Write|Edit|MultiEdit  if Bash(git push *)"),
        "{whole}"
    );
}

/// A list of all builtins would fill several lines.
#[test]
fn message_about_an_unknown_builtin_is_short() {
    let place = Place::with(&[("hooks.yaml", "hooks: [{id: x, event: PreToolUse, builtin: nothing_like_it}]\n")]);
    let ran = place.run(&["check", "hooks.yaml"]);
    let text = format!("{}{}", ran.stdout, ran.stderr);
    let line = text.lines().find(|line| line.contains("unknown builtin")).unwrap();
    assert!(line.contains("docs/builtins.md lists the ") && line.len() < 160, "{text}");
    let near = Place::with(&[("hooks.yaml", "hooks: [{id: x, event: PreToolUse, builtin: redact_secret}]\n")]);
    let ran = near.run(&["check", "hooks.yaml"]);
    assert!(format!("{}{}", ran.stdout, ran.stderr).contains("did you mean `redact_secrets`?"), "{ran:?}");
}
