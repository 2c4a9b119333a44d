//! Symbolic links on the way to a file.

use std::path::{Path, PathBuf};

/// Maximum number of links, as in Linux.
const MAX_LINKS: usize = 40;

/// Returns every link on the way to a file, first to last. A change of one of them replaces the file.
pub(super) fn on_the_way(path: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    let mut path = path.to_owned();
    while links.len() < MAX_LINKS {
        let mut parts: Vec<_> = path.ancestors().collect();
        parts.reverse();
        let Some((link, target)) = parts.iter().find_map(|part| Some((part.to_path_buf(), part.read_link().ok()?)))
        else {
            break;
        };
        let rest = path.strip_prefix(&link).unwrap_or(Path::new("")).to_owned();
        let target = link.parent().unwrap_or(Path::new("/")).join(target);
        path = if rest.as_os_str().is_empty() { target } else { target.join(rest) };
        links.push(link);
    }
    links
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn all_links_on_the_way_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("v1")).unwrap();
        std::fs::write(root.join("v1/h.json"), "{}").unwrap();
        symlink("v1", root.join("data")).unwrap();
        symlink("data/h.json", root.join("hooks.json")).unwrap();
        assert_eq!(on_the_way(&root.join("hooks.json")), [root.join("hooks.json"), root.join("data")]);
        assert!(on_the_way(&root.join("v1/h.json")).is_empty());
        symlink("loop", root.join("loop")).unwrap();
        assert_eq!(on_the_way(&root.join("loop")).len(), MAX_LINKS);
    }
}
