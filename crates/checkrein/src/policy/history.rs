//! History of a session: earlier tool calls, denials and labels, for the fact `history`.
//!
//! The engine records an event only if a rule in force uses the history. Each entry is one line in the session store, so
//! processes that record at the same time lose nothing.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein_core::{Decision, Event, EventKind};

use crate::facts::HistoryReader;
use crate::session_store::{SessionStore, session_of};

/// Key of the log in the session store.
const LOG: &str = "history";

/// One entry of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// Milliseconds since 1970.
    time: u64,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Call {
        name: String,
        common_name: String,
        digest: u64,
        is_denied: bool,
    },
    Prompt,
    /// `call` is the digest of the call that the rule judged. `None` at other events.
    Label {
        name: String,
        call: Option<u64>,
    },
}

impl Entry {
    /// Returns the entry as one line: time, kind, and fields that are separated by tabs.
    fn to_line(&self) -> String {
        let clean = |text: &str| text.replace(char::is_control, " ");
        let time = self.time;
        match &self.what {
            What::Call { name, common_name, digest, is_denied } => {
                let denied = if *is_denied { "denied" } else { "" };
                format!("{time}\tcall\t{}\t{}\t{digest:016x}\t{denied}", clean(name), clean(common_name))
            }
            What::Prompt => format!("{time}\tprompt"),
            What::Label { name, call: None } => format!("{time}\tlabel\t{}", clean(name)),
            What::Label { name, call: Some(digest) } => format!("{time}\tlabel\t{}\t{digest:016x}", clean(name)),
        }
    }

    /// Parses a line. `None` if it is not valid, such as a line that was cut.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let time = fields.next()?.parse().ok()?;
        let what = match fields.next()? {
            "call" => What::Call {
                name: fields.next()?.to_owned(),
                common_name: fields.next()?.to_owned(),
                digest: u64::from_str_radix(fields.next()?, 16).ok()?,
                is_denied: fields.next()? == "denied",
            },
            "prompt" => What::Prompt,
            "label" => {
                let name = fields.next()?.to_owned();
                let call = fields.next().map(|digest| u64::from_str_radix(digest, 16)).transpose().ok()?;
                What::Label { name, call }
            }
            _ => return None,
        };
        Some(Self { time, what })
    }
}

/// Records an event after its verdict.
pub fn record_event(store: &dyn SessionStore, event: &Event, decision: Decision) {
    let what = match event.kind() {
        EventKind::PromptSubmit => What::Prompt,
        EventKind::PreToolUse => {
            let Some(name) = event.tool_name() else { return };
            What::Call {
                name: name.to_owned(),
                common_name: common_name(event).to_owned(),
                digest: digest(event),
                is_denied: matches!(decision, Decision::Deny | Decision::Halt),
            }
        }
        _ => return,
    };
    store.append(session_of(event), LOG, &Entry { time: now(), what }.to_line());
}

/// Adds a label to the session of an event. `event` is the event before rewrites. If the call is denied, the label has no effect.
pub(super) fn add_label(store: &dyn SessionStore, event: &Event, label: &str) {
    let call = (event.kind() == EventKind::PreToolUse).then(|| digest(event));
    let entry = Entry { time: now(), what: What::Label { name: label.to_owned(), call } };
    store.append(session_of(event), LOG, &entry.to_line());
}

/// The history of the session of one event.
#[derive(Debug)]
pub(crate) struct SessionHistory {
    store: Option<Arc<dyn SessionStore>>,
    session: Option<String>,
    digest: u64,
    entries: OnceLock<Arc<[Entry]>>,
    /// Start of the time that the history covers, in milliseconds since 1970.
    since: u64,
}

impl SessionHistory {
    /// Returns the history before an event. The store is read when a rule needs it.
    pub(crate) fn before(event: &Event, store: Option<Arc<dyn SessionStore>>) -> Self {
        let session = session_of(event).map(str::to_owned);
        Self { store, session, digest: digest(event), entries: OnceLock::new(), since: 0 }
    }

    fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        let read = || {
            let lines = self.store.as_ref().map(|store| store.lines(self.session.as_deref(), LOG)).unwrap_or_default();
            lines.iter().filter_map(|line| Entry::parse(line)).collect()
        };
        self.entries.get_or_init(read).iter().filter(|entry| entry.time >= self.since)
    }
}

impl HistoryReader for SessionHistory {
    fn count(&self, tool: &str) -> u64 {
        let is_counted = |entry: &&Entry| match &entry.what {
            What::Call { name, common_name, .. } => tool.is_empty() || tool == name || tool == common_name,
            What::Prompt | What::Label { .. } => false,
        };
        self.entries().filter(is_counted).count() as u64
    }

    fn denials(&self) -> u64 {
        self.entries().filter(|entry| matches!(entry.what, What::Call { is_denied: true, .. })).count() as u64
    }

    fn repeats(&self) -> u64 {
        let calls = self.entries().rev().filter_map(|entry| match entry.what {
            What::Call { digest, .. } => Some(digest),
            What::Prompt | What::Label { .. } => None,
        });
        calls.take_while(|digest| *digest == self.digest).count() as u64
    }

    fn seen(&self, label: &str) -> bool {
        let entries: Vec<&Entry> = self.entries().collect();
        // The entry of a call follows the labels of its rules.
        let is_denied = |rest: &[&Entry], call: u64| {
            let verdict = rest.iter().find_map(|entry| match entry.what {
                What::Call { digest, is_denied, .. } if digest == call => Some(is_denied),
                _ => None,
            });
            verdict == Some(true)
        };
        entries.iter().enumerate().any(|(index, entry)| match &entry.what {
            What::Label { name, call } => name == label && !call.is_some_and(|call| is_denied(&entries[index..], call)),
            What::Call { .. } | What::Prompt => false,
        })
    }

    fn turn(&self) -> Option<u64> {
        Some(self.entries().filter(|entry| entry.what == What::Prompt).count() as u64)
    }

    fn since(&self, time: Duration) -> Arc<dyn HistoryReader> {
        let start = now().saturating_sub(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let (store, session) = (self.store.clone(), self.session.clone());
        let entries = OnceLock::new();
        if let Some(read) = self.entries.get() {
            let _ = entries.set(Arc::clone(read));
        }
        Arc::new(Self { store, session, digest: self.digest, entries, since: self.since.max(start) })
    }
}

/// Returns the first shared name of the tool, or its own name.
fn common_name(event: &Event) -> &str {
    event.tool_aliases().next().or(event.tool_name()).unwrap_or_default()
}

/// Digest of the tool and its input. It recognises repeated calls and protects nothing.
fn digest(event: &Event) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    event.tool_name().hash(&mut hasher);
    event.tool_input().map(checkrein_core::RawJson::as_str).hash(&mut hasher);
    hasher.finish()
}

fn now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_round_trip_and_damaged_lines_are_skipped() {
        let call =
            |name: &str| What::Call { name: name.into(), common_name: "Bash".into(), digest: 7, is_denied: true };
        for what in [
            call("shell"),
            What::Prompt,
            What::Label { name: "read_secret".into(), call: None },
            What::Label { name: "a".into(), call: Some(7) },
        ] {
            let entry = Entry { time: 12, what };
            assert_eq!(Entry::parse(&entry.to_line()), Some(entry));
        }
        let named = Entry { time: 1, what: call("a\tb\nc") };
        assert!(!named.to_line().contains('\n'));
        for line in ["", "x", "1", "1\tcall", "1\tcall\ta\tb\tzz\t", "1\tlabel\ta\tzz", "1\tother\tx", "-1\tprompt"] {
            assert_eq!(Entry::parse(line), None, "{line:?}");
        }
    }
}
