//! The running program, for hooks that call it.
//!
//! All engines of the program come from [`engine_builder`]. Engines of other hosts must not offer a program.

use std::path::PathBuf;

use checkrein::Engine;
use checkrein::engine::EngineBuilder;

/// Returns the absolute path of the running program. `None` if the system does not know it, or if the file was removed.
pub fn path() -> Option<PathBuf> {
    std::env::current_exe().ok().filter(|path| path.is_absolute() && path.is_file())
}

/// Returns a builder of engines whose hooks can call the running program.
pub fn engine_builder() -> EngineBuilder {
    match path() {
        Some(path) => Engine::builder().program(path),
        None => Engine::builder(),
    }
}
