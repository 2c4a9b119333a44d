//! Conditions of hooks besides the matcher: a permission rule (`if`) and patterns for tool input.
//!
//! Loading a hook turns both into one [`Condition`]. They only decide if a hook runs, so an ambiguous case must run it.

use std::path::PathBuf;
use std::sync::Arc;

use checkrein_core::{Condition, Event, Matcher, RawJson};
use checkrein_dialects::{Dialect, HookSpec, InputPattern, McpNames, PermissionRule, ToolRow, canonical_input};

use super::input_fields;
use super::rule_command;
use super::rule_path::PathRule;
use crate::builtins::commands;
use crate::handler::HandlerEnv;
use crate::wildcard::wildcard;

/// Combines a hook's condition, rule and patterns into one condition.
pub(super) fn with_conditions(mut spec: HookSpec, env: &HandlerEnv) -> HookSpec {
    let mut all: Vec<Condition> = spec.condition.take().into_iter().collect();
    if let Some(rule) = &spec.permission_rule {
        all.push(rule_condition(rule, spec.dialect, env));
    }
    if !spec.input.is_empty() {
        all.push(input_condition(&spec.input));
    }
    all.extend(extend_to_equivalent_tools(&mut spec));
    all.extend(move_matcher_to_condition(&mut spec));
    spec.condition = match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Condition::all(all)),
    };
    spec
}

/// Extends a matcher for tools of the hook's own agent to the equivalent tools of other agents.
///
/// Under the hook's own agent, the returned condition limits the matcher to the names that the agent itself compares it with.
fn extend_to_equivalent_tools(spec: &mut HookSpec) -> Option<Condition> {
    let dialect = spec.dialect;
    let matcher = spec.matcher.clone();
    if matcher.is_everything() {
        return None;
    }
    let fits = |tool: &&ToolRow| tool.matched_names().any(|name| matcher.matches(name));
    let fitting = dialect.tools.iter().filter(fits);
    let shared: Vec<_> = fitting.flat_map(ToolRow::shared_names).filter(|name| !matcher.matches(name)).collect();
    let fits_by_common_name = |tool: &ToolRow| tool.common.iter().any(|name| matcher.matches(name));
    // Events of these agents have the shared names of MCP tools as well.
    let has_own_mcp_names = dialect.mcp != McpNames::SHARED;
    let has_more_names =
        has_own_mcp_names || dialect.tools.iter().any(|tool| !fits(&tool) && fits_by_common_name(tool));
    if shared.is_empty() && !has_more_names {
        return None;
    }
    if !shared.is_empty() {
        spec.matcher = matcher.clone().also(shared);
    }
    Some(Condition::matcher(matcher.pattern().to_owned(), move |event: &Event| {
        // Some events compare the matcher with something else than the tool, such as the command.
        !dialect.has_sent(event)
            || !dialect.compares_subject(&event.kind())
            || event.tool_name().is_none_or(|name| dialect.matched_names(name).any(|name| matcher.matches(name)))
    }))
}

/// Turns the matcher into a condition if the dialect compares it with something else than the subject.
fn move_matcher_to_condition(spec: &mut HookSpec) -> Option<Condition> {
    let dialect = spec.dialect;
    if spec.matcher.is_everything() || spec.kinds.iter().all(|kind| dialect.compares_subject(kind)) {
        return None;
    }
    let matcher = std::mem::replace(&mut spec.matcher, Matcher::everything());
    Some(Condition::matcher(matcher.pattern().to_owned(), move |event: &Event| {
        dialect.subject(event).is_none_or(|subject| matcher.matches(&subject))
    }))
}

