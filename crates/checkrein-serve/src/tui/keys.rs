//! Keys of the terminal view.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key with a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Tab,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl+C.
    Interrupt,
}

/// All keys, for the help.
pub(super) const HELP: &[(&str, &str)] = &[
    ("a", "approve the selected question"),
    ("d", "deny the selected question"),
    ("1 2 3 4, Tab", "go to questions, sessions, events, hooks"),
    ("j k, arrows", "move; PgUp, PgDn, Home and End too"),
    ("Enter", "show an event in full, or the events of a session"),
    ("/", "show events that contain a text"),
    ("Esc", "show all events again"),
    ("r", "read everything again"),
    ("q", "quit; agents go on"),
];

impl Key {
    /// Returns the meaning of a key event. `None`: it has none.
    pub(super) fn of(event: KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        if event.modifiers.contains(KeyModifiers::CONTROL) {
            return match event.code {
                KeyCode::Char('c' | 'd') => Some(Self::Interrupt),
                _ => None,
            };
        }
        Some(match event.code {
            KeyCode::Char(c) => Self::Char(c),
            KeyCode::Enter => Self::Enter,
            KeyCode::Esc => Self::Escape,
            KeyCode::Backspace => Self::Backspace,
            KeyCode::Tab => Self::Tab,
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::PageDown => Self::PageDown,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            _ => return None,
        })
    }
}
