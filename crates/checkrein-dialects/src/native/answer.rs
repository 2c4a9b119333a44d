//! What a hook's JSON object says.

use checkrein_core::{Decision, Event, Failure, FailureKind, JsonType, Opinion, RawJson, Rewrite, Target, closest};

use crate::claude;

/// Keys of the object itself. Those of `hookSpecificOutput` may also stand here: where they belong is the commonest
/// mistake of all.
const OUTER: &[&str] =
    &["continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"];

/// Keys of `hookSpecificOutput`.
const INNER: &[&str] = &[
    "hookEventName",
    "permissionDecision",
    "permissionDecisionReason",
    "additionalContext",
    "updatedInput",
    "inputPatch",
    "updatedPrompt",
    "updatedToolOutput",
    "updatedMessages",
    "initialUserMessage",
    "summary",
    "metadata",
    "decision",
];

/// Reads an answer.
///
/// # Errors
/// A key of the wrong type, an unknown decision, or an answer that names another event.
pub(super) fn read_answer(event: &Event, json: &RawJson) -> Result<Opinion, Failure> {
    let mut opinion = Opinion::none();
    let Some(entries) = json.entries() else {
        return Err(schema(format!("the answer should be an object, but is {}", json.json_type())));
    };
    for entry in entries {
        let key = entry.key();
        let field = Field { path: &key, value: value_of(entry.value())? };
        opinion = match &*key {
            "hookSpecificOutput" if field.value.json_type() == JsonType::Null => opinion,
            "hookSpecificOutput" => read_inner(event, opinion, &field)?,
            _ => read_key(opinion, &field, OUTER)?,
        };
    }
    Ok(opinion)
}

fn read_inner(event: &Event, mut opinion: Opinion, field: &Field<'_>) -> Result<Opinion, Failure> {
    let Some(entries) = field.value.entries() else {
        return Err(field.wrong_type("an object"));
    };
    for entry in entries {
        let key = entry.key();
        let path = format!("hookSpecificOutput.{key}");
        let inner = Field { path: &path, value: value_of(entry.value())? };
        opinion = match &*key {
            "hookEventName" => {
                check_event(event, &inner.text()?)?;
                opinion
            }
            // The nested form that permission requests have.
            "decision" if inner.value.json_type() == JsonType::Object => read_behavior(opinion, &inner)?,
            _ => read_key(opinion, &Field { path: &key, value: inner.value }, INNER)?,
        };
    }
    Ok(opinion)
}

fn read_key(opinion: Opinion, field: &Field<'_>, known: &[&'static str]) -> Result<Opinion, Failure> {
    // `null` is as good as absent.
    if field.value.json_type() == JsonType::Null {
        return Ok(opinion);
    }
    Ok(match field.path {
        "continue" if field.flag()? => opinion,
        "continue" => stronger(opinion, Decision::Halt),
        "stopReason" => {
            let text = field.text()?;
            let opinion = opinion.with_stop_reason(&text);
            if opinion.reason().is_none() { opinion.with_reason(text) } else { opinion }
        }
        "suppressOutput" if field.flag()? => opinion.suppress_output(),
        "suppressOutput" => opinion,
        "systemMessage" => opinion.with_message(field.text()?),
        "decision" | "permissionDecision" => stronger(opinion, field.decision()?),
        "reason" | "permissionDecisionReason" => opinion.with_reason(field.text()?),
        "additionalContext" => opinion.with_context(field.text()?),
        "updatedInput" => opinion.with_rewrite(Rewrite::replace(Target::Input, field.value.clone())),
        "inputPatch" => opinion.with_rewrite(Rewrite::merge(Target::Input, field.value.clone())),
        "updatedPrompt" => opinion.with_rewrite(Rewrite::replace(Target::Prompt, field.value.clone())),
        "updatedToolOutput" => opinion.with_rewrite(Rewrite::replace(Target::Output, field.value.clone())),
        "updatedMessages" => opinion.with_rewrite(Rewrite::replace(Target::Messages, field.value.clone())),
        "initialUserMessage" => opinion.with_first_user_message(field.text()?),
        "summary" => opinion.with_summary(&field.text()?),
        "metadata" => field
            .value
            .entries()
            .ok_or_else(|| field.wrong_type("an object"))?
            .try_fold(opinion, |opinion, entry| {
                Ok::<_, Failure>(opinion.with_metadata(entry.key(), value_of(entry.value())?))
            })?,
        unknown => match closest(unknown, known.iter().chain(INNER).copied()) {
            // A slip of the pen in a guard must not open the gate.
            Some(meant) => return Err(schema(format!("unknown key `{unknown}`, did you mean `{meant}`?"))),
            None => opinion.with_message(format!("its answer has an unknown key `{unknown}`")),
        },
    })
}

fn read_behavior(opinion: Opinion, field: &Field<'_>) -> Result<Opinion, Failure> {
    let mut opinion = opinion;
    for entry in field.value.entries().into_iter().flatten() {
        let key = entry.key();
        let path = format!("{}.{key}", field.path);
        let inner = Field { path: &path, value: value_of(entry.value())? };
        opinion = match &*key {
            "behavior" => stronger(opinion, inner.decision()?),
            "message" => opinion.with_reason(inner.text()?),
            "updatedInput" => opinion.with_rewrite(Rewrite::replace(Target::Input, inner.value)),
            "interrupt" if inner.flag()? => stronger(opinion, Decision::Halt),
            "interrupt" => opinion,
            unknown => match closest(unknown, ["behavior", "message", "updatedInput", "interrupt"]) {
                Some(meant) => return Err(schema(format!("unknown key `{path}`, did you mean `{meant}`?"))),
                None => opinion.with_message(format!("its answer has an unknown key `{path}`")),
            },
        };
    }
    Ok(opinion)
}

