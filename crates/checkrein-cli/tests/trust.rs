//! `checkrein trust`, and commands with hooks that are not approved.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::os::unix::fs::PermissionsExt as _;

use common::Place;
use serde_json::Value;

const FILE: &str = ".checkrein/hooks.yaml";
const HOOKS: &str = "hooks:\n  - {id: guard, event: PreToolUse, command: ./guard.sh}\n";
const SENT: &str = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;

fn cloned() -> Place {
    let place = Place::untrusted(&[(FILE, HOOKS)]);
    place.write("guard.sh", &guard(&place));
    place
}

/// Script that creates a file and denies.
fn guard(place: &Place) -> String {
    let trace = place.dir.path().join("ran");
    format!("#!/bin/sh\ntouch '{}'\necho no >&2\nexit 2\n", trace.display())
}

fn ran(place: &Place) -> bool {
    place.dir.path().join("ran").exists()
}

#[test]
fn no_command_runs_unapproved_hooks() {
    let case = "cases: [{name: c, event: PreToolUse, expect: {decision: deny}}]";
    let place = cloned();
    place.write(".checkrein/tests/c.yaml", case);
    place.write("session.jsonl", "");
    for arguments in [
        &["run", "PreToolUse"][..],
        &["test"],
        &["test", "--contract"],
        &["simulate", "--speed", "0"],
        &["bench", "--runs", "1", "--warmup", "0"],
        &["explain", "PreToolUse"],
        &["list"],
        &["check"],
        &["trust"],
    ] {
        place.run(arguments);
        assert!(!ran(&place), "{arguments:?}");
    }
    place.run_with(&["hook", "claude"], SENT);
    assert!(!ran(&place));
}

