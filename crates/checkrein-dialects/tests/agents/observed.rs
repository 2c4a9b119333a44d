//! Tables of the observed behaviour of agents with misbehaving hooks, row by row.

use checkrein_dialects::agents::{claude, cline, codex, copilot, copilot_pascal, gemini, goose, letta, qwen};

use super::*;

/// Dialect of an agent, its name for the shell, and the denial of a hook in its format.
struct Agent {
    dialect: &'static Dialect,
    shell: &'static str,
    deny: &'static str,
}

const CLAUDE_DENY: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"R"}}"#;
const CLAUDE_DENY_BARE: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#;
const COPILOT_DENY: &str = r#"{"permissionDecision":"deny","permissionDecisionReason":"R"}"#;
const BLOCK: &str = r#"{"decision":"block","reason":"R"}"#;

static AGENTS: &[Agent] = &[
    Agent { dialect: &claude::DIALECT, shell: "Bash", deny: CLAUDE_DENY },
    Agent { dialect: &codex::DIALECT, shell: "Bash", deny: CLAUDE_DENY },
    Agent { dialect: &gemini::DIALECT, shell: "run_shell_command", deny: r#"{"decision":"deny","reason":"R"}"# },
    Agent { dialect: &copilot::DIALECT, shell: "bash", deny: COPILOT_DENY },
    Agent { dialect: &copilot_pascal::DIALECT, shell: "Bash", deny: CLAUDE_DENY },
    Agent { dialect: &qwen::DIALECT, shell: "run_shell_command", deny: CLAUDE_DENY },
    Agent { dialect: &goose::DIALECT, shell: "shell", deny: BLOCK },
    Agent { dialect: &letta::DIALECT, shell: "Bash", deny: BLOCK },
    Agent { dialect: &cline::DIALECT, shell: "run_commands", deny: r#"{"cancel":true,"errorMessage":"R"}"# },
];

/// A row: the behaviour of the hook, and the result for each agent in the order of the columns: `x` blocked, `.` ran, `?` not
/// tried. `X`: checkrein blocks on purpose, although the agent ran the tool.
type Row = (&'static str, fn(&Agent) -> End<'static>, &'static str);

const GARBAGE: &str = "xxxxxxxxxxxxxxxx";
const NOISE_FIRST: &str = "starting\n{\"decision\":\"block\",\"reason\":\"R\"}";

/// Columns: claude, codex, gemini, copilot, copilot@pascal, qwen, goose, letta, cline
const ROWS: &[Row] = &[
    ("exit 2 + stderr", |_| End::Exit(2, "", "R"), "xxxxxxxx."),
    ("exit 2, no output", |_| End::Exit(2, "", ""), "x..xx.xx."),
    ("exit 2, text on stdout only", |_| End::Exit(2, "R", ""), "x.xxx.xx."),
    ("exit 2 + stderr + {}", |_| End::Exit(2, "{}", "R"), "xx.xxxxx."),
    ("exit 1 + stderr", |_| End::Exit(1, "", "R"), "...xx...."),
    ("exit 3 + stderr", |_| End::Exit(3, "", "R"), "..xxx...."),
    ("exit 1 + deny JSON", |agent| End::Exit(1, agent.deny, ""), "x.xxxxx.x"),
    ("killed", |_| End::Killed, "...xx...."),
    ("program missing", |_| End::Exit(127, "", "sh: 1: guard: not found"), "..xxx...."),
    ("timeout", |_| End::Late, "........."),
    ("garbage on stdout", |_| End::Exit(0, GARBAGE, ""), "........."),
    ("truncated JSON", |agent| End::Exit(0, &agent.deny[..agent.deny.len() - 4], ""), "!!!!!!!.!"),
    ("native deny JSON", |agent| End::Exit(0, agent.deny, ""), "xxxxxxx.x"),
    ("Claude-shape deny", |_| End::Exit(0, CLAUDE_DENY, ""), "xx..xx..."),
    ("decision: block", |_| End::Exit(0, BLOCK, ""), "xxx..xx.."),
    ("Claude-shape deny without reason", |_| End::Exit(0, CLAUDE_DENY_BARE, ""), "x..??x???"),
    ("log line, then deny JSON", |_| End::Exit(0, NOISE_FIRST, ""), "........."),
    ("deny JSON on stderr, exit 0", |agent| End::Exit(0, "", agent.deny), "..x..x..?"),
];

#[test]
fn results_before_a_tool_are_as_observed() {
    for (fact, end, columns) in ROWS {
        assert_eq!(columns.len(), AGENTS.len(), "{fact}");
        for (agent, expected) in AGENTS.iter().zip(columns.chars()) {
            let blocked = outcome(agent.dialect, &call(agent.shell), end(agent)).is_some();
            match expected {
                '?' => {}
                // The agent runs the tool. checkrein blocks it, because the hook has decided.
                '!' => assert!(blocked, "{} {fact}: the denial is lost", agent.dialect.name),
                'x' | 'X' => assert!(blocked, "{} {fact}: the tool should be blocked", agent.dialect.name),
                _ => assert!(!blocked, "{} {fact}: the tool should run", agent.dialect.name),
            }
        }
    }
}

/// "`continue:false`": the run ends, or this tool is blocked, or it is ignored.
#[test]
fn continue_false_is_as_observed() {
    for (agent, expected) in AGENTS.iter().zip("x.x..x...".chars()) {
        let end = End::Exit(0, r#"{"continue":false,"stopReason":"R"}"#, "");
        let blocked = outcome(agent.dialect, &call(agent.shell), end).is_some();
        assert_eq!(blocked, expected == 'x', "{}", agent.dialect.name);
    }
}

/// Rows about rewrites and context: the output of the hook, and the agents that use it.
#[test]
fn rewrites_and_context_are_as_observed() {
    let native = |name: &str| match name {
        "gemini" => r#"{"hookSpecificOutput":{"tool_input":{"command":"pwd"}}}"#,
        "copilot" => r#"{"modifiedArgs":{"command":"pwd"}}"#,
        "cline" => r#"{"overrideInput":{"command":"pwd"}}"#,
        _ => {
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"pwd"}}}"#
        }
    };
    let heard = |agent: &Agent, stdout: &str| {
        let reply = ProcessReply::new(ProcessExit::Code(0)).stdout(stdout);
        agent.dialect.read(&call(agent.shell), Reply::Process(reply), false).unwrap_or_default()
    };
    let rewrites = |opinion: &Opinion| !opinion.rewrites().is_empty();
    for (at, agent) in AGENTS.iter().enumerate() {
        let name = agent.dialect.name;
        let is = |columns: &str| columns.as_bytes()[at] == b'x';
        assert_eq!(rewrites(&heard(agent, native(name))), is("xxxxx..xx"), "{name}: rewrite input, native");
        let shape = native("claude");
        assert_eq!(rewrites(&heard(agent, shape)), is("xx..x..x."), "{name}: rewrite, Claude shape + allow");
        let alone = shape.replace(r#""permissionDecision":"allow","#, "");
        assert_eq!(rewrites(&heard(agent, &alone)), is("x...x..x."), "{name}: rewrite without permissionDecision");
        let context = match name {
            "copilot" | "copilot@pascal" => r#"{"additionalContext":"c"}"#,
            "cline" => r#"{"context":"c"}"#,
            _ => r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}"#,
        };
        assert_eq!(heard(agent, context).contexts().len() == 1, is("xx.xx...x"), "{name}: context before a tool");
    }
}

/// Other events, in the same order; `?` was not tested or never fires.
#[test]
fn results_at_other_events_are_as_observed() {
    let read = |agent: &Agent, event: &Event, stdout: &str| {
        let reply = ProcessReply::new(ProcessExit::Code(0)).stdout(stdout);
        agent.dialect.read(event, Reply::Process(reply), false).unwrap_or_default()
    };
    for (at, agent) in AGENTS.iter().enumerate() {
        let (dialect, shell) = (agent.dialect, agent.shell);
        let is = |fact: &str, columns: &str, happens: bool| match columns.as_bytes()[at] {
            b'?' => {}
            column => assert_eq!(happens, column == b'x', "{}: {fact}", dialect.name),
        };
        let exit_2 = |event: &Event| outcome(dialect, event, End::Exit(2, "", "R")).is_some();
        is("prompt hook exit 2", "xxx..x.?.", exit_2(&prompt()));
        is("after-tool exit 2", "xxx....x.", exit_2(&done(shell)));
        is("stop hook exit 2", "xxx..xx?.", exit_2(&stop()));
        let block = match dialect.name {
            "gemini" => r#"{"decision":"deny","reason":"R"}"#,
            _ => BLOCK,
        };
        is("stop hook decision:block", "xxxxxxx?.", read(agent, &stop(), block).decision().is_block());
        let context = |event: &str| match dialect.name {
            "copilot" | "copilot@pascal" => r#"{"additionalContext":"c"}"#.to_owned(),
            "cline" => r#"{"context":"c"}"#.to_owned(),
            _ => format!(r#"{{"hookSpecificOutput":{{"hookEventName":"{event}","additionalContext":"c"}}}}"#),
        };
        let name = |kind| dialect.name_of(&kind).unwrap_or_default();
        let after = context(name(checkrein_core::EventKind::PostToolUse));
        is("after-tool additionalContext", "xxxxxx.xx", !read(agent, &done(shell), &after).contexts().is_empty());
        let first = context(name(checkrein_core::EventKind::SessionStart));
        is("session-start JSON context", "xxxxxx.??", !read(agent, &start(), &first).contexts().is_empty());
        is("session-start plain text", "xx...x.??", !read(agent, &start(), "hi").contexts().is_empty());
    }
}

/// "native deny + unknown extra keys"
#[test]
fn denial_with_unknown_keys_is_as_observed() {
    for (agent, expected) in AGENTS.iter().zip("x.xx?xx?x".chars()) {
        let denial = format!("{},\"extra\":{{\"a\":1}}}}", &agent.deny[..agent.deny.len() - 1]);
        let blocked = outcome(agent.dialect, &call(agent.shell), End::Exit(0, &denial, "")).is_some();
        assert!(expected == '?' || blocked == (expected == 'x'), "{}", agent.dialect.name);
    }
}

/// `install` and `status` rely on these facts.
#[test]
fn host_behaviour_is_as_observed() {
    use checkrein_dialects::HostBehavior;
    for agent in AGENTS {
        let host = agent.dialect.host;
        for (what, end) in [
            (host.missing_program, End::Exit(127, "", "sh: 1: guard: not found")),
            (host.killed, End::Killed),
            (host.on_hook_timeout, End::Late),
        ] {
            let blocked = outcome(agent.dialect, &call(agent.shell), end).is_some();
            assert_eq!(
                what,
                if blocked { HostBehavior::Blocked } else { HostBehavior::Runs },
                "{}",
                agent.dialect.name
            );
        }
    }
}
