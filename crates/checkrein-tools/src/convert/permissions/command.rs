//! Conditions for `Bash(…)`: exact commands, prefixes (`git push:*`) and patterns (`git * main`).
//!
//! A deny compares each command of a call, also behind wrappers and global options. An allow compares all commands as they are
//! written, without variables and redirections.

use std::path::Path;

use checkrein::facts::{FactContext, Facts};
use checkrein_core::{EventKind, RawJson};
use checkrein_dialects::agents::claude;
use serde::Deserialize;
use serde_json::json;

use super::rule::{literal, said};
use super::write::{Said, quoted};
use crate::AgentCall;

/// A command of the facts.
#[derive(Debug, Deserialize)]
struct Command {
    argv: Vec<String>,
    program: String,
    subcommand: String,
    wrappers: Vec<String>,
    redirects: Vec<serde_json::Value>,
    env: serde_json::Map<String, serde_json::Value>,
    known: bool,
}

#[derive(Debug, Deserialize)]
struct CommandFacts {
    commands: Vec<Command>,
}

/// Returns the condition for a pattern.
pub(super) fn say(pattern: &str, is_allow: bool) -> Result<Said, String> {
    let pattern = pattern.trim();
    let start = pattern.strip_suffix(" *").or_else(|| pattern.strip_suffix(":*"));
    let (text, is_prefix) = (start.unwrap_or(pattern), start.is_some());
    let other = "command: 'true'";
    if text.contains('*') {
        if text.contains(['\'', '"', '\\', '|', '&', ';', '>', '<', '$', '`']) {
            return Err("a pattern with `*` and quotes or operators of the shell has no counterpart".to_owned());
        }
        let example = format!("command: {}", quoted(&text.replace('*', "x")));
        return Ok(said(over_commands(&wildcard(text, is_prefix), is_allow), &example, other));
    }
    let command = parse(text)?;
    let condition = if is_allow { written(&command, is_prefix) } else { words(&command, is_prefix) };
    Ok(said(over_commands(&condition, is_allow), &format!("command: {}", quoted(text)), other))
}

/// Returns the one command of a text.
fn parse(text: &str) -> Result<Command, String> {
    let failed = || "it is not one command without operators of the shell".to_owned();
    let input = RawJson::parse(json!({ "command": text }).to_string()).map_err(|error| error.to_string())?;
    let call = AgentCall::tool(&claude::DIALECT, &EventKind::PreToolUse, "Bash", &input, Path::new("/"));
    let event = call.map_err(|error| error.to_string())?.event;
    let facts = Facts::new(event, FactContext::new("/")).to_json();
    // An unknown word is an object, which does not fit.
    let facts: CommandFacts = serde_json::from_str(facts.as_str()).map_err(|_| failed())?;
    let mut commands = facts.commands.into_iter();
    let first = commands.next().ok_or_else(failed)?;
    // Wrappers such as `sudo` come first, and the commands that they start behind them.
    let is_plain = first.known && first.wrappers.is_empty() && first.redirects.is_empty() && first.env.is_empty();
    if !is_plain || commands.any(|command| command.wrappers.is_empty()) {
        return Err(failed());
    }
    Ok(first)
}

fn over_commands(condition: &str, is_allow: bool) -> String {
    if is_allow {
        let plain = "c.known && c.wrappers.size() == 0 && c.redirects.size() == 0 && c.env.size() == 0";
        return format!("commands.size() > 0 && commands.all(c, {plain} && {condition})");
    }
    format!("commands.exists(c, {condition})")
}

/// Condition on the words as they are written.
fn written(command: &Command, is_prefix: bool) -> String {
    let parts = command.argv.iter().enumerate().map(|(index, word)| format!("c.argv[{index}] == {}", literal(word)));
    format!("{} && {}", length(command.argv.len(), is_prefix), parts.collect::<Vec<_>>().join(" && "))
}

fn length(words: usize, is_prefix: bool) -> String {
    format!("c.argv.size() {} {words}", if is_prefix { ">=" } else { "==" })
}

/// Condition on the program, the subcommand behind global options, and other words.
fn words(command: &Command, is_prefix: bool) -> String {
    let program = format!("c.program == {}", literal(&command.program));
    let rest = command.argv.get(1..).unwrap_or_default();
    if is_prefix && rest.is_empty() {
        return program;
    }
    if is_prefix && command.subcommand == rest.join(" ") {
        // A blank at the end, because a subcommand can have further words: `stash drop`.
        return format!("{program} && (c.subcommand + \" \").startsWith({})", literal(&format!("{} ", rest.join(" "))));
    }
    let parts = rest.iter().enumerate().map(|(index, word)| format!("c.argv[{}] == {}", index + 1, literal(word)));
    let parts: Vec<_> = [program, length(command.argv.len(), is_prefix)].into_iter().chain(parts).collect();
    parts.join(" && ")
}

/// Condition for a text with `*` at other places than the end.
fn wildcard(text: &str, is_prefix: bool) -> String {
    let parts: Vec<_> = text.split('*').map(escaped).collect();
    let end = if is_prefix { "( .*)?" } else { "" };
    let pattern = format!("(?s)^{}{end}$", parts.join(".*"));
    let matches = format!("c.argv.join(\" \").matches({})", literal(&pattern));
    let program = text.split_whitespace().next().unwrap_or_default();
    if program.contains('*') || program.contains('/') {
        return matches;
    }
    format!("c.program == {} && {matches}", literal(program))
}

/// Escapes a text for a regular expression.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