#[test]
fn run_reports_unapproved_hooks_and_does_not_block() {
    let place = cloned();
    let ran = place.run(&["run", "PreToolUse"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains(" .checkrein/hooks.yaml:2") && ran.stdout.contains("checkrein trust"), "{ran:?}");
    let ran = place.run_with(&["hook", "claude"], SENT);
    assert!(ran.code == 0 && !ran.stdout.contains("deny"), "{ran:?}");
    assert!(ran.stdout.contains("you have not approved it; `checkrein trust` shows it"), "{ran:?}");
    assert!(place.run(&["list"]).stdout.contains("[not approved]"));
    assert!(place.run(&["explain", "PreToolUse"]).stdout.contains("you have not approved it"));
}

#[test]
fn trust_all_runs_unapproved_hooks() {
    for arguments in
        [&["run", "PreToolUse", "--trust-all"][..], &["bench", "--runs", "1", "--warmup", "0", "--trust-all"]]
    {
        let place = cloned();
        place.run(arguments);
        assert!(ran(&place), "{arguments:?}");
    }
    let place = cloned();
    assert!(place.run_with(&["hook", "claude", "--trust-all"], SENT).stdout.contains("deny"));
    // No variable has this effect.
    let place = cloned();
    let mut command = place.command(&["run", "PreToolUse"]);
    command.envs([("CHECKREIN_TRUST_ALL", "1"), ("CHECKREIN_TRUST", "all"), ("TRUST_ALL", "1")]);
    assert!(command.output().unwrap().status.success() && !ran(&place));
}

#[test]
fn named_config_file_needs_no_approval() {
    let place = cloned();
    assert_eq!(place.run(&["run", "PreToolUse", "--config", FILE]).code, 2);
    let place = cloned();
    assert!(place.run_with(&["hook", "claude", "--config", FILE], SENT).stdout.contains("deny"));
    assert!(ran(&place));
}

#[test]
fn test_case_does_not_approve_its_config() {
    let place = Place::untrusted(&[("evil.yaml", HOOKS), (FILE, "hooks: []\n")]);
    place.write("guard.sh", &guard(&place));
    place.write(
        ".checkrein/tests/c.yaml",
        "cases: [{name: c, config: ../../evil.yaml, event: PreToolUse, expect: {decision: deny}}]",
    );
    let tested = place.run(&["test"]);
    assert_eq!(tested.code, 1, "{tested:?}");
    let approved = place.run(&["trust", "approve", "--all", "--yes", "--config", "evil.yaml"]);
    assert_eq!(approved.code, 0, "{approved:?}");
    let tested = place.run(&["test"]);
    assert_eq!(tested.code, 0, "{tested:?}");
    // A case does not replace an approved script either.
    place.write(
        ".checkrein/tests/c.yaml",
        "cases: [{name: c, config: ../../evil.yaml, event: PreToolUse, files: {guard.sh: \"#!/bin/sh\\necho other >&2; exit 2\\n\"}, expect: {reason: ^other}}]",
    );
    let tested = place.run(&["test"]);
    assert!(tested.code == 1 && tested.stdout.contains("differs from the approved script"), "{tested:?}");
}

#[test]
fn approval_of_a_dry_run_does_not_cover_enforcement() {
    let place = cloned();
    let hooks = |more: &str| format!("hooks:\n  - {{id: guard, event: PreToolUse, command: ./guard.sh{more}}}\n");
    place.write(FILE, &hooks(", dry_run: true"));
    let approved = place.run(&["trust", "approve", "--all", "--yes"]);
    assert!(approved.code == 0 && approved.stdout.contains("dry run: yes"), "{approved:?}");
    let answer = place.run_with(&["hook", "claude"], SENT);
    assert!(ran(&place) && !answer.stdout.contains("deny"), "{answer:?}");
    std::fs::remove_file(place.dir.path().join("ran")).unwrap();
    // Without dry run, the hook would decide.
    place.write(FILE, &hooks(""));
    assert_eq!(place.run(&["trust", "check"]).code, 1);
    let answer = place.run_with(&["hook", "claude"], SENT);
    assert!(!ran(&place), "{answer:?}");
    assert!(answer.stdout.contains("`dry run` changed since it was approved"), "{answer:?}");
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    assert!(place.run_with(&["hook", "claude"], SENT).stdout.contains("deny") && ran(&place));
    // An approval of enforcement does not cover a dry run either: the user relies on the guard.
    place.write(FILE, &hooks(", dry_run: true"));
    assert_eq!(place.run(&["trust", "check"]).code, 1);
    let answer = place.run_with(&["hook", "claude"], SENT).stdout;
    assert!(answer.contains("deny") && answer.contains("`dry run` changed since it was approved"), "{answer}");
}

#[test]
fn approved_hook_runs_in_all_commands() {
    let place = cloned();
    place.write(
        ".checkrein/tests/c.yaml",
        "cases: [{name: c, event: PreToolUse, expect: {decision: deny, reason: ^no$}}]",
    );
    let approved = place.run(&["trust", "approve", "guard", "--yes"]);
    assert!(
        approved.code == 0 && approved.stdout.contains("./guard.sh") && approved.stdout.contains("| echo no >&2"),
        "{approved:?}"
    );
    assert_eq!(place.run(&["run", "PreToolUse"]).code, 2);
    assert!(place.run_with(&["hook", "claude"], SENT).stdout.contains(r#""permissionDecisionReason":"no""#));
    assert_eq!(place.run(&["test"]).code, 0);
    assert_eq!(place.run(&["trust", "check"]).code, 0);
}

#[test]
fn changed_script_is_shown_as_a_diff_and_blocks() {
    let place = cloned();
    place.run(&["trust", "approve", "--all", "--yes"]);
    place.write("guard.sh", &guard(&place).replace("echo no", "echo yes"));
    let listed = place.run(&["trust"]);
    for part in [
        "guard  changed",
        "-echo no >&2",
        "+echo yes >&2",
        "0 approved, 1 waiting - approve with: checkrein trust approve --all",
    ] {
        assert!(listed.stdout.contains(part), "{part}: {}", listed.stdout);
    }
    let answered = place.run_with(&["hook", "claude"], SENT);
    assert!(answered.stdout.contains("deny") && answered.stdout.contains("guard.sh has changed"), "{answered:?}");
    assert_eq!(place.run(&["run", "PreToolUse"]).code, 4);
    let tested = place.run(&["test", "--contract"]);
    assert!(!tested.stdout.contains("echo yes"), "{tested:?}");
    assert_eq!(place.run(&["trust", "check"]).code, 1);
    assert!(place.run(&["list"]).stdout.contains("has changed since it was approved"));
    place.write("guard.sh", &guard(&place));
    place.write(FILE, "hooks:\n  - {id: guard, event: PreToolUse, command: ./guard.sh --all}\n");
    let listed = place.run(&["trust", "list"]).stdout;
    assert!(listed.contains("-command: ./guard.sh\n") && listed.contains("+command: ./guard.sh --all"), "{listed}");
}

#[test]
fn approve_without_terminal_needs_yes() {
    let place = cloned();
    let approved = place.run(&["trust", "approve", "--all"]);
    assert!(approved.code == 1 && approved.stderr.contains("--yes"), "{approved:?}");
    assert_eq!(place.run(&["trust", "check"]).code, 1);
    for wrong in [
        &["trust", "approve"][..],
        &["trust", "approve", "gard", "--yes"],
        &["trust", "approve", "--file", "x", "--yes"],
        &["trust", "revoke"],
    ] {
        assert_eq!(place.run(wrong).code, 64, "{wrong:?}");
    }
    assert!(place.run(&["trust", "approve", "gard", "--yes"]).stderr.contains("did you mean `guard`"));
}

#[test]
fn hooks_are_approved_and_revoked_by_file() {
    let place = cloned();
    place.write(".checkrein/hooks.local.yaml", "hooks: [{id: mine, event: Stop, command: 'true'}]");
    place.run(&["trust", "approve", "--file", ".checkrein/hooks.local.yaml", "--yes"]);
    let (code, json) = place.run_json(&["trust", "check", "--json"]);
    assert_eq!((code, &json["awaiting"], &json["hooks"][0]["id"]), (1, &Value::from(1), &Value::from("guard")));
    let revoked = place.run(&["trust", "revoke", "--file", ".checkrein/hooks.local.yaml"]);
    assert!(revoked.code == 0 && revoked.stderr.contains("1 approval"), "{revoked:?}");
    assert_eq!(place.run(&["trust", "revoke", "--all"]).code, 1);
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let place = Place::untrusted(&[
        (FILE, "hooks: [{id: \"a\\e[31m\", event: Stop, command: \"echo \\e[2J\\u202e; ./x.sh\"}]"),
        ("x.sh", "#!/bin/sh\necho \u{1b}[8m hidden \u{202e}\n"),
    ]);
    let listed = place.run(&["trust"]);
    assert!(!listed.stdout.contains(['\u{1b}', '\u{202e}']) && listed.stdout.contains("hidden"), "{listed:?}");
}

/// Invisible characters, NULs and other bytes of a script and of its entry.
#[test]
fn review_shows_what_a_terminal_would_hide() {
    // The bytes of a script, and the text that the user sees.
    let cases: &[(&[u8], &str)] = &[
        (b"echo a\0b", "| echo a<U+0000>b"),
        (b"#\0", "| #<U+0000>"),
        ("rm\u{200b} x".as_bytes(), "| rm<U+200B> x"),
        ("a\u{61c}b\u{2066}c".as_bytes(), "| a<U+061C>b<U+2066>c"),
        ("\u{feff}x".as_bytes(), "| <U+FEFF>x"),
        ("x\u{3164}y\u{2800}z\u{e0041}".as_bytes(), "| x<U+3164>y<U+2800>z<U+E0041>"),
        ("x\u{2028}rm".as_bytes(), "| x<U+2028>rm"),
        ("true\u{a0}x".as_bytes(), "| true<U+00A0>x"),
        (b"x \xff\xfe", "| x <0xFF><0xFE>"),
        (b"x\rrm", "| x<U+000D>rm"),
        (b"x\r\n", "| x<U+000D>"),
        (b"echo '<U+200B>'", "| echo '<U+003C>U+200B>'"),
        (b"echo '<0xFF>'", "| echo '<U+003C>0xFF>'"),
    ];
    for (bytes, shown) in cases {
        let place = cloned();
        std::fs::write(place.dir.path().join("guard.sh"), [b"#!/bin/sh\n", *bytes, b"\n"].concat()).unwrap();
        let ran = place.run(&["trust", "approve", "--all", "--yes"]);
        assert!(ran.stdout.contains(&format!("{shown}\n")), "{shown}: {}", ran.stdout);
        assert!(ran.stdout.contains("note: contains "), "{shown}: {}", ran.stdout);
    }
    let place = cloned();
    place.write(
        FILE,
        "hooks:\n  - {id: \"gu\u{200b}ard\", event: PreToolUse, command: \"./guard.sh \u{2060}a\u{2060}\"}\n",
    );
    let ran = place.run(&["trust", "approve", "--all", "--yes"]);
    assert!(ran.stdout.contains("gu<U+200B>ard") && ran.stdout.contains("./guard.sh <U+2060>a<U+2060>"), "{ran:?}");
    assert!(ran.stdout.contains("contains 2 invisible characters, shown as <U+2060>"), "{ran:?}");
    // Machine code is not shown, and the output says so.
    let place = cloned();
    std::fs::write(place.dir.path().join("guard.sh"), b"\x7fELF\0\0\n").unwrap();
    let ran = place.run(&["trust", "approve", "--all", "--yes"]);
    assert!(ran.stdout.contains("machine code that is not shown, 7 bytes, sha256 "), "{ran:?}");
}

/// Every change of bytes is a visible difference.
#[test]
fn review_shows_every_changed_byte() {
    let cases: &[(&[u8], &[u8], &str, &str)] = &[
        (b"x \xff", b"x \xfe", "-x <0xFF>", "+x <0xFE>"),
        (b"x", "x\u{200b}".as_bytes(), "-x", "+x<U+200B>"),
        (b"x", b"x\r", "-x", "+x<U+000D>"),
        (b"x\0", b"x\0\0", "-x<U+0000>", "+x<U+0000><U+0000>"),
        ("\u{200b}".as_bytes(), b"<U+200B>", "-<U+200B>", "+<U+003C>U+200B>"),
        ("e\u{301}cho".as_bytes(), "\u{e9}cho".as_bytes(), "-e<U+0301>cho", "+<U+00E9>cho"),
        (b"cat p", "c\u{430}t p".as_bytes(), "-cat p", "+c<U+0430>t p"),
        ("# \u{fc}ber a".as_bytes(), "# \u{fc}ber b".as_bytes(), "-# \u{fc}ber a", "+# \u{fc}ber b"),
    ];
    for (old, new, removed, added) in cases {
        let place = cloned();
        let write = |bytes: &[u8]| {
            let text = [b"#!/bin/sh\n", bytes, b"\n"].concat();
            std::fs::write(place.dir.path().join("guard.sh"), text).unwrap();
        };
        write(old);
        assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
        write(new);
        let shown = place.run(&["trust", "approve", "--all", "--yes"]).stdout;
        for line in [removed, added] {
            assert!(shown.lines().any(|shown| shown.trim_start() == *line), "{line}: {shown}");
        }
    }
}

#[test]
fn init_approves_the_starter_set_and_no_imported_hook() {
    let place = Place::untrusted(&[]);
    let written = place.run(&["init", "--project", "--yes"]);
    assert!(written.code == 0 && written.stderr.contains("approved"), "{written:?}");
    assert_eq!(place.run(&["trust", "check"]).code, 0);
    // Hooks that came with the repository wait for approval.
    let settings = r#"{"hooks": {"PreToolUse": [{"hooks": [
        {"type": "command", "command": "./guard.sh"}, {"type": "command", "command": "echo shown"}]}]}}"#;
    let place = Place::untrusted(&[(".claude/settings.json", settings)]);
    place.write("guard.sh", &guard(&place));
    let written = place.run(&["init", "--from", "claude"]);
    assert!(written.code == 0 && written.stderr.contains("2 hooks not approved yet; review with"), "{written:?}");
    let (code, json) = place.run_json(&["trust", "check", "--json"]);
    assert_eq!((code, json["hooks"].as_array().map(Vec::len)), (1, Some(2)), "{json}");
    assert_eq!(json["hooks"][0]["scripts"][0]["name"], "guard.sh");
    // Nor do they become the user's own hooks, which need no approval.
    let refused = place.run(&["init", "--from", "claude", "--user", "--yes", ".claude/settings.json"]);
    assert!(refused.code == 1 && refused.stderr.contains("import it without --user"), "{refused:?}");
    assert!(!place.dir.path().join("home/.config/checkrein/hooks.json").exists());
}

