//! What its hooks answer.

use checkrein_core::{Decision, EventKind, Target};

use crate::reply::{EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource};

/// The reason for an exit with 2. The agent drops what such a hook prints, though its own example prints the reason there.
const WHY: &[ReasonSource] = &[ReasonSource::Stderr, ReasonSource::Answer];

pub(super) const NEWEST_EXITS: &[ExitRule] = &[
    ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
    ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Decide(Decision::Deny, WHY)).at(EventScope::Blocking),
    ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Tell(WHY)),
    ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
];

pub(super) const G2_EXITS: &[ExitRule] = &[
    ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
    ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Decide(Decision::Deny, WHY)).at(EventScope::Blocking),
    ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Tell(WHY)),
    // It goes on, as the agent does; but not in silence.
    ExitRule::new(ExitCodeMatch::Any, ExitAction::Tell(&[ReasonSource::Stderr, ReasonSource::Exit])),
];

/// `decision` has one word.
const BLOCK: &[(&str, Decision)] = &[("block", Decision::Deny), ("", Decision::NoOpinion)];

const WORDS: &[(&str, Decision)] =
    &[("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny), ("", Decision::NoOpinion)];

/// In the second generation a hook could not open anything: its allow has no effect. Nor had its ask; that one counts
/// here, since whoever wrote it did not mean the gate to stay open.
const G2_WORDS: &[(&str, Decision)] =
    &[("allow", Decision::NoOpinion), ("ask", Decision::Ask), ("deny", Decision::Deny), ("", Decision::NoOpinion)];

const JUDGED: EventScope =
    EventScope::Kinds(&[EventKind::PreToolUse, EventKind::ToolGuard, EventKind::PermissionRequest]);
const TOLD: EventScope = EventScope::Kinds(&[
    EventKind::SessionStart,
    EventKind::TurnStart,
    EventKind::PromptSubmit,
    EventKind::SteeringSubmit,
    EventKind::FollowupSubmit,
    EventKind::PreCompact,
    EventKind::WorktreeCreate,
]);
const INSTRUCTED: EventScope = EventScope::Kinds(&[EventKind::SessionStart, EventKind::TurnStart]);
const G2_TOLD: EventScope =
    EventScope::Kinds(&[EventKind::SessionStart, EventKind::PostToolUse, EventKind::TurnStart, EventKind::Stop]);
const ONLY_GATE: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);

pub(super) const NEWEST_KEYS: &[Key] = &[
    // Only a hook that asked for it is held to the name of the event.
    Key::new(&["hook_specific_output.hook_event_name"], KeyMeaning::EventName).only_strict().ignore_if_empty(),
    Key::new(&["hook_specific_output.permission_decision"], KeyMeaning::Decision(WORDS)).at(JUDGED),
    Key::new(&["hook_specific_output.permission_decision_reason"], KeyMeaning::Reason).at(JUDGED).ignore_if_empty(),
    Key::new(&["decision"], KeyMeaning::Decision(BLOCK)).at(EventScope::Blocking),
    Key::new(&["reason"], KeyMeaning::Reason).ignore_if_empty(),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Deny)).at(EventScope::Blocking),
    Key::new(&["stop_reason"], KeyMeaning::StopReason).at(EventScope::Blocking).ignore_if_empty(),
    Key::new(&["system_message"], KeyMeaning::Message).ignore_if_empty(),
    // It is read, and nothing comes of it; a strict hook may not even say it.
    Key::new(&["suppress_output"], KeyMeaning::Nothing).at(EventScope::Kinds(&[])),
    Key::new(&["hook_specific_output.additional_context"], KeyMeaning::Context).at(TOLD).ignore_if_empty(),
    Key::new(&["hook_specific_output.instruction_context"], KeyMeaning::Named("instruction_context")).at(INSTRUCTED),
    // An empty patch is a rewrite as well.
    Key::new(&["hook_specific_output.updated_input"], KeyMeaning::Merge(Target::Input))
        .at(EventScope::Kinds(&[EventKind::PreToolUse, EventKind::ToolInputTransform])),
    Key::new(&["hook_specific_output.updated_messages"], KeyMeaning::Replace(Target::Messages))
        .at(EventScope::Kinds(&[EventKind::BeforeModel]))
        .ignore_if_empty(),
    // An empty response is a rewrite as well.
    Key::new(&["hook_specific_output.updated_tool_response"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::ToolOutputTransform])),
    Key::new(&["hook_specific_output.summary"], KeyMeaning::Replace(Target::Summary))
        .at(EventScope::Kinds(&[EventKind::BeforeCompaction]))
        .ignore_if_empty(),
    Key::new(&["hook_specific_output.metadata"], KeyMeaning::Metadata)
        .at(EventScope::Kinds(&[EventKind::ToolGuard, EventKind::PermissionRequest])),
];

pub(super) const G2_KEYS: &[Key] = &[
    Key::new(&["hook_specific_output.hook_event_name"], KeyMeaning::EventName).only_strict().ignore_if_empty(),
    Key::new(&["hook_specific_output.permission_decision"], KeyMeaning::Decision(G2_WORDS)).at(ONLY_GATE),
    Key::new(&["hook_specific_output.permission_decision_reason"], KeyMeaning::Reason).at(ONLY_GATE).ignore_if_empty(),
    Key::new(&["decision"], KeyMeaning::Decision(BLOCK)).at(EventScope::Blocking),
    Key::new(&["reason"], KeyMeaning::Reason).ignore_if_empty(),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Deny)).at(EventScope::Blocking),
    Key::new(&["stop_reason"], KeyMeaning::StopReason).at(EventScope::Blocking).ignore_if_empty(),
    Key::new(&["system_message"], KeyMeaning::Message).ignore_if_empty(),
    Key::new(&["suppress_output"], KeyMeaning::Nothing),
    Key::new(&["hook_specific_output.additional_context"], KeyMeaning::Context).at(G2_TOLD).ignore_if_empty(),
    Key::new(&["hook_specific_output.updated_input"], KeyMeaning::Merge(Target::Input)).at(ONLY_GATE),
];
