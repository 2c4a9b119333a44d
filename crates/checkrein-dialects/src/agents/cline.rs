//! Cline, its CLI and SDK: one executable per event, with the name of the event.
//!
//! Only the output of a hook applies, never its exit code. A blocked tool ends the whole run without a reason. Hooks at events
//! other than tools run in the background. The extension for editors has another format ([`EXTENSION`]), which was not
//! observed.

use checkrein_core::{ConcurrentRewrites, Decision, EventKind, Grammar, RunOrder, Scope, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{ConfigTable, FileFormat, FileRow, PathBase};
use crate::input::patch::seen_in_patch;
use crate::input::{InputForm, InputRow};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldEncoding, FieldRow, PayloadTable};
use crate::reply::{
    AnswerDetection, Defect, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReplyTable,
};
use crate::table::{Cwd, Dialect, EventRow, ExitReason, HostTable, ProcessTable, Shell, TimeTable, ToolRow};

/// Dialect of the Cline CLI.
pub static DIALECT: Dialect = CLINE;

const CLINE: Dialect = Dialect {
    name: "cline",
    evidence: crate::agents::evidence::CLINE,
    facts: Some(crate::agents::evidence::CLINE_FACTS),
    title: "Cline",
    events: EVENTS,
    tools: &[
        ToolRow::new("run_commands", &["Bash"])
            .observed()
            .takes(&[InputRow::named("commands", "command").form(InputForm::Lines)])
            .speaks("commands"),
        ToolRow::new("editor", &["Edit", "Write"]).observed().takes(&[
            InputRow::named("path", "file_path"),
            InputRow::named("old_text", "old_string"),
            InputRow::named("new_text", "new_string"),
        ]),
        ToolRow::new("read_files", &["Read"]).takes(&[
            InputRow::named("paths", "file_path").form(InputForm::Lines),
            InputRow::seen_in("files", "path", "file_path"),
        ]),
        ToolRow::new("search_codebase", &["Grep"])
            .takes(&[InputRow::named("queries", "pattern").form(InputForm::Lines)]),
    ],
    // The agent has no matchers.
    matcher: Grammar::EXACT,
    payload: PayloadTable { event: "hookName", ..PayloadTable::fields(COMMON) },
    reply: ReplyTable {
        trigger: AnswerDetection::ObjectOrLine("HOOK_CONTROL\t"),
        keys: &[
            Key::new(&["cancel"], KeyMeaning::Flag(true, Decision::Halt)).at(EventScope::Blocking),
            Key::new(&["errorMessage"], KeyMeaning::Reason).at(EventScope::Blocking),
            // Without a terminal, `ask` lets the tool run.
            Key::new(&["review"], KeyMeaning::Flag(true, Decision::Ask)).at(EventScope::Blocking).parse_only(),
            Key::new(&["overrideInput"], KeyMeaning::Replace(Target::Input))
                .at(EventScope::Kinds(&[EventKind::PreToolUse])),
            Key::new(&["context", "contextModification"], KeyMeaning::Context)
                .at(EventScope::Kinds(&[EventKind::PreToolUse, EventKind::PostToolUse])),
        ],
        exits: EXITS,
        text_cap: Some(50_000),
        ..ReplyTable::LENIENT
    },
    process: ProcessTable { shell: Shell::None, cwd: Cwd::EventOrHost, leaves_background: true, ..CLAUDE_LIKE.process },
    time: TimeTable::seconds(120),
    rules: CLAUDE_LIKE.rules.order(RunOrder::Sequential).concurrent_rewrites(ConcurrentRewrites::LastInOrder),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, PathBase::Home, "Documents/Cline/Hooks/*"),
            FileRow::new(Scope::User, PathBase::Variable("CLINE_DIR", ".cline"), "hooks/*"),
            FileRow::new(Scope::Project, PathBase::Project, ".clinerules/hooks/*"),
            FileRow::new(Scope::Project, PathBase::Project, ".cline/hooks/*"),
        ],
        format: FileFormat::Programs,
        ..ConfigTable::BASE
    },
    host: HostTable {
        hides_messages: true,
        exit_reason: ExitReason::Lost,
        not_observable: &["prompts, in the CLI: the event exists but never fires"],
        ..HostTable::FAILS_OPEN
    },
    install: Some(
        InstallTable::new(
            &["cline"],
            &[SettingsPath::new(PathBase::Variable("CLINE_DIR", ".cline"), "")],
            &[SettingsPath::new(PathBase::Variable("CLINE_DIR", ".cline"), "hooks")],
            &[SettingsPath::new(PathBase::Project, ".cline/hooks")],
        )
        .package("cline")
        .prints_version(),
    ),
    ..CLAUDE_LIKE
};

