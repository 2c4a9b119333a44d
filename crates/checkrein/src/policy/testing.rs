//! Entry point of fuzz targets.

use checkrein_core::payload::ToolCall;
use checkrein_core::{Event, EventKind, FailurePolicy, RawJson};
use checkrein_dialects::{RuleDecision, RuleSpec};

use super::Rule;
use crate::facts::{FactContext, Facts};

/// Compiles a rule and evaluates it for a shell call. The first line is the command, the rest the condition. It must end without a
/// panic for any bytes.
#[doc(hidden)]
pub fn exercise_rule(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (command, when) = text.split_once('\n').unwrap_or(("git push -f origin $X", &text));
    let mut spec = RuleSpec::default();
    when.clone_into(&mut spec.when);
    spec.vars = vec![("pushes".to_owned(), "commands.filter(c, c.program == \"git\")".to_owned())];
    spec.params = vec![("names".to_owned(), RawJson::string("main"))];
    spec.decision = Some((RuleDecision::Deny, format!("denied: ${{{when}}}")));
    spec.context = Some(when.to_owned());
    let Ok(rule) = Rule::compile(&spec, &[EventKind::PreToolUse]).or_else(|_| {
        spec.decision = Some((RuleDecision::Deny, "denied".to_owned()));
        spec.context = None;
        Rule::compile(&spec, &[EventKind::PreToolUse])
    }) else {
        return;
    };
    let mut input = r#"{"command":"#.to_owned();
    RawJson::push_string(&mut input, command);
    input.push('}');
    let Ok(input) = RawJson::parse(input) else { return };
    let mut context = FactContext::new("/project/src");
    context.home = Some("/home/me".into());
    context.project = Some("/project".into());
    let facts = Facts::new(Event::pre_tool_use(ToolCall::new("Bash", input)), context);
    for unknown in [FailurePolicy::Ask, FailurePolicy::Closed, FailurePolicy::Open] {
        let _ = rule.opinion("rule", &facts, unknown);
    }
    let value = rule.explain(&facts).map(|evaluation| evaluation.value);
    // Only the limit of steps may differ: an excluded condition is not evaluated.
    debug_assert!(!rule.is_excluded(&facts) || !matches!(value, Ok(Ok(true) | Err(_))), "{when}");
}
