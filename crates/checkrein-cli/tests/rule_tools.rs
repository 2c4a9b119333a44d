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
        ("paths.exists(p, p.ext == \".md\")", 1, "it has no dot: write \"md\""),
        ("paths.exists(p, p.name == \"src/x\")", 1, "it is the last part: write \"x\""),
        ("paths.exists(p, p.abs == \"~/.bashrc\")", 1, "it is absolute: write `home + \"/.bashrc\"`"),
        ("paths.exists(p, p.abs.startsWith(\"~/\"))", 1, "it is absolute"),
        ("paths.exists(p, p.abs.under(\"~/.ssh\"))", 1, "it is absolute"),
        ("paths.exists(p, p.abs.globs(\"src/**\"))", 1, "a pattern such as \"**/src/**\""),
        ("cwd.under(\"src\")", 1, "it is absolute: write `project + \"/src\"`"),
        ("commands.exists(c, \"build\" in c.targets)", 1, "it is absolute"),
        ("commands.exists(c, \"--force\" in c.args)", 0, "options are in `flags`"),
        ("commands.exists(c, c.subcommand == \"git push\")", 0, "it is without the program: write \"push\""),
        ("commands.exists(c, c.subcommand == \"--force\")", 1, "options are in `flags`"),
        ("commands.exists(c, \"refs/heads/main\" in c.git.targets)", 1, "write \"main\""),
        ("commands.exists(c, c.program.upper() == \"git\")", 1, "write it in upper case"),
        ("commands.exists(c, c.program in [])", 1, "the list is empty"),
        ("commands.exists(c, c.program == \"git \")", 1, "write \"git\""),
        ("commands.exists(c, c.wrappers.exists(w, w == \"/usr/bin/sudo\"))", 1, "write \"sudo\""),
        ("net.exists(n, n.host == \"GitHub.com\")", 1, "it is in lower case: write \"github.com\""),
        ("net.exists(n, n.scheme == \"https://\")", 1, "write \"https\""),
        ("net.exists(n, n.port > 65535)", 1, "`n.port` is from 0 to 65535"),
        ("now.date == \"18.11.2026\"", 1, "write a date as year, month and day"),
        ("history.repeats < 0", 1, "`history.repeats` is from 0"),
        ("tool.common_name == \"run_shell_command\"", 0, "it is the name that all agents share: write `Bash`"),
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
        "paths.exists(p, p.abs.globs(\"**/src/**\") || p.abs.under(home + \"/.ssh\") || p.abs == \"/etc/hosts\")",
        "paths.exists(p, p.ext in [\"md\", \"\"] || p.name.globs(\".env*\") || p.path == \"~/x\")",
        "commands.exists(c, c.subcommand in [\"push\", \"system prune\"] || \"-\" in c.args || \"origin/main\" in c.git.targets)",
        "net.exists(n, n.host.endsWith(\".test\") || n.scheme == \"\" || n.port == 0) || now.date == \"2026-11-18\"",
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
fn test_reports_the_rules_without_both_kinds_of_cases() {
    let hooks = r#"hooks:
  - { id: none, when: 'tool.name == "Bash"', deny: no }
  - { id: fires, when: 'tool.name == "Bash"', deny: no, tests: [{ command: ls, want: deny }] }
  - { id: quiet, when: 'tool.name == "Bash"', deny: no, tests: [{ url: "https://x.test", want: none }] }
  - id: both
    when: tool.name == "Bash"
    deny: no
    tests: [{ command: ls, want: deny }, { url: "https://x.test", want: none }]
"#;
    let place = user(hooks);
    let ran = place.run(&["test"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for text in [
        "4 rules: 1 with a case that applies and one that does not",
        "untested none: no cases (DIR/home/.config/checkrein/hooks.yaml:2)",
        "untested fires: no case in which it does not apply",
        "untested quiet: no case in which it applies",
    ] {
        assert!(ran.stdout.contains(text), "{text}: {ran:?}");
    }
    assert!(!ran.stdout.contains("untested both"), "{ran:?}");
    let (code, json) = place.run_json(&["test", "--json"]);
    let rules: Vec<_> = json["rules"].as_array().unwrap().iter().collect();
    assert_eq!((code, rules.len()), (0, 4), "{json:#}");
    assert_eq!(
        (&rules[1]["rule"], &rules[1]["applies"], &rules[1]["silent"]),
        (&json!("fires"), &json!(true), &json!(false))
    );
    // A part of the cases says nothing about the rules.
    assert!(!place.run(&["test", "--filter", "fires"]).stdout.contains("rules:"));
}

#[test]
fn summary_of_test_has_the_whole_error() {
    let ran = user(&TESTED.replace("command: git status, want", "command: git status, wnat")).run(&["test"]);
    let summary: Vec<_> = ran.stdout.lines().filter(|line| line.trim_start().starts_with("failed ")).collect();
    assert!(ran.code == 1 && summary.len() == 1, "{ran:?}");
    assert!(summary[0].contains("unknown key `wnat`; did you mean `want`?"), "{ran:?}");
}

#[test]
fn gates_that_apply_once_and_allows_for_empty_lists_are_reported() {
    for (hook, code) in [
        ("once: true, when: 'tool.name == \"Bash\"', deny: no", "once-gate"),
        ("once: true, when: 'tool.name == \"Bash\"', context: hi", ""),
        ("once: true, event: Stop, when: 'agent == \"claude\"', message: hi", ""),
        ("when: 'commands.all(c, c.program == \"ls\")', allow: yes", "empty-allow"),
        ("vars: { safe: 'paths.all(p, p.in_project)' }, when: vars.safe, allow: yes", "empty-allow"),
        ("when: 'commands.size() > 0 && commands.all(c, c.program == \"ls\")', allow: yes", ""),
        ("when: 'tool.kind == \"execute\" && commands.all(c, c.program == \"ls\")', allow: yes", ""),
        ("matcher: Bash, when: 'commands.all(c, c.program == \"ls\")', allow: yes", ""),
        ("when: 'commands.all(c, c.program != \"rm\")', context: hi", ""),
    ] {
        let ran = check(&format!("hooks: [{{ id: x, {hook} }}]"));
        for own in ["once-gate", "empty-allow"] {
            assert_eq!(ran.stdout.contains(&format!("warning[{own}]")), own == code, "{hook}: {ran:?}");
        }
    }
}

#[test]
fn errors_of_toml_files_have_their_places() {
    let place = Place::untrusted(&[(
        "e.toml",
        "[[hooks]]\nid = \"r\"\nwhen = \"commands.exists(c, c.subcomand == 1)\"\ndeny = \"x\"\n",
    )]);
    let ran = place.run(&["check", "e.toml"]);
    assert!(ran.stdout.contains("e.toml:3:30: error[bad-expression]"), "{ran:?}");
}

#[test]
fn dry_run_of_one_rule_of_a_pack_names_the_rule() {
    let ran = check("packs: [git]\noverride: { git.force-push: { dry_run: true } }\n");
    assert!(ran.stdout.contains("hook `git.force-push`: it is a dry run"), "{ran:?}");
    assert!(!ran.stdout.contains("pack `git`"), "{ran:?}");
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
