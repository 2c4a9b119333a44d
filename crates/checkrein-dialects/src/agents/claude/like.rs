//! Columns that agents with Claude Code's hook protocol share.

use checkrein_core::{Decision, FailureTable, Rules, RunOrder};

use crate::payload::PayloadTable;
use crate::reply::{AnswerDetection, EventScope, ExitAction, ExitCodeMatch, ExitRule, ReasonSource, ReplyTable};
use crate::table::{Dialect, Environment, ProcessTable};

/// The base of agents that took over Claude Code's hook protocol.
///
/// An object on standard output is an answer, and exit code 2 denies where hooks can block. Hooks get the whole environment and
/// run in parallel. Failures are open, and a stop can be answered any number of times. Each table adds its own names, payload
/// fields, reply keys and files, and what its agent does otherwise.
pub(crate) const CLAUDE_LIKE: Dialect = Dialect {
    payload: PayloadTable::fields(&[]),
    reply: ReplyTable {
        trigger: AnswerDetection::Brace,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr, ReasonSource::Answer]),
            )
            .at(EventScope::Blocking),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..ReplyTable::BASE
    },
    process: ProcessTable { environment: Environment::All, ..ProcessTable::BASE },
    rules: Rules::NATIVE.order(RunOrder::Parallel).failures(FailureTable::open()),
    stop_cap: 0,
    ..Dialect::BASE
};
