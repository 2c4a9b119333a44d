//! Permission rules of Claude Code as rules: a deny applies at least where the permission rule applies, an allow at most there.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::path::Path;

use checkrein::Engine;
use checkrein_core::{Decision, Event, EventKind, RawJson, Scope};
use checkrein_dialects::agents::{claude, native};
use checkrein_document::Format;
use checkrein_tools::AgentCall;
use checkrein_tools::convert::{ConvertedPermissions, convert_permissions, read_permissions};
use proptest::prelude::*;
use serde_json::{Value, json};

const PROJECT: &str = "/home/user/project";

fn convert(list: &str, rules: &[&str]) -> ConvertedPermissions {
    let settings = json!({ "permissions": { list: rules } }).to_string();
    let (permissions, others) = read_permissions(&settings, "settings.json", false).unwrap();
    convert_permissions(&permissions, others)
}

fn engine(hooks: &str) -> Engine {
    let decoded = native::DIALECT.decode("rules.yaml", Scope::User, hooks, Format::Yaml);
    assert_eq!(decoded.diagnostics, [], "{hooks}");
    Engine::builder().hooks(decoded.hooks).cwd(PROJECT).vars([("HOME", "/home/user")]).build()
}

fn call(tool: &str, input: &Value) -> Event {
    let input = RawJson::parse(input.to_string()).unwrap();
    AgentCall::tool(&claude::DIALECT, &EventKind::PreToolUse, tool, &input, Path::new(PROJECT)).unwrap().event
}

fn decide(engine: &Engine, event: Event) -> Decision {
    engine.fire_blocking(event).decision()
}

/// Shell commands, each with the permission rules that apply to it.
const COMMANDS: &[(&str, &[&str])] = &[
    ("git push", &["Bash(git push:*)", "Bash(git push *)", "Bash(git push)", "Bash(git:*)", "Bash(git*)", "Bash"]),
    ("git push origin main", &["Bash(git push:*)", "Bash(git * main)", "Bash(git *)", "Bash(* main)"]),
    ("git -C x push origin main", &["Bash(git:*)", "Bash(git push:*)"]),
    ("cd a && git push", &["Bash(git push:*)", "Bash(cd:*)"]),
    ("sudo git push", &["Bash(git push:*)", "Bash(sudo:*)", "Bash(sudo git:*)"]),
    ("git stash drop", &["Bash(git stash:*)", "Bash(git stash drop)", "Bash(git stash drop:*)"]),
    ("rm -rf build", &["Bash(rm:*)", "Bash(rm -rf:*)", "Bash(rm -rf build)", "Bash(rm -rf *)"]),
    ("npm run test:unit", &["Bash(npm run test:unit)", "Bash(npm run:*)", "Bash(npm run test*)"]),
    ("curl -s https://x.test", &["Bash(curl:*)", "Bash(curl -s:*)"]),
    ("git status", &["Bash(git:*)", "Bash(git status)"]),
    ("ls -la", &["Bash(ls:*)", "Bash(ls *)"]),
    ("lsof", &["Bash(ls*)"]),
];

fn rules_of_commands() -> Vec<&'static str> {
    let mut rules: Vec<_> = COMMANDS.iter().flat_map(|(_, rules)| *rules).copied().collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[test]
fn denied_commands_are_denied_by_the_converted_rule() {
    for rule in rules_of_commands() {
        let converted = convert("deny", &[rule]);
        assert_eq!(converted.lost, [], "{rule}");
        let engine = engine(&converted.text);
        for (command, rules) in COMMANDS {
            let decision = decide(&engine, call("Bash", &json!({ "command": command })));
            if rules.contains(&rule) {
                assert_eq!(decision, Decision::Deny, "{rule}: {command}\n{}", converted.text);
            }
        }
        // Other tools are not affected.
        let read = call("Read", &json!({ "file_path": "/home/user/project/a" }));
        assert_eq!(decide(&engine, read), Decision::NoOpinion, "{rule}");
    }
}

/// `true` if a text matches a pattern with `*`.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => {
            text.strip_prefix(start).is_some_and(|end| (0..=end.len()).any(|at| matches(rest, &end[at..])))
        }
    }
}

