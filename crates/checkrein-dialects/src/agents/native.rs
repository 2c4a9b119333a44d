//! checkrein's own hook format: the format of Claude Code, with all of checkrein's events.
//!
//! A hook gets the event as one JSON object. It replies with its exit code and output, or with an HTTP body:
//!
//! | process | meaning |
//! |---|---|
//! | exit 0, no output | no opinion |
//! | exit 0, JSON object | the content of the object |
//! | exit 0, other text | context for the model if the event supports plain text, otherwise ignored |
//! | exit 2 | deny; the reason is that of the object, or standard error |
//! | any other exit code, or a signal | failure |
//!
//! JSON that is invalid, truncated or not allowed at the event is a failure, never "no opinion".

use std::time::Duration;

use checkrein_core::{Decision, EventKind, FailurePolicy, Scope, Target, TimeClass};

use crate::config::{
    Attribute, ConfigTable, DedupKey, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, RuleKey,
    TimeUnit,
};
use crate::payload::PayloadTable;
use crate::reply::{
    AnswerDetection, Defect, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable,
    UnknownPolicy,
};
use crate::spec::RuleDecision;
use crate::table::{Data, Dialect, EventRow, ProcessTable, RelativeTo, TimeTable, VariableRow};

/// Dialect of checkrein's own files.
pub static DIALECT: Dialect = Dialect {
    name: "native",
    title: "checkrein",
    events: NAMES,
    has_all_events: true,
    payload: PayloadTable { includes_original: true, ..PayloadTable::BASE },
    reply: ReplyTable {
        trigger: AnswerDetection::LastObject,
        tolerates: &[Defect::ByteOrderMark, Defect::LeadingLines],
        unknown_keys: UnknownPolicy::MisspeltFails,
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Answer, ReasonSource::Stderr]),
            ),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..ReplyTable::BASE
    },
    time: TimeTable {
        classes: &[
            (TimeClass::Turn, Duration::from_secs(30)),
            (TimeClass::Notice, Duration::from_secs(10)),
            (TimeClass::Display, Duration::from_secs(10)),
            (TimeClass::Closing, Duration::from_secs(5)),
        ],
        ..TimeTable::seconds(60)
    },
    process: ProcessTable {
        relative_to: RelativeTo::Project,
        // Scripts that were written for Claude Code read the second one.
        variables: &[
            VariableRow::new("CHECKREIN_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("CLAUDE_PROJECT_DIR", Data::ProjectDir),
        ],
        ..ProcessTable::BASE
    },
    declares_rewrites: true,
    config: ConfigTable {
        files: FILES,
        comments: true,
        format: FileFormat::Layout(&LAYOUT),
        dedup_key: DedupKey::Everything,
        rejects_unknown_keys: true,
        ..ConfigTable::BASE
    },
    ..Dialect::BASE
};

/// Event names of existing scripts. All of checkrein's own event names are valid too.
const NAMES: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("SessionEnd", EventKind::SessionEnd),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure),
    EventRow::new("Notification", EventKind::Notification),
    EventRow::new("Stop", EventKind::Stop),
    EventRow::new("SubagentStart", EventKind::SubagentStart),
    EventRow::new("SubagentStop", EventKind::SubagentStop),
    EventRow::new("PreCompact", EventKind::PreCompact),
    EventRow::new("PostCompact", EventKind::PostCompact),
];

const WORDS: &[(&str, Decision)] = &[
    ("allow", Decision::Allow),
    ("deny", Decision::Deny),
    ("ask", Decision::Ask),
    ("defer", Decision::Defer),
    ("halt", Decision::Halt),
    ("no_opinion", Decision::NoOpinion),
    ("approve", Decision::Allow),
    ("block", Decision::Deny),
];

