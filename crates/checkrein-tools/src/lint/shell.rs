//! Lints for shell scripts: exit codes, `set -e`, here-documents, variables and output.

use checkrein_core::{BlockEffect, EventKind, ProcessExit, ProcessReply, Reply};
use checkrein_dialects::HookSpec;
use checkrein_dialects::reply::AnswerDetection;

use super::code::{Code, exits, mentions};
use super::is_gate;
use super::script::Report;

pub(super) fn lint(code: &Code<'_>, hook: &HookSpec, report: &mut Report<'_>) {
    if is_gate(hook) {
        exit_codes(code, hook, report);
    }
    errexit_grep(code, report);
    local(code, report);
    quoted_heredoc(code, report);
    unset_variables(code, hook, report);
    feedback_not_shown(code, hook, report);
    echoes_input(code, hook, report);
}

fn exit_codes(code: &Code<'_>, hook: &HookSpec, report: &mut Report<'_>) {
    let lines_with_exit = |wanted: u8| code.lines().filter(move |(line, _)| exits(line).any(|code| code == wanted));
    let mut ones = lines_with_exit(1).peekable();
    if ones.peek().is_some() && blocks(hook, 2) && !blocks(hook, 1) {
        for (_, number) in ones {
            report("exit-1", Some(number), "`exit 1` does not block here; use `exit 2`".to_owned());
        }
    }
    let text = code.text;
    let prints_reason = text.contains(">&2") || text.contains("/dev/stderr") || text.contains("permissionDecision");
    if let Some((_, number)) = lines_with_exit(2).next()
        && !prints_reason
        && blocks(hook, 2)
    {
        report("deny-without-reason", Some(number), "blocks without a reason".to_owned());
    }
}

/// Returns `true` if this exit code blocks at one of the hook's events.
fn blocks(hook: &HookSpec, code: i32) -> bool {
    use checkrein_core::{Decision, FailurePolicy};
    let kinds = hook.kinds.iter().filter(|kind| hook.dialect.is_gate(kind));
    kinds.into_iter().any(|kind| {
        let reply = ProcessReply::new(ProcessExit::Code(code)).stderr("x");
        match hook.dialect.read(&crate::samples::event(kind), Reply::Process(reply), hook.strict) {
            Ok(opinion) => opinion.decision() >= Decision::Deny,
            Err(failure) => {
                let own = hook.info.on_failure;
                own.unwrap_or_else(|| hook.dialect.failure_effect(kind, failure.kind)) == FailurePolicy::Closed
            }
        }
    })
}

/// Returns `true` if the script sets an option by its letter or its long name.
pub(super) fn sets(code: &Code<'_>, letter: char, long: &str) -> bool {
    code.lines().any(|(line, _)| {
        let mut words = line.split_whitespace();
        words.next() == Some("set")
            && words.any(|word| word == long || word.strip_prefix('-').is_some_and(|flags| flags.contains(letter)))
    })
}

fn errexit_grep(code: &Code<'_>, report: &mut Report<'_>) {
    if !sets(code, 'e', "errexit") {
        return;
    }
    let bare = |line: &str| {
        let line = line.trim_start();
        let is_grep = line.starts_with("grep ") || line.contains("=$(grep ") || line.contains("| grep ");
        let is_tested = ["if ", "elif ", "while ", "until ", "! "].iter().any(|word| line.starts_with(word));
        is_grep && !is_tested && !line.contains("||") && !line.contains("&&") && !line.contains("then")
    };
    if let Some((_, number)) = code.lines().find(|(line, _)| bare(line)) {
        report("errexit-grep", Some(number), "`set -e` ends the script here if `grep` finds nothing".to_owned());
    }
}

/// Lines outside of functions. The lines that open and close a function belong to it.
fn outside_functions<'a>(code: &Code<'a>) -> impl Iterator<Item = (&'a str, u32)> {
    let mut closes: Option<String> = None;
    code.lines().filter(move |(line, _)| {
        let indent = &line[..line.len() - line.trim_start().len()];
        if let Some(end) = &closes {
            if line.starts_with(end.as_str()) {
                closes = None;
            }
            return false;
        }
        let starts = line.trim_start().starts_with("function ") || line.contains("()");
        let is_whole = line.contains('{') && line.trim_end().ends_with('}');
        if starts && !is_whole {
            // The closing brace has the same indentation as the opening line. The body is indented further.
            closes = Some(format!("{indent}}}"));
        }
        !starts
    })
}

fn local(code: &Code<'_>, report: &mut Report<'_>) {
    let is_local = |line: &str| line.trim_start().starts_with("local ") || line.contains("; local ");
    if let Some((_, number)) = outside_functions(code).find(|(line, _)| is_local(line)) {
        report("local-outside-function", Some(number), "`local` outside a function is an error".to_owned());
    }
}

