//! Parser for patches in the format of tools such as Codex's `apply_patch`. Guards use it to find the patched files.

pub(crate) use checkrein_dialects::input::patch::{HEADS, files};
