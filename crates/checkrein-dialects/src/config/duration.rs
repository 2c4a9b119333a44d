//! Durations in the format of Go: `1m30s`, `500ms`. Hook files and command options use it.

use std::time::Duration;

/// Units and their lengths in nanoseconds.
const UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3600 * 1_000_000_000),
];

/// Parses a duration in Go's format (`1m30s`, `500ms`). `None`: it is zero or negative.
///
/// # Errors
/// A predicate for a message: `has no unit after ...`.
pub fn parse(text: &str) -> Result<Option<Duration>, String> {
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Ok(None);
    }
    if rest.is_empty() {
        return Err("is empty".to_owned());
    }
    let mut total: f64 = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let count: f64 = number.parse().map_err(|_| format!("has no number at `{rest}`"))?;
        let name = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(name);
        let Some((_, nanos)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(match unit {
                "" => format!("has no unit after `{number}`; use h, m, s or ms"),
                unit => format!("has the unknown unit `{unit}`; use h, m, s or ms"),
            });
        };
        total += count * *nanos as f64;
        rest = tail;
    }
    let time = Duration::try_from_secs_f64(total / 1e9).map_err(|_| "is too long".to_owned())?;
    Ok(Some(time).filter(|time| !negative && !time.is_zero()))
}

/// Formats a duration without loss.
pub(crate) fn write(time: Duration) -> String {
    let (mut rest, mut text) = (time.as_nanos(), String::new());
    for (unit, nanos) in [("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000)] {
        if rest >= nanos {
            text.push_str(&format!("{}{unit}", rest / nanos));
            rest %= nanos;
        }
    }
    if rest > 0 || text.is_empty() {
        text.push_str(&format!("{rest}ns"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_round_trip() {
        for (text, ms) in [
            ("10s", Some(10_000)),
            ("1m30s", Some(90_000)),
            ("500ms", Some(500)),
            ("1h", Some(3_600_000)),
            ("1.5s", Some(1_500)),
            ("1h2m3s4ms", Some(3_723_004)),
            ("+2s", Some(2_000)),
            ("0", None),
            ("0s", None),
            ("-5s", None),
        ] {
            let time = ms.map(Duration::from_millis);
            assert_eq!(parse(text), Ok(time), "{text}");
            if let Some(time) = time {
                assert_eq!(parse(&write(time)), Ok(Some(time)), "{text}");
            }
        }
        assert_eq!(write(Duration::from_millis(90_500)), "1m30s500ms");
        assert_eq!(write(Duration::from_nanos(7)), "7ns");
    }

    #[test]
    fn invalid_durations_have_exact_messages() {
        for (text, why) in [
            ("", "is empty"),
            ("10", "has no unit after `10`; use h, m, s or ms"),
            ("10 s", "has the unknown unit ` s`; use h, m, s or ms"),
            ("10sec", "has the unknown unit `sec`; use h, m, s or ms"),
            ("ten", "has no number at `ten`"),
            ("1.2.3s", "has no number at `1.2.3s`"),
            ("9999999999999999h", "is too long"),
        ] {
            assert_eq!(parse(text), Err(why.to_owned()), "{text}");
        }
    }
}
