//! What its hooks answer.

use checkrein_core::{Decision, EventKind, Target};

use crate::reply::{At, Code, ExitRule, From, Key, Means, Then};

/// The reason for an exit with 2. The agent drops what such a hook prints, though its own example prints the reason there.
const WHY: &[From] = &[From::Stderr, From::Answer];

pub(super) const NEWEST_EXITS: &[ExitRule] = &[
    ExitRule::new(Code::Is(0), Then::Read),
    ExitRule::new(Code::Is(2), Then::Decide(Decision::Deny, WHY)).at(At::Blocking),
    ExitRule::new(Code::Is(2), Then::Tell(WHY)),
    ExitRule::new(Code::Any, Then::Fail),
];

pub(super) const G2_EXITS: &[ExitRule] = &[
    ExitRule::new(Code::Is(0), Then::Read),
    ExitRule::new(Code::Is(2), Then::Decide(Decision::Deny, WHY)).at(At::Blocking),
    ExitRule::new(Code::Is(2), Then::Tell(WHY)),
    // It goes on, as the agent does; but not in silence.
    ExitRule::new(Code::Any, Then::Tell(&[From::Stderr, From::Exit])),
];

/// `decision` has one word.
const BLOCK: &[(&str, Decision)] = &[("block", Decision::Deny), ("", Decision::NoOpinion)];

const WORDS: &[(&str, Decision)] =
    &[("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny), ("", Decision::NoOpinion)];

/// In the second generation a hook could not open anything: its allow has no effect. Nor had its ask; that one counts
/// here, since whoever wrote it did not mean the gate to stay open.
const G2_WORDS: &[(&str, Decision)] =
    &[("allow", Decision::NoOpinion), ("ask", Decision::Ask), ("deny", Decision::Deny), ("", Decision::NoOpinion)];

const JUDGED: At = At::Kinds(&[EventKind::PreToolUse, EventKind::ToolGuard, EventKind::PermissionRequest]);
const TOLD: At = At::Kinds(&[
    EventKind::SessionStart,
    EventKind::TurnStart,
    EventKind::PromptSubmit,
    EventKind::SteeringSubmit,
    EventKind::FollowupSubmit,
    EventKind::PreCompact,
    EventKind::WorktreeCreate,
]);
const INSTRUCTED: At = At::Kinds(&[EventKind::SessionStart, EventKind::TurnStart]);
const G2_TOLD: At =
    At::Kinds(&[EventKind::SessionStart, EventKind::PostToolUse, EventKind::TurnStart, EventKind::Stop]);
const ONLY_GATE: At = At::Kinds(&[EventKind::PreToolUse]);

pub(super) const NEWEST_KEYS: &[Key] = &[
    // Only a hook that asked for it is held to the name of the event.
    Key::new(&["hook_specific_output.hook_event_name"], Means::EventName).only_strict().unless_empty(),
    Key::new(&["hook_specific_output.permission_decision"], Means::Decision(WORDS)).at(JUDGED),
    Key::new(&["hook_specific_output.permission_decision_reason"], Means::Reason).at(JUDGED).unless_empty(),
    Key::new(&["decision"], Means::Decision(BLOCK)).at(At::Blocking),
    Key::new(&["reason"], Means::Reason).unless_empty(),
    Key::new(&["continue"], Means::Flag(false, Decision::Deny)).at(At::Blocking),
    Key::new(&["stop_reason"], Means::StopReason).at(At::Blocking).unless_empty(),
    Key::new(&["system_message"], Means::Message).unless_empty(),
    // It is read, and nothing comes of it; a strict hook may not even say it.
    Key::new(&["suppress_output"], Means::Nothing).at(At::Kinds(&[])),
    Key::new(&["hook_specific_output.additional_context"], Means::Context).at(TOLD).unless_empty(),
    Key::new(&["hook_specific_output.instruction_context"], Means::Named("instruction_context")).at(INSTRUCTED),
    // An empty patch is a rewrite as well.
    Key::new(&["hook_specific_output.updated_input"], Means::Merge(Target::Input))
        .at(At::Kinds(&[EventKind::PreToolUse, EventKind::ToolInputTransform])),
    Key::new(&["hook_specific_output.updated_messages"], Means::Replace(Target::Messages))
        .at(At::Kinds(&[EventKind::BeforeModel]))
        .unless_empty(),
    // An empty response is a rewrite as well.
    Key::new(&["hook_specific_output.updated_tool_response"], Means::Replace(Target::Output))
        .at(At::Kinds(&[EventKind::ToolOutputTransform])),
    Key::new(&["hook_specific_output.summary"], Means::Replace(Target::Summary))
        .at(At::Kinds(&[EventKind::BeforeCompaction]))
        .unless_empty(),
    Key::new(&["hook_specific_output.metadata"], Means::Metadata)
        .at(At::Kinds(&[EventKind::ToolGuard, EventKind::PermissionRequest])),
];

pub(super) const G2_KEYS: &[Key] = &[
    Key::new(&["hook_specific_output.hook_event_name"], Means::EventName).only_strict().unless_empty(),
    Key::new(&["hook_specific_output.permission_decision"], Means::Decision(G2_WORDS)).at(ONLY_GATE),
    Key::new(&["hook_specific_output.permission_decision_reason"], Means::Reason).at(ONLY_GATE).unless_empty(),
    Key::new(&["decision"], Means::Decision(BLOCK)).at(At::Blocking),
    Key::new(&["reason"], Means::Reason).unless_empty(),
    Key::new(&["continue"], Means::Flag(false, Decision::Deny)).at(At::Blocking),
    Key::new(&["stop_reason"], Means::StopReason).at(At::Blocking).unless_empty(),
    Key::new(&["system_message"], Means::Message).unless_empty(),
    Key::new(&["suppress_output"], Means::Nothing),
    Key::new(&["hook_specific_output.additional_context"], Means::Context).at(G2_TOLD).unless_empty(),
    Key::new(&["hook_specific_output.updated_input"], Means::Merge(Target::Input)).at(ONLY_GATE),
];
