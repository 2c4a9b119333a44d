//! Suggestions for mistyped names.
//!
//! The readers of files, answers and arguments use it for "did you mean" hints, and to recognize misspelt keys.

/// Returns the candidate closest to `name`, if it is close enough to be a typo.
#[doc(hidden)]
pub fn closest_match<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A longer name is not a typo, and the distance takes quadratic time.
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    let plain = plain_form(name);
    let limit = (plain.len() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(&plain, &plain_form(candidate)), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= limit)
        .map(|(_, candidate)| candidate)
}

/// Returns the letters and digits in lower case. Case and separators are the most frequent typos.
fn plain_form(name: &str) -> Vec<char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the number of changes between two words: another letter, one more, one less, or two swapped letters.
fn distance(left: &[char], right: &[char]) -> usize {
    let (mut before, mut above) = (vec![0; right.len() + 1], (0..=right.len()).collect::<Vec<_>>());
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let changed = (above[j] + usize::from(a != b)).min(above[j + 1] + 1).min(row[j] + 1);
            let is_swapped = i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b;
            row.push(if is_swapped { changed.min(before[j - 1] + 1) } else { changed });
        }
        (before, above) = (above, row);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::closest_match;

    #[test]
    fn only_close_names_are_suggested() {
        let names = ["timeout", "matcher", "on_failure", "git"];
        for (name, expected) in [
            ("timeuot", Some("timeout")),
            ("onFailure", Some("on_failure")),
            ("Matchers", Some("matcher")),
            ("gti", Some("git")),
            ("tgi", None),
            ("command", None),
            ("", None),
        ] {
            assert_eq!(closest_match(name, names), expected, "{name}");
        }
        assert_eq!(closest_match(&"x".repeat(1 << 20), names), None);
    }
}
