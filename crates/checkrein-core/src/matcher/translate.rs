//! Translation of a matcher into another grammar, for hooks that are written to the file of another agent.
//!
//! A translated pattern must match the same subjects; without such a pattern there is no translation.

use super::{Compiled, Grammar, Matcher, Syntax};

impl Matcher {
    /// Returns a pattern of another grammar that matches the same subjects. `None` if no such pattern is known.
    ///
    /// ```
    /// use checkrein_core::{Grammar, Matcher};
    ///
    /// let names = Matcher::names(["Edit", "Write"]);
    /// assert_eq!(names.in_grammar(&Grammar::NAMES_OR_SEARCH).as_deref(), Some("Edit|Write"));
    /// assert_eq!(names.in_grammar(&Grammar::REGEX_WHOLE).as_deref(), Some("Edit|Write"));
    /// assert_eq!(names.in_grammar(&Grammar::GLOB).as_deref(), Some("{Edit,Write}"));
    /// assert_eq!(names.in_grammar(&Grammar::EXACT), None);
    /// ```
    pub fn in_grammar(&self, grammar: &Grammar) -> Option<String> {
        if self.is_everything() {
            return Some(String::new());
        }
        let candidates = match &self.compiled {
            Compiled::Everything => return Some(String::new()),
            Compiled::Names(names) => translate_names(names, grammar),
            Compiled::Lite(lite, _) => translate_regex(lite.small.as_str(), grammar.otherwise),
            Compiled::Regex(regex, _) => translate_regex(regex.as_str(), grammar.otherwise),
            Compiled::Except { .. } if grammar.otherwise == Syntax::RegexSearch => vec![self.pattern.clone()],
            Compiled::Except { .. } | Compiled::Also { .. } => Vec::new(),
            Compiled::Glob(..) if grammar.otherwise == Syntax::Glob => vec![self.pattern.clone()],
            Compiled::Glob(glob, _) => {
                translate_regex(glob.as_str().strip_prefix("(?-u)").unwrap_or(glob.as_str()), grammar.otherwise)
            }
        };
        candidates.into_iter().find(|candidate| {
            Self::compile(grammar, Some(candidate)).is_ok_and(|compiled| match (&self.compiled, &compiled.compiled) {
                (Compiled::Names(names), Compiled::Names(same)) => names == same,
                // The list of names is a pattern in the other grammar.
                (Compiled::Names(names), _) if grammar.list.is_some() && *candidate == joined(names, grammar) => false,
                (Compiled::Names(names), _) => names.iter().all(|name| compiled.matches(name)),
                // The pattern is a list of names or a wildcard in the other grammar.
                (_, compiled) => !matches!(compiled, Compiled::Names(_) | Compiled::Everything),
            })
        })
    }
}

/// Returns candidate patterns for a list of names.
fn translate_names(names: &[String], grammar: &Grammar) -> Vec<String> {
    let mut candidates = Vec::new();
    if grammar.list.is_some() {
        candidates.push(joined(names, grammar));
    }
    let escaped = || names.iter().map(|name| regex::escape(name)).collect::<Vec<_>>().join("|");
    match (grammar.otherwise, names) {
        (Syntax::RegexWhole, _) => candidates.push(escaped()),
        (Syntax::RegexSearch, _) => candidates.push(format!("^(?:{})$", escaped())),
        (Syntax::Exact, [name]) => candidates.push(name.clone()),
        (Syntax::Exact, _) => {}
        (Syntax::Glob, names) => {
            let plain = |name: &String| !name.contains(['*', '?', '[', ']', '{', '}', ',', '\\', '!', '/']);
            if names.iter().all(plain) {
                candidates.push(match names {
                    [name] => name.clone(),
                    names => format!("{{{}}}", names.join(",")),
                });
            }
        }
    }
    candidates
}

/// Returns the names as a list of the grammar.
fn joined(names: &[String], grammar: &Grammar) -> String {
    let separator = grammar.list.and_then(|list| list.separators.chars().next()).unwrap_or('|');
    names.join(&separator.to_string())
}

/// Returns candidate patterns for a regular expression that is searched for.
fn translate_regex(regex: &str, syntax: Syntax) -> Vec<String> {
    match syntax {
        Syntax::RegexSearch => vec![regex.to_owned()],
        Syntax::RegexWhole => {
            let whole = regex.strip_prefix("^(?:").and_then(|rest| rest.strip_suffix(")$"));
            // Text that only looks like one group, such as `a)$|^(?:b`, does not compile.
            let whole = whole.filter(|inner| regex_lite::Regex::new(inner).is_ok());
            vec![whole.map_or_else(|| format!("(?s:.*)(?:{regex})(?s:.*)"), str::to_owned)]
        }
        Syntax::Glob | Syntax::Exact => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translations_match_the_same_subjects() {
        let grammars =
            [Grammar::NAMES_OR_SEARCH, Grammar::REGEX_WHOLE, Grammar::REGEX_SEARCH, Grammar::GLOB, Grammar::EXACT];
        let subjects = ["Bash", "Edit", "Write", "NotebookEdit", "mcp__db__delete", "mcp__db", "a.b", "xEdit", ""];
        let patterns = ["Bash", "Edit|Write", "mcp__.*", "^Edit", "Ed.t$", "*", "{Edit,Write}", "mcp__*", "a.b", ".*"];
        for from in &grammars {
            for pattern in patterns {
                let Ok(matcher) = Matcher::compile(from, Some(pattern)) else { continue };
                for to in &grammars {
                    let Some(translated) = matcher.in_grammar(to) else { continue };
                    let same = Matcher::compile(to, Some(&translated)).unwrap();
                    for subject in subjects {
                        assert_eq!(
                            matcher.matches(subject),
                            same.matches(subject),
                            "{pattern} {from:?} -> {translated} {to:?}: {subject}"
                        );
                    }
                }
            }
        }
    }
}
