//! Table of all lints: code, help and explanation. `checkrein check --explain` prints it.

/// A lint.
#[derive(Debug)]
#[non_exhaustive]
pub struct LintRule {
    /// Stable code.
    pub code: &'static str,
    /// Fix, in one line.
    pub help: &'static str,
    /// Problem and its consequence.
    pub explanation: &'static str,
    /// Severity of its findings.
    pub severity: RuleSeverity,
}

/// Severity of the findings of a lint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSeverity {
    /// The hook works, and probably not as intended.
    Warning,
    /// The hook fails or has no effect. That is an error if it could block something.
    ErrorAtGates,
    /// The hook fails.
    Error,
}

impl RuleSeverity {
    /// Returns the word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::ErrorAtGates => "error for hooks that can block, otherwise warning",
            Self::Error => "error",
        }
    }
}

/// Finds the explanation of a code: of a lint, or of a problem of config files.
pub fn explain(code: &str) -> Option<&'static LintRule> {
    rule(code).or_else(|| super::CONFIG_CODES.iter().find(|rule| rule.code == code))
}

/// Finds the lint with this code.
pub fn rule(code: &str) -> Option<&'static LintRule> {
    RULES.iter().find(|rule| rule.code == code)
}

/// All lints.
pub const RULES: &[LintRule] = &[
    LintRule {
        code: "untested-rule",
        help: "add `tests:` with a call for which the rule applies and one for which it does not",
        explanation: "A rule without tests may never apply, or apply to ordinary calls. `checkrein test` runs the tests.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "bad-test",
        help: "correct the test; `checkrein test` runs it",
        explanation: "A test of a rule has an unknown key, no call, two calls or an invalid value, so it cannot run.",
        severity: RuleSeverity::Error,
    },
    LintRule {
        code: "unused-effect",
        help: "use another event, such as `PreToolUse`, or remove the key",
        explanation: "The rule denies, asks or rewrites at events at which agents ignore that.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "once-gate",
        help: "remove `once` if the rule must apply to later calls too",
        explanation: "The rule denies, asks or halts, and has `once`. It applies to the first call for which its condition holds; \
                      the same call passes afterwards.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "empty-allow",
        help: "test the list first: `commands.size() > 0 && commands.all(c, …)`",
        explanation: "A condition with `all` holds for an empty list. The rule allows calls that run no command, use no file or \
                      contact no host, such as those of an MCP tool.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "unlikely-comparison",
        help: "correct the value; `checkrein facts` prints the values of a call",
        explanation: "A rule compares a fact with a value that it rarely has: a tool or an agent with an unknown name, a program \
                      with its subcommand, or several options in one word.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "unset-label",
        help: "correct the name, or add `label` to the rule that sets it",
        explanation: "`history.seen` reads a label that no rule of the loaded files sets, so it is always false.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "script-missing",
        help: "check the path; relative paths start in the agent's working directory",
        explanation: "The hook runs a script that does not exist. The shell exits with 127. Most agents treat that as a \
                      failure that does not block, so the guard has no effect.",
        severity: RuleSeverity::ErrorAtGates,
    },
    LintRule {
        code: "not-executable",
        help: "chmod +x the script, or run it through its interpreter",
        explanation: "The hook runs a script directly, but the file is not executable. The shell exits with 126, which \
                      does not block in most agents.",
        severity: RuleSeverity::ErrorAtGates,
    },
    LintRule {
        code: "no-shebang",
        help: "start the script with #!/bin/sh, or with its interpreter",
        explanation: "The hook runs the script directly, but the script has no `#!` line. A shell falls back to sh; other \
                      programs cannot start the script.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "bad-shebang",
        help: "name an interpreter that exists, or use #!/usr/bin/env",
        explanation: "The interpreter in the script's first line does not exist, so the script cannot start.",
        severity: RuleSeverity::ErrorAtGates,
    },
    LintRule {
        code: "crlf",
        help: "save the script with LF line endings",
        explanation: "The script has Windows line endings (CRLF). The system looks for an interpreter named `/bin/sh\\r`, \
                      and the carriage return becomes part of the last word of a line.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "matcher-fits-nothing",
        help: "compare the name with the agent's tools; upper and lower case differ",
        explanation: "The matcher, a name in it or the tool of `if` matches no known tool of this agent, so the hook \
                      never runs for it. Tools of MCP servers are not checked.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "rule-in-matcher",
        help: "match the tool's name, and put the rule into `if`",
        explanation: "`Bash(git *)` is the syntax of permission rules. As a matcher it is a regular expression that \
                      matches almost no tool, so the hook never runs.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "evadable-rule",
        help: "match the program and check its options in the hook, or use the builtin block_dangerous_commands",
        explanation: "The rule of a guard names an option, and matches only commands with the option at this place. \
                      `Bash(git push --force *)` does not match `git push origin main --force`, and `Bash(rm -rf *)` does \
                      not match `rm -fr`.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "background-gate",
        help: "remove `async` if the hook must block",
        explanation: "A background hook cannot block: the agent does not wait for its answer.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "dry-run-gate",
        help: "remove `dry_run` when `checkrein audit dry-runs` shows the results that you expect",
        explanation: "The hook is a dry run: its reply is recorded, and it blocks nothing. A dry run tests a guard on real \
                      work and is easily forgotten.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "exit-1",
        help: "use exit 2 to block, or set the hook to fail closed",
        explanation: "In this agent only exit 2 blocks. Exit 1 is a failure, and the agent continues, so a guard that ends \
                      with `exit 1` blocks nothing.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "json-to-stderr",
        help: "print the decision to stdout, and exit 0",
        explanation: "The script prints a JSON decision to stderr. With exit 2 the whole JSON becomes the reason, and an \
                      `ask` becomes a denial. With exit 0 the decision is ignored.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "unknown-field",
        help: "run `checkrein events EVENT` to list the fields of the payload",
        explanation: "The script reads a field of the payload that this agent does not send at this event. The value is \
                      null or empty, so the guard never finds anything.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "timeout-unit",
        help: "check the unit: most agents use seconds, some milliseconds",
        explanation: "The timeout is probably in the wrong unit. If milliseconds are read as seconds, a hook that hangs \
                      delays the agent for hours. If seconds are read as milliseconds, the hook is killed before it has \
                      started.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "deny-without-reason",
        help: "print a reason for the model: echo \"…\" >&2 before exit 2",
        explanation: "The script blocks without a reason. The model does not know why, and retries the same call or works \
                      around the block.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "errexit-grep",
        help: "write `grep … || true`, or use `grep` in an `if`",
        explanation: "With `set -e`, a `grep` that finds nothing ends the script with 1 and without a message. The checks \
                      after it do not run.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "local-outside-function",
        help: "remove `local`, or move the lines into a function",
        explanation: "`local` outside a function is a shell error. It occurs only when the line runs, often on the path \
                      that is meant to block: the guard fails there.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "quoted-heredoc",
        help: "remove the quotes of the delimiter: <<EOF",
        explanation: "In a here-document with a quoted delimiter (`<<'EOF'`), the shell does not expand variables: the \
                      user reads a literal `$command`.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "unset-variable",
        help: "give it a default: ${NAME:-}",
        explanation: "With `set -u`, the script ends at the first unset variable, and it uses a variable that only another \
                      agent sets. Here it exits with 1 on every call, which does not block.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "feedback-not-shown",
        help: "use exit 2, or print an answer to stdout",
        explanation: "The script prints feedback to stderr and exits with 0. This agent reads stderr only when a hook \
                      blocks, so neither the model nor the user sees it.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "echoes-input",
        help: "print an answer or nothing; redirect copies of the input to a file",
        explanation: "The script prints its input as its answer. At best the agent ignores the keys of the input; at worst \
                      one of them is a key of answers.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "unknown-answer",
        help: "run `checkrein events EVENT` to list valid answers, or write the answer with `checkrein say`",
        explanation: "The script answers with a key or a decision that this agent does not have. Most agents silently \
                      ignore it, so the guard blocks nothing.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "answer-with-exit",
        help: "print the answer and exit 0, or print the reason to stderr and exit 2",
        explanation: "The script prints an answer and exits with a code for which this agent ignores the answer or prefers \
                      stderr. The same script has another result in each agent.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "answer-not-read",
        help: "run `checkrein events EVENT` to list valid answers, or write the answer with `checkrein say`",
        explanation: "The script decides by a key that this agent reads at other events only, such as `permissionDecision` \
                      in answer to a permission request. The agent ignores the decision.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "program-missing",
        help: "install the program, name its absolute path, or set `PATH` in `env` of the hook",
        explanation: "The command or its script starts a program that is not in the hook's PATH. The shell goes on with an empty \
                      result, or the hook fails. A guard that reads its input with a missing `jq` finds nothing and allows \
                      everything. Programs that the script looks for with `command -v` are not reported.",
        severity: RuleSeverity::ErrorAtGates,
    },
    LintRule {
        code: "shell-syntax",
        help: "correct the quotes and keywords; `sh -n FILE` and `bash -n FILE` show the same error",
        explanation: "The shell cannot parse the command or the script. `sh` then exits with 2, which most agents treat as a \
                      denial: every call is blocked with the text of the shell.",
        severity: RuleSeverity::Error,
    },
    LintRule {
        code: "bashism",
        help: "use the syntax of sh, or start the script with #!/bin/bash (for a command: bash -c '…')",
        explanation: "The text runs under `sh`, and uses syntax that only bash has. On Debian and Ubuntu `sh` is dash: `[[` is \
                      not found there, and the guard never blocks.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "unknown-variable",
        help: "read the payload from standard input: `checkrein get tool_input.file_path`, or jq",
        explanation: "The hook uses a variable that looks like one of the agent, and the agent does not set it. It is empty, so \
                      the hook works on nothing. Agents pass the data of an event as JSON on standard input.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "relative-script",
        help: "start the path with the variable of the project directory",
        explanation: "The path of the script is relative. The agent runs hooks in the directory of the event, so the script is \
                      not found after a `cd`, or the path leads out of the project.",
        severity: RuleSeverity::Warning,
    },
    LintRule {
        code: "duplicate-id",
        help: "give each hook its own `id`",
        explanation: "Two hooks of one file have the same `id`. Approvals, test cases and settings that name the hook mean both.",
        severity: RuleSeverity::Warning,
    },
];
