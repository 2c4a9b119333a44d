//! State of the terminal view, and the effect of each key. This module does no I/O.

use std::collections::BTreeMap;

use ratatui::text::Span;
use serde::Deserialize;

use super::keys::Key;
use super::view::clean;

/// An event, as the page's API returns it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) time: String,
    pub(super) agent: String,
    pub(super) session: Option<String>,
    pub(super) subagent: Option<String>,
    pub(super) event: String,
    pub(super) tool: Option<String>,
    pub(super) command: Option<String>,
    pub(super) verdict: String,
    pub(super) told: Option<String>,
    pub(super) by: Option<String>,
    pub(super) us: u64,
}

impl Row {
    /// Decision that the agent got.
    pub(super) fn answer(&self) -> &str {
        self.told.as_deref().unwrap_or(&self.verdict)
    }
}

/// A session, as the page's API returns it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Session {
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) project: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) state: String,
    pub(super) last: String,
    pub(super) events: u64,
    pub(super) denials: u64,
    pub(super) subagents: usize,
}

/// A hook, as the page's API returns it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Hook {
    pub(super) id: String,
    pub(super) source: String,
    pub(super) runs: u64,
    pub(super) only_logged: u64,
    pub(super) p50_ms: Option<u64>,
    pub(super) p95_ms: Option<u64>,
    pub(super) failures: u64,
    pub(super) denials: u64,
    pub(super) last_error: Option<String>,
}

/// A question that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pending {
    pub(super) id: String,
    /// Agent and tool.
    pub(super) title: String,
    /// The call, one line per field.
    pub(super) call: Vec<String>,
    /// Hooks that ask, with their files and lines.
    pub(super) reasons: Vec<String>,
    /// Time left, in seconds.
    pub(super) left: u64,
    /// Time for which the agent holds the call, in seconds.
    pub(super) waits: Option<u64>,
}

/// Everything that is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Data {
    pub(super) pending: Vec<Pending>,
    pub(super) sessions: Vec<Session>,
    pub(super) hooks: Vec<Hook>,
    pub(super) events: Vec<Row>,
    /// Number of events that match the filter.
    pub(super) total: usize,
}

/// Part of the screen that keys move in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pane {
    Pending,
    Sessions,
    Events,
    Hooks,
}

impl Pane {
    pub(super) const ALL: [Self; 4] = [Self::Pending, Self::Sessions, Self::Events, Self::Hooks];
}

/// Window above the other parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Overlay {
    /// List of the keys.
    Help,
    /// Text of an event.
    Event { title: String, lines: Vec<String>, scroll: usize },
    /// Text for the filter of events.
    Filter(String),
    /// Answer to a question, before it is given.
    Confirm { id: String, approve: bool, scroll: usize },
}

/// Work that a key asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    Quit,
    /// Read everything again.
    Refresh,
    /// Show an event in full.
    Open(String),
    /// Answer a question.
    Decide {
        id: String,
        approve: bool,
    },
}

