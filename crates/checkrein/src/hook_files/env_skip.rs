//! Skipping of hooks by environment variables.
//!
//! The command-line program applies it. A managed hook is never skipped.

use checkrein_core::{HookState, Scope};

use super::Loaded;

/// Hooks to skip.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skip {
    all: bool,
    ids: String,
}

impl Skip {
    /// Variable that skips all hooks if it is `0`.
    pub const ALL: &'static str = "CHECKREIN";
    /// Variable with comma-separated ids of hooks to skip.
    pub const IDS: &'static str = "CHECKREIN_SKIP";

    /// Reads the variables of the process.
    pub fn from_env() -> Self {
        Self::new(
            std::env::var(Self::ALL).is_ok_and(|value| value == "0"),
            std::env::var(Self::IDS).unwrap_or_default(),
        )
    }

    /// Skips all hooks, or those with these comma-separated ids.
    pub fn new(all: bool, ids: impl Into<String>) -> Self {
        Self { all, ids: ids.into() }
    }

    /// Returns `true` if no hook is skipped.
    pub fn is_empty(&self) -> bool {
        !self.all && self.ids.trim().is_empty()
    }

    fn includes(&self, id: &str) -> bool {
        self.all || self.ids.split(',').any(|skipped| skipped.trim() == id)
    }
}

impl Loaded {
    /// Skips hooks, except managed ones. Returns a note for each hook.
    #[must_use = "notes about skipped hooks must be shown"]
    pub fn skip(&mut self, skip: &Skip) -> Vec<String> {
        let why = if skip.all { format!("{}=0", Skip::ALL) } else { format!("{}={}", Skip::IDS, skip.ids) };
        let mut notes = Vec::new();
        for spec in self.hooks.iter_mut().filter(|spec| skip.includes(&spec.info.id)) {
            let info = &spec.info;
            if info.source.scope == Scope::Managed {
                notes.push(format!("{info} is managed by the administrator and cannot be skipped"));
            } else if spec.state != HookState::Disabled {
                notes.push(format!("{info} is skipped ({why})"));
                spec.state = HookState::Skipped(why.clone());
            }
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use checkrein_core::{EventKind, HookInfo, Source};
    use checkrein_dialects::HookSpec;

    use super::*;

    #[test]
    fn managed_hooks_are_never_skipped() {
        for (all, ids) in [(true, ""), (false, "guard"), (true, "guard"), (false, " other, guard ,")] {
            let hooks = [Scope::Managed, Scope::User, Scope::Project].map(|scope| {
                let mut hook = HookSpec::shell("guard", EventKind::PreToolUse, "exit 2");
                hook.info = Arc::new(HookInfo::new("guard", Source::for_scope(scope)));
                hook
            });
            let mut loaded = Loaded { hooks: hooks.into(), ..Loaded::default() };
            assert_eq!(loaded.skip(&Skip::new(all, ids)).len(), 3, "one note per hook");
            let states: Vec<_> = loaded.hooks.iter().map(|spec| &spec.state).collect();
            assert_eq!(states[0], &HookState::Ready, "{all} {ids}");
            assert!(states[1..].iter().all(|state| matches!(state, HookState::Skipped(_))), "{all} {ids}");
        }
        assert!(Skip::new(false, " ").is_empty() && !Skip::new(true, "").is_empty());
    }
}