#[test]
fn concurrent_approvals_are_all_kept() {
    let hooks: Vec<_> = (0..8).map(|at| format!("{{id: h{at}, event: Stop, command: 'echo {at}'}}")).collect();
    let place = Place::untrusted(&[(FILE, &format!("hooks: [{}]", hooks.join(", ")))]);
    let each = |verb: &str| {
        std::thread::scope(|scope| {
            for at in 0..8 {
                let place = &place;
                let id = format!("h{at}");
                scope.spawn(move || {
                    let words: &[&str] =
                        if verb == "approve" { &["trust", verb, &id, "--yes"] } else { &["trust", verb, &id] };
                    let ran = place.run(words);
                    assert_eq!(ran.code, 0, "{ran:?}");
                });
            }
        });
    };
    each("approve");
    let (code, json) = place.run_json(&["trust", "list", "--json"]);
    assert_eq!((code, &json["awaiting"]), (0, &Value::from(0)));
    each("revoke");
    assert_eq!(place.run_json(&["trust", "list", "--json"]).1["awaiting"], 8);
    // No temporary files remain, and only the user can read the files.
    let trust = place.home.path().join(".local/state/checkrein/trust");
    for entry in std::fs::read_dir(&trust).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(name == "lock" || name.ends_with(".jsonl"), "{name}");
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0);
    }
}

