//! The session so far.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use checkrein_expression::{FailureKind, Method, Object, Schema, Type, Value};

use super::{field, formats, whole};

/// Reads the earlier calls of a session. The current call is not one of them.
pub trait HistoryReader: fmt::Debug + Send + Sync {
    /// Returns the number of tool calls with this common or own name. An empty name stands for all tools.
    fn count(&self, tool: &str) -> u64;

    /// Returns the number of denied calls.
    fn denials(&self) -> u64;

    /// Returns how often exactly the current call came directly before it.
    fn repeats(&self) -> u64;

    /// `true` if a rule has set this label.
    fn seen(&self, label: &str) -> bool;

    /// Returns the part of the history that is not older.
    fn since(&self, age: Duration) -> Arc<dyn HistoryReader>;

    /// Returns the number of prompts so far. `None`: it is not tracked.
    fn turn(&self) -> Option<u64> {
        None
    }
}

/// A history without calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHistory;

impl HistoryReader for NoHistory {
    fn count(&self, _: &str) -> u64 {
        0
    }

    fn denials(&self) -> u64 {
        0
    }

    fn repeats(&self) -> u64 {
        0
    }

    fn seen(&self, _: &str) -> bool {
        false
    }

    fn since(&self, _: Duration) -> Arc<dyn HistoryReader> {
        Arc::new(Self)
    }
}

/// An earlier call of a [`MemoryHistory`].
#[derive(Debug, Clone, Default)]
pub struct PastCall {
    /// Names of the tool: its own and the common one.
    pub tools: Vec<String>,
    /// Identifies the tool and its input.
    pub key: String,
    /// `true` if the call was denied.
    pub denied: bool,
    /// Labels that rules set for the call.
    pub labels: BTreeSet<String>,
    /// Time since the call.
    pub age: Duration,
}

/// A history in memory, for tests of rules.
#[derive(Debug, Clone, Default)]
pub struct MemoryHistory {
    /// Earlier calls, the oldest first.
    pub calls: Vec<PastCall>,
    /// Identifies the current call.
    pub key: String,
    /// Number of prompts so far.
    pub turn: Option<u64>,
}

impl HistoryReader for MemoryHistory {
    fn count(&self, tool: &str) -> u64 {
        let is_named = |call: &&PastCall| tool.is_empty() || call.tools.iter().any(|own| own == tool);
        self.calls.iter().filter(is_named).count() as u64
    }

    fn denials(&self) -> u64 {
        self.calls.iter().filter(|call| call.denied).count() as u64
    }

    fn repeats(&self) -> u64 {
        self.calls.iter().rev().take_while(|call| call.key == self.key).count() as u64
    }

    fn seen(&self, label: &str) -> bool {
        self.calls.iter().any(|call| call.labels.contains(label))
    }

    fn since(&self, age: Duration) -> Arc<dyn HistoryReader> {
        let calls = self.calls.iter().filter(|call| call.age <= age).cloned().collect();
        Arc::new(Self { calls, ..self.clone() })
    }

    fn turn(&self) -> Option<u64> {
        self.turn
    }
}

#[derive(Debug)]
struct History(Arc<dyn HistoryReader>);

/// Returns the history as a fact.
pub(super) fn value(reader: Arc<dyn HistoryReader>) -> Value {
    Value::Object(Arc::new(History(reader)))
}

impl Object for History {
    fn schema(&self) -> &'static Schema {
        &HISTORY
    }

    fn field(&self, index: usize) -> Value {
        match HISTORY.fields.get(index).map(|field| field.name) {
            Some("denials") => whole(self.0.denials()),
            Some("repeats") => whole(self.0.repeats()),
            _ => Value::Null,
        }
    }

    fn call(&self, index: usize, arguments: &[Value]) -> Result<Value, FailureKind> {
        match (HISTORY.methods.get(index).map(|method| method.name), arguments) {
            (Some("count"), [Value::String(tool)]) => Ok(whole(self.0.count(tool))),
            (Some("seen"), [Value::String(label)]) => Ok(self.0.seen(label).into()),
            (Some("since"), [Value::String(text)]) => {
                let age = super::functions::duration(text).map_err(FailureKind::Function)?;
                Ok(value(self.0.since(age)))
            }
            _ => Err(FailureKind::Function("the function takes a string".to_owned())),
        }
    }
}

/// Number of events.
const COUNT: Type = Type::Range(0, i64::MAX);

pub(super) static HISTORY: Schema = Schema {
    name: "history",
    doc: "The session so far, without the current call. Kept only if a rule uses it.",
    fields: &[
        field("denials", COUNT, "Number of denied calls."),
        field("repeats", COUNT, "Number of identical calls directly before this one."),
    ],
    methods: &[
        Method {
            name: "count",
            parameters: &[Type::Format(&formats::TOOL)],
            result: COUNT,
            doc: "Number of calls of a tool, by its common or own name. \"\" counts all tools.",
        },
        Method {
            name: "seen",
            parameters: &[Type::String],
            result: Type::Bool,
            doc: "`true` if a rule has set this label.",
        },
        Method {
            name: "since",
            parameters: &[Type::String],
            result: Type::Object(&HISTORY),
            doc: "The part of the history within this time, such as `history.since(\"10m\")`.",
        },
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_history_counts_calls() {
        let call = |tool: &str, key: &str, age: u64| PastCall {
            tools: vec![tool.to_owned()],
            key: key.to_owned(),
            age: Duration::from_secs(age),
            ..PastCall::default()
        };
        let denied = PastCall { denied: true, labels: BTreeSet::from(["secret".to_owned()]), ..call("Read", "r", 300) };
        let calls = vec![denied, call("Bash", "a", 60), call("Bash", "a", 1)];
        let history = MemoryHistory { calls, key: "a".to_owned(), turn: Some(2) };
        assert_eq!((history.count("Bash"), history.count(""), history.count("Write")), (2, 3, 0));
        assert_eq!((history.denials(), history.repeats(), history.seen("secret")), (1, 2, true));
        let recent = history.since(Duration::from_secs(100));
        assert_eq!((recent.denials(), recent.repeats(), recent.seen("secret"), recent.count("")), (0, 2, false, 2));
        assert_eq!(recent.since(Duration::from_secs(10)).repeats(), 1);
    }
}
