//! Landlock rules for the files that a sandbox allows.
//!
//! A missing right of the kernel is an error: a sandbox must never allow more than was requested.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, Access as _, AccessError, AccessFs, BitFlags, CompatError, CompatLevel, Compatible as _, HandleAccessError,
    HandleAccessesError, PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _,
    RulesetError, Scope,
};

use super::super::user_home;
use super::refused;
use crate::exec_context::ExecContext;
use crate::sandbox::{Files, SandboxError};

/// Earlier versions cannot prevent truncation of read-only files.
const NEEDED: ABI = ABI::V3;

/// Paths that programs need to read and execute. In `/etc`, only files that are readable by all users. A star matches the
/// rest of a name.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm",
    "/dev/random",
    "/dev/urandom",
    "/etc/group",
    "/etc/java*",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/python3*",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

/// Further paths for programs that use the network.
const ONLINE: &[&str] = &[
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
];

/// The existing paths of [`SYSTEM`], without links into others of them. Each rule costs time at every start.
fn system() -> &'static [PathBuf] {
    static FOUND: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found: Vec<PathBuf> = Vec::new();
        for path in SYSTEM.iter().flat_map(|path| expand(path)) {
            let is_covered = |real: &PathBuf| found.iter().any(|other| real.starts_with(other));
            if path.canonicalize().is_ok_and(|real| !is_covered(&real)) {
                found.push(path);
            }
        }
        found
    })
}

fn expand(path: &str) -> Vec<PathBuf> {
    let Some((directory, start)) = path.strip_suffix('*').and_then(|path| path.rsplit_once('/')) else {
        return vec![path.into()];
    };
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let matches = |name: &OsStr| name.as_encoded_bytes().starts_with(start.as_bytes());
    entries.filter(|entry| matches(&entry.file_name())).map(|entry| entry.path()).collect()
}

/// Devices without content.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Directories of libraries next to a directory of programs.
const LIBRARIES: &[&str] = &["lib", "lib64", "libexec"];

/// Further paths that one process needs.
pub(super) struct RuntimePaths<'a> {
    pub(super) program: &'a Path,
    pub(super) context: &'a ExecContext,
    pub(super) temporary: Option<&'a Path>,
    pub(super) network: bool,
}

impl RuntimePaths<'_> {
    /// The program, the directories of the `PATH` that belong to the system, and the libraries beside those. A project can
    /// set `PATH`, so a directory of the user is not readable because of it.
    fn paths(&self) -> Vec<PathBuf> {
        let program = self.context.cwd().join(self.program);
        let mut all: Vec<PathBuf> = Vec::from_iter(program.canonicalize());
        let search = self.context.var("PATH").unwrap_or_default();
        let variable = self.context.var("HOME").map(PathBuf::from);
        let homes: Vec<PathBuf> = user_home().into_iter().chain(variable).collect();
        for directory in std::env::split_paths(search).filter(|directory| directory.is_absolute()) {
            if is_of_system(&directory) || all.contains(&directory) || !is_system_owned(&directory, &homes) {
                continue;
            }
            if let (Some("bin" | "sbin"), Some(parent)) =
                (directory.file_name().and_then(|name| name.to_str()), directory.parent())
            {
                all.extend(LIBRARIES.iter().map(|name| parent.join(name)));
            }
            all.push(directory);
        }
        all
    }
}

/// `true` if a directory belongs to root, only root can write to it, and it neither contains a home directory nor lies in one.
fn is_system_owned(directory: &Path, homes: &[PathBuf]) -> bool {
    let Ok(real) = directory.canonicalize() else { return false };
    let Ok(metadata) = real.metadata() else { return false };
    let is_home = |home: &PathBuf| {
        let home = home.canonicalize().unwrap_or_else(|_| home.clone());
        home.parent().is_some() && (real.starts_with(&home) || home.starts_with(&real))
    };
    real.parent().is_some() && metadata.uid() == 0 && metadata.mode() & 0o022 == 0 && !homes.iter().any(is_home)
}

fn is_of_system(path: &Path) -> bool {
    system().iter().any(|system| path.starts_with(system))
}

/// Creates the rules for these files. `None` if nothing was requested that this kernel supports.
pub(super) fn ruleset(files: Option<&Files>, needed: &RuntimePaths<'_>) -> Result<Option<OwnedFd>, SandboxError> {
    let mut ruleset = Ruleset::default();
    if files.is_some() {
        let required = ruleset.set_compatibility(CompatLevel::HardRequirement);
        ruleset = required.handle_access(AccessFs::from_all(NEEDED)).map_err(unsupported)?;
    }
    // Newer kernels can also block ioctls on devices, and signals to processes outside of the sandbox.
    ruleset = ruleset.set_compatibility(CompatLevel::BestEffort);
    if files.is_some() {
        ruleset = ruleset.handle_access(AccessFs::IoctlDev).map_err(unsupported)?;
    }
    let created = ruleset.scope(Scope::Signal).and_then(Ruleset::create);
    let mut created = created.map_err(|error| refused("create file rules")(io::Error::other(error)))?;
    if let Some(files) = files {
        allow_all(&mut created, files, needed).map_err(|error| refused("add a file rule")(io::Error::other(error)))?;
    }
    Ok(created.into())
}

