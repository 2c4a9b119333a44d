//! Text edits by byte offset, and the separators between JSON values.

use checkrein_core::json::comment_end;

/// Replacement of a byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
}

impl Splice {
    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { start: at, end: at, text: text.into() }
    }

    pub(super) fn replace(start: usize, end: usize, text: impl Into<String>) -> Self {
        Self { start, end, text: text.into() }
    }

    pub(super) fn remove(start: usize, end: usize) -> Self {
        Self::replace(start, end, "")
    }
}

/// Applies all splices, which must not overlap. Splices at the same offset keep the order of the list.
pub(super) fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| splice.start);
    let mut out = String::with_capacity(text.len() + 1024);
    let mut at = 0;
    for splice in splices {
        out.push_str(text.get(at..splice.start).unwrap_or_default());
        out.push_str(&splice.text);
        at = splice.end.max(at);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Offsets in the text between two values, which consists of white space, comments and at most one comma.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Separator {
    /// Offset after the comma, if there is one.
    pub(super) comma: Option<usize>,
    /// Offset after the last comment or comma in the first line. The start, if there is none.
    pub(super) line: usize,
    /// Offset after the last comment.
    pub(super) comments: usize,
    /// `true` if the last comment extends to the end of its line.
    pub(super) to_line_end: bool,
    /// Offset of the next value or bracket.
    pub(super) end: usize,
}

/// Scans from `start` to the next value or bracket. The text must be valid JSON with comments.
pub(super) fn between(text: &str, start: usize) -> Separator {
    let bytes = text.as_bytes();
    let mut found = Separator { comma: None, line: start, comments: start, to_line_end: false, end: start };
    let mut at = start;
    let mut same_line = true;
    loop {
        match bytes.get(at) {
            Some(b'\n') => {
                same_line = false;
                at += 1;
            }
            Some(b' ' | b'\t' | b'\r') => at += 1,
            Some(b',') if found.comma.is_none() => {
                at += 1;
                found.comma = Some(at);
                found.comments = at;
                found.to_line_end = false;
                if same_line {
                    found.line = at;
                }
            }
            Some(b'/') => {
                let rest = text.get(at..).unwrap_or_default();
                let end = comment_end(bytes, at).unwrap_or(text.len());
                let comment = text.get(at..end).unwrap_or_default();
                // The carriage return of a line break is not part of a comment that ends there.
                let comment = if rest.starts_with("//") { comment.trim_end_matches('\r') } else { comment };
                let length = comment.len();
                // A comment of several lines belongs to the value after it.
                let is_one_line = !rest.get(..length).unwrap_or_default().contains('\n');
                same_line &= is_one_line;
                at += length;
                found.comments = at;
                found.to_line_end = rest.starts_with("//");
                if same_line {
                    found.line = at;
                }
            }
            _ => {
                found.end = at;
                return found;
            }
        }
    }
}

/// Start of the white space before this offset.
pub(super) fn space_before(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t', '\r', '\n']).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separator_offsets() {
        for (text, comma, line, comments, end) in [
            ("1}", None, 1, 1, 1),
            ("1 }", None, 1, 1, 2),
            ("1,\n}", Some(2), 2, 2, 3),
            ("1, // c\n}", Some(2), 7, 7, 8),
            ("1 // c\n , // d\n}", Some(9), 6, 14, 15),
            ("1 /* c */ }", None, 9, 9, 10),
            ("1 /* c\n */ }", None, 1, 10, 11),
            ("1 /*/ c */ }", None, 10, 10, 11),
            ("1,\n// c\n}", Some(2), 2, 7, 8),
        ] {
            let to_line_end = text.contains("//");
            assert_eq!(between(text, 1), Separator { comma, line, comments, to_line_end, end }, "{text:?}");
        }
    }

    #[test]
    fn splices_keep_their_order() {
        let splices = vec![Splice::insert(1, "x"), Splice::insert(1, "y"), Splice::remove(2, 3)];
        assert_eq!(spliced("abcd", splices), "axybd");
    }
}
