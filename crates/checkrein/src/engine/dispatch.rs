//! Dispatch of one event: selects hooks, runs them in the order of the rules, and settles the verdict.
//!
//! [`Engine::fire`](super::Engine::fire) and its variants call [`fire`]. No rewrite gets past the administrator's hooks
//! unchecked.

use std::sync::Arc;
use std::time::Instant;

use checkrein_core::{
    BlockEffect, ChainEnd, ChainStep, Decision, Event, Failure, FailureKind, FailurePolicy, HookInfo, HookRecord,
    Opinion, Record, Rules, RunOrder, Scope, Settlement, Source, Verdict, catch_panic,
};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::runtime::{Handle, RuntimeFlavor};
use tracing::{Instrument, debug, debug_span};

use super::dry_run::DryRunOutcomes;
use super::execute::{self, Permit, RunResult};
use super::hooks::{Claim, LoadedHooks};
use super::parallel::AbortOnDropSet;
use super::{PreparedEvent, Shared, approve};
use crate::approver::Approver;
use crate::handler::EventView;
use crate::policy::record_event;
use crate::session_store::session_of;
use checkrein_dialects::HandlerSpec;

type SelectedHook = (usize, Claim);

/// Fires an event. Stores a record in `record` if the caller passes one.
pub(super) async fn fire(
    shared: &Arc<Shared>,
    prepared: PreparedEvent,
    record: Option<&mut Option<Record>>,
) -> Verdict {
    fire_with(shared, prepared, record, shared.approver.as_ref()).await
}

/// As [`fire`], with this approver.
pub(super) async fn fire_with(
    shared: &Arc<Shared>,
    prepared: PreparedEvent,
    record: Option<&mut Option<Record>>,
    approver: Option<&Arc<dyn Approver>>,
) -> Verdict {
    let PreparedEvent { event, without_envelope } = prepared;
    let span = debug_span!("checkrein.fire", event = %event.kind());
    async {
        let Selection { hooks, waited, in_background, rules } = select(shared, &event);
        let wants_records = record.is_some() || !shared.observers.is_empty() || shared.is_audited();
        let has_dry_runs = waited.iter().any(|(_, claim)| claim.hook.spec.info.dry_run);
        let uses_history = hooks.uses_history;
        let mut dispatch = Dispatch {
            shared,
            hooks,
            settlement: Settlement::new(&rules, &event),
            order: rules.order,
            original: Arc::clone(&event),
            view: None,
            parent_view: None,
            wants_records,
            records: Vec::new(),
            rewritten_since_managed: false,
            withheld: None,
            silent_rules: 0,
            outcomes: (wants_records && has_dry_runs).then(DryRunOutcomes::default),
        };
        if let Some(panic) = without_envelope {
            let failure = Failure::from(panic);
            let _ = dispatch.settlement.push_failure(usize::MAX, &in_code("envelope"), &failure);
        }
        match Handle::try_current() {
            Ok(_) => dispatch.run_all(waited, in_background).await,
            Err(_) => {
                let message = "`fire` was called outside a tokio runtime; call `fire_blocking` instead";
                let failure = Failure::new(FailureKind::Spawn, message);
                let _ = dispatch.settlement.push_failure(usize::MAX, &in_code("engine"), &failure);
            }
        }
        dispatch.warn_withheld_env();
        let Dispatch { settlement, mut records, outcomes, silent_rules, .. } = dispatch;
        let mut settled = settlement.finish();
        if let Some(approver) = approver
            && settled.decision() == Decision::Ask
        {
            settled = approve::resolve(shared, &rules, &event, settled, approver).await;
        }
        if let Some(outcomes) = outcomes {
            outcomes.note(&rules, &event, &settled, &mut records);
        }
        let decision = settled.decision();
        let mut verdict = shared.stops.after(&event, settled);
        if let Some(tag) = shared.rules.rules_for(&event.kind()).chain_end.tag()
            && verdict.decision() != decision
        {
            verdict = verdict.without_metadata(tag);
        }
        if uses_history {
            record_event(&*shared.sessions, &event, verdict.decision());
        }
        debug!(name: "checkrein.settled", decision = %verdict.decision(), warnings = verdict.warnings().len());
        records.sort_by_key(|(position, _)| *position);
        let is_observed = !shared.observers.is_empty() && !records.is_empty();
        if record.is_some() || is_observed || shared.is_audited() {
            let mut kept = Record::new(&event, shared.rules.name(), &verdict, records);
            kept.silent_rules = silent_rules;
            #[cfg(feature = "audit")]
            for log in shared.audit.iter().chain(shared.hooks.load().audit.as_deref()) {
                verdict = log.append_record(&event, &rules, verdict, &mut kept);
            }
            if is_observed {
                for observer in &shared.observers {
                    if let Err(panic) = catch_panic(|| observer.settled(&kept)) {
                        verdict = verdict.with_observer_failure(in_code("observer"), panic.into());
                    }
                }
            }
            if let Some(record) = record {
                *record = Some(kept);
            }
        }
        verdict
    }
    .instrument(span)
    .await
}