/// State of the view.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) data: Data,
    pub(super) pane: Pane,
    pub(super) selected: BTreeMap<Pane, usize>,
    pub(super) overlay: Option<Overlay>,
    /// Text that events must contain.
    pub(super) filter: String,
    /// Session whose events are shown: agent and id.
    pub(super) session: Option<(String, String)>,
    /// Result of the last action, or a problem.
    pub(super) notice: Option<String>,
    pub(super) is_connected: bool,
    /// Columns and lines of the screen that was drawn last.
    pub(super) screen: (u16, u16),
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            data: Data::default(),
            pane: Pane::Events,
            selected: BTreeMap::new(),
            overlay: None,
            filter: String::new(),
            session: None,
            notice: None,
            is_connected: false,
            screen: (0, 0),
        }
    }

    /// Replaces the data. The selection stays on the same question, so that an answer never goes to another one.
    pub(super) fn update(&mut self, data: Data) {
        let selected = self.selected_pending().map(|pending| pending.id.clone());
        let is_new = |pending: &Pending| !self.data.pending.iter().any(|known| known.id == pending.id);
        if let Some(new) = data.pending.iter().find(|pending| is_new(pending)) {
            self.notice = Some(format!("{} waits for your answer", new.title));
        }
        self.data = data;
        if let Some(index) = selected.and_then(|id| self.data.pending.iter().position(|pending| pending.id == id)) {
            self.selected.insert(Pane::Pending, index);
        }
        if let Some(Overlay::Confirm { id, .. }) = &self.overlay
            && !self.data.pending.iter().any(|pending| pending.id == *id)
        {
            self.notice = Some("the question was answered elsewhere, or its time is over".to_owned());
            self.overlay = None;
        }
        for pane in Pane::ALL {
            self.move_to(pane, self.index(pane));
        }
        if self.pane == Pane::Pending && self.data.pending.is_empty() {
            self.pane = Pane::Events;
        }
    }

    /// Number of lines of a pane.
    pub(super) fn len(&self, pane: Pane) -> usize {
        match pane {
            Pane::Pending => self.data.pending.len(),
            // The first line means all sessions.
            Pane::Sessions => self.data.sessions.len() + 1,
            Pane::Events => self.data.events.len(),
            Pane::Hooks => self.data.hooks.len(),
        }
    }

    /// Selected line of a pane.
    pub(super) fn index(&self, pane: Pane) -> usize {
        self.selected.get(&pane).copied().unwrap_or_default()
    }

    fn move_to(&mut self, pane: Pane, index: usize) {
        self.selected.insert(pane, index.min(self.len(pane).saturating_sub(1)));
    }

    pub(super) fn selected_pending(&self) -> Option<&Pending> {
        self.data.pending.get(self.index(Pane::Pending))
    }

    /// Applies a key.
    pub(super) fn press(&mut self, key: Key) -> Option<Command> {
        if key == Key::Interrupt {
            return Some(Command::Quit);
        }
        let key = match (&self.overlay, key) {
            (Some(Overlay::Filter(_)), key) => key,
            (_, Key::Char('j')) => Key::Down,
            (_, Key::Char('k')) => Key::Up,
            (_, key) => key,
        };
        match self.overlay.take() {
            Some(overlay) => self.press_in_overlay(overlay, key),
            None => self.press_in_pane(key),
        }
    }

    fn press_in_overlay(&mut self, overlay: Overlay, key: Key) -> Option<Command> {
        match (overlay, key) {
            (Overlay::Filter(text), Key::Enter) => {
                self.filter = text;
                self.move_to(Pane::Events, 0);
                return Some(Command::Refresh);
            }
            (Overlay::Filter(mut text), Key::Char(c)) => {
                text.push(c);
                self.overlay = Some(Overlay::Filter(text));
            }
            (Overlay::Filter(mut text), Key::Backspace) => {
                text.pop();
                self.overlay = Some(Overlay::Filter(text));
            }
            (Overlay::Confirm { id, approve, scroll }, Key::Char('y')) => {
                // A call that was not shown to its end is not approved.
                if !approve || self.confirmation(&id, approve).is_end(scroll) {
                    return Some(Command::Decide { id, approve });
                }
                self.overlay = Some(Overlay::Confirm { id, approve, scroll });
            }
            (Overlay::Confirm { id, approve, scroll }, key @ (Key::Up | Key::Down | Key::PageUp | Key::PageDown)) => {
                let scroll = moved(scroll, key).min(self.confirmation(&id, approve).last_scroll());
                self.overlay = Some(Overlay::Confirm { id, approve, scroll });
            }
            (Overlay::Confirm { .. }, _) => {
                self.notice = Some("cancelled; the question still waits for an answer".to_owned());
            }
            (Overlay::Event { title, lines, scroll }, key @ (Key::Up | Key::Down | Key::PageUp | Key::PageDown)) => {
                let last = lines.len().saturating_sub(1);
                let scroll = moved(scroll, key).min(last);
                self.overlay = Some(Overlay::Event { title, lines, scroll });
            }
            // Any other key closes it.
            _ => {}
        }
        None
    }

    fn press_in_pane(&mut self, key: Key) -> Option<Command> {
        self.notice = None;
        match key {
            Key::Char('q') => return Some(Command::Quit),
            Key::Char('r') => return Some(Command::Refresh),
            Key::Char('?') => self.overlay = Some(Overlay::Help),
            Key::Char('/') => self.overlay = Some(Overlay::Filter(self.filter.clone())),
            Key::Char('a' | 'd') => self.confirm(key == Key::Char('a')),
            Key::Char('1') if !self.data.pending.is_empty() => self.pane = Pane::Pending,
            Key::Char('2') => self.pane = Pane::Sessions,
            Key::Char('3') => self.pane = Pane::Events,
            Key::Char('4') => self.pane = Pane::Hooks,
            Key::Tab => self.next_pane(),
            Key::Up | Key::Down | Key::PageUp | Key::PageDown => {
                self.move_to(self.pane, moved(self.index(self.pane), key));
            }
            Key::Home => self.move_to(self.pane, 0),
            Key::End => self.move_to(self.pane, usize::MAX),
            Key::Escape => {
                let was_limited = self.session.take().is_some() || !self.filter.is_empty();
                self.filter.clear();
                if was_limited {
                    return Some(Command::Refresh);
                }
            }
            Key::Enter => return self.enter(),
            _ => {}
        }
        None
    }

    /// Asks before an answer is given. A key that was pressed by mistake must not approve a call.
    fn confirm(&mut self, approve: bool) {
        let asked = self.selected_pending().map(|pending| pending.id.clone());
        match asked {
            Some(id) => self.overlay = Some(Overlay::Confirm { id, approve, scroll: 0 }),
            None => self.notice = Some("no question waits for an answer".to_owned()),
        }
    }

    /// Content of the window that asks before an answer is given.
    pub(super) fn confirmation(&self, id: &str, approve: bool) -> Confirmation {
        let pending = self.data.pending.iter().find(|pending| pending.id == id);
        Confirmation::new(pending, approve, self.screen)
    }

    fn next_pane(&mut self) {
        let position = Pane::ALL.iter().position(|pane| *pane == self.pane).unwrap_or_default();
        self.pane = Pane::ALL[(position + 1) % Pane::ALL.len()];
        if self.pane == Pane::Pending && self.data.pending.is_empty() {
            self.pane = Pane::Sessions;
        }
    }

    fn enter(&mut self) -> Option<Command> {
        match self.pane {
            Pane::Events => Some(Command::Open(self.data.events.get(self.index(Pane::Events))?.id.clone())),
            Pane::Sessions => {
                let index = self.index(Pane::Sessions).checked_sub(1);
                let session = index.and_then(|index| self.data.sessions.get(index));
                self.session = session.map(|session| (session.agent.clone(), session.session.clone()));
                self.move_to(Pane::Events, 0);
                Some(Command::Refresh)
            }
            Pane::Pending => {
                self.confirm(true);
                None
            }
            Pane::Hooks => None,
        }
    }
}

