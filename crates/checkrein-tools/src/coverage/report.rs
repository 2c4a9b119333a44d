//! [`Report`]: the state of every call, with counts per session and a summary.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use checkrein::audit::AuditLog;
use checkrein_core::Decision;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::call::{Outcome, Session, Subagent, ToolCall};
use super::formats::{FORMATS, Format};
use super::join::{Match, join};
use super::places::Places;
use super::reasons::{Evidence, Reason, as_text, reason};
use super::records::{Interest, Records, RecordsError, Window};
use super::settings::{KnownSettings, Setup};
use crate::decision_log::DecisionLog;

/// Age up to which a call without a result may still be on its way to checkrein.
const IN_FLIGHT: SignedDuration = SignedDuration::from_secs(60);

/// Number of calls after whose report their memory is released.
const RELEASED_CALLS: usize = 4096;

/// State of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// One record, and the outcome agrees with it.
    Judged,
    /// The call was delivered more than once, and got the same answer.
    JudgedTwice,
    /// The call was denied, and ran anyway; or the user should have been asked, and was not.
    NotObeyed,
    /// There is no record.
    NotJudged,
    /// The agent rejected the call before any hook. It never ran.
    Rejected,
    /// The files or logs are not enough to tell.
    CannotTell,
}

impl State {
    /// All states.
    pub const ALL: [Self; 6] =
        [Self::Judged, Self::JudgedTwice, Self::NotObeyed, Self::NotJudged, Self::Rejected, Self::CannotTell];

    /// Name for arguments and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Judged => "judged",
            Self::JudgedTwice => "judged-twice",
            Self::NotObeyed => "not-obeyed",
            Self::NotJudged => "not-judged",
            Self::Rejected => "rejected",
            Self::CannotTell => "cannot-tell",
        }
    }
}

/// Number of calls in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Counts {
    /// All calls.
    pub calls: u64,
    /// Calls in [`State::Judged`].
    pub judged: u64,
    /// Calls in [`State::JudgedTwice`].
    pub judged_twice: u64,
    /// Calls in [`State::NotObeyed`].
    pub not_obeyed: u64,
    /// Calls in [`State::NotJudged`].
    pub not_judged: u64,
    /// Calls in [`State::Rejected`].
    pub rejected: u64,
    /// Calls in [`State::CannotTell`].
    pub cannot_tell: u64,
    /// Judged calls that were joined without an id.
    pub weak: u64,
    /// Judged calls whose record has another input than the session file: the input may have changed after the verdict.
    pub other_input: u64,
}

impl Counts {
    fn add(&mut self, state: State, reason: Option<&Reason>, found: &Match) {
        self.calls += 1;
        *self.field(state) += 1;
        self.weak += u64::from(found.is_weak);
        self.other_input +=
            u64::from(state == State::Judged && reason.is_some_and(|reason| reason.code == "other_input"));
    }

    fn field(&mut self, state: State) -> &mut u64 {
        match state {
            State::Judged => &mut self.judged,
            State::JudgedTwice => &mut self.judged_twice,
            State::NotObeyed => &mut self.not_obeyed,
            State::NotJudged => &mut self.not_judged,
            State::Rejected => &mut self.rejected,
            State::CannotTell => &mut self.cannot_tell,
        }
    }

    /// Number of calls in a state.
    pub fn of(mut self, state: State) -> u64 {
        *self.field(state)
    }

    /// Number of calls that could run.
    pub fn possible(self) -> u64 {
        self.calls.saturating_sub(self.rejected)
    }

    fn add_all(&mut self, other: Self) {
        self.calls += other.calls;
        self.weak += other.weak;
        self.other_input += other.other_input;
        for state in State::ALL {
            *self.field(state) += other.of(state);
        }
    }
}

