//! Patterns in which `*` stands for any text.

/// Whether the text fits the pattern. Takes at most as long as both are long, multiplied.
pub(crate) fn wildcard(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        // The first place is as good as any: more is left for what follows.
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_and_after_a_star_does_not_overlap() {
        assert!(!wildcard("aba*ba", "aba"));
        assert!(wildcard("aba*ba", "ababa"));
        assert!(wildcard("**", "") && wildcard("a**", "a") && !wildcard("a*b*", "ac"));
    }
}
