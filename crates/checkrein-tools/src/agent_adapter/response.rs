//! The last step of an event: renders the answer, and writes it to the record and the audit log.
//!
//! The entry of the audit log is written after rendering, because an agent does not support every part of a verdict.

use std::sync::Arc;

use checkrein::audit::AuditLog;
use checkrein::internal::{append_record, has_secret};
use checkrein::session_store::SessionStore;
use checkrein_core::{Event, FailureKind, FailurePolicy, Record, Rules, Verdict, Warning};
use checkrein_dialects::{Answer, AnswerExtras};

use super::{AgentAdapter, AgentResponse, Phase, is_first_time};

/// Everything besides the verdict that an answer depends on.
pub(super) struct Outcome {
    /// Record of the event, if a hook ran.
    pub(super) record: Option<Record>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
    /// Context for the model from checkrein itself.
    pub(super) context: Vec<String>,
    pub(super) log: Option<AuditLog>,
    /// Command with which the user can confirm a call that the agent cannot ask about.
    pub(super) confirm_with: Option<String>,
    /// `true` if a denied command may become one that prints the reason.
    pub(super) deny_by_command: bool,
    pub(super) sessions: Arc<dyn SessionStore>,
}

impl Outcome {
    pub(super) fn new(sessions: Arc<dyn SessionStore>) -> Self {
        Self {
            record: None,
            notes: Vec::new(),
            context: Vec::new(),
            log: None,
            confirm_with: None,
            deny_by_command: true,
            sessions,
        }
    }
}

impl AgentAdapter {
    /// Renders the answer and records it.
    pub(super) fn respond(&self, event: &Event, mut verdict: Verdict, mut outcome: Outcome) -> AgentResponse {
        if self.phase == Phase::Background {
            return self.respond_in_background(event, verdict, outcome);
        }
        outcome.notes.extend(new_warnings(event, &verdict, &*outcome.sessions));
        let mut answer = self.render(event, &verdict, &outcome);
        let mut record = outcome.record.take().map(|record| record.with_told(answer.told()));
        if let (Some(log), Some(record)) = (&outcome.log, &mut record) {
            let warnings = verdict.warnings().len();
            let logged = append_record(log, event, &Rules::NATIVE, verdict.clone(), record);
            if logged != verdict {
                // The entry could not be written. The policy of the log may require a denial.
                let added = logged.warnings().iter().skip(warnings).map(ToString::to_string);
                outcome.notes.extend(added);
                verdict = logged;
                answer = self.render(event, &verdict, &outcome);
                *record = record.clone().with_told(answer.told());
            }
        }
        let Outcome { mut notes, sessions, .. } = outcome;
        let added = self.keep_refused_prompt(event, &verdict, &answer, &*sessions);
        let is_delivered = answer.user_message_included;
        let undelivered = notes.iter().filter(|_| !is_delivered).chain(&answer.notes).chain(&added).cloned().collect();
        notes.extend(answer.notes.iter().cloned().chain(added));
        AgentResponse { answer, record, notes, undelivered_notes: undelivered, ..AgentResponse::default() }
    }

    /// Background hooks have no answer: their agent does not wait for it.
    fn respond_in_background(&self, event: &Event, verdict: Verdict, outcome: Outcome) -> AgentResponse {
        let Outcome { mut record, notes, log, .. } = outcome;
        if let (Some(log), Some(record)) = (log, &mut record) {
            append_record(&log, event, &Rules::NATIVE, verdict, record);
        }
        AgentResponse { record, undelivered_notes: notes.clone(), notes, ..AgentResponse::default() }
    }

    fn render(&self, event: &Event, verdict: &Verdict, outcome: &Outcome) -> Answer {
        let extras = AnswerExtras {
            messages: &outcome.notes,
            context: &outcome.context,
            confirm_with: outcome.confirm_with.as_deref(),
            has_secret: Some(has_secret),
            speaks_by_command: outcome.deny_by_command,
        };
        self.agent.render_verdict_with(event, verdict, extras)
    }
}

/// `true` if both warnings are about hooks of one file that are not approved.
fn is_of_one_file(one: &Warning, other: &Warning) -> bool {
    let is_new = |warning: &Warning| warning.failure == Some((FailureKind::Untrusted, FailurePolicy::Open));
    let file = |warning: &Warning| warning.hook.source.file.clone();
    is_new(one) && is_new(other) && file(one).is_some() && file(one) == file(other)
}

/// Returns the warnings of a verdict for the user.
fn new_warnings(event: &Event, verdict: &Verdict, sessions: &dyn SessionStore) -> Vec<String> {
    // The reason already contains the failure of the hook that decided.
    let in_reason = |warning: &&Warning| {
        warning.failure.is_some() && verdict.decided_by().is_some_and(|hook| *hook == *warning.hook)
    };
    let warnings = || verdict.warnings().iter().filter(|warning| !in_reason(warning));
    let mut notes = Vec::new();
    for (index, warning) in warnings().enumerate() {
        // The hooks of a file are approved together.
        let is_same = |other: &&Warning| is_of_one_file(warning, other);
        if warnings().take(index).any(|other| is_same(&other)) {
            continue;
        }
        let text = match warnings().filter(is_same).count() {
            0 | 1 => warning.to_string(),
            count => format!(
                "{count} hooks ({}) were not run: you have not approved them; `checkrein trust` shows them, `checkrein trust \
                 approve --all` approves them",
                warning.hook.source.file.as_deref().unwrap_or_default()
            ),
        };
        // A persistent warning would repeat with every event, so it is shown once in a session.
        if !warning.persistent || is_first_time(sessions, event, &text) {
            notes.push(text);
        }
    }
    notes
}
