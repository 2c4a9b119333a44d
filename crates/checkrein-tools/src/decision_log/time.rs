//! Times of entries: UTC in the log, and in the time zone of the user for people.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns the time now, such as `2026-01-31T08:00:00.123Z`.
///
/// `checkrein hook` writes one for every event. The general formatter costs five page faults in a new process.
pub(super) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc(since.as_secs(), since.subsec_millis())
}

/// Formats a time by the calendar of Gregory, with years that begin in March: leap days are then at the end of a year.
fn utc(seconds: u64, millis: u32) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01, in cycles of 400 years.
    let day = days + 719_468;
    let (cycle, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = cycle * 400 + year + next;
    let mut text = String::with_capacity(24);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    let _ = write!(text, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z");
    text
}

/// Returns a time of a log in the local time zone, such as `2026-01-31 09:00:00`. Text that is no time is returned as it is.
pub fn local_time(time: &str) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_agree_with_the_calendar() {
        // Every 9 hours and 1 minute for 480 years, over leap years and centuries.
        for seconds in (0..480 * 366 * 86_400_u64).step_by(32_460) {
            let expected = Timestamp::from_second(i64::try_from(seconds).unwrap()).unwrap();
            assert_eq!(utc(seconds, 7), format!("{expected:.0}").replace('Z', ".007Z"));
        }
        assert!((now().parse::<Timestamp>().unwrap() - Timestamp::now()).abs().get_seconds() < 10);
    }

    #[test]
    fn times_have_seconds_and_other_text_stays() {
        assert_eq!(local_time("2026-01-31T08:00:00.123Z").len(), 19);
        assert_eq!(local_time("soon"), "soon");
    }
}