/// Of two decisions in one answer the stronger counts.
fn stronger(opinion: Opinion, decision: Decision) -> Opinion {
    let decision = decision.max(opinion.decision());
    opinion.with_decision(decision)
}

/// An answer to another event was not meant for this one.
fn check_event(event: &Event, name: &str) -> Result<(), Failure> {
    let kind = event.kind();
    if name == kind.name() || claude::DIALECT.name_of(&kind) == Some(name) {
        return Ok(());
    }
    Err(schema(format!("the answer is for the event `{name}`, but this is `{kind}`")))
}

struct Field<'a> {
    path: &'a str,
    value: RawJson,
}

impl Field<'_> {
    fn text(&self) -> Result<String, Failure> {
        self.value.as_text().map(Into::into).ok_or_else(|| self.wrong_type("a string"))
    }

    fn flag(&self) -> Result<bool, Failure> {
        self.value.as_str().parse().map_err(|_| self.wrong_type("true or false"))
    }

    fn decision(&self) -> Result<Decision, Failure> {
        match &*self.text()? {
            "approve" => Ok(Decision::Allow),
            "block" => Ok(Decision::Deny),
            word => word.parse().map_err(|error| schema(format!("`{}`: {error}", self.path))),
        }
    }

    fn wrong_type(&self, expected: &str) -> Failure {
        schema(format!("`{}` should be {expected}, but is {}", self.path, self.value.json_type()))
    }
}

fn value_of(text: &str) -> Result<RawJson, Failure> {
    RawJson::parse(text).map_err(|error| schema(error.to_string()))
}

fn schema(message: String) -> Failure {
    Failure::new(FailureKind::Schema, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_core::payload::ToolCall;

    fn answer(text: &str) -> Result<Opinion, Failure> {
        let event = Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()));
        read_answer(&event, &text.parse().unwrap())
    }

    #[test]
    fn every_field_is_read() {
        let opinion = answer(
            r#"{"systemMessage":"m","suppressOutput":true,"stopReason":"s","hookSpecificOutput":{
                "hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"r",
                "additionalContext":"c","updatedInput":{"n":9007199254740993},"metadata":{"k":[1]}}}"#,
        )
        .unwrap();
        assert_eq!(opinion.decision(), Decision::Ask);
        assert_eq!(opinion.reason(), Some("r"));
        assert_eq!((opinion.contexts(), opinion.messages()), (&["c".to_owned()][..], &["m".to_owned()][..]));
        assert_eq!(opinion.rewrites()[0].value.as_str(), r#"{"n":9007199254740993}"#);
        assert_eq!(opinion.stop_reason(), Some("s"));
        assert!(opinion.suppresses_output());
        assert_eq!(opinion.metadata().next().unwrap().0, "k");
    }

    #[test]
    fn decisions_in_all_their_forms() {
        for (text, decision) in [
            (r#"{}"#, Decision::NoOpinion),
            (r#"{"continue":true}"#, Decision::NoOpinion),
            (r#"{"decision":"approve"}"#, Decision::Allow),
            (r#"{"decision":"block"}"#, Decision::Deny),
            (r#"{"decision":null}"#, Decision::NoOpinion),
            (r#"{"permissionDecision":"deny"}"#, Decision::Deny),
            (r#"{"decision":"allow","hookSpecificOutput":{"permissionDecision":"deny"}}"#, Decision::Deny),
            (r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"x"}}}"#, Decision::Deny),
            (r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","interrupt":true}}}"#, Decision::Halt),
            (r#"{"continue":false,"decision":"allow"}"#, Decision::Halt),
        ] {
            assert_eq!(answer(text).unwrap().decision(), decision, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_a_failure_that_says_why() {
        for (text, message) in [
            ("[]", "the answer should be an object, but is an array"),
            (r#"{"continue":"false"}"#, "`continue` should be true or false, but is a string"),
            (r#"{"decision":"denny"}"#, "`decision`: unknown decision `denny`, did you mean `deny`?"),
            (
                r#"{"hookSpecificOutput":{"decision":{"behaviour":"deny"}}}"#,
                "unknown key `hookSpecificOutput.decision.behaviour`, did you mean `behavior`?",
            ),
            (r#"{"decison":"deny"}"#, "unknown key `decison`, did you mean `decision`?"),
            (r#"{"decision":7}"#, "`decision` should be a string, but is a number"),
            (r#"{"hookSpecificOutput":[]}"#, "`hookSpecificOutput` should be an object, but is an array"),
            (
                r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#,
                "the answer is for the event `Stop`, but this is `pre_tool_use`",
            ),
        ] {
            let failure = answer(text).unwrap_err();
            assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Schema, message), "{text}");
        }
    }

    #[test]
    fn unknown_keys_are_reported() {
        let opinion = answer(r#"{"x-trace":"deny"}"#).unwrap();
        assert_eq!(opinion.messages(), ["its answer has an unknown key `x-trace`"]);
    }
}
