//! Reading files for one event must keep every hook that would run at it, in every dialect.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::collections::BTreeSet;

use checkrein::hook::EventFilter;
use checkrein::{Engine, Event, EventKind, HookSpec, Matcher, Scope};
use checkrein_dialects::agents::{claude, cursor, gemini};
use checkrein_dialects::config::DecodeOptions;
use checkrein_dialects::{ALL, Dialect};
use checkrein_document::Format;

/// An event with the fields that most kinds need. `None` if the kind needs others.
fn event(kind: &EventKind, tool: &str) -> Option<Event> {
    let fields = format!(
        r#""tool_name":"{tool}","tool_input":{{"command":"ls","file_path":"a.txt"}},"tool_response":{{}},"error":"e",
        "prompt":"p","source":"startup","reason":"other","trigger":"manual","agent_type":"a","agent_id":"1","message":"m",
        "notification_type":"n","mcp_server":"github","file_path":"a.txt""#
    );
    Event::from_json(&format!(r#"{{"event":"{kind}",{fields}}}"#)).ok()
}

/// Matchers that a user of the dialect may write: names of its tools and of other agents', and patterns.
fn patterns(dialect: &Dialect) -> Vec<&'static str> {
    let own = dialect.tools.iter().map(|tool| tool.name).take(4);
    own.chain(["Bash", "Read", "Ba.*", "^mcp__.*", "Write|Edit", "Stop", "startup", "nothing"]).collect()
}

fn hooks(dialect: &'static Dialect) -> Vec<HookSpec> {
    let mut hooks = Vec::new();
    for row in dialect.events {
        for pattern in patterns(dialect) {
            let grammar = row.grammar.as_ref().unwrap_or(&dialect.matcher);
            let Ok(matcher) = Matcher::compile(grammar, Some(pattern)) else { continue };
            // Some dialects treat hooks with the same command as one.
            let spec = HookSpec::shell("", row.kind.clone(), format!("true {}", hooks.len()));
            hooks.push(spec.dialect(dialect).matching(matcher));
        }
    }
    hooks
}

type Places = BTreeSet<(String, Option<u32>)>;

fn place(spec: &HookSpec) -> (String, Option<u32>) {
    (spec.info.id.clone(), spec.info.source.line)
}

#[test]
fn filter_keeps_every_hook_that_would_run() {
    let mut chosen_of_all = 0;
    for dialect in ALL {
        let hooks = hooks(dialect);
        let Some(encoded) = dialect.encode(&hooks.iter().collect::<Vec<_>>()) else { continue };
        let format = if encoded.text.trim_start().starts_with('{') { Format::Json } else { Format::Yaml };
        let all = dialect.decode("file", Scope::User, &encoded.text, format).hooks;
        let engine = Engine::builder().hooks(all).build();
        for sender in [*dialect, &claude::DIALECT, &cursor::DIALECT, &gemini::DIALECT] {
            let own = sender.tools.first().map_or("other", |tool| tool.name);
            for kind in dialect.events.iter().map(|row| &row.kind) {
                for tool in ["Bash", "Read", "mcp__github__search", "other", own] {
                    let Some(event) = event(kind, tool) else { continue };
                    let event = sender.with_common_names(event);
                    let options = DecodeOptions::default().only(EventFilter::for_event(&event));
                    let some = dialect.decode_with("file", Scope::User, &encoded.text, format, &options).hooks;
                    let read: Places = some.iter().map(place).collect();
                    let plan = engine.explain(&event);
                    let chosen = plan.iter().filter(|planned| planned.why_not.is_none());
                    for planned in chosen {
                        chosen_of_all += 1;
                        let place = place(&planned.hook);
                        let (hook, sender) = (&planned.hook, sender.name);
                        assert!(read.contains(&place), "{hook:?} at {kind} of {tool} by {sender}:\n{}", encoded.text);
                    }
                }
            }
        }
    }
    assert!(chosen_of_all > 1000, "{chosen_of_all} hooks were chosen");
}
