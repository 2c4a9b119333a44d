//! Version of an agent, from its files. `status` uses it. It must never start a program.

use std::path::Path;

use checkrein::internal::regular_file;
use checkrein_dialects::InstallTable;
use checkrein_document::{Format, Node, parse};

/// Directories above a program that are searched for its package.
const LEVELS: usize = 6;
/// Maximum size of `package.json`, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Version in `package.json` of the program's package, or in the resolved path of the program.
pub(super) fn from_files(table: &InstallTable, program: &Path) -> Option<String> {
    let real = program.canonicalize().ok()?;
    let package = |directory: &Path| {
        let text = regular_file::read_text(&directory.join("package.json"), MAX_SIZE).ok()?;
        let root = parse(&text, Format::Json).ok()?.root;
        let field = |name: &str| root.get(name).and_then(Node::as_str).map(str::to_owned);
        if field("name").as_deref() == table.package { field("version") } else { None }
    };
    let packaged = table.package.and_then(|_| real.ancestors().skip(1).take(LEVELS).find_map(package));
    packaged.filter(|version| is_version(version)).or_else(|| in_path(&real, program.file_name()?.to_str()?))
}

/// Version in a path such as `claude/versions/2.1.325` or `Cellar/codex/0.166.0/bin/codex`: the name of the program is one or two
/// components before it. Other versions are those of an interpreter.
fn in_path(path: &Path, name: &str) -> Option<String> {
    let parts: Vec<_> = path.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let is_named = |at: usize| parts[at.saturating_sub(2)..at].contains(&name);
    let at = (0..parts.len()).find(|at| is_version(parts[*at]) && is_named(*at))?;
    Some(parts[at].to_owned())
}

/// Returns `true` if a version is older than another one, by the numbers at its start.
pub(crate) fn is_older(version: &str, than: &str) -> bool {
    let numbers = |version: &str| -> Vec<u64> {
        let digits = |part: &str| part.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
        version.split('.').map_while(digits).collect()
    };
    numbers(version) < numbers(than)
}

/// Returns `true` for at least two numbers with a dot between them, and an optional suffix.
fn is_version(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || ".-+_".contains(c));
    let mut parts = text.split('.');
    let starts_with_digit =
        |part: Option<&str>| part.is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    plain && starts_with_digit(parts.next()) && starts_with_digit(parts.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_in_a_path_belongs_to_the_program() {
        for (path, version) in [
            ("/home/ann/.local/share/claude/versions/2.1.325", Some("2.1.325")),
            ("/opt/homebrew/Cellar/claude/2.1.325/bin/claude", Some("2.1.325")),
            ("/home/ann/.nvm/versions/node/v22.1.0/bin/claude", None),
            ("/home/ann/.local/share/mise/installs/node/22.1.0/bin/claude", None),
            ("/usr/bin/claude", None),
        ] {
            assert_eq!(in_path(Path::new(path), "claude").as_deref(), version, "{path}");
        }
    }
}
