//! Lint for variables that look like those of an agent and that no agent sets.

use checkrein::handler::HandlerEnv;
use checkrein_dialects::config::PathBase;
use checkrein_dialects::{Dialect, HandlerSpec, HookSpec};

use super::code::{Code, mentions};
use super::script::Report;
use super::shell;

/// Names that published hooks use for the data of an event, and that no agent sets.
const INVENTED: &[&str] = &[
    "HOOK_INPUT",
    "STDIN_JSON",
    "TOOL_FILE_PATH",
    "TOOL_INPUT",
    "TOOL_INPUT_FILE_PATH",
    "TOOL_NAME",
    "TOOL_OUTPUT",
    "TOOL_RESPONSE",
    "TOOL_RESULT",
];

/// Variables that agents or their users set outside of the tables: `PREFIX_` and one of these.
const OTHERS: &[&str] = &["ENV_FILE", "PLUGIN_DATA", "PLUGIN_ROOT", "CODE_", "CONFIG_DIR", "HOME", "MODEL", "EFFORT"];

/// Ends of names of credentials and addresses, which users set.
const USER_ENDS: &[&str] = &["_KEY", "_TOKEN", "_SECRET", "_URL", "_PATH_OVERRIDE"];

pub(super) fn lint(code: &Code<'_>, hook: &HookSpec, env: &HandlerEnv, report: &mut Report<'_>) {
    // A variable may come from a script that is read first.
    let reads_others = code.lines().any(|(line, _)| {
        let line = line.trim_start();
        line.starts_with(". ") || line.starts_with("source ") || line.contains("eval ") || line.contains("; . ")
    });
    let ends_at_unset = shell::sets(code, 'u', "nounset");
    let is_of_table = |name: &str| {
        let mut rows = checkrein_dialects::ALL.iter().flat_map(|dialect| dialect.process.variables);
        rows.any(|row| row.name == name)
    };
    let mut reported: Vec<&str> = Vec::new();
    for (line, number) in code.lines() {
        for name in used(line) {
            let is_doubtful = is_of_agent(name) || (INVENTED.contains(&name) && !reads_others);
            // Reported as the end of the script.
            let is_fatal = || ends_at_unset && is_of_table(name);
            let is_set = || {
                is_fatal()
                    || is_known(name, hook)
                    || env.var_os(name).is_some()
                    || is_assigned(code.text, name)
                    || sets_default(code, name)
            };
            if is_doubtful && !reported.contains(&name) && !is_set() {
                let text = format!("{} does not set `${name}` for hooks, so it is empty", hook.dialect.title());
                report("unknown-variable", Some(number), text);
                reported.push(name);
            }
        }
    }
}

/// Names of the variables that a line expands: `$NAME` and `${NAME}` without an operator.
fn used(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('$').filter_map(|(at, _)| {
        // `\$` is text.
        if line[..at].ends_with('\\') {
            return None;
        }
        let rest = &line[at + 1..];
        let (rest, is_braced) = match rest.strip_prefix('{') {
            Some(inside) => (inside, true),
            None => (rest, false),
        };
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..end];
        let is_plain = !is_braced || rest[end..].starts_with(['}', '#', '%']);
        if name.contains('_') && is_plain && !name.contains(|c: char| c.is_ascii_lowercase()) {
            Some(name)
        } else {
            None
        }
    })
}

/// `true` if the name starts with the name of an agent.
fn is_of_agent(name: &str) -> bool {
    let is_own = |dialect: &&'static Dialect| {
        let sets_variables = dialect.process.variables.iter().any(|row| starts_with_agent(row.name, dialect).is_some());
        let Some(rest) = starts_with_agent(name, dialect) else { return false };
        sets_variables
            && !OTHERS.iter().any(|other| rest.starts_with(other))
            && !USER_ENDS.iter().any(|end| name.ends_with(end))
    };
    checkrein_dialects::ALL.iter().any(is_own)
}

/// Rest of a name behind the agent's name and `_`.
fn starts_with_agent<'n>(name: &'n str, dialect: &Dialect) -> Option<&'n str> {
    let agent = dialect.agent();
    let start = name.get(..agent.len())?;
    if start.eq_ignore_ascii_case(agent) { name[agent.len()..].strip_prefix('_') } else { None }
}

/// `true` if the agent sets the variable, or the hook does.
fn is_known(name: &str, hook: &HookSpec) -> bool {
    let dialect = hook.dialect;
    let of_files = dialect.config.files.iter().any(|row| match row.base {
        PathBase::Variable(variable, _) => variable == name,
        PathBase::FirstVariable(variables, _) => variables.contains(&name),
        _ => false,
    });
    let set_here = match &hook.handler {
        HandlerSpec::Command(command) => command.env_set.iter().any(|(own, _)| own == name),
        _ => false,
    };
    of_files
        || set_here
        || dialect.process.variables.iter().any(|row| row.name == name)
        || dialect.config.plugin.is_some_and(|plugin| plugin.root_variable == name)
}

/// `true` if the name also occurs without `$`: as the target of an assignment, of `read` or of `for`.
fn is_assigned(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + name.len()..]);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !before.ends_with(['$', '{']) && !before.ends_with(is_part) && !behind.starts_with(is_part)
    })
}

/// `true` if the text gives the variable a default somewhere: `${NAME:-…}`.
fn sets_default(code: &Code<'_>, name: &str) -> bool {
    ["${", "${!"].iter().any(|start| {
        code.text
            .match_indices(&format!("{start}{name}"))
            .any(|(at, found)| code.text[at + found.len()..].starts_with([':', '-', '+', '=', '?']))
    }) && mentions(code.text, name)
}
