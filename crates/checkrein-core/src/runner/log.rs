//! Log of a [`Runner`](super::Runner) for warnings and panics.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use crate::panic::catch_panic;

/// Destination of log lines.
pub(super) enum Log {
    Stderr,
    Writer(Mutex<Box<dyn Write + Send>>),
    Function(Box<dyn Fn(&str) + Send + Sync>),
    Discard,
}

impl Log {
    pub(super) fn writer(writer: impl Write + Send + 'static) -> Self {
        Self::Writer(Mutex::new(Box::new(writer)))
    }

    /// Writes one line. Ignores errors and panics of the destination: logging must not end the agent.
    pub(super) fn line(&self, text: &str) {
        let text = one_line(text);
        let _ = catch_panic(|| match self {
            Self::Discard => {}
            Self::Function(log) => log(&text),
            Self::Stderr => {
                let _ = std::io::stderr().write_all(with_prefix(&text).as_bytes());
            }
            Self::Writer(writer) => {
                let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = writer.write_all(with_prefix(&text).as_bytes());
                let _ = writer.flush();
            }
        });
    }
}

fn with_prefix(text: &str) -> String {
    format!("checkrein: {text}\n")
}

/// Escapes control characters. Error messages are foreign text and must not forge log lines or move the cursor.
fn one_line(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
        line
    })
}
