//! claw-code-go: in-process callbacks, and shell hooks for the three tool events.
//!
//! The callbacks are [`checkrein_core::Runner`]. This table describes the shell hooks: flat lists of commands that run in
//! order until one denies or fails. All output is for the model: `systemMessage`, `reason` and `additionalContext`, or the
//! text if it is no reply, are context of the verdict, in this order ([`messages`]).
//!
//! A hook that blocks (exit 2, `continue: false`, `decision: "block"`) ends the chain, and the host gets `blocked: true`.
//! `permissionDecision: "deny"` denies too, but later hooks still run and never cancel it. A failed hook blocks the tool. After
//! a tool it denies, which means that the result is treated as an error.
//!
//! Differences between checkrein and the agent:
//! - All files apply, and a command in several files runs once. In the agent, the last file replaces the others.
//! - Entries in the format of Claude Code are reported. The agent skips the whole file. They block nothing: the files belong to
//!   Claude Code, and such entries are not hooks of this agent.
//! - The timeout is 600 seconds. The agent has none.
//! - Shells are not login shells. A value that is too large for a variable is in a file ([`Data`]).
//! - Replies with an invalid key or value are failures and do not allow the tool. Replies without text for the model, such as
//!   `{}`, are not shown to it.

use checkrein_core::{
    ChainEnd, ConcurrentRewrites, Decision, DecisionRule, Event, EventKind, FailureKind, FailurePolicy, FailureTable,
    Grammar, RawJson, Rules, RunOrder, Scope, Syntax, Target, Verdict,
};

use crate::config::{
    Attribute, ConfigTable, ConversionLoss, Decoder, DedupKey, Encoded, FileFormat, FileRow, PathBase, lost_attributes,
    unwritable,
};
use crate::input::McpNames;
use crate::payload::{FieldEncoding, FieldRow, PayloadTable};
use crate::reply::{
    AnswerDetection, Defect, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, MalformedPolicy,
    ReasonSource, ReplyTable, UnknownPolicy,
};
use crate::spec::{CommandLine, CommandSpec, HandlerSpec, HookSpec, shell_text};
use crate::table::{
    Cwd, Data, Dialect, Environment, EventRow, HttpTable, PlainTextUse, ProcessTable, TimeTable, VariableRow,
};
use checkrein_document::{Member, Node};

/// Metadata key that tells the host that a hook blocked the call, and not only denied permission.
pub const BLOCKED: &str = "blocked";

/// Dialect of claw-code-go.
pub static DIALECT: Dialect = Dialect {
    name: "claw",
    evidence: crate::agents::evidence::CLAW,
    events: EVENTS,
    mcp: McpNames::UNKNOWN,
    matcher: Grammar::new(&[], None, Syntax::Exact),
    payload: PayloadTable::fields(&[]),
    reply: ReplyTable {
        trigger: AnswerDetection::OwnObject,
        malformed: MalformedPolicy::TextUnlessAnswer,
        unknown_keys: UnknownPolicy::MisspeltFails,
        tolerates: Defect::GO_STRUCT,
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Answer, ReasonSource::Stdout, ReasonSource::Stderr]),
            )
            .marks(BLOCKED),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::FailFor(&[ReasonSource::Answer, ReasonSource::Stdout])),
        ],
        ..ReplyTable::BASE
    },
    process: ProcessTable {
        environment: Environment::All,
        variables: &[
            VariableRow::new("HOOK_EVENT", Data::EventName),
            VariableRow::new("HOOK_TOOL_NAME", Data::Field("tool_name")).or(""),
            VariableRow::new("HOOK_TOOL_INPUT", Data::Field("tool_input")).or(""),
            VariableRow::new("HOOK_TOOL_IS_ERROR", Data::ToolFailed),
            VariableRow::new("HOOK_TOOL_OUTPUT", Data::FirstOf(&["error", "tool_response"])),
        ],
        cwd: Cwd::Host,
        leaves_background: true,
        ..ProcessTable::BASE
    },
    http: HttpTable { decides: false, variables: false, ..HttpTable::BASE },
    time: TimeTable::seconds(600),
    rules: Rules::NATIVE
        .settle(DecisionRule::LastWriter)
        .order(RunOrder::Sequential)
        .chain_end(ChainEnd::FirstTaggedOrFailure(BLOCKED))
        .concurrent_rewrites(ConcurrentRewrites::LastInOrder)
        .failures(FAILURES),
    config: ConfigTable {
        files: FILES,
        format: FileFormat::Custom { decode, encode },
        dedup_key: DedupKey::Handler,
        ..ConfigTable::BASE
    },
    ..Dialect::BASE
};

