//! The tools for rules through the program: `check`, `test`, `try`, `run` and `explain` of rules.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::{Place, Ran};
use serde_json::{Value, json};

const USER: &str = "home/.config/checkrein/hooks.yaml";

const TESTED: &str = r#"hooks:
  - id: no-push
    when: commands.exists(c, c.program == "git" && c.subcommand == "push")
    deny: open a pull request
    tests:
      - { command: git push, want: deny }
      - { command: git status, want: none }
      - { command: docker push x, want: none }
"#;

fn user(hooks: &str) -> Place {
    Place::untrusted(&[(USER, hooks)])
}

/// A rule with this condition.
fn rule(when: &str) -> String {
    format!("hooks:\n  - id: x\n    when: {}\n    deny: no\n", json!(when))
}

fn check(hooks: &str) -> Ran {
    user(hooks).run(&["check"])
}

fn hook(place: &Place, payload: &Value) -> Ran {
    place.run_with(&["hook", "claude"], &payload.to_string())
}

fn shell(command: &str) -> Value {
    json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": { "command": command } })
}

#[test]
fn test_fails_if_a_rule_is_not_loaded() {
    for broken in ["5", "commands.exists(c, c.prgram == \"x\")"] {
        let place = Place::untrusted(&[
            (USER, TESTED),
            (".checkrein/hooks.yaml", &format!("hooks:\n  - id: y\n    when: {broken}\n    deny: no\n")),
        ]);
        let ran = place.run(&["test", "--trust-all"]);
        assert!(ran.code == 1 && ran.stdout.contains("3 passed") && ran.stdout.contains("error:"), "{broken}: {ran:?}");
    }
    assert_eq!(user(TESTED).run(&["test"]).code, 0);
}

#[test]
fn test_fails_without_a_match_and_without_approval() {
    let ran = user(TESTED).run(&["test", "--filter", "zzz"]);
    assert!(ran.code != 0 && ran.stderr.contains("--filter matches none of the 3 cases"), "{ran:?}");
    let ran = user(TESTED).run(&["test", "--filter", "status"]);
    assert!(ran.code == 0 && ran.stdout.contains("1 case: 1 passed"), "{ran:?}");

    let place = Place::untrusted(&[(".checkrein/hooks.yaml", TESTED)]);
    let ran = place.run(&["test"]);
    assert!(ran.code == 1 && ran.stdout.contains("1 rule is not approved"), "{ran:?}");
    assert_eq!(place.run(&["test", "--trust-all"]).code, 0);
}

#[test]
fn fail_fast_ends_at_the_first_failed_rule_test() {
    let place = user(&TESTED.replace("git push, want: deny", "git push, want: ask"));
    let ran = place.run(&["test", "--fail-fast"]);
    assert!(ran.code == 1 && ran.stdout.contains("1 case: 0 passed, 1 failed"), "{ran:?}");
}

#[test]
fn failed_test_shows_both_results() {
    let ran = user(&TESTED.replace("git push, want: deny", "git push, want: ask")).run(&["test"]);
    let sentence = "expected ask, but the rule denies: open a pull request";
    assert!(ran.code == 1 && ran.stdout.matches(sentence).count() == 2, "{ran:?}");
    assert!(ran.stdout.contains("hooks.yaml:6"), "{ran:?}");
}

#[test]
fn mutants_are_counted_and_each_survivor_is_printed_once() {
    let hooks = TESTED.replace("      - { command: docker push x, want: none }\n", "");
    let ran = user(&hooks).run(&["test", "--mutate"]);
    assert!(ran.code == 1 && ran.stdout.contains("2 cases: 2 passed"), "{ran:?}");
    let survivor = "no test notices that `c.program == \"git\"` of `when` is dropped";
    assert_eq!(ran.stdout.matches(survivor).count(), 1, "{ran:?}");
    assert!(ran.stdout.contains("1 not noticed") && ran.stdout.contains("hint: "), "{ran:?}");
}

#[test]
fn test_runs_the_rules_of_a_file_that_is_not_installed() {
    let place = Place::untrusted(&[("new.yaml", TESTED)]);
    let ran = place.run(&["test", "new.yaml"]);
    assert!(ran.code == 0 && ran.stdout.contains("3 passed"), "{ran:?}");
}

