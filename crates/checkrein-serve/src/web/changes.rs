//! Server-sent events: every change, as it happens.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::watch;

use super::App;
use super::questions::List;
use crate::store::Change;

/// Wait after a change, so that a burst is one message.
const BURST: Duration = Duration::from_millis(40);

/// Maximum number of changes in a message.
const MAX_CHANGES: usize = 500;

/// Interval of messages without content, which show that the connection works.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// State of one stream.
struct Stream {
    first: Option<Event>,
    changes: Receiver<Change>,
    questions: watch::Receiver<List>,
    alive: watch::Receiver<()>,
}

/// Streams changes to one page.
pub(super) async fn stream(State(app): State<App>) -> Sse<impl futures_util::Stream<Item = Result<Event, Infallible>>> {
    let stream = Stream {
        // The page reads everything after this message. What happens meanwhile is in the receivers.
        first: Some(Event::default().event("hello").data(env!("CARGO_PKG_VERSION"))),
        changes: app.options.store.subscribe(),
        questions: app.questions.subscribe(),
        alive: app.alive,
    };
    let messages = futures_util::stream::unfold(stream, |mut stream| async move {
        let message = match stream.first.take() {
            Some(first) => first,
            None => stream.next().await?,
        };
        Some((Ok(message), stream))
    });
    Sse::new(messages).keep_alive(KeepAlive::new().interval(KEEPALIVE_INTERVAL).text("alive"))
}

impl Stream {
    /// Waits for the next message. `None`: the process ends.
    async fn next(&mut self) -> Option<Event> {
        tokio::select! {
            change = self.changes.recv() => match change {
                Ok(change) => Some(self.collect(change).await),
                Err(RecvError::Lagged(_)) => Some(reset()),
                Err(RecvError::Closed) => None,
            },
            // Nothing is sent: it ends with the server.
            _ = self.alive.changed() => None,
            changed = self.questions.changed() => {
                changed.ok()?;
                let list = self.questions.borrow_and_update().json();
                Some(Event::default().event("approvals").data(list.to_string()))
            }
        }
    }

    /// Waits for the changes of a burst.
    async fn collect(&mut self, first: Change) -> Event {
        let mut changes = vec![first];
        tokio::time::sleep(BURST).await;
        while changes.len() < MAX_CHANGES {
            match self.changes.try_recv() {
                Ok(change) => changes.push(change),
                Err(TryRecvError::Lagged(_)) => return reset(),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        let (mut rows, mut records) = (Vec::new(), Vec::new());
        for change in &changes {
            match change {
                Change::Event(row) => rows.push(&**row),
                Change::Record(id) => records.push(id),
            }
        }
        let data = json!({ "events": rows, "records": records });
        Event::default().event("changes").data(data.to_string())
    }
}

/// The page is too far behind, and reads everything again.
fn reset() -> Event {
    Event::default().event("reset").data("again")
}