/// A call that is not simply judged.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct CallReport {
    /// State.
    pub state: State,
    /// Agent.
    pub agent: &'static str,
    /// Session.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub session: Arc<str>,
    /// Sub-agent, if the main agent did not make the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<Box<Subagent>>,
    /// Id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Tool.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub tool: Arc<str>,
    /// Start of the command or path, with secrets redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Digest of the input.
    pub digest: String,
    /// Time, UTC.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_time")]
    #[schemars(with = "Option<String>")]
    pub time: Option<Timestamp>,
    /// Result of the call.
    pub outcome: Outcome,
    /// `true` if the agent asked the user, if its files say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<bool>,
    /// Answers that the agent got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Decision>,
    /// `true` if the call was joined without an id.
    pub weak: bool,
    /// Reason of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// One session.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct SessionReport {
    /// Agent.
    pub agent: &'static str,
    /// Name of the agent for people.
    pub title: &'static str,
    /// Session.
    pub session: String,
    /// Working directory of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Version of the agent or of its format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Time of the first call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// Counts of its calls.
    #[serde(flatten)]
    pub counts: Counts,
    /// Lines of unknown kinds.
    pub unknown_lines: u64,
    /// Names of these kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_kinds: Vec<String>,
    /// Reasons why the state of parts of the session is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Files that were read.
    pub files: Vec<PathBuf>,
}

/// Coverage of all sessions.
#[derive(Debug, Clone, Default, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Report {
    /// Text for people: the result in one sentence.
    pub summary: String,
    /// Counts of all calls.
    pub counts: Counts,
    /// Number of sessions that are not fully readable.
    pub unclear_sessions: u64,
    /// All sessions, by agent and time.
    pub sessions: Vec<SessionReport>,
    /// Calls that are not simply judged, or all calls.
    pub calls: Vec<CallReport>,
    /// Files that could not be read, and other problems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    #[serde(skip)]
    window: Window,
}

/// Selection of sessions and calls.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Filter {
    /// Agent.
    pub agent: Option<&'static Format>,
    /// Start of the id of a session.
    pub session: Option<String>,
    /// Directory of the project.
    pub project: Option<PathBuf>,
    /// Time of the oldest call.
    pub since: Option<Timestamp>,
    /// Also lists calls that are simply judged.
    pub all_calls: bool,
}

impl Report {
    /// Reads all session files and logs.
    ///
    /// # Errors
    /// A log of checkrein cannot be read. Session files that cannot be read are in the report.
    pub fn look(
        places: &Places,
        log: &DecisionLog,
        audit: &AuditLog,
        filter: &Filter,
        setup: &Setup,
    ) -> Result<Self, RecordsError> {
        let (mut sessions, mut problems) = (Vec::new(), Vec::new());
        let changed_since = filter.since.map(SystemTime::from);
        for format in FORMATS.iter().filter(|format| filter.agent.is_none_or(|agent| agent.agent == format.agent)) {
            let found = format.read_all(places, changed_since);
            sessions.extend(found.sessions);
            problems.extend(found.problems.into_iter().map(|problem| format!("{}: {problem}", format.title)));
        }
        let records = Records::read(log, audit, &Interest::in_sessions(&sessions))?;
        problems.extend(agents_without_files(&records, filter));
        let mut report = Self { problems, window: records.window, ..Self::default() };
        let known = Known {
            records: &records,
            setup,
            settings: KnownSettings::default(),
            surfaces: surfaces(&sessions, &records),
        };
        // Reasons are found with the evidence of all sessions, so that a filter changes none.
        for session in sessions.into_iter().filter(|session| filter.takes(session)) {
            report.add(session, &known, filter);
        }
        report.sessions.sort_by(|a, b| (a.agent, &a.first, &a.session).cmp(&(b.agent, &b.first, &b.session)));
        report.summary = report.summarize();
        Ok(report)
    }

    /// Time that the logs cover.
    pub fn window(&self) -> Window {
        self.window
    }