/// Condition that every field exists, under any agent's name for it, and matches. Values other than text match as JSON.
fn input_condition(patterns: &[InputPattern]) -> Condition {
    let texts: Vec<_> = patterns.iter().map(|one| format!("input.{}: {}", one.field, one.matcher.pattern())).collect();
    let patterns = patterns.to_vec();
    Condition::new(texts.join(", "), move |event| {
        canonical_input(event).zip(event.tool_input()).is_some_and(|(common, own)| {
            patterns.iter().all(|one| {
                let values = input_fields::values(&common, own, &one.field);
                values.iter().any(|value| one.matcher.matches(value))
            })
        })
    })
}

pub(super) fn text_of(value: &RawJson) -> String {
    match value.as_text() {
        Some(text) => text.into_owned(),
        None => value.as_str().to_owned(),
    }
}

/// Returns the reason why it is unknown if the permission rule of a hook matches an event, for a rule that matches it.
pub(super) fn undecided(spec: &HookSpec, event: &Event, env: &HandlerEnv) -> Option<String> {
    let pattern = spec.permission_rule.as_ref()?.pattern.as_ref()?;
    if commands::commands(event).is_empty() {
        return None;
    }
    let cwd = event.envelope.cwd.as_ref().map_or_else(|| env.cwd.clone(), PathBuf::from);
    rule_command::undecided(pattern, event, env.var("HOME").as_deref(), &cwd)
}

/// Condition that a call of the rule's tool matches its pattern. Never holds for events without a tool.
///
/// The pattern is compared with the shell command of the input, if it has one ([`rule_command`]). Otherwise with its path
/// ([`PathRule`]), otherwise with each of its values, where `*` matches any text. In the last case `NAME:PATTERN` is for
/// the value of that name; the condition holds if there is no such value.
fn rule_condition(rule: &PermissionRule, dialect: &'static Dialect, env: &HandlerEnv) -> Condition {
    let (tool, pattern) = (rule.tool.clone(), rule.pattern.clone());
    let pattern = pattern.map(|pattern| RulePattern {
        path: PathRule::new(&pattern),
        pattern,
        home: env.var("HOME"),
        cwd: Arc::new(env.cwd.clone()),
    });
    Condition::new(rule.to_string(), move |event| {
        let (Some(name), Some(input)) = (event.tool_name(), canonical_input(event)) else { return false };
        let names = |name| wildcard(&tool, name);
        let is_tool = if dialect.has_sent(event) {
            dialect.matched_names(name).any(names)
        } else {
            let own = dialect.native_tool_name(event).map(|tool| tool.name);
            std::iter::once(name).chain(event.tool_aliases()).chain(own).any(names)
        };
        is_tool && pattern.as_ref().is_none_or(|pattern| pattern.fits(event, &input))
    })
}

struct RulePattern {
    pattern: String,
    path: PathRule,
    home: Option<String>,
    cwd: Arc<PathBuf>,
}

impl RulePattern {
    fn fits(&self, event: &Event, input: &RawJson) -> bool {
        let cwd = event.envelope.cwd.as_ref().map_or_else(|| PathBuf::clone(&self.cwd), PathBuf::from);
        let paths = input_fields::paths(input);
        let fits_path = paths.iter().any(|path| self.path.fits(path, &cwd, self.home.as_deref()));
        if !commands::commands(event).is_empty() {
            return fits_path || rule_command::fits(&self.pattern, event, self.home.as_deref(), &cwd);
        }
        if paths.is_empty() { self.fits_values(input) } else { fits_path }
    }

    fn fits_values(&self, input: &RawJson) -> bool {
        if let Some((name, pattern)) = self.pattern.split_once(':')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            // `https://` is the start of a URL, not a name.
            && !pattern.starts_with("//")
        {
            return input.field(name).is_none_or(|value| wildcard(pattern, &text_of(&value)));
        }
        let whole = wildcard(&self.pattern, &text_of(input));
        whole
            || input.entries().is_some_and(|mut entries| {
                entries.any(|entry| {
                    RawJson::parse(entry.value()).is_ok_and(|value| wildcard(&self.pattern, &text_of(&value)))
                })
            })
    }
}
