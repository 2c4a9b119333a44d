//! Plugin directory for hooks of plugins.

use std::path::{Path, PathBuf};

use checkrein_dialects::config::PluginTable;
use checkrein_dialects::{CommandLine, Dialect, HandlerSpec, HookSpec};

/// Returns the plugin that a file belongs to by its path: `hooks/hooks.json` below the directory of a plugin.
pub(super) fn of_file(dialect: &Dialect, file: &Path) -> Option<(PluginTable, PathBuf)> {
    let table = dialect.config.plugin?;
    let own = Path::new(table.file);
    // A file without a directory of its own could be any file.
    if own.components().count() < 2 || !file.ends_with(own) {
        return None;
    }
    let root = file.ancestors().nth(own.components().count())?;
    Some((table, root.to_owned()))
}

/// Passes the directory of the plugin to its commands: as a variable, and for `${NAME}` in the words of a command.
pub(super) fn set_root(hooks: &mut [HookSpec], plugin: PluginTable, root: &Path) {
    let (variable, root) = (plugin.root_variable, root.to_string_lossy());
    for hook in hooks {
        let HandlerSpec::Command(command) = &mut hook.handler else { continue };
        command.env_set.push((variable.to_owned(), root.clone().into_owned()));
        if let CommandLine::Argv(words) = &mut command.run {
            for word in words {
                *word = word.replace(&format!("${{{variable}}}"), &root);
            }
        }
    }
}
