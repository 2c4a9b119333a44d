//! Announcement of project hooks that wait for approval, and of hooks that have no entry, for agents that show no messages of
//! hooks.
//!
//! The model gets it as context, once in a session, and is asked to tell the user. Other agents show the warning about each hook.

use std::collections::BTreeSet;
use std::path::Path;

use checkrein::hook_files::Loaded;
use checkrein::session_store::SessionStore;
use checkrein_core::{Event, EventKind, HookState};
use checkrein_dialects::Dialect;
use checkrein_dialects::config::Diagnostic;

use super::{AgentAdapter, Phase, is_first_time};
use crate::lint::entries::NO_ENTRY;

/// Name of the announcement in the session store.
const KEY: &str = "hooks wait for approval";

impl AgentAdapter {
    /// `true` if the announcement is made at events of this kind: at the start of a session, or before a tool if the agent accepts
    /// context only there.
    pub(super) fn announces_at(&self, kind: &EventKind) -> bool {
        let takes = |kind: &EventKind| self.agent.takes_context(kind);
        let is_place = match kind {
            EventKind::SessionStart => true,
            EventKind::PreToolUse => !takes(&EventKind::SessionStart),
            _ => false,
        };
        is_place && self.agent.host.hides_messages && self.phase == Phase::Foreground && takes(kind)
    }

    /// Returns the texts that the model gets for the user.
    pub(super) fn announcements(
        &self,
        event: &Event,
        loaded: &Loaded,
        dir: &Path,
        sessions: &dyn SessionStore,
    ) -> Vec<String> {
        let is_start = event.kind() == EventKind::SessionStart && self.announces_at(&event.kind());
        let without_entry = loaded.diagnostics.iter().filter(|found| is_start && found.code == NO_ENTRY);
        let waiting = self.waiting_hooks(event, dir, sessions).into_iter();
        waiting.chain(without_entry.map(|found| format!("Tell the user: {}", one_line(found)))).collect()
    }

    /// Agent whose settings have the entry. An entry may have the format of a generation of the agent.
    pub(super) fn installed_agent(&self) -> &'static Dialect {
        checkrein_dialects::find(self.agent.agent()).unwrap_or(self.agent)
    }

    /// Returns the announcement, if hooks wait for approval and the model has not received it in this session.
    fn waiting_hooks(&self, event: &Event, dir: &Path, sessions: &dyn SessionStore) -> Option<String> {
        let kind = event.kind();
        if !self.announces_at(&kind) {
            return None;
        }
        let is_start = kind == EventKind::SessionStart;
        // Loading all files takes time, so this is done once in a session.
        if !is_start && !is_first_time(sessions, event, KEY) {
            return None;
        }
        let loaded = self.sources_in(dir).called_by(self.agent).load();
        let waiting = loaded.hooks.iter().filter(|spec| spec.state == HookState::Untrusted);
        let places: BTreeSet<_> =
            waiting.map(|spec| (&spec.info.source.file, spec.info.source.line, &spec.info.id)).collect();
        if places.is_empty() || (is_start && !is_first_time(sessions, event, KEY)) {
            return None;
        }
        let hooks = match places.len() {
            1 => "1 hook of this project waits".to_owned(),
            count => format!("{count} hooks of this project wait"),
        };
        Some(format!("Tell the user: {hooks} for approval and cannot run; run `checkrein trust` for a review."))
    }
}

/// Message of a diagnostic with its fix.
fn one_line(found: &Diagnostic) -> String {
    match &found.help {
        Some(help) => format!("{}; {help}", found.message),
        None => found.message.clone(),
    }
}