/// Keys of `hookSpecificOutput` are also valid at the top level: the wrong level is the most common mistake.
const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::EventName),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Halt)),
    Key::new(&["stopReason"], KeyMeaning::StopReason),
    Key::new(&["hookSpecificOutput.permissionDecision", "permissionDecision"], KeyMeaning::Decision(WORDS)),
    Key::new(&["hookSpecificOutput.permissionDecisionReason", "permissionDecisionReason"], KeyMeaning::Reason),
    Key::new(&["decision"], KeyMeaning::Decision(WORDS)).parse_only(),
    Key::new(&["reason", "hookSpecificOutput.reason"], KeyMeaning::Reason).parse_only(),
    Key::new(&["hookSpecificOutput.decision.behavior"], KeyMeaning::Decision(WORDS)).parse_only(),
    Key::new(&["hookSpecificOutput.decision.message"], KeyMeaning::Reason).parse_only(),
    Key::new(&["hookSpecificOutput.decision.interrupt"], KeyMeaning::Flag(true, Decision::Halt)).parse_only(),
    Key::new(&["hookSpecificOutput.decision.updatedInput"], KeyMeaning::Replace(Target::Input)).parse_only(),
    Key::new(&["hookSpecificOutput.additionalContext", "additionalContext"], KeyMeaning::Context),
    Key::new(&["hookSpecificOutput.updatedInput", "updatedInput"], KeyMeaning::Replace(Target::Input)),
    Key::new(&["hookSpecificOutput.inputPatch", "inputPatch"], KeyMeaning::Merge(Target::Input)),
    Key::new(&["hookSpecificOutput.updatedPrompt", "updatedPrompt"], KeyMeaning::Replace(Target::Prompt)),
    Key::new(&["hookSpecificOutput.updatedToolOutput", "updatedToolOutput"], KeyMeaning::Replace(Target::Output)),
    Key::new(&["hookSpecificOutput.updatedMessages", "updatedMessages"], KeyMeaning::Replace(Target::Messages)),
    Key::new(&["hookSpecificOutput.summary", "summary"], KeyMeaning::Replace(Target::Summary)),
    Key::new(&["hookSpecificOutput.initialUserMessage", "initialUserMessage"], KeyMeaning::FirstMessage),
    Key::new(&["systemMessage"], KeyMeaning::Message),
    Key::new(&["suppressOutput"], KeyMeaning::Suppress),
    Key::new(&["hookSpecificOutput.metadata", "metadata"], KeyMeaning::Metadata),
];

const EXTENSIONS: &[&str] = &["json", "jsonc", "yaml", "yml", "toml"];

const UPWARDS: PathBase = PathBase::Upwards { steps: usize::MAX, within_repository: true };

const FILES: &[FileRow] = &[
    FileRow::new(Scope::Managed, PathBase::Root, "etc/checkrein/hooks").with(EXTENSIONS).ruling(),
    FileRow::new(Scope::Managed, PathBase::Root, "etc/checkrein/hooks.d/*").with(EXTENSIONS).ruling(),
    FileRow::new(Scope::User, PathBase::Config, "checkrein/hooks").with(EXTENSIONS),
    FileRow::new(Scope::User, PathBase::Config, "checkrein/hooks.d/*").with(EXTENSIONS),
    FileRow::new(Scope::Project, UPWARDS, ".checkrein/hooks").with(EXTENSIONS),
    FileRow::new(Scope::Local, UPWARDS, ".checkrein/hooks.local").with(EXTENSIONS),
];

const EFFECTS: &[(&str, FailurePolicy)] =
    &[("open", FailurePolicy::Open), ("closed", FailurePolicy::Closed), ("ask", FailurePolicy::Ask)];