#[test]
fn approve_asks_about_each_hook_on_a_terminal() {
    let place = cloned();
    let answer = |text: &str| {
        let command = place.command(&["trust", "approve", "--all"]);
        common::terminal::talk(command, 100, &[("approve `guard`? [y/N/all]", common::terminal::Does::Types(text))])
    };
    let (code, _) = answer("\n");
    assert_eq!((code, place.run(&["trust", "check"]).code), (1, 1), "an empty answer approves nothing");
    let (code, shown) = answer("y\n");
    assert!(code == 0 && shown.contains("touch"), "{shown}");
    assert_eq!(place.run(&["trust", "check"]).code, 0);
}

#[test]
fn rules_of_a_pack_are_shown_together_and_approved_with_one_answer() {
    let hooks =
        "packs:\n  - { pack: git, set: { protected: [trunk] } }\nhooks:\n  - { id: a, event: Stop, command: 'true' }\n";
    let place = Place::untrusted(&[(".checkrein/hooks.yaml", hooks)]);
    for arguments in [&["trust"][..], &["trust", "approve", "--all", "--yes"]] {
        let ran = place.run(arguments);
        assert_eq!(ran.stdout.matches("pack git  not approved").count(), 1, "{ran:?}");
        let delete = "git.delete-remote: deny; parameter: protected: [\"trunk\"]; if unknown: open";
        for rule in ["git.force-push: deny; parameter: protected: [\"trunk\"]", "git.reset-hard: ask", delete] {
            assert!(ran.stdout.lines().any(|line| line.trim() == rule), "{rule}: {ran:?}");
        }
    }
    assert_eq!(place.run(&["trust", "check"]).code, 0);
    // A changed rule is shown on its own, with the difference.
    place.write(".checkrein/hooks.yaml", &hooks.replace("[trunk]", "[other]"));
    let ran = place.run(&["trust"]);
    assert!(ran.stdout.contains("-parameter: protected: [\"trunk\"]"), "{ran:?}");
    // One answer covers the rules of the pack.
    let place = Place::untrusted(&[(".checkrein/hooks.yaml", hooks)]);
    let command = place.command(&["trust", "approve", "--file", ".checkrein/hooks.yaml", "--no-pager"]);
    let answers = &[
        ("approve `a`? [y/N/all]", common::terminal::Does::Types("n\n")),
        ("rules of the pack `git`? [y/N/all]", common::terminal::Does::Types("y\n")),
    ];
    let (code, shown) = common::terminal::talk(command, 100, answers);
    assert_eq!(code, 1, "{shown}");
    let ran = place.run(&["trust"]);
    assert!(!ran.stdout.contains("pack git") && ran.stdout.contains("a  not approved"), "{ran:?}");
}

