//! Points in time that select entries of the log: `checkrein audit --since` and `--until`.
//!
//! Times are compared as times, never as text: an entry at 14:40Z is also an entry at 15:40+01:00.

use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::LogLine;

/// A point in time. Days start at midnight UTC, as the times in the log are in UTC.
///
/// ```
/// use checkrein::audit::LogTime;
///
/// let time: LogTime = "2026-01-31T08:00:00+01:00".parse()?;
/// assert_eq!(time, "2026-01-31T07:00:00Z".parse()?);
/// assert!("2026-01-31".parse::<LogTime>()? < time);
/// # Ok::<(), checkrein::audit::LogTimeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogTime(Timestamp);

/// The text is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "write a time with its offset (2026-01-31T08:00:00Z or 2026-01-31T09:00:00+01:00), a date in UTC (2026-01-31), \
     `today`, `yesterday`, or an age such as 30m, 24h, 7d or 2w"
)]
pub struct LogTimeError;

impl LogTime {
    fn parse(text: &str, now: Timestamp) -> Option<Self> {
        let midnight = |date: Date| date.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
        let today = || now.to_zoned(TimeZone::UTC).date();
        let time = match text {
            "today" => midnight(today()),
            "yesterday" => midnight(today().yesterday().ok()?),
            _ if is_date(text) => midnight(text.parse().ok()?),
            _ => match age(text) {
                Some(age) => now.checked_sub(age).ok(),
                None => text.parse().ok(),
            },
        };
        time.map(Self)
    }
}

impl LogTime {
    /// Milliseconds since 1970.
    pub fn unix_millis(self) -> i64 {
        self.0.as_millisecond()
    }
}

impl FromStr for LogTime {
    type Err = LogTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text, Timestamp::now()).ok_or(LogTimeError)
    }
}

impl LogLine {
    /// Time of the entry. `None` if the entry has no valid one.
    pub fn time(&self) -> Option<LogTime> {
        self.entry.time.parse().ok().map(LogTime)
    }
}

/// `true` for the form `2026-01-31`. The parser of dates accepts others too, and ignores a time of day.
fn is_date(text: &str) -> bool {
    let fits = |(at, c): (usize, char)| if matches!(at, 4 | 7) { c == '-' } else { c.is_ascii_digit() };
    text.len() == 10 && text.chars().enumerate().all(fits)
}

/// Parses a number with a unit: `30m`, `24h`, `7d`.
fn age(text: &str) -> Option<SignedDuration> {
    const UNITS: &[(char, i64)] = &[('s', 1), ('m', 60), ('h', 60 * 60), ('d', 24 * 60 * 60), ('w', 7 * 24 * 60 * 60)];
    let (_, seconds) = UNITS.iter().find(|(unit, _)| text.ends_with(*unit))?;
    let number = &text[..text.len() - 1];
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(SignedDuration::from_secs(number.parse::<i64>().ok()?.checked_mul(*seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_dates_and_ages_are_read() {
        let now: Timestamp = "2026-11-17T12:30:00Z".parse().unwrap();
        for (text, time) in [
            ("2026-11-17T15:40:00+01:00", "2026-11-17T14:40:00Z"),
            ("2026-11-17T14:40:00.250Z", "2026-11-17T14:40:00.25Z"),
            ("2026-11-17T14:40:00-05:30", "2026-11-17T20:10:00Z"),
            ("2026-02-28", "2026-02-28T00:00:00Z"),
            ("today", "2026-11-17T00:00:00Z"),
            ("yesterday", "2026-11-16T00:00:00Z"),
            ("7d", "2026-11-10T12:30:00Z"),
            ("24h", "2026-11-16T12:30:00Z"),
            ("90m", "2026-11-17T11:00:00Z"),
            ("2w", "2026-11-03T12:30:00Z"),
        ] {
            let expected = LogTime(time.parse().unwrap());
            assert_eq!(LogTime::parse(text, now), Some(expected), "{text}");
        }
    }

    #[test]
    fn everything_else_is_rejected() {
        let now = Timestamp::now();
        for text in [
            "",
            "d",
            "7",
            "-7d",
            "7 days",
            "7dd",
            "tomorrow",
            "11/17/2026",
            "2026",
            "2026-11",
            "2026-02-30",
            "20261117",
            "2026-11-17T15:40:00",
            "2026-11-17T25:00:00Z",
            "99999999999999999999d",
            "999999999999d",
            "ä",
        ] {
            assert_eq!(LogTime::parse(text, now), None, "{text}");
        }
    }
}
