//! Hooks that the environment says shall be skipped.

use checkrein_core::{HookState, Scope};

use super::Loaded;

/// Which hooks somebody wants to do without for once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skip {
    all: bool,
    ids: String,
}

impl Skip {
    /// The variable that skips all hooks if it is `0`.
    pub const ALL: &'static str = "CHECKREIN";
    /// The variable that skips hooks by their names, with commas between them.
    pub const IDS: &'static str = "CHECKREIN_SKIP";

    /// As the process's own environment says.
    pub fn from_env() -> Self {
        Self::of(std::env::var(Self::ALL).is_ok_and(|value| value == "0"), std::env::var(Self::IDS).unwrap_or_default())
    }

    /// All hooks, or those with these names, with commas between them.
    pub fn of(all: bool, ids: impl Into<String>) -> Self {
        Self { all, ids: ids.into() }
    }

    /// Whether nothing is to be skipped.
    pub fn is_empty(&self) -> bool {
        !self.all && self.ids.trim().is_empty()
    }

    fn wants(&self, id: &str) -> bool {
        self.all || self.ids.split(',').any(|wanted| wanted.trim() == id)
    }
}

impl Loaded {
    /// Switches off what shall be skipped, and tells of each hook what came of that. Never what an administrator has set.
    #[must_use = "that hooks are skipped should always be shown"]
    pub fn skip(&mut self, skip: &Skip) -> Vec<String> {
        let why = if skip.all { format!("{}=0", Skip::ALL) } else { format!("{}={}", Skip::IDS, skip.ids) };
        let mut told = Vec::new();
        for spec in self.hooks.iter_mut().filter(|spec| skip.wants(&spec.info.id)) {
            let info = &spec.info;
            if info.source.scope == Scope::Managed {
                told.push(format!("{info} is set by an administrator and runs all the same"));
            } else if spec.state != HookState::Disabled {
                told.push(format!("{info} is skipped: {why}"));
                spec.state = HookState::Skipped(why.clone());
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use checkrein_core::{EventKind, HookInfo, Source};
    use checkrein_dialects::HookSpec;

    use super::*;

    #[test]
    fn what_an_administrator_has_set_is_never_skipped() {
        for (all, ids) in [(true, ""), (false, "guard"), (true, "guard"), (false, " other, guard ,")] {
            let hooks = [Scope::Managed, Scope::User, Scope::Project].map(|scope| {
                let mut hook = HookSpec::shell("guard", EventKind::PreToolUse, "exit 2");
                hook.info = Arc::new(HookInfo::new("guard", Source::of(scope)));
                hook
            });
            let mut loaded = Loaded { hooks: hooks.into(), ..Loaded::default() };
            assert_eq!(loaded.skip(&Skip::of(all, ids)).len(), 3, "each is told");
            let states: Vec<_> = loaded.hooks.iter().map(|spec| &spec.state).collect();
            assert_eq!(states[0], &HookState::Ready, "{all} {ids}");
            assert!(states[1..].iter().all(|state| matches!(state, HookState::Skipped(_))), "{all} {ids}");
        }
        assert!(Skip::of(false, " ").is_empty() && !Skip::of(true, "").is_empty());
    }
}