/// The output applies for every exit code.
const EXITS: &[ExitRule] =
    &[ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read), ExitRule::new(ExitCodeMatch::Any, ExitAction::ReadOrFail)];

const COMMON: &[FieldRow] = &[
    FieldRow::same("clineVersion"),
    FieldRow::same("timestamp"),
    FieldRow::same("taskId"),
    FieldRow::named("sessionContext.rootSessionId", "session_id"),
    FieldRow::same("workspaceRoots"),
    FieldRow::same("userId"),
    FieldRow::same("agent_id"),
    FieldRow::same("model"),
];

/// The tool call, and its copy in the format of the extension.
const CALL: [FieldRow; 5] = [
    FieldRow::named("tool_call.id", "tool_use_id"),
    FieldRow::named("tool_call.name", "tool_name"),
    FieldRow::named("tool_call.input", "tool_input"),
    FieldRow::named("preToolUse.toolName", "tool_name"),
    FieldRow::named("preToolUse.parameters", "tool_input").form(FieldEncoding::TextValues),
];
const RESULT: [FieldRow; 8] = [
    FieldRow::named("tool_result.id", "tool_use_id"),
    FieldRow::named("tool_result.name", "tool_name"),
    FieldRow::named("tool_result.input", "tool_input"),
    FieldRow::named("tool_result.output", "tool_response"),
    FieldRow::named("tool_result.error", "tool_error"),
    FieldRow::named("tool_result.durationMs", "duration_ms"),
    FieldRow::named("postToolUse.toolName", "tool_name"),
    FieldRow::named("postToolUse.parameters", "tool_input").form(FieldEncoding::TextValues),
];

const PATH: &[InputRow] = &[InputRow::named("path", "file_path"), InputRow::named("absolutePath", "file_path")];

const EVENTS: &[EventRow] = &[
    EventRow::new("TaskStart", EventKind::SessionStart)
        .event_field("hookName", "agent_start")
        .always_background()
        .observed(),
    EventRow::new("TaskResume", EventKind::SessionResume).event_field("hookName", "agent_resume").always_background(),
    EventRow::new("TaskCancel", EventKind::TurnCancelled).event_field("hookName", "agent_abort").always_background(),
    EventRow::new("TaskComplete", EventKind::Stop)
        .event_field("hookName", "agent_end")
        .always_background()
        .fields(&[
            FieldRow::named("turn.outputText", "last_assistant_message"),
            FieldRow::named("turn.status", "turn_status"),
        ])
        .observed(),
    EventRow::new("TaskError", EventKind::Error)
        .event_field("hookName", "agent_error")
        .always_background()
        .fields(&[
            FieldRow::same("iteration"),
            FieldRow::named("error.name", "error_type"),
            FieldRow::named("error.message", "error"),
            FieldRow::named("error.stack", "error_details"),
        ])
        .observed(),
    EventRow::new("SessionShutdown", EventKind::SessionEnd)
        .event_field("hookName", "session_shutdown")
        .always_background()
        .observed(),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit)
        .event_field("hookName", "prompt_submit")
        .always_background()
        .fields(&[FieldRow::named("userPromptSubmit.prompt", "prompt").unless_empty()])
        .uncertain(),
    EventRow::new("PreToolUse", EventKind::PreToolUse)
        .event_field("hookName", "tool_call")
        .blocks()
        .fields(&CALL)
        .observed(),
    // Also fires for failed tools.
    EventRow::new("PostToolUse", EventKind::PostToolUse)
        .event_field("hookName", "tool_result")
        .fields(&RESULT)
        .observed(),
    EventRow::new("PreCompact", EventKind::PreCompact).always_background().uncertain(),
];

