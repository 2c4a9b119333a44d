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
        explanation: "The script is run directly and has no `#!` line. What runs it then depends on who starts it: a shell \
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
        code: "async-gate",
        help: "take `async` out if the hook shall stop something",
        explanation: "A hook that nobody waits for cannot stop anything: what it says comes too late.",
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
        help: "times are seconds here",
        explanation: "The timeout looks like milliseconds, but this agent counts seconds: a hook that hangs would hold \
                      the agent for a very long time.",
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
];
