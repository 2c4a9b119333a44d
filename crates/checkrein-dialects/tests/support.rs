//! Checks that `docs/support.md` has the tables of all dialects. `UPDATE_DOCS=1` writes the page.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::fmt::Write as _;
use std::path::Path;

use checkrein_core::{Decision, EventKind, Target};
use checkrein_dialects::reply::{ExitAction, KeyMeaning};
use checkrein_dialects::{
    ALL, Dialect, EventRow, Evidence, ExitReason, FactGroup, HostBehavior, McpNames, PlainTextUse, Provenance, ToolRow,
};

/// Number of a source in the list of its dialect.
fn number(dialect: &Dialect, evidence: Evidence) -> usize {
    dialect.sources().iter().position(|source| *source == evidence).unwrap() + 1
}

fn observed_tools(dialect: &Dialect) -> impl Iterator<Item = &'static ToolRow> {
    let is_observed =
        |row: &&ToolRow| dialect.evidence_of_tool(row).is_some_and(|evidence| evidence.known == Provenance::Observed);
    dialect.tools.iter().filter(is_observed)
}

/// Table of the sources of facts besides events.
fn groups(dialect: &Dialect) -> String {
    let mut out = "| facts | known | source |\n|---|---|---|\n".to_owned();
    let observed: Vec<_> = observed_tools(dialect).map(|row| format!("`{}`", row.name)).collect();
    if let Some(row) = observed_tools(dialect).next() {
        let evidence = dialect.evidence_of_tool(row).unwrap();
        let (known, number) = (evidence.known.label(), number(dialect, evidence));
        writeln!(out, "| tools {} | {known} | {number} |", observed.join(", ")).unwrap();
    }
    for group in FactGroup::ALL {
        let Some(evidence) = dialect.evidence_of_group(group) else { continue };
        let other = if group == FactGroup::Tools && !observed.is_empty() { "other " } else { "" };
        let (known, number) = (evidence.known.label(), number(dialect, evidence));
        writeln!(out, "| {other}{} | {known} | {number} |", group.label()).unwrap();
    }
    out
}

/// Capabilities of hooks of an agent at an event.
struct Effects {
    block: &'static str,
    rewrite: String,
    context: &'static str,
}

impl Effects {
    fn new(dialect: &Dialect, row: &EventRow) -> Self {
        let keys = || dialect.reply.keys.iter().filter(|key| key.applies_to(dialect, &row.kind) && !key.parse_only);
        let can_express = |decision: Decision| {
            keys().any(|key| match key.means {
                KeyMeaning::Decision(words) => {
                    words.iter().any(|(_, means)| *means == decision) && !key.never_says.contains(&decision)
                }
                KeyMeaning::Flag(_, means) | KeyMeaning::Because(means) => means == decision,
                _ => false,
            })
        };
        let exits = dialect.reply.exits.iter().any(|rule| {
            rule.applies_to(dialect, &row.kind)
                && matches!(rule.then, ExitAction::Decide(Decision::Deny, _) | ExitAction::FailFor(_))
        });
        let block =
            match (can_express(Decision::Deny) || exits, can_express(Decision::Ask), can_express(Decision::Halt)) {
                (true, true, _) => "yes, or ask",
                (true, false, _) => "yes",
                (false, _, true) => "ends the run",
                (false, ..) => "",
            };
        let targets = Target::ALL.into_iter().filter(|target| {
            keys().any(|key| matches!(key.means, KeyMeaning::Replace(of) | KeyMeaning::Merge(of) if of == *target))
        });
        let context = match (keys().any(|key| key.means == KeyMeaning::Context), row.plain) {
            (true, _) => "yes",
            (false, PlainTextUse::Context) => "as text",
            _ => "",
        };
        Self { block, rewrite: targets.map(|target| target.to_string()).collect::<Vec<_>>().join(", "), context }
    }
}

