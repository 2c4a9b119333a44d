//! [`HookLines`]: an observer that prints one line per hook run.

use std::io::Write;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use checkrein_core::{HookOutcome, HookRecord};
use regex::Regex;

use super::{HookRun, Observer};
use crate::builtins::secrets::redacted_text;
use crate::sync::lock;

/// Writes one line for each hook that has ended:
///
/// ```text
/// pre_tool_use Bash  guard (hooks.json:12)  command  deny  3 ms  exit 2  "not on Fridays"
/// ```
///
/// Each line is written as a whole, even if many hooks end at the same time. Credentials are redacted.
///
/// ```
/// use checkrein::observer::HookLines;
/// use checkrein::Engine;
///
/// let engine = Engine::builder().observer(HookLines::new(std::io::stderr())).build();
/// ```
pub struct HookLines {
    out: Mutex<Box<dyn Write + Send>>,
}

impl HookLines {
    /// Writes lines to this writer.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Self { out: Mutex::new(Box::new(out)) }
    }
}

impl Observer for HookLines {
    fn finished(&self, run: &HookRun, record: &HookRecord, took: Duration) {
        let line = line(run, record, took);
        let mut out = lock(&self.out);
        // An error here cannot be reported anywhere else.
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
    parts.extend(record.dry_run.then(|| "dry run".to_owned()));
    parts.push(format!("{} ms", took.as_millis()));
    parts.extend(record.exit_code.map(|code| format!("exit {code}")));
    let message = record.reason.as_deref().or(record.detail.as_deref()).unwrap_or_default();
    if !message.is_empty() {
        parts.push(format!("{:?}", shortened(&redacted(message))));
    }
    // Subjects and ids are foreign text and may contain line breaks.
    let line = parts.join("  ").replace(|c: char| c.is_control(), " ");
    format!("{line}\n")
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 120;
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Redacts everything that looks like a credential. A false positive does no harm in a log line.
fn redacted(text: &str) -> String {
    let text = redacted_text(text).into_owned();
    CREDENTIALS.iter().fold(text, |text, (pattern, kept)| pattern.replace_all(&text, *kept).into_owned())
}

/// Patterns of credentials, with their replacements.
static CREDENTIALS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    const HIDDEN: &str = "${1}[hidden]";
    let rows = [
        // The user and the query of a URL.
        (r"([A-Za-z][A-Za-z0-9+.-]*://)[^\s@]*@", "${1}"),
        (r"([A-Za-z][A-Za-z0-9+.-]*://[^\s?]*)\?\S*", "${1}"),
        // Whole headers.
        (r"(?im)((?:authorization|cookie)\W{1,3}).*$", HIDDEN),
        (r"(?i)\b((?:bearer|basic)\s+)\S+", HIDDEN),
        // The value after a telling name: `API_TOKEN: x`, `{"password": "x"}`, `--api-key x`, `curl -u ann:x`.
        (
            r#"(?i)([\w-]*(?:key|secret|token|passw|passphrase|pwd|auth|cookie|credential|_pat\b)[\w-]*["']?\s*(?::=|=>|[:=])\s*["']?)[^\s"',;&}]+"#,
            HIDDEN,
        ),
        (r"(?i)(--?[\w-]*(?:key|secret|token|passw|auth|credential)[\w-]*\s+)\S+", HIDDEN),
        (r"(-u\s+[^\s:]*:)\S+", HIDDEN),
    ];
    // A test checks that all of them compile.
    rows.into_iter().filter_map(|(pattern, kept)| Some((Regex::new(pattern).ok()?, kept))).collect()
});

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn credentials_are_not_shown() {
        assert_eq!(super::CREDENTIALS.len(), 7);
        for (text, shown) in [
            ("plain words stay: as, they = are", "plain words stay: as, they = are"),
            ("https://user:pw@host.example/path?key=1 failed", "https://host.example/path failed"),
            ("token=abc123 rest", "token=[hidden] rest"),
            ("API_TOKEN: abc123 rest", "API_TOKEN: [hidden] rest"),
            ("x-api-key: S", "x-api-key: [hidden]"),
            ("access-token: S", "access-token: [hidden]"),
            ("Authorization: Bearer abc", "Authorization: [hidden]"),
            ("Authorization: Basic abc", "Authorization: [hidden]"),
            ("Authorization:Bearer abc", "Authorization:[hidden]"),
            ("Cookie: session=S; other=T", "Cookie: [hidden]"),
            ("sent bearer abc on", "sent bearer [hidden] on"),
            ("--password hunter2", "--password [hidden]"),
            ("--api-key S", "--api-key [hidden]"),
            ("AWS_SECRET_ACCESS_KEY=S", "AWS_SECRET_ACCESS_KEY=[hidden]"),
            ("PRIVATE_KEY=S PGPASSWORD=S GH_PAT=S", "PRIVATE_KEY=[hidden] PGPASSWORD=[hidden] GH_PAT=[hidden]"),
            (r#"{"token":"S","n":1}"#, r#"{"token":"[hidden]","n":1}"#),
            (r#"{"password": "S"}"#, r#"{"password": "[hidden]"}"#),
            ("token = S", "token = [hidden]"),
            ("curl -u user:S", "curl -u user:[hidden]"),
            ("path: /a, port: 80", "path: /a, port: 80"),
            // Keys with a known format need no name.
            ("got ghp_0123456789abcdefghijABCDEFGHIJ012345 back", "got [redacted:github_token] back"),
            ("AKIAIOSFODNN7EXAMPLE was refused", "[redacted:aws_access_key] was refused"),
            ("sk-ant-api03-0123456789abcdefghij", "[redacted:anthropic_key]"),
        ] {
            assert_eq!(redacted(text), shown);
        }
    }
}
