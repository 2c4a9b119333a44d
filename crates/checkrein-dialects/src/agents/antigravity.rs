//! Antigravity CLI (`agy`): named hooks, payloads with the call in an object, and decisions as JSON only.
//!
//! Source: reports of third parties, which differ. All facts are uncertain, so every answer is safe in each reading:
//!
//! - An answer without a decision blocks the tool in some versions, and `allow` skips the permission prompt in some reports. So
//!   checkrein answers `ask` if no hook has an opinion.
//! - `ask` uses cached permissions. If a hook asks, checkrein answers `force_ask`, which ignores them.
//! - Keys for a new input are not confirmed. checkrein denies a call that a hook rewrites.

use checkrein_core::{Decision, EventKind, Grammar, Rules, RunOrder, Scope};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, Decoder, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, TimeUnit,
};
use crate::input::{InputRow, McpNames};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldEncoding, FieldRow, PayloadTable};
use crate::reply::{
    EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, NoOpinionAnswer, ReplyTable, UnknownPolicy,
};
use crate::table::{Dialect, EventRow, HostTable, TimeTable, ToolRow};
use checkrein_document::Node;

/// Dialect of Antigravity CLI.
pub static DIALECT: Dialect = Dialect {
    name: "antigravity",
    evidence: crate::agents::evidence::ANTIGRAVITY,
    title: "Antigravity",
    events: EVENTS,
    tools: TOOLS,
    mcp: McpNames::UNKNOWN,
    matcher: Grammar::REGEX_SEARCH,
    payload: PayloadTable { event: "", ..PayloadTable::fields(COMMON) },
    reply: ReplyTable {
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::ReadOrFail),
        ],
        bad_values: UnknownPolicy::Failure,
        no_opinion: Some(NoOpinionAnswer { at: GATE, path: "decision", json: "\"ask\"" }),
        ..ReplyTable::LENIENT
    },
    time: TimeTable::seconds(30),
    rules: Rules::NATIVE.order(RunOrder::Parallel),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::Project, PathBase::Project, ".agents/hooks.json"),
            FileRow::new(Scope::User, PathBase::Home, ".gemini/config/hooks.json"),
        ],
        format: FileFormat::Custom { decode, encode: |dialect, hooks| LAYOUT.encode(dialect, hooks) },
        ..ConfigTable::BASE
    },
    host: HostTable {
        not_observable: &[
            "the start of a sub-agent (`invoke_subagent`): its hooks run, but a denial is ignored",
            "prompts, and the start and end of sessions",
        ],
        uncertain: &[
            "everything: no run and no source code of the agent was available",
            "the effect of an answer without a decision: blocked, or as without a hook",
            "`allow`: skips the permission prompt, or not",
            "files: some versions read only hooks of plugins",
        ],
        ..HostTable::UNKNOWN
    },
    install: Some(
        InstallTable::new(
            &["agy"],
            &[SettingsPath::new(PathBase::Home, ".gemini/antigravity-cli")],
            &[SettingsPath::new(PathBase::Home, ".gemini/config/hooks.json")],
            &[SettingsPath::new(PathBase::Project, ".agents/hooks.json")],
        )
        .then(&[
            "next: run `/hooks` in agy and check that it lists checkrein; some versions read only hooks of plugins",
        ]),
    ),
    ..CLAUDE_LIKE
};

const FILE: InputRow = InputRow::named("TargetFile", "file_path");

const TOOLS: &[ToolRow] = &[
    ToolRow::new("run_command", &["Bash"])
        .takes(&[InputRow::named("CommandLine", "command"), InputRow::named("Cwd", "cwd")]),
    ToolRow::new("view_file", &["Read"]).takes(&[InputRow::named("AbsolutePath", "file_path"), FILE]),
    ToolRow::new("write_to_file", &["Write"]).takes(&[FILE, InputRow::named("CodeContent", "content")]),
    ToolRow::new("replace_file_content", &["Edit"]).takes(&[FILE]),
    ToolRow::new("multi_replace_file_content", &["Edit", "MultiEdit"]).takes(&[FILE]),
    ToolRow::new("list_dir", &["LS"]).takes(&[InputRow::named("DirectoryPath", "path")]),
    ToolRow::new("find_by_name", &["Glob"]).takes(&[InputRow::named("Pattern", "pattern")]),
    ToolRow::new("grep_search", &["Grep"]).takes(&[InputRow::named("Query", "pattern")]),
    ToolRow::new("search_web", &["WebSearch"]),
    ToolRow::new("read_url_content", &["WebFetch"]).takes(&[InputRow::named("Url", "url")]),
    ToolRow::new("invoke_subagent", &["Agent", "Task"]),
];

