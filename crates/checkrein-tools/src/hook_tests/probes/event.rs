//! Events for probes: realistic, very large, and with unusual characters.

use std::path::Path;

use checkrein_core::{Event, EventKind, RawJson, Target};
use checkrein_dialects::HookSpec;

use crate::samples;

/// Size of the large field, in bytes.
const HUGE: usize = 4 * 1024 * 1024;

/// Unusual characters: control characters, both quotes, a backslash, a line and a paragraph separator, a right-to-left
/// override, a joined emoji, a combining accent, and a character outside of the basic plane.
const ODD: &str = "\u{0}\u{1}\u{7f}\u{1b}[31m'\"`\\\n\r\t\u{2028}\u{2029}\u{202e}abc\u{feff}\u{e000}\u{fffd}e\u{301}\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{1d518}\u{ffff}";

/// Realistic event that the hook's matcher matches, if possible.
pub(super) fn for_hook(hook: &HookSpec) -> Event {
    let kind = hook.kinds.first().cloned().unwrap_or(EventKind::Notification);
    let sample = samples::event(&kind);
    let matches = |event: &Event| event.subject().is_none_or(|subject| hook.matcher.matches(&subject));
    if matches(&sample) || sample.tool_name().is_none() {
        return sample;
    }
    let matching_event = |tool: &str| Some(samples::tool_event(&kind, tool)).filter(matches);
    let mut known = hook.dialect.tools.iter().map(|tool| tool.name).chain(samples::tools());
    let mut named = hook.matcher.pattern().split('|').map(str::trim);
    known.find_map(matching_event).or_else(|| named.find_map(matching_event)).unwrap_or(sample)
}

/// The event with this working directory.
pub(super) fn with_cwd(event: &Event, dir: &Path) -> Event {
    let mut event = event.clone();
    event.envelope.cwd = Some(dir.to_string_lossy().into_owned());
    event
}

/// The event with one very large text.
pub(super) fn huge(event: &Event) -> Event {
    // Only the first text is replaced, so that the size stays near `HUGE`.
    let text = RawJson::string(&"x".repeat(HUGE));
    let mut left = true;
    changed(event, &mut |_| std::mem::take(&mut left).then(|| text.clone()), "padding", &text)
}

/// The event with unusual characters in all texts.
pub(super) fn odd(event: &Event) -> Event {
    let text = RawJson::string(ODD);
    changed(event, &mut |_| Some(text.clone()), "odd", &text)
}

/// Replaces texts in the rewritable parts of the event. Adds a field if the event has no such part.
fn changed(event: &Event, change: &mut dyn FnMut(&RawJson) -> Option<RawJson>, extra: &str, text: &RawJson) -> Event {
    let mut event = event.clone();
    let mut any = false;
    for target in Target::ALL {
        if let Some(value) = event.original(target)
            && let Some(other) = event.rewritten(target, &with_texts(&value, change))
        {
            (event, any) = (other, true);
        }
    }
    if !any {
        event.envelope.extra.insert(extra.to_owned(), text.clone());
    }
    event
}

/// Replaces the texts in a value. `change` returns `None` for a text that stays.
fn with_texts(value: &RawJson, change: &mut dyn FnMut(&RawJson) -> Option<RawJson>) -> RawJson {
    let mut inner = |text: &str| match RawJson::parse(text) {
        Ok(value) => with_texts(&value, change).as_str().to_owned(),
        Err(_) => text.to_owned(),
    };
    let text = if let Some(entries) = value.entries() {
        let fields = entries.map(|entry| format!("{}:{}", RawJson::string(&entry.key()), inner(entry.value())));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
    } else if let Some(items) = value.items() {
        format!("[{}]", items.map(inner).collect::<Vec<_>>().join(","))
    } else if value.as_text().is_some() {
        return change(value).unwrap_or_else(|| value.clone());
    } else {
        return value.clone();
    };
    RawJson::parse(text).unwrap_or_else(|_| value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_core::Matcher;

    #[test]
    fn event_matches_the_matcher() {
        let hook = HookSpec::shell("h", EventKind::PreToolUse, "true");
        assert_eq!(for_hook(&hook).tool_name(), Some("Bash"));
        let hook = hook.matching(Matcher::names(["Edit", "Write"]));
        assert!(matches!(for_hook(&hook).tool_name(), Some("Edit" | "Write")));
        let hook = hook.matching(Matcher::names(["mcp__x__y"]));
        assert_eq!(for_hook(&hook).tool_name(), Some("mcp__x__y"));
    }

    #[test]
    fn texts_are_replaced_at_all_levels() {
        let event = samples::tool_event(&EventKind::PreToolUse, "Write");
        let input = odd(&event).tool_input().unwrap().clone();
        assert!(input.entries().unwrap().all(|entry| RawJson::parse(entry.value()).unwrap().as_text().unwrap() == ODD));
        let size = huge(&event).to_json().len();
        assert!(size > HUGE && size < HUGE + 10_000, "{size}");
        assert!(huge(&samples::event(&EventKind::SessionStart)).to_json().len() > HUGE);
    }
}
