//! Times for people: in the time zone of the user.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns a time of a log in the local time zone, such as `2026-01-31 09:00:00`. Text that is no time is returned as it is.
pub fn local_time(time: &str) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::local_time;

    #[test]
    fn times_have_seconds_and_other_text_stays() {
        assert_eq!(local_time("2026-01-31T08:00:00.123Z").len(), 19);
        assert_eq!(local_time("soon"), "soon");
    }
}
