//! Conversion of hooks between all agents.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::path::Path;

use checkrein::Engine;
use checkrein_core::{Decision, Event, EventKind, Matcher, Scope};
use checkrein_dialects::config::{Decoded, Severity};
use checkrein_dialects::{ALL, Dialect, HookSpec, ToolRow};
use checkrein_document::Format;
use checkrein_tools::convert::{Conversion, LossKind, convert};
use checkrein_tools::{lint, samples};

const TOOLS: [&str; 4] = ["Bash", "Write", "Edit", "Read"];

/// Agents with hook files that can guard tools.
fn agents() -> Vec<&'static Dialect> {
    let guards = |dialect: &&Dialect| dialect.is_gate(&EventKind::PreToolUse) && dialect.encode(&[]).is_some();
    ALL.iter().copied().filter(guards).collect()
}

/// Names of an agent for a common tool.
fn names(dialect: &'static Dialect, tool: &'static str) -> Vec<&'static str> {
    if dialect.has_all_events {
        return vec![tool];
    }
    let is_equivalent = |row: &&ToolRow| row.shared_names().any(|name| name == tool);
    dialect.tools.iter().filter(is_equivalent).map(|row| row.name).collect()
}

fn decode(dialect: &'static Dialect, text: &str) -> Decoded {
    let format = if text.starts_with('{') { Format::Json } else { Format::Yaml };
    dialect.decode("hooks", Scope::User, text, format)
}

fn before(dialect: &'static Dialect, tool: &str) -> Event {
    let kind = EventKind::PreToolUse;
    let payload = samples::payload(dialect, &kind, Some(tool));
    let name = dialect.name_of(&kind).unwrap_or(kind.name());
    let event = dialect.event(&payload, Some(name));
    let mut event = event.unwrap_or_else(|error| panic!("{} {tool}: {error}\n{payload}", dialect.name));
    // The directory of the sample does not exist.
    event.envelope.cwd = Some("/".to_owned());
    event
}

fn engine(dialect: &'static Dialect, hooks: &[HookSpec]) -> Engine {
    Engine::builder().settle_as(dialect).hooks(hooks.iter().cloned()).build()
}

async fn denies(engine: &Engine, event: Event) -> bool {
    engine.fire(event).await.decision() >= Decision::Deny
}

fn runs(engine: &Engine, event: &Event) -> bool {
    engine.explain(event).iter().any(|planned| planned.why_not.is_none())
}

/// A guard as a hook of the agent's own file.
fn guard(dialect: &'static Dialect, tool: &'static str) -> Option<HookSpec> {
    let name = names(dialect, tool).first().copied()?;
    let spec = HookSpec::shell("guard", EventKind::PreToolUse, "echo no >&2; exit 2")
        .matching(Matcher::names([name]))
        .dialect(dialect);
    let encoded = dialect.encode(&[&spec])?;
    decode(dialect, &encoded.text).hooks.pop()
}

fn converted(hook: &HookSpec, to: &'static Dialect) -> Conversion {
    convert(&[hook], to, Path::new("/")).unwrap()
}

#[tokio::test]
async fn converted_guards_deny_what_the_original_denies() {
    let mut kept = Vec::new();
    for from in agents() {
        for tool in TOOLS {
            let Some(original) = guard(from, tool) else { continue };
            let own = names(from, tool)[0];
            let guards = denies(&engine(from, std::slice::from_ref(&original)), before(from, own)).await;
            assert!(guards, "{} {own}", from.name);
            for to in agents() {
                let about = format!("{} to {}: {tool}", from.name, to.name);
                let conversion = converted(&original, to);
                if conversion.gates_lost() > 0 {
                    continue;
                }
                let decoded = decode(to, &conversion.text);
                let errors: Vec<_> =
                    decoded.diagnostics.iter().filter(|found| found.severity == Severity::Error).collect();
                assert!(errors.is_empty(), "{about}: {errors:?}\n{}", conversion.text);
                let lints = lint::lint(&decoded.hooks, &lint::environment(Path::new("/")));
                assert!(lints.is_empty(), "{about}: {lints:?}\n{}", conversion.text);
                let engine = engine(to, &decoded.hooks);
                let (first, others) = match names(to, tool).split_first() {
                    Some((first, others)) => (*first, others.to_vec()),
                    // An agent without matchers guards all tools.
                    None if original.matcher.is_everything() => (tool, Vec::new()),
                    None => panic!("{about}: the agent has no such tool\n{}", conversion.text),
                };
                let event = before(to, first);
                assert!(denies(&engine, event.clone()).await, "{about}\n{event:?}\n{}", conversion.text);
                // Of several tools with one meaning, the original guards only the one that it names.
                for other in others.into_iter().filter(|_| from.agent() != to.agent()) {
                    assert!(runs(&engine, &before(to, other)), "{about}: {other}\n{}", conversion.text);
                }
                kept.push((from.name, to.name, tool));
            }
        }
    }
    // These agents have the four tools, and matchers for them.
    let complete = [
        "native",
        "claude",
        "gemini",
        "qwen",
        "copilot",
        "copilot@pascal",
        "cursor",
        "goose",
        "factory",
        "crush",
        "letta",
        "augment",
        "kiro",
        "amazon-q",
        "evva",
        "docker-agent",
    ];
    for from in complete {
        for to in complete {
            for tool in TOOLS {
                // Goose reads files with its shell.
                let has = |name: &str| !names(checkrein_dialects::find(name).unwrap(), tool).is_empty();
                if has(from) && has(to) {
                    assert!(kept.contains(&(from, to, tool)), "{from} to {to} loses {tool}");
                }
            }
        }
    }
    assert!(kept.contains(&("claude", "codex", "Edit")));
    assert!(!kept.contains(&("claude", "codex", "Read")), "Codex has no tool that reads");
}

