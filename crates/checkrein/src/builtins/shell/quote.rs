//! Quotes for words of a shell command.

/// Returns a word that stands for exactly this text.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns words that stand for exactly these texts, with spaces between them.
pub(crate) fn quoted_words(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
