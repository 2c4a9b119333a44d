//! The directory that a case happens in.

use std::io;
use std::path::{Component, Path, PathBuf};

use checkrein_core::RawJson;

use super::case::NewFile;

/// Stands for the path of the scratch directory wherever a case has text.
pub const PLACEHOLDER: &str = "{{scratch}}";

/// How much of a script's directory comes along with it. Of one with more, only what hooks name.
const MOST_FILES: usize = 500;
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A directory of its own. Goes when it is dropped.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    name: String,
    _dir: tempfile::TempDir,
}

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("checkrein-test-").tempdir()?;
        // What hooks find out by themselves is the path without links.
        let path = dir.path().canonicalize()?;
        Ok(Self { name: path.to_string_lossy().into_owned(), path, _dir: dir })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The path as text.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A text with the path in place of the placeholder.
    pub(super) fn filled(&self, text: &str) -> String {
        text.replace(PLACEHOLDER, &self.name)
    }

    /// Brings along what hooks name, from the project: the files themselves, and what lies beside them in a directory of
    /// their own, since scripts have helpers.
    pub(super) fn bring(&self, project: &Path, named: &[PathBuf]) -> io::Result<()> {
        for relative in named {
            self.copy(project, relative)?;
            let Some(parent) = relative.parent().filter(|parent| !parent.as_os_str().is_empty()) else { continue };
            let mut found = Vec::new();
            if beside(&project.join(parent), parent, &mut found, &mut 0)? {
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
        std::fs::copy(project.join(relative), to).map(drop)
    }

    /// Creates files, in place of what is there.
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

/// All files below a directory, if they are not too many. Links are left out: they lead elsewhere.
fn beside(dir: &Path, relative: &Path, found: &mut Vec<PathBuf>, bytes: &mut u64) -> io::Result<bool> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let (kind, relative) = (entry.file_type()?, relative.join(entry.file_name()));
        if kind.is_dir() {
            if !beside(&entry.path(), &relative, found, bytes)? {
                return Ok(false);
            }
        } else if kind.is_file() {
            *bytes += entry.metadata()?.len();
            found.push(relative);
        }
        if found.len() > MOST_FILES || *bytes > MOST_BYTES {
            return Ok(false);
        }
    }
    Ok(true)
}

/// JSON with the path in place of the placeholder.
pub(super) fn in_json(json: &RawJson, scratch: &Scratch) -> RawJson {
    if !json.as_str().contains(PLACEHOLDER) {
        return json.clone();
    }
    let quoted = RawJson::string(scratch.name());
    let inner = quoted.as_str().trim_matches('"');
    RawJson::parse(json.as_str().replace(PLACEHOLDER, inner)).unwrap_or_else(|_| json.clone())
}

/// The path without parts that lead nowhere.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

/// Whether a path stays below the directory that it starts in.
pub(super) fn stays_below(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}
