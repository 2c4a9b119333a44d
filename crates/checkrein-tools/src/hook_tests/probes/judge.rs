//! What is wrong with how a hook ended, and with what it printed.

use checkrein_core::{FailureKind, ProcessExit, RawJson};
use checkrein_dialects::reply::AnswerDetection;

use super::fire::ProbeResult;
use super::{Finding, within};

/// The signal that ends whoever writes to a pipe that nobody reads. The same number wherever there are signals.
const SIGPIPE: i32 = 13;

/// What is wrong, and the same in words. `before` is what came of the same event earlier.
pub(super) fn judge(outcome: &ProbeResult, before: Option<&ProbeResult>) -> Option<(Finding, String)> {
    ended(outcome).or_else(|| printed(outcome)).or_else(|| changed(outcome, before?))
}

fn ended(outcome: &ProbeResult) -> Option<(Finding, String)> {
    let timed_out = outcome.result.as_ref().is_err_and(|failure| failure.kind == FailureKind::Timeout);
    if timed_out {
        let own = if outcome.own_limit > outcome.limit {
            format!("; its own limit is {}", within(outcome.own_limit))
        } else {
            String::new()
        };
        return Some((Finding::Hang, format!("did not end within {}{own}", within(outcome.limit))));
    }
    match outcome.exit {
        // To be ended because nobody listens is what a program does that is fine.
        Some(ProcessExit::Signal(SIGPIPE)) if outcome.unheard => return None,
        Some(ProcessExit::Signal(signal)) => return Some((Finding::Crash, format!("ended by signal {signal}"))),
        // So a shell says that it could not run something, whatever the agent takes it for.
        Some(ProcessExit::Code(code @ (126 | 127))) => {
            let text = format!("exit code {code}: something that it runs is not there or may not be run");
            return Some((Finding::Crash, text + &complaint(outcome)));
        }
        _ => {}
    }
    match &outcome.result {
        // Nobody has read what it could not say; a complaint about that is in order.
        Err(_) if outcome.unheard && matches!(outcome.exit, Some(ProcessExit::Code(_))) => None,
        Err(failure) => match failure.kind {
            FailureKind::Parse | FailureKind::Schema | FailureKind::OutputCap => {
                Some((Finding::Rubbish, failure.message.clone()))
            }
            _ => Some((Finding::Crash, failure.message.clone())),
        },
        Ok(_) => None,
    }
}

/// The first line of what it complained about.
fn complaint(outcome: &ProbeResult) -> String {
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    let line = stderr.lines().map(str::trim).find(|line| !line.is_empty());
    line.map(|line| format!(" ({})", line.chars().take(200).collect::<String>())).unwrap_or_default()
}

fn printed(outcome: &ProbeResult) -> Option<(Finding, String)> {
    if outcome.dialect.reply.trigger == AnswerDetection::Never {
        return None;
    }
    let Ok(text) = std::str::from_utf8(&outcome.stdout) else {
        return Some((Finding::Rubbish, "what it prints is not UTF-8".to_owned()));
    };
    let noise = noise_before_answer(text)?;
    Some((Finding::Rubbish, format!("prints {noise} bytes before its answer")))
}

/// How much stands before a JSON object that starts a line and goes to the end.
fn noise_before_answer(text: &str) -> Option<usize> {
    let text = text.trim();
    if text.starts_with('{') || !text.ends_with('}') {
        return None;
    }
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut objects = starts.filter(|start| text[*start..].trim_start().starts_with('{'));
    objects.find(|start| RawJson::parse(text[*start..].trim()).is_ok_and(|json| json.entries().is_some()))
}

fn changed(outcome: &ProbeResult, before: &ProbeResult) -> Option<(Finding, String)> {
    let (was, is) = (before.decision()?, outcome.decision()?);
    (was != is).then(|| (Finding::Changed, format!("decided {was} first, and {is} about the same event")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_what_stands_before_an_answer() {
        for (text, noise) in [
            ("{\"a\":1}", None),
            ("hello", None),
            ("hello {\"a\":1}", None),
            ("hello\n{\"a\":1}\n", Some(6)),
            ("a\nb\n  {\"a\":\n1}", Some(4)),
            ("a\n{\"a\":1} x", None),
            ("a\n{not json}", None),
        ] {
            assert_eq!(noise_before_answer(text), noise, "{text:?}");
        }
    }
}
