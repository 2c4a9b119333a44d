//! The way of one event: which hooks run when, and what comes of it.

use std::sync::Arc;

use checkrein_core::{
    BlockEffect, ChainStep, Event, Failure, FailureKind, FailurePolicy, HookInfo, HookRecord, Record, Rules, RunOrder,
    Scope, Settlement, Source, Verdict, catch_panic,
};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::runtime::{Handle, RuntimeFlavor};
use tracing::{Instrument, debug, debug_span};

use super::dry_run::DryRunOutcomes;
use super::execute::{self, Permit, RunResult};
use super::hooks::{Claim, LoadedHooks};
use super::parallel::AbortOnDropSet;
use super::{PreparedEvent, Shared};
use crate::handler::EventView;
use crate::session_store::session_of;

type SelectedHook = (usize, Claim);

pub(super) async fn fire(shared: &Arc<Shared>, begun: PreparedEvent, record: Option<&mut Option<Record>>) -> Verdict {
    let PreparedEvent { event, without_envelope } = begun;
    let span = debug_span!("checkrein.fire", event = %event.kind());
    async {
        let Selection { hooks, waited, in_background, rules } = choose(shared, &event);
        let wants_records = record.is_some() || !shared.observers.is_empty() || shared.is_audited();
        let has_dry_runs = waited.iter().any(|(_, claim)| claim.hook.spec.info.dry_run);
        let mut driver = Dispatch {
            shared,
            hooks,
            settlement: Settlement::new(&rules, &event),
            order: rules.order,
            original: Arc::clone(&event),
            moment: None,
            general: None,
            wants_records,
            records: Vec::new(),
            unseen: false,
            held_back: None,
            outcomes: (wants_records && has_dry_runs).then(DryRunOutcomes::default),
        };
        if let Some(panic) = without_envelope {
            let failure = Failure::from(panic);
            let _ = driver.settlement.push_failure(usize::MAX, &in_code("envelope"), &failure);
        }
        match Handle::try_current() {
            Ok(_) => driver.drive(waited, in_background).await,
            Err(_) => {
                let why = "hooks need a tokio runtime, and there is none here; `fire_blocking` brings its own";
                let failure = Failure::new(FailureKind::Spawn, why);
                let _ = driver.settlement.push_failure(usize::MAX, &in_code("engine"), &failure);
            }
        }
        driver.tell_what_was_held_back();
        let Dispatch { settlement, mut records, outcomes, .. } = driver;
        let settled = settlement.finish();
        if let Some(outcomes) = outcomes {
            outcomes.note(&rules, &event, &settled, &mut records);
        }
        let mut verdict = shared.stops.after(&event, settled);
        debug!(name: "checkrein.settled", decision = %verdict.decision(), warnings = verdict.warnings().len());
        records.sort_by_key(|(position, _)| *position);
        let told = !shared.observers.is_empty() && !records.is_empty();
        if record.is_some() || told || shared.is_audited() {
            #[cfg_attr(not(feature = "audit"), expect(unused_mut, reason = "nothing is written down"))]
            let mut kept = Record::new(&event, shared.rules.name(), &verdict, records);
            #[cfg(feature = "audit")]
            for log in shared.audit.iter().chain(shared.hooks.load().audit.as_deref()) {
                verdict = log.take(&event, &rules, verdict, &mut kept);
            }
            for observer in shared.observers.iter().filter(|_| told) {
                if let Err(panic) = catch_panic(|| observer.settled(&kept)) {
                    verdict = verdict.with_observer_failure(in_code("observer"), panic.into());
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
    /// Whether what hooks decide is written down.
    fn is_audited(&self) -> bool {
        #[cfg(feature = "audit")]
        return self.audit.is_some() || self.hooks.load().audit.is_some();
        #[cfg(not(feature = "audit"))]
        return false;
    }
}

/// The hooks that fit, those that are waited for and those that are not, and how they settle.
struct Selection {
    hooks: Arc<LoadedHooks>,
    waited: Vec<SelectedHook>,
    in_background: Vec<SelectedHook>,
    rules: Rules,
}

fn choose(shared: &Shared, event: &Event) -> Selection {
    let hooks = shared.hooks.load_full();
    let mut rules = shared.rules.at(&event.kind());
    rules.compat = shared.compat.or(hooks.compat).unwrap_or(rules.compat);
    let session = session_of(event);
    let mut waited: Vec<SelectedHook> = hooks
        .set
        .select(event)
        .filter_map(|(position, _)| Some((position, hooks.get(position).claim(&shared.sessions, session)?)))
        .collect();
    let in_background = waited.extract_if(.., |(_, claim)| claim.hook.spec.background).collect();
    Selection { hooks, waited, in_background, rules }
}

fn is_managed((_, claim): &SelectedHook) -> bool {
    claim.hook.spec.info.is_managed()
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
    /// The event as the next hook sees it; none if it has been rewritten since.
    moment: Option<Arc<EventView>>,
    /// The same for hooks for all tools, at an event that is only for some.
    general: Option<Arc<EventView>>,
    wants_records: bool,
    records: Vec<(usize, HookRecord)>,
    /// Whether something was rewritten that an administrator's hooks have not seen.
    unseen: bool,
    /// The first hook that did not get all that its agent would have passed on, and what any of them did not get.
    held_back: Option<(usize, Arc<HookInfo>, Vec<String>)>,
    /// Outcomes of all hooks, if one of them is a dry run.
    outcomes: Option<DryRunOutcomes>,
}

impl Dispatch<'_> {
    async fn drive(&mut self, hooks: Vec<SelectedHook>, in_background: Vec<SelectedHook>) {
        self.run_by_order(hooks, in_background).await;
        if self.unseen {
            self.recheck_managed().await;
        }
    }

    async fn run_by_order(&mut self, hooks: Vec<SelectedHook>, in_background: Vec<SelectedHook>) {
        match self.order {
            RunOrder::Phased => {
                let mut others = hooks;
                let rewriters = others.extract_if(.., |chosen| declares_rewrites(chosen)).collect();
                let step = self.run_sequential(rewriters).await;
                if self.unseen && step == ChainStep::Next {
                    others = self.seen_by_managed(others).await;
                }
                // Nobody but rewriters sees what they took out.
                self.start(in_background);
                match step {
                    ChainStep::Next => self.run_parallel(others).await,
                    ChainStep::End => self.record_skipped(others),
                }
            }
            RunOrder::Pipeline => {
                let _ = self.run_sequential(hooks).await;
                self.start(in_background);
            }
            RunOrder::Parallel => {
                self.start(in_background);
                self.run_parallel(hooks).await;
            }
            // One after the other on the original: the settlement shows nothing else.
            RunOrder::Sequential => {
                self.start(in_background);
                let _ = self.run_sequential(hooks).await;
            }
        }
    }

    /// Lets an administrator's hooks have the last word on what others have made of the event: each that fits it now judges
    /// it, also those that have judged something else before.
    async fn recheck_managed(&mut self) {
        self.settlement.compose_rewrites();
        self.moment = None;
        let others = self.seen_by_managed(Vec::new()).await;
        self.run_parallel(others).await;
    }

    /// Lets an administrator's rewriters run on what others have made of the event. Gives the hooks that run next: these,
    /// with those of the administrator that fit what the event is now.
    async fn seen_by_managed(&mut self, others: Vec<SelectedHook>) -> Vec<SelectedHook> {
        let mut others: Vec<_> = others.into_iter().filter(|chosen| !is_managed(chosen)).collect();
        let (rewriters, _) = self.managed();
        let _ = self.run_sequential(rewriters).await;
        others.extend(self.managed().1);
        others.sort_by_key(|(position, _)| *position);
        self.unseen = false;
        others
    }

    /// An administrator's hooks that fit what the event is now: those that declare rewrites, and all others.
    fn managed(&mut self) -> (Vec<SelectedHook>, Vec<SelectedHook>) {
        let moment = self.moment();
        let session = session_of(&moment.event);
        let fit = self.hooks.set.select(&moment.event).filter(|(_, hook)| hook.info.is_managed());
        let loaded = fit.map(|(position, _)| (position, self.hooks.get(position)));
        let waited = loaded.filter(|(_, hook)| !hook.spec.background);
        waited
            .filter_map(|(position, hook)| Some((position, hook.claim(&self.shared.sessions, session)?)))
            .partition(declares_rewrites)
    }

    fn start(&mut self, hooks: Vec<SelectedHook>) {
        if hooks.is_empty() {
            return;
        }
        for (position, claim) in hooks {
            let moment = self.view_for(&claim);
            let spec = Arc::clone(&claim.hook.spec);
            let (info, kind) = (&spec.info, spec.handler.kind().name());
            self.records.push(match self.shared.background.start(self.shared, claim, &moment) {
                Ok(()) => (position, HookRecord::of_skipped(info, kind, "runs in the background")),
                Err(why) => {
                    let failure = Failure::new(FailureKind::Spawn, why).with_effect(FailurePolicy::Open);
                    let _ = self.settlement.push_failure(position, info, &failure);
                    (position, HookRecord::of_failure(info, kind, &failure))
                }
            });
        }
    }

    async fn run_sequential(&mut self, hooks: Vec<SelectedHook>) -> ChainStep {
        let mut hooks = hooks.into_iter();
        while let Some((position, claim)) = hooks.next() {
            let moment = self.view_for(&claim);
            let done = execute::run(self.shared, &claim.hook, &moment, Permit::Wait, self.wants_records).await;
            if self.take(position, claim, done, RunMode::Yes) == ChainStep::End {
                self.record_skipped(hooks.collect());
                return ChainStep::End;
            }
        }
        ChainStep::Next
    }

    async fn run_parallel(&mut self, hooks: Vec<SelectedHook>) {
        if hooks.len() < 2 {
            let _ = self.run_sequential(hooks).await;
            return;
        }
        let mut hooks: Vec<(SelectedHook, Arc<EventView>)> = hooks
            .into_iter()
            .map(|hook| {
                let moment = self.view_for(&hook.1);
                (hook, moment)
            })
            .collect();
        let wants = self.wants_records;
        // One thread has no other to give work to.
        let spreads = Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() != RuntimeFlavor::CurrentThread);
        if spreads {
            let mut running = AbortOnDropSet::new();
            // The last one runs right here.
            let own = hooks.pop().map(|(hook, moment)| run(self.shared, hook, &moment, wants));
            for (hook, moment) in hooks {
                running.start(run(self.shared, hook, &moment, wants));
            }
            if let Some(own) = own {
                let (position, claim, done) = own.await;
                let _ = self.take(position, claim, done, RunMode::No);
            }
            while let Some((position, claim, done)) = running.next().await {
                let _ = self.take(position, claim, done, RunMode::No);
            }
            return;
        }
        let mut running: FuturesUnordered<_> =
            hooks.into_iter().map(|(hook, moment)| run(self.shared, hook, &moment, wants)).collect();
        while let Some((position, claim, done)) = running.next().await {
            let _ = self.take(position, claim, done, RunMode::No);
        }
    }

    /// The event as a hook sees it.
    fn view_for(&mut self, claim: &Claim) -> Arc<EventView> {
        let moment = self.moment();
        if !moment.event.runs_parent_hooks() || claim.hook.spec.kinds.contains(&moment.event.kind()) {
            return moment;
        }
        if let Some(general) = &self.general {
            return Arc::clone(general);
        }
        let Some(event) = moment.event.as_parent_kind() else { return moment };
        let original = moment.original.as_ref().and_then(|original| original.as_parent_kind()).map(Arc::new);
        Arc::clone(self.general.insert(Arc::new(EventView::new(Arc::new(event), original))))
    }

    /// The event as the next hook sees it.
    fn moment(&mut self) -> Arc<EventView> {
        if let Some(moment) = &self.moment {
            return Arc::clone(moment);
        }
        let moment = Arc::new(match self.settlement.rewritten_event() {
            Some(event) => EventView::new(Arc::new(event), Some(Arc::clone(&self.original))),
            None => EventView::new(Arc::clone(&self.original), None),
        });
        Arc::clone(self.moment.insert(moment))
    }

    fn take(&mut self, position: usize, claim: Claim, done: RunResult, in_turn: RunMode) -> ChainStep {
        let hook = Arc::clone(&claim.hook);
        let info = &hook.spec.info;
        if done.result.is_ok() {
            claim.spend();
        }
        for panic in done.broken_observers {
            let failure = Failure::from(panic).with_effect(FailurePolicy::Open);
            let _ = self.settlement.push_failure(position, &in_code("observer"), &failure);
        }
        if !done.left_running.is_empty() {
            let text = format!("left running: {}", done.left_running.join(", "));
            self.settlement.warn(position, info, text);
        }
        if let Ok(handler) = &hook.handler
            && !handler.withheld_env().is_empty()
            && !info.dry_run
        {
            self.hold_back(position, info, handler.withheld_env());
        }
        self.records.extend(done.record.map(|record| (position, record)));
        if let Some(outcomes) = &mut self.outcomes {
            outcomes.push(position, info, &done.result, in_turn == RunMode::Yes);
        }
        match &done.result {
            Ok(opinion) => {
                let rewrote = !opinion.rewrites().is_empty() && !info.dry_run;
                if rewrote {
                    self.moment = None;
                    self.general = None;
                }
                let step = self.settlement.push(position, info, opinion);
                // An administrator's own rewrites are for nobody to judge, unless they keep other guards of his from running.
                self.unseen |= rewrote && (!info.is_managed() || step == ChainStep::End) && self.hooks.has_managed;
                step
            }
            Err(failure) => self.settlement.push_failure(position, info, failure),
        }
    }

    fn hold_back(&mut self, position: usize, info: &Arc<HookInfo>, names: &[String]) {
        let (first, hook, all) = self.held_back.get_or_insert_with(|| (position, Arc::clone(info), Vec::new()));
        if position < *first {
            (*first, *hook) = (position, Arc::clone(info));
        }
        all.extend(names.iter().filter(|name| !all.contains(name)).cloned().collect::<Vec<_>>());
    }

    /// Once for all hooks, and names only.
    fn tell_what_was_held_back(&mut self) {
        let Some((position, hook, mut names)) = self.held_back.take() else { return };
        names.sort();
        let names = names.join(", ");
        let text =
            format!("hooks of other agents were not given all of {names}; `env_allow` in your own file passes them on");
        self.settlement.warn_persistent(position, &hook, text);
    }

    fn record_skipped(&mut self, hooks: Vec<SelectedHook>) {
        for (position, claim) in hooks {
            let spec = &claim.hook.spec;
            let why = "one before it had ended the chain";
            self.records.push((position, HookRecord::of_skipped(&spec.info, spec.handler.kind().name(), why)));
        }
    }
}

/// Whether hooks behind wait for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunMode {
    Yes,
    No,
}

/// One run, with what belongs to it.
fn run(
    shared: &Arc<Shared>,
    (position, claim): SelectedHook,
    moment: &Arc<EventView>,
    wants_record: bool,
) -> impl Future<Output = (usize, Claim, RunResult)> + Send + 'static + use<> {
    let (shared, moment) = (Arc::clone(shared), Arc::clone(moment));
    async move {
        let done = execute::run(&shared, &claim.hook, &moment, Permit::Wait, wants_record).await;
        (position, claim, done)
    }
}

/// In whose name fails what the host has given to the engine besides hooks.
fn in_code(what: &str) -> Arc<HookInfo> {
    Arc::new(HookInfo::new(what, Source::of(Scope::Code)))
}

/// Whether a deny at this event makes the agent go on.
pub(super) fn is_stop(event: &Event) -> bool {
    event.kind().contract().block == BlockEffect::Continue
}
