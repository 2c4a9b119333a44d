//! The way of one event: which hooks run when, and what comes of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use checkrein_core::{
    Block, Event, Failure, FailureKind, HookInfo, HookRecord, Record, RunOrder, Scope, Settlement, Source, Step,
    Target, Verdict, shielded,
};
use tokio::task::JoinSet;
use tracing::{Instrument, debug, debug_span};

use super::Shared;
use super::hooks::LoadedHook;
use super::run::{self, Done};
use crate::handler::Moment;

/// Whose rules settle.
pub(super) const DIALECT: &str = "native";

type Chosen = (usize, Arc<LoadedHook>);

pub(super) async fn fire(shared: &Arc<Shared>, mut event: Event, record: Option<&mut Option<Record>>) -> Verdict {
    let span = debug_span!("checkrein.fire", event = %event.kind());
    async {
        shared.stops.mark(&mut event);
        let (waited, in_background) = choose(shared, &event);
        for hook in in_background {
            shared.background.start(shared, &hook, &event);
        }
        if waited.is_empty() {
            return Verdict::default();
        }
        let mut driver = Driver {
            shared,
            settlement: Settlement::new(&shared.rules, &event),
            original: Arc::new(event.clone()),
            records: Vec::new(),
        };
        driver.drive(waited).await;
        let Driver { settlement, mut records, .. } = driver;
        let verdict = shared.stops.count(&event, settlement.finish());
        debug!(name: "checkrein.settled", decision = %verdict.decision(), warnings = verdict.warnings().len());
        records.sort_by_key(|(position, _)| *position);
        if record.is_some() || !shared.observers.is_empty() {
            let hooks = records.into_iter().map(|(_, record)| record).collect();
            let kept = Record::new(&event, DIALECT, &verdict, hooks);
            for observer in &shared.observers {
                // It has been told of the verdict; there is nowhere left to say that it broke.
                let _ = shielded(|| observer.settled(&kept));
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

/// The hooks that fit: those that are waited for, and those that are not.
fn choose(shared: &Shared, event: &Event) -> (Vec<Chosen>, Vec<Arc<LoadedHook>>) {
    let hooks = shared.hooks.load();
    let (mut waited, mut in_background) = (Vec::new(), Vec::new());
    for (position, _) in hooks.set.select(event) {
        let hook = hooks.get(position);
        if hook.spec.once && hook.has_run.swap(true, Ordering::Relaxed) {
            continue;
        }
        if hook.spec.background {
            in_background.push(Arc::clone(hook));
        } else {
            waited.push((position, Arc::clone(hook)));
        }
    }
    (waited, in_background)
}

struct Driver<'a> {
    shared: &'a Arc<Shared>,
    settlement: Settlement<'a>,
    original: Arc<Event>,
    records: Vec<(usize, HookRecord)>,
}

impl Driver<'_> {
    async fn drive(&mut self, hooks: Vec<Chosen>) {
        match self.shared.rules.order {
            RunOrder::Parallel => {
                self.side_by_side(hooks).await;
            }
            RunOrder::Phased => {
                let (rewriters, others): (Vec<_>, Vec<_>) =
                    hooks.into_iter().partition(|(_, hook)| hook.spec.hook.info.declares_rewrites);
                match self.one_by_one(rewriters).await {
                    Step::Next => self.side_by_side(others).await,
                    Step::End => self.skip(others),
                }
            }
            // Sequential and pipeline differ in what the settlement shows to the next hook.
            _ => {
                let _ = self.one_by_one(hooks).await;
            }
        }
    }

    async fn one_by_one(&mut self, hooks: Vec<Chosen>) -> Step {
        let mut hooks = hooks.into_iter();
        while let Some((position, hook)) = hooks.next() {
            let moment = self.moment();
            let done = run::run(self.shared, &hook, &moment).await;
            if self.take(position, &hook, done) == Step::End {
                self.skip(hooks.collect());
                return Step::End;
            }
        }
        Step::Next
    }

    async fn side_by_side(&mut self, mut hooks: Vec<Chosen>) {
        let moment = self.moment();
        // One needs no company.
        if hooks.len() == 1
            && let Some((position, hook)) = hooks.pop()
        {
            let done = run::run(self.shared, &hook, &moment).await;
            let _ = self.take(position, &hook, done);
            return;
        }
        let mut running = JoinSet::new();
        for (position, hook) in hooks {
            let (shared, moment) = (Arc::clone(self.shared), Arc::clone(&moment));
            let run = async move {
                let done = run::run(&shared, &hook, &moment).await;
                (position, hook, done)
            };
            running.spawn(run.in_current_span());
        }
        while let Some(joined) = running.join_next().await {
            if let Ok((position, hook, done)) = joined {
                let _ = self.take(position, &hook, done);
            }
        }
    }

    /// The event as the next hook sees it.
    fn moment(&self) -> Arc<Moment> {
        let mut event = Event::clone(&self.original);
        let mut rewritten = false;
        for target in Target::ALL {
            if let Some(changed) = self.settlement.current(target).and_then(|value| event.rewritten(target, value)) {
                event = changed;
                rewritten = true;
            }
        }
        Arc::new(Moment::new(event, rewritten.then(|| Arc::clone(&self.original))))
    }

    fn take(&mut self, position: usize, hook: &LoadedHook, done: Done) -> Step {
        let info = &hook.spec.hook.info;
        for panic in done.broken_observers {
            let observer = Arc::new(HookInfo::new("observer", Source::of(Scope::Code)));
            let failure = Failure::new(FailureKind::Panic, panic).with_effect(checkrein_core::Effect::Open);
            let _ = self.settlement.push_failure(position, &observer, &failure);
        }
        self.records.push((position, done.record));
        match &done.result {
            Ok(opinion) => self.settlement.push(position, info, opinion),
            Err(failure) => self.settlement.push_failure(position, info, failure),
        }
    }

    fn skip(&mut self, hooks: Vec<Chosen>) {
        for (position, hook) in hooks {
            let spec = &hook.spec;
            let why = "one before it had ended the chain";
            self.records.push((position, HookRecord::of_skipped(&spec.hook.info, spec.handler.kind(), why)));
        }
    }
}

/// Whether a deny at this event makes the agent go on.
pub(super) fn is_stop(event: &Event) -> bool {
    event.kind().contract().block == Block::GoOn
}
