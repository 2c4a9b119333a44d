use checkrein_core::payload::JsonPiece;
use checkrein_core::{Event, RawJson, Target};

use crate::claude;

/// JSON values of this size and above are passed on without being copied.
const SHARE_FROM: usize = 64 * 1024;

/// The field that existing scripts look for the event's name in.
const NAME: &str = "hook_event_name";

/// The event as a hook reads it: one JSON object, in pieces. JSON inside it, such as a tool's input, goes in as it is.
///
/// `original` is the event as it was fired, if something has been rewritten since: what was rewritten is then there a
/// second time, as `original_input` and so on.
pub fn payload(event: &Event, original: Option<&Event>) -> Vec<JsonPiece> {
    let kind = event.kind();
    // The name that existing scripts look for, beside our own.
    let name = claude::DIALECT.name_of(&kind).unwrap_or(kind.name());
    let mut head = format!("{{\"{NAME}\":{},", RawJson::string(name));
    if let Some(original) = original {
        for target in Target::ALL {
            let (before, now) = (original.original(target), event.original(target));
            if let Some(before) = before.filter(|before| now.as_ref() != Some(before)) {
                head.push_str(&format!("\"original_{target}\":{before},"));
            }
        }
    }
    // What a host adds under this name would stand there twice.
    let mut stripped;
    let event = if event.envelope.extra.contains_key(NAME) {
        stripped = event.clone();
        stripped.envelope.extra.remove(NAME);
        &stripped
    } else {
        event
    };
    let mut pieces = event.to_json_pieces(SHARE_FROM);
    if let Some(JsonPiece::Text(text)) = pieces.first_mut() {
        // In place of the opening brace.
        text.replace_range(..1, &head);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_core::payload::{Prompt, ToolCall};

    fn text(event: &Event, original: Option<&Event>) -> String {
        let bytes = payload(event, original).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn carries_the_event_and_the_name_that_scripts_know() {
        let input: RawJson = r#"{"command": "ls", "n": 1.50}"#.parse().unwrap();
        let event = Event::pre_tool_use(ToolCall::new("Bash", input));
        let text = text(&event, None);
        assert_eq!(
            text,
            r#"{"hook_event_name":"PreToolUse","event":"pre_tool_use","tool_name":"Bash","tool_input":{"command": "ls", "n": 1.50}}"#
        );
        assert!(RawJson::parse(text).is_ok());
    }

    #[test]
    fn large_input_is_shared() {
        let input = RawJson::string(&"x".repeat(SHARE_FROM));
        let pieces = payload(&Event::pre_tool_use(ToolCall::new("Write", input)), None);
        assert!(matches!(&pieces[..], [JsonPiece::Text(_), JsonPiece::Shared(_), JsonPiece::Text(_)]));
    }

    #[test]
    fn carries_the_original_of_what_was_rewritten() {
        let before = Event::prompt_submit(Prompt::new("one"));
        let after = before.rewritten(Target::Prompt, &RawJson::string("two")).unwrap();
        assert_eq!(
            text(&after, Some(&before)),
            r#"{"hook_event_name":"UserPromptSubmit","original_prompt":"one","event":"prompt_submit","prompt":"two"}"#
        );
        assert!(!text(&before, Some(&before)).contains("original"));
    }
}
