//! Which files there are: rules for Landlock.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::fs::{FileType, Mode, OFlags, fstat, open, stat};
use rustix::io::Errno;

use super::refused;
use crate::place::Place;
use crate::sandbox::{Files, SandboxError};

/// Before this version, files that may not be written could still be cut.
const NEEDED: u32 = 3;
/// From this version on, device files can be kept from special requests.
const DEVICE_REQUESTS: u32 = 5;
/// From this version on, processes outside can be kept from signals.
const SIGNALS: u32 = 6;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
/// All that version 3 knows.
const ALL: u64 = (1 << 15) - 1;

const READ: u64 = EXECUTE | READ_FILE | READ_DIR;
/// No device files: with them, root could go around all of this.
const WRITE: u64 = ALL & !(MAKE_CHAR | MAKE_BLOCK);
/// What can be said of a file that is no directory.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;

const SCOPE_SIGNAL: u64 = 1 << 1;

/// What programs need, to read and to execute. Of `/etc` only what is no secret even to root. A star stands for the rest of
/// a name.
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

/// The same for programs that use the network.
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

#[derive(Debug)]
struct SystemPath {
    path: PathBuf,
    is_directory: bool,
}

/// Those of them that are there, but for links to what others hold. Each rule costs time at every start.
fn system() -> &'static [SystemPath] {
    static FOUND: OnceLock<Vec<SystemPath>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found: Vec<SystemPath> = Vec::new();
        for path in SYSTEM.iter().flat_map(|path| expanded(path)) {
            let is_held = |real: &PathBuf| found.iter().any(|other| real.starts_with(&other.path));
            if path.canonicalize().is_ok_and(|real| !is_held(&real)) {
                found.push(SystemPath { is_directory: path.is_dir(), path });
            }
        }
        found
    })
}

fn expanded(path: &str) -> Vec<PathBuf> {
    let Some((directory, start)) = path.strip_suffix('*').and_then(|path| path.rsplit_once('/')) else {
        return vec![path.into()];
    };
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let fits = |name: &OsStr| name.as_encoded_bytes().starts_with(start.as_bytes());
    entries.filter(|entry| fits(&entry.file_name())).map(|entry| entry.path()).collect()
}

/// Devices that hold nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Beside a directory of programs, where their libraries are.
const BESIDE: &[&str] = &["lib", "lib64", "libexec"];

/// What this one process needs besides.
pub(super) struct Needed<'a> {
    pub(super) program: &'a Path,
    pub(super) place: &'a Place,
    pub(super) temporary: Option<&'a Path>,
    pub(super) network: bool,
}

impl Needed<'_> {
    /// The program, the directories of the `PATH`, and the libraries beside those.
    fn paths(&self) -> Vec<PathBuf> {
        let program = self.place.cwd().join(self.program);
        let mut all: Vec<PathBuf> = Vec::from_iter(program.canonicalize());
        let search = self.place.var("PATH").unwrap_or_default();
        for directory in std::env::split_paths(search).filter(|directory| directory.is_absolute()) {
            // The root would be everything.
            if is_of_system(&directory) || directory.parent().is_none() || all.contains(&directory) {
                continue;
            }
            if let (Some("bin" | "sbin"), Some(parent)) =
                (directory.file_name().and_then(|name| name.to_str()), directory.parent())
            {
                all.extend(BESIDE.iter().map(|name| parent.join(name)));
            }
            all.push(directory);
        }
        all
    }
}

fn is_of_system(path: &Path) -> bool {
    system().iter().any(|system| path.starts_with(&system.path))
}

#[repr(C)]
struct RulesetAttributes {
    handled_access_fs: u64,
    handled_access_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// The version of the kernel's Landlock.
pub(super) fn version() -> Result<u32, Errno> {
    const VERSION: u32 = 1;
    // SAFETY: with this flag and no attributes the call reads no memory.
    #[expect(unsafe_code, reason = "a system call that nobody wraps")]
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION) };
    u32::try_from(version).map_err(|_| last_error())
}

