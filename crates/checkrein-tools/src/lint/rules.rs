//! Every lint, with what it means.

/// A lint.
#[derive(Debug)]
#[non_exhaustive]
pub struct LintRule {
    /// Its code.
    pub code: &'static str,
    /// What to do about it, in one line.
    pub help: &'static str,
    /// What is wrong, why it matters, and how it looks right.
    pub explanation: &'static str,
}

/// The lint with this code.
pub fn rule(code: &str) -> Option<&'static LintRule> {
    RULES.iter().find(|rule| rule.code == code)
}

/// Every lint.
pub const RULES: &[LintRule] = &[
    LintRule {
        code: "script-missing",
        help: "check the path; relative ones start in the agent's directory",
        explanation: "The hook runs a script that is not there. A shell ends with 127 then, which most agents take for a \
                      failure that stops nothing: the guard is a hole.",
    },
    LintRule {
        code: "not-executable",
        help: "chmod +x the script, or run it through its interpreter",
        explanation: "The hook runs a script directly, and the file may not be executed. It ends with 126, which stops \
                      nothing in most agents.",
    },
    LintRule {
        code: "no-shebang",
        help: "start the script with #!/bin/sh, or with its interpreter",
        explanation: "The script is run directly and has no `#!` line. AnswerKind runs it then depends on who starts it: a shell \
                      falls back to sh, other programs refuse.",
    },
    LintRule {
        code: "bad-shebang",
        help: "name an interpreter that is there, or use #!/usr/bin/env",
        explanation: "The interpreter in the script's first line is not there, so the script cannot start.",
    },
    LintRule {
        code: "crlf",
        help: "save the script with line feeds only",
        explanation: "The script has lines that end like those of Windows. `#!/bin/sh\\r` is no interpreter, and the \
                      carriage return becomes part of words.",
    },
    LintRule {
        code: "matcher-fits-nothing",
        help: "compare the name with the agent's tools; letter case counts",
        explanation: "No tool that this agent is known to have fits the matcher, so the hook never runs. Tools of MCP \
                      servers are not looked at.",
    },
    LintRule {
        code: "rule-in-matcher",
        help: "match the tool's name, and put the rule into `if`",
        explanation: "`Bash(git *)` is how permissions are written. As a matcher it is a regular expression that fits \
                      hardly any tool, so the hook is dead.",
    },
    LintRule {
        code: "background-gate",
        help: "take `async` out if the hook shall stop something",
        explanation: "A hook that nobody waits for cannot stop anything: what it says comes too late.",
    },
    LintRule {
        code: "dry-run-gate",
        help: "remove `dry_run` when `checkrein audit dry-runs` shows the results that you expect",
        explanation: "The hook is a dry run: its reply is recorded, and it blocks nothing. A dry run tests a guard on real \
                      work and is easily forgotten.",
    },
    LintRule {
        code: "exit-1",
        help: "end with exit 2 to block, or set the hook to close when it fails",
        explanation: "In this agent only exit 2 blocks; exit 1 is a failure, and it goes on. A guard that ends with \
                      `exit 1` stops nothing.",
    },
    LintRule {
        code: "json-to-stderr",
        help: "print the decision to standard output, and exit 0",
        explanation: "The script prints a JSON decision to standard error. With exit 2 the whole JSON becomes the reason, \
                      and an `ask` becomes a hard block; with exit 0 nobody reads it.",
    },
    LintRule {
        code: "unknown-field",
        help: "see `checkrein events EVENT` for what this agent sends",
        explanation: "The script reads a field of the payload that this agent does not send at this event. It reads null \
                      or nothing, so the guard never finds what it looks for.",
    },
    LintRule {
        code: "timeout-unit",
        help: "see in which unit this agent counts: most count seconds, some milliseconds",
        explanation: "The timeout looks as if it were meant in another unit. Milliseconds that are taken for seconds let a \
                      hook that hangs hold the agent for hours; seconds that are taken for milliseconds end a hook before \
                      it has started.",
    },
    LintRule {
        code: "deny-without-reason",
        help: "say why, for the model: echo \"…\" >&2 before exit 2",
        explanation: "The script blocks without saying why. The model is told nothing, and tries the same again or \
                      something worse.",
    },
    LintRule {
        code: "errexit-grep",
        help: "write `grep … || true`, or test it in an `if`",
        explanation: "Under `set -e`, a `grep` that finds nothing ends the script with 1, in silence: the guard stops \
                      guarding exactly when there is nothing to find.",
    },
    LintRule {
        code: "local-outside-function",
        help: "leave `local` out, or put the lines into a function",
        explanation: "`local` in no function is an error of the shell. It is met only when the line is reached, which is \
                      often the path on which the threat was found: the guard crashes exactly there.",
    },
    LintRule {
        code: "quoted-heredoc",
        help: "take the quotes off the mark: <<EOF",
        explanation: "In a here-document whose mark is quoted (`<<'EOF'`) nothing is filled in: the user reads a literal \
                      `$command`.",
    },
    LintRule {
        code: "unset-variable",
        help: "give it a default: ${NAME:-}",
        explanation: "The script ends at the first variable that is not set (`set -u`) and uses one that only another agent \
                      sets. Here it ends with 1 on every call, which stops nothing.",
    },
    LintRule {
        code: "feedback-not-shown",
        help: "end with exit 2, or print an answer to standard output",
        explanation: "The script tells something on standard error and ends with 0. This agent reads standard error only \
                      when a hook blocks, so neither the model nor the user sees it.",
    },
    LintRule {
        code: "echoes-input",
        help: "print an answer or nothing; send copies to a file",
        explanation: "The script prints what it was given as its own answer. Its keys mean nothing there at best; at worst \
                      one of them does.",
    },
    LintRule {
        code: "unknown-answer",
        help: "see `checkrein events EVENT` for what may be answered, or let `checkrein say` write it",
        explanation: "The script answers with a key or a decision that this agent does not have. Most agents overlook it \
                      in silence: the guard finds the threat, says so, and nothing happens.",
    },
    LintRule {
        code: "answer-with-exit",
        help: "print the answer and exit 0, or say why on standard error and exit 2",
        explanation: "The script prints an answer and ends with an exit code with which this agent does not read it, or \
                      reads something else first. The same script has another outcome in every agent.",
    },
    LintRule {
        code: "answer-not-read",
        help: "see `checkrein events EVENT` for what this event reads, or let `checkrein say` write it",
        explanation: "The script decides by a key that this agent reads at other events only, such as `permissionDecision` \
                      in answer to a permission request. The decision is overlooked.",
    },
];
