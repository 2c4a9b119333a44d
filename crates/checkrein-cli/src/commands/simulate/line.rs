//! Foreign text that must stay on one line.

use crate::commands::visible::visible;

/// Shows text of hooks and tools on one line.
pub fn sanitize(text: &str) -> String {
    visible(&text.trim_end().replace(['\n', '\t'], " "), &[])
}

/// The first `most` characters, with an ellipsis in place of the rest.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, sanitize};

    #[test]
    fn foreign_text_stays_on_one_line() {
        assert_eq!(sanitize("a\nb\x1b[31mc\u{202e}d\n"), "a b<U+001B>[31mc<U+202E>d");
        for (text, most, shown) in [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("äöüß", 3, "äö…"), ("abc", 0, "…")]
        {
            assert_eq!(cut(text, most), shown);
        }
    }
}
