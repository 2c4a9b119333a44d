//! opencode: plugin hooks and bus events. checkrein knows their names and the tools; a plugin must send the payloads.

use checkrein_core::EventKind;

use crate::config::ConfigTable;
use crate::input::patch::seen_in_patch;
use crate::{Dialect, EventRow, HostTable, InputRow, McpNames, ToolRow};

/// Dialect of opencode.
pub static DIALECT: Dialect = Dialect {
    evidence: crate::agents::evidence::OPENCODE,
    tools: &[
        ToolRow::new("bash", &["Bash"]),
        ToolRow::new("write", &["Write"]).takes(FILE),
        ToolRow::new("edit", &["Edit"]).takes(EDIT),
        ToolRow::new("multiedit", &["Edit"]).takes(FILE),
        ToolRow::new("patch", &["Edit", "Write"]).takes(seen_in_patch!("patchText")),
        ToolRow::new("apply_patch", &["Edit", "Write"]).takes(seen_in_patch!("patchText")),
        ToolRow::new("read", &["Read"]).takes(FILE),
        ToolRow::new("list", &["LS"]),
        ToolRow::new("glob", &["Glob"]),
        ToolRow::new("grep", &["Grep"]).takes(&[InputRow::named("include", "glob")]),
        ToolRow::new("webfetch", &["WebFetch"]),
        ToolRow::new("websearch", &["WebSearch"]),
        ToolRow::new("task", &["Agent", "Task"]),
        ToolRow::new("todowrite", &["TodoWrite"]),
        ToolRow::new("question", &["AskUserQuestion"]),
        ToolRow::new("skill", &["Skill"]),
        ToolRow::same("todoread"),
        ToolRow::same("codesearch"),
        ToolRow::same("lsp"),
    ],
    mcp: McpNames::new("", "_"),
    config: ConfigTable {
        by_hand: Some(
            "its hooks are plugins: copy the plugin in docs/agents.md (\"opencode\") to \
             ~/.config/opencode/plugin/checkrein.js; it calls `checkrein hook opencode`",
        ),
        ..ConfigTable::BASE
    },
    host: HostTable { programs: &["opencode"], ..HostTable::UNKNOWN },
    ..Dialect::named("opencode", EVENTS)
};

const FILE: &[InputRow] = &[InputRow::named("filePath", "file_path")];
const EDIT: &[InputRow] = &[
    FILE[0],
    InputRow::named("oldString", "old_string"),
    InputRow::named("newString", "new_string"),
    InputRow::named("replaceAll", "replace_all"),
];

const EVENTS: &[EventRow] = &[
    EventRow::new("session.created", EventKind::SessionStart),
    EventRow::new("session.deleted", EventKind::SessionEnd),
    EventRow::new("chat.message", EventKind::PromptSubmit),
    EventRow::new("command.execute.before", EventKind::PromptExpansion),
    EventRow::new("chat.params", EventKind::BeforeModel),
    EventRow::new("chat.headers", EventKind::BeforeModel),
    EventRow::new("experimental.chat.messages.transform", EventKind::BeforeModel),
    EventRow::new("experimental.chat.system.transform", EventKind::BeforeModel),
    EventRow::new("tool.execute.before", EventKind::PreToolUse),
    EventRow::new("tool.execute.after", EventKind::PostToolUse),
    EventRow::new("shell.env", EventKind::ShellEnvironment),
    EventRow::new("file.edited", EventKind::PostFileWrite),
    EventRow::new("file.watcher.updated", EventKind::FileChanged),
    EventRow::new("permission.ask", EventKind::PermissionRequest),
    EventRow::new("permission.asked", EventKind::PermissionRequest),
    EventRow::new("tui.toast.show", EventKind::Notification),
    EventRow::new("session.idle", EventKind::Stop),
    EventRow::new("session.error", EventKind::Error),
    EventRow::new("experimental.session.compacting", EventKind::PreCompact),
    EventRow::new("session.compacted", EventKind::PostCompact),
];
