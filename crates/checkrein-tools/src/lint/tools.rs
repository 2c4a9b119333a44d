//! Lints for matchers and permission rules on the names of tools.

use checkrein_core::{Matcher, closest_match};
use checkrein_dialects::agents::claude;
use checkrein_dialects::config::Diagnostic;
use checkrein_dialects::{Dialect, HookSpec, ToolRow};

use super::files::Files;
use super::for_hook;
use super::place::Part;

/// Start of the names of MCP tools: `mcp__SERVER__TOOL`.
const MCP: &str = "mcp__";

pub(super) fn matcher(files: &Files, hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let pattern = hook.matcher.pattern();
    let about_tools = hook.kinds.iter().all(|kind| kind.contract().matched_on.as_deref() == Some("tool_name"));
    if pattern.is_empty() || !about_tools || hook.kinds.is_empty() {
        return;
    }
    let mut report = |code, text: String| found.push(for_hook(files, hook, Part::Matcher, code, &text));
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
    if may_be_mcp(hook.dialect, pattern) {
        return;
    }
    if hook.dialect.tools.is_empty() {
        // Tools of any agent, with their shared names.
        if !hook.dialect.has_all_events {
            return;
        }
        let meant = closest_match(pattern, shared()).filter(|_| !shared().any(|tool| hook.matcher.matches(tool)));
        if let Some(meant) = meant {
            let text = format!("matcher `{pattern}` matches none of the shared tool names, did you mean `{meant}`?");
            report("matcher-fits-nothing", text);
            return;
        }
        for part in pattern.split('|') {
            if let Some(meant) = in_other_case(&hook.matcher, part, shared()) {
                let text = format!(
                    "`{part}` in matcher `{pattern}` is not one of the shared tool names, did you mean `{meant}`?"
                );
                report("matcher-fits-nothing", text);
            }
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
        let other_case = || in_other_case(&hook.matcher, part, tools.iter().copied()).map(str::to_owned);
        if let Some(own) = own_names(hook.dialect, part).or_else(other_case) {
            let text = format!("`{part}` in matcher `{pattern}` is not a tool of {agent}, did you mean `{own}`?");
            report("matcher-fits-nothing", text);
        }
    }
}

/// Reports a permission rule for a tool that the agent does not have.
pub(super) fn rule(files: &Files, hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(rule) = &hook.permission_rule else { return };
    let (tool, dialect) = (rule.tool.as_str(), hook.dialect);
    if tool.contains('*') || may_be_mcp(dialect, tool) {
        return;
    }
    let text = if dialect.tools.is_empty() {
        // Events of any agent also have the agent's own names. Only another case of a shared name is certainly wrong.
        let is_shared = shared().any(|name| name == tool);
        let meant = shared().find(|name| name.eq_ignore_ascii_case(tool));
        let Some(meant) = meant.filter(|_| dialect.has_all_events && !is_shared) else { return };
        format!("`{tool}` in `{rule}` is not one of the shared tool names, did you mean `{meant}`?")
    } else {
        let names: Vec<&str> = dialect.tools.iter().flat_map(ToolRow::matched_names).collect();
        if names.contains(&tool) {
            return;
        }
        let close = || closest_match(tool, names.iter().copied()).map(str::to_owned);
        let hint = own_names(dialect, tool).or_else(close);
        let hint = hint.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default();
        format!("`{tool}` in `{rule}` is not a tool of {}{hint}", dialect.title())
    };
    found.push(for_hook(files, hook, Part::Rule, "matcher-fits-nothing", &text));
}

/// Tool names that all agents share.
fn shared() -> impl Iterator<Item = &'static str> {
    claude::DIALECT.tools.iter().map(|row| row.name)
}

/// `true` if a pattern may be for tools of MCP servers, whose names are unknown here.
fn may_be_mcp(dialect: &Dialect, pattern: &str) -> bool {
    let mcp = dialect.mcp;
    let has_form = mcp.prefix.is_empty() && mcp.is_known() && pattern.contains(mcp.separator);
    pattern.contains("mcp") || pattern.contains(':') || has_form
}

/// Tool whose name differs from this one only in its case, and that the matcher does not match.
fn in_other_case<'t>(matcher: &Matcher, name: &str, mut tools: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    tools.find(|tool| tool.eq_ignore_ascii_case(name)).filter(|tool| !matcher.matches(tool))
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
