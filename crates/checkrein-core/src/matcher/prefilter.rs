//! Prefilter: detects patterns that cannot match a subject, without compiling them.
//!
//! Readers of config files use it to skip hooks. It must never rule out a pattern that matches or that is invalid.

use super::{Grammar, NameList, Syntax};

impl Grammar {
    /// `true` if a pattern is valid and does not match the subject. `false`: it may match, or it may be invalid;
    /// [compile](super::Matcher::compile) it to find out.
    ///
    /// ```
    /// use checkrein_core::Grammar;
    ///
    /// let claude = Grammar::NAMES_OR_SEARCH;
    /// assert!(claude.rules_out("Edit|Write", "Bash"));
    /// assert!(claude.rules_out("^mcp__.*__delete", "Bash"));
    /// assert!(!claude.rules_out("Ba.*", "Bash"));
    /// assert!(!claude.rules_out("(", "Bash"));
    /// ```
    pub fn rules_out(&self, pattern: &str, subject: &str) -> bool {
        if pattern.is_empty() || self.wildcards.contains(&pattern) {
            return false;
        }
        if let Some(list) = self.list
            && list.is_list(pattern)
        {
            let mut names = list.names(pattern).peekable();
            return names.peek().is_some() && names.all(|name| name != subject);
        }
        match self.otherwise {
            Syntax::Exact => pattern != subject,
            Syntax::RegexWhole => rules_out_regex(pattern, subject, true),
            Syntax::RegexSearch => rules_out_regex(pattern, subject, false),
            Syntax::Glob => false,
        }
    }
}

impl NameList {
    /// `true` if all characters of the pattern are allowed in a list of names.
    pub(super) fn is_list(&self, pattern: &str) -> bool {
        let is_allowed =
            |c: char| c.is_ascii_alphanumeric() || c == '_' || self.also.contains(c) || self.separators.contains(c);
        pattern.chars().all(is_allowed)
    }

    pub(super) fn names<'p>(&self, pattern: &'p str) -> impl Iterator<Item = &'p str> + use<'p> {
        let Self { separators, trim, .. } = *self;
        pattern
            .split(move |c| separators.contains(c))
            .map(move |name| if trim { name.trim_ascii() } else { name })
            .filter(|name| !name.is_empty())
    }
}

/// Supports only names, `.*`, `.+`, bars, anchors, and one group around the whole expression. Such expressions are always
/// valid.
fn rules_out_regex(pattern: &str, subject: &str, whole: bool) -> bool {
    // A dot does not match a line feed.
    if subject.contains('\n') {
        return false;
    }
    let (inside, start, end) = split_group(pattern).unwrap_or((pattern, false, false));
    inside.split('|').all(|alternative| {
        let (body, starts) = stripped(alternative.strip_prefix('^'), alternative);
        let (body, ends) = stripped(body.strip_suffix('$'), body);
        lacks(body, subject, whole || start || starts, whole || end || ends)
    })
}

/// Returns the content of a group around the whole expression, and `true` for each of the anchors `^` and `$`.
fn split_group(pattern: &str) -> Option<(&str, bool, bool)> {
    let (body, start) = stripped(pattern.strip_prefix('^'), pattern);
    let (body, end) = stripped(body.strip_suffix('$'), body);
    let inside = body.strip_prefix("(?:").or_else(|| body.strip_prefix('('))?;
    Some((inside.strip_suffix(')')?, start, end))
}

fn stripped<'p>(stripped: Option<&'p str>, whole: &'p str) -> (&'p str, bool) {
    stripped.map_or((whole, false), |rest| (rest, true))
}

/// `true` if the subject does not contain the names of an alternative in their order.
fn lacks(alternative: &str, subject: &str, start: bool, end: bool) -> bool {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | ':' | '/' | ',' | '@' | '=' | '<' | '>');
    let mut rest = alternative;
    let mut remaining = subject;
    let mut first = true;
    let mut missing = false;
    loop {
        let length = rest.find(|c| !plain(c)).unwrap_or(rest.len());
        let (name, tail) = rest.split_at(length);
        let is_last = tail.is_empty();
        // Other operators are not supported, and neither are operators on the wildcard.
        let wild = tail.strip_prefix(".*").or_else(|| tail.strip_prefix(".+"));
        if !is_last && wild.is_none_or(|tail| tail.starts_with(['?', '*', '+', '{'])) {
            return false;
        }
        if !missing {
            let found = match (first && start, is_last && end) {
                (true, true) => (remaining == name).then_some(""),
                (true, false) => remaining.strip_prefix(name),
                (false, true) => remaining.ends_with(name).then_some(""),
                (false, false) => remaining.find(name).map(|start| &remaining[start + name.len()..]),
            };
            match found {
                Some(tail) => remaining = tail,
                // Check the rest of the pattern: it must be supported as well.
                None => missing = true,
            }
        }
        match wild {
            Some(tail) if !is_last => (rest, first) = (tail, false),
            _ => return missing,
        }
    }
}
