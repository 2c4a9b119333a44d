//! Replay of recorded events with new rules. Rules are evaluated, so that nothing runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein::engine::Engine;
use checkrein::facts::{FactContext, Facts};
use checkrein::policy::{Rule, RuleError};
use checkrein_core::{Decision, Event, FailureKind, FailurePolicy, HookInfo, HookSet, Opinion, Record};
use checkrein_dialects::{HandlerSpec, HookSpec};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::compare::Difference;
use super::entry::Entry;
use super::read::BadLine;
use super::replay::base;
use super::report::{ReplayReport, Replayed, Tally};
use super::session::Sessions;

/// Adds rules to recorded verdicts. A rule with the id of a recorded hook replaces it.
///
/// The events must be in the order of the recording: the history of a session is that of the earlier events. The working
/// directory, the agent and the time are those of the recording. Files and repositories are read as they are now. A dry run is
/// evaluated as if it were none.
#[derive(Debug)]
pub struct RuleReplay {
    rules: Vec<(HookSpec, Rule)>,
    set: HookSet,
    /// Decides about the keys `if` and `input`.
    engine: Option<Engine>,
    home: Option<PathBuf>,
    project: Option<PathBuf>,
    sessions: Sessions,
}

/// Effects of rules on one event.
#[derive(Debug, Default)]
struct Effects {
    opinions: Vec<(String, Opinion)>,
    labels: Vec<String>,
}

impl RuleReplay {
    /// Compiles the rules. Other hooks are omitted.
    ///
    /// # Errors
    /// A rule that is not valid, and its error.
    pub fn new(hooks: impl IntoIterator<Item = HookSpec>) -> Result<Self, (Arc<HookInfo>, Box<RuleError>)> {
        let mut rules = Vec::new();
        for hook in hooks {
            let HandlerSpec::Rule(spec) = &hook.handler else { continue };
            let rule = Rule::compile(spec, &hook.kinds).map_err(|error| (Arc::clone(&hook.info), Box::new(error)))?;
            rules.push((hook, rule));
        }
        // The set sorts in this way, so positions are the same.
        rules.sort_by_key(|(hook, _)| hook.rank());
        let set = HookSet::new(rules.iter().map(|(hook, _)| hook.selector()).collect());
        let has_conditions = |hook: &&HookSpec| hook.permission_rule.is_some() || !hook.input.is_empty();
        let limited: Vec<_> = rules.iter().map(|(hook, _)| hook).filter(has_conditions).cloned().collect();
        let engine = match limited.is_empty() {
            true => None,
            false => Some(Engine::builder().hooks(limited).build()),
        };
        let home = std::env::home_dir();
        Ok(Self { rules, set, engine, home, project: None, sessions: Sessions::default() })
    }

    /// Skips events that were recorded outside of this directory.
    #[must_use]
    pub fn only_project(mut self, directory: impl Into<PathBuf>) -> Self {
        self.project = Some(directory.into());
        self
    }

    /// Number of rules.
    pub fn rules(&self) -> usize {
        self.rules.len()
    }

    /// Evaluates the rules for all events, and calls `done` for each. `done` returns `true` to keep the event in the report.
    pub fn run(
        &mut self,
        entries: impl IntoIterator<Item = Result<Entry, BadLine>>,
        mut done: impl FnMut(Result<&Replayed, &BadLine>) -> bool,
    ) -> ReplayReport {
        let mut tally = Tally::new(false);
        for entry in entries {
            match entry {
                // A call that was delivered twice is one call.
                Ok(entry) if entry.record.repeat => {}
                Ok(entry) if self.is_elsewhere(&entry) => tally.add_other_project(),
                Ok(entry) => {
                    let replayed = self.evaluate(&entry);
                    let keep = done(Ok(&replayed));
                    tally.add(replayed, keep);
                }
                Err(bad) => {
                    done(Err(&bad));
                    tally.add_bad_line(bad);
                }
            }
        }
        tally.finish()
    }

    fn is_elsewhere(&self, entry: &Entry) -> bool {
        match (&self.project, &entry.project) {
            (Some(here), Some(project)) => !Path::new(project).starts_with(here),
            _ => false,
        }
    }

