//! Patterns in which `*` matches any text.
//!
//! Permission rules and the URL allowlist use them. Path patterns are globs and do not use this module.

/// Returns `true` if the text matches the pattern. The time is at most proportional to the product of both lengths.
pub(crate) fn wildcard(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        // The first occurrence is enough: it leaves the most text for the rest of the pattern.
        match text.find(part) {
            Some(start) => text = &text[start + part.len()..],
            None => return false,
        }
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_before_and_after_a_star_does_not_overlap() {
        assert!(!wildcard("aba*ba", "aba"));
        assert!(wildcard("aba*ba", "ababa"));
        assert!(wildcard("**", "") && wildcard("a**", "a") && !wildcard("a*b*", "ac"));
    }
}
