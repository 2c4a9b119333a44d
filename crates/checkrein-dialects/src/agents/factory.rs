//! Factory droid: Claude Code's shape with droid's own tools.
//!
//! Known from its documentation. Not certain: `commandRegex` beside a matcher, of which only others tell, and whether
//! `hooks.json` is read at all: people report that only `settings.json` is.

use checkrein_core::{Decision, EventKind, FailureTable, Rules, RunOrder, Scope, Target};

use crate::config::{
    Attribute, Base, ConfigTable, Decoder, Encoded, FileRow, HandlerRow, HookKey, PluginTable, Same, Shape, TimeUnit,
};
use crate::input::patch::seen_in_patch;
use crate::input::{InputForm, InputRow};
use crate::install::{InstallTable, Spot};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{At, Code, ExitRule, From, Key, Means, ReplyTable, Then, Trigger, Unknown};
use crate::spec::HookSpec;
use crate::table::{
    Data, Dialect, Environment, EventRow, ExitReason, HostTable, Outcome, Plain, ProcessTable, TimeTable, ToolRow,
    VariableRow,
};
use checkrein_document::Node;

/// The table.
pub static DIALECT: Dialect = Dialect {
    tools: &[
        ToolRow::new("Execute", &["Bash"]),
        ToolRow::new("Create", &["Write"]),
        ToolRow::same("Edit")
            .takes(&[InputRow::named("old_str", "old_string"), InputRow::named("new_str", "new_string")]),
        ToolRow::new("ApplyPatch", &["Edit", "Write"]).takes(seen_in_patch!("input")),
        ToolRow::same("Read"),
        ToolRow::same("Grep").takes(&[InputRow::named("glob_pattern", "glob")]),
        ToolRow::same("Glob")
            .takes(&[InputRow::named("patterns", "pattern").form(InputForm::Lines), InputRow::named("folder", "path")]),
        ToolRow::new("Task", &["Agent"]),
        ToolRow::new("FetchUrl", &["WebFetch"]),
        ToolRow::same("WebSearch"),
    ],
    payload: PayloadTable {
        event: "hook_event_name",
        fields: &[
            FieldRow::same("session_id").or("\"\""),
            FieldRow::same("transcript_path").or("\"\""),
            FieldRow::same("cwd").or("\"\""),
            FieldRow::same("permission_mode"),
        ],
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
        variables: &[VariableRow::new("FACTORY_PROJECT_DIR", Data::ProjectDir)],
        ..BASE.process
    },
    time: TimeTable::seconds(60),
    rules: Rules::NATIVE.order(RunOrder::Parallel).failures(FailureTable::open()),
    stop_cap: 0,
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, Base::Home, ".factory/hooks.json"),
            FileRow::new(Scope::User, Base::Home, ".factory/settings.json"),
            FileRow::new(Scope::User, Base::Home, ".factory/hooks/hooks.json"),
            FileRow::new(Scope::Project, Base::Project, ".factory/hooks.json"),
            FileRow::new(Scope::Project, Base::Project, ".factory/settings.json"),
            FileRow::new(Scope::Project, Base::Project, ".factory/hooks/hooks.json"),
        ],
        decode,
        encode: Some(encode),
        plugin: Some(PluginTable { file: "hooks/hooks.json", root_variable: "DROID_PLUGIN_ROOT" }),
        same: Same::Handler,
        ..BASE.config
    },
    host: HostTable {
        failure_switch: None,
        missing_program: Outcome::Runs,
        killed: Outcome::Runs,
        late: Outcome::Runs,
        exit_reason: ExitReason::Plain,
        unseen: &[
            "requests for permission",
            "tools that failed",
            "sub-agents that start",
            "turns that a user interrupted",
        ],
        uncertain: &[
            "`commandRegex` beside a matcher",
            "whether `hooks.json` is read: some report that only `settings.json` is",
        ],
    },
    install: Some(
        InstallTable::new(
            &["droid"],
            &[Spot::new(Base::Home, ".factory")],
            &[Spot::new(Base::Home, ".factory/hooks.json"), Spot::new(Base::Home, ".factory/settings.json")],
            &[Spot::new(Base::Project, ".factory/hooks.json"), Spot::new(Base::Project, ".factory/settings.json")],
        )
        .then(&["start droid anew: it reads its hooks when it starts, and may ask you to look at them"]),
    ),
    ..BASE
};

const BASE: Dialect = Dialect::of_names("factory", EVENTS);

const TOOL: [FieldRow; 3] = [FieldRow::same("tool_name"), FieldRow::same("tool_input"), FieldRow::same("tool_use_id")];
const STOP: &[FieldRow] = &[FieldRow::same("stop_hook_active").or("false")];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart)
        .matched()
        .plain(Plain::Context)
        .fields(&[FieldRow::same("source")]),
    EventRow::new("SessionEnd", EventKind::SessionEnd).fields(&[FieldRow::same("reason")]),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit)
        .blocks()
        .plain(Plain::Context)
        .fields(&[FieldRow::same("prompt")]),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&TOOL),
    EventRow::new("PostToolUse", EventKind::PostToolUse).matched().blocks().fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        FieldRow::same("tool_response"),
    ]),
    EventRow::new("Notification", EventKind::Notification).fields(&[FieldRow::same("message")]),
    EventRow::new("Stop", EventKind::Stop).blocks().fields(STOP),
    EventRow::new("SubagentStop", EventKind::SubagentStop).blocks().fields(STOP),
    EventRow::new("PreCompact", EventKind::PreCompact)
        .matched()
        .fields(&[FieldRow::same("trigger"), FieldRow::same("custom_instructions")]),
];

const TOOL_CALL: At = At::Kinds(&[EventKind::PreToolUse]);
const OUTER: At =
    At::Kinds(&[EventKind::PromptSubmit, EventKind::PostToolUse, EventKind::Stop, EventKind::SubagentStop]);

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], Means::EventName),
    Key::new(
        &["hookSpecificOutput.permissionDecision"],
        Means::Decision(&[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)]),
    )
    .at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], Means::Reason).at(TOOL_CALL),
    Key::new(&["decision"], Means::Decision(&[("block", Decision::Deny), ("approve", Decision::Allow)]))
        .at(TOOL_CALL)
        .only_read(),
    Key::new(&["reason"], Means::Reason).at(TOOL_CALL).only_read(),
    Key::new(&["decision"], Means::Decision(&[("block", Decision::Deny)])).at(OUTER),
    Key::new(&["reason"], Means::Reason).at(OUTER),
    Key::new(&["continue"], Means::Flag(false, Decision::Halt)),
    Key::new(&["stopReason"], Means::StopReason),
    // The fields that are to change.
    Key::new(&["hookSpecificOutput.updatedInput"], Means::Merge(Target::Input)).at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.additionalContext"], Means::Context).at(At::Kinds(&[
        EventKind::SessionStart,
        EventKind::PromptSubmit,
        EventKind::PostToolUse,
    ])),
    Key::new(&["systemMessage"], Means::Message),
    Key::new(&["suppressOutput"], Means::Suppress),
];

const SHAPE: Shape = Shape {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
    ],
    group: &[HookKey::new("commandRegex", Attribute::InputField("command"))],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    bare: true,
    ..Shape::USUAL
};

fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    SHAPE.decode(decoder, root);
}

fn encode(dialect: &Dialect, hooks: &[&HookSpec]) -> Encoded {
    SHAPE.encode(dialect, hooks)
}