const COMMON: &[FieldRow] = &[
    FieldRow::named("conversationId", "session_id").or("\"\""),
    FieldRow::named("workspacePaths", "workspace_paths"),
    FieldRow::same("cwd"),
    FieldRow::named("workspacePaths", "cwd").form(FieldEncoding::First),
    FieldRow::named("transcriptPath", "transcript_path"),
    FieldRow::named("artifactDirectoryPath", "artifact_directory_path"),
    FieldRow::named("modelName", "model"),
    FieldRow::named("stepIdx", "step_index"),
];

const EVENTS: &[EventRow] = &[
    EventRow::new("PreToolUse", EventKind::PreToolUse)
        .matched()
        .blocks()
        .fields(&[FieldRow::named("toolCall.name", "tool_name"), FieldRow::named("toolCall.args", "tool_input")])
        .uncertain(),
    // Some reports have no tool here.
    EventRow::new("PostToolUse", EventKind::PostToolUse)
        .matched()
        .fields(&[
            FieldRow::named("toolCall.name", "tool_name").or("\"\""),
            FieldRow::named("toolCall.args", "tool_input").or("{}"),
            FieldRow::named("result", "tool_response"),
            FieldRow::same("error"),
        ])
        .uncertain(),
    EventRow::new("PreInvocation", EventKind::TurnStart)
        .fields(&[FieldRow::named("invocationNum", "iteration"), FieldRow::named("initialNumSteps", "initial_steps")])
        .uncertain(),
    EventRow::new("PostInvocation", EventKind::TurnEnd)
        .fields(&[FieldRow::named("invocationNum", "iteration")])
        .uncertain(),
    EventRow::new("Stop", EventKind::Stop)
        .blocks()
        .fields(&[
            FieldRow::named("terminationReason", "reason"),
            FieldRow::named("executionNum", "loop_count"),
            FieldRow::named("fullyIdle", "fully_idle"),
        ])
        .uncertain(),
];

const GATE: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const AT_STOP: EventScope = EventScope::Kinds(&[EventKind::Stop]);

const KEYS: &[Key] = &[
    Key::new(
        &["decision"],
        KeyMeaning::Decision(&[
            ("allow", Decision::Allow),
            ("auto_approve", Decision::Allow),
            ("deny", Decision::Deny),
            ("deny_unless_prior_grant", Decision::Deny),
            // The first word for a decision is the one that is written.
            ("force_ask", Decision::Ask),
            ("ask", Decision::Ask),
        ]),
    )
    .at(GATE),
    Key::new(&["reason"], KeyMeaning::Reason).at(GATE),
    Key::new(&["decision"], KeyMeaning::Decision(&[("continue", Decision::Deny), ("stop", Decision::NoOpinion)]))
        .at(AT_STOP),
    Key::new(&["reason"], KeyMeaning::Reason).at(AT_STOP),
    Key::new(&["overwrite", "permissionOverrides", "injectSteps"], KeyMeaning::Nothing),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    // The name of the hook that `install` writes.
    root: "checkrein",
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    beside: &["enabled", "description"],
    infers_type: true,
    ..HookFileLayout::USUAL
};

/// Reads named hooks: each is an object with events. Those that are not enabled are skipped.
fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    let Ok(members) = decoder.object(root, "the file") else {
        let place = decoder.place(root.span);
        decoder.unreadable("the top level of the file is not an object", place);
        return;
    };
    for named in members.iter().filter(|named| named.value.as_object().is_some()) {
        if named.value.get("enabled").and_then(Node::as_bool) != Some(false) {
            LAYOUT.decode_events(decoder, &named.value, &named.key);
        }
    }
}
