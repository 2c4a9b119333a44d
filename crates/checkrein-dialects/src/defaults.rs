//! Default columns of every table.
//!
//! A table in [`agents`](crate::agents) or in a host's own crate ends in `..Dialect::BASE`, `..ReplyTable::BASE` and so on, and
//! then contains only the differences of its agent. The defaults are those of a dialect with event names only: it has no files,
//! and its hooks have the payloads and answers of checkrein's own hooks.

use std::time::Duration;

use checkrein_core::{Decision, Grammar, Rules};

use crate::config::{ConfigTable, DedupKey, FileFormat};
use crate::input::McpNames;
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{
    AnswerDetection, Defect, ExitAction, ExitCodeMatch, ExitRule, MalformedPolicy, ReasonSource, ReplyTable,
    UnknownPolicy,
};
use crate::table::{
    ApprovalTable, Cwd, Dialect, Environment, EventRow, ExitReason, HostBehavior, HostTable, HttpTable, ProcessTable,
    RelativeTo, Shell, TimeTable,
};

impl Dialect {
    /// A dialect without a name and without events.
    pub const BASE: Self = Self {
        name: "",
        title: "",
        events: &[],
        has_all_events: false,
        tools: &[],
        mcp: McpNames::SHARED,
        matcher: Grammar::NAMES_OR_SEARCH,
        payload: PayloadTable::BASE,
        reply: ReplyTable::BASE,
        process: ProcessTable::BASE,
        http: HttpTable::BASE,
        time: TimeTable::seconds(60),
        rules: Rules::NATIVE,
        declares_rewrites: false,
        stop_cap: 8,
        config: ConfigTable::BASE,
        host: HostTable::UNKNOWN,
        install: None,
        borrows: None,
        evidence: &[],
        facts: None,
        other_generations: &[],
    };

    /// A dialect with event names only.
    ///
    /// ```
    /// use checkrein_core::EventKind;
    /// use checkrein_dialects::{Dialect, EventRow, ToolRow};
    ///
    /// const EVENTS: &[EventRow] = &[EventRow::new("before_tool", EventKind::PreToolUse).matched().blocks()];
    ///
    /// static MINE: Dialect =
    ///     Dialect { tools: &[ToolRow::new("run", &["Bash"])], ..Dialect::named("my-agent", EVENTS) };
    ///
    /// assert_eq!(MINE.kind_of("before_tool")?, &EventKind::PreToolUse);
    /// # Ok::<(), checkrein_dialects::UnknownEvent>(())
    /// ```
    pub const fn named(name: &'static str, events: &'static [EventRow]) -> Self {
        Self { name, events, ..Self::BASE }
    }
}

impl PayloadTable {
    /// All fields of the event, under checkrein's names.
    pub const BASE: Self =
        Self { event: "hook_event_name", fields: &[], all_fields: true, includes_original: false, cut_input: None };

    /// A table with these fields in every payload, besides those of the event's own row.
    pub const fn fields(fields: &'static [FieldRow]) -> Self {
        Self { fields, all_fields: false, ..Self::BASE }
    }
}

impl ReplyTable {
    /// Only exit codes decide: 0 proceeds, 2 denies, all others are failures. If an agent adds a trigger and keys, an answer
    /// that is not JSON fails, an unknown key is reported, and a bad value fails.
    pub const BASE: Self = Self {
        trigger: AnswerDetection::Never,
        malformed: MalformedPolicy::Failure,
        unknown_keys: UnknownPolicy::Reported,
        bad_values: UnknownPolicy::Failure,
        tolerates: &[Defect::ByteOrderMark],
        exact_case: true,
        keys: &[],
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr])),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        stderr_answers: false,
        text_cap: None,
        all_spellings: None,
        no_opinion: None,
    };

    /// Every JSON object is an answer and everything else is text. Unknown keys are ignored, bad values are reported.
    pub(crate) const LENIENT: Self = Self {
        trigger: AnswerDetection::Object,
        malformed: MalformedPolicy::Text,
        unknown_keys: UnknownPolicy::Ignored,
        bad_values: UnknownPolicy::Reported,
        tolerates: Defect::JAVASCRIPT,
        ..Self::BASE
    };
}

impl ProcessTable {
    /// `sh -c` in the event's directory, with the variables that every program needs.
    pub const BASE: Self = Self {
        shell: Shell::Sh,
        environment: Environment::Usual,
        variables: &[],
        cwd: Cwd::Event,
        relative_to: RelativeTo::WorkingDirectory,
        expands: false,
        newline: false,
        output_cap: 1 << 20,
        leaves_background: false,
    };
}

impl HttpTable {
    /// Endpoints decide, and headers may contain variables.
    pub const BASE: Self = Self { decides: true, in_background: false, variables: true };
}

impl ConfigTable {
    /// No files.
    pub const BASE: Self = Self {
        files: &[],
        format: FileFormat::None,
        comments: false,
        plugin: None,
        dedup_key: DedupKey::Never,
        pattern: None,
        by_hand: None,
        rejects_unknown_keys: false,
    };
}

impl ApprovalTable {
    /// Calls wait before a tool, and not at permission requests.
    pub const USUAL: Self = Self { margin: Duration::from_secs(15), holds_requests: false, headless: None };
}

impl HostTable {
    /// Nothing is known about the agent.
    pub const UNKNOWN: Self = Self {
        failure_switch: None,
        missing_program: HostBehavior::Unknown,
        missing_program_blocks_prompts: false,
        killed: HostBehavior::Unknown,
        on_hook_timeout: HostBehavior::Unknown,
        exit_reason: ExitReason::Unknown,
        hides_messages: false,
        not_observable: &[],
        unguarded_subagents: &[],
        calls_each_entry: false,
        programs: &[],
        approvals: ApprovalTable::USUAL,
        uncertain: &[],
    };

    /// The tool runs if the hook's program is missing, killed or late. The model sees the reason of a denial as it is.
    pub const FAILS_OPEN: Self = Self {
        missing_program: HostBehavior::Runs,
        killed: HostBehavior::Runs,
        on_hook_timeout: HostBehavior::Runs,
        exit_reason: ExitReason::Plain,
        ..Self::UNKNOWN
    };
}
