//! One line per hook, for people who look what hooks do.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use checkrein_core::{HookOutcome, HookRecord};

use super::{HookRun, Observer};

/// Writes one line for each hook that has ended:
///
/// ```text
/// pre_tool_use Bash  guard (hooks.json:12)  command  deny  3 ms  exit 2  "not on Fridays"
/// ```
///
/// Lines are written whole, also when many hooks end at once. What looks like a credential is not shown.
///
/// ```
/// use checkrein::{Engine, HookLines};
///
/// let engine = Engine::builder().observer(HookLines::new(std::io::stderr())).build();
/// ```
pub struct HookLines {
    out: Mutex<Box<dyn Write + Send>>,
}

impl HookLines {
    /// Writes here.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Self { out: Mutex::new(Box::new(out)) }
    }
}

impl Observer for HookLines {
    fn finished(&self, run: &HookRun, record: &HookRecord, took: Duration) {
        let line = line(run, record, took);
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody is left to be told if this fails.
        let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    }
}

impl std::fmt::Debug for HookLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HookLines")
    }
}

fn line(run: &HookRun, record: &HookRecord, took: Duration) -> String {
    let mut parts = vec![match &run.subject {
        Some(subject) => format!("{} {subject}", run.kind),
        None => run.kind.to_string(),
    }];
    parts.push(format!("{} ({})", run.hook.id, run.hook.source));
    parts.push(run.handler.clone());
    parts.push(match (record.outcome, record.decision, record.failure) {
        (HookOutcome::Failure, _, Some(kind)) => format!("failed: {kind}"),
        (_, Some(decision), _) => decision.to_string(),
        _ => "-".to_owned(),
    });
    parts.push(format!("{} ms", took.as_millis()));
    parts.extend(record.exit_code.map(|code| format!("exit {code}")));
    let said = record.reason.as_deref().or(record.detail.as_deref()).unwrap_or_default();
    if !said.is_empty() {
        parts.push(format!("{:?}", shortened(&redacted(said))));
    }
    // Subjects and ids are foreign text: a line must stay one line.
    let line = parts.join("  ").replace(|c: char| c.is_control(), " ");
    format!("{line}\n")
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 120;
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// Text without what looks like a credential: the user part of URLs, and values behind names such as `token`.
fn redacted(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace);
    let mut hide_next = false;
    words
        .map(|word| {
            let (plain, space) = word.split_at(word.trim_end().len());
            let hidden = std::mem::replace(&mut hide_next, announces_secret(plain));
            if hidden { format!("[hidden]{space}") } else { format!("{}{space}", redacted_word(plain)) }
        })
        .collect()
}

const SECRET_NAMES: &[&str] =
    &["token", "password", "passwd", "secret", "api_key", "apikey", "authorization", "bearer"];

/// Whether the next word is a secret: `Bearer`, `--token`, `password:`.
fn announces_secret(word: &str) -> bool {
    let name = word.trim_start_matches('-').trim_end_matches([':', '=']).to_ascii_lowercase();
    SECRET_NAMES.iter().any(|secret| name == *secret || name.ends_with(&format!("_{secret}")))
}

fn redacted_word(word: &str) -> String {
    if let Some((scheme, rest)) = word.split_once("://") {
        let host = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(host);
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        return format!("{scheme}://{authority}{path}");
    }
    match word.split_once(['=', ':']) {
        Some((name, value)) if !value.is_empty() && announces_secret(name) => {
            format!("{}[hidden]", &word[..word.len() - value.len()])
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn credentials_are_not_shown() {
        for (text, shown) in [
            ("plain words stay", "plain words stay"),
            ("https://user:pw@host.example/path?key=1 failed", "https://host.example/path failed"),
            ("token=abc123 rest", "token=[hidden] rest"),
            ("API_TOKEN: abc123 rest", "API_TOKEN: [hidden] rest"),
            ("Authorization: Bearer abc", "Authorization: [hidden] [hidden]"),
            ("--password hunter2", "--password [hidden]"),
            ("a=b c:d", "a=b c:d"),
        ] {
            assert_eq!(redacted(text), shown);
        }
    }
}
