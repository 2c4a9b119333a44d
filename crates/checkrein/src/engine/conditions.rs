//! What must hold for a hook besides its matcher, as files say it: a rule (`if`) and patterns for tool input.
//!
//! Both decide only whether a hook runs, so in doubt it runs.

use std::path::PathBuf;
use std::sync::Arc;

use checkrein_core::{Condition, Event, Matcher, RawJson};
use checkrein_dialects::{Dialect, HookSpec, InputPattern, PermissionRule, ToolRow, canonical_input};

use super::input_fields;
use super::rule_command;
use super::rule_path::PathRule;
use crate::builtins::commands;
use crate::handler::HandlerEnv;
use crate::wildcard::wildcard;

/// Puts what a hook's rule and its patterns ask for into its condition.
pub(super) fn with_conditions(mut spec: HookSpec, env: &HandlerEnv) -> HookSpec {
    let mut all: Vec<Condition> = spec.condition.take().into_iter().collect();
    if let Some(rule) = &spec.permission_rule {
        all.push(of_rule(rule, spec.dialect, env));
    }
    if !spec.input.is_empty() {
        all.push(of_input(&spec.input));
    }
    all.extend(of_own_tools(&mut spec));
    all.extend(of_normal_subject(&mut spec));
    spec.condition = match all.len() {
        0 | 1 => all.pop(),
        _ => {
            let text = all.iter().map(Condition::text).collect::<Vec<_>>().join(" and ");
            Some(Condition::new(text, move |event| all.iter().all(|one| one.holds(event))))
        }
    };
    spec
}

/// A matcher that fits tools of the hook's own agent fits those of other agents that do the same. Under its own agent it fits
/// what it did.
fn of_own_tools(spec: &mut HookSpec) -> Option<Condition> {
    let dialect = spec.dialect;
    let matcher = spec.matcher.clone();
    let fitting = dialect.tools.iter().filter(|tool| !matcher.is_everything() && matcher.matches(tool.name));
    let shared: Vec<_> = fitting.flat_map(ToolRow::shared_names).filter(|name| !matcher.matches(name)).collect();
    if shared.is_empty() {
        return None;
    }
    spec.matcher = matcher.clone().also(shared);
    Some(Condition::new(format!("matcher {}", matcher.pattern()), move |event: &Event| {
        let fits = |name: &str| matcher.matches(name);
        !dialect.has_sent(event)
            || event.tool_name().is_none_or(fits)
            || event.tool_aliases().iter().any(|name| fits(name))
    }))
}

/// The matcher as a condition, where it is compared with something else than the subject.
fn of_normal_subject(spec: &mut HookSpec) -> Option<Condition> {
    let dialect = spec.dialect;
    if spec.matcher.is_everything() || spec.kinds.iter().all(|kind| dialect.compares_subject(kind)) {
        return None;
    }
    let matcher = std::mem::replace(&mut spec.matcher, Matcher::everything());
    Some(Condition::new(format!("matcher {}", matcher.pattern()), move |event: &Event| {
        dialect.subject(event).is_none_or(|subject| matcher.matches(&subject))
    }))
}

/// Each field must be there, by whatever name the agent has for it, and fit: text as it is, all else as JSON.
fn of_input(patterns: &[InputPattern]) -> Condition {
    let said: Vec<_> = patterns.iter().map(|one| format!("input.{}: {}", one.field, one.matcher.pattern())).collect();
    let patterns = patterns.to_vec();
    Condition::new(said.join(", "), move |event| {
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

/// A rule holds for calls of its tool that fit its pattern, and never where no tool is called.
///
/// What the pattern is compared with, the input decides: a shell command if it has one, see [`rule_command`]; else a path,
/// see [`PathRule`]; else each value of it, where `*` stands for any text. In the last case `NAME:PATTERN` is for the value
/// of that name; if there is none, nobody knows what the rule means, and it holds.
fn of_rule(rule: &PermissionRule, dialect: &'static Dialect, env: &HandlerEnv) -> Condition {
    let (tool, pattern) = (rule.tool.clone(), rule.pattern.clone());
    let judge = pattern.map(|pattern| Judge {
        path: PathRule::new(&pattern),
        pattern,
        home: env.var("HOME"),
        cwd: Arc::new(env.cwd.clone()),
    });
    Condition::new(rule.to_string(), move |event| {
        let (Some(name), Some(input)) = (event.tool_name(), canonical_input(event)) else { return false };
        let own = dialect.native_tool_name(event).map(|tool| tool.name);
        let mut names = std::iter::once(name).chain(event.tool_aliases().iter().copied()).chain(own);
        names.any(|name| wildcard(&tool, name)) && judge.as_ref().is_none_or(|judge| judge.fits(event, &input))
    })
}

struct Judge {
    pattern: String,
    path: PathRule,
    home: Option<String>,
    cwd: Arc<PathBuf>,
}

impl Judge {
    fn fits(&self, event: &Event, input: &RawJson) -> bool {
        let cwd = event.envelope.cwd.as_ref().map_or_else(|| PathBuf::clone(&self.cwd), PathBuf::from);
        let paths = input_fields::paths(input);
        let fits_path = paths.iter().any(|path| self.path.fits(path, &cwd, self.home.as_deref()));
        if !commands::commands(event).is_empty() {
            // Codex has patches where others have commands.
            return fits_path || rule_command::fits(&self.pattern, event, self.home.as_deref(), &cwd);
        }
        if paths.is_empty() { self.fits_values(input) } else { fits_path }
    }

    fn fits_values(&self, input: &RawJson) -> bool {
        if let Some((name, pattern)) = self.pattern.split_once(':')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            // The start of a URL is no name.
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