fn table(dialect: &Dialect) -> String {
    let mut out = String::new();
    let host = dialect.host;
    writeln!(out, "## {}\n", dialect.name).unwrap();
    let outcome = |what: HostBehavior| match what {
        HostBehavior::Runs => "runs",
        HostBehavior::Blocked => "is blocked",
        HostBehavior::Unknown => "unknown",
    };
    if (host.missing_program, host.killed, host.on_hook_timeout)
        != (HostBehavior::Unknown, HostBehavior::Unknown, HostBehavior::Unknown)
    {
        writeln!(
            out,
            "A tool whose hook is missing: {}; is killed: {}; exceeds its timeout: {}.",
            outcome(host.missing_program),
            outcome(host.killed),
            outcome(host.on_hook_timeout)
        )
        .unwrap();
        let switch =
            host.failure_switch.map(|(key, value)| format!("`\"{key}\": {value}` beside a hook makes failures block."));
        writeln!(out, "{}", switch.unwrap_or_else(|| "No setting in its files makes failures block.".to_owned()))
            .unwrap();
        writeln!(
            out,
            "{}\n",
            match host.exit_reason {
                ExitReason::Plain => "The reason of a denial by exit code reaches the model as it is.",
                ExitReason::WithCommandLine =>
                    "The reason of a denial by exit code comes with the hook's command line.",
                ExitReason::Lost => "The reason of a denial by exit code is lost.",
                ExitReason::Unknown => "The effect of the reason of a denial by exit code is unknown.",
            }
        )
        .unwrap();
    }
    if !host.not_observable.is_empty() {
        writeln!(out, "Hooks are not called for:\n").unwrap();
        host.not_observable.iter().for_each(|what| writeln!(out, "- {what}").unwrap());
        out.push('\n');
    }
    if !dialect.mcp.is_known() {
        writeln!(out, "The agent's names of MCP tools are not known.\n").unwrap();
    } else if dialect.mcp != McpNames::SHARED {
        let McpNames { prefix, separator, .. } = dialect.mcp;
        writeln!(out, "The agent's name of an MCP tool: `{prefix}SERVER{separator}TOOL`.\n").unwrap();
    }
    if host.calls_each_entry {
        writeln!(
            out,
            "The agent calls the entries of the user's and of the project's settings, each for the same event.\n"
        )
        .unwrap();
    }
    let repeated = dialect.events.iter().filter_map(|row| Some((row.name, row.only_with?)));
    for (event, field) in repeated {
        writeln!(out, "`{event}` without `{field}` repeats an earlier event: no hook runs.\n").unwrap();
    }
    if !host.uncertain.is_empty() {
        writeln!(out, "Uncertain:\n").unwrap();
        host.uncertain.iter().for_each(|what| writeln!(out, "- {what}").unwrap());
        out.push('\n');
    }
    let unnamed: Vec<_> = dialect
        .events
        .iter()
        .filter(|row| !dialect.names_event(&row.kind))
        .map(|row| format!("`{}`", row.name))
        .collect();
    if !unnamed.is_empty() {
        writeln!(out, "Payloads without the name of the event: {}.\n", unnamed.join(", ")).unwrap();
    }
    writeln!(out, "Sources:\n").unwrap();
    for (number, evidence) in dialect.sources().iter().enumerate() {
        let Evidence { known, source, version, date } = evidence;
        writeln!(out, "{}. {}: {source}; version {version}; {date}", number + 1, known.label()).unwrap();
    }
    writeln!(out, "\n{}", groups(dialect)).unwrap();
    writeln!(
        out,
        "| event | kind | can block | can rewrite | can add context | since | known | source |\n|---|---|---|---|---|---|---|---|"
    )
    .unwrap();
    for row in dialect.events {
        let Effects { block, rewrite, context } = Effects::new(dialect, row);
        let known = row.known.label();
        let evidence = dialect.evidence_of(row).unwrap();
        let (number, since) = (number(dialect, evidence), row.since.unwrap_or_default());
        let (name, kind) = (row.name, &row.kind);
        writeln!(out, "| `{name}` | `{kind}` | {block} | {rewrite} | {context} | {since} | {known} | {number} |")
            .unwrap();
    }
    out.push('\n');
    out
}

const HEAD: &str = "# What hooks can do, agent by agent

This page lists, for each agent and event, the possible effects of a hook and the evidence for them. *observed* means that the real agent
behaved this way. *documented* means that its source or official documentation describes it. *uncertain* means that other sources
describe it, or that sources differ. Each agent has a numbered list of sources with version and date; the last column of its tables
has the number. The first table is about everything besides events; the fields of an event have the source of the event. *since* is the
first version of the agent with the event, where it is known. A test keeps this page equal to the tables in
`crates/checkrein-dialects`, and fails if a row has no source.

[events.md](events.md) lists checkrein's own events, with the most that hooks may do at each. If an agent does not support a decision,
checkrein uses the next stricter one, see [dialects.md](dialects.md).

";