    fn add(&mut self, mut session: Session, known: &Known<'_>, filter: &Filter) {
        let title = Format::of(session.agent).map_or(session.agent, |format| format.title);
        let mut matches = join(&session, known.records);
        let evidence = Evidence::new(&session, title, known);
        let (mut counts, mut first) = (Counts::default(), None);
        // Many calls have the same reason.
        let (id, mut texts) = (Arc::from(session.id.as_str()), HashSet::new());
        let (now, has_calls) = (Timestamp::now(), !session.calls.is_empty());
        let mut calls = std::mem::take(&mut session.calls);
        calls.reverse();
        matches.reverse();
        while let Some((call, found)) = calls.pop().zip(matches.pop()) {
            // The report of a long session needs the memory of its calls.
            if calls.len().is_multiple_of(RELEASED_CALLS) {
                calls.shrink_to_fit();
                matches.shrink_to_fit();
            }
            let is_old = filter.since.zip(call.time).is_some_and(|(since, time)| time < since);
            if is_old || is_in_flight(&call, found.as_ref(), now) {
                continue;
            }
            first = first.or(call.time);
            let (state, reason) = match (&found, &session.problem) {
                (_, Some(problem)) if call.is_unreadable => {
                    (State::CannotTell, Some(reason("session", problem.clone())))
                }
                (Some(found), _) => judged(&call, found, session.has_unread_lines()),
                (None, _) => {
                    let (state, reason) = evidence.missing(&call);
                    (state, Some(reason))
                }
            };
            let found = found.unwrap_or_default();
            counts.add(state, reason.as_ref(), &found);
            if state != State::Judged || reason.is_some() || filter.all_calls {
                let reason = reason.map(|reason| shared(reason, &mut texts));
                self.calls.push(call_report(call, session.agent, &id, state, found, reason));
            }
        }
        self.counts.add_all(counts);
        let problems = problems(&session);
        self.unclear_sessions += u64::from(!problems.is_empty());
        // A session without calls in the time of interest says nothing. One without any call may have them in unknown lines.
        if counts.calls == 0 && problems.is_empty() && (has_calls || session.unknown_lines == 0) {
            return;
        }
        self.sessions.push(SessionReport {
            agent: session.agent,
            title,
            session: session.id,
            project: session.project,
            version: session.version,
            first: first.map(shown_time),
            counts,
            unknown_lines: session.unknown_lines,
            unknown_kinds: session.unknown_kinds,
            problems,
            files: session.files,
        });
    }

    /// Returns the result in one sentence.
    fn summarize(&self) -> String {
        let counts = self.counts;
        let judged = counts.judged + counts.judged_twice;
        let noun = if counts.possible() == 1 { "tool call" } else { "tool calls" };
        let other_input = match counts.other_input {
            0 => String::new(),
            count => format!(" ({} of these with another input than the session file has)", thousands(count)),
        };
        let mut parts =
            vec![format!("{} of {} {noun} judged{other_input}", thousands(judged), thousands(counts.possible()))];
        parts.extend(self.groups(State::NotJudged).into_iter().map(|(who, count)| {
            format!("{} by {who} {} never seen", thousands(count), if count == 1 { "was" } else { "were" })
        }));
        parts.extend(
            self.groups(State::NotObeyed)
                .into_iter()
                .map(|(who, count)| format!("{} by {who} ran against the answer", thousands(count))),
        );
        if counts.rejected > 0 {
            let verb = if counts.rejected == 1 { "was rejected by the agent" } else { "were rejected by agents" };
            parts.push(format!("{} {verb} and never ran", thousands(counts.rejected)));
        }
        if counts.cannot_tell > 0 {
            parts.push(format!("the state of {} is unknown", thousands(counts.cannot_tell)));
        }
        if self.unclear_sessions > 0 {
            let noun = if self.unclear_sessions == 1 { "session is" } else { "sessions are" };
            parts.push(format!("{} {noun} not fully readable", thousands(self.unclear_sessions)));
        }
        match self.problems.len() {
            0 => {}
            1 => parts.push("1 place could not be read".to_owned()),
            count => parts.push(format!("{count} places could not be read")),
        }
        parts.join("; ")
    }

