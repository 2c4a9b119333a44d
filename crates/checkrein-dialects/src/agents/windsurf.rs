//! Windsurf Cascade: one event per kind of tool, and only exit codes as replies.
//!
//! Source: copies of its documentation. Uncertain: whether it has a timeout.
//!
//! Exit code 2 blocks an action before it happens. There is no allow, no ask, no new input, no context, and no setting that
//! makes failures block.

use checkrein_core::{ChainEnd, Decision, EventKind, RunOrder, Scope};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{Attribute, ConfigTable, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase};
use crate::input::InputRow;
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{EventScope, ExitAction, ExitCodeMatch, ExitRule, ReasonSource, ReplyTable};
use crate::table::{Data, Dialect, EventRow, HostBehavior, HostTable, ProcessTable, ToolRow, VariableRow};

/// Dialect of Windsurf Cascade.
pub static DIALECT: Dialect = Dialect {
    name: "windsurf",
    evidence: crate::agents::evidence::WINDSURF,
    title: "Windsurf",
    events: EVENTS,
    tools: &[
        ToolRow::new("run_command", &["Bash"]),
        ToolRow::new("read_code", &["Read"]),
        ToolRow::new("write_code", &["Write", "Edit"]).takes(&[
            InputRow::seen_in("edits", "old_string", "old_string"),
            InputRow::seen_in("edits", "new_string", "new_string"),
            InputRow::seen_in("edits", "new_string", "content"),
        ]),
    ],
    payload: PayloadTable {
        event: "agent_action_name",
        ..PayloadTable::fields(&[
            FieldRow::named("trajectory_id", "session_id").or("\"\""),
            FieldRow::same("execution_id"),
            FieldRow::same("timestamp"),
        ])
    },
    reply: ReplyTable {
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Nothing),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr, ReasonSource::Stdout]),
            )
            .at(EventScope::Blocking),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..ReplyTable::BASE
    },
    process: ProcessTable {
        variables: &[VariableRow::new("ROOT_WORKSPACE_PATH", Data::Field("worktree_source_dir"))],
        ..CLAUDE_LIKE.process
    },
    rules: CLAUDE_LIKE.rules.order(RunOrder::Sequential).chain_end(ChainEnd::FirstBlock),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::Managed, PathBase::Root, "etc/windsurf/hooks.json"),
            FileRow::new(Scope::User, PathBase::Home, ".codeium/windsurf/hooks.json"),
            // The plugin for JetBrains.
            FileRow::new(Scope::User, PathBase::Home, ".codeium/hooks.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".windsurf/hooks.json"),
        ],
        format: FileFormat::Layout(&LAYOUT),
        ..ConfigTable::BASE
    },
    host: HostTable {
        on_hook_timeout: HostBehavior::Unknown,
        not_observable: &[
            "tools other than commands, files and MCP tools",
            "the start and end of sessions",
            "sub-agents",
        ],
        uncertain: &["whether hooks have a timeout"],
        ..HostTable::FAILS_OPEN
    },
    install: Some(InstallTable::new(
        &["windsurf"],
        &[SettingsPath::new(PathBase::Home, ".codeium/windsurf")],
        &[SettingsPath::new(PathBase::Home, ".codeium/windsurf/hooks.json")],
        &[SettingsPath::new(PathBase::Project, ".windsurf/hooks.json")],
    )),
    ..CLAUDE_LIKE
};

const COMMAND: [FieldRow; 3] = [
    FieldRow::implied("tool_name", "\"run_command\""),
    FieldRow::named("tool_info.command_line", "tool_input.command"),
    FieldRow::named("tool_info.cwd", "cwd"),
];
const READ: [FieldRow; 2] =
    [FieldRow::implied("tool_name", "\"read_code\""), FieldRow::named("tool_info.file_path", "tool_input.file_path")];
const WRITE: [FieldRow; 3] = [
    FieldRow::implied("tool_name", "\"write_code\""),
    FieldRow::named("tool_info.file_path", "tool_input.file_path"),
    FieldRow::named("tool_info.edits", "tool_input.edits"),
];
const MCP: [FieldRow; 3] = [
    FieldRow::named("tool_info.mcp_server_name", "mcp_server"),
    FieldRow::named("tool_info.mcp_tool_name", "tool_name"),
    FieldRow::named("tool_info.mcp_tool_arguments", "tool_input").or("{}"),
];

const EVENTS: &[EventRow] = &[
    EventRow::new("pre_user_prompt", EventKind::PromptSubmit)
        .blocks()
        .fields(&[FieldRow::named("tool_info.user_prompt", "prompt")]),
    EventRow::new("pre_run_command", EventKind::PreShell).blocks().fields(&COMMAND),
    EventRow::new("post_run_command", EventKind::PostShell).fields(&COMMAND),
    EventRow::new("pre_mcp_tool_use", EventKind::PreMcp).blocks().fields(&MCP),
    EventRow::new("post_mcp_tool_use", EventKind::PostMcp).fields(&[
        MCP[0],
        MCP[1],
        MCP[2],
        FieldRow::named("tool_info.mcp_result", "tool_response"),
    ]),
    EventRow::new("pre_read_code", EventKind::PreFileRead).blocks().fields(&READ),
    EventRow::new("post_read_code", EventKind::PostFileRead).fields(&READ),
    EventRow::new("pre_write_code", EventKind::PreFileWrite).blocks().fields(&WRITE),
    EventRow::new("post_write_code", EventKind::PostFileWrite).fields(&WRITE),
    EventRow::new("post_cascade_response", EventKind::Stop)
        .always_background()
        .fields(&[FieldRow::named("tool_info.response", "last_assistant_message")]),
    EventRow::new("post_cascade_response_with_transcript", EventKind::AgentResponse).fields(&[
        // Part of the transcript.
        FieldRow::implied("text", "\"\""),
        FieldRow::named("tool_info.transcript_path", "transcript_path"),
    ]),
    EventRow::new("post_setup_worktree", EventKind::WorktreeCreated).fields(&[
        FieldRow::named("tool_info.worktree_path", "worktree_path"),
        FieldRow::named("tool_info.root_workspace_path", "worktree_source_dir"),
    ]),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    file_keys: Some(&[]),
    keys: &[
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("powershell", Attribute::Elsewhere),
        HookKey::new("show_output", Attribute::Elsewhere),
        HookKey::new("working_directory", Attribute::Cwd),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    infers_type: true,
    direct: true,
    ..HookFileLayout::USUAL
};
