//! Search for the hook files of a dialect.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use checkrein_core::Scope;
use checkrein_dialects::Dialect;
use checkrein_dialects::config::{Diagnostic, FileRow, PathBase, Severity};

use super::locations::Locations;

/// A possible hook file.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) scope: Scope,
    /// `true` if the path exists, readable or not.
    pub(super) is_there: bool,
    /// `true` for a regular file.
    pub(super) is_file: bool,
    /// `true` if its directory exists.
    pub(super) has_directory: bool,
    /// `true` if it belongs to the project.
    pub(super) of_project: bool,
    /// Directory of the project in which it was found.
    pub(super) project: Option<PathBuf>,
    /// Directory of the plugin that it belongs to.
    pub(super) plugin: Option<PathBuf>,
    /// `true` if an untrusted variable names another directory for files of this kind. The agent may read those files instead.
    pub(super) is_moved: bool,
    /// Reason why it cannot be read, for a directory with too many files.
    pub(super) problem: Option<Diagnostic>,
}

impl Candidate {
    fn new(path: PathBuf, row: &FileRow, is_there: bool, is_file: bool) -> Self {
        let of_project = comes_with_project(row);
        Self {
            path,
            scope: row.scope,
            is_there,
            is_file,
            has_directory: true,
            of_project,
            project: None,
            plugin: None,
            is_moved: false,
            problem: None,
        }
    }
}

/// Files of a dialect, in its order.
#[derive(Default)]
pub(super) struct Found {
    pub(super) files: Vec<Candidate>,
    /// Paths to watch.
    pub(super) followed: Vec<PathBuf>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Maximum number of files that are read in one directory.
const MAX_LISTED: usize = 1000;

/// Maximum number of names that are read in one directory.
const MAX_NAMES: usize = 100_000;

pub(super) fn find(dialect: &Dialect, dir: &Path, place: &Locations, wanted: impl Fn(&FileRow) -> bool) -> Found {
    let mut found = Found::default();
    for row in dialect.config.files.iter().filter(|row| wanted(row)) {
        found.row(row, dir, place);
    }
    found
}

impl Found {
    fn row(&mut self, row: &FileRow, dir: &Path, place: &Locations) {
        let before = self.files.len();
        let mut first_candidates = None;
        let is_in_project = matches!(row.base, PathBase::Project | PathBase::Repository | PathBase::Upwards { .. });
        for base in place.bases(row.base, dir) {
            let mut candidates = self.in_base(&base, row);
            if is_in_project {
                candidates.iter_mut().for_each(|candidate| candidate.project = Some(base.clone()));
            }
            if candidates.iter().any(|candidate| candidate.is_there) {
                first_candidates = Some(candidates);
                break;
            }
            first_candidates.get_or_insert(candidates);
        }
        self.files.extend(first_candidates.into_iter().flatten());
        if row.scope == Scope::User
            && let Some((variable, moved)) = place.moved_base(row.base, dir)
        {
            self.moved(row, variable, &moved);
            self.files.iter_mut().skip(before).for_each(|file| file.is_moved = true);
        }
    }

    fn in_base(&mut self, base: &Path, row: &FileRow) -> Vec<Candidate> {
        match (row.path.strip_suffix("/*"), row.path.split_once("/*/")) {
            (Some(directory), _) => self.list(&base.join(directory), row),
            (None, Some((directory, inside))) => self.plugins(&base.join(directory), inside, row),
            (None, None) => self.named(&base.join(row.path), row),
        }
    }

