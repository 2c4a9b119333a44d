//! The history of recorded sessions, for rules that use it. It has the times of the recording.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use checkrein::facts::HistoryReader;
use checkrein_core::{Decision, Event, EventKind, RawJson};

/// Sessions of a recording so far.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    logs: HashMap<Option<String>, Log>,
}

type Log = Arc<RwLock<Vec<Past>>>;

/// An earlier step of a session.
#[derive(Debug)]
struct Past {
    /// Milliseconds since 1970.
    time: i64,
    what: What,
}

#[derive(Debug)]
enum What {
    Call { tools: Vec<String>, call: Call, is_denied: bool },
    Prompt,
    Label(String),
}

/// Tool and input of a call.
type Call = Option<(String, Option<String>)>;

impl Sessions {
    /// Returns the session before an event.
    pub(super) fn before(&mut self, event: &Event, time: i64) -> Arc<dyn HistoryReader> {
        let log = Arc::clone(self.logs.entry(event.envelope.session_id.clone()).or_default());
        Arc::new(Reader { log, call: call(event), time, since: i64::MIN })
    }

    /// Adds an event with its decision, and the labels that rules set. A denied event sets no labels.
    pub(super) fn add(&mut self, event: &Event, time: i64, decision: Decision, labels: Vec<String>) {
        let log = self.logs.entry(event.envelope.session_id.clone()).or_default();
        let mut log = log.write().unwrap_or_else(PoisonError::into_inner);
        let is_denied = matches!(decision, Decision::Deny | Decision::Halt);
        let set = labels.into_iter().filter(|_| !is_denied);
        log.extend(set.map(|label| Past { time, what: What::Label(label) }));
        let what = match event.kind() {
            EventKind::PromptSubmit => What::Prompt,
            EventKind::PreToolUse => What::Call {
                tools: event.tool_name().into_iter().chain(event.tool_aliases()).map(str::to_owned).collect(),
                call: call(event),
                is_denied,
            },
            _ => return,
        };
        log.push(Past { time, what });
    }
}

fn call(event: &Event) -> Call {
    let input = event.tool_input().map(RawJson::to_string);
    event.tool_name().map(|tool| (tool.to_owned(), input))
}

/// The session before one event.
#[derive(Debug)]
struct Reader {
    log: Log,
    call: Call,
    time: i64,
    /// Start of the time that the history covers.
    since: i64,
}

impl Reader {
    fn count(&self, is_counted: impl Fn(&What) -> bool) -> u64 {
        let log = self.log.read().unwrap_or_else(PoisonError::into_inner);
        log.iter().filter(|past| past.time >= self.since && is_counted(&past.what)).count() as u64
    }
}

impl HistoryReader for Reader {
    fn count(&self, tool: &str) -> u64 {
        self.count(|what| match what {
            What::Call { tools, .. } => tool.is_empty() || tools.iter().any(|own| own == tool),
            What::Prompt | What::Label(_) => false,
        })
    }

    fn denials(&self) -> u64 {
        self.count(|what| matches!(what, What::Call { is_denied: true, .. }))
    }

    fn repeats(&self) -> u64 {
        let log = self.log.read().unwrap_or_else(PoisonError::into_inner);
        let calls = log.iter().rev().filter(|past| past.time >= self.since).filter_map(|past| match &past.what {
            What::Call { call, .. } => Some(call),
            What::Prompt | What::Label(_) => None,
        });
        calls.take_while(|call| **call == self.call).count() as u64
    }

    fn seen(&self, label: &str) -> bool {
        self.count(|what| matches!(what, What::Label(own) if own == label)) > 0
    }

    fn since(&self, age: Duration) -> Arc<dyn HistoryReader> {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let since = self.since.max(self.time.saturating_sub(age));
        Arc::new(Self { log: Arc::clone(&self.log), call: self.call.clone(), time: self.time, since })
    }

    fn turn(&self) -> Option<u64> {
        Some(self.count(|what| matches!(what, What::Prompt)))
    }
}
