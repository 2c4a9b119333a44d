//! Columns that a dialect has until its own are known.

use std::time::Duration;

use checkrein_core::{Decision, Grammar, Rules};

use crate::config::{ConfigTable, Decoder, Reach, Same};
use crate::payload::PayloadTable;
use crate::reply::{Code, ExitRule, From, Malformed, ReplyTable, Then, Trigger, Unknown};
use crate::table::{Cwd, Dialect, Environment, EventRow, HostTable, HttpTable, ProcessTable, Shell, TimeTable};
use checkrein_document::Node;

const EXITS: &[ExitRule] = &[
    ExitRule::new(Code::Is(0), Then::Read),
    ExitRule::new(Code::Is(2), Then::Decide(Decision::Deny, &[From::Stderr])),
    ExitRule::new(Code::Any, Then::Fail),
];

impl Dialect {
    /// A dialect of which only the names of events are known yet: it has no files, and its hooks are given and answer what
    /// checkrein's own are given and answer.
    pub(crate) const fn of_names(name: &'static str, events: &'static [EventRow]) -> Self {
        Self {
            name,
            events,
            has_all_events: false,
            tools: &[],
            matcher: Grammar::NAMES_OR_SEARCH,
            payload: PayloadTable { event: "hook_event_name", fields: &[], everything: true, originals: false },
            reply: ReplyTable {
                trigger: Trigger::Never,
                malformed: Malformed::Failure,
                unknown_keys: Unknown::Told,
                bad_values: Unknown::Failure,
                exact_case: true,
                keys: &[],
                exits: EXITS,
                stderr_answers: false,
                text_cap: None,
            },
            process: ProcessTable {
                shell: Shell::Sh,
                environment: Environment::Usual,
                variables: &[],
                cwd: Cwd::Event,
                expands: false,
                newline: false,
                output_cap: 1 << 20,
                leaves_background: false,
            },
            http: HttpTable {
                success_below: 300,
                decides: true,
                in_background: false,
                variables: true,
                response_cap: 1 << 20,
            },
            time: TimeTable {
                usual: Duration::from_secs(60),
                classes: &[],
                handlers: &[],
                in_background: &[],
                cap: None,
            },
            rules: Rules::NATIVE,
            declares_rewrites: false,
            stop_cap: 8,
            config: ConfigTable {
                files: &[],
                scripts: false,
                comments: false,
                decode: no_files,
                encode: None,
                plugin: None,
                reach: Reach::Everybody,
                same: Same::Never,
                skim: None,
                pattern: None,
                by_hand: None,
            },
            host: HostTable::UNKNOWN,
            install: None,
            kin: &[],
        }
    }
}

fn no_files(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    let name = decoder.dialect().name;
    decoder.error("no-files", root.span, format!("checkrein cannot read files of {name} yet"));
}
