//! Sub-agents whose tools run without any hook.
//!
//! Some agents call no hook inside of a sub-agent, so a sub-agent is a way around every guard. If the user has guards, the start of
//! such a sub-agent needs a confirmation.

use std::sync::Arc;

use checkrein::Opinion;
use checkrein::hook_files::Loaded;
use checkrein_core::{EventFilter, EventKind, HookInfo, HookState, Scope, Source};
use checkrein_dialects::{Dialect, HookSpec};

/// `true` if the event is the start of a sub-agent whose tools run without any hook.
pub(super) fn starts_unguarded(agent: &Dialect, filter: &EventFilter) -> bool {
    let tools = agent.host.unguarded_subagents;
    !tools.is_empty() && filter.can_match(&[EventKind::PreToolUse], |name| tools.contains(&name))
}

/// Adds a hook that asks before the sub-agent starts, if a hook guards tools. `loaded` must have the hooks of all tools.
pub(super) fn ask_before(agent: &Dialect, loaded: &mut Loaded) {
    if loaded.unguarded_subagents || !loaded.hooks.iter().any(guards_tools) {
        return;
    }
    let reason = format!(
        "{} calls no hooks for the tools of its sub-agents, so your hooks would not guard them; to allow such sub-agents, set \
         `unguarded_subagents: allow` in your own hooks file (~/.config/checkrein/hooks.yaml)",
        agent.title()
    );
    let mut ask = HookSpec::callback("unguarded-subagents", EventKind::PreToolUse, move |_| Opinion::ask(&reason));
    ask.info = Arc::new(HookInfo::new("unguarded-subagents", Source::for_scope(Scope::Code)));
    loaded.hooks.push(ask);
}

/// `true` if the hook can block a tool.
fn guards_tools(spec: &HookSpec) -> bool {
    let is_tool = |kind: &EventKind| {
        *kind == EventKind::PreToolUse || kind.parent_kind().as_ref() == Some(&EventKind::PreToolUse)
    };
    let in_force = matches!(spec.state, HookState::Ready | HookState::Changed(_) | HookState::Broken(_));
    in_force && spec.decides() && spec.kinds.iter().any(is_tool)
}
