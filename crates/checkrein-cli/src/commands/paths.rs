//! Short forms of paths for text that people read. JSON output keeps absolute paths.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use checkrein::hook::Source;

use super::printable;

/// Directories that paths are shortened against.
struct Bases {
    current: Option<PathBuf>,
    /// The home directory as the environment names it, and its real path if that differs.
    home: Vec<PathBuf>,
}

impl Bases {
    fn get() -> &'static Self {
        static BASES: OnceLock<Bases> = OnceLock::new();
        BASES.get_or_init(|| {
            let mut home: Vec<_> = std::env::home_dir().into_iter().filter(|home| is_base(home)).collect();
            let real = home.first().and_then(|home| home.canonicalize().ok());
            home.extend(real.filter(|real| is_base(real) && !home.contains(real)));
            let current = std::env::current_dir().ok().filter(|dir| is_base(dir) && !home.contains(dir));
            Self { current, home }
        })
    }

    fn shorten(&self, path: &Path) -> Option<PathBuf> {
        if let Some(rest) = self.current.as_ref().and_then(|dir| path.strip_prefix(dir).ok()) {
            return Some(if rest.as_os_str().is_empty() { PathBuf::from(".") } else { rest.to_owned() });
        }
        let rest = self.home.iter().find_map(|home| path.strip_prefix(home).ok())?;
        Some(if rest.as_os_str().is_empty() { PathBuf::from("~") } else { Path::new("~").join(rest) })
    }

    /// Replaces these directories where they start a path in a text.
    fn shorten_all(&self, text: &str) -> String {
        let current = self.current.iter().map(|dir| (dir, ""));
        let bases: Vec<_> = current
            .chain(self.home.iter().map(|dir| (dir, "~/")))
            .filter_map(|(dir, short)| Some((format!("{}{}", dir.to_str()?, std::path::MAIN_SEPARATOR), short)))
            .collect();
        let mut shortened = String::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let starts_path = shortened.chars().next_back().is_none_or(|c| c.is_whitespace() || "`'\"(".contains(c));
            let base = bases.iter().find(|(dir, _)| {
                starts_path && rest.strip_prefix(dir.as_str()).is_some_and(|below| below.starts_with(is_part_of_name))
            });
            match base {
                Some((dir, short)) => {
                    shortened += short;
                    rest = &rest[dir.len()..];
                    // A name may contain none of the characters before a path, so this part ends with it.
                    let end = rest.find(|c| !is_part_of_name(c)).unwrap_or(rest.len());
                    shortened += &rest[..end];
                    rest = &rest[end..];
                }
                None => {
                    shortened.push(next);
                    rest = &rest[next.len_utf8()..];
                }
            }
        }
        shortened
    }
}

/// Returns `true` if a directory can shorten paths: the root of the file system cannot.
fn is_base(dir: &Path) -> bool {
    dir.is_absolute() && dir.parent().is_some()
}

fn is_part_of_name(c: char) -> bool {
    !c.is_whitespace() && !"`'\"()".contains(c)
}

/// A path for people: relative to the current directory, or with `~` for the home directory, or else as it is.
pub fn display_path(path: &Path) -> String {
    printable(&Bases::get().shorten(path).as_deref().unwrap_or(path).to_string_lossy())
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
        Bases { current: Some("/home/ann/project".into()), home: vec!["/home/ann".into()] }
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
    fn the_root_shortens_nothing() {
        assert!(!is_base(Path::new("/")));
        assert!(!is_base(Path::new("relative")));
    }
}