/// `true` if an allow for this rule applies to the command: to all of its parts.
fn allows(rule: &str, command: &str) -> bool {
    let Some(pattern) = rule.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(')')) else { return true };
    let start = pattern.strip_suffix(" *").or_else(|| pattern.strip_suffix(":*"));
    command.split(" && ").all(|part| match start {
        Some(start) => matches(start, part) || matches(&format!("{start} *"), part),
        None => matches(pattern, part),
    })
}

#[test]
fn allowed_commands_are_only_those_that_the_rule_allows() {
    for rule in rules_of_commands() {
        let engine = engine(&convert("allow", &[rule]).text);
        for (command, _) in COMMANDS {
            let is_allowed = decide(&engine, call("Bash", &json!({ "command": command }))) == Decision::Allow;
            assert!(!is_allowed || allows(rule, command), "{rule}: {command}");
        }
    }
    let engine = engine(&convert("allow", &["Bash(git diff:*)"]).text);
    for (command, decision) in [
        ("git diff", Decision::Allow),
        ("git diff --stat", Decision::Allow),
        ("git diff && git diff a", Decision::Allow),
        ("git diff && rm x", Decision::NoOpinion),
        ("git diff $(rm x)", Decision::NoOpinion),
        ("git diff > x", Decision::NoOpinion),
        ("GIT_PAGER=x git diff", Decision::NoOpinion),
        ("sudo git diff", Decision::NoOpinion),
        ("git -c core.pager=x diff", Decision::NoOpinion),
        ("git $X", Decision::NoOpinion),
        ("echo 'x", Decision::NoOpinion),
    ] {
        assert_eq!(decide(&engine, call("Bash", &json!({ "command": command }))), decision, "{command}");
    }
}

#[test]
fn files_hosts_and_tools_are_compared_as_in_claude() {
    let deny = Decision::Deny;
    let none = Decision::NoOpinion;
    let read = |path: &str| call("Read", &json!({ "file_path": path }));
    let write = |path: &str| call("Write", &json!({ "file_path": path, "content": "" }));
    let shell = |command: &str| call("Bash", &json!({ "command": command }));
    let fetch = |url: &str| call("WebFetch", &json!({ "url": url, "prompt": "" }));
    for (rule, event, wanted) in [
        ("Read(./.env)", read("/home/user/project/.env"), deny),
        ("Read(./.env)", shell("cat .env"), deny),
        ("Read(./.env)", read("/home/user/project/sub/.env"), none),
        ("Read(./.env)", write("/home/user/project/.env"), none),
        ("Read(.env)", read("/home/user/project/sub/.env"), deny),
        ("Read(./secrets/**)", read("/home/user/project/secrets/a/b"), deny),
        ("Read(**/*.pem)", read("/home/user/project/a/b.pem"), deny),
        ("Read(**/*.pem)", read("/home/user/project/a/b.txt"), none),
        ("Read(~/.ssh/**)", read("/home/user/.ssh/id_ed25519"), deny),
        ("Read(~/.ssh/**)", shell("cat ~/.ssh/id_ed25519"), deny),
        ("Read(//etc/passwd)", read("/etc/passwd"), deny),
        ("Read(//etc/*.conf)", read("/etc/x.conf"), deny),
        ("Edit(src/**)", write("/home/user/project/src/a.rs"), deny),
        ("Edit(src/**)", shell("rm src/a.rs"), deny),
        ("Edit(src/**)", read("/home/user/project/src/a.rs"), none),
        ("Edit(/docs/*.md)", write("/home/user/project/docs/a.md"), deny),
        ("Edit(/docs/*.md)", write("/home/user/project/docs/a.rs"), none),
        ("Edit", write("/home/user/project/a"), deny),
        ("Read", read("/home/user/project/a"), deny),
        ("WebFetch(domain:example.com)", fetch("https://example.com/x"), deny),
        ("WebFetch(domain:example.com)", fetch("https://example.org/x"), none),
        ("WebFetch(domain:*.example.com)", fetch("https://a.example.com/x"), deny),
        ("WebFetch", fetch("https://a.example.com/x"), deny),
        ("mcp__db", call("mcp__db__query", &json!({})), deny),
        ("mcp__db__*", call("mcp__db__query", &json!({})), deny),
        ("mcp__db__query", call("mcp__db__query", &json!({})), deny),
        ("mcp__db__query", call("mcp__db__drop", &json!({})), none),
        ("mcp__db", call("mcp__dbx__query", &json!({})), none),
        ("WebSearch", call("WebSearch", &json!({ "query": "x" })), deny),
        ("Agent(Explore)", call("Agent", &json!({ "subagent_type": "Explore", "prompt": "x" })), deny),
        ("Agent(Explore)", call("Agent", &json!({ "subagent_type": "Plan", "prompt": "x" })), none),
    ] {
        let converted = convert("deny", &[rule]);
        assert_eq!(converted.lost, [], "{rule}");
        assert_eq!(decide(&engine(&converted.text), event), wanted, "{rule}\n{}", converted.text);
    }
    let allow = |rule: &str, event: Event| decide(&engine(&convert("allow", &[rule]).text), event);
    assert_eq!(allow("Edit(src/**)", write("/home/user/project/src/a.rs")), Decision::Allow);
    assert_eq!(allow("Edit(src/**)", write("/home/user/project/a.rs")), none);
    assert_eq!(allow("Edit(src/**)", shell("rm src/a.rs")), none);
}

