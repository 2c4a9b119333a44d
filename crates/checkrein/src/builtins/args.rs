//! Arguments of builtins, read when a hook is loaded.

/// Refuses arguments where none are taken.
pub(super) fn none(args: &[String]) -> Result<(), String> {
    match args.first() {
        None => Ok(()),
        Some(arg) => Err(format!("takes no arguments, but has `{arg}`; remove it")),
    }
}

/// The value of `--name=VALUE`, if the argument is that.
pub(super) fn option<'a>(arg: &'a str, name: &str) -> Option<&'a str> {
    arg.strip_prefix("--")?.strip_prefix(name)?.strip_prefix('=')
}

/// A whole number of at least 1.
pub(super) fn count(text: &str, what: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("has `{text}` as {what}; write a whole number from 1 on")),
    }
}

/// An option that is not known, with the known ones.
pub(super) fn unknown_option(arg: &str, known: &[&str]) -> String {
    match known {
        [] => format!("has no option `{arg}`; remove it"),
        known => format!("has no option `{arg}`; it has {}", known.join(", ")),
    }
}
