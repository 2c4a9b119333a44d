//! checkrein's own hook language: the shape that Claude Code made known, with checkrein's names for events.
//!
//! A hook gets the event as one JSON object ([`payload`]). It answers with its exit code and what it prints, or with an
//! HTTP body ([`read`]):
//!
//! | a process | means |
//! |---|---|
//! | exit 0, nothing printed | no opinion |
//! | exit 0, a JSON object | what the object says |
//! | exit 0, other text | context for the model where the event takes text as context, else nothing |
//! | exit 2 | deny; the reason is the object's, else standard error |
//! | any other exit, a signal | a failure |
//!
//! JSON that cannot be read, was cut, or says something that the event does not allow is a failure, never "no opinion".

mod answer;
mod payload;
mod read;

use std::time::Duration;

use checkrein_core::TimeClass;

pub use payload::payload;
pub use read::read;

/// How long a hook may take if it says nothing else.
pub fn timeout(class: TimeClass) -> Duration {
    Duration::from_secs(match class {
        TimeClass::Tool => 60,
        TimeClass::Turn => 30,
        TimeClass::Notice | TimeClass::Display => 10,
        _ => 5,
    })
}
