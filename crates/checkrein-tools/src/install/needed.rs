//! Events that the hooks in force need, for `checkrein install --needed`, and hooks that have no entry at one of their events.
//!
//! A hook runs only if the agent calls checkrein at its event. `check`, `list`, `doctor` and, at the start of a session, `hook`
//! report every hook that no entry serves.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein::hook_files::{Loaded, Locations, Sources};
use checkrein_core::{EventKind, HookInfo, HookState};
use checkrein_dialects::agents::native;
use checkrein_dialects::{Dialect, HandlerSpec, HookSpec};

use super::desired_entries::{can_have_entry, entry_dialect, is_on_request, is_row_of};
use super::{Installed, Installer, Program, State};

/// Events that always have an entry: the start of a session, at which problems are reported, and the tool gate.
const ALWAYS: [EventKind; 2] = [EventKind::SessionStart, EventKind::PreToolUse];

/// A hook that does not run at one of its events, because the agent does not call checkrein then.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UncalledHook {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// Agent.
    pub agent: &'static str,
    /// Event, by the name of the agent.
    pub event: &'static str,
    /// `true` if an installation has an entry for the event only on request.
    pub is_on_request: bool,
    /// Command that adds the entry.
    pub fix: String,
}

/// Kinds of events that these hooks need.
pub(super) fn needed_kinds(loaded: &Loaded) -> Vec<EventKind> {
    let mut kinds: Vec<EventKind> = ALWAYS.to_vec();
    let mut add = |kind: &EventKind| {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    };
    for hook in loaded.hooks.iter().filter(|hook| may_run(hook)) {
        hook.kinds.iter().for_each(&mut add);
        // A prompt starts a new turn, which resets the number of refused stops. The history counts prompts.
        let reads_history = matches!(&hook.handler, HandlerSpec::Rule(rule) if rule.uses_history());
        let is_stop = |kind: &EventKind| matches!(kind, EventKind::Stop | EventKind::SubagentStop);
        if reads_history || hook.kinds.iter().any(is_stop) {
            add(&EventKind::PromptSubmit);
        }
    }
    kinds
}

/// `true` for hooks that run now, after an approval, or after a fix. A hook that cannot be loaded closes its gate.
fn may_run(hook: &HookSpec) -> bool {
    !matches!(hook.state, HookState::Disabled | HookState::Skipped(_))
}

impl Installer {
    /// Installer that only reads settings, for agents that are started in `dir`.
    pub fn reader(dir: &Path, place: Locations) -> Self {
        let root = dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()).unwrap_or(dir);
        Self::new(root, Program::by_name()).hooks_from(dir).place(place)
    }

    /// Kinds of events that the hooks in force need under this agent.
    pub(super) fn needed_by_hooks(&self, agent: &'static Dialect) -> Vec<EventKind> {
        needed_kinds(&self.load_hooks(agent))
    }

    /// Hooks in force under this agent.
    fn load_hooks(&self, agent: &'static Dialect) -> Loaded {
        let dir: &PathBuf = self.hooks_dir.as_ref().unwrap_or(&self.dir);
        Sources::discover_in(&native::DIALECT, dir, self.place.clone()).called_by(entry_dialect(agent)).load()
    }

    /// Hooks that the agent does not call checkrein for. Empty if its settings have no entries of checkrein.
    pub fn uncalled_hooks(&self, agent: &'static Dialect) -> Vec<UncalledHook> {
        let mut places = self.status(agent).places;
        places.retain(|place| place.state == State::Installed);
        if places.is_empty() { Vec::new() } else { uncalled(agent, &places, &self.load_hooks(agent).hooks) }
    }
}

/// `places` have the entries of the user and of the project.
fn uncalled(agent: &'static Dialect, places: &[Installed], hooks: &[HookSpec]) -> Vec<UncalledHook> {
    let covered: BTreeSet<_> = places.iter().flat_map(|place| &place.covered).copied().collect();
    // Such an installation adds exactly the missing entries.
    let needed = places.iter().find(|place| place.needed).map(|place| place.fix(agent.name));
    let fix = |is_on_request| match &needed {
        Some(fix) => fix.clone(),
        None => format!("checkrein install {}{}", agent.name, if is_on_request { " --all-events" } else { "" }),
    };
    let dialect = entry_dialect(agent);
    let mut found: Vec<UncalledHook> = Vec::new();
    for hook in hooks.iter().filter(|hook| may_run(hook) && !matches!(hook.state, HookState::Broken(_))) {
        for row in dialect.events.iter().filter(|row| can_have_entry(row) && !covered.contains(row.name)) {
            if !hook.kinds.iter().any(|kind| is_row_of(dialect, row, kind)) {
                continue;
            }
            let uncalled = UncalledHook {
                hook: Arc::clone(&hook.info),
                agent: agent.name,
                event: row.name,
                is_on_request: is_on_request(row),
                fix: fix(is_on_request(row)),
            };
            // A hook for several events may be several hooks here.
            if !found.contains(&uncalled) {
                found.push(uncalled);
            }
        }
    }
    found
}
