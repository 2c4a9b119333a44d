//! Adds today's date and the time zone to the model's context.
//!
//! The date is in the host's time zone. If the host has no time zone data, the date is in UTC. The text names the zone.
//!
//! - **Arguments**: none, or `--time` to include the time of day. With the time, the text differs at every call, which
//!   prevents the model's provider from caching the text after it. Therefore it is not the default.
//! - **Events**: all that accept context. `turn_start` keeps the date correct in sessions that run past midnight.
//!
//! Example: `add_date` adds `Today is Saturday, 2025-11-15 (time zone Europe/Paris).`

use checkrein_core::Opinion;
use jiff::Zoned;

use super::AT_CONTEXT;
use super::args::unknown_option;
use crate::handler::{Builtin, BuiltinDoc};

const WITH_TIME: &str = "--time";

pub(super) fn builtin() -> Builtin {
    Builtin::immediate(|call| Ok(Opinion::context(describe(&Zoned::now(), !call.args.is_empty()))))
        .checked(check)
        .works_at(super::accepts_context)
        .described(
            BuiltinDoc::new("Adds today's date and the time zone to the model's context.")
                .args("`--time` to include the time of day")
                .events(AT_CONTEXT),
        )
}

fn check(args: &[String]) -> Result<(), String> {
    match args.iter().find(|arg| *arg != WITH_TIME) {
        Some(arg) => Err(unknown_option(arg, &[WITH_TIME])),
        None => Ok(()),
    }
}

fn describe(now: &Zoned, with_time: bool) -> String {
    // If the zone is unknown, times are UTC. A zone without a name is shown as its offset from UTC.
    let zone = match now.time_zone() {
        unknown if unknown.is_unknown() => "UTC".to_owned(),
        zone => zone.iana_name().map_or_else(|| format!("UTC{}", now.offset()), str::to_owned),
    };
    let time = if with_time { format!(" {:02}:{:02}", now.hour(), now.minute()) } else { String::new() };
    format!("Today is {:?}, {}{time} (time zone {zone}).", now.weekday(), now.date())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use jiff::tz::{TimeZone, offset};

    #[test]
    fn names_day_date_and_zone() {
        let now = date(2025, 11, 15).at(23, 7, 0, 0).to_zoned(TimeZone::UTC).unwrap();
        assert_eq!(describe(&now, false), "Today is Saturday, 2025-11-15 (time zone UTC).");
        assert_eq!(describe(&now, true), "Today is Saturday, 2025-11-15 23:07 (time zone UTC).");
        let unknown = date(2024, 2, 29).at(0, 0, 0, 0).to_zoned(TimeZone::unknown()).unwrap();
        assert_eq!(describe(&unknown, false), "Today is Thursday, 2024-02-29 (time zone UTC).");
        let fixed = date(2024, 2, 29).at(0, 0, 0, 0).to_zoned(TimeZone::fixed(offset(2))).unwrap();
        assert_eq!(describe(&fixed, false), "Today is Thursday, 2024-02-29 (time zone UTC+02).");
    }
}
