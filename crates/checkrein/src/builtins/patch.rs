//! Patches as models write them for tools such as Codex's `apply_patch`.

pub(crate) use checkrein_dialects::input::patch::{HEADS, files};