fn quoted_heredoc(code: &Code<'_>, report: &mut Report<'_>) {
    let prints = |command: &str| command.trim_start().starts_with("cat") && !command.contains('|');
    for document in code.here_documents().iter().filter(|document| document.is_quoted && prints(document.command)) {
        let mut names = document.body.split('$').skip(1).map(|rest| {
            let rest = rest.trim_start_matches('{');
            rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
        });
        // Only variables that the script itself sets are meant to be expanded.
        let is_set = |name: &str| {
            let assigns = format!("{name}=");
            !name.is_empty()
                && code.lines().any(|(line, _)| line.trim_start().trim_start_matches("local ").starts_with(&assigns))
        };
        if let Some(name) = names.find(|name| is_set(name)) {
            let text = format!("`${name}` is not expanded here, because the delimiter after `<<` is quoted");
            report("quoted-heredoc", Some(document.line), text);
        }
    }
}

fn unset_variables(code: &Code<'_>, hook: &HookSpec, report: &mut Report<'_>) {
    if !sets(code, 'u', "nounset") {
        return;
    }
    let sets = |name: &str| hook.dialect.process.variables.iter().any(|row| row.name == name);
    let mut reported: Vec<&str> = Vec::new();
    for (dialect, row) in checkrein_dialects::ALL
        .iter()
        .flat_map(|dialect| dialect.process.variables.iter().map(move |row| (dialect, row)))
    {
        // A row without a name stands for variables that depend on the payload.
        if row.name.is_empty() || sets(row.name) || reported.contains(&row.name) {
            continue;
        }
        let (bare, braced) = (format!("${}", row.name), format!("${{{}}}", row.name));
        let uses = |line: &str| line.contains(&braced) || (mentions(line, &bare[1..]) && line.contains(&bare));
        let guarded = code.text.contains(&format!("${{{}:", row.name))
            || code.text.contains(&format!("${{{}-", row.name))
            || code.text.contains(&format!("${{{}+", row.name));
        if !guarded && let Some((_, number)) = code.lines().find(|(line, _)| uses(line)) {
            let text = format!(
                "`${}` is set by {}, not by {}; `set -u` ends the script here",
                row.name, dialect.name, hook.dialect.name
            );
            report("unset-variable", Some(number), text);
            reported.push(row.name);
        }
    }
}

/// Reports feedback for the model on stderr in a script that exits with 0.
fn feedback_not_shown(code: &Code<'_>, hook: &HookSpec, report: &mut Report<'_>) {
    let gives_feedback = |kind: &EventKind| {
        hook.dialect.blocks(kind) && matches!(kind.contract().block, BlockEffect::Feedback | BlockEffect::Continue)
    };
    // A script that can block, or that prints an answer, has another way to give feedback.
    let has_other_way = code.lines().any(|(line, _)| exits(line).any(|code| code != 0))
        || code.text.contains("hookSpecificOutput")
        || code.text.contains("\"decision\"");
    if has_other_way || hook.kinds.is_empty() {
        return;
    }
    let feedback = code.lines().find(|(line, number)| line.contains(">&2") && code.exit_after(*number) == Some(0));
    let is_shown = |kind: &EventKind| {
        let reply = ProcessReply::new(ProcessExit::Code(0)).stderr("x");
        let read = hook.dialect.read(&crate::samples::event(kind), Reply::Process(reply), hook.strict);
        read.is_ok_and(|opinion| !opinion.contexts().is_empty() || !opinion.messages().is_empty())
    };
    if let Some((_, number)) = feedback
        && !hook.kinds.iter().any(|kind| !gives_feedback(kind) || is_shown(kind))
    {
        report("feedback-not-shown", Some(number), "stderr is not shown when the script exits with 0".to_owned());
    }
}

fn echoes_input(code: &Code<'_>, hook: &HookSpec, report: &mut Report<'_>) {
    if hook.dialect.reply.trigger == AnswerDetection::Never {
        return;
    }
    let holds_input = |name: &str| {
        let reads = ["$(cat)", "\"$(cat)\"", "$(cat -)", "\"$(cat -)\"", "$(</dev/stdin)", "$(cat /dev/stdin)"];
        code.lines().any(|(line, _)| {
            line.trim()
                .trim_start_matches("local ")
                .split_once('=')
                .is_some_and(|(own, value)| own == name && reads.contains(&value))
        })
    };
    let echoes = |line: &str| {
        let line = line.trim();
        let printed = ["echo ", "printf '%s' ", "printf '%s\\n' ", "printf \"%s\" "]
            .iter()
            .find_map(|command| line.strip_prefix(command));
        match printed {
            Some(value) => {
                let name = value.trim_matches('"').strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
                name.is_some_and(holds_input)
            }
            None => line == "cat" || line == "cat -" || (line.starts_with("tee ") && !line.contains(['>', '|', ';'])),
        }
    };
    // Only the last command prints the answer: `echo` occurs before it for other purposes.
    let last = outside_functions(code).filter(|(line, _)| !line.trim().is_empty() && line.trim() != "exit 0").last();
    if let Some((_, number)) = last.filter(|(line, _)| echoes(line)) {
        report("echoes-input", Some(number), "prints its input as its answer".to_owned());
    }
}