impl Shared {
    /// `true` if there is an audit log.
    fn is_audited(&self) -> bool {
        #[cfg(feature = "audit")]
        return self.audit.is_some() || self.hooks.load().audit.is_some();
        #[cfg(not(feature = "audit"))]
        return false;
    }
}

/// The hooks that match an event, and the rules that settle it.
struct Selection {
    hooks: Arc<LoadedHooks>,
    waited: Vec<SelectedHook>,
    in_background: Vec<SelectedHook>,
    rules: Rules,
}

fn select(shared: &Shared, event: &Event) -> Selection {
    let hooks = shared.hooks.load_full();
    let mut rules = shared.rules.rules_for(&event.kind());
    rules.compat = shared.compat.or(hooks.compat).unwrap_or(rules.compat);
    // A refusal that has no effect does not end the chain.
    if shared.stops.is_reached(event) {
        rules.chain_end = ChainEnd::Never;
    }
    let session = session_of(event);
    let mut waited: Vec<SelectedHook> = hooks
        .set
        .select(event)
        .filter_map(|(position, _)| Some((position, hooks.get(position).claim(&shared.sessions, session)?)))
        .collect();
    let in_background = waited.extract_if(.., |(_, claim)| claim.hook.spec.background).collect();
    Selection { hooks, waited, in_background, rules }
}

/// Returns the event with the alias of its tool in front that the hook's matcher accepts: the payload has that name. A patch can be
/// an `Edit` and a `Write`, and the name of an MCP tool can be ambiguous.
fn named_as_matched(view: Arc<EventView>, claim: &Claim) -> Arc<EventView> {
    // Rules see all names, and share the facts of one view.
    if !view.event.has_tool_aliases() || matches!(claim.hook.spec.handler, HandlerSpec::Rule(_)) {
        return view;
    }
    match view.event.with_preferred_alias(|alias| claim.hook.spec.matcher.matches(alias)) {
        Some(event) => Arc::new(EventView::new(Arc::new(event), view.original.clone())),
        None => view,
    }
}

fn is_managed((_, claim): &SelectedHook) -> bool {
    claim.hook.spec.info.is_managed()
}

fn is_immediate((_, claim): &SelectedHook) -> bool {
    claim.hook.handler.as_ref().is_ok_and(|handler| handler.is_immediate())
}

fn declares_rewrites((_, claim): &SelectedHook) -> bool {
    claim.hook.spec.info.declares_rewrites
}

struct Dispatch<'a> {
    shared: &'a Arc<Shared>,
    hooks: Arc<LoadedHooks>,
    settlement: Settlement<'a>,
    order: RunOrder,
    original: Arc<Event>,
    /// The event as the next hook sees it. `None` after a rewrite.
    view: Option<Arc<EventView>>,
    /// The event as hooks of the parent kind see it: `PreToolUse` for `PreShell`.
    parent_view: Option<Arc<EventView>>,
    wants_records: bool,
    records: Vec<(usize, HookRecord)>,
    /// `true` after a rewrite that the administrator's hooks have not checked.
    rewritten_since_managed: bool,
    /// The first hook with withheld variables, and the names of all withheld variables.
    withheld: Option<(usize, Arc<HookInfo>, Vec<String>)>,
    /// Number of rules that were evaluated and do not apply. They have no records.
    silent_rules: u32,
    /// Outcomes of all hooks, if one of them is a dry run.
    outcomes: Option<DryRunOutcomes>,
}

