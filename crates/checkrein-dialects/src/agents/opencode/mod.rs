//! opencode: hooks are code in plugins. `install` writes a plugin, which calls `checkrein hook opencode`.
//!
//! The plugin sends payloads with checkrein's names, refuses by throwing, and changes inputs and outputs in place. opencode has
//! no timeout for plugins. The plugin blocks gates if checkrein is missing or fails.

use checkrein_core::{Decision, EventKind, Target};

use crate::config::{ConfigTable, FileFormat, PathBase};
use crate::input::patch::seen_in_patch;
use crate::install::{InstallTable, SettingsPath};
use crate::reply::{AnswerDetection, EventScope, Key, KeyMeaning, ReplyTable};
use crate::table::{ExitReason, HostBehavior};
use crate::{Dialect, EventRow, HostTable, InputRow, McpNames, ToolRow};

/// Dialect of opencode.
pub static DIALECT: Dialect = Dialect {
    evidence: crate::agents::evidence::OPENCODE,
    facts: Some(crate::agents::evidence::OPENCODE_FACTS),
    tools: &[
        ToolRow::new("bash", &["Bash"]).observed().takes(&[InputRow::named("workdir", "cwd")]),
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
    reply: ReplyTable {
        trigger: AnswerDetection::Object,
        keys: KEYS,
        // Plugins that users copied from older documentation read only the exit code.
        all_spellings: Some(REFUSING),
        ..ReplyTable::BASE
    },
    config: ConfigTable { format: FileFormat::Code(include_str!("plugin.js")), ..ConfigTable::BASE },
    host: HostTable {
        // The plugin blocks; opencode itself has no such rule.
        missing_program: HostBehavior::Blocked,
        missing_program_blocks_prompts: true,
        killed: HostBehavior::Blocked,
        on_hook_timeout: HostBehavior::Unknown,
        exit_reason: ExitReason::Plain,
        hides_messages: true,
        not_observable: &[
            "permission prompts of 1.18: the event exists but never fires",
            "anything in version 2, which has another plugin interface",
        ],
        calls_each_entry: true,
        uncertain: &["version 2: its plugins have other hooks, and no package of it was available"],
        ..HostTable::UNKNOWN
    },
    install: Some(
        InstallTable::new(
            &["opencode"],
            &[SettingsPath::new(PathBase::Config, "opencode")],
            &[SettingsPath::new(PathBase::Config, "opencode/plugin/checkrein.js")],
            &[SettingsPath::new(PathBase::Project, ".opencode/plugin/checkrein.js")],
        )
        .package("opencode-ai")
        .then(&["next: restart opencode, which loads plugins at start"]),
    ),
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
    EventRow::new("session.created", EventKind::SessionStart).observed(),
    EventRow::new("session.deleted", EventKind::SessionEnd),
    EventRow::new("chat.message", EventKind::PromptSubmit).blocks().observed(),
    EventRow::new("command.execute.before", EventKind::PromptExpansion).opt_in(),
    EventRow::new("chat.params", EventKind::BeforeModel).opt_in(),
    EventRow::new("chat.headers", EventKind::BeforeModel).opt_in(),
    EventRow::new("experimental.chat.messages.transform", EventKind::BeforeModel).opt_in(),
    EventRow::new("experimental.chat.system.transform", EventKind::BeforeModel).opt_in(),
    EventRow::new("tool.execute.before", EventKind::PreToolUse).matched().blocks().observed(),
    EventRow::new("tool.execute.after", EventKind::PostToolUse).matched().blocks().observed(),
    EventRow::new("shell.env", EventKind::ShellEnvironment).opt_in(),
    EventRow::new("file.edited", EventKind::PostFileWrite).opt_in(),
    EventRow::new("file.watcher.updated", EventKind::FileChanged).opt_in(),
    // In the types, but 1.18.33 never fires it.
    EventRow::new("permission.ask", EventKind::PermissionRequest).matched().blocks().uncertain(),
    EventRow::new("permission.asked", EventKind::PermissionRequest).opt_in(),
    EventRow::new("tui.toast.show", EventKind::Notification).opt_in(),
    EventRow::new("session.idle", EventKind::Stop).observed(),
    EventRow::new("session.error", EventKind::Error),
    EventRow::new("experimental.session.compacting", EventKind::PreCompact),
    EventRow::new("session.compacted", EventKind::PostCompact),
];

const GATE: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const REQUEST: EventScope = EventScope::Kinds(&[EventKind::PermissionRequest]);
const REFUSING: EventScope =
    EventScope::Kinds(&[EventKind::PreToolUse, EventKind::PermissionRequest, EventKind::PromptSubmit]);
const OTHERS: EventScope = EventScope::Kinds(&[EventKind::PromptSubmit, EventKind::PostToolUse]);
const WORDS: &[(&str, Decision)] = &[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)];

/// Answers to the plugin, which acts on them.
const KEYS: &[Key] = &[
    // Before a tool, a plugin can only refuse.
    Key::new(&["decision"], KeyMeaning::Decision(WORDS)).at(GATE).never_says(&[Decision::Allow, Decision::Ask]),
    Key::new(&["reason"], KeyMeaning::Reason).at(GATE),
    Key::new(&["decision"], KeyMeaning::Decision(WORDS)).at(REQUEST),
    Key::new(&["reason"], KeyMeaning::Reason).at(REQUEST),
    Key::new(&["decision"], KeyMeaning::Decision(&[("deny", Decision::Deny)])).at(OTHERS),
    Key::new(&["reason"], KeyMeaning::Reason).at(OTHERS),
    Key::new(&["args"], KeyMeaning::Replace(Target::Input)).at(GATE),
    Key::new(&["output"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::PostToolUse]))
        .same_shape(),
    Key::new(&["context"], KeyMeaning::Context).at(EventScope::Kinds(&[
        EventKind::PromptSubmit,
        EventKind::PostToolUse,
        EventKind::PreCompact,
    ])),
    Key::new(&["message"], KeyMeaning::Message),
];
