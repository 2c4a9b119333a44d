//! Agent hooks of VS Code (the "local" harness of its documentation): the format of Claude Code without matchers.
//!
//! The other harnesses of VS Code are Copilot, Claude and Codex. They run in its agent host and read the hook files of those agents.
//!
//! Source: its documentation, and code that is some months older. VS Code also reads the files of Copilot, with Copilot's
//! spelling of events and commands. Events of Copilot that VS Code does not have are skipped.

use checkrein_core::{ChainEnd, ConcurrentRewrites, Decision, EventKind, RunOrder, Scope, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, TimeUnit,
};
use crate::input::patch::seen_in_patch;
use crate::input::{InputForm, InputRow};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldEncoding, FieldRow, PayloadTable};
use crate::reply::{EventScope, Key, KeyMeaning, ReplyTable};
use crate::table::{Dialect, EventRow, HostTable, TimeTable, ToolRow};

/// Metadata key that tells the host that a hook ended the turn. Later hooks do not run.
pub const STOPPED: &str = "stopped";

/// Dialect of VS Code.
pub static DIALECT: Dialect = Dialect {
    name: "vscode",
    evidence: crate::agents::evidence::VSCODE,
    title: "VS Code",
    events: EVENTS,
    tools: TOOLS,
    payload: PayloadTable::fields(&[
        FieldRow::same("timestamp"),
        FieldRow::same("session_id").or("\"\""),
        FieldRow::same("transcript_path"),
        FieldRow::same("cwd"),
    ]),
    reply: ReplyTable { keys: KEYS, ..CLAUDE_LIKE.reply },
    time: TimeTable::seconds(30),
    rules: CLAUDE_LIKE
        .rules
        .order(RunOrder::Sequential)
        .chain_end(ChainEnd::FirstTagged(STOPPED))
        .concurrent_rewrites(ConcurrentRewrites::LastInOrder),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::Project, PathBase::Project, ".github/hooks/*").with(&["json"]),
            FileRow::new(Scope::Project, PathBase::Project, ".claude/settings.json"),
            FileRow::new(Scope::Local, PathBase::Project, ".claude/settings.local.json"),
            FileRow::new(Scope::User, PathBase::Home, ".copilot/hooks/*").with(&["json"]),
            FileRow::new(Scope::User, PathBase::Home, ".claude/settings.json"),
        ],
        format: FileFormat::Layout(&LAYOUT),
        ..ConfigTable::BASE
    },
    host: HostTable {
        not_observable: &[
            "sessions of the harnesses Copilot, Claude and Codex, which have their own hook files",
            "the end of a session",
            "failed tools",
        ],
        uncertain: &["differences between its documentation and its code, of which an older version was read"],
        ..HostTable::FAILS_OPEN
    },
    install: Some(InstallTable::new(
        &["code"],
        &[SettingsPath::new(PathBase::Config, "Code"), SettingsPath::new(PathBase::Home, ".vscode")],
        &[SettingsPath::new(PathBase::Home, ".copilot/hooks/checkrein-vscode.json")],
        &[SettingsPath::new(PathBase::Project, ".github/hooks/checkrein-vscode.json")],
    )),
    ..CLAUDE_LIKE
};

const FILE: &[InputRow] = &[InputRow::named("filePath", "file_path")];
const REPLACEMENT: &[InputRow] = &[
    InputRow::named("filePath", "file_path"),
    InputRow::named("oldString", "old_string"),
    InputRow::named("newString", "new_string"),
];

const TOOLS: &[ToolRow] = &[
    ToolRow::new("run_in_terminal", &["Bash"]),
    ToolRow::new("create_file", &["Write"]).takes(FILE),
    ToolRow::new("replace_string_in_file", &["Edit"]).takes(REPLACEMENT),
    ToolRow::new("multi_replace_string_in_file", &["MultiEdit", "Edit"]).takes(&[
        InputRow::named("replacements", "edits").form(InputForm::Each(REPLACEMENT)),
        InputRow::seen_in("replacements", "filePath", "file_path"),
        InputRow::seen_in("replacements", "oldString", "old_string"),
        InputRow::seen_in("replacements", "newString", "new_string"),
    ]),
    ToolRow::new("insert_edit_into_file", &["Edit"])
        .takes(&[InputRow::named("filePath", "file_path"), InputRow::named("code", "new_string")]),
    ToolRow::new("apply_patch", &["Edit", "Write"]).takes(seen_in_patch!("input")),
    ToolRow::new("read_file", &["Read"]).takes(FILE),
    ToolRow::new("grep_search", &["Grep"])
        .takes(&[InputRow::named("query", "pattern"), InputRow::named("includePattern", "glob")]),
    ToolRow::new("file_search", &["Glob"]).takes(&[InputRow::named("query", "pattern")]),
    ToolRow::same("semantic_search"),
    ToolRow::new("runSubagent", &["Agent"]).takes(&[InputRow::named("agentName", "subagent_type")]),
];

