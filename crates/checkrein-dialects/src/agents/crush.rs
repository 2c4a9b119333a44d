//! Crush: one event. Hooks can be one line of shell, since the tool input is in variables.
//!
//! Source: its code. Exit code 49 ends the turn. New values of input fields are merged into the input, in the order of the
//! file. checkrein reports two hooks with different values for one field. Hooks do not run in sub-agents.

use checkrein_core::{Decision, EventKind, Grammar, Scope, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, DedupKey, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, TimeUnit,
};
use crate::input::{InputRow, McpNames};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{Defect, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable};
use crate::table::{Data, Dialect, EventRow, HostTable, ProcessTable, TimeTable, ToolRow, VariableRow};

/// Dialect of Crush.
pub static DIALECT: Dialect = Dialect {
    name: "crush",
    evidence: crate::agents::evidence::CRUSH,
    title: "Crush",
    events: EVENTS,
    tools: &[
        ToolRow::new("bash", &["Bash"]).takes(&[InputRow::named("working_dir", "cwd")]),
        ToolRow::new("write", &["Write"]),
        ToolRow::new("edit", &["Edit"]),
        ToolRow::new("multiedit", &["MultiEdit", "Edit"]),
        ToolRow::new("view", &["Read"]),
        ToolRow::new("grep", &["Grep"]).takes(&[InputRow::named("include", "glob")]),
        ToolRow::new("glob", &["Glob"]),
        ToolRow::new("agent", &["Agent"]),
    ],
    mcp: McpNames::new("mcp_", "_"),
    matcher: Grammar::REGEX_SEARCH,
    payload: PayloadTable {
        event: "event",
        ..PayloadTable::fields(&[FieldRow::same("session_id").or("\"\""), FieldRow::same("cwd").or("\"\"")])
    },
    reply: ReplyTable {
        tolerates: Defect::GO_STRUCT,
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr, ReasonSource::Answer]),
            ),
            ExitRule::new(
                ExitCodeMatch::Is(49),
                ExitAction::Decide(Decision::Halt, &[ReasonSource::Stderr, ReasonSource::Answer]),
            ),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..CLAUDE_LIKE.reply
    },
    process: ProcessTable {
        variables: &[
            VariableRow::new("CRUSH", Data::Fixed("1")),
            VariableRow::new("AGENT", Data::Fixed("crush")),
            VariableRow::new("AI_AGENT", Data::Fixed("crush")),
            VariableRow::new("CRUSH_EVENT", Data::EventName),
            VariableRow::new("CRUSH_TOOL_NAME", Data::Field("tool_name")),
            VariableRow::new("CRUSH_SESSION_ID", Data::Field("session_id")),
            VariableRow::new("CRUSH_CWD", Data::Field("cwd")),
            VariableRow::new("CRUSH_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("CRUSH_TOOL_INPUT_COMMAND", Data::Field("tool_input.command")),
            VariableRow::new("CRUSH_TOOL_INPUT_FILE_PATH", Data::Field("tool_input.file_path")),
        ],
        ..CLAUDE_LIKE.process
    },
    time: TimeTable::seconds(30),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, PathBase::Config, "crush/crush.json"),
            FileRow::new(Scope::User, PathBase::Home, ".local/share/crush/crush.json"),
            FileRow::new(Scope::Project, PathBase::Project, "crush.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".crush.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".crush/crush.json"),
        ],
        format: FileFormat::Layout(&LAYOUT),
        dedup_key: DedupKey::Handler,
        ..ConfigTable::BASE
    },
    host: HostTable {
        not_observable: &["sub-agents (`agent`): their tools run without any hook", "everything except tool calls"],
        unguarded_subagents: &["agent"],
        ..HostTable::FAILS_OPEN
    },
    install: Some(InstallTable::new(
        &["crush"],
        &[SettingsPath::new(PathBase::Config, "crush")],
        &[SettingsPath::new(PathBase::Config, "crush/crush.json")],
        &[SettingsPath::new(PathBase::Project, ".crush.json"), SettingsPath::new(PathBase::Project, "crush.json")],
    )),
    ..CLAUDE_LIKE
};

const EVENTS: &[EventRow] = &[EventRow::new("PreToolUse", EventKind::PreToolUse)
    .matched()
    .blocks()
    .fields(&[FieldRow::same("tool_name"), FieldRow::same("tool_input")])];

const WORDS: &[(&str, Decision)] = &[("allow", Decision::Allow), ("deny", Decision::Deny)];

const KEYS: &[Key] = &[
    Key::new(&["decision"], KeyMeaning::Decision(WORDS)),
    Key::new(&["reason"], KeyMeaning::Reason),
    Key::new(&["halt"], KeyMeaning::Flag(true, Decision::Halt)),
    Key::new(&["reason"], KeyMeaning::Reason),
    Key::new(&["context"], KeyMeaning::Context),
    Key::new(&["updated_input"], KeyMeaning::Merge(Target::Input)).or_text().keeps(&["description"]),
    Key::new(&["version"], KeyMeaning::Nothing),
    // Replies in the format of Claude Code are supported too.
    Key::new(&["hookSpecificOutput.permissionDecision"], KeyMeaning::Decision(WORDS)).parse_only(),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason).parse_only(),
    Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Merge(Target::Input)).parse_only(),
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::Nothing),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("name", Attribute::Id),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    infers_type: true,
    direct: true,
    loose_names: true,
    ..HookFileLayout::USUAL
};