    /// Adds the files at a place that an untrusted variable names. They are treated as files of the project.
    fn moved(&mut self, row: &FileRow, variable: &str, base: &Path) {
        let candidates = self.in_base(base, row).into_iter().filter(|candidate| candidate.is_there);
        for candidate in candidates {
            let file = candidate.path.display().to_string();
            let text = format!(
                "this file is found by the variable `{variable}`, which a project can set, so its hooks need approval"
            );
            // With another `HOME`, the command would store the approval where the hooks do not look.
            let unset = if variable == "HOME" { "env -u HOME " } else { "" };
            let help = format!(
                "if it is yours, move it to the usual place, or run `checkrein install` again with `{variable}` set; \
                 to approve it: `{unset}checkrein trust approve --all --config {file}`"
            );
            self.diagnostics
                .push(Diagnostic::of_file(Severity::Warning, "moved-by-variable", file.clone(), text).with_help(help));
            self.files.push(Candidate { of_project: true, ..candidate });
        }
    }

    /// Returns one file with each of the extensions.
    fn named(&mut self, path: &Path, row: &FileRow) -> Vec<Candidate> {
        let with = |extension: &&str| {
            let mut name = path.as_os_str().to_owned();
            name.push(".");
            name.push(extension);
            PathBuf::from(name)
        };
        let paths =
            if row.extensions.is_empty() { vec![path.to_owned()] } else { row.extensions.iter().map(with).collect() };
        self.followed.extend(paths.iter().cloned());
        let mut candidates: Vec<Candidate> = Vec::new();
        // The common case: the directory does not exist.
        let directory = Directory::open_parent(path);
        if directory.as_ref().is_err_and(is_missing) {
            let missing = |path| Candidate::new(path, row, false, false);
            return paths.into_iter().map(|path| Candidate { has_directory: false, ..missing(path) }).collect();
        }
        for path in paths {
            let is_file = match &directory {
                Ok(directory) => directory.is_file(&path),
                Err(_) => path.symlink_metadata().map(|metadata| metadata.is_file()),
            };
            let (is_there, is_file, hidden) = match is_file {
                Ok(is_file) => (true, is_file, false),
                Err(error) if is_missing(&error) => (false, false, false),
                // The directory is not accessible, so one candidate is enough.
                Err(_) => (true, false, true),
            };
            if let Some(other) = candidates.iter().find(|other| other.is_there && is_there) {
                let text = format!("both this file and {} are read", other.path.display());
                self.diagnostics.push(
                    Diagnostic::of_file(Severity::Warning, "several-files", path.display().to_string(), text)
                        .with_help("keep the hooks in one file"),
                );
            }
            candidates.push(Candidate::new(path, row, is_there, is_file));
            if hidden {
                break;
            }
        }
        candidates
    }

    /// Returns the file in each existing subdirectory, sorted by name.
    fn plugins(&mut self, directory: &Path, inside: &str, row: &FileRow) -> Vec<Candidate> {
        let directories = self.list(directory, row);
        let mut all = Vec::new();
        for plugin in directories {
            if plugin.problem.is_some() {
                all.push(plugin);
                continue;
            }
            // The directory is missing or not accessible.
            if plugin.path == directory {
                return vec![plugin];
            }
            if plugin.path.is_dir() {
                let found = self.named(&plugin.path.join(inside), row).into_iter();
                all.extend(found.map(|file| Candidate { plugin: Some(plugin.path.clone()), ..file }));
            }
        }
        all
    }

