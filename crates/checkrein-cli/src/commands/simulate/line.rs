//! Lines that stay one line, whatever stands in them.

use std::io::IsTerminal;

/// How many characters fit on a line of standard output. `None`: it is no terminal, and all fit.
pub fn width() -> Option<usize> {
    std::io::stdout().is_terminal().then(|| usize::from(size().0))
}

/// Columns and rows of the terminal; the usual ones if nobody knows.
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

/// Words of hooks and tools are foreign: they must neither break a line nor steer the terminal.
pub fn tame(text: &str) -> String {
    text.trim_end().replace(super::super::is_terminal_control, " ")
}

/// At most so many characters.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, tame};

    #[test]
    fn lines_stay_lines() {
        assert_eq!(tame("a\nb\x1b[31mc\u{202e}d\n"), "a b [31mc d");
        for (text, most, shown) in [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("äöüß", 3, "äö…"), ("abc", 0, "…")]
        {
            assert_eq!(cut(text, most), shown);
        }
    }
}
