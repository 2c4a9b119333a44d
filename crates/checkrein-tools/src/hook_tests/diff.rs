//! Line diff of two texts.

/// Longer texts are not compared line by line.
const MAX_LINES: usize = 400;

/// Line diff: lines of `expected` alone start with `- `, lines of `actual` alone with `+ `.
pub(super) fn lines(expected: &str, actual: &str) -> Vec<String> {
    let (old, new): (Vec<_>, Vec<_>) = (expected.lines().collect(), actual.lines().collect());
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        let marked = |mark: char, lines: &[&str]| {
            let shown = lines.iter().take(MAX_LINES).map(move |line| format!("{mark} {line}")).collect::<Vec<_>>();
            let left = lines.len().saturating_sub(MAX_LINES);
            shown.into_iter().chain((left > 0).then(|| format!("{mark} … {left} more lines"))).collect::<Vec<_>>()
        };
        return [marked('-', &old), marked('+', &new)].concat();
    }
    // Length of the longest common subsequence of the remaining lines.
    let mut common = vec![vec![0_u16; new.len() + 1]; old.len() + 1];
    for (i, one) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            common[i][j] = if one == other { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            out.push(format!("  {}", old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || common[i + 1][j] >= common[i][j + 1]) {
            out.push(format!("- {}", old[i]));
            i += 1;
        } else {
            out.push(format!("+ {}", new[j]));
            j += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_differences_are_marked() {
        assert_eq!(lines("deny", "allow"), ["- deny", "+ allow"]);
        assert_eq!(lines("a\nb\nc", "a\nx\nc"), ["  a", "- b", "+ x", "  c"]);
        assert_eq!(lines("a", "a\nb"), ["  a", "+ b"]);
        assert_eq!(lines("", "b"), ["+ b"]);
        let many = "x\n".repeat(MAX_LINES + 3);
        let shown = lines(&many, "y");
        assert_eq!((shown.len(), shown[MAX_LINES].as_str()), (MAX_LINES + 2, "- … 3 more lines"));
    }
}
