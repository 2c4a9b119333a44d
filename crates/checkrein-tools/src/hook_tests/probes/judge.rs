//! Evaluation of a probe: exit, output, and decision compared with an earlier run.

use checkrein_core::{FailureKind, ProcessExit, RawJson};
use checkrein_dialects::reply::AnswerDetection;

use super::Finding;
use super::fire::ProbeResult;
use super::text;

/// Signal for a write to a closed pipe. It has this number on all systems with signals.
const SIGPIPE: i32 = 13;

/// Finding and its description. `before` is the result of an earlier run with the same event.
pub(super) fn judge(outcome: &ProbeResult, before: Option<&ProbeResult>) -> Option<(Finding, String)> {
    check_exit(outcome).or_else(|| check_output(outcome)).or_else(|| check_decision(outcome, before?))
}

fn check_exit(outcome: &ProbeResult) -> Option<(Finding, String)> {
    let timed_out = outcome.result.as_ref().is_err_and(|failure| failure.kind == FailureKind::Timeout);
    if timed_out {
        let own = if outcome.own_limit > outcome.limit {
            format!(" (its own timeout is {})", text::duration(outcome.own_limit))
        } else {
            String::new()
        };
        return Some((Finding::Hang, format!("did not finish within {}{own}", text::duration(outcome.limit))));
    }
    match outcome.exit {
        // SIGPIPE is correct behaviour for a program with a closed stdout.
        Some(ProcessExit::Signal(SIGPIPE)) if outcome.stdout_closed => return None,
        Some(ProcessExit::Signal(signal)) => return Some((Finding::Crash, format!("killed by signal {signal}"))),
        // A shell exits with these codes if it cannot run a command.
        Some(ProcessExit::Code(code @ (126 | 127))) => {
            let text = format!("exit code {code}: a command that it runs does not exist or is not executable");
            return Some((Finding::Crash, text + &first_stderr_line(outcome)));
        }
        _ => {}
    }
    match &outcome.result {
        // With a closed stdout, an error exit is correct behaviour.
        Err(_) if outcome.stdout_closed && matches!(outcome.exit, Some(ProcessExit::Code(_))) => None,
        Err(failure) => match failure.kind {
            FailureKind::Parse | FailureKind::Schema | FailureKind::OutputCap => {
                Some((Finding::Rubbish, failure.message.clone()))
            }
            _ => Some((Finding::Crash, failure.message.clone())),
        },
        Ok(_) => None,
    }
}

/// First non-empty line of stderr, in parentheses.
fn first_stderr_line(outcome: &ProbeResult) -> String {
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    let line = stderr.lines().map(str::trim).find(|line| !line.is_empty());
    line.map(|line| format!(" ({})", line.chars().take(200).collect::<String>())).unwrap_or_default()
}

fn check_output(outcome: &ProbeResult) -> Option<(Finding, String)> {
    if outcome.dialect.reply.trigger == AnswerDetection::Never {
        return None;
    }
    let Ok(text) = std::str::from_utf8(&outcome.stdout) else {
        return Some((Finding::Rubbish, "its stdout is not UTF-8".to_owned()));
    };
    let noise = noise_before_answer(text)?;
    Some((Finding::Rubbish, format!("prints {noise} bytes before its answer")))
}

/// Number of bytes before a JSON object that starts a line and extends to the end.
fn noise_before_answer(text: &str) -> Option<usize> {
    let text = text.trim();
    if text.starts_with('{') || !text.ends_with('}') {
        return None;
    }
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut objects = starts.filter(|start| text[*start..].trim_start().starts_with('{'));
    objects.find(|start| RawJson::parse(text[*start..].trim()).is_ok_and(|json| json.entries().is_some()))
}

fn check_decision(outcome: &ProbeResult, before: &ProbeResult) -> Option<(Finding, String)> {
    let (was, is) = (before.decision()?, outcome.decision()?);
    (was != is).then(|| (Finding::Changed, format!("decided {was} first, then {is} for the same event")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_before_an_answer_is_noise() {
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
