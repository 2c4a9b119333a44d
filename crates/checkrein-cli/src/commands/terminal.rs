//! Size of the terminal, and text that is wrapped to fit.

use std::io::IsTerminal;

/// Columns of standard output. `None`: it is not a terminal, so lines of any length are fine.
pub fn width() -> Option<usize> {
    if std::io::stdout().is_terminal() { Some(usize::from(size().0)) } else { None }
}

/// Columns and rows of the terminal, or 80 and 24 if they are unknown.
pub fn size() -> (u16, u16) {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(std::io::stdout())
        && size.ws_col > 0
        && size.ws_row > 0
    {
        return (size.ws_col, size.ws_row);
    }
    (80, 24)
}

/// Breaks a text between words into lines of at most `width` characters. Every line but the first starts with `indent`
/// spaces; `start` is the column at which the first one begins. Longer words stay whole.
pub fn wrap(text: &str, start: usize, indent: usize, width: usize) -> String {
    let mut wrapped = String::new();
    let mut column = start;
    let mut is_line_empty = true;
    for word in text.split(' ') {
        let length = word.chars().count();
        if is_line_empty {
            column += length;
        } else if column + 1 + length <= width {
            wrapped.push(' ');
            column += 1 + length;
        } else {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indent));
            column = indent + length;
        }
        wrapped += word;
        is_line_empty = false;
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn text_breaks_between_words() {
        assert_eq!(wrap("one two three", 0, 2, 80), "one two three");
        assert_eq!(wrap("one two three", 0, 2, 7), "one two\n  three");
        assert_eq!(wrap("one two three", 4, 4, 11), "one two\n    three");
        assert_eq!(wrap("incomprehensible x", 0, 1, 5), "incomprehensible\n x");
        assert_eq!(wrap("", 0, 2, 10), "");
    }
}
