//! Table of the codes of problems in config files. They are found when files are read or hooks are loaded, and a comment
//! cannot silence them. `checkrein check --explain` prints them too.

use super::rules::{LintRule, RuleSeverity};

const fn code(code: &'static str, help: &'static str, explanation: &'static str) -> LintRule {
    LintRule { code, help, explanation, severity: RuleSeverity::Error }
}

const fn warning(code: &'static str, help: &'static str, explanation: &'static str) -> LintRule {
    LintRule { code, help, explanation, severity: RuleSeverity::Warning }
}

/// All codes of config problems.
pub const CONFIG_CODES: &[LintRule] = &[
    code(
        "closed-gate",
        "fix or remove the hook; the finding before this one is the cause",
        "A hook that cannot be loaded could have blocked something. Its event stays blocked for everything that the hook \
         would have matched, until the hook is fixed or removed.",
    ),
    code(
        "bad-expression",
        "fix the expression; `checkrein facts 'COMMAND'` prints the names that rules can use",
        "An expression of a rule is not valid: its syntax is wrong, a name is unknown, a type does not fit, or a comparison \
         has the same result for every event. The rule cannot be evaluated, so it blocks its event.",
    ),
    code(
        "two-decisions",
        "write two rules, or remove one of the keys",
        "A rule has one decision: `deny`, `ask`, `allow` or `halt`. With two, it is not clear what the rule should do.",
    ),
    code(
        "rule-key",
        "write two hooks, or remove the key",
        "The entry is a command or another hook, and has a key of rules, such as `deny`. A hook has one handler, so the key would have \
         no effect.",
    ),
    code(
        "bad-label",
        "use letters, digits, `_`, `-` and `.`",
        "The label of a rule marks its session. Other rules test it with `history.seen(\"LABEL\")`.",
    ),
    code(
        "unknown-pack",
        "run `checkrein packs` to list the packs",
        "A file lists a pack that this version of checkrein does not have. Its rules are missing, so all gates are closed.",
    ),
    code(
        "unknown-rule",
        "run `checkrein packs show NAME` to list the rules of a pack",
        "An adjustment names a rule that the pack does not have, so it would have no effect.",
    ),
    code(
        "duplicate-pack",
        "keep one entry for each pack",
        "A file lists a pack twice. The adjustments of one entry would not apply to the rules of the other one.",
    ),
    code("contradiction", "keep one adjustment for each rule", "An entry of `packs` adjusts a rule in two ways."),
    code(
        "no-entry",
        "run `checkrein install`, which adds the entry",
        "The settings of an agent call checkrein, but not at this event, so the hook never runs there. The entry was removed, or \
         `checkrein install --needed` ran before the hook was added. It is a warning for frequent and large events, which have \
         entries only after `checkrein install --all-events`.",
    ),
    code(
        "not-loaded",
        "fix or remove the hook",
        "The file is valid, but the hook cannot be loaded: for example the builtin is unknown, its arguments are wrong, it \
         has no effect at this event, or a file with certificates is missing. A guard that cannot be loaded blocks its event.",
    ),
    code(
        "not-run-here",
        "use `command`, `http` or `builtin`, or leave the hook in its agent's own file",
        "The hook needs something that only its agent has, such as a model or an MCP server. The program checkrein cannot run \
         it, so a guard of this type blocks its event.",
    ),
    warning(
        "handler-problem",
        "set the variable, or add it to the list of allowed variables",
        "The hook can run, but not as it is written: for example a header contains a variable that is not set.",
    ),
    warning(
        "never-runs",
        "remove the condition, or use an event of a tool",
        "The hook has a condition on the input of a tool, and one of its events has no tool. The hook never runs there.",
    ),
    code(
        "no-hooks-found",
        "name the agent of the file with `--as AGENT`, or fix the structure of the file",
        "A file on the command line has no hooks. It may be the file of another agent, or the hooks are under another key.",
    ),
    code(
        "audit-not-writable",
        "choose a path that every user of the file can write, or change the permissions of the directory",
        "The audit log cannot be written by the current user. With `on_failure: closed`, every event that a hook can block is \
         blocked.",
    ),
    code(
        "not-readable",
        "fix the syntax at the marked place",
        "The file cannot be read or parsed. It could contain any guard, so every event that a hook can block is blocked.",
    ),
    code(
        "not-a-file",
        "write a regular file",
        "The path is a directory, a device or a pipe, so its content is unknown.",
    ),
    code(
        "too-large",
        "split the file",
        "The file is larger than checkrein reads. It could contain any guard, so every event that a hook can block is blocked.",
    ),
    code("not-utf8", "save the file as UTF-8", "The file is not text in UTF-8."),
    code("link-loop", "correct the symbolic link", "A symbolic link leads to itself."),
    code(
        "dead-link",
        "correct or remove the symbolic link",
        "A symbolic link leads to a missing file, which could contain any guard.",
    ),
    code(
        "no-permission",
        "change the permissions of the file",
        "You may not read the file. It could contain any guard, so every event that a hook can block is blocked.",
    ),
    code("io-error", "check the disk and the path", "The system cannot read the file."),
    code("missing-file", "check the path", "A file that the command line or another hook file names does not exist."),
    code(
        "too-many-files",
        "remove files, or include fewer of them",
        "There are more hook files than checkrein reads, or includes are nested too deep. The files that are not read could \
         contain guards, so every event that a hook can block is blocked.",
    ),
    warning(
        "several-files",
        "keep the hooks in one file",
        "The same location has hook files in several formats. One of them is read.",
    ),
    code(
        "insecure-permissions",
        "remove the write permission of other users: chmod go-w",
        "A managed file, or a directory above it, can be written by users who are not administrators. The file is not trusted, \
         and every event that a hook can block is blocked.",
    ),
    code(
        "approvals-not-private",
        "remove the write permission of other users: chmod go-w",
        "Other users can write the file with your approvals. It is ignored, so no hook of a project is approved.",
    ),
    warning(
        "lockfile-not-trusted",
        "sign the lockfile with a key of `trusted_keys`",
        "The project has a lockfile that does not approve its hooks, because no trusted key signed it.",
    ),
    warning(
        "moved-by-variable",
        "unset the variable, or pass the directory as an option of `checkrein hook`",
        "A variable moves your directories to another place. A project can set variables, so hook files there are treated as \
         files of the project and need approval.",
    ),
    warning(
        "user-file-in-project",
        "follow the message, or approve the hooks",
        "A file at the location of your own files is inside of the project, so it is treated as a file of the project. Its hooks \
         run only after approval.",
    ),
    warning(
        "scope-not-permitted",
        "move the setting to a file of a wider scope",
        "The file has a setting that only files of the user or the administrator can have. The setting is ignored.",
    ),
    warning(
        "old-hooks",
        "fix the file",
        "The file changed and cannot be read any more. The hooks that it had before stay in force.",
    ),
    warning(
        "calls-itself",
        "remove the entry from the included file, or do not include the file",
        "An included hook calls checkrein, which already runs the other hooks of the file. The entry is disabled.",
    ),
    warning(
        "unguarded-program",
        "use an absolute path, and a program that only the administrator can write",
        "A managed hook runs a program that other users can replace, so they can disable the guard.",
    ),
    code(
        "unknown-key",
        "correct the key, or remove it",
        "The key is not known. In files of agents that ignore unknown keys this is a warning: the key has no effect.",
    ),
    warning("renamed-key", "use the new name", "The key has a new name. The old name still works."),
    code("missing-key", "add the key", "A required key is missing or has no value, so the hook cannot be loaded."),
    code(
        "wrong-type",
        "write a value of the expected type",
        "The value has another type than the key needs, for example text instead of a number.",
    ),
    code(
        "unknown-value",
        "use one of the listed words",
        "The key accepts only certain words, and this is another one.",
    ),
    code(
        "unknown-event",
        "run `checkrein events` to list all names",
        "The agent has no event of this name, so the hook never runs. A misspelt name of an event that a hook can block keeps the event blocked.",
    ),
    code("unknown-handler", "use one of the listed types", "The hook has a type that the agent does not have."),
    code(
        "handler-not-here",
        "use another type, or another event",
        "The agent does not run hooks of this type at this event.",
    ),
    code("unknown-shell", "use one of the listed shells", "The hook names a shell that checkrein does not know."),
    code(
        "unknown-dialect",
        "use the name of an agent, as `checkrein status` lists them",
        "An `include` names an agent that checkrein does not know.",
    ),
    code(
        "unknown-agent",
        "name the agent with `--agent`",
        "The file contains hooks of several agents, and none of them has this name.",
    ),
    warning(
        "unknown-version",
        "check the version",
        "The file has a version that checkrein does not know. It is read as the newest known version.",
    ),
    code("no-files", "include the files of another agent", "checkrein cannot read the files of this agent yet."),
    code(
        "misplaced",
        "move the key to the place that the message names",
        "An event is outside of the object with the hooks, so the agent does not read its hooks.",
    ),
    warning("no-hooks", "add hooks, or remove the group", "The list of hooks of this group is empty."),
    code(
        "no-groups",
        "write the hooks directly below the event",
        "The event has groups of hooks, and this agent has none.",
    ),
    warning("no-lane", "remove the key", "The key selects an order of execution that this event does not have."),
    warning("no-effect", "remove the setting", "The setting has no effect, for the reason that the message gives."),
    warning(
        "suspicious-document",
        "write the value in quotes, or remove the duplicate",
        "The file is valid, but probably not read as its author expects: for example a key occurs twice.",
    ),
    code(
        "bad-command",
        "write the command as text or as a list of words",
        "The command is empty or contains a character that no command can have.",
    ),
    code("bad-matcher", "correct the pattern", "The matcher is not a valid pattern in the grammar of this agent."),
    warning(
        "foreign-pattern",
        "use the syntax of globs",
        "The pattern has the syntax of another agent's matchers, which has another meaning here.",
    ),
    warning("no-pattern", "list the names of tools", "The value is compared as a name. It is not a pattern."),
    warning(
        "matcher-ignored",
        "remove the matcher",
        "The agent ignores matchers at this event, so the hook always runs.",
    ),
    code("bad-rule", "write a rule such as `Bash(git push *)`", "The value of `if` is not a permission rule."),
    code("bad-time", "write a number above 0, or omit the key", "The time is not valid for this key."),
    warning("cut-time", "write a shorter time", "The time is above the maximum of the agent. The maximum applies."),
    code("bad-size", "write a number of bytes, or a size such as `64MiB`", "The size is not valid for this key."),
    code("bad-url", "write the whole URL with its scheme", "The URL is invalid, or a hook may not call it."),
    code(
        "bad-url-pattern",
        "write a scheme and a host, as in `https://*.example.com/*`",
        "The pattern matches no URL.",
    ),
    code("bad-path", "write an absolute path, or one that starts with `~/`", "The path is relative or invalid."),
    code(
        "bad-key",
        "copy the line of the `.pub` file",
        "A value of `trusted_keys` is not an Ed25519 public key. No signature can match it, so it approves nothing.",
    ),
    code(
        "bad-sandbox",
        "correct the sandbox",
        "The restrictions of the sandbox contradict each other or cannot be applied.",
    ),
    code(
        "foreign-variable",
        "list the variable in `env`",
        "The command uses a variable that the agent does not pass on.",
    ),
    warning("no-shell", "write a list of words", "The agent runs commands without a shell."),
    code(
        "claude-form",
        "write the command as text",
        "The entry has the form of Claude Code's files, and this agent has another one.",
    ),
    code(
        "cannot-block",
        "use another event, or another policy",
        "The hook should block if it fails, and the agent cannot block at this event.",
    ),
    warning(
        "cannot-decide",
        "use a command for guards",
        "The agent ignores the responses of HTTP hooks, so this hook cannot block.",
    ),
];