    /// Returns all files of a directory, sorted by name. If there are too many, the directory itself is a candidate with a
    /// problem, which closes the gates that the other files could have.
    fn list(&mut self, directory: &Path, row: &FileRow) -> Vec<Candidate> {
        // New files can have any name.
        self.followed.push(directory.join("*"));
        let itself = |is_there| {
            let directory = Candidate::new(directory.to_owned(), row, is_there, false);
            vec![Candidate { has_directory: is_there, ..directory }]
        };
        let entries = match entries(directory) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return itself(false),
            Err(_) => return itself(true),
        };
        let fits = |path: &Path| {
            let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
            let extension = path.extension().and_then(OsStr::to_str);
            let known =
                extension.is_some_and(|have| row.extensions.iter().any(|known| have.eq_ignore_ascii_case(known)));
            !hidden && (known || row.extensions.is_empty())
        };
        let names = entries.len();
        let mut paths: Vec<_> = entries.into_iter().filter(|(path, _)| fits(path)).collect();
        paths.sort();
        let count = paths.len();
        paths.truncate(MAX_LISTED);
        let mut all: Vec<_> =
            paths.into_iter().map(|(path, is_file)| Candidate::new(path, row, true, is_file)).collect();
        if count > MAX_LISTED || names >= MAX_NAMES {
            let text = match names >= MAX_NAMES {
                true => format!("this directory has {MAX_NAMES} files or more; move files to another directory"),
                false => {
                    format!("this directory has {count} hook files, and {MAX_LISTED} are read; merge some of them")
                }
            };
            let why = Diagnostic::of_file(Severity::Error, "too-many-files", directory.display().to_string(), text);
            let itself = Candidate::new(directory.to_owned(), row, true, false);
            all.push(Candidate { problem: Some(why), ..itself });
        }
        all
    }
}

/// An open directory. The kernel then resolves its path once for several files.
struct Directory {
    #[cfg(target_os = "linux")]
    opened: std::os::fd::OwnedFd,
}

impl Directory {
    /// Opens the directory of a file, which need not exist.
    #[cfg(target_os = "linux")]
    fn open_parent(file: &Path) -> io::Result<Self> {
        use rustix::fs::{Mode, OFlags};
        let directory = file.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let opened = rustix::fs::open(directory, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { opened })
    }

    #[cfg(not(target_os = "linux"))]
    fn open_parent(file: &Path) -> io::Result<Self> {
        file.parent().map_or(Ok(()), |parent| parent.metadata().map(drop)).map(|()| Self {})
    }

    /// Returns `true` if a path in the directory is a regular file. Links are not.
    #[cfg(target_os = "linux")]
    fn is_file(&self, path: &Path) -> io::Result<bool> {
        use rustix::fs::{AtFlags, FileType};
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let found = rustix::fs::statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(found.st_mode) == FileType::RegularFile)
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "the Linux version uses it")]
    fn is_file(&self, path: &Path) -> io::Result<bool> {
        path.symlink_metadata().map(|metadata| metadata.is_file())
    }
}

/// Returns the entries of a directory, with `true` for regular files. Uses system calls, because the C library allocates a
/// buffer that costs more than the read.
#[cfg(target_os = "linux")]
fn entries(directory: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    use std::os::unix::ffi::OsStrExt as _;

    use rustix::fs::{Dir, FileType, Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::io::retry_on_intr(|| rustix::fs::open(directory, flags, Mode::empty()))?;
    let is_another = |name: &[u8]| name != b"." && name != b"..";
    let mut found = Vec::new();
    // A name that cannot be read is an error: its file could hold a guard.
    for entry in Dir::new(opened)?.take(MAX_NAMES + 2) {
        let entry = entry?;
        if !is_another(entry.file_name().to_bytes()) {
            continue;
        }
        let path = directory.join(OsStr::from_bytes(entry.file_name().to_bytes()));
        let is_file = match entry.file_type() {
            FileType::Unknown => path.symlink_metadata().is_ok_and(|file| file.is_file()),
            known => known == FileType::RegularFile,
        };
        found.push((path, is_file));
    }
    Ok(found)
}

#[cfg(not(target_os = "linux"))]
fn entries(directory: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|file| file.is_file());
    let entries = std::fs::read_dir(directory)?.take(MAX_NAMES);
    entries.map(|entry| entry.map(|entry| (entry.path(), is_file(&entry)))).collect()
}

/// `true` if files of a row belong to the project.
fn comes_with_project(row: &FileRow) -> bool {
    matches!(row.scope, Scope::Project | Scope::Local)
        || matches!(row.base, PathBase::Project | PathBase::Repository | PathBase::Upwards { .. })
}

/// `true` if an error means that the path does not exist.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