#[test]
fn tests_that_cannot_run_are_errors_of_check_and_test() {
    for (test, why) in [
        (
            "{ command: ls, want: none, history: [{ comand: x }] }",
            "`history`: unknown key `comand`; did you mean `command`?",
        ),
        ("{ command: ls, want: none, history: [5] }", "`history`: an entry is `5`; write a command"),
        ("{ want: none }", "the test has no call"),
        ("{ command: ls, path: x, want: none }", "`command` and `path` are two calls"),
        ("{ command: ls, now: yesterday, want: none }", "`now` is `yesterday`; write a local time"),
        ("{ command: ls, event: Nope, want: none }", "`event`: "),
        ("{ command: ls, agent: nope, want: none }", "`agent` is `nope`, which is not a known agent"),
        ("{ command: ls, dirty: maybe, want: none }", "`dirty` is `\"maybe\"`; write `true` or `false`"),
    ] {
        let place = user(&TESTED.replace("{ command: git status, want: none }", test));
        let ran = place.run(&["check"]);
        assert!(ran.code == 1 && ran.stdout.contains("error[bad-test]") && ran.stdout.contains(why), "{test}: {ran:?}");
        assert!(ran.stdout.contains("hooks.yaml:7"), "{test}: {ran:?}");
        let ran = place.run(&["test"]);
        assert!(ran.code == 1 && ran.stdout.contains(why), "{test}: {ran:?}");
    }
    let ran = check(&TESTED.replace("{ command: git status, want: none }", "5"));
    assert!(
        ran.stdout.contains("an entry of `tests` is a whole number") || ran.stdout.contains("is a number"),
        "{ran:?}"
    );
}

#[test]
fn condition_proves_facts_for_the_texts() {
    let hooks = "hooks:\n  - id: x\n    when: subagent != null && subagent.type == \"explore\"\n    deny: not for ${subagent.type}\n";
    let place = user(hooks);
    assert_eq!(place.run(&["check"]).code, 0, "{:?}", place.run(&["check"]));
    let mut payload = shell("ls");
    payload["agent_type"] = json!("explore");
    payload["agent_id"] = json!("a1");
    let ran = hook(&place, &payload);
    assert!(ran.stdout.contains("not for explore"), "{ran:?}");
    assert!(!hook(&place, &shell("ls")).stdout.contains("deny"));
}

#[test]
fn values_that_a_fact_never_has_are_reported() {
    for (when, code, text) in [
        ("event == \"PreToolUse\"", 1, "its name is `pre_tool_use`"),
        ("now.hour > 30", 1, "`now.hour` is from 0 to 23"),
        ("now.minute == 60", 1, "`now.minute` is from 0 to 59"),
        ("commands.exists(c, c.program == \"/usr/bin/git\")", 1, "write \"git\", or compare `path`"),
        ("commands.exists(c, c.options[\"--output\"] == \"x\")", 1, "test it first: `\"--output\" in c.options && …`"),
        ("commands.exists(c, c.program == \"git push\")", 0, "warning[unlikely-comparison]"),
        ("commands.exists(c, c.program == \"rm\" && \"-rf\" in c.flags)", 0, "test \"-r\" and \"-f\""),
        ("agent == \"cluade\"", 0, "did you mean `claude`?"),
        ("tool.common_name == \"bash\"", 0, "did you mean `Bash`?"),
        ("history.count(\"Bsh\") > 1", 0, "did you mean `Bash`?"),
        ("history.seen(\"secret\")", 0, "no rule sets the label `secret`"),
    ] {
        let ran = check(&rule(when));
        assert!(ran.code == code && ran.stdout.contains(text), "{when}: {ran:?}");
    }
    for when in [
        "event == \"pre_tool_use\" && now.hour >= 22 && agent in [\"claude\", \"codex\"]",
        "commands.exists(c, c.program == \"find\" && (\"-delete\" in c.flags || \"-exec\" in c.flags))",
        "tool.common_name in [\"Bash\", \"mcp__x__y\"] && history.count(\"run_shell_command\") > 1",
        "commands.exists(c, c.program == \"java\" && \"-jar\" in c.flags)",
    ] {
        let ran = check(&rule(when));
        assert!(ran.code == 0 && !ran.stdout.contains("unlikely"), "{when}: {ran:?}");
    }
}

#[test]
fn rewrite_has_templates_at_all_levels_and_no_effect_at_other_events() {
    let hooks = "hooks:\n  - id: x\n    when: tool.name == \"Bash\"\n    rewrite: { note: { a: [1, \"${agent}\"] } }\n";
    let ran = hook(&user(hooks), &shell("ls"));
    assert!(ran.stdout.contains(r#"{"a":[1,"claude"]}"#), "{ran:?}");

    let hooks =
        "hooks:\n  - id: x\n    event: UserPromptSubmit\n    when: prompt != \"\"\n    rewrite: { prompt: y }\n";
    let place = user(hooks);
    let ran = hook(&place, &json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "hi" }));
    assert!(ran.code == 0 && !ran.stdout.contains("block"), "{ran:?}");
    assert!(place.run(&["check"]).stdout.contains("`rewrite` has no effect at `UserPromptSubmit`"));

    let hooks =
        hooks.replace("event: UserPromptSubmit", "events: [PostToolUse, PreToolUse]").replace("prompt != \"\"", "true");
    let ran = check(&hooks);
    assert!(ran.stdout.contains("`rewrite` has no effect at `PostToolUse`"), "{ran:?}");
}

