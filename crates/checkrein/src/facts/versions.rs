//! Versions and requirements, as in `">=1.2, <2"`.

use std::cmp::Ordering;

/// Comparisons that a version must all fit.
#[derive(Debug)]
pub(super) struct Requirement(Vec<(Comparison, Version)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// `^`: the first part that is not zero stays.
    Compatible,
    /// `~`: all parts but the last stay.
    Close,
}

/// The longest symbol first.
const SYMBOLS: &[(&str, Comparison)] = &[
    (">=", Comparison::GreaterEqual),
    ("<=", Comparison::LessEqual),
    ("==", Comparison::Equal),
    ("=", Comparison::Equal),
    (">", Comparison::Greater),
    ("<", Comparison::Less),
    ("^", Comparison::Compatible),
    ("~", Comparison::Close),
];

#[derive(Debug)]
struct Version {
    numbers: Vec<u64>,
    /// `true` for `1.0.0-rc.1`, which is before `1.0.0`.
    is_early: bool,
}

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches(['v', 'V']);
        let text = text.split_once('+').map_or(text, |(own, _)| own);
        let (numbers, is_early) = text.split_once('-').map_or((text, false), |(own, _)| (own, true));
        let numbers: Option<Vec<u64>> = numbers.split('.').map(|number| number.parse().ok()).collect();
        Some(Self { numbers: numbers?, is_early })
    }

    fn number(&self, index: usize) -> u64 {
        self.numbers.get(index).copied().unwrap_or_default()
    }

    fn compare(&self, other: &Self) -> Ordering {
        let count = self.numbers.len().max(other.numbers.len());
        let numbers = (0..count).map(|index| self.number(index).cmp(&other.number(index)));
        let different = numbers.into_iter().find(|ordering| ordering.is_ne());
        different.unwrap_or_else(|| other.is_early.cmp(&self.is_early))
    }

    /// `true` if the first `count` numbers are the same.
    fn shares(&self, other: &Self, count: usize) -> bool {
        (0..count).all(|index| self.number(index) == other.number(index))
    }
}

impl Requirement {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let invalid = || format!("`{text}` is not a version requirement; write one such as \">=1.2, <2\"");
        let mut comparisons = Vec::new();
        for part in text.split(',') {
            let part = part.trim();
            let symbol = SYMBOLS.iter().find_map(|(symbol, own)| Some((*own, part.strip_prefix(symbol)?)));
            let (comparison, version) = symbol.unwrap_or((Comparison::Equal, part));
            comparisons.push((comparison, Version::parse(version).ok_or_else(invalid)?));
        }
        Ok(Self(comparisons))
    }

    /// `true` if the text is a version that fits.
    pub(super) fn accepts(&self, text: &str) -> bool {
        let Some(version) = Version::parse(text) else { return false };
        self.0.iter().all(|(comparison, own)| {
            let ordering = version.compare(own);
            match comparison {
                Comparison::Equal => ordering.is_eq(),
                Comparison::Less => ordering.is_lt(),
                Comparison::LessEqual => ordering.is_le(),
                Comparison::Greater => ordering.is_gt(),
                Comparison::GreaterEqual => ordering.is_ge(),
                Comparison::Compatible => {
                    let first = own.numbers.iter().position(|number| *number != 0);
                    let kept = first.map_or(own.numbers.len(), |index| index + 1);
                    ordering.is_ge() && version.shares(own, kept)
                }
                Comparison::Close => {
                    ordering.is_ge() && version.shares(own, own.numbers.len().saturating_sub(1).max(1))
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_fit_requirements() {
        for (version, requirement, expected) in [
            ("1.2.3", "1.2.3", true),
            ("1.2", "1.2.0", true),
            ("1.10.0", ">1.9", true),
            ("1.0.0-rc.1", ">=1.0.0", false),
            ("1.0.0-rc.1", "<1.0.0", true),
            ("1.0.0+build", "=1.0.0", true),
            ("1.9.9", "^1.2", true),
            ("2.0.0", "^1.2", false),
            ("0.2.9", "^0.2.3", true),
            ("0.3.0", "^0.2.3", false),
            ("1.2.9", "~1.2.3", true),
            ("1.3.0", "~1.2.3", false),
            ("latest", ">=0", false),
            ("1.5", ">=1, <2", true),
        ] {
            let fits = Requirement::parse(requirement).unwrap().accepts(version);
            assert_eq!(fits, expected, "{version} {requirement}");
        }
        for invalid in ["", ">=", "x.y", "1.2,", ">=1 <2"] {
            assert!(Requirement::parse(invalid).is_err(), "{invalid}");
        }
    }
}