fn allow_all(ruleset: &mut RulesetCreated, files: &Files, needed: &RuntimePaths<'_>) -> Result<(), RulesetError> {
    let read = AccessFs::from_read(NEEDED);
    // No new device files: root could bypass the rules with them.
    let write = AccessFs::from_all(NEEDED) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    for path in &files.write {
        allow(ruleset, &needed.context.cwd().join(path), write)?;
    }
    if let Some(path) = needed.temporary {
        allow(ruleset, path, write)?;
    }
    for path in &files.read {
        allow(ruleset, &needed.context.cwd().join(path), read)?;
    }
    for path in needed.paths().iter().chain(system()) {
        allow(ruleset, path, read)?;
    }
    if needed.network {
        for path in ONLINE {
            allow(ruleset, Path::new(path), read)?;
        }
    }
    for path in DEVICES {
        allow(ruleset, Path::new(path), AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate)?;
    }
    Ok(())
}

/// Adds a rule. Missing paths are skipped. For files, the rights that only directories have are omitted.
fn allow(ruleset: &mut RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<(), RulesetError> {
    let Ok(descriptor) = PathFd::new(path) else { return Ok(()) };
    ruleset.add_rule(PathBeneath::new(descriptor, access)).map(drop)
}

/// The error for rights that the kernel lacks.
fn unsupported(error: RulesetError) -> SandboxError {
    let RulesetError::HandleAccesses(HandleAccessesError::Fs(HandleAccessError::Compat(CompatError::Access(access)))) =
        error
    else {
        return refused("create file rules")(io::Error::other(error));
    };
    match access {
        // Version 2 added `Refer`, version 3 `Truncate`.
        AccessError::PartiallyCompatible { incompatible, .. } => {
            let have = if incompatible.contains(AccessFs::Refer) { 1 } else { 2 };
            SandboxError::OldLandlock { have, need: NEEDED as u32 }
        }
        AccessError::Empty | AccessError::Unknown { .. } | AccessError::Incompatible { .. } => SandboxError::NoLandlock,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_contains_the_landlock_version_of_the_kernel() {
        let missing = |incompatible: BitFlags<AccessFs>| {
            let access = AccessError::PartiallyCompatible { access: AccessFs::from_all(NEEDED), incompatible };
            unsupported(HandleAccessesError::Fs(CompatError::Access(access).into()).into())
        };
        for (version, have) in [(ABI::V1, 1), (ABI::V2, 2)] {
            let found = missing(AccessFs::from_all(NEEDED) & !AccessFs::from_all(version));
            assert!(matches!(found, SandboxError::OldLandlock { have: found, need: 3 } if found == have), "{found:?}");
        }
    }

    #[test]
    fn path_opens_no_directory_of_a_user() {
        let dir = tempfile::tempdir().unwrap();
        let (bin, home) = (dir.path().join("bin"), dir.path().join("home"));
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(home.join("bin")).unwrap();
        // Anyone may write to this directory.
        std::fs::set_permissions(&bin, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let entries = ["/usr/bin", "/", "relative", "/root", "/root/.ssh"].map(PathBuf::from);
        let entries: Vec<_> =
            entries.into_iter().chain([bin, home.join("bin"), home.clone(), dir.path().into()]).collect();
        let search = std::env::join_paths(&entries).unwrap();
        let place = ExecContext::new("/").env([("PATH", search.as_os_str()), ("HOME", home.as_os_str())]);
        let paths =
            RuntimePaths { program: Path::new("/no/such"), context: &place, temporary: None, network: false }.paths();
        assert_eq!(paths, Vec::<PathBuf>::new());
    }

    #[test]
    fn path_opens_directories_that_belong_to_root() {
        // Owned by root on every Linux system, and no place of programs or libraries.
        let place = ExecContext::new("/").env([("PATH", "/sys"), ("HOME", "/nonexistent/home")]);
        let paths =
            RuntimePaths { program: Path::new("/no/such"), context: &place, temporary: None, network: false }.paths();
        let is_root = Path::new("/sys").metadata().is_ok_and(|found| found.uid() == 0);
        assert_eq!(paths.contains(&PathBuf::from("/sys")), is_root);
    }
}
