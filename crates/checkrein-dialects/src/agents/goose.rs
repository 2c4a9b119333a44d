//! goose: hooks of plugins. Matchers match the tool, prompt, path or command of the event.
//!
//! Exit code 2, or `decision: "block"` with any code, blocks tools and stops. Other replies have no effect: no allow, no ask,
//! no rewrite, no context. According to its documentation, hooks cannot block anything.

use checkrein_core::{ChainEnd, Decision, EventKind, FailurePolicy, Grammar, RunOrder, Scope};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, PluginTable, TimeUnit,
};
use crate::input::{InputRow, McpNames};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{
    Defect, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable,
};
use crate::table::{Cwd, Dialect, EventRow, HostTable, ProcessTable, TimeTable, ToolRow};

/// Dialect of goose.
pub static DIALECT: Dialect = Dialect {
    name: "goose",
    evidence: crate::agents::evidence::GOOSE,
    facts: Some(crate::agents::evidence::GOOSE_FACTS),
    events: EVENTS,
    // The documentation has `developer__shell`, but payloads and matchers use `shell`.
    tools: &[
        ToolRow::new("shell", &["Bash"]).observed(),
        ToolRow::new("write", &["Write"]).observed().takes(&[InputRow::named("path", "file_path")]),
        ToolRow::new("edit", &["Edit"]).takes(&[
            InputRow::named("path", "file_path"),
            InputRow::named("before", "old_string"),
            InputRow::named("after", "new_string"),
        ]),
        ToolRow::new("delegate", &["Agent", "Task"]).takes(&[InputRow::named("instructions", "prompt")]),
        ToolRow::new("developer__shell", &["Bash"]),
        ToolRow::new("developer__text_editor", &["Edit", "Write"]).takes(&[
            InputRow::named("path", "file_path"),
            InputRow::named("old_str", "old_string"),
            InputRow::named("new_str", "new_string"),
            InputRow::named("file_text", "content"),
        ]),
    ],
    mcp: McpNames::new("", "__"),
    matcher: Grammar::REGEX_SEARCH,
    payload: PayloadTable { event: "event", ..PayloadTable::fields(&[FieldRow::same("session_id").or("\"\"")]) },
    reply: ReplyTable {
        tolerates: &[Defect::InvalidUtf8, Defect::DuplicateKey],
        keys: &[
            Key::new(&["decision"], KeyMeaning::Decision(&[("block", Decision::Deny)])).at(EventScope::Blocking),
            Key::new(&["reason"], KeyMeaning::Reason).at(EventScope::Blocking),
        ],
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr, ReasonSource::Answer]),
            )
            .at(EventScope::Blocking),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::ReadOrFail),
        ],
        ..ReplyTable::LENIENT
    },
    process: ProcessTable { cwd: Cwd::EventOrHost, leaves_background: true, ..CLAUDE_LIKE.process },
    time: TimeTable::seconds(30),
    rules: CLAUDE_LIKE.rules.order(RunOrder::Sequential).chain_end(ChainEnd::FirstBlock),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, PathBase::Home, ".agents/plugins/*/hooks/hooks.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".agents/plugins/*/hooks/hooks.json"),
        ],
        format: FileFormat::Layout(&LAYOUT),
        plugin: Some(PluginTable::new("PLUGIN_ROOT")),
        ..ConfigTable::BASE
    },
    host: HostTable {
        // Not documented, but observed to work.
        failure_switch: Some(("on_failure", "\"block\"")),
        not_observable: &["the output of tools", "sub-agents (`delegate`): their tools run without any hook"],
        unguarded_subagents: &["delegate"],
        ..HostTable::FAILS_OPEN
    },
    install: Some(
        InstallTable::new(
            &["goose"],
            &[SettingsPath::new(PathBase::Config, "goose")],
            &[SettingsPath::new(PathBase::Home, ".agents/plugins/checkrein/hooks/hooks.json")],
            &[SettingsPath::new(PathBase::Project, ".agents/plugins/checkrein/hooks/hooks.json")],
        )
        .prints_version(),
    ),
    ..CLAUDE_LIKE
};

const ABOUT_NOTHING: FieldRow = FieldRow::named("matcher_context", "").or("null");
const CALL: [FieldRow; 4] = [
    FieldRow::named("tool_call_id", "tool_use_id"),
    FieldRow::same("tool_name"),
    FieldRow::same("tool_input"),
    FieldRow::named("working_dir", "cwd"),
];
const TOOL: [FieldRow; 5] = [FieldRow::named("matcher_context", "tool_name"), CALL[0], CALL[1], CALL[2], CALL[3]];
const COMMAND: [FieldRow; 5] =
    [FieldRow::named("matcher_context", "tool_input.command").or("null"), CALL[0], CALL[1], CALL[2], CALL[3]];
const PATH: [FieldRow; 5] =
    [FieldRow::named("matcher_context", "tool_input.file_path").or("null"), CALL[0], CALL[1], CALL[2], CALL[3]];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart).fields(&[ABOUT_NOTHING]).observed(),
    EventRow::new("SessionEnd", EventKind::SessionEnd).fields(&[ABOUT_NOTHING]).observed(),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit)
        .subject_field("prompt")
        .fields(&[FieldRow::named("matcher_context", "prompt"), FieldRow::named("message", "prompt")])
        .observed(),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&TOOL).observed(),
    EventRow::new("PostToolUse", EventKind::PostToolUse).matched().fields(&TOOL).observed(),
    // The payload has no error message.
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure)
        .matched()
        .fields(&[TOOL[0], TOOL[1], TOOL[2], TOOL[3], TOOL[4], FieldRow::same("error").unless_empty()])
        .observed(),
    EventRow::new("BeforeShellExecution", EventKind::PreShell)
        .subject_field("tool_input.command")
        .fields(&COMMAND)
        .observed(),
    EventRow::new("AfterShellExecution", EventKind::PostShell)
        .subject_field("tool_input.command")
        .fields(&COMMAND)
        .observed(),
    EventRow::new("BeforeReadFile", EventKind::PreFileRead)
        .subject_field("tool_input.file_path")
        .fields(&PATH)
        .uncertain(),
    EventRow::new("AfterFileEdit", EventKind::PostFileWrite)
        .subject_field("tool_input.file_path")
        .fields(&PATH)
        .observed(),
    EventRow::new("Stop", EventKind::Stop)
        .blocks()
        .fields(&[ABOUT_NOTHING, FieldRow::same("last_assistant_message"), FieldRow::named("working_dir", "cwd")])
        .observed(),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
        HookKey::new(
            "on_failure",
            Attribute::OnFailure(&[("block", FailurePolicy::Closed), ("continue", FailurePolicy::Open)]),
        ),
        HookKey::new("x-goose", Attribute::Elsewhere),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    ..HookFileLayout::USUAL
};
