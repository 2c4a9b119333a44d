//! Suggestions for misspelt names.

use crate::error::Error;

/// Adds the most similar name, or all names if they are few.
pub(super) fn did_you_mean<'a>(error: Error, name: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.collect();
    let nearest = known.iter().map(|own| (distance(&own.to_lowercase(), &name.to_lowercase()), *own)).min();
    match nearest {
        Some((distance, own)) if distance <= name.len().div_ceil(3) => error.help(format!("did you mean `{own}`?")),
        _ if known.is_empty() => error,
        _ if known.len() <= 12 => error.help(format!("known names: {}", known.join(", "))),
        _ => error,
    }
}

/// Names of other languages for functions of this one.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("len", "size"),
    ("length", "size"),
    ("count", "size"),
    ("any", "exists"),
    ("some", "exists"),
    ("every", "all"),
    ("includes", "contains"),
    ("match", "matches"),
    ("regex", "matches"),
    ("test", "matches"),
    ("glob", "globs"),
    ("like", "globs"),
    ("lowerAscii", "lower"),
    ("toLowerCase", "lower"),
    ("to_lower", "lower"),
    ("upperAscii", "upper"),
    ("toUpperCase", "upper"),
    ("strip", "trim"),
    ("inside", "under"),
    ("isUnder", "under"),
];

/// Returns the function that another language has under this name.
pub(super) fn usual_name(name: &str) -> Option<&'static str> {
    OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|(_, own)| *own)
}

/// Number of changes between two words.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, own) in left.chars().enumerate() {
        let mut before = row[0];
        row[0] = line + 1;
        for (column, other) in right.iter().enumerate() {
            let changed = before + usize::from(own != *other);
            before = row[column + 1];
            row[column + 1] = changed.min(before + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}
