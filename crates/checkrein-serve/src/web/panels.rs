//! Panels about the setup: trust, coverage, and the plan of an event with the hooks of today. All of them read files.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use checkrein::audit::AuditLog;
use checkrein::dialects::agents::native;
use checkrein::trust::Status;
use checkrein::{Engine, Sources};
use checkrein_core::Event;
use checkrein_dialects::config::Severity;
use checkrein_tools::coverage::{Filter, Places, Report, Setup};
use checkrein_tools::decision_log::DecisionLog;
use checkrein_tools::install::Installer;
use checkrein_tools::recording::RecordedEvent;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::WebOptions;
use crate::store::{EventId, lock};

/// Number of projects whose trust is shown: those with the newest events.
const MAX_PROJECTS: usize = 20;

/// Time for which a coverage report is shown again.
const COVERAGE_AGE: Duration = Duration::from_secs(60);

/// Time that coverage is about: the last day.
const COVERAGE_SPAN: i64 = 24 * 60 * 60 * 1000;

/// Maximum number of calls in a coverage report.
const MAX_CALLS: usize = 200;

/// Panels that are remembered for a while.
#[derive(Debug)]
pub(super) struct Panels {
    options: WebOptions,
    coverage: Mutex<Option<(Instant, Value)>>,
}

impl Panels {
    pub(super) fn new(options: &WebOptions) -> Self {
        Self { options: options.clone(), coverage: Mutex::new(None) }
    }

    /// Coverage of the last day. Only one look happens at a time.
    pub(super) fn coverage(&self, fresh: bool) -> Result<Value, String> {
        let mut known = lock(&self.coverage);
        match &*known {
            Some((time, report)) if !fresh && time.elapsed() < COVERAGE_AGE => return Ok(report.clone()),
            _ => {}
        }
        let report = self.look()?;
        *known = Some((Instant::now(), report.clone()));
        Ok(report)
    }

    fn look(&self) -> Result<Value, String> {
        let WebOptions { locations, state_dir, .. } = &self.options;
        let home = locations.home.clone().ok_or("the home directory of the user is unknown; set HOME")?;
        let loaded = Sources::discover_in(&native::DIALECT, &home, locations.clone()).load();
        let mut filter = Filter::default();
        filter.since = Timestamp::from_millisecond(Timestamp::now().as_millisecond() - COVERAGE_SPAN).ok();
        let installer = Installer::reader(&home, locations.clone());
        let setup = Setup { log_is_on: loaded.log, installer: Some(installer) };
        let audit = loaded.audit.as_ref().map_or_else(AuditLog::for_user, AuditLog::from_settings);
        let places = Places::in_home(home).with_variables();
        let log = DecisionLog::in_state_directory(state_dir);
        let mut report = Report::look(&places, &log, &audit, &filter, &setup).map_err(|error| error.to_string())?;
        let calls = report.calls.len();
        // The last sessions are the newest ones.
        report.calls.drain(..calls.saturating_sub(MAX_CALLS));
        let time = format!("{:.3}", Timestamp::now());
        Ok(json!({ "time": time, "report": report, "hidden": calls.saturating_sub(MAX_CALLS) }))
    }
}

/// Hooks of the projects with the newest events, and which of them wait for approval.
pub(super) fn trust(options: &WebOptions) -> Value {
    let mut projects: Vec<String> = Vec::new();
    for session in options.store.sessions(&HashMap::new()) {
        let project = session.project.map(|project| project.to_string()).unwrap_or_default();
        if !project.is_empty() && !projects.contains(&project) && projects.len() < MAX_PROJECTS {
            projects.push(project);
        }
    }
    let projects: Vec<_> = projects.iter().map(|project| trust_of(options, project)).collect();
    json!({ "projects": projects })
}

fn trust_of(options: &WebOptions, project: &str) -> Value {
    let directory = PathBuf::from(project);
    if !directory.is_dir() {
        return json!({ "project": project, "problem": "the directory does not exist" });
    }
    let review = Sources::discover_in(&native::DIALECT, directory, options.locations.clone()).review();
    let awaiting: Vec<_> = review
        .awaiting()
        .into_iter()
        .map(|hook| {
            let why = match &hook.status {
                Status::Changed(why) => why.clone(),
                _ => "not approved yet".to_owned(),
            };
            let facts: Vec<_> = hook.facts.iter().map(|fact| json!({ "name": fact.label, "value": fact.value })).collect();
            json!({
                "id": hook.hook.id, "file": hook.file, "line": hook.hook.source.line, "status": hook.status.name(), "why": why,
                "events": hook.kinds.iter().map(checkrein_core::EventKind::name).collect::<Vec<_>>(), "facts": facts,
            })
        })
        .collect();
    let is_error = |severity: &Severity| *severity == Severity::Error;
    let problems = review.diagnostics.iter().filter(|found| is_error(&found.severity)).map(ToString::to_string);
    json!({
        "project": project,
        "approved": review.hooks.len() - awaiting.len(),
        "awaiting": awaiting,
        "problems": problems.collect::<Vec<_>>(),
    })
}

/// Hooks that would be selected for an event now, and the reasons of the others.
pub(super) fn plan(options: &WebOptions, id: EventId) -> Result<Value, String> {
    let full =
        options.store.record(id).map_err(|error| error.to_string())?.ok_or("the event is unknown, or too old")?;
    let record = full.record.ok_or("only the decision log has this event, so its input is unknown")?;
    let recorded: RecordedEvent = record.read().map_err(|_| "the record has no event")?;
    let event = Event::from_json(recorded.event.as_str()).map_err(|error| error.to_string())?;
    let agent = checkrein_dialects::find(&recorded.agent);
    let sources = Sources::discover_in(&native::DIALECT, &recorded.project, options.locations.clone());
    let loaded = agent.map_or_else(|| sources.clone(), |agent| sources.clone().called_by(agent)).load();
    let engine = Engine::builder().hooks(loaded.hooks.clone()).build();
    let hooks: Vec<_> = engine
        .explain(&event)
        .into_iter()
        .map(|planned| {
            json!({
                "id": planned.hook.info.id,
                "source": planned.hook.info.source.to_string(),
                "runs": planned.why_not.is_none(),
                "why_not": planned.why_not.map(|why| why.to_string()),
                "fails": planned.fails,
                "undecided": planned.undecided,
            })
        })
        .collect();
    Ok(json!({ "hooks": hooks }))
}
