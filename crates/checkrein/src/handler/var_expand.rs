//! Expansion of environment variables in hook files, for dialects that have it.

use std::path::PathBuf;

use super::HandlerEnv;

/// Expands `${env.NAME}` in a value, and nothing else.
pub(super) fn value(text: &str, env: &HandlerEnv) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${env.") {
        let Some((name, after)) = after.split_once('}') else { break };
        out.push_str(before);
        out.push_str(&env.var(name).unwrap_or_default());
        rest = after;
    }
    out + rest
}

/// Expands `~`, `$NAME`, `${NAME}` and `${env.NAME}` in a path. Returns `None` if the result is empty.
pub(super) fn directory(text: &str, env: &HandlerEnv) -> Option<PathBuf> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    if let Some(after) = text.strip_prefix('~').filter(|after| after.is_empty() || after.starts_with('/')) {
        out.push_str(&env.var("HOME").unwrap_or_default());
        rest = after;
    }
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let braced = after.strip_prefix('{').and_then(|after| after.split_once('}'));
        let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
        let (name, left) = braced.unwrap_or_else(|| after.split_at(end));
        if name.is_empty() {
            out.push('$');
        }
        out.push_str(&env.var(name.strip_prefix("env.").unwrap_or(name)).unwrap_or_default());
        rest = left;
    }
    out.push_str(rest);
    Some(out).filter(|path| !path.trim().is_empty()).map(PathBuf::from)
}