#[test]
fn status_effective_shows_the_approval_state() {
    let place = cloned();
    let state = |place: &Place| {
        let (_, shown) = place.run_json(&["status", "--effective", "--json"]);
        let guard = shown["hooks"].as_array().unwrap().iter().find(|hook| hook["id"] == "guard").unwrap();
        guard["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(&place), "untrusted");
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    assert_eq!(state(&place), "ready");
    place.write("guard.sh", "#!/bin/sh\nexit 0\n");
    assert_eq!(state(&place), "changed");
}

#[test]
fn trust_rejects_trust_all() {
    let place = cloned();
    for arguments in [&["trust", "check", "--trust-all"][..], &["trust", "list", "--trust-all"]] {
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{ran:?}");
    }
}

#[test]
fn check_counts_approved_and_waiting_hooks() {
    let place = Place::untrusted(&[]);
    let check = || place.run(&["trust", "check"]);
    assert_eq!((check().code, check().stdout.as_str()), (0, "no hooks here need approval\n"));
    let hook = |id: &str| format!("  - {{id: {id}, event: [PreToolUse, Stop], command: echo {id}}}\n");
    place.write(".checkrein/hooks.yaml", &format!("hooks:\n{}{}{}", hook("a"), hook("bcd"), hook("e")));
    assert_eq!(place.run(&["trust", "approve", "a", "--yes"]).code, 0);
    let said = "bcd  not approved  .checkrein/hooks.yaml:3\ne    not approved  .checkrein/hooks.yaml:4\n\
                1 approved, 2 waiting - approve with: checkrein trust approve --all\n";
    assert_eq!((check().code, check().stdout.as_str()), (1, said));
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    assert_eq!((check().code, check().stdout.as_str()), (0, "all 3 hooks are approved\n"));
    assert_eq!(place.run(&["trust", "lock"]).code, 0);
    let locked = place.run(&["trust", "check", "--lock"]);
    assert_eq!((locked.code, locked.stdout.as_str()), (0, "checkrein.lock is up to date (3 hooks)\n"));
}

#[cfg(unix)]
mod on_a_terminal {
    use super::common::terminal::{Does, talk};
    use super::*;

    /// Hooks whose review is longer than the terminal.
    fn place() -> Place {
        let lines: String = (0..40).map(|number| format!("# line {number}\n")).collect();
        let hooks = "hooks:\n  - {id: a, event: Stop, command: ./a.sh}\n  - {id: b, event: Stop, command: 'true'}\n";
        Place::untrusted(&[(".checkrein/hooks.yaml", hooks), ("a.sh", &format!("#!/bin/sh\n{lines}"))])
    }

    #[test]
    fn all_hooks_are_approved_with_one_answer() {
        for (answer, code, approved) in [("y\n", 0, 2), ("n\n", 1, 0), ("\n", 1, 0)] {
            let place = place();
            let command = place.command(&["trust", "approve", "--all", "--no-pager"]);
            let (ended, shown) = talk(command, 100, &[("approve all 2 hooks? [y/N/each]", Does::Types(answer))]);
            assert_eq!(ended, code, "{shown}");
            assert!(shown.contains("# line 39") && !shown.contains("approve `a`?"), "{shown}");
            assert!(shown.contains(&format!("approved {approved} hooks")), "{shown}");
        }
        let place = place();
        let answers = &[
            ("[y/N/each]", Does::Types("each\n")),
            ("approve `a`?", Does::Types("n\n")),
            ("approve `b`?", Does::Types("y\n")),
        ];
        let (ended, shown) = talk(place.command(&["trust", "approve", "--all", "--no-pager"]), 100, answers);
        assert!(ended == 1 && shown.contains("approved 1 hook\r\n"), "{shown}");
    }

    #[test]
    fn long_reviews_go_through_the_pager() {
        let place = place();
        let pager = "sed 's/^/paged: /'";
        for (arguments, is_paged) in [
            (&["trust"][..], true),
            (&["trust", "list"], true),
            (&["trust", "--no-pager"], false),
            (&["trust", "approve", "--all", "--yes"], true),
        ] {
            let mut command = place.command(arguments);
            command.env("PAGER", pager);
            let (_, shown) = talk(command, 100, &[]);
            assert!(shown.contains("# line 39"), "{shown}");
            assert_eq!(shown.contains("paged: "), is_paged, "{arguments:?}: {shown}");
        }
        place.run(&["trust", "revoke", "--all"]);
        let mut command = place.command(&["trust"]);
        command.env("PAGER", "no-such-pager");
        assert!(talk(command, 100, &[]).1.contains("# line 39"), "a missing pager loses nothing");
        let mut command = place.command(&["trust"]);
        let piped = place.ran(command.env("PAGER", pager).output().unwrap());
        assert!(piped.stdout.contains("# line 39") && !piped.stdout.contains("paged"), "{piped:?}");
    }
}
