//! The hooks that `init` writes, and that `simulate` uses where there are none.

/// What the file is called in messages while it is only in the program.
pub const NAME: &str = "starter.yaml";

/// Works on every machine.
const BUILTINS: &str = include_str!("builtins.yaml");
/// Needs a shell.
const SHELL: &str = if cfg!(unix) { include_str!("shell.yaml") } else { "" };
/// Examples, commented out.
const MORE: &str = include_str!("more.yaml");

/// The file.
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
    fn the_file_and_the_examples_in_its_comments_are_right() {
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
