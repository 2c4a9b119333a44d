//! Lines of untrusted files, with bounded memory.

use std::io::{self, BufRead, BufReader, Read};

/// Maximum length of a line that is read, in bytes. Longer ones are skipped and counted.
pub(super) const MAX_LINE: usize = 8 << 20;

/// Size of the read buffer, in bytes.
const BUFFER: usize = 256 << 10;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A whole line, without its line break. `false`: the file ends without a line break.
    Whole(&'a [u8], bool),
    /// A line above the limit.
    TooLong,
}

/// Calls a function with each line that is not empty. It returns `false` to stop.
pub(super) fn for_each(file: impl Read, mut take: impl FnMut(Line<'_>) -> bool) -> io::Result<()> {
    let mut file = BufReader::with_capacity(BUFFER, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let Some((is_long, is_ended)) = read(&mut file, &mut line)? else { return Ok(()) };
        let goes_on = match is_long {
            true => take(Line::TooLong),
            false if line.iter().all(u8::is_ascii_whitespace) => true,
            false => take(Line::Whole(&line, is_ended)),
        };
        if !goes_on {
            return Ok(());
        }
        // One long line must not keep its memory.
        line.shrink_to(BUFFER);
    }
}

/// Reads a line. Returns whether it is too long and whether it has a line break, or `None` at the end.
fn read(file: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<(bool, bool)>> {
    let (mut is_long, mut is_empty) = (false, true);
    loop {
        let part = match file.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            part => part?,
        };
        if part.is_empty() {
            return Ok(if is_empty { None } else { Some((is_long, false)) });
        }
        is_empty = false;
        let end = memchr::memchr(b'\n', part);
        let text = &part[..end.unwrap_or(part.len())];
        is_long |= line.len() + text.len() > MAX_LINE;
        if is_long {
            line.clear();
        } else {
            line.extend_from_slice(text);
        }
        let taken = end.map_or(part.len(), |end| end + 1);
        file.consume(taken);
        if end.is_some() {
            return Ok(Some((is_long, true)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        let take = |line: Line<'_>| {
            found.push(match line {
                Line::Whole(text, is_ended) => {
                    format!("{}{}", String::from_utf8_lossy(text), if is_ended { "" } else { "…" })
                }
                Line::TooLong => "too long".to_owned(),
            });
            true
        };
        for_each(bytes, take).unwrap();
        found
    }

    #[test]
    fn lines_are_bounded() {
        assert_eq!(lines(b""), [""; 0]);
        assert_eq!(lines(b"a\n\n  \nb"), ["a", "b…"]);
        let mut long = vec![b'x'; MAX_LINE + 1];
        long.extend_from_slice(b"\nnext\n");
        assert_eq!(lines(&long), ["too long", "next"]);
        assert_eq!(lines(&vec![b'x'; MAX_LINE * 2]), ["too long"]);
    }
}