/// Dialect `cline@extension`: the extension for editors. Source: only its code.
pub static EXTENSION: Dialect = Dialect {
    name: "cline@extension",
    evidence: crate::agents::evidence::CLINE_EXTENSION,
    facts: None,
    events: EXTENSION_EVENTS,
    tools: &[
        ToolRow::new("execute_command", &["Bash"]),
        ToolRow::new("write_to_file", &["Write"]).takes(PATH),
        ToolRow::new("replace_in_file", &["Edit"]).takes(PATH),
        ToolRow::new("apply_patch", &["Edit", "Write"]).takes(seen_in_patch!("input")),
        ToolRow::new("read_file", &["Read"]).takes(PATH),
        ToolRow::new("search_files", &["Grep"])
            .takes(&[InputRow::named("regex", "pattern"), InputRow::named("file_pattern", "glob")]),
        ToolRow::new("list_files", &["LS"]),
        ToolRow::new("use_subagents", &["Agent"]),
        ToolRow::same("use_mcp_tool"),
    ],
    reply: ReplyTable {
        // The agent finds the reply inside other output.
        trigger: AnswerDetection::LastObject,
        tolerates: &[Defect::InvalidUtf8, Defect::ByteOrderMark, Defect::DuplicateKey, Defect::LeadingLines],
        keys: &[
            Key::new(&["cancel"], KeyMeaning::Flag(true, Decision::Halt)).at(EventScope::Blocking),
            Key::new(&["errorMessage"], KeyMeaning::Reason).at(EventScope::Blocking),
            Key::new(&["contextModification"], KeyMeaning::Context),
        ],
        ..CLINE.reply
    },
    time: TimeTable::seconds(30),
    rules: CLINE.rules.order(RunOrder::Parallel),
    host: HostTable { not_observable: &["notifications: the event exists but never fires"], ..HostTable::UNKNOWN },
    install: Some(
        InstallTable::new(
            &[],
            &[SettingsPath::new(PathBase::Home, "Documents/Cline")],
            &[SettingsPath::new(PathBase::Home, "Documents/Cline/Hooks")],
            &[SettingsPath::new(PathBase::Project, ".clinerules/hooks")],
        )
        .then(&["next: enable hooks in the settings of the extension"]),
    ),
    ..CLINE
};

const EXTENSION_EVENTS: &[EventRow] = &[
    EventRow::new("TaskStart", EventKind::SessionStart).blocks().fields(&[FieldRow::named("taskStart", "taskStart")]),
    EventRow::new("TaskResume", EventKind::SessionResume)
        .blocks()
        .fields(&[FieldRow::named("taskResume", "taskResume")]),
    EventRow::new("TaskCancel", EventKind::TurnCancelled).fields(&[FieldRow::named("taskCancel", "taskCancel")]),
    EventRow::new("TaskComplete", EventKind::Stop).fields(&[FieldRow::named("taskComplete", "taskComplete")]),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit).blocks().fields(&[
        FieldRow::named("userPromptSubmit.prompt", "prompt"),
        FieldRow::named("userPromptSubmit.attachments", "attachments"),
    ]),
    EventRow::new("PreToolUse", EventKind::PreToolUse).blocks().fields(&[
        FieldRow::named("preToolUse.toolName", "tool_name"),
        FieldRow::named("preToolUse.parameters", "tool_input").form(FieldEncoding::TextValues),
    ]),
    EventRow::new("PostToolUse", EventKind::PostToolUse).fields(&[
        FieldRow::named("postToolUse.toolName", "tool_name"),
        FieldRow::named("postToolUse.parameters", "tool_input").form(FieldEncoding::TextValues),
        FieldRow::named("postToolUse.result", "tool_response"),
        FieldRow::named("postToolUse.success", "success"),
        FieldRow::named("postToolUse.executionTimeMs", "duration_ms"),
    ]),
    EventRow::new("PreCompact", EventKind::PreCompact).fields(&[FieldRow::named("preCompact", "preCompact")]),
    EventRow::new("Notification", EventKind::Notification)
        .fields(&[FieldRow::named("notification", "notification")])
        .uncertain(),
];