    /// Evaluates the rules for one event.
    pub fn evaluate(&mut self, entry: &Entry) -> Replayed {
        let time = entry.time.as_deref().and_then(|time| time.parse::<Timestamp>().ok());
        let milliseconds = time.map_or(0, Timestamp::as_millisecond);
        let effects = self.effects(entry, time, milliseconds);
        let is_replaced = |id: &str| self.rules.iter().any(|(hook, _)| hook.info.id == id);
        let mut now = without(&entry.record, &is_replaced);
        let mut replayed = base(entry);
        for (id, opinion) in &effects.opinions {
            now = now.max(opinion.decision());
            replayed.hooks_now.push(id.clone());
        }
        replayed.now = now;
        if replayed.then != now {
            let name = |decision: Decision| Some(decision.name().to_owned());
            replayed.differences.push(Difference { field: "decision", then: name(replayed.then), now: name(now) });
        }
        for (id, opinion) in &effects.opinions {
            let parts = added(&entry.record, opinion, replayed.then != now && opinion.decision() == now);
            if !parts.is_empty() {
                replayed.changed_hooks.push(id.clone());
            }
            replayed.differences.extend(parts);
        }
        // Without a rule that applies, the decision is weaker because a rule no longer applies.
        if replayed.is_changed() && replayed.changed_hooks.is_empty() {
            let recorded = entry.record.hooks.iter().map(|hook| &hook.id);
            replayed.changed_hooks = recorded.filter(|id| is_replaced(id)).cloned().collect();
        }
        self.sessions.add(&entry.event, milliseconds, now, effects.labels);
        replayed
    }

    fn effects(&mut self, entry: &Entry, time: Option<Timestamp>, milliseconds: i64) -> Effects {
        let event = &entry.event;
        let project = entry.project.as_deref().map(PathBuf::from);
        let cwd = event.envelope.cwd.as_deref().map(PathBuf::from);
        let mut context = FactContext::new(cwd.or_else(|| project.clone()).unwrap_or_default());
        context.agent = entry.agent.clone().unwrap_or_default();
        context.home = self.home_of(&context.cwd);
        context.start = project.unwrap_or_else(|| context.cwd.clone());
        context.now = time.map(|time| time.to_zoned(TimeZone::system()));
        context.user = context.home.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into();
        context.history = self.sessions.before(event, milliseconds);
        let facts = Facts::new(event.clone(), context);
        let mut effects = Effects::default();
        let limited = self.engine.as_ref().map(|engine| engine.explain(event)).unwrap_or_default();
        for (position, _) in self.set.select(event) {
            let Some((hook, rule)) = self.rules.get(position) else { continue };
            let is_same = |id: &str| id == hook.info.id;
            if limited.iter().any(|planned| is_same(&planned.hook.info.id) && planned.why_not.is_some()) {
                continue;
            }
            let opinion = opinion(hook, rule, &facts, event);
            if let Some(label) = rule.label()
                && rule.explain(&facts).is_ok_and(|evaluation| evaluation.value == Ok(true))
            {
                effects.labels.push(label.to_owned());
            }
            if opinion != Opinion::none() {
                effects.opinions.push((hook.info.id.clone(), opinion));
            }
        }
        effects
    }

    /// Returns the home directory of the user whose session was recorded. Recordings can come from another account or machine.
    fn home_of(&self, cwd: &Path) -> Option<PathBuf> {
        match &self.home {
            Some(home) if cwd.starts_with(home) => return Some(home.clone()),
            _ => {}
        }
        let other = ["/home", "/Users"].into_iter().find_map(|parent| {
            let name = cwd.strip_prefix(parent).ok()?.components().next()?;
            Some(Path::new(parent).join(name))
        });
        other.or_else(|| self.home.clone())
    }
}

/// Returns the recorded decision without the hooks that are replaced.
fn without(record: &Record, is_replaced: &dyn Fn(&str) -> bool) -> Decision {
    if !record.hooks.iter().any(|hook| is_replaced(&hook.id)) {
        return record.verdict.decision;
    }
    let reasons = record.verdict.reasons.iter().filter(|reason| !is_replaced(&reason.hook));
    reasons.map(|reason| reason.decision).max().unwrap_or(Decision::NoOpinion)
}

/// Returns the opinion of a rule. A rule that fails has the effect of its failure policy.
fn opinion(hook: &HookSpec, rule: &Rule, facts: &Facts, event: &Event) -> Opinion {
    let HandlerSpec::Rule(spec) = &hook.handler else { return Opinion::none() };
    let kind = event.kind();
    let default = if hook.dialect.is_gate(&kind) { FailurePolicy::Ask } else { FailurePolicy::Open };
    match rule.opinion(&hook.info.id, facts, spec.unknown.unwrap_or(default)) {
        Ok(opinion) => opinion,
        Err(failure) => match hook.failure_effect(&kind, FailureKind::Error) {
            FailurePolicy::Closed => Opinion::deny(failure.message),
            FailurePolicy::Ask => Opinion::ask(failure.message),
            FailurePolicy::Open => Opinion::none(),
        },
    }
}

/// Returns everything that an opinion adds to the recorded verdict. `decides`: its decision is the new one.
fn added(record: &Record, opinion: &Opinion, decides: bool) -> Vec<Difference> {
    let verdict = &record.verdict;
    let mut parts = Vec::new();
    let mut add = |field, text: &str| parts.push(Difference { field, then: None, now: Some(text.to_owned()) });
    if decides {
        add("reason", opinion.reason().unwrap_or_default());
    }
    for rewrite in opinion.rewrites() {
        add(rewrite.target.name(), rewrite.value.as_str());
    }
    for text in opinion.contexts().iter().filter(|text| !verdict.context.contains(text)) {
        add("context", text);
    }
    for text in opinion.messages().iter().filter(|text| !verdict.system_messages.contains(text)) {
        add("system_messages", text);
    }
    parts
}

