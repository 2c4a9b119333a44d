//! Cuts texts to a size, always between characters.

/// Returns the longest start of at most `bytes` bytes.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// Returns the longest end of at most `bytes` bytes.
pub(super) fn tail(text: &str, bytes: usize) -> &str {
    let earliest = text.len().saturating_sub(bytes);
    let start = (earliest..=text.len()).find(|start| text.is_char_boundary(*start)).unwrap_or(text.len());
    &text[start..]
}

/// Returns the text, or its start with a note that the rest is missing. The cut is at the end of a line if possible.
pub(super) fn capped(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let start = head(text, bytes);
    let start = start.rfind('\n').map_or(start, |end| &start[..end]);
    format!("{start}\n[cut: {} of {} bytes shown]", start.len(), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        assert_eq!((head("aé", 2), head("aé", 3), head("aé", 9), head("é", 0)), ("a", "aé", "aé", ""));
        assert_eq!((tail("éa", 2), tail("éa", 3), tail("éa", 9), tail("é", 1)), ("a", "éa", "éa", ""));
        assert_eq!(capped("one\ntwo\nthree", 9), "one\ntwo\n[cut: 7 of 13 bytes shown]");
    }
}
