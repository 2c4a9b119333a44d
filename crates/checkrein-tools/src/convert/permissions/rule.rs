//! Conditions for permission rules, by the tool that they name.

use checkrein_dialects::{PermissionRule, RuleDecision};

use super::write::{Said, quoted};
use super::{Permission, command, path};

/// Tools to which a rule for `Edit` applies.
pub(super) const EDITORS: &str = r#"["Edit", "MultiEdit", "NotebookEdit", "Write"]"#;

/// Tools to which a rule for `Read` applies.
pub(super) const READERS: &str = r#"["Glob", "Grep", "LS", "NotebookRead", "Read"]"#;

/// A call to which most rules do not apply.
const OTHER_COMMAND: &str = "command: 'true'";

/// Returns the condition for a permission rule.
pub(super) fn say(rule: &PermissionRule, permission: &Permission) -> Result<Said, String> {
    let PermissionRule { tool, pattern, .. } = rule;
    let is_allow = permission.decision == RuleDecision::Allow;
    match (tool.as_str(), pattern.as_deref()) {
        ("*", None) => Ok(said("true".to_owned(), OTHER_COMMAND, OTHER_COMMAND)),
        ("Bash", None) => Ok(said(named("Bash"), OTHER_COMMAND, "path: a, access: read")),
        ("Bash", Some(pattern)) => command::say(pattern, is_allow),
        ("Read", None) => Ok(said(format!("tool.common_name in {READERS}"), "path: a, access: read", OTHER_COMMAND)),
        ("Edit" | "Write" | "MultiEdit", None) => {
            Ok(said(format!("tool.common_name in {EDITORS}"), "path: a, access: write", OTHER_COMMAND))
        }
        ("Read", Some(pattern)) => path::say(pattern, path::Access::Read, permission),
        ("Edit" | "Write" | "MultiEdit", Some(pattern)) => path::say(pattern, path::Access::Write, permission),
        ("WebFetch", None) => Ok(said(named("WebFetch"), "url: 'https://example.com/'", OTHER_COMMAND)),
        ("WebFetch", Some(pattern)) => match pattern.strip_prefix("domain:") {
            Some(domain) => host(domain),
            None => Err("a pattern of `WebFetch` must be `domain:HOST`".to_owned()),
        },
        (_, Some(pattern)) => with_parameter(tool, pattern),
        (_, None) if tool.starts_with("mcp__") => mcp(tool),
        (_, None) if tool.contains('*') => Err("`*` in the name of a tool is possible only for MCP tools".to_owned()),
        (_, None) => Ok(said(named(tool), &tool_call(tool, "{}"), OTHER_COMMAND)),
    }
}

pub(super) fn said(when: String, example: &str, counterexample: &str) -> Said {
    Said { when, example: example.to_owned(), counterexample: counterexample.to_owned() }
}

/// Returns a string of the expression language.
pub(super) fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn named(tool: &str) -> String {
    format!("tool.common_name == {}", literal(tool))
}

fn tool_call(tool: &str, input: &str) -> String {
    format!("tool: {}, input: {input}", quoted(tool))
}

/// A server (`mcp__db`), all of its tools (`mcp__db__*`), or one of its tools.
fn mcp(tool: &str) -> Result<Said, String> {
    let rest = tool.strip_prefix("mcp__").unwrap_or_default();
    let (server, name) = rest.split_once("__").unwrap_or((rest, "*"));
    if server.is_empty() || server.contains('*') {
        return Err("the name of an MCP server cannot have `*`".to_owned());
    }
    match name.strip_suffix('*') {
        Some(start) if !start.contains('*') => {
            let prefix = format!("mcp__{server}__{start}");
            let when = format!("tool.common_name.startsWith({})", literal(&prefix));
            Ok(said(when, &tool_call(&format!("{prefix}x"), "{}"), OTHER_COMMAND))
        }
        None if !name.contains('*') => Ok(said(named(tool), &tool_call(tool, "{}"), OTHER_COMMAND)),
        _ => Err("`*` is possible only at the end of the name of an MCP tool".to_owned()),
    }
}

fn host(domain: &str) -> Result<Said, String> {
    let domain = domain.trim().to_ascii_lowercase();
    let (condition, example) = match domain.strip_prefix("*.") {
        Some(parent) if !parent.contains('*') => (
            format!("n.host.endsWith({})", literal(&format!(".{parent}"))),
            format!("url: {}", quoted(&format!("https://sub.{parent}/"))),
        ),
        None if !domain.contains('*') && !domain.is_empty() => {
            (format!("n.host == {}", literal(&domain)), format!("url: {}", quoted(&format!("https://{domain}/"))))
        }
        _ => return Err("`*` is possible only at the start of a domain, as in `*.example.com`".to_owned()),
    };
    let when = format!("{} && net.exists(n, {condition})", named("WebFetch"));
    Ok(said(when, &example, "url: 'https://other.invalid/'"))
}

/// `Agent(NAME)`, and `TOOL(PARAMETER:VALUE)`.
fn with_parameter(tool: &str, pattern: &str) -> Result<Said, String> {
    let is_agent = matches!(tool, "Agent" | "Task");
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let (name, value) = match pattern.split_once(':') {
        Some((name, value)) if is_name(name) => (name, value),
        _ if is_agent => ("subagent_type", pattern),
        _ => return Err(format!("checkrein does not know what the pattern of `{tool}` compares")),
    };
    if value.contains('*') {
        return Err(format!("`*` in a pattern of `{tool}` has no counterpart"));
    }
    let tools = if is_agent { r#"tool.common_name in ["Agent", "Task"]"#.to_owned() } else { named(tool) };
    let when = format!("{tools} && has(input.{name}) && string(input.{name}) == {}", literal(value));
    let example = tool_call(tool, &format!("{{ {name}: {} }}", quoted(value)));
    Ok(said(when, &example, OTHER_COMMAND))
}
