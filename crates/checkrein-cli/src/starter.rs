//! The hooks that `init` writes, and that `simulate` uses where there are none.

/// What the file is called in messages while it is only in the program.
pub const NAME: &str = "starter.yaml";

/// Works on every machine.
const BUILTINS: &str = include_str!("starter/builtins.yaml");
/// Needs a shell.
const SHELL: &str = if cfg!(unix) { include_str!("starter/shell.yaml") } else { "" };
/// Examples, commented out.
const MORE: &str = include_str!("starter/more.yaml");

/// The file.
pub fn text() -> String {
    [BUILTINS, SHELL, MORE].concat()
}
