//! Texts about the selection of hooks, for `run`, `explain` and `list`.
//!
//! A text never states the result of a condition that depends on made-up data.

use checkrein::dialects::HandlerSpec;
use checkrein::engine::ExplainedHook;
use checkrein::hook::{HookState, SkipReason};
use checkrein::policy::{Part, describe_unknown};
use checkrein::{Event, FailurePolicy, HookSpec};
use serde_json::{Value, json};

/// Note for events whose tool input is sample data.
pub const SAMPLE_INPUT: &str = "sample input; set it with --command or --input";

/// Reason why a hook is not selected, with the setting that disables it.
pub fn why_not(planned: &ExplainedHook, why: &SkipReason) -> String {
    match (&planned.hook.disabled_by, why) {
        // A setting with its place.
        (Some(by), SkipReason::Disabled) if by.starts_with('`') => format!("disabled by {by}"),
        (Some(why), SkipReason::Disabled) => format!("disabled: {why}"),
        (None, SkipReason::Disabled) => "disabled by `enabled: false`".to_owned(),
        (_, SkipReason::NoMatch { pattern, subject }) if pattern.eq_ignore_ascii_case(subject) => {
            format!("{why}; letter case matters, write `{subject}`")
        }
        _ => why.to_string(),
    }
}

/// `true` for the broken hook that represents a file, or a part of it, that cannot be read.
pub fn is_whole_file(hook: &HookSpec) -> bool {
    matches!(hook.state, HookState::Broken(_)) && hook.matcher.pattern().is_empty()
}

/// Result of the condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleState {
    /// The rule applies.
    Applies,
    /// The condition is false.
    DoesNotApply,
    /// The condition cannot be decided, for this reason.
    Unknown(String),
}

/// Returns the result of the condition of a rule. `None` for other hooks.
pub fn rule_state(planned: &ExplainedHook) -> Option<RuleState> {
    Some(match planned.evaluation.as_ref()? {
        Ok(evaluation) => match &evaluation.value {
            Ok(true) => RuleState::Applies,
            Ok(false) => RuleState::DoesNotApply,
            Err(_) if is_open(planned) => RuleState::DoesNotApply,
            Err(fact) => RuleState::Unknown(describe_unknown(fact)),
        },
        Err(why) => RuleState::Unknown(why.clone()),
    })
}

/// `true` if an unknown condition of the rule has no effect.
fn is_open(planned: &ExplainedHook) -> bool {
    match &planned.hook.handler {
        HandlerSpec::Rule(rule) => rule.unknown == Some(FailurePolicy::Open),
        _ => false,
    }
}

/// Lines with the parts of a condition and their values.
pub fn rule_parts(planned: &ExplainedHook) -> Vec<String> {
    let Some(Ok(evaluation)) = &planned.evaluation else { return Vec::new() };
    let line = |part: &Part| format!("{}{} = {}", "  ".repeat(part.depth), shortened(&part.text), part.value);
    evaluation.parts.iter().take(MAX_PARTS).map(line).collect()
}

/// Text of a part on one line, shortened.
fn shortened(text: &str) -> String {
    match one_line(text) {
        long if long.chars().count() > MAX_TEXT => long.chars().take(MAX_TEXT).chain(['…']).collect(),
        short => short,
    }
}

/// The part of a condition that decided, in one line: the deciding element of a list and its condition, or the whole condition.
pub fn deciding_part(planned: &ExplainedHook) -> Option<String> {
    let Some(Ok(evaluation)) = &planned.evaluation else { return None };
    let parts = &evaluation.parts;
    let is_element = |part: &Part| part.text == "element";
    let element = parts.iter().position(is_element);
    let first = element.map_or(0, |at| at + 1);
    let condition = match parts.get(first).or_else(|| parts.first())? {
        whole if whole.value == "false" => false_part(whole, parts.get(first..).unwrap_or_default()),
        whole => whole,
    };
    let subject = element.and_then(|at| parts.get(at)).map(|part| format!("{}: ", part.value)).unwrap_or_default();
    Some(format!("{subject}{} = {}", shortened(&condition.text), condition.value))
}

/// Returns the innermost part that made a condition false. A condition with several false alternatives is returned as a whole.
fn false_part<'p>(whole: &'p Part, parts: &'p [Part]) -> &'p Part {
    let is_inside =
        |inner: &Part, outer: &Part| inner.text.len() < outer.text.len() && outer.text.contains(&inner.text);
    let is_candidate = |part: &&Part| part.depth == whole.depth && part.value == "false" && is_inside(part, whole);
    let inner: Vec<_> = parts.iter().take_while(|part| part.depth >= whole.depth).filter(is_candidate).collect();
    // Parts that no other part contains are the operands of the condition.
    let mut outermost = inner.iter().filter(|part| !inner.iter().any(|other| is_inside(part, other)));
    match (outermost.next(), outermost.next()) {
        (Some(only), None) => false_part(only, parts),
        _ => whole,
    }
}

