//! Replies of hooks: exit codes and reply keys of both generations.

use checkrein_core::{Decision, EventKind, Target};

use crate::reply::{EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource};

/// Sources of the reason for exit code 2. The agent ignores the output of such a hook, although its own example prints the
/// reason there.
const REASON: &[ReasonSource] = &[ReasonSource::Stderr, ReasonSource::Answer];

pub(super) const NEWEST_EXITS: &[ExitRule] = &[
    ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
    ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Decide(Decision::Deny, REASON)).at(EventScope::Blocking),
    ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Tell(REASON)),
    ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
];

pub(super) const G2_EXITS: &[ExitRule] = &[
    ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
    ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Decide(Decision::Deny, REASON)).at(EventScope::Blocking),
    ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Tell(REASON)),
    // Ignored, as in the agent, but reported.
    ExitRule::new(ExitCodeMatch::Any, ExitAction::Tell(&[ReasonSource::Stderr, ReasonSource::Exit])),
];

/// Values of `decision`.
const BLOCK: &[(&str, Decision)] = &[("block", Decision::Deny), ("", Decision::NoOpinion)];

const WORDS: &[(&str, Decision)] =
    &[("allow", Decision::Allow), ("ask", Decision::Ask), ("deny", Decision::Deny), ("", Decision::NoOpinion)];

/// Values of the second generation. `allow` has no effect. In the agent `ask` has none either, so checkrein never answers it. An
/// `ask` of a hook is an ask, since its author did not want the tool to run silently.
const G2_WORDS: &[(&str, Decision)] =
    &[("allow", Decision::NoOpinion), ("ask", Decision::Ask), ("deny", Decision::Deny), ("", Decision::NoOpinion)];

const PERMISSION: EventScope =
    EventScope::Kinds(&[EventKind::PreToolUse, EventKind::ToolGuard, EventKind::PermissionRequest]);
const CONTEXT: EventScope = EventScope::Kinds(&[
    EventKind::SessionStart,
    EventKind::TurnStart,
    EventKind::PromptSubmit,
    EventKind::SteeringSubmit,
    EventKind::FollowupSubmit,
    EventKind::PreCompact,
    EventKind::WorktreeCreate,
]);
const INSTRUCTIONS: EventScope = EventScope::Kinds(&[EventKind::SessionStart, EventKind::TurnStart]);
const G2_CONTEXT: EventScope =
    EventScope::Kinds(&[EventKind::SessionStart, EventKind::PostToolUse, EventKind::TurnStart, EventKind::Stop]);
const ONLY_GATE: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);

pub(super) const NEWEST_KEYS: &[Key] = &[
    // Checked only for hooks with `strict_output`.
    Key::new(&["hook_specific_output.hook_event_name"], KeyMeaning::EventName).only_strict().ignore_if_empty(),
    Key::new(&["hook_specific_output.permission_decision"], KeyMeaning::Decision(WORDS)).at(PERMISSION),
    Key::new(&["hook_specific_output.permission_decision_reason"], KeyMeaning::Reason).at(PERMISSION).ignore_if_empty(),
    Key::new(&["decision"], KeyMeaning::Decision(BLOCK)).at(EventScope::Blocking),
    Key::new(&["reason"], KeyMeaning::Reason).ignore_if_empty(),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Deny)).at(EventScope::Blocking),
    Key::new(&["stop_reason"], KeyMeaning::StopReason).at(EventScope::Blocking).ignore_if_empty(),
    Key::new(&["system_message"], KeyMeaning::Message).ignore_if_empty(),
    // Accepted without effect. With `strict_output` it is an error.
    Key::new(&["suppress_output"], KeyMeaning::Nothing).at(EventScope::Kinds(&[])),
    Key::new(&["hook_specific_output.additional_context"], KeyMeaning::Context).at(CONTEXT).ignore_if_empty(),
    Key::new(&["hook_specific_output.instruction_context"], KeyMeaning::Named("instruction_context")).at(INSTRUCTIONS),
    // An empty patch is a rewrite too.
    Key::new(&["hook_specific_output.updated_input"], KeyMeaning::Merge(Target::Input))
        .at(EventScope::Kinds(&[EventKind::PreToolUse, EventKind::ToolInputTransform])),
    Key::new(&["hook_specific_output.updated_messages"], KeyMeaning::Replace(Target::Messages))
        .at(EventScope::Kinds(&[EventKind::BeforeModel]))
        .ignore_if_empty(),
    // An empty response is a rewrite too.
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
    Key::new(&["hook_specific_output.permission_decision"], KeyMeaning::Decision(G2_WORDS))
        .at(ONLY_GATE)
        .never_says(&[Decision::Ask]),
    Key::new(&["hook_specific_output.permission_decision_reason"], KeyMeaning::Reason).at(ONLY_GATE).ignore_if_empty(),
    Key::new(&["decision"], KeyMeaning::Decision(BLOCK)).at(EventScope::Blocking),
    Key::new(&["reason"], KeyMeaning::Reason).ignore_if_empty(),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Deny)).at(EventScope::Blocking),
    Key::new(&["stop_reason"], KeyMeaning::StopReason).at(EventScope::Blocking).ignore_if_empty(),
    Key::new(&["system_message"], KeyMeaning::Message).ignore_if_empty(),
    Key::new(&["suppress_output"], KeyMeaning::Nothing),
    Key::new(&["hook_specific_output.additional_context"], KeyMeaning::Context).at(G2_CONTEXT).ignore_if_empty(),
    Key::new(&["hook_specific_output.updated_input"], KeyMeaning::Merge(Target::Input)).at(ONLY_GATE),
];
