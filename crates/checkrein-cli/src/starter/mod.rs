//! Text of the starter hooks and of the example hooks.
//!
//! `checkrein init` writes the starter hooks to a file: they ask about nothing ordinary. `checkrein simulate` plays the example
//! hooks if there are no others: they show all that hooks can do, and are too strict for daily use.

/// Name of the examples in messages.
pub const EXAMPLES_NAME: &str = "examples.yaml";

/// Hooks that `init` writes, with commented examples.
pub const TEXT: &str = include_str!("starter.yaml");

/// Example hooks that work on every system.
const BUILTINS: &str = include_str!("examples.yaml");
/// Example hooks that need a shell.
const SHELL: &str = if cfg!(unix) { include_str!("shell_examples.yaml") } else { "" };

/// Text of the example hooks.
pub fn examples() -> String {
    [BUILTINS, SHELL].concat()
}

#[cfg(test)]
mod tests {
    use checkrein::dialects::HandlerSpec;
    use checkrein::dialects::agents::native;
    use checkrein::document::Format;
    use checkrein::{HookSpec, Scope};

    use super::{TEXT, examples};

    #[test]
    fn starter_file_and_its_commented_examples_are_valid() {
        let decoded = native::DIALECT.decode("starter.yaml", Scope::User, TEXT, Format::Yaml);
        assert_eq!(decoded.diagnostics, []);
        let is_of_pack =
            |hook: &&HookSpec| matches!(&hook.handler, HandlerSpec::Rule(rule) if rule.pack_rule.is_some());
        let own = |hooks: &[HookSpec]| hooks.iter().filter(|hook| !is_of_pack(hook)).count();
        let hooks = own(&decoded.hooks);
        assert!(decoded.hooks.len() > 50, "the packs have only {} rules", decoded.hooks.len());

        let shown = |line: &str| match line.trim_start().strip_prefix("# ") {
            Some(rest) if rest.starts_with("- ") || line.starts_with("  #   ") => format!("  {rest}\n"),
            Some(rest) if rest.starts_with("include:") => format!("{rest}\n"),
            _ => format!("{line}\n"),
        };
        let all: String = TEXT.lines().map(shown).collect();
        let decoded = native::DIALECT.decode("starter.yaml", Scope::User, &all, Format::Yaml);
        assert_eq!(decoded.diagnostics, []);
        // `log` is for five events.
        assert_eq!((hooks, own(&decoded.hooks), decoded.settings.includes.len()), (1, 7, 1));
    }

    #[test]
    fn example_hooks_are_valid() {
        let decoded = native::DIALECT.decode("examples.yaml", Scope::User, &examples(), Format::Yaml);
        assert_eq!(decoded.diagnostics, []);
    }
}
