//! Spans and events of the engine in `tracing`. Hosts filter by these names, so they are stable.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, HookSpec, RawJson};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};

/// A span or an event.
struct Trace {
    name: &'static str,
    level: Level,
    fields: BTreeMap<&'static str, String>,
    /// Index of the enclosing span.
    within: Option<usize>,
}

#[derive(Default)]
struct Traces {
    all: Vec<Trace>,
    /// Entered spans, as indexes into `all`.
    entered: Vec<usize>,
}

/// Records all spans and events of its thread.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Traces>>);

impl Recorder {
    fn note(&self, metadata: &'static Metadata<'static>, fields: Fields) -> usize {
        let traces = &mut *self.0.lock().unwrap();
        traces.all.push(Trace {
            name: metadata.name(),
            level: *metadata.level(),
            fields: fields.0,
            within: traces.entered.last().copied(),
        });
        traces.all.len() - 1
    }
}

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        // Ids of spans start with 1.
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

/// Traces of an event with a hook that denies and one that fails.
async fn record() -> Traces {
    let recorder = Recorder::default();
    let engine = Engine::builder()
        // Rewriters run first, so the order is fixed.
        .hook(HookSpec::shell("answers", EventKind::PreToolUse, "exit 2").rewrites())
        .hook(HookSpec::shell("fails", EventKind::PreToolUse, "echo confidential >&2; exit 1"))
        .build();
    let guard = tracing::subscriber::set_default(recorder.clone());
    engine.fire(Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()))).await;
    drop(guard);
    std::mem::take(&mut *recorder.0.lock().unwrap())
}

#[tokio::test]
async fn trace_names_levels_and_fields_are_stable() {
    let mut traces = record().await;
    // These two values vary, so they are normalized.
    for trace in &mut traces.all {
        if let Some(took) = trace.fields.get_mut("took_us") {
            *took = took.parse::<u64>().map(|_| "a number".to_owned()).unwrap();
        }
        if let Some(message) = trace.fields.get_mut("message") {
            assert!(!message.contains("confidential"), "output of hooks is not logged: {message}");
            message.truncate("hook `fails`".len());
        }
    }
    let names = |trace: &Trace| {
        let around = trace.within.map(|index| format!("{}: ", traces.all[index].name)).unwrap_or_default();
        let fields: String = trace.fields.iter().map(|(name, value)| format!(" {name}={value}")).collect();
        format!("{} {around}{}{fields}", trace.level, trace.name)
    };
    assert_eq!(
        traces.all.iter().filter(|trace| trace.name.starts_with("checkrein")).map(names).collect::<Vec<_>>(),
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
async fn documentation_names_all_traces() {
    let document = include_str!("../../../docs/embedding.md");
    for trace in record().await.all.iter().filter(|trace| trace.name.starts_with("checkrein")) {
        let start = format!("| `{}` |", trace.name);
        let row = document.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no row {start}"));
        for field in trace.fields.keys().filter(|field| **field != "message") {
            assert!(row.contains(&format!("`{field}`")), "{field}: {row}");
        }
        assert!(row.contains(&trace.level.as_str().to_lowercase()), "{row}");
    }
}