/// The rules for these files. `None`, if there is nothing that Landlock could do.
pub(super) fn ruleset<'a>(
    files: Option<&Files>,
    version: Result<u32, Errno>,
    needed: impl FnOnce() -> Needed<'a>,
) -> Result<Option<Arc<OwnedFd>>, SandboxError> {
    let version = match (files, version) {
        (Some(_), Err(_)) => return Err(SandboxError::NoLandlock),
        (Some(_), Ok(have)) if have < NEEDED => return Err(SandboxError::OldLandlock { have, need: NEEDED }),
        (None, version) if version.is_err() || version.is_ok_and(|have| have < SIGNALS) => return Ok(None),
        (_, version) => version.unwrap_or_default(),
    };
    let devices = if version >= DEVICE_REQUESTS { IOCTL_DEV } else { 0 };
    let attributes = RulesetAttributes {
        handled_access_fs: if files.is_some() { ALL | devices } else { 0 },
        handled_access_net: 0,
        scoped: if version >= SIGNALS { SCOPE_SIGNAL } else { 0 },
    };
    let made = || create(&attributes).map_err(refused("a set of rules for files"));
    let Some(files) = files else { return Ok(Some(Arc::new(made()?))) };
    let needed = needed();
    let wanted = Wanted::of(files, &needed);
    if let Some(kept) = kept::find(&wanted) {
        return Ok(Some(kept));
    }
    let ruleset = made()?;
    let own: Vec<PathBuf> = needed.paths();
    let write = wanted.write.iter().map(|path| (path, WRITE));
    let read = wanted.read.iter().chain(&own).map(|path| (path, READ));
    let mut seen: Vec<(PathBuf, Option<Identity>)> = vec![(wanted.program.clone(), identity(&wanted.program))];
    for (path, access) in write.chain(read) {
        // Looked at first: one that takes its place meanwhile is then taken for another the next time.
        seen.push((path.clone(), identity(path)));
        allow(&ruleset, path, access, None)?;
    }
    let online = ONLINE.iter().map(Path::new).filter(|_| needed.network);
    for path in online {
        allow(&ruleset, path, READ, None)?;
    }
    for path in system() {
        allow(&ruleset, &path.path, READ, Some(path.is_directory))?;
    }
    for path in DEVICES {
        allow(&ruleset, Path::new(path), READ_FILE | WRITE_FILE | TRUNCATE, Some(false))?;
    }
    Ok(Some(kept::keep(wanted, seen, ruleset)))
}

/// What rules depend on, besides the system's own directories.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    program: PathBuf,
    search: OsString,
    /// The temporary directory among them.
    write: Vec<PathBuf>,
    read: Vec<PathBuf>,
    network: bool,
}

impl Wanted {
    fn of(files: &Files, needed: &Needed<'_>) -> Self {
        let place = needed.place;
        let from = |paths: &[PathBuf]| paths.iter().map(|path| place.cwd().join(path)).collect::<Vec<_>>();
        let mut write = from(&files.write);
        write.extend(needed.temporary.map(Path::to_owned));
        Self {
            program: place.cwd().join(needed.program),
            search: place.var("PATH").unwrap_or_default().to_owned(),
            write,
            read: from(&files.read),
            network: needed.network,
        }
    }
}

/// What a path leads to. Rules are about that, not about the path.
type Identity = (u64, u64);

fn identity(path: &Path) -> Option<Identity> {
    let found = stat(path).ok()?;
    #[allow(clippy::unnecessary_cast, reason = "not of the same size on every machine")]
    Some((found.st_dev as u64, found.st_ino as u64))
}

/// Rules of late. To make them anew takes a hundred system calls, and most hooks run again and again.
mod kept {
    use super::*;

    const MOST: usize = 8;

    struct Kept {
        wanted: Wanted,
        seen: Vec<(PathBuf, Option<Identity>)>,
        ruleset: Arc<OwnedFd>,
    }

    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

    /// Rules for the same, if all that they are about is still there.
    pub(super) fn find(wanted: &Wanted) -> Option<Arc<OwnedFd>> {
        let mut all = lock();
        let at = all.iter().position(|kept| kept.wanted == *wanted)?;
        let is_same = all[at].seen.iter().all(|(path, before)| identity(path) == *before);
        if !is_same {
            all.remove(at);
            return None;
        }
        Some(Arc::clone(&all[at].ruleset))
    }

