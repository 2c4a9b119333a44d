use std::io::Write;
use std::sync::{Mutex, PoisonError};

use crate::panic::catch_panic;

/// Where a runner says what went wrong.
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

    /// One line. A sink that fails or panics must not end the conversation either, so nothing comes of that.
    pub(super) fn line(&self, text: &str) {
        let text = one_line(text);
        let _ = catch_panic(|| match self {
            Self::Discard => {}
            Self::Function(log) => log(&text),
            Self::Stderr => {
                let _ = std::io::stderr().write_all(whole(&text).as_bytes());
            }
            Self::Writer(writer) => {
                let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = writer.write_all(whole(&text).as_bytes());
                let _ = writer.flush();
            }
        });
    }
}

fn whole(text: &str) -> String {
    format!("checkrein: {text}\n")
}

/// Errors are foreign text: it must not be able to forge a second line, or to move the cursor.
fn one_line(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = escaped.is_none().then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}
