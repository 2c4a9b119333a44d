//! A loaded file with its hooks and settings. The merge steps work on these.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use checkrein_core::Scope;
use checkrein_dialects::config::{DecodeOptions, PluginTable, Settings};
use checkrein_dialects::{Dialect, HandlerSpec, HookSpec, RelativeTo};
use checkrein_document::Format;

use super::include::IncludeChain;
use super::read::read;
use super::{FileState, plugin};
use crate::real_path::real_path_or_same;
use crate::trust::Origin;

/// A loaded file.
pub(super) struct LoadedFile {
    pub(super) state: FileState,
    pub(super) hooks: Vec<HookSpec>,
    pub(super) settings: Settings,
    /// `true` if the caller named the file, or one that includes it.
    pub(super) is_explicit: bool,
    /// `true` for an administrator's file whose settings apply to the files of all dialects.
    pub(super) is_policy: bool,
    /// Names of the dialects of this file and of those that include it. Settings of files in these dialects apply to it.
    pub(super) dialect_chain: Vec<&'static str>,
    /// Origin for trust.
    pub(super) origin: Origin,
    /// Data for reading its hooks again.
    pub(super) reading: Reading,
    /// Index of the part of the sources that it belongs to.
    pub(super) part: usize,
    /// `true` if another reading of the same file replaces it.
    pub(super) is_left_out: bool,
}

/// Data that turns the text of a file into hooks.
pub(super) struct Reading {
    pub(super) dialect: &'static Dialect,
    pub(super) includes: IncludeChain,
    /// The plugin that the file belongs to, with its directory.
    pub(super) plugin: Option<(PluginTable, PathBuf)>,
}

impl Reading {
    /// Reads all hooks of the file again, not only those for one event.
    pub(super) fn all_hooks(&self, path: &Path, scope: Scope, options: &DecodeOptions) -> Vec<HookSpec> {
        let mut options = options.clone();
        options.only = None;
        let mut buffer = Vec::new();
        let Ok(text) = read(path, false, &mut buffer) else { return Vec::new() };
        let format = Format::from_path(path).unwrap_or(Format::Json);
        let mut hooks = self.dialect.decode_with(&name(path), scope, text, format, &options).hooks;
        // Diagnostics were reported by the first read.
        let _ = self.includes.apply(path, scope, &mut hooks);
        if let Some((table, root)) = &self.plugin {
            plugin::set_root(&mut hooks, *table, root);
        }
        hooks
    }
}

impl LoadedFile {
    /// Marks it as a file of a plugin in this directory.
    pub(super) fn set_plugin(&mut self, table: PluginTable, root: &Path) {
        plugin::set_root(&mut self.hooks, table, root);
        self.reading.plugin = Some((table, root.to_owned()));
    }

    /// Sets the project directory, from which relative scripts are resolved in some dialects.
    pub(super) fn set_project(&mut self, project: &Path) {
        if self.reading.dialect.process.relative_to != RelativeTo::Project || self.origin != Origin::Project {
            return;
        }
        let mut real = None;
        for hook in &mut self.hooks {
            if let HandlerSpec::Command(command) = &mut hook.handler {
                command.script_dir = Some(real.get_or_insert_with(|| real_path_or_same(project)).clone());
            }
        }
    }

    pub(super) fn name(&self) -> String {
        name(&self.state.path)
    }

    /// Returns a key with its file and line, for messages.
    pub(super) fn locate(&self, key: &str) -> String {
        match self.settings.line_of(key) {
            Some(line) => format!("`{key}` in {}:{line}", self.name()),
            None => format!("`{key}` in {}", self.name()),
        }
    }
}

/// Returns a path for messages.
pub(super) fn name(path: &Path) -> String {
    path.display().to_string()
}

/// Hash of a text that detects changes of a file within this process.
pub(super) fn change_hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
