//! Devin CLI: Claude Code's shape with fewer words in the answers.
//!
//! Known from parts of its documentation. Not certain: how hooks add context or change the input, which its documentation
//! says they can without naming the keys, so that checkrein never says them; how long hooks may take that do not say; which
//! of several hooks decides. In older versions any exit code but 0 denied, in newer ones only 2. It reads Claude Code's files
//! as well; those of its events that Devin does not have are passed over.

use checkrein_core::{Decision, EventKind, FailureTable, Grammar, Rules, RunOrder, Scope};

use crate::config::{
    Attribute, Base, ConfigTable, Decoder, Encoded, FileRow, HandlerRow, HookKey, PluginTable, Same, Shape, TimeUnit,
};
use crate::install::{InstallTable, Spot};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{At, Code, ExitRule, From, Key, Means, ReplyTable, Then, Trigger, Unknown};
use crate::spec::HookSpec;
use crate::table::{
    Data, Dialect, Environment, EventRow, ExitReason, HostTable, Outcome, ProcessTable, TimeTable, ToolRow, VariableRow,
};
use checkrein_document::Node;

/// The table.
pub static DIALECT: Dialect = Dialect {
    tools: &[
        ToolRow::new("exec", &["Bash"]),
        ToolRow::new("write", &["Write"]),
        ToolRow::new("edit", &["Edit"]),
        ToolRow::new("apply_patch", &["Edit", "Write"]),
        ToolRow::new("notebook_edit", &["NotebookEdit"]),
        ToolRow::new("webfetch", &["WebFetch"]),
    ],
    matcher: Grammar::REGEX_SEARCH,
    payload: PayloadTable {
        event: "hook_event_name",
        fields: &[FieldRow::same("session_id").or("\"\""), FieldRow::same("prompt_id"), FieldRow::same("cwd")],
        everything: false,
        originals: false,
    },
    reply: ReplyTable {
        trigger: Trigger::Brace,
        unknown_keys: Unknown::Told,
        bad_values: Unknown::Failure,
        keys: KEYS,
        exits: &[
            ExitRule::new(Code::Is(0), Then::Read),
            ExitRule::new(Code::Is(2), Then::Decide(Decision::Deny, &[From::Stderr, From::Answer])).at(At::Blocking),
            ExitRule::new(Code::Any, Then::Fail),
        ],
        ..BASE.reply
    },
    process: ProcessTable {
        environment: Environment::All,
        variables: &[VariableRow::new("DEVIN_PROJECT_DIR", Data::ProjectDir)],
        ..BASE.process
    },
    time: TimeTable::seconds(60),
    rules: Rules::NATIVE.order(RunOrder::Parallel).failures(FailureTable::open()),
    stop_cap: 0,
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, Base::Config, "devin/config.json"),
            FileRow::new(Scope::User, Base::Home, ".claude/settings.json"),
            FileRow::new(Scope::User, Base::Home, ".claude.json"),
            FileRow::new(Scope::Project, Base::Project, ".devin/hooks.v1.json"),
            FileRow::new(Scope::Project, Base::Project, ".devin/config.json"),
            FileRow::new(Scope::Project, Base::Project, ".claude/settings.json"),
            FileRow::new(Scope::Local, Base::Project, ".claude/settings.local.json"),
        ],
        decode,
        encode: Some(encode),
        plugin: Some(PluginTable { file: "hooks/hooks.json", root_variable: "DEVIN_PLUGIN_ROOT" }),
        same: Same::Never,
        ..BASE.config
    },
    host: HostTable {
        failure_switch: None,
        missing_program: Outcome::Runs,
        killed: Outcome::Unknown,
        late: Outcome::Unknown,
        exit_reason: ExitReason::Plain,
        unseen: &["all of it in cloud sessions and in restricted mode", "sub-agents"],
        uncertain: &[
            "how hooks add context or change the input: it is said that they can",
            "how long a hook may take that does not say, and which of several decides",
            "in older versions any exit code but 0 denied",
        ],
    },
    install: Some(InstallTable::new(
        &["devin"],
        &[Spot::new(Base::Config, "devin")],
        &[Spot::new(Base::Config, "devin/config.json")],
        &[Spot::new(Base::Project, ".devin/config.json")],
    )),
    ..BASE
};

const BASE: Dialect = Dialect::of_names("devin", EVENTS);

const TOOL: [FieldRow; 3] = [FieldRow::same("tool_name"), FieldRow::same("tool_input"), FieldRow::same("tool_use_id")];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart).fields(&[FieldRow::same("source")]),
    EventRow::new("SessionEnd", EventKind::SessionEnd).fields(&[FieldRow::same("reason")]),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit).blocks().uncertain().fields(&[FieldRow::same("prompt")]),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&TOOL),
    EventRow::new("PostToolUse", EventKind::PostToolUse).matched().fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        FieldRow::same("tool_response"),
    ]),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest).matched().blocks().fields(&TOOL),
    EventRow::new("Stop", EventKind::Stop)
        .blocks()
        .fields(&[FieldRow::same("last_assistant_message"), FieldRow::same("stop_hook_active").or("false")]),
    EventRow::new("PostCompaction", EventKind::PostCompact).fields(&[FieldRow::same("trigger")]),
];

const REQUEST: At = At::Kinds(&[EventKind::PermissionRequest]);
const OTHERS: At = At::Kinds(&[EventKind::PromptSubmit, EventKind::PreToolUse, EventKind::Stop]);

const KEYS: &[Key] = &[
    Key::new(
        &["decision"],
        Means::Decision(&[("block", Decision::Deny), ("deny", Decision::Deny), ("approve", Decision::Allow)]),
    )
    .at(REQUEST),
    // Leave means something only where it was asked for.
    Key::new(
        &["decision"],
        Means::Decision(&[("block", Decision::Deny), ("deny", Decision::Deny), ("approve", Decision::NoOpinion)]),
    )
    .at(OTHERS),
    Key::new(&["reason"], Means::Reason).at(At::Blocking),
];

const SHAPE: Shape = Shape {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("prompt", Attribute::Setting),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
        // Of Claude Code's files, and not known to count here.
        HookKey::new("async", Attribute::Elsewhere),
        HookKey::new("if", Attribute::Elsewhere),
        HookKey::new("statusMessage", Attribute::Elsewhere),
        HookKey::new("onFailure", Attribute::Elsewhere),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"]), HandlerRow::new("prompt", "prompt", &["prompt"])],
    bare: true,
    beside: &[
        "Setup",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
        "PostToolUseFailure",
        "PostToolBatch",
        "PermissionDenied",
        "StopFailure",
    ],
    ..Shape::USUAL
};

fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    SHAPE.decode(decoder, root);
}

fn encode(dialect: &Dialect, hooks: &[&HookSpec]) -> Encoded {
    SHAPE.encode(dialect, hooks)
}
