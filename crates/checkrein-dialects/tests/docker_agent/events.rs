//! Event names, contracts and matchers.

use checkrein_core::{EventKind, FailureKind, FailurePolicy, Grammar, Matcher, RunOrder};
use checkrein_dialects::agents::docker_agent::{DIALECT, G2};
use checkrein_dialects::{Dialect, PlainTextUse, find};

#[test]
fn generations_are_found_by_name() {
    assert_eq!(find("docker-agent").unwrap().events.len(), 28);
    assert_eq!(find("docker-agent@g2").unwrap().events.len(), 12);
}

/// Columns of an event: matched, blocks, fails closed, a pipeline, text is context.
fn row(dialect: &'static Dialect, name: &str) -> String {
    let kind = dialect.kind_of(name).unwrap();
    let rules = dialect.rules_at(kind);
    let closed = rules.failures.effect(FailureKind::Exit, kind.contract()) == FailurePolicy::Closed;
    let flags = [
        (dialect.is_matched(kind), 'm'),
        (dialect.blocks(kind), 'b'),
        (closed, 'c'),
        (rules.order == RunOrder::Pipeline, 'p'),
        (dialect.plain(kind) == PlainTextUse::Context, 't'),
    ];
    flags.iter().map(|(is, letter)| if *is { *letter } else { '-' }).collect()
}

#[test]
fn contracts_of_the_newest_generation() {
    for (name, expected) in [
        ("pre_tool_use", "mbcp-"),
        ("tool_guard", "mbc--"),
        ("tool_input_transform", "mb-p-"),
        ("tool_response_transform", "m--p-"),
        ("post_tool_use", "mb---"),
        ("permission_request", "mb---"),
        ("session_start", "----t"),
        ("turn_start", "----t"),
        ("user_prompt_submit", "-b--t"),
        ("user_steering_messages_submit", "-b--t"),
        ("user_followup_submit", "-b--t"),
        ("pre_compact", "-b--t"),
        ("worktree_create", "-b--t"),
        ("before_llm_call", "-b-p-"),
        ("before_compaction", "-b---"),
        ("turn_end", "-----"),
        ("after_llm_call", "-----"),
        ("session_end", "-----"),
        ("subagent_stop", "-----"),
        ("on_user_input", "-----"),
        ("stop", "-----"),
        ("notification", "-----"),
        ("on_error", "-----"),
        ("on_max_iterations", "-----"),
        ("on_agent_switch", "-----"),
        ("on_session_resume", "-----"),
        ("on_tool_approval_decision", "-----"),
        ("after_compaction", "-----"),
    ] {
        assert_eq!(row(&DIALECT, name), expected, "{name}");
    }
}

#[test]
fn contracts_of_the_second_generation() {
    for (name, expected) in [
        ("pre_tool_use", "mbc--"),
        ("post_tool_use", "mb--t"),
        ("session_start", "----t"),
        ("turn_start", "----t"),
        ("before_llm_call", "-----"),
        ("after_llm_call", "-----"),
        ("session_end", "-----"),
        ("on_user_input", "-----"),
        ("stop", "----t"),
        ("notification", "-----"),
        ("on_error", "-----"),
        ("on_max_iterations", "-----"),
    ] {
        assert_eq!(row(&G2, name), expected, "{name}");
    }
    for later in ["permission_request", "tool_guard", "turn_end"] {
        assert!(G2.kind_of(later).is_err(), "{later}");
    }
}

#[test]
fn matchers_match_the_whole_tool_name() {
    for (pattern, tool, fits) in [
        ("*", "anything", true),
        ("", "anything", true),
        ("shell", "shell", true),
        ("shell", "shell_exec", false),
        ("shell", "Shell", false),
        ("shell|edit_file", "edit_file", true),
        ("shell|edit_file", "my_shell", false),
        ("mcp__.*", "mcp__db__query", true),
        ("mcp__.*", "xmcp__db", false),
        // A pattern for the empty text matches only that.
        ("a?", "b", false),
    ] {
        let matcher = Matcher::compile(&DIALECT.matcher, Some(pattern)).unwrap();
        assert_eq!(matcher.matches(tool), fits, "{pattern} {tool}");
    }
    assert_eq!(DIALECT.matcher, Grammar::REGEX_WHOLE);
}

#[test]
fn default_timeout_is_60_seconds_without_a_maximum() {
    for dialect in [&DIALECT, &G2] {
        for kind in EventKind::ALL {
            assert_eq!(dialect.timeout(kind, "command").as_secs(), 60);
        }
        assert_eq!(dialect.time.cap, None);
    }
}