#[test]
fn broken_rule_with_notes_only_blocks_nothing() {
    for (when, effect, blocks) in [
        ("nope", "context: x", false),
        ("5", "message: x", false),
        ("input.missing == 1", "context: x", false),
        ("nope", "deny: x", true),
        ("nope", "label: x", true),
        ("5", "dney: x\n    message: x", true),
    ] {
        let place = user(&format!("hooks:\n  - id: x\n    when: {when}\n    {effect}\n"));
        let ran = hook(&place, &shell("ls"));
        assert_eq!(ran.stdout.contains("\"deny\""), blocks, "{when} {effect}: {ran:?}");
    }
}

const FORCE: &str = r#"hooks:
  - id: no-force
    when: commands.exists(c, c.program == "git" && c.subcommand == "push" && "--force" in c.flags)
    deny: no
"#;

#[test]
fn explain_and_run_show_why_a_rule_does_not_apply() {
    let place = user(FORCE);
    let why = "its condition is false: `git push origin`: \"--force\" in c.flags = false";
    for command in ["explain", "run"] {
        let ran = place.run(&[command, "PreToolUse", "--tool", "Bash", "--command", "ls && git push origin"]);
        assert!(ran.stdout.contains(why), "{command}: {ran:?}");
    }
    let open = FORCE
        .replace("\"--force\" in c.flags", "\"x\" in c.args")
        .replace("    deny: no", "    unknown: open\n    deny: no");
    let ran = user(&open).run(&["explain", "PreToolUse", "--tool", "Bash", "--command", "git push $X"]);
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("its condition is unknown, which has no effect with `unknown: open`"), "{ran:?}");
}

#[test]
fn try_names_the_rules_without_a_decision() {
    let hooks = r#"hooks:
  - id: quiet
    when: commands.exists(c, c.program == "npm")
    rewrite: { command: "npm --silent" }
  - id: hint
    when: commands.exists(c, c.program == "npm")
    context: use pnpm
  - id: mark
    when: tool.name == "Bash"
    label: shell
"#;
    let ran = user(hooks).run(&["try", "npm test", "--as", "claude"]);
    for text in ["changes from quiet", "context from hint", "label `shell` from mark"] {
        assert!(ran.stdout.contains(text), "{text}: {ran:?}");
    }
    let ran = user(hooks).run(&["try", "git", "push", "-f"]);
    assert!(ran.code == 64 && ran.stderr.contains("put the whole command in quotes"), "{ran:?}");
}

#[test]
fn reason_names_the_unknown_part() {
    let place = user("packs: [filesystem, git]\n");
    let ran = hook(&place, &shell("$X a b"));
    assert!(!ran.stdout.contains("the rule `filesystem"), "{ran:?}");
    assert!(ran.stdout.contains("the program `$X` is known only when"), "{ran:?}");
    let ran = hook(&user(TESTED), &shell("git push 'x"));
    assert!(ran.stdout.contains("the command cannot be read: "), "{ran:?}");
    let ran = hook(
        &user(&rule("commands.exists(c, c.program == \"git\" && c.args.exists(a, a == \"x\"))")),
        &shell("git add $Y"),
    );
    assert!(
        ran.stdout.contains("`$Y` is known only when the command runs; write its value; the rule `x` needs it"),
        "{ran:?}"
    );
}

#[test]
fn packs_have_one_note_for_all_their_rules() {
    for packs in ["packs: [terraform]\n", "packs: [terraform, git]\n", "packs:\n  - terraform\n  - git\n  - cloud\n"] {
        let place = Place::untrusted(&[(".checkrein/hooks.yaml", packs)]);
        let ran = hook(&place, &shell("ls"));
        let note: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let text = note["systemMessage"].as_str().unwrap_or_default();
        assert!(text.lines().count() == 1 && text.contains("you have not approved them"), "{packs}: {ran:?}");
    }

    let ran = check("packs: [{ pack: terraform, dry_run: true }]\n");
    assert!(ran.stdout.contains("1 warning") && ran.stdout.contains("pack `terraform`: it is a dry run"), "{ran:?}");
}
