//! goose.

use checkrein_core::EventKind;

use crate::{Dialect, EventRow};

/// The table.
pub static DIALECT: Dialect = Dialect::of_names("goose", EVENTS);

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart),
    EventRow::new("SessionEnd", EventKind::SessionEnd),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit),
    EventRow::new("PreToolUse", EventKind::PreToolUse),
    EventRow::new("PostToolUse", EventKind::PostToolUse),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure),
    EventRow::new("BeforeShellExecution", EventKind::PreShell),
    EventRow::new("AfterShellExecution", EventKind::PostShell),
    EventRow::new("BeforeReadFile", EventKind::PreFileRead),
    EventRow::new("AfterFileEdit", EventKind::PostFileWrite),
    EventRow::new("Stop", EventKind::Stop),
];
