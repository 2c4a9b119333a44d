//! Formatting of durations and lists in reports.

use std::time::Duration;

/// Formats a duration in milliseconds or seconds.
pub(super) fn duration(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

/// Joins names with commas. `none` if there are no names.
pub(super) fn joined(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
