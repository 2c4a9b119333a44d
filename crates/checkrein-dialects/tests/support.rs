//! Checks that `docs/support.md` has the tables of all dialects. `UPDATE_DOCS=1` writes the page.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::fmt::Write as _;
use std::path::Path;

use checkrein_core::{Decision, Target};
use checkrein_dialects::reply::{ExitAction, KeyMeaning};
use checkrein_dialects::{
    ALL, Dialect, EventRow, Evidence, ExitReason, HostBehavior, McpNames, PlainTextUse, Provenance,
};

/// Sources of a dialect and of its rows, each once.
fn sources(dialect: &Dialect) -> Vec<Evidence> {
    let mut sources = dialect.evidence.to_vec();
    for evidence in dialect.events.iter().filter_map(|row| dialect.evidence_of(row)) {
        if !sources.contains(&evidence) {
            sources.push(evidence);
        }
    }
    sources
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
    for (number, evidence) in sources(dialect).iter().enumerate() {
        let Evidence { known, source, version, date } = evidence;
        writeln!(out, "{}. {}: {source}; version {version}; {date}", number + 1, known.label()).unwrap();
    }
    writeln!(
        out,
        "\n| event | kind | can block | can rewrite | can add context | known | source |\n|---|---|---|---|---|---|---|"
    )
    .unwrap();
    for row in dialect.events {
        let Effects { block, rewrite, context } = Effects::new(dialect, row);
        let known = row.known.label();
        let evidence = dialect.evidence_of(row).unwrap();
        let number = sources(dialect).iter().position(|source| *source == evidence).unwrap() + 1;
        writeln!(out, "| `{}` | `{}` | {block} | {rewrite} | {context} | {known} | {number} |", row.name, row.kind)
            .unwrap();
    }
    out.push('\n');
    out
}

const HEAD: &str = "# What hooks can do, agent by agent

This page lists, for each agent and event, the possible effects of a hook and the evidence for them. *observed* means that the real agent
behaved this way. *documented* means that its source or official documentation describes it. *uncertain* means that other sources
describe it, or that sources differ. Each agent has a numbered list of sources with version and date; the last column of its table
has the number. Facts about tools, files and answers are from the first source. A test keeps this page equal to the tables in
`crates/checkrein-dialects`, and fails if a row has no source.

[events.md](events.md) lists checkrein's own events, with the most that hooks may do at each. If an agent does not support a decision,
checkrein uses the next stricter one, see [dialects.md](dialects.md).

";

#[test]
fn support_page_matches_the_tables() {
    let is_known = |dialect: &Dialect| !dialect.reply.keys.is_empty() || !dialect.config.files.is_empty();
    let agents = ALL.iter().filter(|dialect| !dialect.has_all_events && is_known(dialect));
    let page: String = HEAD.to_owned() + agents.map(|dialect| table(dialect)).collect::<String>().trim_end() + "\n";
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
        assert!(!dialect.evidence.is_empty(), "{}: no source for tools, files and answers", dialect.name);
        for row in dialect.events {
            let evidence = dialect.evidence_of(row);
            assert!(evidence.is_some(), "{} {}: no source that is {}", dialect.name, row.name, row.known.label());
        }
        for Evidence { known, source, version, date } in sources(dialect) {
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

#[test]
fn observed_events_are_marked() {
    for name in ["codex", "gemini", "copilot", "copilot@pascal", "qwen", "goose", "letta", "cline", "claude"] {
        let dialect = checkrein_dialects::find(name).unwrap();
        let row = dialect.row(&checkrein_core::EventKind::PreToolUse).unwrap();
        assert_eq!(row.known, Provenance::Observed, "{name}");
    }
}
