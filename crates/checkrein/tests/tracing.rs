//! What the engine tells `tracing`: hosts filter and draw by these names, so they stay.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may say so")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, HookSpec, RawJson};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};

/// A span or an event.
struct Told {
    name: &'static str,
    level: Level,
    fields: BTreeMap<&'static str, String>,
    /// The place of the span around it.
    within: Option<usize>,
}

#[derive(Default)]
struct Heard {
    all: Vec<Told>,
    /// The spans that were entered, as places in `all`.
    entered: Vec<usize>,
}

/// Writes down all that it hears on its thread.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Heard>>);

impl Listener {
    fn note(&self, metadata: &'static Metadata<'static>, fields: Fields) -> usize {
        let heard = &mut *self.0.lock().unwrap();
        heard.all.push(Told {
            name: metadata.name(),
            level: *metadata.level(),
            fields: fields.0,
            within: heard.entered.last().copied(),
        });
        heard.all.len() - 1
    }
}

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        // Numbers of spans start with 1.
        Id::from_u64(self.note(span.metadata(), fields) as u64 + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.note(event.metadata(), fields);
    }

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(usize::try_from(span.into_u64() - 1).unwrap());
    }

    fn exit(&self, _: &Id) {
        self.0.lock().unwrap().entered.pop();
    }
}

/// What is heard of an event for which one hook answers and another fails.
async fn heard() -> Heard {
    let listener = Listener::default();
    let engine = Engine::builder()
        // The first for certain, since the other does not rewrite.
        .hook(HookSpec::shell("answers", EventKind::PreToolUse, "exit 2").rewrites())
        .hook(HookSpec::shell("fails", EventKind::PreToolUse, "echo confidential >&2; exit 1"))
        .build();
    let listens = tracing::subscriber::set_default(listener.clone());
    engine.fire(Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()))).await;
    drop(listens);
    std::mem::take(&mut *listener.0.lock().unwrap())
}

#[tokio::test]
async fn names_levels_and_fields_stay() {
    let mut heard = heard().await;
    // These two are never the same; what remains of them shows that they are there.
    for told in &mut heard.all {
        if let Some(took) = told.fields.get_mut("took_us") {
            *took = took.parse::<u64>().map(|_| "a number".to_owned()).unwrap();
        }
        if let Some(message) = told.fields.get_mut("message") {
            assert!(!message.contains("confidential"), "what hooks print is not for logs: {message}");
            message.truncate("hook `fails`".len());
        }
    }
    let names = |told: &Told| {
        let around = told.within.map(|at| format!("{}: ", heard.all[at].name)).unwrap_or_default();
        let fields: String = told.fields.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        format!("{} {around}{}{fields}", told.level, told.name)
    };
    assert_eq!(
        heard.all.iter().filter(|told| told.name.starts_with("checkrein")).map(names).collect::<Vec<_>>(),
        [
            "DEBUG checkrein.fire event=pre_tool_use",
            "DEBUG checkrein.fire: checkrein.hook event=pre_tool_use handler=command hook=answers",
            "DEBUG checkrein.hook: checkrein.hook.finished decision=deny took_us=a number",
            "DEBUG checkrein.fire: checkrein.hook event=pre_tool_use handler=command hook=fails",
            "WARN checkrein.hook: checkrein.hook.failed kind=exit message=hook `fails`",
            "DEBUG checkrein.fire: checkrein.settled decision=deny warnings=1",
        ]
    );
}

#[tokio::test]
async fn the_document_names_all_of_them() {
    let document = include_str!("../../../docs/embedding.md");
    for told in heard().await.all.iter().filter(|told| told.name.starts_with("checkrein")) {
        let start = format!("| `{}` |", told.name);
        let row = document.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no row {start}"));
        for field in told.fields.keys().filter(|field| **field != "message") {
            assert!(row.contains(&format!("`{field}`")), "{field}: {row}");
        }
        assert!(row.contains(&told.level.as_str().to_lowercase()), "{row}");
    }
}
