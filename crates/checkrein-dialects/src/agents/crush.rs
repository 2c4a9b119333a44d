//! Crush: one event, whose hooks can also be one line of shell, since the tool's input is in variables.
//!
//! Known from its source. Exit code 49 ends the turn. New values for some fields of the input are merged into it, in the
//! order of the file; checkrein reports two hooks that want different values for one field. Hooks do not run in sub-agents.

use checkrein_core::{Decision, EventKind, FailureTable, Grammar, Rules, RunOrder, Scope, Target};

use crate::config::{
    Attribute, Base, ConfigTable, Decoder, Encoded, FileRow, HandlerRow, HookKey, Same, Shape, TimeUnit,
};
use crate::input::InputRow;
use crate::install::{InstallTable, Spot};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{Code, ExitRule, From, Key, Means, ReplyTable, Then, Trigger, Unknown};
use crate::spec::HookSpec;
use crate::table::{
    Data, Dialect, Environment, EventRow, ExitReason, HostTable, Outcome, ProcessTable, TimeTable, ToolRow, VariableRow,
};
use checkrein_document::Node;

/// The table.
pub static DIALECT: Dialect = Dialect {
    tools: &[
        ToolRow::new("bash", &["Bash"]),
        ToolRow::new("write", &["Write"]),
        ToolRow::new("edit", &["Edit"]),
        ToolRow::new("multiedit", &["MultiEdit", "Edit"]),
        ToolRow::new("view", &["Read"]),
        ToolRow::new("grep", &["Grep"]).takes(&[InputRow::named("include", "glob")]),
        ToolRow::new("glob", &["Glob"]),
        ToolRow::new("agent", &["Agent"]),
    ],
    matcher: Grammar::REGEX_SEARCH,
    payload: PayloadTable {
        event: "event",
        fields: &[FieldRow::same("session_id").or("\"\""), FieldRow::same("cwd").or("\"\"")],
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
            ExitRule::new(Code::Is(2), Then::Decide(Decision::Deny, &[From::Stderr, From::Answer])),
            ExitRule::new(Code::Is(49), Then::Decide(Decision::Halt, &[From::Stderr, From::Answer])),
            ExitRule::new(Code::Any, Then::Fail),
        ],
        ..BASE.reply
    },
    process: ProcessTable {
        environment: Environment::All,
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
        ..BASE.process
    },
    time: TimeTable::seconds(30),
    rules: Rules::NATIVE.order(RunOrder::Parallel).failures(FailureTable::open()),
    stop_cap: 0,
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, Base::Config, "crush/crush.json"),
            FileRow::new(Scope::User, Base::Home, ".local/share/crush/crush.json"),
            FileRow::new(Scope::Project, Base::Project, "crush.json"),
            FileRow::new(Scope::Project, Base::Project, ".crush.json"),
            FileRow::new(Scope::Project, Base::Project, ".crush/crush.json"),
        ],
        decode,
        encode: Some(encode),
        same: Same::Handler,
        ..BASE.config
    },
    host: HostTable {
        failure_switch: None,
        missing_program: Outcome::Runs,
        killed: Outcome::Runs,
        late: Outcome::Runs,
        exit_reason: ExitReason::Plain,
        unseen: &["what sub-agents do", "everything but tool calls"],
        uncertain: &[],
    },
    install: Some(InstallTable::new(
        &["crush"],
        &[Spot::new(Base::Config, "crush")],
        &[Spot::new(Base::Config, "crush/crush.json")],
        &[Spot::new(Base::Project, ".crush.json"), Spot::new(Base::Project, "crush.json")],
    )),
    ..BASE
};

const BASE: Dialect = Dialect::of_names("crush", EVENTS);

const EVENTS: &[EventRow] = &[EventRow::new("PreToolUse", EventKind::PreToolUse)
    .matched()
    .blocks()
    .fields(&[FieldRow::same("tool_name"), FieldRow::same("tool_input")])];

const WORDS: &[(&str, Decision)] = &[("allow", Decision::Allow), ("deny", Decision::Deny)];

const KEYS: &[Key] = &[
    Key::new(&["decision"], Means::Decision(WORDS)),
    Key::new(&["reason"], Means::Reason),
    Key::new(&["halt"], Means::Flag(true, Decision::Halt)),
    Key::new(&["reason"], Means::Reason),
    Key::new(&["context"], Means::Context),
    Key::new(&["updated_input"], Means::Merge(Target::Input)).or_text(),
    Key::new(&["version"], Means::Nothing),
    // Claude Code's answers are understood too.
    Key::new(&["hookSpecificOutput.permissionDecision"], Means::Decision(WORDS)).only_read(),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], Means::Reason).only_read(),
    Key::new(&["hookSpecificOutput.updatedInput"], Means::Merge(Target::Input)).only_read(),
    Key::new(&["hookSpecificOutput.hookEventName"], Means::Nothing),
];

const SHAPE: Shape = Shape {
    keys: &[
        HookKey::new("name", Attribute::Id),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    infers_type: true,
    direct: true,
    loose_names: true,
    ..Shape::USUAL
};

fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    SHAPE.decode(decoder, root);
}

fn encode(dialect: &Dialect, hooks: &[&HookSpec]) -> Encoded {
    SHAPE.encode(dialect, hooks)
}