    /// Returns who made the calls in a state, the largest group first. At most three groups; the last may be all others.
    fn groups(&self, state: State) -> Vec<(String, u64)> {
        let mut groups: BTreeMap<String, u64> = BTreeMap::new();
        for call in self.calls.iter().filter(|call| call.state == state) {
            *groups.entry(maker(call)).or_default() += 1;
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        if groups.len() > 3 {
            let others = groups.drain(2..).map(|(_, count)| count).sum();
            groups.push(("others".to_owned(), others));
        }
        groups
    }
}

/// Everything that explains calls without a record.
pub(super) struct Known<'a> {
    pub(super) records: &'a Records,
    pub(super) setup: &'a Setup,
    pub(super) settings: KnownSettings,
    /// Surfaces of sessions with records, by agent.
    pub(super) surfaces: HashMap<&'static str, BTreeSet<String>>,
}

/// Returns a problem for each agent that called checkrein and whose session files have no reader.
fn agents_without_files(records: &Records, filter: &Filter) -> Vec<String> {
    if filter.agent.is_some() || filter.session.is_some() || filter.project.is_some() {
        return Vec::new();
    }
    let unknown = records.agents_since(filter.since).into_iter().filter(|agent| Format::of(agent).is_none());
    let title =
        |agent| checkrein_dialects::find(agent).map_or_else(|| agent.to_owned(), |dialect| dialect.title().to_owned());
    unknown
        .map(|agent: &str| format!("{} called checkrein, and has no session files that can be read", title(agent)))
        .collect()
}

/// Returns the surfaces of the sessions that have records.
fn surfaces(sessions: &[Session], records: &Records) -> HashMap<&'static str, BTreeSet<String>> {
    let mut seen: HashMap<_, BTreeSet<_>> = HashMap::new();
    for session in sessions.iter().filter(|session| !records.of_session(session.agent, &session.id).is_empty()) {
        seen.entry(session.agent).or_default().extend(session.surface.clone());
    }
    seen
}

/// Names the agent or sub-agent that made a call.
fn maker(call: &CallReport) -> String {
    let title = Format::of(call.agent).map_or(call.agent, |format| format.title);
    match call.subagent.as_deref() {
        None => title.to_owned(),
        Some(Subagent { kind: Some(kind), .. }) => format!("sub-agent `{kind}` of {title}"),
        Some(_) => format!("sub-agents of {title}"),
    }
}

/// Returns the state of a call with records.
pub(super) fn judged(call: &ToolCall, found: &Match, has_unread_lines: bool) -> (State, Option<Reason>) {
    let strongest = found.answers.iter().copied().max().unwrap_or_default();
    if let Some(hooks) = &found.skipped {
        let text = format!("an environment variable (`CHECKREIN` or `CHECKREIN_SKIP`) skipped hooks: {hooks}");
        return (State::NotJudged, Some(reason("hooks_skipped", text)));
    }
    if strongest.is_block() && call.outcome == Outcome::Pending && has_unread_lines {
        let text =
            "the call was denied, and its result may be in a line that is damaged, too long or of an unknown kind";
        return (State::CannotTell, Some(reason("result_unknown", text)));
    }
    if strongest.is_block() && call.outcome == Outcome::Unknown {
        let text = "the call was denied, and its result has a shape that is not known";
        return (State::CannotTell, Some(reason("result_unknown", text)));
    }
    if strongest.is_block() && call.outcome == Outcome::Failed {
        let text = "the call was denied and has an error, and the file does not show if it ran";
        return (State::CannotTell, Some(reason("result_unknown", text)));
    }
    if strongest.is_block() && call.outcome == Outcome::Ran {
        let text = format!("checkrein answered `{}`, and the call has a result", strongest.name());
        return (State::NotObeyed, Some(reason("ran_anyway", text)));
    }
    if strongest == Decision::Ask && call.asked == Some(false) && call.outcome == Outcome::Ran {
        let text = "checkrein answered `ask`, and the call ran without a question";
        return (State::NotObeyed, Some(reason("not_asked", text)));
    }
    if found.answers.len() > 1 {
        let is_same = found.answers.windows(2).all(|pair| pair[0] == pair[1]);
        let reason =
            if is_same { None } else { Some(reason("answers_differ", "its deliveries got different answers")) };
        return (State::JudgedTwice, reason);
    }
    // A call of a script has no input in the file.
    if found.input_differs && call.unclear.is_none() {
        let text =
            "its record has another input than the session file, so the input may have changed after the verdict";
        return (State::Judged, Some(reason("other_input", text)));
    }
    (State::Judged, None)
}

