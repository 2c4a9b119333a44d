//! Lints for matchers on the names of tools.

use checkrein_core::{Matcher, closest_match};
use checkrein_dialects::agents::claude;
use checkrein_dialects::config::Diagnostic;
use checkrein_dialects::{Dialect, HookSpec, ToolRow};

use super::for_hook;
use super::place::Part;

/// Start of the names of MCP tools: `mcp__SERVER__TOOL`.
const MCP: &str = "mcp__";

pub(super) fn matcher(hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let pattern = hook.matcher.pattern();
    let about_tools = hook.kinds.iter().all(|kind| kind.contract().matched_on.as_deref() == Some("tool_name"));
    if pattern.is_empty() || !about_tools || hook.kinds.is_empty() {
        return;
    }
    let mut report = |code, text: String| found.push(for_hook(hook, Part::Matcher, code, &text));
    let is_rule = pattern.split_once('(').is_some_and(|(tool, rest)| {
        rest.ends_with(')') && !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    if is_rule && !hook.matcher.matches(pattern) {
        report("rule-in-matcher", format!("matcher `{pattern}` is a permission rule, which matches no tool name"));
        return;
    }
    for server in pattern.split('|').filter(|name| is_server(name) && !matches_server(&hook.matcher, name)) {
        let meant = servers_tools(hook, server);
        let text = format!(
            "`{server}` matches no tool: tools of MCP servers are named `{MCP}SERVER__TOOL`; did you mean `{meant}`?"
        );
        report("matcher-fits-nothing", text);
    }
    // The tool names of MCP servers are unknown here.
    let mcp = hook.dialect.mcp;
    let has_form = mcp.prefix.is_empty() && mcp.is_known() && pattern.contains(mcp.separator);
    if pattern.contains("mcp") || pattern.contains(':') || has_form {
        return;
    }
    let shared = || claude::DIALECT.tools.iter().map(|row| row.name);
    if hook.dialect.tools.is_empty() {
        // Tools of any agent, with their shared names.
        let meant = closest_match(pattern, shared()).filter(|_| !shared().any(|tool| hook.matcher.matches(tool)));
        if let Some(meant) = meant.filter(|_| hook.dialect.has_all_events) {
            let text = format!("matcher `{pattern}` matches none of the shared tool names, did you mean `{meant}`?");
            report("matcher-fits-nothing", text);
        }
        return;
    }
    // The agent compares matchers in its own files with its own names only.
    let tools: Vec<&str> = hook.dialect.tools.iter().flat_map(ToolRow::matched_names).collect();
    let agent = hook.dialect.title();
    if !tools.iter().any(|tool| hook.matcher.matches(tool)) {
        let close = || closest_match(pattern, tools.iter().copied()).map(str::to_owned);
        let hint = own_names(hook.dialect, pattern).or_else(close);
        let hint = hint.map(|tool| format!(", did you mean `{tool}`?")).unwrap_or_default();
        report("matcher-fits-nothing", format!("matcher `{pattern}` matches no tool of {agent}{hint}"));
        return;
    }
    for part in pattern.split('|').filter(|part| !tools.iter().any(|tool| tool.contains(part))) {
        if let Some(own) = own_names(hook.dialect, part) {
            let text = format!("`{part}` in matcher `{pattern}` is not a tool of {agent}, did you mean `{own}`?");
            report("matcher-fits-nothing", text);
        }
    }
}

/// Names that an agent has for a list of common names. `None`: a part is not a common name of its tools.
fn own_names(dialect: &Dialect, pattern: &str) -> Option<String> {
    let mut own: Vec<&str> = Vec::new();
    for part in pattern.split('|') {
        let is_named = |tool: &&ToolRow| tool.common.iter().any(|name| name.eq_ignore_ascii_case(part));
        let tool = dialect.tools.iter().find(is_named)?;
        if !own.contains(&tool.name) {
            own.push(tool.name);
        }
    }
    Some(own.join("|"))
}

/// `true` if a name is that of an MCP server without a tool.
fn is_server(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.strip_prefix(MCP).is_some_and(|rest| !rest.is_empty() && !rest.contains("__") && rest.chars().all(is_plain))
}

fn matches_server(matcher: &Matcher, server: &str) -> bool {
    matcher.matches(&format!("{server}__tool"))
}

/// Pattern for all tools of a server in the hook's grammar: a regular expression, or else a glob.
fn servers_tools(hook: &HookSpec, server: &str) -> String {
    let regex = format!("{server}__.*");
    let is_regex =
        Matcher::compile(&hook.dialect.matcher, Some(&regex)).is_ok_and(|matcher| matches_server(&matcher, server));
    if is_regex { regex } else { format!("{server}__*") }
}