/// Window that asks before an answer is given: the call, and the question below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Confirmation {
    /// Columns and lines of the window, with its border.
    pub(super) size: (u16, u16),
    /// Lines of the call, wrapped to the window.
    pub(super) call: Vec<String>,
    /// Lines of the question, wrapped to the window. They are always visible.
    pub(super) question: Vec<String>,
}

impl Confirmation {
    fn new(pending: Option<&Pending>, approve: bool, (columns, lines): (u16, u16)) -> Self {
        let width = columns.saturating_sub(8).max(columns.min(30));
        let room = usize::from(width.saturating_sub(2)).max(1);
        let verb = if approve { "approve" } else { "deny" };
        let text = pending.into_iter().flat_map(|one| [&one.title].into_iter().chain(&one.call).chain(&one.reasons));
        let call: Vec<_> = text.flat_map(|line| wrapped(&clean(line), room)).collect();
        let question = wrapped(&format!("{verb} this call? y: {verb}, any other key: cancel"), room);
        // The border has two lines, and one line is between the call and the question.
        let all = call.len() + question.len() + 3;
        let height = u16::try_from(all).unwrap_or(u16::MAX).min(lines);
        Self { size: (width, height), call, question }
    }

    /// Number of visible lines of the call.
    pub(super) fn visible(&self) -> usize {
        usize::from(self.size.1).saturating_sub(self.question.len() + 3)
    }

    /// Scroll position at which the last line of the call is visible.
    pub(super) fn last_scroll(&self) -> usize {
        self.call.len().saturating_sub(self.visible())
    }

    /// Returns `true` if the last line of the call is visible. On a screen without room for the call, no line is.
    pub(super) fn is_end(&self, scroll: usize) -> bool {
        self.visible() > 0 && scroll >= self.last_scroll()
    }

    /// Line between the call and the question.
    pub(super) fn note(&self, scroll: usize) -> String {
        match self.last_scroll().saturating_sub(scroll) {
            0 => String::new(),
            hidden if self.visible() == 0 => format!("… {hidden} lines need a larger terminal"),
            hidden => format!("… {hidden} more lines: Down shows them, then y works"),
        }
    }
}

/// Splits a line into parts of at most this many columns.
fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for c in line.chars() {
        let width = Span::raw(c.to_string()).width();
        if used + width > columns && used > 0 {
            lines.push(String::new());
            used = 0;
        }
        if let Some(last) = lines.last_mut() {
            last.push(c);
        }
        used += width;
    }
    lines
}