#[test]
fn rules_that_cannot_be_said_are_losses() {
    for rule in [
        "Bash(cd a && git push:*)",
        "Bash(echo 'a*b' *)",
        "Bash(git $X)",
        "Bash(FOO=1 make)",
        "Read(!secret)",
        "WebFetch(example.com)",
        "Skill(deploy)",
        "mcp__*__x",
        "Bash(a",
        "",
    ] {
        let converted = convert("deny", &[rule]);
        assert_eq!((converted.lost.len(), converted.gates_lost(), converted.rules), (1, 1, 0), "{rule}: {converted:?}");
    }
    let converted = convert("allow", &["Edit(src/*.rs)", "Bash(ls)"]);
    assert_eq!((converted.lost.len(), converted.gates_lost(), converted.rules), (1, 0, 1), "{converted:?}");
    let settings = r#"{"permissions": {"deny": ["Bash(ls)"], "defaultMode": "plan"}}"#;
    let (permissions, others) = read_permissions(settings, "x", false).unwrap();
    assert_eq!(convert_permissions(&permissions, others).other_keys, ["defaultMode"]);
    for (settings, why) in [
        ("{", "expected"),
        (r#"{"permissions": []}"#, "must be an object"),
        (r#"{"permissions": {"deny": "x"}}"#, "must be a list"),
        (r#"{"permissions": {"deny": [1]}}"#, "list of strings"),
    ] {
        let error = read_permissions(settings, "x", false).unwrap_err();
        assert!(error.contains(why) || why == "expected", "{error}");
    }
}

proptest! {
    /// A hook with the permission rule as its condition runs: then the converted rule denies, or asks about an unknown part.
    #[test]
    fn commands_that_a_condition_matches_are_denied(
        words in prop::collection::vec(prop::sample::select(vec!["git", "push", "rm", "-rf", "x", "main", "sudo", "npm"]), 1..4),
        more in prop::collection::vec(prop::sample::select(vec!["main", "-f", "origin", "'a b'", "\"$HOME\""]), 0..3),
        end in prop::sample::select(vec!["", ":*", " *"]),
        before in prop::sample::select(vec!["", "cd a && ", "sudo ", "env A=1 ", "true; "]),
    ) {
        let rule = format!("Bash({}{end})", words.join(" "));
        let converted = convert("deny", &[&rule]);
        prop_assert_eq!(&converted.lost, &[], "{}", rule);
        let by_condition = format!("hooks: [{{ id: x, event: PreToolUse, if: '{rule}', when: 'true', deny: no }}]");
        let command = format!("{before}{}", words.iter().chain(&more).copied().collect::<Vec<_>>().join(" "));
        let event = || call("Bash", &json!({ "command": command }));
        if decide(&engine(&by_condition), event()) == Decision::Deny {
            let decision = decide(&engine(&converted.text), event());
            prop_assert!(matches!(decision, Decision::Deny | Decision::Ask), "{}: {}\n{}", rule, command, converted.text);
        }
    }
}