/// After a tool, a failed hook turns the result into an error.
const FAILURES: FailureTable = FailureTable::native()
    .elsewhere(FailureKind::Spawn, FailurePolicy::Closed)
    .elsewhere(FailureKind::Exit, FailurePolicy::Closed)
    .elsewhere(FailureKind::Signal, FailurePolicy::Closed)
    .elsewhere(FailureKind::Timeout, FailurePolicy::Closed)
    .elsewhere(FailureKind::OutputCap, FailurePolicy::Closed)
    .elsewhere(FailureKind::Parse, FailurePolicy::Closed)
    .elsewhere(FailureKind::Schema, FailurePolicy::Closed);

const TOOL: [FieldRow; 3] = [
    FieldRow::same("tool_name"),
    FieldRow::same("tool_input").form(FieldEncoding::TextIn("raw")),
    FieldRow::named("tool_input_json", "tool_input").form(FieldEncoding::Text),
];

const OUTPUT: FieldRow = FieldRow::named("tool_output", "tool_response").form(FieldEncoding::Text).or("null");

const IS_ERROR: FieldRow = FieldRow::named("tool_result_is_error", "is_error").or("false");

/// Events. The first three have shell hooks, and all have callbacks.
const EVENTS: &[EventRow] = &[
    EventRow::new("PreToolUse", EventKind::PreToolUse).blocks().plain(PlainTextUse::Context).fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        FieldRow::named("tool_output", "tool_output").or("null"),
        FieldRow::same("tool_result_is_error").or("false"),
    ]),
    EventRow::new("PostToolUse", EventKind::PostToolUse)
        .blocks()
        .plain(PlainTextUse::Context)
        .fields(&[TOOL[0], TOOL[1], TOOL[2], OUTPUT, IS_ERROR]),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure).blocks().plain(PlainTextUse::Context).fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        FieldRow::named("tool_error", "error").or("null"),
        FieldRow::same("tool_result_is_error").or("true"),
    ]),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreCompact", EventKind::PreCompact),
    EventRow::new("PostCompact", EventKind::PostCompact),
    EventRow::new("Stop", EventKind::Stop),
    EventRow::new("PrePluginInstall", EventKind::PrePluginInstall),
    EventRow::new("PostPluginInstall", EventKind::PostPluginInstall),
    EventRow::new("PrePluginUninstall", EventKind::PrePluginUninstall),
    EventRow::new("PostPluginUninstall", EventKind::PostPluginUninstall),
];

const TOOL_CALL: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);

/// Values of `decision`. Only `block` has an effect; users write the others for the opposite.
const WORDS: &[(&str, Decision)] =
    &[("block", Decision::Deny), ("approve", Decision::NoOpinion), ("allow", Decision::NoOpinion)];

/// Texts for the model are context, and also the reason of a block.
const KEYS: &[Key] = &[
    // An empty word means no decision.
    Key::new(&["decision"], KeyMeaning::Decision(WORDS)).tags(BLOCKED).ignore_if_empty(),
    Key::new(&["systemMessage"], KeyMeaning::Reason).parse_only(),
    Key::new(&["reason"], KeyMeaning::Reason),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Deny)).tags(BLOCKED).parse_only(),
    Key::new(
        &["hookSpecificOutput.permissionDecision"],
        KeyMeaning::Decision(&[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)]),
    )
    .at(TOOL_CALL)
    .ignore_if_empty(),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason).at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Replace(Target::Input)).at(TOOL_CALL),
    Key::new(&["systemMessage"], KeyMeaning::Context).parse_only(),
    Key::new(&["reason"], KeyMeaning::Context).parse_only(),
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context),
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::Nothing),
];

const FILES: &[FileRow] = &[
    FileRow::new(Scope::User, PathBase::Home, ".claude/settings.json"),
    FileRow::new(Scope::Project, PathBase::Project, ".claude/settings.json"),
    FileRow::new(Scope::Local, PathBase::Project, ".claude/settings.local.json"),
];

/// Texts of the hooks for the model, in order.
pub fn messages(verdict: &Verdict) -> Vec<&str> {
    let mut messages: Vec<_> = verdict.context().iter().map(|context| context.text.as_str()).collect();
    let reason = verdict.reason().filter(|reason| verdict.decision().is_block() && !messages.contains(reason));
    messages.extend(reason);
    messages
}

/// Tool output for the model: the output of the tool, followed by the texts of the hooks.
pub fn feedback<M: AsRef<str>>(output: &str, messages: &[M], is_error: bool) -> String {
    if messages.is_empty() {
        return output.to_owned();
    }
    let messages = messages.iter().map(AsRef::as_ref).collect::<Vec<_>>().join("\n");
    let heading = if is_error { "Hook feedback (error):" } else { "Hook feedback:" };
    match output.trim() {
        "" => format!("{heading}\n{messages}"),
        _ => format!("{output}\n\n{heading}\n{messages}"),
    }
}

/// Reason of a block without a reason of the hook.
pub fn default_message(event: &Event) -> String {
    let kind = event.kind();
    let name = DIALECT.name_of(&kind).unwrap_or(kind.name());
    match event.tool_name() {
        Some(tool) => format!("{name} hook denied tool `{tool}`"),
        None => format!("{name} denied by hook"),
    }
}