/// Returns `true` for a call that was just made and may still reach checkrein.
fn is_in_flight(call: &ToolCall, found: Option<&Match>, now: Timestamp) -> bool {
    let age = call.time.map(|time| now.duration_since(time));
    found.is_none() && call.outcome == Outcome::Pending && age.is_some_and(|age| age.abs() < IN_FLIGHT)
}

fn shown_time(time: Timestamp) -> String {
    format!("{time:.3}")
}

fn as_time<S: serde::Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(shown_time).serialize(serializer)
}

/// Uses the text of an equal reason.
fn shared(reason: Reason, texts: &mut HashSet<Arc<str>>) -> Reason {
    match texts.get(&reason.text) {
        Some(text) => Reason { text: Arc::clone(text), ..reason },
        None => {
            texts.insert(Arc::clone(&reason.text));
            reason
        }
    }
}

fn call_report(
    call: ToolCall,
    agent: &'static str,
    session: &Arc<str>,
    state: State,
    found: Match,
    reason: Option<Reason>,
) -> CallReport {
    CallReport {
        state,
        agent,
        session: Arc::clone(session),
        subagent: call.subagent,
        call: call.id,
        tool: call.tool,
        command: call.command,
        digest: call.digest,
        time: call.time,
        outcome: call.outcome,
        asked: call.asked,
        answers: found.answers,
        weak: found.is_weak,
        reason,
    }
}

/// Returns the reasons why the state of parts of a session is unknown.
fn problems(session: &Session) -> Vec<String> {
    let mut problems: Vec<String> = session.problem.iter().cloned().collect();
    if session.broken_lines > 0 {
        let noun = if session.broken_lines == 1 { "line is" } else { "lines are" };
        problems.push(format!(
            "{} {noun} damaged, too long or of an unknown shape; calls in them are not counted",
            session.broken_lines
        ));
    }
    if session.unknown_blocks > 0 {
        let noun = if session.unknown_blocks == 1 { "line has" } else { "lines have" };
        problems.push(format!(
            "{} {noun} content of unknown kinds, which may be calls: {}",
            session.unknown_blocks,
            session.unknown_kinds.join(", ")
        ));
    }
    if session.dropped_calls > 0 {
        problems.push(format!("{} more calls than the limit; they are not counted", session.dropped_calls));
    }
    problems.extend(session.notes.iter().cloned());
    problems
}

impl Filter {
    /// Sets the time of the oldest call, in milliseconds since 1970.
    pub fn set_since(&mut self, millis: i64) {
        self.since = Timestamp::from_millisecond(millis).ok();
    }

    fn takes(&self, session: &Session) -> bool {
        let is_session = self.session.as_deref().is_none_or(|start| session.id.starts_with(start));
        let is_project = self
            .project
            .as_deref()
            .is_none_or(|project| session.project.as_deref().is_some_and(|own| Path::new(own).starts_with(project)));
        is_session && is_project
    }
}

/// Formats a number with a comma between thousands.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session of 500 MB has 50,000 calls, and 50 MiB must be enough for it.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn calls_are_small() {
        assert!(size_of::<ToolCall>() <= 160, "{}", size_of::<ToolCall>());
        assert!(size_of::<CallReport>() <= 216, "{}", size_of::<CallReport>());
    }

    #[test]
    fn numbers_have_commas() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
    }
}
