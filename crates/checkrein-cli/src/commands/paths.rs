//! Short forms of paths for text that people read. JSON output keeps absolute paths.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use checkrein::hook::Source;
use checkrein::internal::repository;

use super::visible::printable_bytes;

/// Most `..` in a short form. Longer ones are harder to read than the whole path.
const MOST_STEPS: usize = 3;

/// Directories that paths are shortened against, with their short forms. The longest comes first.
struct Bases(Vec<(PathBuf, String)>);

impl Bases {
    fn get() -> &'static Self {
        static BASES: OnceLock<Bases> = OnceLock::new();
        BASES.get_or_init(|| {
            let current = std::env::current_dir().ok();
            let root = current.as_deref().and_then(repository).map(Path::to_owned);
            Self::new(current, root, std::env::home_dir())
        })
    }

    fn new(current: Option<PathBuf>, root: Option<PathBuf>, home: Option<PathBuf>) -> Self {
        let mut bases = Vec::new();
        if let Some(home) = home {
            // Some paths are below the real home directory, others below the one that the environment names.
            bases.extend(home.canonicalize().ok().map(|real| (real, "~".to_owned())));
            bases.push((home, "~".to_owned()));
        }
        if let (Some(current), Some(root)) = (&current, root) {
            let steps = current.components().count().saturating_sub(root.components().count());
            if (1..=MOST_STEPS).contains(&steps) {
                bases.push((root, vec![".."; steps].join(std::path::MAIN_SEPARATOR_STR)));
            }
        }
        bases.extend(current.map(|dir| (dir, String::new())));
        bases.retain(|(dir, _)| dir.is_absolute() && dir.parent().is_some());
        // The sort is stable: in the home directory, `~` wins.
        bases.sort_by_key(|(dir, _)| std::cmp::Reverse(dir.components().count()));
        Self(bases)
    }

    fn shorten(&self, path: &Path) -> Option<PathBuf> {
        let (rest, short) =
            self.0.iter().find_map(|(dir, short)| Some((path.strip_prefix(dir).ok()?, short.as_str())))?;
        let is_base = rest.as_os_str().is_empty();
        Some(match short {
            "" if is_base => PathBuf::from("."),
            "" => rest.to_owned(),
            short if is_base => PathBuf::from(short),
            short => Path::new(short).join(rest),
        })
    }

    /// Replaces these directories where they start a path in a text.
    fn shorten_all(&self, text: &str) -> String {
        let separator = std::path::MAIN_SEPARATOR;
        let bases = self.0.iter().filter_map(|(dir, short)| {
            let short = if short.is_empty() { String::new() } else { format!("{short}{separator}") };
            Some((format!("{}{separator}", dir.to_str()?), short))
        });
        let bases: Vec<_> = bases.collect();
        let mut shortened = String::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let is_start = shortened.chars().next_back().is_none_or(|c| !is_part_of_path(c));
            let base = bases.iter().find_map(|(dir, short)| {
                let below = rest.strip_prefix(dir.as_str())?;
                if is_start && below.starts_with(is_part_of_path) { Some((short, below)) } else { None }
            });
            if let Some((short, below)) = base {
                shortened += short;
                rest = below;
            } else {
                shortened.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
        shortened
    }
}

/// Returns `false` for characters around a path in a message.
fn is_part_of_path(c: char) -> bool {
    !c.is_whitespace() && !"`'\"()".contains(c)
}

/// A path for people: relative to the current directory if it is in the same repository, or with `~` for the home directory,
/// or else as it is.
pub fn display_path(path: &Path) -> String {
    printable_bytes(Bases::get().shorten(path).as_deref().unwrap_or(path).as_os_str().as_encoded_bytes())
}

/// The place of a hook for people: its file as [`display_path`] shows it, with the line.
pub fn display_source(source: &Source) -> String {
    match (&source.file, source.line) {
        (Some(file), Some(line)) => format!("{}:{line}", display_path(Path::new(file))),
        (Some(file), None) => display_path(Path::new(file)),
        (None, _) => source.scope.to_string(),
    }
}

/// A text with the absolute paths in it shortened as [`display_path`] does.
pub fn shorten_paths(text: &str) -> String {
    Bases::get().shorten_all(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases() -> Bases {
        Bases::new(Some("/home/ann/project".into()), None, Some("/home/ann".into()))
    }

    #[test]
    #[cfg(unix)]
    fn paths_are_relative_or_below_the_home() {
        for (path, shown) in [
            ("/home/ann/project/.checkrein/hooks.yaml", ".checkrein/hooks.yaml"),
            ("/home/ann/project", "."),
            ("/home/ann/projects/x", "~/projects/x"),
            ("/home/ann", "~"),
            ("/home/anna/x", "/home/anna/x"),
            ("hooks.yaml", "hooks.yaml"),
            ("/etc/checkrein/hooks.yaml", "/etc/checkrein/hooks.yaml"),
        ] {
            let path = Path::new(path);
            assert_eq!(bases().shorten(path).as_deref().unwrap_or(path), Path::new(shown));
        }
    }

    #[test]
    #[cfg(unix)]
    fn paths_in_texts_are_shortened_at_their_start() {
        for (text, shown) in [
            ("cannot read /home/ann/project/a.yaml: gone", "cannot read a.yaml: gone"),
            ("hook `x` (/home/ann/project/a.yaml:3) failed", "hook `x` (a.yaml:3) failed"),
            ("run `chmod +x /home/ann/bin/x`", "run `chmod +x ~/bin/x`"),
            ("/home/ann/project/ and /home/ann", "~/project/ and /home/ann"),
            ("file:///home/ann/project/x", "file:///home/ann/project/x"),
            ("PATH=/a:/home/ann/bin/x", "PATH=/a:/home/ann/bin/x"),
            ("/home/anna/x", "/home/anna/x"),
            ("ä /home/ann/ö", "ä ~/ö"),
        ] {
            assert_eq!(bases().shorten_all(text), shown);
        }
    }

    #[test]
    #[cfg(unix)]
    fn files_of_the_repository_are_relative_to_a_subdirectory() {
        let shorten = |current: &str, path: &str| {
            let bases = Bases::new(Some(current.into()), Some("/home/ann/project".into()), Some("/home/ann".into()));
            bases.shorten(Path::new(path)).unwrap()
        };
        assert_eq!(shorten("/home/ann/project/a/b", "/home/ann/project/x"), Path::new("../../x"));
        assert_eq!(shorten("/home/ann/project/a/b", "/home/ann/project/a/b/x"), Path::new("x"));
        assert_eq!(shorten("/home/ann/project/a/b", "/home/ann/x"), Path::new("~/x"));
        assert_eq!(shorten("/home/ann/project/1/2/3/4", "/home/ann/project/x"), Path::new("~/project/x"));
    }

    #[test]
    #[cfg(unix)]
    fn the_most_specific_directory_wins() {
        let shorten = |current: &str, home: &str, path: &str| {
            Bases::new(Some(current.into()), None, Some(home.into())).shorten(Path::new(path))
        };
        assert_eq!(shorten("/w", "/w/home", "/w/home/x"), Some("~/x".into()));
        assert_eq!(shorten("/home/bob", "/home/bob", "/home/bob/x"), Some("~/x".into()));
        assert_eq!(shorten("/", "", "/etc/x"), None, "the root and an empty home shorten nothing");
    }
}