impl Dispatch<'_> {
    async fn run_all(&mut self, hooks: Vec<SelectedHook>, in_background: Vec<SelectedHook>) {
        self.run_by_order(hooks, in_background).await;
        if self.rewritten_since_managed {
            self.recheck_managed().await;
        }
    }

    async fn run_by_order(&mut self, hooks: Vec<SelectedHook>, in_background: Vec<SelectedHook>) {
        match self.order {
            RunOrder::Phased => {
                let mut others = hooks;
                let rewriters = others.extract_if(.., |hook| declares_rewrites(hook)).collect();
                let step = self.run_sequential(rewriters).await;
                if self.rewritten_since_managed && step == ChainStep::Next {
                    others = self.run_managed_rewriters(others).await;
                }
                // After the rewriters: background hooks must not see what they removed.
                self.start_in_background(in_background);
                match step {
                    ChainStep::Next => self.run_parallel(others).await,
                    ChainStep::End => self.record_skipped(others),
                }
            }
            RunOrder::Pipeline => {
                let _ = self.run_sequential(hooks).await;
                self.start_in_background(in_background);
            }
            RunOrder::Parallel => {
                self.start_in_background(in_background);
                self.run_parallel(hooks).await;
            }
            // Every hook sees the original event: by these rules the settlement returns no rewritten one.
            RunOrder::Sequential => {
                self.start_in_background(in_background);
                let _ = self.run_sequential(hooks).await;
            }
        }
    }

    /// Runs the administrator's hooks that match the rewritten event, including those that ran before the rewrite.
    async fn recheck_managed(&mut self) {
        self.settlement.compose_rewrites();
        self.view = None;
        let others = self.run_managed_rewriters(Vec::new()).await;
        self.run_parallel(others).await;
    }

    /// Runs the administrator's rewriters on the rewritten event.
    ///
    /// Returns the hooks to run next: `others`, with the administrator's hooks that match the event now.
    async fn run_managed_rewriters(&mut self, others: Vec<SelectedHook>) -> Vec<SelectedHook> {
        let mut others: Vec<_> = others.into_iter().filter(|hook| !is_managed(hook)).collect();
        let (rewriters, _) = self.matching_managed();
        let _ = self.run_sequential(rewriters).await;
        others.extend(self.matching_managed().1);
        others.sort_by_key(|(position, _)| *position);
        self.rewritten_since_managed = false;
        others
    }

    /// Returns the administrator's hooks that match the event as it is now: rewriters, and all others.
    fn matching_managed(&mut self) -> (Vec<SelectedHook>, Vec<SelectedHook>) {
        let view = self.view();
        let session = session_of(&view.event);
        let managed = self.hooks.set.select(&view.event).filter(|(_, hook)| hook.info.is_managed());
        let loaded = managed.map(|(position, _)| (position, self.hooks.get(position)));
        let waited = loaded.filter(|(_, hook)| !hook.spec.background);
        waited
            .filter_map(|(position, hook)| Some((position, hook.claim(&self.shared.sessions, session)?)))
            .partition(declares_rewrites)
    }

    fn start_in_background(&mut self, hooks: Vec<SelectedHook>) {
        for (position, claim) in hooks {
            let view = self.view_for(&claim);
            let spec = Arc::clone(&claim.hook.spec);
            let (info, kind) = (&spec.info, spec.handler.kind().name());
            self.records.push(match self.shared.background.start(self.shared, claim, &view) {
                Ok(()) => (position, HookRecord::for_skipped(info, kind, "runs in the background (cannot block)")),
                Err(why) => {
                    let failure = Failure::new(FailureKind::Spawn, why).with_effect(FailurePolicy::Open);
                    let _ = self.settlement.push_failure(position, info, &failure);
                    (position, HookRecord::from_failure(info, kind, &failure))
                }
            });
        }
    }

    async fn run_sequential(&mut self, hooks: Vec<SelectedHook>) -> ChainStep {
        let mut hooks = hooks.into_iter();
        while let Some((position, claim)) = hooks.next() {
            let view = self.view_for(&claim);
            let done = execute::run(self.shared, &claim.hook, &view, Permit::Wait, self.wants_records).await;
            if self.apply_result(position, claim, done, RunMode::Sequential) == ChainStep::End {
                self.record_skipped(hooks.collect());
                return ChainStep::End;
            }
        }
        ChainStep::Next
    }

    async fn run_parallel(&mut self, mut hooks: Vec<SelectedHook>) {
        // Rules take less time than starting a task.
        if self.shared.observers.is_empty() {
            let now = Instant::now();
            for (position, claim) in hooks.extract_if(.., |hook| is_immediate(hook)).collect::<Vec<_>>() {
                self.run_now(position, claim, now);
            }
        }
        if hooks.len() < 2 {
            let _ = self.run_sequential(hooks).await;
            return;
        }
        let mut hooks: Vec<(SelectedHook, Arc<EventView>)> = hooks
            .into_iter()
            .map(|hook| {
                let view = self.view_for(&hook.1);
                (hook, view)
            })
            .collect();
        let wants = self.wants_records;
        let has_threads =
            Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() != RuntimeFlavor::CurrentThread);
        if has_threads {
            let mut running = AbortOnDropSet::new();
            // The last hook runs on the current task.
            let last = hooks.pop().map(|(hook, view)| run(self.shared, hook, &view, wants));
            for (hook, view) in hooks {
                running.start(run(self.shared, hook, &view, wants));
            }
            if let Some(last) = last {
                let (position, claim, done) = last.await;
                let _ = self.apply_result(position, claim, done, RunMode::Parallel);
            }
            while let Some((position, claim, done)) = running.next().await {
                let _ = self.apply_result(position, claim, done, RunMode::Parallel);
            }
            return;
        }
        let mut running: FuturesUnordered<_> =
            hooks.into_iter().map(|(hook, view)| run(self.shared, hook, &view, wants)).collect();
        while let Some((position, claim, done)) = running.next().await {
            let _ = self.apply_result(position, claim, done, RunMode::Parallel);
        }
    }

    /// Runs a hook whose handler does not wait.
    fn run_now(&mut self, position: usize, claim: Claim, now: Instant) {
        let view = self.view_for(&claim);
        let Some(done) = execute::run_now(self.shared, &claim.hook, &view, self.wants_records, now) else { return };
        if done.record.is_none() && done.result.as_ref().is_ok_and(Opinion::is_none) {
            self.silent_rules += 1;
            return claim.settle(&done.result);
        }
        let _ = self.apply_result(position, claim, done, RunMode::Parallel);
    }

    /// Returns the event as a hook sees it: of the parent kind if the hook is for that kind.
    fn view_for(&mut self, claim: &Claim) -> Arc<EventView> {
        let view = self.view();
        if !view.event.runs_parent_hooks() || claim.hook.spec.kinds.contains(&view.event.kind()) {
            return named_as_matched(view, claim);
        }
        if let Some(view) = &self.parent_view {
            return Arc::clone(view);
        }
        let Some(event) = view.event.as_parent_kind() else { return view };
        let original = view.original.as_ref().and_then(|original| original.as_parent_kind()).map(Arc::new);
        Arc::clone(self.parent_view.insert(Arc::new(EventView::new(Arc::new(event), original))))
    }

    /// Returns the event with all rewrites so far.
    fn view(&mut self) -> Arc<EventView> {
        if let Some(view) = &self.view {
            return Arc::clone(view);
        }
        let view = Arc::new(match self.settlement.rewritten_event() {
            Some(event) => EventView::new(Arc::new(event), Some(Arc::clone(&self.original))),
            None => EventView::new(Arc::clone(&self.original), None),
        });
        Arc::clone(self.view.insert(view))
    }

    /// Settles the result of a run.
    fn apply_result(&mut self, position: usize, claim: Claim, done: RunResult, mode: RunMode) -> ChainStep {
        let hook = Arc::clone(&claim.hook);
        let info = &hook.spec.info;
        claim.settle(&done.result);
        for panic in done.broken_observers {
            let failure = Failure::from(panic).with_effect(FailurePolicy::Open);
            let _ = self.settlement.push_failure(position, &in_code("observer"), &failure);
        }
        if !done.left_running.is_empty() {
            let text = format!("left processes running: {}", done.left_running.join(", "));
            self.settlement.warn(position, info, text);
        }
        if let Ok(handler) = &hook.handler
            && !handler.withheld_env().is_empty()
            && !info.dry_run
        {
            self.note_withheld(position, info, handler.withheld_env());
        }
        self.records.extend(done.record.map(|record| (position, record)));
        if let Some(outcomes) = &mut self.outcomes {
            outcomes.push(position, info, &done.result, mode == RunMode::Sequential);
        }
        match &done.result {
            Ok(opinion) => {
                let rewrote = !opinion.rewrites().is_empty() && !info.dry_run;
                if rewrote {
                    self.view = None;
                    self.parent_view = None;
                }
                let step = self.settlement.push(position, info, opinion);
                // Rewrites by managed hooks need no recheck, unless they ended the chain before other managed hooks ran.
                let needs_check = !info.is_managed() || step == ChainStep::End;
                self.rewritten_since_managed |= rewrote && needs_check && self.hooks.has_managed;
                step
            }
            Err(failure) => self.settlement.push_failure(position, info, failure),
        }
    }

    fn note_withheld(&mut self, position: usize, info: &Arc<HookInfo>, names: &[String]) {
        let (first, hook, all) = self.withheld.get_or_insert_with(|| (position, Arc::clone(info), Vec::new()));
        if position < *first {
            (*first, *hook) = (position, Arc::clone(info));
        }
        all.extend(names.iter().filter(|name| !all.contains(name)).cloned().collect::<Vec<_>>());
    }

    /// Warns once for all hooks. The warning has names of variables, never values.
    fn warn_withheld_env(&mut self) {
        let Some((position, hook, mut names)) = self.withheld.take() else { return };
        // A changed `PATH` affects every program.
        names.sort_by_key(|name| (name != "PATH", name.clone()));
        let others = names.split_off(names.len().min(SHOWN_VARIABLES)).len();
        // Only entries are removed from `PATH`.
        if let Some(path) = names.first_mut().filter(|name| *name == "PATH") {
            *path = "parts of PATH".to_owned();
        }
        let mut names = names.join(", ");
        if others > 0 {
            names.push_str(&format!(" and {others} others"));
        }
        let text = format!(
            "environment variables withheld from hooks: {names}; to pass them on, add them to `env_allow` \
             in your own hooks file"
        );
        self.settlement.warn_persistent(position, &hook, text);
    }

    fn record_skipped(&mut self, hooks: Vec<SelectedHook>) {
        for (position, claim) in hooks {
            let spec = &claim.hook.spec;
            let why = "an earlier hook ended the chain";
            self.records.push((position, HookRecord::for_skipped(&spec.info, spec.handler.kind().name(), why)));
        }
    }
}

/// Maximum number of withheld variables in a warning.
const SHOWN_VARIABLES: usize = 8;

/// Relation of a run to the runs of other hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunMode {
    /// Later hooks wait for it.
    Sequential,
    Parallel,
}

/// Runs a hook. Returns its position and claim with the result.
fn run(
    shared: &Arc<Shared>,
    (position, claim): SelectedHook,
    view: &Arc<EventView>,
    wants_record: bool,
) -> impl Future<Output = (usize, Claim, RunResult)> + Send + 'static + use<> {
    let (shared, view) = (Arc::clone(shared), Arc::clone(view));
    async move {
        let done = execute::run(&shared, &claim.hook, &view, Permit::Wait, wants_record).await;
        (position, claim, done)
    }
}

/// Pseudo-hook for failures of the host's own code, such as an observer.
pub(super) fn in_code(name: &str) -> Arc<HookInfo> {
    Arc::new(HookInfo::new(name, Source::for_scope(Scope::Code)))
}

/// `true` if a deny at this event makes the agent continue.
pub(super) fn is_stop(event: &Event) -> bool {
    event.kind().contract().block == BlockEffect::Continue
}
