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
        Some(width) => terminal::wrap(text, indent, indent + 2, width),
        None => text.to_owned(),
    };
    writeln!(out, "{:indent$}{text}", "")
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
    use super::{one_line, wrapped};

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