/// Returns an index after a key that moves it.
fn moved(index: usize, key: Key) -> usize {
    match key {
        Key::Up => index.saturating_sub(1),
        Key::Down => index.saturating_add(1),
        Key::PageUp => index.saturating_sub(10),
        Key::PageDown => index.saturating_add(10),
        _ => index,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(id: &str) -> Pending {
        Pending { id: id.to_owned(), title: format!("codex Bash {id}"), left: 60, ..Pending::default() }
    }

    fn data(ids: &[&str]) -> Data {
        let event = Row { id: "e1".to_owned(), verdict: "allow".to_owned(), ..Row::default() };
        let session = Session { agent: "codex".to_owned(), session: "s1".to_owned(), ..Session::default() };
        Data {
            pending: ids.iter().map(|id| pending(id)).collect(),
            sessions: vec![session],
            events: vec![event],
            total: 1,
            ..Data::default()
        }
    }

    #[test]
    fn answer_needs_a_confirmation() {
        let mut model = Model::new();
        model.screen = (80, 24);
        model.update(data(&["A"]));
        assert_eq!(model.press(Key::Char('a')), None);
        assert_eq!(model.overlay, Some(Overlay::Confirm { id: "A".to_owned(), approve: true, scroll: 0 }));
        assert_eq!(model.press(Key::Char('n')), None);
        assert_eq!(model.overlay, None);
        assert_eq!(model.press(Key::Char('d')), None);
        assert_eq!(model.press(Key::Char('y')), Some(Command::Decide { id: "A".to_owned(), approve: false }));
    }

    #[test]
    fn long_call_is_approved_only_at_its_end() {
        let mut model = Model::new();
        model.screen = (80, 24);
        let mut data = data(&["A"]);
        data.pending[0].call = (0..100).map(|n| format!("echo {n}")).collect();
        model.update(data);
        model.press(Key::Char('a'));
        assert_eq!(model.press(Key::Char('y')), None, "its end was not shown");
        for _ in 0..20 {
            assert_eq!(model.press(Key::PageDown), None);
        }
        assert_eq!(model.press(Key::Char('y')), Some(Command::Decide { id: "A".to_owned(), approve: true }));
        model.press(Key::Char('d'));
        assert_eq!(model.press(Key::Char('y')), Some(Command::Decide { id: "A".to_owned(), approve: false }));
    }

    #[test]
    fn selection_follows_its_question() {
        let mut model = Model::new();
        model.update(data(&["A", "B"]));
        model.press(Key::Char('1'));
        model.press(Key::Down);
        assert_eq!(model.selected_pending().map(|pending| pending.id.as_str()), Some("B"));
        // A new question comes first, and the first one is answered elsewhere.
        model.update(data(&["C", "A", "B"]));
        assert_eq!(model.selected_pending().map(|pending| pending.id.as_str()), Some("B"));
        model.update(data(&["C", "B"]));
        assert_eq!(model.selected_pending().map(|pending| pending.id.as_str()), Some("B"));
    }

    #[test]
    fn question_that_was_answered_elsewhere_cannot_be_confirmed() {
        let mut model = Model::new();
        model.update(data(&["A", "B"]));
        model.press(Key::Char('a'));
        model.update(data(&["B"]));
        assert_eq!(model.overlay, None);
        assert_eq!(model.press(Key::Char('y')), None, "the key has no effect");
    }

    #[test]
    fn filter_and_session_limit_the_events() {
        let mut model = Model::new();
        model.update(data(&[]));
        model.press(Key::Char('/'));
        for c in "push".chars() {
            model.press(Key::Char(c));
        }
        model.press(Key::Backspace);
        assert_eq!(model.press(Key::Enter), Some(Command::Refresh));
        assert_eq!(model.filter, "pus");
        model.press(Key::Char('2'));
        model.press(Key::Down);
        assert_eq!(model.press(Key::Enter), Some(Command::Refresh));
        assert_eq!(model.session, Some(("codex".to_owned(), "s1".to_owned())));
        assert_eq!(model.press(Key::Escape), Some(Command::Refresh));
        assert_eq!((model.session.as_ref(), model.filter.as_str()), (None, ""));
    }

    #[test]
    fn keys_never_leave_the_lists() {
        let mut model = Model::new();
        for data in [Data::default(), data(&["A"]), data(&[])] {
            model.update(data);
            for key in
                [Key::Down, Key::PageDown, Key::End, Key::Tab, Key::Up, Key::PageUp, Key::Home, Key::Enter, Key::Escape]
            {
                model.press(key);
                for pane in Pane::ALL {
                    assert!(model.index(pane) <= model.len(pane).saturating_sub(1));
                }
            }
        }
        assert_eq!(model.press(Key::Interrupt), Some(Command::Quit));
    }
}