fn claude(hook: &str) -> HookSpec {
    let claude = checkrein_dialects::find("claude").unwrap();
    let text = format!(r#"{{"hooks": {{"PreToolUse": [{{{hook}}}]}}}}"#);
    decode(claude, &text).hooks.pop().unwrap()
}

const COMMAND: &str = r#""hooks": [{"type": "command", "command": "exit 2"}]"#;

/// Matchers of Claude Code, and what they become: text of the other file, or of the loss.
#[test]
fn matchers_are_translated_by_meaning() {
    for (matcher, to, expected, gate) in [
        ("Bash", "gemini", "\"^(?:run_shell_command)$\"", false),
        ("Edit|Write", "gemini", "\"^(?:replace|write_file)$\"", false),
        ("^(Edit|Write)$", "gemini", "\"^(?:replace|write_file)$\"", false),
        ("Edit|Write|NotebookEdit", "gemini", "\"^(?:replace|write_file)$\"", false),
        ("Bash", "codex", "\"matcher\": \"Bash\"", false),
        ("Edit|Write", "codex", "\"matcher\": \"apply_patch\"", false),
        ("Bash", "copilot", "\"matcher\": \"bash\"", false),
        ("Bash", "goose", "^(?:shell|developer__shell)$", false),
        ("Bash", "docker-agent", "matcher: \"shell\"", false),
        ("Edit|Write", "evva", "\"matcher\": \"{edit,write}\"", false),
        (".*", "gemini", "\"matcher\": \".*\"", false),
        ("Bash|mcp__github__.*", "gemini", "\"^(?:run_shell_command)$\"", true),
        ("^(?!Bash)", "gemini", "replace", true),
        ("mcp__github__create_issue", "gemini", "\"^(?:mcp_github_create_issue)$\"", false),
        ("mcp__github__create_issue", "codex", "\"mcp__github__create_issue\"", false),
        ("mcp__github__create_issue", "copilot", "github\\\\-create_issue", false),
        ("mcp__github__create_issue", "cursor", "knows no tool of Cursor", true),
        ("mcp__github__.*", "codex", "\"mcp__github__.*\"", false),
        ("Edit|mcp__github__.*", "codex", "\"^(?:apply_patch)$|mcp__github__.*\"", false),
        ("mcp__github__.*", "gemini", "selects no tool", true),
        ("NotebookEdit", "gemini", "knows no tool of Gemini CLI", true),
        ("Bash", "vscode", "no matchers", true),
    ] {
        let hook = claude(&format!(r#""matcher": "{matcher}", {COMMAND}"#));
        let conversion = converted(&hook, checkrein_dialects::find(to).unwrap());
        let text = format!("{}{:?}", conversion.text, conversion.losses);
        assert!(text.contains(expected), "{matcher} {to}: {text}");
        assert_eq!(conversion.gates_lost() > 0, gate, "{matcher} {to}: {text}");
    }
}

#[test]
fn conditions_are_translated_or_the_hook_is_lost() {
    let rule = r#""hooks": [{"type": "command", "command": "exit 2", "if": "Bash(git push *)"}]"#;
    for (to, expected) in [
        ("qwen", Some(r#""if": "run_shell_command(git push *)""#)),
        ("native", Some(r#""if": "Bash(git push *)""#)),
        ("codex", None),
    ] {
        let conversion = converted(&claude(rule), checkrein_dialects::find(to).unwrap());
        match expected {
            Some(text) => assert!(conversion.text.contains(text), "{to}: {}", conversion.text),
            None => assert!(conversion.gates_lost() == 1 && conversion.hooks_lost() == 1, "{:?}", conversion.losses),
        }
    }
    let factory = checkrein_dialects::find("factory").unwrap();
    let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Execute", "commandRegex": "^git push", "hooks": [{"type": "command", "command": "exit 2"}]}]}}"#;
    let hook = decode(factory, text).hooks.pop().unwrap();
    let conversion = converted(&hook, checkrein_dialects::find("native").unwrap());
    assert!(conversion.text.contains(r#""input": { "command": "^git push" }"#), "{}", conversion.text);
    assert!(conversion.text.contains(r#""matcher": "Bash""#), "{}", conversion.text);
}

/// A file that the other agent rejects, or a hook that it does not run, is never written.
#[test]
fn handlers_that_the_other_agent_does_not_run_are_lost() {
    let claude = checkrein_dialects::find("claude").unwrap();
    for (event, hook) in [
        ("SubagentStop", r#"{"type": "prompt", "prompt": "done?"}"#),
        ("PreToolUse", r#"{"type": "prompt", "prompt": "safe?"}"#),
        ("PreToolUse", r#"{"type": "agent", "prompt": "safe?"}"#),
        ("PreToolUse", r#"{"type": "http", "url": "http://localhost:1/"}"#),
        ("PreToolUse", r#"{"type": "mcp_tool", "server": "s", "tool": "t"}"#),
    ] {
        let text = format!(r#"{{"hooks": {{"{event}": [{{"hooks": [{hook}]}}]}}}}"#);
        let original = decode(claude, &text).hooks.pop().unwrap();
        for to in ALL.iter().copied().filter(|to| to.encode(&[]).is_some() && to.agent() != "claude") {
            let conversion = converted(&original, to);
            let decoded = decode(to, &conversion.text);
            let errors = decoded.diagnostics.iter().any(|found| found.severity == Severity::Error);
            assert!(!errors, "{} {hook}: {:?}\n{}", to.name, decoded.diagnostics, conversion.text);
            let is_lost = conversion.losses.iter().any(|loss| loss.kind == LossKind::Hook);
            assert_eq!(is_lost, decoded.hooks.is_empty(), "{} {hook}: {conversion:?}", to.name);
            if ["codex", "native", "gemini"].contains(&to.name) && !hook.contains("http") && !hook.contains("mcp") {
                assert!(is_lost, "{} {hook}", to.name);
            }
        }
    }
}

#[test]
fn gates_keep_their_failure_policy() {
    let find = |name: &str| checkrein_dialects::find(name).unwrap();
    let original = |name: &str| guard(find(name), "Bash").unwrap();
    for (from, to, expected) in [
        ("claude", "native", Ok(r#""on_failure": "open""#)),
        ("native", "claude", Ok(r#""onFailure": "block""#)),
        ("native", "gemini", Err("its failure policy")),
    ] {
        let conversion = converted(&original(from), find(to));
        match expected {
            Ok(text) => assert!(conversion.text.contains(text), "{from} {to}: {}", conversion.text),
            Err(lost) => assert!(conversion.losses.iter().any(|loss| loss.what == lost), "{:?}", conversion.losses),
        }
        assert_eq!(conversion.gates_lost(), 0, "{from} {to}: {:?}", conversion.losses);
    }
    // Both agents ignore a failed hook.
    let conversion = converted(&original("claude"), find("gemini"));
    assert!(conversion.losses.is_empty() && !conversion.text.contains("ailure"), "{conversion:?}");
}

#[test]
fn variables_are_translated_or_reported() {
    let variable =
        |name: &str| claude(&format!(r#""hooks": [{{"type": "command", "command": "\"${name}\"/guard.sh"}}]"#));
    for (name, to, expected) in [
        ("CLAUDE_PROJECT_DIR", "devin", Some("$DEVIN_PROJECT_DIR")),
        ("CLAUDE_PROJECT_DIR", "gemini", Some("$CLAUDE_PROJECT_DIR")),
        ("CLAUDE_PROJECT_DIR", "native", Some("$CLAUDE_PROJECT_DIR")),
        ("CLAUDE_PROJECT_DIR", "codex", None),
        ("CLAUDE_PLUGIN_ROOT", "gemini", None),
        ("CLAUDE_PLUGIN_ROOT", "native", None),
    ] {
        let conversion = converted(&variable(name), checkrein_dialects::find(to).unwrap());
        match expected {
            Some(text) => {
                assert!(conversion.text.contains(text), "{name} {to}: {}", conversion.text);
                assert_eq!(conversion.losses, [], "{name} {to}");
            }
            None => {
                let loss = conversion.losses.iter().find(|loss| loss.what.contains(name));
                assert!(loss.is_some_and(|loss| loss.gate), "{name} {to}: {:?}", conversion.losses);
            }
        }
    }
}

#[test]
fn fields_that_the_other_agent_does_not_send_are_reported() {
    let hook = claude(
        r#""matcher": "Bash", "hooks": [{"type": "command", "command": "jq -r .tool_input.command | grep -q rm && exit 2"}]"#,
    );
    let conversion = converted(&hook, checkrein_dialects::find("copilot").unwrap());
    let loss = conversion.losses.iter().find(|loss| loss.kind == LossKind::Script);
    assert!(loss.is_some_and(|loss| loss.what.contains("tool_input")), "{:?}", conversion.losses);
    assert_eq!(converted(&hook, checkrein_dialects::find("codex").unwrap()).losses, []);
}
