//! Rules: hooks that are expressions over facts about an event, compiled and evaluated.
//!
//! The engine evaluates them as hooks of the kind `rule`; `checkrein check`, `explain` and `test` compile them too. A rule never
//! starts a process and never uses the network.

mod compile;
mod evaluate;
mod handler;
mod history;
mod json;
#[doc(hidden)]
pub mod pack_prefilters;
mod testing;

pub use compile::{Rule, RuleError};
pub(crate) use evaluate::Condition;
pub use evaluate::{Evaluation, Part, describe_unknown};
pub(crate) use handler::RuleFactory;
pub(crate) use history::SessionHistory;
#[doc(hidden)]
pub use history::record_event;
#[doc(hidden)]
pub use testing::exercise_rule;
