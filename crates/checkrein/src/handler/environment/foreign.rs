//! Directories that contain code of others: checkouts of repositories, and caches of packages.
//!
//! A project can set `PATH` and `SHELL` for its agent. Besides its own directories it can name another checkout or a dependency,
//! whose files it knows. Programs in such a directory do not replace those of the system.

use std::path::{Component, Path};

use crate::hook_files::repository;
use crate::real_path::real_path;

/// Directories of the system, in which only administrators write. Links in them are not followed.
const SYSTEM: &[&str] =
    &["/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt", "/nix", "/snap"];

/// Directories in the home directory that are checkouts of tools which their users install that way.
const TOOL_CHECKOUTS: &[&str] =
    &[".asdf", ".nodenv", ".nvm", ".pyenv", ".rbenv", ".sdkman", ".fzf", ".linuxbrew", ".emacs.d"];

/// Sequences of names that are caches of packages.
const CACHES: &[&[&str]] = &[
    &["node_modules"],
    &["site-packages"],
    &["dist-packages"],
    &[".cargo", "registry"],
    &[".cargo", "git"],
    &["pkg", "mod"],
    &[".m2", "repository"],
    &[".gradle", "caches"],
    &[".npm", "_cacache"],
    &[".cache"],
];

/// `true` if a directory may contain programs of a repository or of a package. `home`: home directory of the user, besides that of the account.
pub(in crate::handler) fn is_foreign(dir: &Path, home: Option<&Path>) -> bool {
    if SYSTEM.iter().any(|system| dir.starts_with(system)) && !dir.components().any(|part| part == Component::ParentDir)
    {
        return false;
    }
    // A directory that does not exist has no programs.
    let Ok(real) = real_path(dir) else { return false };
    let names: Vec<_> = real.components().filter_map(|part| part.as_os_str().to_str()).collect();
    if CACHES.iter().any(|cache| names.windows(cache.len()).any(|part| part == *cache)) {
        return true;
    }
    if is_writable_by_others(&real) {
        return true;
    }
    let Some(root) = repository(&real) else { return false };
    let is_own =
        |home: &Path| home.starts_with(root) || TOOL_CHECKOUTS.iter().any(|tool| root.starts_with(home.join(tool)));
    let homes = home.map(Path::to_owned).into_iter().chain(checkrein_process::user_home());
    !homes.filter_map(|home| real_path(&home).ok()).any(|home| is_own(&home))
}

#[cfg(unix)]
fn is_writable_by_others(dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let Ok(metadata) = dir.metadata() else { return false };
    let own_uid = rustix::process::geteuid().as_raw();
    metadata.mode() & 0o002 != 0 || (metadata.uid() != own_uid && metadata.uid() != 0)
}

#[cfg(not(unix))]
fn is_writable_by_others(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn checkouts_and_caches_are_foreign() {
        let home = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = home.path().join(path);
            std::fs::create_dir_all(&path).unwrap();
            path
        };
        for root in ["src/clone/.git", ".nvm/.git", "src/.worktree"] {
            make(root);
        }
        std::fs::write(home.path().join("src/.worktree/.git"), "gitdir: x").unwrap();
        let world = make("shared");
        std::fs::set_permissions(&world, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let link = home.path().join("link");
        std::os::unix::fs::symlink(make("src/clone/bin"), &link).unwrap();
        for (path, foreign) in [
            ("src/clone/bin", true),
            ("src/.worktree/bin", true),
            ("work/node_modules/.bin", true),
            (".cargo/registry/src/evil-1.0", true),
            ("go/pkg/mod/evil", true),
            ("shared", true),
            ("link", true),
            (".cargo/bin", false),
            (".local/bin", false),
            ("go/bin", false),
            (".nvm/versions/node/v24/bin", false),
            ("bin", false),
        ] {
            let path = if path == "link" { link.clone() } else { make(path) };
            if path != link && path != world {
                std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            }
            assert_eq!(is_foreign(&path, Some(home.path())), foreign, "{}", path.display());
        }
        for (path, foreign) in
            [("/usr/bin", false), ("/no/such/directory", false), ("/tmp", true), ("/usr/bin/../../tmp", true)]
        {
            assert_eq!(is_foreign(Path::new(path), Some(home.path())), foreign, "{path}");
        }
        // Settings of the user may be in a repository at home.
        make(".git");
        assert!(!is_foreign(&make(".local/bin"), Some(home.path())));
    }
}
