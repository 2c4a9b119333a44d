//! Entry point of fuzz targets.

use checkrein_core::payload::ToolCall;
use checkrein_core::{Event, RawJson};

use super::{FactContext, Facts};

/// Computes all facts of a shell call. It must end without a panic for any bytes.
#[doc(hidden)]
pub fn exercise_facts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut input = r#"{"command":"#.to_owned();
    RawJson::push_string(&mut input, &text);
    input.push('}');
    let Ok(input) = RawJson::parse(input) else { return };
    let mut context = FactContext::new("/project/src");
    context.home = Some("/home/me".into());
    context.project = Some("/project".into());
    let facts = Facts::new(Event::pre_tool_use(ToolCall::new("Bash", input)), context);
    let json = facts.to_json();
    assert!(json.entries().is_some(), "the facts are no JSON object");
}