/// Returns `true` if an event has shell hooks.
fn has_shell_hooks(kind: &EventKind) -> bool {
    DIALECT.blocks(kind)
}

fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    let gate = EventKind::PreToolUse;
    if root.as_object().is_none() {
        let why = decoder.wrong_type(root, "the file", "an object");
        return decoder.broken("file", &gate, None, root.span, &why);
    }
    if root.get("hooks").is_none() {
        decoder.misplaced(root.as_object().unwrap_or_default(), "hooks");
    }
    let Some(hooks) = root.get("hooks").filter(|hooks| !hooks.is_null()) else { return };
    match decoder.object(hooks, "hooks") {
        Ok(events) => events.iter().for_each(|event| read_event(decoder, event)),
        Err(why) => decoder.broken("hooks", &gate, None, hooks.span, &why),
    }
}

fn read_event(decoder: &mut Decoder<'_>, event: &Member<'_>) {
    let Some(kind) = decoder.event(&event.key, event.key_span) else { return };
    if !has_shell_hooks(&kind) {
        let text = format!("claw runs no shell hooks at `{}`, only callbacks", event.key);
        decoder.error("unknown-event", event.key_span, text);
        return;
    }
    let entries = match decoder.array(&event.value, &event.key) {
        Ok(entries) => entries,
        Err(why) => return decoder.broken(event.key.clone(), &kind, None, event.value.span, &why),
    };
    for (at, entry) in entries.iter().enumerate() {
        let id = format!("{}[{at}]", event.key);
        if entry.as_object().is_some() {
            let text = "this entry has the format of Claude Code; entries of claw are commands, as strings";
            let help = "to run it, read the file as dialect `claude`";
            decoder.error("claude-form", entry.span, text).help = Some(help.to_owned());
            continue;
        }
        let command = decoder.text(entry, &id).and_then(|text| {
            let command = CommandSpec::shell(text);
            decoder.check_command(&command, entry.span)?;
            Ok(command)
        });
        match command {
            Ok(command) => {
                let spec = decoder.start(id, kind.clone(), HandlerSpec::Command(command), entry.span);
                decoder.push(spec);
            }
            Err(why) => decoder.broken(id, &kind, None, entry.span, &why),
        }
    }
}

fn encode(dialect: &Dialect, hooks: &[&HookSpec]) -> Encoded {
    let mut lost = Vec::new();
    let mut events = Vec::new();
    for row in dialect.events.iter().filter(|row| has_shell_hooks(&row.kind)) {
        let mut commands = Vec::new();
        for (at, spec) in hooks.iter().enumerate().filter(|(_, spec)| spec.kinds.contains(&row.kind)) {
            match command(at, spec, row, &mut lost) {
                Ok(text) => commands.push(format!("      {}", RawJson::string(&text))),
                Err(why) => lost.push(ConversionLoss::whole(at, why)),
            }
        }
        if !commands.is_empty() {
            events.push(format!("    {}: [\n{}\n    ]", RawJson::string(row.name), commands.join(",\n")));
        }
    }
    for (at, spec) in hooks.iter().enumerate() {
        let elsewhere = spec.kinds.iter().filter(|kind| !has_shell_hooks(kind));
        lost.extend(
            elsewhere
                .map(|kind| ConversionLoss::whole(at, format!("{} has no shell hooks at `{kind}`", dialect.title()))),
        );
    }
    let text = match events.as_slice() {
        [] => "{\n  \"hooks\": {}\n}\n".to_owned(),
        events => format!("{{\n  \"hooks\": {{\n{}\n  }}\n}}\n", events.join(",\n")),
    };
    Encoded { text, lost }
}

/// The shell text of a hook, or the reason why the file cannot express it.
fn command(at: usize, spec: &HookSpec, row: &EventRow, lost: &mut Vec<ConversionLoss>) -> Result<String, String> {
    if let Some(why) = unwritable(spec, |_| false) {
        return Err(why.to_owned());
    }
    let HandlerSpec::Command(command) = &spec.handler else {
        return Err(format!("claw has no `{}` hooks", spec.handler.kind()));
    };
    let matcher = &spec.matcher;
    if !matcher.is_everything() {
        lost.push(ConversionLoss::part(
            at,
            format!("its matcher `{}`, because `{}` has none", matcher.pattern(), row.kind),
        ));
    }
    lost.extend(lost_attributes(at, spec, &DIALECT, &[Attribute::Command, Attribute::Args, Attribute::Shell]));
    Ok(match &command.run {
        CommandLine::Shell { text, shell: None } => text.clone(),
        CommandLine::Shell { text, shell: Some(shell) } => {
            shell_text(&shell.iter().chain([text]).cloned().collect::<Vec<_>>())
        }
        CommandLine::Argv(words) => shell_text(words),
    })
}