/// Calls that wait for an approval, with `approvals: wait`.
fn approvals() -> String {
    let mut out = "## Approvals\n\nWith `approvals: wait`, a call that hooks ask about waits for the user, see [When an agent cannot \
                   ask](guides/when-an-agent-cannot-ask.md).\nThe times hold for entries that `checkrein install` writes. An agent with a dialog \
                   uses it, except in a session without a user.\n\n| agent | before a tool | at a permission request | session without a user |\n\
                   |---|---|---|---|\n"
        .to_owned();
    for dialect in ALL.iter().filter(|dialect| !dialect.has_all_events) {
        let mut gates = dialect.events.iter().filter(|row| dialect.is_gate(&row.kind));
        let is_request = |row: &&EventRow| row.kind == EventKind::PermissionRequest;
        let Some(tool) = gates.clone().find(|row| {
            matches!(row.kind, EventKind::PreToolUse | EventKind::ToolGuard | EventKind::PreShell | EventKind::PreMcp)
        }) else {
            continue;
        };
        let wait = |row: &EventRow| match dialect.approval_wait(&row.kind) {
            Some(time) => format!("waits {} s", time.as_secs()),
            None => "denied at once".to_owned(),
        };
        let before = match (dialect.can_ask(&tool.kind), dialect.host.approvals.headless) {
            (true, None) => "the agent asks".to_owned(),
            (true, Some(_)) => format!("the agent asks; without a user, {}", wait(tool)),
            (false, _) => wait(tool),
        };
        let request = match gates.find(is_request) {
            None => String::new(),
            Some(row) if dialect.can_ask(&row.kind) => "the agent asks".to_owned(),
            Some(row) => wait(row),
        };
        let headless = dialect
            .host
            .approvals
            .headless
            .map_or_else(String::new, |sign| format!("`{}` is `{}`", sign.variable, sign.values.join("` or `")));
        writeln!(out, "| {} | {before} | {request} | {headless} |", dialect.name).unwrap();
    }
    out + "\n"
}

#[test]
fn support_page_matches_the_tables() {
    let is_known = |dialect: &Dialect| !dialect.reply.keys.is_empty() || !dialect.config.files.is_empty();
    let agents = ALL.iter().filter(|dialect| !dialect.has_all_events && is_known(dialect));
    let page: String =
        HEAD.to_owned() + &approvals() + agents.map(|dialect| table(dialect)).collect::<String>().trim_end() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/support.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let have = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        have == page,
        "docs/support.md is out of date: run `UPDATE_DOCS=1 cargo test -p checkrein-dialects --test support`"
    );
}

#[test]
fn every_row_has_a_source_with_version_and_date() {
    for dialect in ALL.iter().filter(|dialect| !dialect.has_all_events) {
        for group in
            FactGroup::ALL.into_iter().filter(|group| *group != FactGroup::Install || dialect.install.is_some())
        {
            let evidence = dialect.evidence_of_group(group);
            assert!(evidence.is_some(), "{}: no source for {}", dialect.name, group.label());
        }
        for tool in dialect.tools {
            assert!(dialect.evidence_of_tool(tool).is_some(), "{}: no source for {}", dialect.name, tool.name);
        }
        for row in dialect.events {
            let evidence = dialect.evidence_of(row);
            assert!(evidence.is_some(), "{} {}: no source that is {}", dialect.name, row.name, row.known.label());
        }
        for Evidence { known, source, version, date } in dialect.sources() {
            let what = format!("{}: {source}", dialect.name);
            assert!(!source.is_empty() && !version.is_empty(), "{what}");
            let parts: Vec<_> = date.split('-').collect();
            let is_date = parts
                .iter()
                .zip([4, 2, 2])
                .all(|(part, digits)| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()));
            assert!(is_date && (2..=3).contains(&parts.len()), "{what}: {date}");
            // Another version is another observation.
            assert!(known != Provenance::Observed || version.contains('.'), "{what}: {version}");
        }
    }
}

/// A tool is observed only if a captured payload has it. The payloads of two agents are not kept.
#[test]
fn observed_tools_have_captures() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    for dialect in ALL.iter().filter(|dialect| !["opencode", "cline"].contains(&dialect.name)) {
        let directory = captures.join(dialect.name.replace('@', "-"));
        let mut text = String::new();
        for file in std::fs::read_dir(directory).into_iter().flatten() {
            text += &std::fs::read_to_string(file.unwrap().path()).unwrap();
        }
        for tool in observed_tools(dialect) {
            assert!(text.contains(&format!("\"{}\"", tool.name)), "{}: {}", dialect.name, tool.name);
        }
    }
}

#[test]
fn observed_events_are_marked() {
    for name in ["codex", "gemini", "copilot", "copilot@pascal", "qwen", "goose", "letta", "cline", "claude"] {
        let dialect = checkrein_dialects::find(name).unwrap();
        let row = dialect.row(&EventKind::PreToolUse).unwrap();
        assert_eq!(row.known, Provenance::Observed, "{name}");
    }
}
