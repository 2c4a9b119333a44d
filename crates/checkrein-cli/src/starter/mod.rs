//! Text of the starter hooks.
//!
//! `checkrein init` writes it to a file. `checkrein simulate` uses it if there are no hooks.

/// Name of the file in messages, while it is not written.
pub const NAME: &str = "starter.yaml";

/// Hooks that work on every system.
const BUILTINS: &str = include_str!("builtins.yaml");
/// Hooks that need a shell.
const SHELL: &str = if cfg!(unix) { include_str!("shell.yaml") } else { "" };
/// Examples, commented out.
const MORE: &str = include_str!("more.yaml");

/// Text of the file.
pub fn text() -> String {
    [BUILTINS, SHELL, MORE].concat()
}

#[cfg(test)]
mod tests {
    use checkrein::Scope;
    use checkrein::dialects::agents::native;
    use checkrein::document::Format;

    use super::{MORE, text};

    #[test]
    fn starter_file_and_its_commented_examples_are_valid() {
        let decoded = native::DIALECT.decode("starter.yaml", Scope::User, &text(), Format::Yaml);
        assert_eq!(decoded.diagnostics, []);
        let hooks = decoded.hooks.len();

        let shown = |line: &str| match line.trim_start().strip_prefix("# ") {
            Some(rest) if rest.starts_with("- ") || rest.starts_with("  ") => format!("  {rest}\n"),
            Some(rest) if rest.starts_with("include:") => format!("{rest}\n"),
            _ => format!("{line}\n"),
        };
        let examples: String = MORE.lines().map(shown).collect();
        let all = text().replace(MORE, &examples);
        let decoded = native::DIALECT.decode("starter.yaml", Scope::User, &all, Format::Yaml);
        assert_eq!(decoded.diagnostics, []);
        assert_eq!((decoded.hooks.len(), decoded.settings.includes.len()), (hooks + 2, 1));
    }
}
