//! Scratch directory of a case, with copies of the scripts that hooks refer to.
//!
//! Must never write outside of the scratch directory.

use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use checkrein::internal::regular_file;
use checkrein_core::RawJson;

use super::case::NewFile;

/// Placeholder for the path of the scratch directory in all texts of a case.
pub const PLACEHOLDER: &str = "{{scratch}}";

/// Limits for copying the directory of a script. From a larger directory, only referenced files are copied.
const MAX_FILES: usize = 500;
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Temporary directory. Dropping it removes the directory.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    name: String,
    _dir: tempfile::TempDir,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("checkrein-test-").tempdir()?;
        // Hooks that ask for their working directory get the path without symbolic links.
        let path = dir.path().canonicalize()?;
        Ok(Self { name: path.to_string_lossy().into_owned(), path, _dir: dir })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Path as text.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Replaces the placeholder with the path.
    pub(super) fn filled(&self, text: &str) -> String {
        text.replace(PLACEHOLDER, &self.name)
    }

    /// Copies referenced files of the project. Also copies the other files of their directory, which may be helpers of the
    /// script, unless it is the project directory itself.
    pub(super) fn copy_referenced(&self, project: &Path, files: &[PathBuf]) -> io::Result<()> {
        for relative in files {
            self.copy(project, relative)?;
            let Some(parent) = relative.parent().filter(|parent| !parent.as_os_str().is_empty()) else { continue };
            let mut found = Vec::new();
            if list_files(&project.join(parent), parent, &mut found, &mut 0)? {
                for relative in &found {
                    self.copy(project, relative)?;
                }
            }
        }
        Ok(())
    }

    fn copy(&self, project: &Path, relative: &Path) -> io::Result<()> {
        let to = self.path.join(relative);
        if to.symlink_metadata().is_ok() {
            return Ok(());
        }
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent)?;
        }
        // The file can be a link to a pipe or a device.
        let mut from = regular_file::open(&project.join(relative))?.take(MAX_BYTES + 1);
        let permissions = from.get_ref().metadata()?.permissions();
        let mut copy = std::fs::File::create(to)?;
        if io::copy(&mut from, &mut copy)? > MAX_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("{} is too large", relative.display())));
        }
        copy.set_permissions(permissions)
    }

    /// Creates files, and replaces existing ones.
    pub(super) fn create(&self, files: &[NewFile]) -> io::Result<()> {
        for file in files {
            let path = self.path.join(&file.path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(&path, self.filled(&file.text))?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = if file.executable { 0o755 } else { 0o644 };
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?;
            }
        }
        Ok(())
    }
}

/// Lists all files below a directory. Returns `false` if a limit is exceeded. Symbolic links are skipped: they may lead out of
/// the project.
fn list_files(dir: &Path, relative: &Path, found: &mut Vec<PathBuf>, bytes: &mut u64) -> io::Result<bool> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let (kind, relative) = (entry.file_type()?, relative.join(entry.file_name()));
        if kind.is_dir() {
            if !list_files(&entry.path(), &relative, found, bytes)? {
                return Ok(false);
            }
        } else if kind.is_file() {
            *bytes += entry.metadata()?.len();
            found.push(relative);
        }
        if found.len() > MAX_FILES || *bytes > MAX_BYTES {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Replaces the placeholder in a JSON value with the path.
pub(super) fn in_json(json: &RawJson, scratch: &Scratch) -> RawJson {
    if !json.as_str().contains(PLACEHOLDER) {
        return json.clone();
    }
    let quoted = RawJson::string(scratch.name());
    let inner = quoted.as_str().trim_matches('"');
    RawJson::parse(json.as_str().replace(PLACEHOLDER, inner)).unwrap_or_else(|_| json.clone())
}

/// Removes `.` components.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// Returns `true` if a relative path cannot leave its base directory.
pub(super) fn stays_below(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}
