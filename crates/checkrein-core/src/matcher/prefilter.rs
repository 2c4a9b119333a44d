//! Tells without compiling a pattern that it does not fit.

use super::{Grammar, NameList, Syntax};

impl Grammar {
    /// Whether a pattern is good and certainly does not fit a subject, as far as that can be seen at a glance. `false`: it may
    /// fit, or it may be no pattern at all; [compiling](super::Matcher::compile) it tells.
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
            Syntax::RegexWhole => regex(pattern, subject, true),
            Syntax::RegexSearch => regex(pattern, subject, false),
            Syntax::Glob => false,
        }
    }
}

impl NameList {
    pub(super) fn is_list(&self, pattern: &str) -> bool {
        let may_stand =
            |c: char| c.is_ascii_alphanumeric() || c == '_' || self.also.contains(c) || self.separators.contains(c);
        pattern.chars().all(may_stand)
    }

    pub(super) fn names<'p>(&self, pattern: &'p str) -> impl Iterator<Item = &'p str> + use<'p> {
        let Self { separators, trim, .. } = *self;
        pattern
            .split(move |c| separators.contains(c))
            .map(move |name| if trim { name.trim_ascii() } else { name })
            .filter(|name| !name.is_empty())
    }
}

/// Only for expressions of names, `.*`, `.+`, bars, anchors, and one group around all: they are always good.
fn regex(pattern: &str, subject: &str, whole: bool) -> bool {
    // A dot does not stand for the end of a line.
    if subject.contains('\n') {
        return false;
    }
    let (inside, start, end) = group(pattern).unwrap_or((pattern, false, false));
    inside.split('|').all(|alternative| {
        let (body, starts) = stripped(alternative.strip_prefix('^'), alternative);
        let (body, ends) = stripped(body.strip_suffix('$'), body);
        lacks(body, subject, whole || start || starts, whole || end || ends)
    })
}

/// What stands in a group around all, and whether it must come first and last.
fn group(pattern: &str) -> Option<(&str, bool, bool)> {
    let (body, start) = stripped(pattern.strip_prefix('^'), pattern);
    let (body, end) = stripped(body.strip_suffix('$'), body);
    let inside = body.strip_prefix("(?:").or_else(|| body.strip_prefix('('))?;
    Some((inside.strip_suffix(')')?, start, end))
}

fn stripped<'p>(stripped: Option<&'p str>, whole: &'p str) -> (&'p str, bool) {
    stripped.map_or((whole, false), |rest| (rest, true))
}

/// Whether a subject lacks what an alternative needs: its names, in their order.
fn lacks(alternative: &str, subject: &str, start: bool, end: bool) -> bool {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | ':' | '/' | ',' | '@' | '=' | '<' | '>');
    let mut rest = alternative;
    let mut left = subject;
    let mut first = true;
    let mut missing = false;
    loop {
        let length = rest.find(|c| !plain(c)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(length);
        let is_last = behind.is_empty();
        // One that is optional or repeated is another thing; and so is what is no name.
        let wild = behind.strip_prefix(".*").or_else(|| behind.strip_prefix(".+"));
        if !is_last && wild.is_none_or(|behind| behind.starts_with(['?', '*', '+', '{'])) {
            return false;
        }
        if !missing {
            let found = match (first && start, is_last && end) {
                (true, true) => (left == name).then_some(""),
                (true, false) => left.strip_prefix(name),
                (false, true) => left.ends_with(name).then_some(""),
                (false, false) => left.find(name).map(|at| &left[at + name.len()..]),
            };
            match found {
                Some(behind) => left = behind,
                // What follows must be plain all the same.
                None => missing = true,
            }
        }
        let Some(behind) = wild.filter(|_| !is_last) else { return missing };
        (rest, first) = (behind, false);
    }
}
