//! Storage of approvals: one small file for each project, in the user's state directory.
//!
//! The evaluation reads it, and a review changes it. The store must reject files and directories that other users or the
//! project can write.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use checkrein_core::RawJson;
use checkrein_core::property::Property;

use super::TrustError;
use super::permissions::{self, Refused, is_private, owned};
use super::project_roots::ProjectRoots;
use crate::append_file;
use crate::hash::{from_hex, hex, sha256};
use crate::real_path::real_ancestor;
use crate::regular_file::{self, ReadError};

/// An approved hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Approval {
    /// File of the hook, relative to the project's root if it is inside.
    pub(super) file: String,
    pub(super) id: String,
    /// Hash of the entry.
    pub(super) entry: String,
    /// Scripts and their hashes. `None` for a script that did not exist.
    pub(super) scripts: Vec<(String, Option<[u8; 32]>)>,
    /// Approved properties of the entry, to show later changes.
    pub(super) facts: Vec<Property>,
}

impl Approval {
    /// Formats the approval as one line.
    pub(super) fn line(&self, with_facts: bool) -> String {
        let text = |text: &str| RawJson::string(text).to_string();
        let script = |(path, hash): &(String, Option<[u8; 32]>)| {
            let hash = hash.map_or_else(|| "null".to_owned(), |hash| text(&hex(&hash)));
            format!("[{},{hash}]", text(path))
        };
        let scripts = self.scripts.iter().map(script).collect::<Vec<_>>().join(",");
        let mut line = format!(
            r#"{{"file":{},"id":{},"entry":{},"scripts":[{scripts}]"#,
            text(&self.file),
            text(&self.id),
            text(&self.entry)
        );
        if with_facts {
            let fact = |fact: &Property| format!("[{},{}]", text(&fact.label), text(&fact.value));
            let facts = self.facts.iter().map(fact).collect::<Vec<_>>().join(",");
            line.push_str(&format!(r#","facts":[{facts}]"#));
        }
        line + "}"
    }

    /// Parses a line. Returns `None` if the line is invalid.
    pub(super) fn read(line: &str) -> Option<Self> {
        let json = RawJson::parse(line).ok()?;
        let text = |key: &str| Some(json.field(key)?.as_text()?.into_owned());
        let pair = |item: &str| {
            let pair = RawJson::parse(item).ok()?;
            let mut items = pair.items()?;
            let (first, second) = (RawJson::parse(items.next()?).ok()?, RawJson::parse(items.next()?).ok()?);
            Some((first.as_text()?.into_owned(), second))
        };
        let script = |item: &str| {
            let (path, hash) = pair(item)?;
            match hash.as_text() {
                Some(hash) => Some((path, Some(from_hex(&hash)?))),
                None => Some((path, None)),
            }
        };
        let fact = |item: &str| {
            let (label, value) = pair(item)?;
            Some(Property { label, value: value.as_text()?.into_owned() })
        };
        let facts = match json.field("facts") {
            Some(facts) => facts.items()?.map(fact).collect::<Option<_>>()?,
            None => Vec::new(),
        };
        Some(Self {
            file: text("file")?,
            id: text("id")?,
            entry: text("entry")?,
            scripts: json.field("scripts")?.items()?.map(script).collect::<Option<_>>()?,
            facts,
        })
    }
}

/// Directory of approvals.
#[derive(Debug, Clone)]
pub(super) struct Store {
    state: PathBuf,
}

/// Maximum size of a script whose contents are stored to show later changes.
const MAX_STORED: usize = 256 * 1024;

/// Maximum size of a project's approvals, in bytes.
const MAX_SIZE: u64 = 64 * 1024 * 1024;

impl Store {
    pub(super) fn new(state: PathBuf) -> Self {
        Self { state }
    }

    pub(super) fn state(&self) -> &Path {
        &self.state
    }

    fn directory(&self) -> PathBuf {
        self.state.join("trust")
    }

    /// Returns the file of a project.
    pub(super) fn file_of(&self, root: &Path) -> PathBuf {
        self.directory().join(format!("{}.jsonl", key_of(root)))
    }

    /// Checks that only the user can write the store. Returns `false` if it does not exist.
    fn check(&self, root: &Path) -> Result<bool, Refused> {
        // A project's settings can set variables, and with them the path of the store.
        let existing = real_ancestor(&self.state).map(|(existing, _)| existing);
        if existing.is_some_and(|existing| ProjectRoots::for_root(root).contains_real(&existing)) {
            return Err(format!(
                "{} is inside of the project, which could approve its own hooks; set XDG_STATE_HOME to another directory",
                self.state.display()
            ));
        }
        Ok(is_private(&self.state)? && is_private(&self.directory())?)
    }

    /// Reads the approvals of a project.
    pub(super) fn read(&self, root: &Path) -> Result<Vec<Approval>, Refused> {
        if !self.check(root)? {
            return Ok(Vec::new());
        }
        let path = self.file_of(root);
        let failed = |error: ReadError| format!("cannot read {}: {error}", path.display());
        let text = match regular_file::open(&path) {
            Ok(mut file) => {
                let metadata = file.metadata().map_err(|error| failed(ReadError::Io(error)))?;
                owned(&path, &metadata, false)?;
                let mut bytes = Vec::new();
                regular_file::read_opened(&mut file, metadata.len(), MAX_SIZE, &mut bytes).map_err(failed)?;
                let text = String::from_utf8(bytes);
                text.map_err(|error| failed(ReadError::NotText(error.utf8_error().valid_up_to())))?
            }
            Err(error) if error.is_missing() => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut lines = text.lines();
        // Two paths do not have the same hash, but a user can rename the file.
        let project =
            lines.next().and_then(|line| RawJson::parse(line).ok()?.field("project")?.as_text().map(String::from));
        if project.as_deref() != Some(&*root.to_string_lossy()) {
            return Err(format!("{} is for another project; remove it", path.display()));
        }
        lines
            .enumerate()
            .map(|(index, line)| {
                let invalid = || format!("{}:{} is invalid; remove the line", path.display(), index + 2);
                Approval::read(line).ok_or_else(invalid)
            })
            .collect()
    }

    /// Changes the approvals of a project under a lock.
    pub(super) fn change<T>(&self, root: &Path, change: impl FnOnce(&mut Vec<Approval>) -> T) -> Result<T, TrustError> {
        let directory = self.directory();
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| TrustError::Io { path, source }
        };
        self.check(root).map_err(TrustError::NotPrivate)?;
        append_file::make_private_directory(&directory).map_err(io(&directory))?;
        self.check(root).map_err(TrustError::NotPrivate)?;
        let lock = directory.join("lock");
        let locked = append_file::private(&lock, OpenOptions::new().read(true).write(true)).map_err(io(&lock))?;
        append_file::lock(&locked, append_file::PATIENCE).map_err(io(&lock))?;
        let mut approvals = self.read(root).map_err(TrustError::NotPrivate)?;
        let result = change(&mut approvals);
        let path = self.file_of(root);
        let mut text = format!("{{\"project\":{}}}\n", RawJson::string(&root.to_string_lossy()));
        for approval in &approvals {
            text.push_str(&approval.line(true));
            text.push('\n');
        }
        permissions::replace(&path, text.as_bytes(), 0o600).map_err(io(&path))?;
        drop(locked);
        Ok(result)
    }

    /// Stores the contents of a script to show later changes. Errors are ignored: the diff is then not shown.
    pub(super) fn store_contents(&self, bytes: &[u8]) {
        if bytes.len() > MAX_STORED {
            return;
        }
        let directory = self.directory().join("contents");
        let path = directory.join(hex(&sha256(bytes)));
        if !path.exists() && append_file::make_private_directory(&directory).is_ok() {
            let _ = permissions::replace(&path, bytes, 0o600);
        }
    }

    /// Returns the approved contents of a script, if stored.
    pub(super) fn stored_contents(&self, hash: &[u8; 32]) -> Option<Vec<u8>> {
        let bytes = regular_file::read(&self.directory().join("contents").join(hex(hash)), MAX_STORED as u64).ok()?;
        if sha256(&bytes) == *hash { Some(bytes) } else { None }
    }
}

/// Returns the name of a project's files in the store.
pub(super) fn key_of(root: &Path) -> String {
    let mut hash = hex(&sha256(root.as_os_str().as_encoded_bytes()));
    hash.truncate(32);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval(id: &str) -> Approval {
        Approval {
            file: "a \"b\"\n.yaml".to_owned(),
            id: id.to_owned(),
            entry: "00".to_owned(),
            scripts: vec![("./x\u{7f}".to_owned(), Some([7; 32])), ("y".to_owned(), None)],
            facts: vec![Property { label: "command".to_owned(), value: "\0\t'".to_owned() }],
        }
    }

    #[test]
    fn approvals_survive_formatting_and_parsing() {
        let one = approval("é\u{1b}[0m");
        assert_eq!(Approval::read(&one.line(true)), Some(one.clone()));
        assert_eq!(Approval::read(&one.line(false)), Some(Approval { facts: Vec::new(), ..one.clone() }));
        assert!(!one.line(true).contains('\n'));
        assert_eq!(Approval::read("{}"), None);
        assert_eq!(Approval::read(&one.line(true).replace("0707", "07")), None);
    }

    #[test]
    fn each_project_has_its_own_file() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("state"));
        let (one, other) = (Path::new("/one"), Path::new("/other"));
        assert_eq!(store.read(one), Ok(Vec::new()));
        store.change(one, |all| all.push(approval("a"))).unwrap();
        store.change(one, |all| all.push(approval("b"))).unwrap();
        assert_eq!(store.read(one).unwrap().len(), 2);
        assert_eq!(store.read(other), Ok(Vec::new()));
        std::fs::copy(store.file_of(one), store.file_of(other)).unwrap();
        assert!(store.read(other).unwrap_err().contains("another project"));
    }