#[cfg(test)]
mod tests {
    use checkrein_core::Scope;
    use checkrein_dialects::agents::{claude, native};
    use checkrein_document::Format;
    use serde_json::json;

    use super::*;
    use crate::recording::RecordedEvent;

    const RULES: &str = r#"
packs: [{ pack: git, ask: [git.push-any] }]
hooks:
  - { id: no-env, when: 'paths.exists(p, p.name == ".env")', ask: "read ${paths[0].name}?", label: secret }
  - { id: no-key, when: 'paths.exists(p, p.name == "own.key")', deny: no, label: secret }
  - { id: after, when: 'history.seen("secret") && commands.exists(c, c.program == "curl")', deny: nothing leaves }
  - { id: loop, when: 'history.since("5m").repeats >= 1', ask: again }
  - { id: late, when: now.hour < 30 && cwd == "/home/ann/app" && home == "/home/ann", context: hello }
"#;

    fn replay(text: &str) -> RuleReplay {
        let decoded = native::DIALECT.decode("rules.yaml", Scope::User, text, Format::Yaml);
        assert_eq!(decoded.diagnostics, []);
        RuleReplay::new(decoded.hooks).unwrap()
    }

    fn entry(line: u64, minute: u64, session: &str, command: &str, decision: Decision) -> Entry {
        let event = json!({
            "event": "pre_tool_use", "session_id": session, "cwd": "/srv/app",
            "tool_name": "Bash", "tool_input": { "command": command },
        });
        let event = claude::DIALECT.with_common_names(Event::from_json(&event.to_string()).unwrap());
        let recorded = RecordedEvent::new(&claude::DIALECT, Path::new("/srv/app"), &event, None);
        let json = checkrein_core::RawJson::parse(recorded.line(false).unwrap()).unwrap();
        let mut entry = Entry::from_json(line, &json).unwrap();
        entry.time = Some(format!("2026-11-18T10:{minute:02}:00Z"));
        entry.record.verdict.decision = decision;
        entry
    }

    #[test]
    fn changed_calls_have_their_rules_in_the_order_of_the_recording() {
        let mut replay = replay(RULES);
        let none = Decision::NoOpinion;
        let entries = [
            entry(1, 0, "a", "curl https://x.test", none),
            entry(2, 1, "a", "cat .env", none),
            entry(3, 2, "a", "curl https://x.test", none),
            // Another session has no label.
            entry(4, 3, "b", "curl https://x.test", none),
            entry(5, 4, "b", "curl https://x.test", none),
            // Too late for `since`.
            entry(6, 30, "b", "curl https://x.test", none),
            entry(7, 31, "b", "git push origin fix", none),
            entry(8, 32, "b", "git push origin fix", Decision::Deny),
            // A denied call sets no label.
            entry(9, 33, "c", "cat own.key", none),
            entry(10, 34, "c", "curl https://x.test", none),
        ];
        let mut changes = Vec::new();
        let report = replay.run(entries.map(Ok), |one| {
            let one = one.unwrap();
            if one.is_changed() {
                changes.push((one.line, one.now, one.changed_hooks.join(" ")));
            }
            false
        });
        let wanted = [
            (2, Decision::Ask, "no-env".to_owned()),
            (3, Decision::Deny, "after".to_owned()),
            (5, Decision::Ask, "loop".to_owned()),
            (7, Decision::Ask, "git.push-any".to_owned()),
            (9, Decision::Deny, "no-key".to_owned()),
        ];
        assert_eq!(changes, wanted);
        assert_eq!((report.events, report.changed), (10, 5));
    }

    #[test]
    fn rule_replaces_the_recorded_hook_with_its_id() {
        let mut replay = replay("hooks: [{ id: guard, when: 'commands.exists(c, c.program == \"mv\")', deny: no }]");
        let mut recorded = entry(1, 0, "a", "rm x", Decision::Deny);
        let hook = json!({
            "id": "guard", "source": { "scope": "user" }, "handler": "rule", "outcome": "opinion", "decision": "deny",
            "truncated": false,
        });
        recorded.record.hooks.push(serde_json::from_value(hook).unwrap());
        let replayed = replay.evaluate(&recorded);
        assert_eq!((replayed.then, replayed.now), (Decision::Deny, Decision::NoOpinion));
        assert_eq!(replayed.changed_hooks, ["guard"]);
    }

    #[test]
    fn directories_are_those_of_the_recording() {
        let mut replay = replay(RULES);
        let mut recorded = entry(1, 0, "a", "ls", Decision::NoOpinion);
        assert!(!replay.evaluate(&recorded).is_changed());
        recorded.event.envelope.cwd = Some("/home/ann/app".to_owned());
        assert_eq!(replay.evaluate(&recorded).changed_hooks, ["loop", "late"]);
    }
}
