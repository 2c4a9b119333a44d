//! The sender of a test agent: ten events, two handler types, and decisions only about tools.

use checkrein_core::{Decision, DecisionRule, EventKind, Grammar, NameList, RunOrder, Syntax};

use super::{BEHAVIOR, CLAUDE, EMPTY, LEGACY};
use crate::config::{Attribute, ConfigTable, FileFormat, HandlerRow, HookFileLayout, HookKey, TimeUnit};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{
    AnswerDetection, Defect, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource,
    ReplyTable, UnknownPolicy,
};
use crate::table::{Dialect, Environment, EventRow, HttpTable, ProcessTable, Shell, TimeTable};

/// Dialect `claude@sender`.
pub static SENDER: Dialect = Dialect {
    name: "claude@sender",
    evidence: crate::agents::evidence::CLAUDE_SENDER,
    events: EVENTS,
    matcher: Grammar::new(
        &["*"],
        // All characters without a meaning in a pattern.
        Some(NameList { also: " -,:;/@#!%&=~'\"<>`", separators: "|", trim: false }),
        Syntax::RegexSearch,
    ),
    payload: PayloadTable::fields(COMMON),
    reply: ReplyTable {
        trigger: AnswerDetection::Object,
        unknown_keys: UnknownPolicy::Ignored,
        bad_values: UnknownPolicy::Reported,
        tolerates: Defect::GO_STRUCT,
        keys: KEYS,
        exits: EXITS,
        ..ReplyTable::BASE
    },
    process: ProcessTable {
        shell: Shell::User,
        environment: Environment::All,
        variables: &[],
        newline: false,
        output_cap: CAP,
        ..CLAUDE.process
    },
    http: HttpTable { variables: false, ..CLAUDE.http },
    time: TimeTable::seconds(10),
    rules: CLAUDE.rules.order(RunOrder::Sequential),
    // Hooks cannot block a stop.
    stop_cap: 0,
    config: ConfigTable { format: FileFormat::Layout(&LAYOUT), ..ConfigTable::BASE },
    install: None,
    ..CLAUDE
};

/// Maximum size of each stream. More is a failure here; the agent treats the truncated text as complete. The body of an HTTP
/// response has the limit of all dialects.
const CAP: usize = 64 * 1024;

const COMMON: &[FieldRow] = &[
    FieldRow::same("cwd").or(EMPTY),
    FieldRow::same("session_id").or(EMPTY),
    FieldRow::same("transcript_path").or(EMPTY),
];
const MODE: FieldRow = FieldRow::same("permission_mode").or(EMPTY);
const CALL: &[FieldRow] = &[
    MODE,
    FieldRow::same("tool_input").or("null"),
    FieldRow::same("tool_name").or(EMPTY),
    FieldRow::same("tool_use_id").or(EMPTY),
];

const EVENTS: &[EventRow] = &[
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit).fields(&[
        MODE,
        FieldRow::same("prompt").or(EMPTY),
        FieldRow::same("session_title").or(EMPTY),
    ]),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(CALL),
    EventRow::new("PostToolUse", EventKind::PostToolUse).matched().fields(&[
        MODE,
        FieldRow::same("tool_input").or("null"),
        FieldRow::same("tool_name").or(EMPTY),
        FieldRow::same("tool_use_id").or(EMPTY),
        FieldRow::same("duration_ms").or("0"),
        FieldRow::same("tool_response").or("null"),
    ]),
    EventRow::new("Stop", EventKind::Stop).fields(&[
        MODE,
        FieldRow::same("last_assistant_message").or(EMPTY),
        FieldRow::same("stop_hook_active").or("false"),
    ]),
    EventRow::new("SessionStart", EventKind::SessionStart).fields(&[FieldRow::same("source").or(EMPTY)]),
    EventRow::new("SessionEnd", EventKind::SessionEnd).fields(&[FieldRow::same("reason").or(EMPTY)]),
    EventRow::new("PreCompact", EventKind::PreCompact).fields(&[FieldRow::same("trigger").or(EMPTY)]),
    EventRow::new("PostCompact", EventKind::PostCompact).fields(&[FieldRow::same("trigger").or(EMPTY)]),
    EventRow::new("Notification", EventKind::Notification).matched_as(if_any).fields(&[
        MODE,
        FieldRow::named("matcher", "notification_type").unless_empty(),
        FieldRow::same("message").or(EMPTY),
        FieldRow::same("title").unless_empty(),
    ]),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest)
        .matched()
        .blocks()
        .within_ms(120_000)
        .settle(DecisionRule::AnyDenyElseLastAllow)
        .fields(CALL),
];

const WORDS: &[(&str, Decision)] = &[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)];

/// Decisions apply only before a tool call.
const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.permissionDecision"], KeyMeaning::Decision(WORDS)).at(EventScope::Blocking),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason).at(EventScope::Blocking),
    Key::new(&["hookSpecificOutput.decision.behavior"], KeyMeaning::Decision(BEHAVIOR))
        .at(EventScope::Blocking)
        .parse_only(),
    Key::new(&["hookSpecificOutput.decision.message"], KeyMeaning::Reason).at(EventScope::Blocking).parse_only(),
    Key::new(&["permission"], KeyMeaning::Decision(WORDS)).at(EventScope::Blocking).parse_only(),
    Key::new(&["user_message"], KeyMeaning::Reason).at(EventScope::Blocking).parse_only(),
    Key::new(&["agent_message"], KeyMeaning::Reason).at(EventScope::Blocking).parse_only(),
    Key::new(&["decision"], KeyMeaning::Decision(LEGACY)).at(EventScope::Blocking).parse_only(),
    Key::new(&["reason"], KeyMeaning::Reason).at(EventScope::Blocking).parse_only(),
];

const EXITS: &[ExitRule] = &[
    ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
    ExitRule::new(
        ExitCodeMatch::Is(2),
        ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr, ReasonSource::Answer]),
    )
    .at(EventScope::Blocking),
    ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::Command),
        HookKey::new("url", Attribute::Url),
        HookKey::new("headers", Attribute::Headers),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::WholeSeconds)),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"]), HandlerRow::new("http", "http", &["url"])],
    ..HookFileLayout::USUAL
};

/// `None` for a notification without a type, which matches every hook.
fn if_any(subject: &str) -> Option<String> {
    (!subject.is_empty()).then(|| subject.to_owned())
}
