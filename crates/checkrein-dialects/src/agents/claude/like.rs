//! Default columns of agents with the hook protocol of Claude Code.

use checkrein_core::{Decision, FailureTable, Rules, RunOrder};

use crate::payload::PayloadTable;
use crate::reply::{
    AnswerDetection, Defect, EventScope, ExitAction, ExitCodeMatch, ExitRule, ReasonSource, ReplyTable,
};
use crate::table::{Dialect, Environment, ProcessTable};

/// The base of agents that adopted the hook protocol of Claude Code.
///
/// An object on standard output is a reply, and exit code 2 denies at events that hooks can block. Hooks get the whole
/// environment and run in parallel. Failures are ignored, and hooks can block a stop any number of times. Each table adds its
/// own names, payload fields, reply keys, files and differences.
pub(crate) const CLAUDE_LIKE: Dialect = Dialect {
    payload: PayloadTable::fields(&[]),
    reply: ReplyTable {
        trigger: AnswerDetection::Brace,
        tolerates: Defect::JAVASCRIPT,
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