/// Layout of the files.
pub const LAYOUT: HookFileLayout = HookFileLayout {
    file_keys: Some(&[
        "$schema",
        "version",
        "description",
        "include",
        "compat",
        "allow_skip",
        "unguarded_subagents",
        "deny_by_command",
        "approvals",
        "approval_webhook",
        "log",
        "resident",
        "audit",
        "restrict",
        "protect_self",
        "dry_run",
        "env_allow",
        "warm",
        "trusted_paths",
        "trusted_keys",
        "disable",
        "override",
        "packs",
        "disableAllHooks",
        "allowManagedHooksOnly",
        "allowedHttpHookUrls",
        "httpHookAllowedEnvVars",
    ]),
    keys: &[
        HookKey::new("id", Attribute::Id),
        HookKey::new("description", Attribute::Description),
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::Command),
        HookKey::new("args", Attribute::Args),
        HookKey::new("shell", Attribute::Shell),
        HookKey::new("url", Attribute::Url),
        HookKey::new("method", Attribute::Method),
        HookKey::new("headers", Attribute::Headers),
        HookKey::new("allowedEnvVars", Attribute::HeaderVariables),
        HookKey::new("secret", Attribute::Secret),
        HookKey::new("require_signed_reply", Attribute::SignedReply),
        HookKey::new("ca_file", Attribute::CaFile),
        HookKey::new("builtin", Attribute::Builtin),
        HookKey::new("if", Attribute::Rule),
        HookKey::new("input", Attribute::Input),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
        HookKey::new("async", Attribute::Background),
        HookKey::new("asyncRewake", Attribute::Rewake),
        HookKey::new("once", Attribute::Once),
        HookKey::new("enabled", Attribute::Enabled),
        HookKey::new("on_failure", Attribute::OnFailure(EFFECTS)),
        HookKey::new("on_timeout", Attribute::OnTimeout(EFFECTS)),
        HookKey::new("env", Attribute::Env),
        HookKey::new("env_allow", Attribute::EnvAllow),
        HookKey::new("cwd", Attribute::Cwd),
        HookKey::new("sandbox", Attribute::Sandbox),
        HookKey::new("warm", Attribute::Warm),
        HookKey::new("order", Attribute::Order),
        HookKey::new("rewrites", Attribute::Rewrites),
        HookKey::new("strict", Attribute::Strict),
        HookKey::new("dry_run", Attribute::DryRun),
        HookKey::new("when", Attribute::OfRule(RuleKey::When)),
        HookKey::new("vars", Attribute::OfRule(RuleKey::Vars)),
        HookKey::new("params", Attribute::OfRule(RuleKey::Params)),
        HookKey::new("deny", Attribute::OfRule(RuleKey::Decision(RuleDecision::Deny))),
        HookKey::new("ask", Attribute::OfRule(RuleKey::Decision(RuleDecision::Ask))),
        HookKey::new("allow", Attribute::OfRule(RuleKey::Decision(RuleDecision::Allow))),
        HookKey::new("halt", Attribute::OfRule(RuleKey::Decision(RuleDecision::Halt))),
        HookKey::new("context", Attribute::OfRule(RuleKey::Context)),
        HookKey::new("message", Attribute::OfRule(RuleKey::Message)),
        HookKey::new("label", Attribute::OfRule(RuleKey::Label)),
        HookKey::new("rewrite", Attribute::OfRule(RuleKey::Rewrite)),
        HookKey::new("unknown", Attribute::OfRule(RuleKey::Unknown)),
        HookKey::new("tests", Attribute::OfRule(RuleKey::Tests)),
        HookKey::new("statusMessage", Attribute::Status),
        HookKey::new("prompt", Attribute::Setting),
        HookKey::new("model", Attribute::Setting),
        HookKey::new("server", Attribute::Setting),
        HookKey::new("tool", Attribute::Setting),
        HookKey::new("settings", Attribute::Setting),
    ],
    handlers: &[
        HandlerRow::new("command", "command", &["command"]),
        HandlerRow::new("http", "http", &["url"]),
        HandlerRow::new("builtin", "builtin", &["builtin"]),
        HandlerRow::new("rule", "rule", &["when"]),
        HandlerRow::new("prompt", "prompt", &["prompt"]).inert(),
        HandlerRow::new("agent", "agent", &["prompt"]).inert(),
        HandlerRow::new("mcp_tool", "mcp_tool", &["server", "tool"]).inert(),
    ],
    infers_type: true,
    flat: true,
    ..HookFileLayout::USUAL
};