    #[test]
    fn invalid_lines_are_errors() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("state"));
        let root = Path::new("/one");
        store.change(root, |all| all.push(approval("a"))).unwrap();
        let path = store.file_of(root);
        let text = std::fs::read_to_string(&path).unwrap() + "{\"file\":\n";
        std::fs::write(&path, text).unwrap();
        assert!(store.read(root).unwrap_err().ends_with(":3 is invalid; remove the line"));
    }

    #[cfg(unix)]
    #[test]
    fn store_that_others_can_write_is_rejected() {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        let root = Path::new("/one");
        for part in ["", "trust", "file"] {
            let dir = tempfile::tempdir().unwrap();
            let store = Store::new(dir.path().join("state"));
            store.change(root, |all| all.push(approval("a"))).unwrap();
            let path = if part == "file" { store.file_of(root) } else { store.state.join(part) };
            mode(&path, 0o777);
            assert!(store.read(root).unwrap_err().contains("is writable by other users"), "{part}");
            assert!(store.change(root, |_| ()).is_err());
        }
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("state"));
        store.change(root, |all| all.push(approval("a"))).unwrap();
        mode(dir.path(), 0o777);
        assert!(store.read(root).is_err(), "a user who can rename the store can replace it");
        mode(dir.path(), 0o1777);
        assert!(store.read(root).is_ok());
        assert!(store.read(&dir.path().canonicalize().unwrap()).unwrap_err().contains("is inside of the project"));
    }
}