    pub(super) fn keep(wanted: Wanted, seen: Vec<(PathBuf, Option<Identity>)>, ruleset: OwnedFd) -> Arc<OwnedFd> {
        let ruleset = Arc::new(ruleset);
        let mut all = lock();
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push(Kept { wanted, seen, ruleset: Arc::clone(&ruleset) });
        ruleset
    }

    fn lock() -> MutexGuard<'static, Vec<Kept>> {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn create(attributes: &RulesetAttributes) -> io::Result<OwnedFd> {
    // Older kernels take a longer structure if what they don't know of it is zero.
    let size = size_of::<RulesetAttributes>();
    // SAFETY: the structure is as long as the call is told.
    #[expect(unsafe_code, reason = "a system call that nobody wraps")]
    let ruleset = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, attributes, size, 0_u32) };
    let ruleset = i32::try_from(ruleset).ok().filter(|&ruleset| ruleset >= 0).ok_or_else(last_error)?;
    // SAFETY: a new descriptor that nobody else has.
    #[expect(unsafe_code, reason = "the descriptor comes from a raw call")]
    Ok(unsafe { OwnedFd::from_raw_fd(ruleset) })
}

/// Adds a rule. What is not there needs none.
fn allow(ruleset: &OwnedFd, path: &Path, access: u64, is_directory: Option<bool>) -> Result<(), SandboxError> {
    const PATH_BENEATH: u32 = 1;
    let Ok(parent) = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else { return Ok(()) };
    let is_directory = is_directory.unwrap_or_else(|| {
        fstat(&parent).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    });
    let access = if is_directory { access } else { access & OF_FILES };
    let rule = PathBeneath { allowed_access: access, parent_fd: parent.as_raw_fd() };
    // SAFETY: the structure is the one that this kind of rule has, and the descriptor in it is open.
    #[expect(unsafe_code, reason = "a system call that nobody wraps")]
    let done = unsafe {
        libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), PATH_BENEATH, &raw const rule, 0_u32)
    };
    if done == 0 { Ok(()) } else { Err(refused("a rule for files")(last_error().into())) }
}

fn last_error() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: Option<&Files>, version: Result<u32, Errno>) -> Result<bool, SandboxError> {
        let place = Place::new("/");
        let needed = || Needed { program: Path::new("/bin/sh"), place: &place, temporary: None, network: false };
        ruleset(files, version, needed).map(|ruleset| ruleset.is_some())
    }

    #[test]
    fn without_landlock_files_are_never_left_open() {
        let files = Files::none();
        for missing in [Errno::NOSYS, Errno::OPNOTSUPP, Errno::PERM] {
            assert!(matches!(with(Some(&files), Err(missing)), Err(SandboxError::NoLandlock)));
            assert!(matches!(with(None, Err(missing)), Ok(false)), "nothing was asked of it");
        }
        for old in 0..NEEDED {
            let found = with(Some(&files), Ok(old));
            assert!(matches!(found, Err(SandboxError::OldLandlock { have, need: NEEDED }) if have == old), "{found:?}");
            assert!(matches!(with(None, Ok(old)), Ok(false)));
        }
    }

    #[test]
    fn the_path_opens_its_directories_and_libraries_but_no_home() {
        let place = Place::new("/").env([("PATH", "/usr/bin:/:relative:/home/ann/bin:/home/ann/.node/bin")]);
        let paths = Needed { program: Path::new("/no/such"), place: &place, temporary: None, network: false }.paths();
        for (path, is_in) in [
            ("/home/ann/bin", true),
            ("/home/ann/lib", true),
            ("/home/ann/.node/lib", true),
            ("/home/ann", false),
            ("/home/ann/.node", false),
            ("/", false),
            ("/usr/bin", false),
            ("relative", false),
        ] {
            assert_eq!(paths.contains(&PathBuf::from(path)), is_in, "{path}: {paths:?}");
        }
    }
}
