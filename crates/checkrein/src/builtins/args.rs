//! Parsing of builtin arguments.
//!
//! Builtins parse their arguments when a hook is loaded. A message continues a sentence that starts with the name of the
//! builtin: `takes no arguments`.

/// Rejects all arguments.
pub(super) fn none(args: &[String]) -> Result<(), String> {
    match args.first() {
        None => Ok(()),
        Some(arg) => Err(format!("takes no arguments; remove `{arg}`")),
    }
}

/// Returns the value of `--name=VALUE`, or `None` for another argument.
pub(super) fn option<'a>(arg: &'a str, name: &str) -> Option<&'a str> {
    arg.strip_prefix("--")?.strip_prefix(name)?.strip_prefix('=')
}

/// Parses a whole number of at least 1.
pub(super) fn count(text: &str, label: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("has an invalid {label}, `{text}`; use a whole number of at least 1")),
    }
}

/// Error message for an unknown option, with the known ones.
pub(super) fn unknown_option(arg: &str, known: &[&str]) -> String {
    match known {
        [] => format!("has no option `{arg}`; remove it"),
        known => format!("has no option `{arg}`; the options are {}", known.join(", ")),
    }
}
