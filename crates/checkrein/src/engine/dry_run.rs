//! Effects that dry-run hooks would have had, for records and the audit log.
//!
//! The fire is settled again for each dry-run hook. This never changes the verdict.

use std::sync::Arc;

use checkrein_core::{
    ChainStep, DryRunRecord, Event, Failure, HookInfo, HookRecord, Opinion, Rules, Settlement, Verdict,
};

/// Outcomes of all hooks of a fire, for settling again. Recorded only if one of the hooks is a dry run.
#[derive(Default)]
pub(super) struct DryRunOutcomes(Vec<DryRunOutcome>);

struct DryRunOutcome {
    position: usize,
    hook: Arc<HookInfo>,
    result: Result<Opinion, Failure>,
    /// `true` if later hooks waited for it, so that it could have ended the chain.
    is_sequential: bool,
}

impl DryRunOutcomes {
    /// Adds the result of a hook. Results come in the order in which they were settled.
    pub(super) fn push(
        &mut self,
        position: usize,
        hook: &Arc<HookInfo>,
        result: &Result<Opinion, Failure>,
        is_sequential: bool,
    ) {
        self.0.push(DryRunOutcome { position, hook: Arc::clone(hook), result: result.clone(), is_sequential });
    }

    /// Adds to the record of each dry-run hook the effect that it would have had.
    pub(super) fn note(&self, rules: &Rules, event: &Event, verdict: &Verdict, records: &mut [(usize, HookRecord)]) {
        for dry_run in self.0.iter().filter(|outcome| outcome.hook.dry_run) {
            let mut info = HookInfo::clone(&dry_run.hook);
            info.dry_run = false;
            let info = Arc::new(info);
            let alone = settled(rules, event, std::iter::once((dry_run, &info)));
            let all = self.0.iter().map(|outcome| {
                let is_it = std::ptr::eq(outcome, dry_run);
                (outcome, if is_it { &info } else { &outcome.hook })
            });
            let with_it = settled(rules, event, all);
            let own = records.iter_mut().find(|(at, record)| *at == dry_run.position && record.id == info.id);
            if let Some((_, record)) = own {
                record.would = Some(DryRunRecord::new(&alone, &with_it, verdict));
            }
        }
    }
}

fn settled<'a>(
    rules: &Rules,
    event: &Event,
    outcomes: impl Iterator<Item = (&'a DryRunOutcome, &'a Arc<HookInfo>)>,
) -> Verdict {
    let mut settlement = Settlement::new(rules, event);
    for (outcome, hook) in outcomes {
        let step = match &outcome.result {
            Ok(opinion) => settlement.push(outcome.position, hook, opinion),
            Err(failure) => settlement.push_failure(outcome.position, hook, failure),
        };
        if step == ChainStep::End && outcome.is_sequential {
            break;
        }
    }
    settlement.finish()
}
