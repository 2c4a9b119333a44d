//! Names of variables in what a hook's file says, for dialects that fill them in.

use std::path::PathBuf;

use super::HandlerEnv;

/// A value with what the host has for `${env.NAME}`; nothing else is touched.
pub(super) fn value(text: &str, env: &HandlerEnv) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${env.") {
        let Some((name, behind)) = behind.split_once('}') else { break };
        out.push_str(before);
        out.push_str(&env.var(name).unwrap_or_default());
        rest = behind;
    }
    out + rest
}

/// A directory with what the host has for `~`, `$NAME`, `${NAME}` and `${env.NAME}`. `None`: nothing is left of it.
pub(super) fn directory(text: &str, env: &HandlerEnv) -> Option<PathBuf> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    if let Some(behind) = text.strip_prefix('~').filter(|behind| behind.is_empty() || behind.starts_with('/')) {
        out.push_str(&env.var("HOME").unwrap_or_default());
        rest = behind;
    }
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let braced = behind.strip_prefix('{').and_then(|behind| behind.split_once('}'));
        let end = behind.find(|c| !is_name(c)).unwrap_or(behind.len());
        let (name, left) = braced.unwrap_or_else(|| behind.split_at(end));
        if name.is_empty() {
            out.push('$');
        }
        out.push_str(&env.var(name.strip_prefix("env.").unwrap_or(name)).unwrap_or_default());
        rest = left;
    }
    out.push_str(rest);
    Some(out).filter(|path| !path.trim().is_empty()).map(PathBuf::from)
}