/// Label that a rule sets, if it applies.
pub fn label(planned: &ExplainedHook) -> Option<&str> {
    match &planned.hook.handler {
        HandlerSpec::Rule(rule) if rule_state(planned) == Some(RuleState::Applies) => rule.label.as_deref(),
        _ => None,
    }
}

/// `true` for a rule of a pack.
pub fn is_of_pack(hook: &HookSpec) -> bool {
    pack_of(hook).is_some()
}

/// Name of the pack of a rule.
pub fn pack_of(hook: &HookSpec) -> Option<&str> {
    match &hook.handler {
        HandlerSpec::Rule(rule) => rule.pack_rule.as_deref()?.split('.').next(),
        _ => None,
    }
}

/// Evaluation of the condition of a rule, as JSON. Null for other hooks.
pub fn rule_json(planned: Option<&ExplainedHook>) -> Value {
    match planned.and_then(|planned| planned.evaluation.as_ref()) {
        None => Value::Null,
        Some(Err(why)) => json!({ "error": why }),
        Some(Ok(evaluation)) => {
            let parts = evaluation.parts.iter().map(|part| json!({ "expression": part.text, "value": part.value }));
            json!({
                "value": evaluation.value.as_ref().ok(),
                "unknown": evaluation.value.as_ref().err().map(|fact| fact.0.to_string()),
                "parts": parts.collect::<Vec<_>>(),
            })
        }
    }
}

/// Maximum length of the shown text of a part, in characters.
const MAX_TEXT: usize = 120;

/// Maximum number of shown parts of a condition.
const MAX_PARTS: usize = 20;

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reason why a hook is selected: its matcher and its condition.
pub fn why(planned: &ExplainedHook) -> String {
    match rule_state(planned) {
        Some(RuleState::Applies) => return "its condition is true".to_owned(),
        Some(RuleState::DoesNotApply) => return why_not_true(planned),
        Some(RuleState::Unknown(why)) => return format!("its condition cannot be decided: {why}"),
        None => {}
    }
    let matcher = match planned.hook.matcher.pattern() {
        "" => "no matcher".to_owned(),
        pattern => format!("matcher `{pattern}` matches"),
    };
    match (&planned.hook.condition, &planned.undecided) {
        (None, _) => matcher,
        (Some(condition), None) => format!("{matcher}; condition `{}` is true", condition.text()),
        (Some(condition), Some(why)) => {
            format!("{matcher}; condition `{}` cannot be decided ({why}), so it runs", condition.text())
        }
    }
}

/// Reason why the condition of a rule has no effect: the part that is false, or the unknown fact.
fn why_not_true(planned: &ExplainedHook) -> String {
    if let Some(Ok(evaluation)) = &planned.evaluation
        && let Err(fact) = &evaluation.value
    {
        return format!(
            "its condition is unknown, which has no effect with `unknown: open`: {}",
            describe_unknown(fact)
        );
    }
    match deciding_part(planned) {
        Some(part) => format!("its condition is false: {part}"),
        None => "its condition is false".to_owned(),
    }
}

/// Conditions of a hook besides its event and its matcher.
fn conditions(hook: &HookSpec) -> impl Iterator<Item = String> {
    let rule = hook.permission_rule.iter().map(|rule| format!("condition `{rule}`"));
    let input = hook.input.iter().map(|one| format!("condition `input.{}: {}`", one.field, one.matcher.pattern()));
    rule.chain(input)
}

/// Text for a hook whose selection depends on the tool input. `None` if the input does not matter.
pub fn depends_on_input(planned: &ExplainedHook, event: &Event) -> Option<String> {
    let hook = &planned.hook;
    if !matches!(planned.why_not, None | Some(SkipReason::Condition { .. })) {
        return None;
    }
    // A rule for another tool is false for every input.
    let is_for_tool = |tool: &str| tool.contains('*') || event.tool_name() == Some(tool);
    if matches!(hook.handler, HandlerSpec::Rule(_)) {
        return Some("its condition depends on the input (pass --input or --command)".to_owned());
    }
    let depends = match &hook.permission_rule {
        Some(rule) if !is_for_tool(&rule.tool) => false,
        Some(rule) if rule.pattern.is_some() => true,
        _ => !hook.input.is_empty(),
    };
    if !depends {
        return None;
    }
    let conditions: Vec<_> = conditions(hook).collect();
    Some(format!("{} depends on the input (pass --input or --command)", conditions.join(" and ")))
}
