//! The program that runs hooks, for hooks that call it: `checkrein get`, `checkrein say`.
//!
//! Its directory is the last entry of a hook's `PATH`, so it never replaces another program. A directory in which others can
//! put programs is left out.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::PATH;
use crate::handler::HandlerEnv;
use crate::trust::is_writable_by_others;

/// Variable with the absolute path of the program.
const PROGRAM: &str = "CHECKREIN_BIN";

/// Adds the program of the host to a hook's variables.
pub(super) fn add(variables: &mut Vec<(OsString, OsString)>, env: &HandlerEnv) {
    let Some(program) = &env.program else { return };
    // Another value may come from a project's settings.
    variables.retain(|(name, _)| name != PROGRAM);
    variables.push((PROGRAM.into(), program.clone().into()));
    let Some(dir) = program.parent().filter(|dir| is_safe(dir, env)) else { return };
    // Without a `PATH`, programs have a default one, and an entry would replace it.
    if let Some((_, path)) = variables.iter_mut().rev().find(|(name, _)| is_path(name))
        && let Some(longer) = with_entry(path, dir)
    {
        *path = longer;
    }
}

fn is_path(name: &OsStr) -> bool {
    if cfg!(windows) { name.eq_ignore_ascii_case(PATH) } else { name == PATH }
}

/// `true` if only the user or the system can put programs into the directory.
fn is_safe(dir: &Path, env: &HandlerEnv) -> bool {
    dir.is_absolute() && !is_writable_by_others(dir) && !env.project_roots().contains(dir)
}

/// Returns a `PATH` with one more entry at its end. `None` if it has the entry, or cannot have it.
fn with_entry(path: &OsStr, dir: &Path) -> Option<OsString> {
    let entries: Vec<_> = std::env::split_paths(path).filter(|entry| !entry.as_os_str().is_empty()).collect();
    if entries.iter().any(|entry| entry == dir) {
        return None;
    }
    std::env::join_paths(entries.iter().map(AsRef::as_ref).chain([dir])).ok()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::Registry;

    fn path_with(cwd: &Path, program: &Path, path: Option<&str>) -> (Option<String>, Option<String>) {
        let mut env = HandlerEnv::new(cwd, [], Registry::empty());
        env.program = Some(program.to_owned());
        let mut variables: Vec<(OsString, OsString)> = vec![(PROGRAM.into(), "/evil".into())];
        variables.extend(path.map(|path| (PATH.into(), path.into())));
        add(&mut variables, &env);
        let value = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.to_str().unwrap().to_owned())
        };
        (value(PATH), value(PROGRAM))
    }

    #[test]
    fn directory_of_the_program_is_the_last_entry() {
        let (project, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (project, bin) = (project.path(), place.path().canonicalize().unwrap().join("bin"));
        std::fs::create_dir(&bin).unwrap();
        let program = bin.join("checkrein");
        let own = Some(program.to_str().unwrap().to_owned());
        let bin_text = bin.to_str().unwrap();
        let longer = Some(format!("/usr/bin:/bin:{bin_text}"));
        assert_eq!(path_with(project, &program, Some("/usr/bin:/bin")), (longer, own.clone()));
        let has_it = format!("{bin_text}:/bin");
        assert_eq!(path_with(project, &program, Some(&has_it)), (Some(has_it.clone()), own.clone()));
        assert_eq!(path_with(project, &program, None), (None, own.clone()), "no `PATH`, no entry");
        // Inside of the project, and a directory that others can write.
        assert_eq!(path_with(place.path(), &program, Some("/bin")), (Some("/bin".to_owned()), own.clone()));
        std::fs::set_permissions(&bin, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(path_with(project, &program, Some("/bin")), (Some("/bin".to_owned()), own));
    }
}
