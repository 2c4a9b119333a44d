//! Plugin directory for hooks of plugins.

use std::path::Path;

use checkrein_dialects::config::PluginTable;
use checkrein_dialects::{CommandLine, HandlerSpec, HookSpec};

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
