//! What the user has approved: a small file for each project, in the user's state directory.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use checkrein_core::RawJson;
use checkrein_core::property::Property;

use super::TrustError;
use super::permissions::{self, Refused, is_private, owned};
use super::project_roots::ProjectRoots;
use crate::append_file;
use crate::hash::{from_hex, hex, sha256};
use crate::real_path::real_ancestor;

/// A hook that was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Approval {
    /// Its file: from the project's root if it lies there.
    pub(super) file: String,
    pub(super) id: String,
    /// The hash of its entry.
    pub(super) entry: String,
    /// The files that it runs, and their hashes; none if there was no such file.
    pub(super) scripts: Vec<(String, Option<[u8; 32]>)>,
    /// What its entry said, to tell what has changed.
    pub(super) facts: Vec<Property>,
}

impl Approval {
    /// As one line.
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

    /// Reads a line. `None`: it is no approval.
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

/// Where approvals are kept.
#[derive(Debug, Clone)]
pub(super) struct Store {
    state: PathBuf,
}

/// The largest script of which the contents are kept, to show later what has changed.
const KEPT: usize = 256 * 1024;

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

    /// The file of a project.
    pub(super) fn file_of(&self, root: &Path) -> PathBuf {
        self.directory().join(format!("{}.jsonl", key_of(root)))
    }

    /// Whether it can be believed. `Ok(false)`: nothing is there.
    fn check(&self, root: &Path) -> Result<bool, Refused> {
        // A project's settings can set variables, and so say where this is.
        let there = real_ancestor(&self.state).map(|(there, _)| there);
        if there.is_some_and(|there| ProjectRoots::at(root).has_real(&there)) {
            return Err(format!("{} lies in the project, which could write it itself", self.state.display()));
        }
        Ok(is_private(&self.state)? && is_private(&self.directory())?)
    }

    /// What was approved of a project.
    pub(super) fn read(&self, root: &Path) -> Result<Vec<Approval>, Refused> {
        if !self.check(root)? {
            return Ok(Vec::new());
        }
        let path = self.file_of(root);
        let failed = |error: io::Error| format!("{} cannot be read: {error}", path.display());
        let text = match open(&path) {
            Ok(mut file) => {
                owned(&path, &file.metadata().map_err(failed)?, false)?;
                let mut text = String::new();
                io::Read::read_to_string(&mut file, &mut text).map_err(failed)?;
                text
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut lines = text.lines();
        // Two paths with one hash are not to be had, but a file can be moved by hand.
        let said =
            lines.next().and_then(|line| RawJson::parse(line).ok()?.field("project")?.as_text().map(String::from));
        if said.as_deref() != Some(&*root.to_string_lossy()) {
            return Err(format!("{} is about another project", path.display()));
        }
        lines
            .enumerate()
            .map(|(at, line)| {
                Approval::read(line).ok_or_else(|| format!("{}:{} makes no sense", path.display(), at + 2))
            })
            .collect()
    }

    /// Changes what was approved of a project. Others who do so wait meanwhile.
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
        let held = append_file::private(&lock, OpenOptions::new().read(true).write(true)).map_err(io(&lock))?;
        append_file::lock(&held, append_file::PATIENCE).map_err(io(&lock))?;
        let mut approvals = self.read(root).map_err(TrustError::NotPrivate)?;
        let done = change(&mut approvals);
        let path = self.file_of(root);
        let mut text = format!("{{\"project\":{}}}\n", RawJson::string(&root.to_string_lossy()));
        for approval in &approvals {
            text.push_str(&approval.line(true));
            text.push('\n');
        }
        permissions::replace(&path, text.as_bytes(), 0o600).map_err(io(&path))?;
        drop(held);
        Ok(done)
    }

    /// Keeps what a script says, so that it can be shown later what has changed. What cannot be kept is not shown.
    pub(super) fn keep(&self, bytes: &[u8]) {
        if bytes.len() > KEPT {
            return;
        }
        let directory = self.directory().join("contents");
        let path = directory.join(hex(&sha256(bytes)));
        if !path.exists() && append_file::make_private_directory(&directory).is_ok() {
            let _ = permissions::replace(&path, bytes, 0o600);
        }
    }

    /// What a script said when it was approved, if it was kept.
    pub(super) fn kept(&self, hash: &[u8; 32]) -> Option<Vec<u8>> {
        let bytes = std::fs::read(self.directory().join("contents").join(hex(hash))).ok()?;
        (sha256(&bytes) == *hash).then_some(bytes)
    }
}

/// A name for a project's own files.
pub(super) fn key_of(root: &Path) -> String {
    let mut hash = hex(&sha256(root.as_os_str().as_encoded_bytes()));
    hash.truncate(32);
    hash
}

/// Opens a file to read it, and waits for nobody.
#[cfg(unix)]
pub(super) fn open(path: &Path) -> io::Result<std::fs::File> {
    open_with(path, rustix::fs::OFlags::empty())
}

/// The same, if it is no link.
#[cfg(unix)]
pub(super) fn open_no_link(path: &Path) -> io::Result<std::fs::File> {
    open_with(path, rustix::fs::OFlags::NOFOLLOW)
}

#[cfg(unix)]
fn open_with(path: &Path, more: rustix::fs::OFlags) -> io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | more).bits();
    OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
}

/// Links are rare there, and not everybody's to make.
#[cfg(not(unix))]
pub(super) fn open_no_link(path: &Path) -> io::Result<std::fs::File> {
    open(path)
}

#[cfg(not(unix))]
pub(super) fn open(path: &Path) -> io::Result<std::fs::File> {
    std::fs::File::open(path)
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
    fn lines_are_written_and_read() {
        let one = approval("é\u{1b}[0m");
        assert_eq!(Approval::read(&one.line(true)), Some(one.clone()));
        assert_eq!(Approval::read(&one.line(false)), Some(Approval { facts: Vec::new(), ..one.clone() }));
        assert!(!one.line(true).contains('\n'));
        assert_eq!(Approval::read("{}"), None);
        assert_eq!(Approval::read(&one.line(true).replace("0707", "07")), None);
    }

    #[test]
    fn projects_have_files_of_their_own() {
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
    fn what_makes_no_sense_is_not_overlooked() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("state"));
        let root = Path::new("/one");
        store.change(root, |all| all.push(approval("a"))).unwrap();
        let path = store.file_of(root);
        let text = std::fs::read_to_string(&path).unwrap() + "{\"file\":\n";
        std::fs::write(&path, text).unwrap();
        assert!(store.read(root).unwrap_err().ends_with(":3 makes no sense"));
    }

    #[cfg(unix)]
    #[test]
    fn what_others_can_write_is_not_believed() {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        let root = Path::new("/one");
        for part in ["", "trust", "file"] {
            let dir = tempfile::tempdir().unwrap();
            let store = Store::new(dir.path().join("state"));
            store.change(root, |all| all.push(approval("a"))).unwrap();
            let path = if part == "file" { store.file_of(root) } else { store.state.join(part) };
            mode(&path, 0o777);
            assert!(store.read(root).unwrap_err().contains("written to by others"), "{part}");
            assert!(store.change(root, |_| ()).is_err());
        }
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("state"));
        store.change(root, |all| all.push(approval("a"))).unwrap();
        mode(dir.path(), 0o777);
        assert!(store.read(root).is_err(), "who can rename it can put another in its place");
        mode(dir.path(), 0o1777);
        assert!(store.read(root).is_ok());
        assert!(store.read(&dir.path().canonicalize().unwrap()).unwrap_err().contains("lies in the project"));
    }
}