const STOP: FieldRow = FieldRow::same("stop_hook_active").or("false");
const AGENT: [FieldRow; 2] = [FieldRow::same("agent_id"), FieldRow::same("agent_type")];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart).fields(&[FieldRow::same("source")]),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit).blocks().fields(&[FieldRow::same("prompt")]),
    EventRow::new("PreToolUse", EventKind::PreToolUse).blocks().fields(&[
        FieldRow::same("tool_name"),
        FieldRow::same("tool_input"),
        FieldRow::same("tool_use_id"),
    ]),
    EventRow::new("PostToolUse", EventKind::PostToolUse).blocks().fields(&[
        FieldRow::same("tool_name"),
        FieldRow::same("tool_input"),
        FieldRow::same("tool_use_id"),
        FieldRow::same("tool_response").form(FieldEncoding::Text),
    ]),
    EventRow::new("PreCompact", EventKind::PreCompact).fields(&[FieldRow::same("trigger")]),
    EventRow::new("SubagentStart", EventKind::SubagentStart).fields(&AGENT),
    EventRow::new("SubagentStop", EventKind::SubagentStop).blocks().fields(&[AGENT[0], AGENT[1], STOP]),
    EventRow::new("Stop", EventKind::Stop).blocks().fields(&[STOP]),
];

const TOOL_CALL: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const AFTER: EventScope = EventScope::Kinds(&[EventKind::PostToolUse, EventKind::SubagentStop]);
const AT_STOP: EventScope = EventScope::Kinds(&[EventKind::Stop]);
const BLOCK: &[(&str, Decision)] = &[("block", Decision::Deny)];

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::EventName),
    Key::new(
        &["hookSpecificOutput.permissionDecision"],
        KeyMeaning::Decision(&[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)]),
    )
    .at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason).at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.decision"], KeyMeaning::Decision(BLOCK)).at(AT_STOP),
    Key::new(&["hookSpecificOutput.reason"], KeyMeaning::Reason).at(AT_STOP),
    Key::new(&["decision"], KeyMeaning::Decision(BLOCK)).at(AFTER),
    Key::new(&["reason"], KeyMeaning::Reason).at(AFTER),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Halt)).tags(STOPPED),
    Key::new(&["stopReason"], KeyMeaning::StopReason),
    Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Replace(Target::Input)).at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context).at(EventScope::Kinds(&[
        EventKind::SessionStart,
        EventKind::PromptSubmit,
        EventKind::PreToolUse,
        EventKind::PostToolUse,
        EventKind::SubagentStart,
    ])),
    Key::new(&["systemMessage"], KeyMeaning::Message),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("linux", Attribute::CommandOn("linux")),
        HookKey::new("osx", Attribute::CommandOn("macos")),
        HookKey::new("windows", Attribute::CommandOn("windows")),
        HookKey::new("cwd", Attribute::Cwd),
        HookKey::new("env", Attribute::Env),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
        // Copilot's spelling.
        HookKey::new("bash", Attribute::CommandFor("bash")),
        HookKey::new("powershell", Attribute::CommandOn("windows")),
        HookKey::new("timeoutSec", Attribute::Timeout(TimeUnit::Seconds)),
        HookKey::new("comment", Attribute::Elsewhere),
    ],
    // The key of the command depends on the operating system.
    handlers: &[HandlerRow::new("command", "command", &[])],
    infers_type: true,
    direct: true,
    names: &[("userPromptSubmitted", "UserPromptSubmit"), ("agentStop", "Stop")],
    loose_names: true,
    beside: &[
        // Events of Copilot and Claude Code that VS Code does not have.
        "sessionEnd",
        "SessionEnd",
        "userPromptTransformed",
        "postToolUseFailure",
        "PostToolUseFailure",
        "permissionRequest",
        "PermissionRequest",
        "notification",
        "Notification",
        "errorOccurred",
        "ErrorOccurred",
        "PostToolBatch",
        "PermissionDenied",
        "StopFailure",
        "PostCompact",
    ],
    ..HookFileLayout::USUAL
};
