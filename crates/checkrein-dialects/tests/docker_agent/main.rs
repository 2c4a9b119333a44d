//! docker-agent's dialects, in both generations, against the facts about them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod events;
mod files;
mod payloads;
mod replies;
mod settling;
mod written;

use checkrein_core::payload::{
    AgentSwitch, ApprovalDecision, Compaction, ErrorInfo, ModelCall, Notification, Prompt, SessionEnd, SessionResume,
    SessionStart, Stop, SubagentStop, ToolCall, ToolOutcome, Turn, Worktree,
};
use checkrein_core::{Event, EventKind, Payload, RawJson, Scope};
use checkrein_dialects::Dialect;
use checkrein_dialects::config::Decoded;
use checkrein_document::Format;

pub(crate) fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

/// A tool call with an input.
pub(crate) fn call() -> ToolCall {
    ToolCall::new("shell", json(r#"{"cmd":"ls","n":9007199254740993}"#))
}

/// An event of each kind that the dialect has.
pub(crate) fn event(kind: &EventKind) -> Event {
    let outcome = || ToolOutcome::new("shell", json(r#"{"cmd":"ls"}"#)).tool_response(RawJson::string("out"));
    let payload = match kind {
        EventKind::PreToolUse => Payload::PreToolUse(call()),
        EventKind::PermissionRequest => Payload::PermissionRequest(call()),
        EventKind::ToolInputTransform => Payload::ToolInputTransform(call()),
        EventKind::ToolGuard => Payload::ToolGuard(call()),
        EventKind::PostToolUse => Payload::PostToolUse(outcome()),
        EventKind::ToolOutputTransform => Payload::ToolOutputTransform(outcome()),
        EventKind::SessionStart => Payload::SessionStart(SessionStart::new().source("startup")),
        EventKind::SessionEnd => Payload::SessionEnd(SessionEnd::new().reason("logout")),
        EventKind::SessionResume => {
            Payload::SessionResume(SessionResume::new().previous_max_iterations(1_u64).new_max_iterations(2_u64))
        }
        EventKind::TurnStart => Payload::TurnStart(Turn::new().iteration(1_u64)),
        EventKind::TurnEnd => Payload::TurnEnd(Turn::new().reason("normal")),
        EventKind::BeforeModel => Payload::BeforeModel(ModelCall::new().model("m").messages(json("[1]"))),
        EventKind::AfterModel => Payload::AfterModel(ModelCall::new().response(RawJson::string("done"))),
        EventKind::UserInputNeeded => Payload::UserInputNeeded(Notification::new()),
        EventKind::Notification => Payload::Notification(Notification::new().level("error").message("m")),
        EventKind::Stop => Payload::Stop(Stop::new().last_assistant_message("done")),
        EventKind::SubagentStop => Payload::SubagentStop(SubagentStop::new().last_assistant_message("done")),
        EventKind::Error => Payload::Error(ErrorInfo::new().error("boom")),
        EventKind::MaxIterations => Payload::MaxIterations(ErrorInfo::new().error("50 reached")),
        EventKind::PromptSubmit => Payload::PromptSubmit(Prompt::new("hi")),
        EventKind::SteeringSubmit => Payload::SteeringSubmit(Prompt::new("").messages(json(r#"["a","b"]"#))),
        EventKind::FollowupSubmit => Payload::FollowupSubmit(Prompt::new("more")),
        EventKind::PreCompact => Payload::PreCompact(Compaction::new().trigger("auto")),
        EventKind::BeforeCompaction => Payload::BeforeCompaction(Compaction::new().trigger("threshold")),
        EventKind::PostCompact => Payload::PostCompact(Compaction::new().summary("short")),
        EventKind::AgentSwitch => Payload::AgentSwitch(AgentSwitch::new("helper").from_agent("root")),
        EventKind::ToolApprovalDecision => Payload::ToolApprovalDecision(
            ApprovalDecision::new("shell", json("{}")).approval_decision("allow").approval_source("yolo"),
        ),
        EventKind::WorktreeCreate => Payload::WorktreeCreate(Worktree::new().worktree_path("/w")),
        other => panic!("no event for {other}"),
    };
    Event::new(payload)
}

pub(crate) fn decode(dialect: &'static Dialect, yaml: &str) -> Decoded {
    dialect.decode("agent.yaml", Scope::Project, yaml, Format::Yaml)
}

/// Diagnostics with locations, codes and messages.
pub(crate) fn problems(decoded: &Decoded) -> Vec<String> {
    decoded
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let place =
                diagnostic.at.as_ref().map(|at| format!("{}:{}", at.place.line, at.place.column)).unwrap_or_default();
            format!("{place} {}[{}] {}", diagnostic.severity, diagnostic.code, diagnostic.message)
        })
        .collect()
}
