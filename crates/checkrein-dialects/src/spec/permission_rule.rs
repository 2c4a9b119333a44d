//! Permission rules for tool calls: `Bash(git *)`. The key `if` of a hook contains one.

use std::fmt;
use std::str::FromStr;

/// A permission rule: a tool, and a pattern for its input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PermissionRule {
    /// The tool.
    pub tool: String,
    /// Pattern for its input. `None`: any input.
    pub pattern: Option<String>,
}

impl FromStr for PermissionRule {
    type Err = BadRule;

    fn from_str(text: &str) -> Result<Self, BadRule> {
        let bad = || BadRule(text.to_owned());
        let text = text.trim();
        let (tool, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                let pattern = rest.strip_suffix(')').ok_or_else(bad)?;
                // A parenthesis that closes the first one early means that another rule follows.
                let mut open = 0_i32;
                for c in pattern.chars() {
                    open += i32::from(c == '(') - i32::from(c == ')');
                    if open < 0 {
                        return Err(bad());
                    }
                }
                (tool, Some(pattern))
            }
        };
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '*' | '.');
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err(bad());
        }
        let pattern = pattern.filter(|pattern| !pattern.is_empty() && *pattern != "*").map(str::to_owned);
        Ok(Self { tool: tool.to_owned(), pattern })
    }
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, pattern } = self;
        match pattern {
            None => f.write_str(tool),
            Some(pattern) => write!(f, "{tool}({pattern})"),
        }
    }
}

/// A text that is not a permission rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a permission rule; write one tool, with or without a pattern: `Bash` or `Bash(git *)`")]
pub struct BadRule(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_round_trip() {
        for (text, tool, pattern, written) in [
            ("Bash(git *)", "Bash", Some("git *"), "Bash(git *)"),
            ("Edit(*.ts)", "Edit", Some("*.ts"), "Edit(*.ts)"),
            ("Bash", "Bash", None, "Bash"),
            ("Bash(*)", "Bash", None, "Bash"),
            (" mcp__db__query ", "mcp__db__query", None, "mcp__db__query"),
            ("Bash(echo (a))", "Bash", Some("echo (a)"), "Bash(echo (a))"),
        ] {
            let rule: PermissionRule = text.parse().unwrap();
            assert_eq!((rule.tool.as_str(), rule.pattern.as_deref()), (tool, pattern), "{text}");
            assert_eq!(rule.to_string(), written);
        }
        for text in ["", "(x)", "Bash(git", "Bash(a) && Edit(b)", "Bash Edit"] {
            assert!(text.parse::<PermissionRule>().is_err(), "{text}");
        }
    }
}
