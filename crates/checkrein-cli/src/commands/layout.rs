//! Layout of reports for people: wrapped lists, places in files, shortened lines.
//!
//! Commands use it for text on a terminal. Machine-readable output must not pass through here.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use checkrein::hook::HookInfo;
use owo_colors::{OwoColorize, Style};

use super::{display_path, printable, terminal, visible};

/// Width of lists where standard output is not a terminal.
const DEFAULT_WIDTH: usize = 100;

/// Writes `LABEL item, item, …` at this indentation. Lines break between items, and the next line is indented by two more.
pub fn list(
    out: &mut impl Write,
    indent: usize,
    label: &str,
    style: Style,
    items: &[impl AsRef<str>],
) -> io::Result<()> {
    let width = terminal::width().unwrap_or(DEFAULT_WIDTH);
    let lines = wrapped(width, indent, label.chars().count(), items);
    let (first, rest) = lines.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    writeln!(out, "{:indent$}{} {first}", "", label.style(style))?;
    rest.iter().try_for_each(|line| writeln!(out, "{:indent$}  {line}", ""))
}

/// Writes a text at this indentation. On a terminal, its lines break between words.
pub fn paragraph(out: &mut impl Write, indent: usize, text: &str) -> io::Result<()> {
    let text = match terminal::width() {
        // Blanks at the start are a part of the indentation.
        Some(width) => {
            let inner = text.len() - text.trim_start_matches(' ').len();
            let further = indent + inner + 2;
            format!("{:inner$}{}", "", terminal::wrap(text.trim_start_matches(' '), indent + inner, further, width))
        }
        None => text.to_owned(),
    };
    writeln!(out, "{:indent$}{text}", "")
}

/// Writes pieces of one line at this indentation, each in its style. On a terminal, lines break between words, and further lines
/// are indented by two more.
pub fn styled(out: &mut impl Write, indent: usize, pieces: &[(&str, Style)]) -> io::Result<()> {
    write!(out, "{:indent$}", "")?;
    for (text, style) in broken(terminal::width(), indent, pieces) {
        if text.is_empty() {
            continue;
        }
        match text.strip_prefix('\n') {
            Some(blanks) => write!(out, "\n{blanks}")?,
            None => write!(out, "{}", text.style(style))?,
        }
    }
    writeln!(out)
}

/// Pieces of a line, with a line break and the indentation of the next line as own pieces.
fn broken(width: Option<usize>, indent: usize, pieces: &[(&str, Style)]) -> Vec<(String, Style)> {
    let Some(width) = width else {
        return pieces.iter().map(|(text, style)| ((*text).to_owned(), *style)).collect();
    };
    // A word may consist of several pieces: it ends at a blank.
    let mut words: Vec<Vec<(String, Style)>> = vec![Vec::new()];
    for (text, style) in pieces {
        for (index, part) in text.split(' ').enumerate() {
            if index > 0 {
                words.push(Vec::new());
            }
            if let Some(word) = words.last_mut().filter(|_| !part.is_empty()) {
                word.push((part.to_owned(), *style));
            }
        }
    }
    let mut all = Vec::new();
    let (mut column, mut blanks, mut is_start) = (indent, 0, true);
    for word in words {
        let length: usize = word.iter().map(|(text, _)| text.chars().count()).sum();
        if length > 0 && !is_start && column + blanks + length > width {
            all.push((format!("\n{:1$}", "", indent + 2), Style::new()));
            (column, blanks) = (indent + 2, 0);
        }
        if length > 0 {
            all.push((" ".repeat(blanks), Style::new()));
            column += blanks + length;
            (blanks, is_start) = (0, false);
        }
        all.extend(word);
        blanks += 1;
    }
    all
}

/// Writes a line, and a text after it: on the same line in parentheses, or below if the terminal is too narrow. `line` can
/// have colors; `length` is its length without them.
pub fn line_with_text(out: &mut impl Write, line: &str, length: usize, text: &str) -> io::Result<()> {
    match terminal::width() {
        Some(width) if length + 3 + text.chars().count() > width => {
            writeln!(out, "{line}")?;
            paragraph(out, 6, text)
        }
        _ => writeln!(out, "{line} ({text})"),
    }
}

/// Items, separated by commas, in lines of at most this width. A single item may be longer.
fn wrapped(width: usize, indent: usize, label: usize, items: &[impl AsRef<str>]) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut start = indent + label + 1;
    for (position, item) in items.iter().enumerate() {
        let item = printable(item.as_ref());
        let comma = if position + 1 < items.len() { "," } else { "" };
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && start + line + 1 + item.chars().count() + comma.len() > width {
            lines.push(String::new());
            start = indent + 2;
        }
        if let Some(line) = lines.last_mut() {
            let space = if line.is_empty() { "" } else { " " };
            line.push_str(&format!("{space}{item}{comma}"));
        }
    }
    lines
}

/// `FILE:LINE`, with the file as [`display_path`] shows it.
pub fn place(file: &str, line: Option<u32>) -> String {
    let file = display_path(Path::new(file));
    match line {
        Some(line) => format!("{file}:{line}"),
        None => file,
    }
}

/// Number of hooks. A hook for several events is loaded once for each of them, and counted once.
pub fn count_hooks<'a>(hooks: impl IntoIterator<Item = &'a HookInfo>) -> usize {
    let key = |info: &'a HookInfo| (info.id.as_str(), info.source.file.as_deref(), info.source.line);
    hooks.into_iter().map(key).collect::<BTreeSet<_>>().len()
}

/// The start of a text, on one line and in visible characters. A longer text ends in `…`.
pub fn one_line(text: &str, most: usize) -> String {
    let start: String =
        text.chars().map(|c| if visible::LINES.contains(&c) { ' ' } else { c }).take(most + 1).collect();
    let line = visible::visible(&start, &[]);
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use owo_colors::Style;

    use super::{broken, one_line, wrapped};

    #[test]
    fn styled_lines_break_between_words() {
        let text = |width, pieces: &[&str]| {
            let pieces: Vec<_> = pieces.iter().map(|piece| (*piece, Style::new())).collect();
            broken(width, 2, &pieces).into_iter().map(|(text, _)| text).collect::<String>()
        };
        assert_eq!(text(None, &["one  ", "two three"]), "one  two three");
        assert_eq!(text(Some(80), &["one  ", "two (", "three", ")"]), "one  two (three)");
        assert_eq!(text(Some(12), &["one  ", "two (", "three", ")"]), "one  two\n    (three)");
        assert_eq!(text(Some(3), &["one  ", "two"]), "one\n    two");
    }

    #[test]
    fn lists_break_between_items() {
        let items = ["SessionStart", "PreToolUse", "Stop"];
        assert_eq!(wrapped(40, 2, 2, &items), ["SessionStart, PreToolUse, Stop"]);
        assert_eq!(wrapped(32, 2, 2, &items), ["SessionStart, PreToolUse,", "Stop"]);
        assert_eq!(wrapped(3, 2, 2, &items), ["SessionStart,", "PreToolUse,", "Stop"]);
        assert_eq!(wrapped(40, 2, 2, &[""; 0]), [""]);
    }

    #[test]
    fn long_texts_are_cut_and_stay_on_one_line() {
        assert_eq!(one_line("a\nb\u{1b}c", 20), "a b<U+001B>c");
        assert_eq!(one_line("abcdef", 3), "abc…");
    }
}
