//! Which files a dialect has here.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use checkrein_core::Scope;
use checkrein_dialects::Dialect;
use checkrein_dialects::config::{Diagnostic, FileRow, PathBase, Severity};

use super::locations::Locations;

/// A file that is looked at.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    pub(super) scope: Scope,
    /// Whether something is there, be it readable or not.
    pub(super) is_there: bool,
    /// Whether it is a plain file.
    pub(super) is_file: bool,
    /// Whether the directory is there that it would be in.
    pub(super) has_directory: bool,
    /// Whether it comes with the project.
    pub(super) of_project: bool,
    /// The directory of the plugin that it belongs to.
    pub(super) plugin: Option<PathBuf>,
}

impl Candidate {
    fn new(path: PathBuf, row: &FileRow, is_there: bool, is_file: bool) -> Self {
        let of_project = comes_with_project(row);
        Self { path, scope: row.scope, is_there, is_file, has_directory: true, of_project, plugin: None }
    }
}

/// The files of a dialect, in its order.
#[derive(Default)]
pub(super) struct Found {
    pub(super) files: Vec<Candidate>,
    /// All paths at which a change may matter.
    pub(super) followed: Vec<PathBuf>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// More files than anybody keeps in one directory.
const LISTED: usize = 1000;

pub(super) fn find(dialect: &Dialect, dir: &Path, place: &Locations, wanted: impl Fn(&FileRow) -> bool) -> Found {
    let mut found = Found::default();
    for row in dialect.config.files.iter().filter(|row| wanted(row)) {
        found.row(row, dir, place);
    }
    found
}

impl Found {
    fn row(&mut self, row: &FileRow, dir: &Path, place: &Locations) {
        let mut first_looked_at = None;
        for base in place.bases(row.base, dir) {
            let looked_at = match (row.path.strip_suffix("/*"), row.path.split_once("/*/")) {
                (Some(directory), _) => self.list(&base.join(directory), row),
                (None, Some((directory, inside))) => self.plugins(&base.join(directory), inside, row),
                (None, None) => self.named(&base.join(row.path), row),
            };
            if looked_at.iter().any(|candidate| candidate.is_there) {
                self.files.extend(looked_at);
                return;
            }
            first_looked_at.get_or_insert(looked_at);
        }
        self.files.extend(first_looked_at.into_iter().flatten());
    }

    /// One file, with each of the extensions.
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
        // Mostly not even the directory is there.
        let directory = Directory::of(path);
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
                // Nobody can tell what is there. Once is enough.
                Err(_) => (true, false, true),
            };
            if let Some(other) = candidates.iter().find(|other| other.is_there && is_there) {
                let text = format!("this file is read as well as {}", other.path.display());
                self.diagnostics.push(
                    Diagnostic::of_file(Severity::Warning, "several-files", path.display().to_string(), text)
                        .with_help("keep the hooks in one of them"),
                );
            }
            candidates.push(Candidate::new(path, row, is_there, is_file));
            if hidden {
                break;
            }
        }
        candidates
    }

    /// The file in each directory that is there, by name.
    fn plugins(&mut self, directory: &Path, inside: &str, row: &FileRow) -> Vec<Candidate> {
        let directories = self.list(directory, row);
        let mut all = Vec::new();
        for plugin in directories {
            // Nothing is there, or nobody can tell what.
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

    /// All files of a directory, by name.
    fn list(&mut self, directory: &Path, row: &FileRow) -> Vec<Candidate> {
        // What is put into it later has a path of its own that nobody knows yet.
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
        let mut paths: Vec<_> = entries.into_iter().filter(|(path, _)| fits(path)).collect();
        paths.sort();
        if paths.len() > LISTED {
            let text = format!("{} files are in this directory, only the first {LISTED} are read", paths.len());
            let file = directory.display().to_string();
            self.diagnostics.push(Diagnostic::of_file(Severity::Error, "too-many-files", file, text));
            paths.truncate(LISTED);
        }
        paths.into_iter().map(|(path, is_file)| Candidate::new(path, row, true, is_file)).collect()
    }
}

/// A directory in which several files are looked for. It is opened, so that the system need not find it for each.
struct Directory {
    #[cfg(target_os = "linux")]
    opened: std::os::fd::OwnedFd,
}

impl Directory {
    /// The one that a file would be in.
    #[cfg(target_os = "linux")]
    fn of(file: &Path) -> io::Result<Self> {
        use rustix::fs::{Mode, OFlags};
        let directory = file.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let opened = rustix::fs::open(directory, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { opened })
    }

    #[cfg(not(target_os = "linux"))]
    fn of(file: &Path) -> io::Result<Self> {
        file.parent().map_or(Ok(()), |parent| parent.metadata().map(drop)).map(|()| Self {})
    }

    /// Whether a path in it is a plain file. Links are none.
    #[cfg(target_os = "linux")]
    fn is_file(&self, path: &Path) -> io::Result<bool> {
        use rustix::fs::{AtFlags, FileType};
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let found = rustix::fs::statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(found.st_mode) == FileType::RegularFile)
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "its twin has it open")]
    fn is_file(&self, path: &Path) -> io::Result<bool> {
        path.symlink_metadata().map(|metadata| metadata.is_file())
    }
}

/// What is in a directory, and whether it is a file. The C library takes memory of its own for that, which costs more than the
/// look itself.
#[cfg(target_os = "linux")]
fn entries(directory: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    use std::os::unix::ffi::OsStrExt as _;

    use rustix::fs::{Dir, FileType, Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::io::retry_on_intr(|| rustix::fs::open(directory, flags, Mode::empty()))?;
    let is_another = |name: &[u8]| name != b"." && name != b"..";
    let entries = Dir::new(opened)?.flatten().filter(|entry| is_another(entry.file_name().to_bytes()));
    let found = entries.map(|entry| {
        let path = directory.join(OsStr::from_bytes(entry.file_name().to_bytes()));
        let is_file = match entry.file_type() {
            FileType::Unknown => path.symlink_metadata().is_ok_and(|file| file.is_file()),
            known => known == FileType::RegularFile,
        };
        (path, is_file)
    });
    Ok(found.collect())
}

#[cfg(not(target_os = "linux"))]
fn entries(directory: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|file| file.is_file());
    Ok(std::fs::read_dir(directory)?.flatten().map(|entry| (entry.path(), is_file(&entry))).collect())
}

/// Whether files of a row come with the project, whoever has put them there.
fn comes_with_project(row: &FileRow) -> bool {
    matches!(row.scope, Scope::Project | Scope::Local)
        || matches!(row.base, PathBase::Project | PathBase::Repository | PathBase::Upwards { .. })
}

/// Whether an error says that nothing is there.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
