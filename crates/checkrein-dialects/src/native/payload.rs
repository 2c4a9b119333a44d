use checkrein_core::{Event, RawJson, Target};

use crate::claude;

/// The event as a hook reads it: one JSON object. JSON inside it, such as a tool's input, goes in as it is.
///
/// `original` is the event as it was fired, if something has been rewritten
/// since: what was rewritten is then there a second time, as `original_input` and so on.
pub fn payload(event: &Event, original: Option<&Event>) -> String {
    let json = event.to_json();
    let kind = event.kind();
    // The name that existing scripts look for, beside our own.
    let name = claude::DIALECT.name_of(&kind).unwrap_or(kind.name());
    let mut head = format!("{{\"hook_event_name\":{}", RawJson::string(name));
    if let Some(original) = original {
        for target in Target::ALL {
            let (before, now) = (original.original(target), event.original(target));
            if let Some(before) = before.filter(|before| now.as_ref() != Some(before)) {
                head.push_str(&format!(",\"original_{target}\":{before}"));
            }
        }
    }
    head.reserve(json.len());
    head.push(',');
    head.push_str(&json[1..]);
    head
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_core::payload::{Prompt, ToolCall};

    #[test]
    fn carries_the_event_and_the_name_that_scripts_know() {
        let input: RawJson = r#"{"command": "ls", "n": 1.50}"#.parse().unwrap();
        let event = Event::pre_tool_use(ToolCall::new("Bash", input));
        let text = payload(&event, None);
        assert_eq!(
            text,
            r#"{"hook_event_name":"PreToolUse","event":"pre_tool_use","tool_name":"Bash","tool_input":{"command": "ls", "n": 1.50}}"#
        );
        assert!(RawJson::parse(text).is_ok());
    }

    #[test]
    fn carries_the_original_of_what_was_rewritten() {
        let before = Event::prompt_submit(Prompt::new("one"));
        let after = before.rewritten(Target::Prompt, &RawJson::string("two")).unwrap();
        assert_eq!(
            payload(&after, Some(&before)),
            r#"{"hook_event_name":"UserPromptSubmit","original_prompt":"one","event":"prompt_submit","prompt":"two"}"#
        );
        assert!(!payload(&before, Some(&before)).contains("original"));
    }
}
