//! The formats of session files: one row per agent.
//!
//! A row has the place of the files, the known versions and the reader. A file of another version is
//! [not readable](super::State::CannotTell), because agents change these files without notice.

mod claude;
mod cline;
mod codex;
mod copilot;
mod gemini;
#[cfg(feature = "sqlite")]
mod goose;
mod grok;
#[cfg(feature = "sqlite")]
mod opencode;
mod qwen;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fs::Metadata;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use checkrein::internal::regular_file;
use jiff::SignedDuration;

use super::builder::{Builder, Odd};
use super::call::Session;
use super::lines::{self, Line};
use super::places::{self, Places, Root};

/// Maximum size of a file that is one JSON document, in bytes.
const MAX_DOCUMENT: u64 = 24 << 20;

/// Maximum size of the first line of a file whose end is read, in bytes.
const MAX_HEAD: u64 = 256 << 10;

/// Maximum number of paths with problems that are listed.
const MAX_PROBLEMS: usize = 20;

/// Units of times.
const MILLISECONDS: SignedDuration = SignedDuration::from_millis(1);
const SECONDS: SignedDuration = SignedDuration::from_secs(1);

/// Format of an agent's session files.
#[derive(Debug)]
pub struct Format {
    /// Dialect name of the agent.
    pub agent: &'static str,
    /// Name of the agent for people.
    pub title: &'static str,
    /// Directories of the files.
    pub(super) roots: &'static [Root],
    /// Starts of known versions.
    pub(super) versions: &'static [&'static str],
    /// Names of tools in the files, with their names in hooks, where they differ.
    pub(super) tools: &'static [(&'static str, &'static str)],
    /// Sub-agents in records.
    pub(super) subagent_records: SubagentRecords,
    /// Unit of the times in the files.
    pub(super) time_unit: SignedDuration,
    pub(super) reader: Reader,
}

/// Way in which the hooks of an agent name the sub-agent that makes a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubagentRecords {
    /// Hooks get the id of the sub-agent, as it is in the files.
    Named,
    /// Hooks get the id of the sub-agent as the session.
    OwnSession,
    /// Hooks get no id of the sub-agent, or it is not known if they get one.
    Unnamed,
}

/// Reader of a file.
#[derive(Debug)]
pub(super) enum Reader {
    /// One JSON value per line.
    Lines(fn() -> Box<dyn LineReader>),
    /// One JSON document.
    Document(fn(&[u8], &mut Builder) -> Result<(), Odd>),
    /// An SQLite database with many sessions.
    #[cfg_attr(not(feature = "sqlite"), expect(dead_code, reason = "no database is read without the feature"))]
    Database(fn(&Path, &'static Format) -> Result<Vec<Session>, String>),
    /// This build cannot read the files.
    #[cfg_attr(feature = "sqlite", expect(dead_code, reason = "every format is read with the feature"))]
    Missing(&'static str),
}

/// Reads the lines of one file.
pub(super) trait LineReader {
    /// Learns from the path of the file.
    fn start(&mut self, _path: &Path, _found: &mut Builder) {}

    /// Reads one line.
    fn line(&mut self, line: &[u8], found: &mut Builder) -> Result<(), Odd>;

    /// Adds what is known only at the end.
    fn end(&mut self, _found: &mut Builder) {}
}

/// All formats.
pub static FORMATS: &[Format] = &[
    claude::FORMAT,
    codex::FORMAT,
    copilot::FORMAT,
    gemini::FORMAT,
    qwen::FORMAT,
    grok::FORMAT,
    cline::FORMAT,
    OPENCODE,
    GOOSE,
];

const OPENCODE: Format = Format {
    agent: "opencode",
    title: "OpenCode",
    roots: &[Root {
        below_home: ".local/share/opencode",
        variable: Some("XDG_DATA_HOME"),
        below_variable: "opencode",
        // Each release channel has its own database.
        patterns: &["opencode.db", "opencode-*.db"],
    }],
    versions: &["0.", "1.", "2."],
    tools: &[],
    subagent_records: SubagentRecords::OwnSession,
    time_unit: MILLISECONDS,
    #[cfg(feature = "sqlite")]
    reader: Reader::Database(opencode::read),
    #[cfg(not(feature = "sqlite"))]
    reader: Reader::Missing("this build of checkrein has no SQLite"),
};

const GOOSE: Format = Format {
    agent: "goose",
    title: "goose",
    roots: &[Root {
        below_home: ".local/share/goose",
        variable: Some("XDG_DATA_HOME"),
        below_variable: "goose",
        patterns: &["sessions/sessions.db"],
    }],
    versions: &["schema "],
    tools: &[],
    subagent_records: SubagentRecords::Unnamed,
    time_unit: SECONDS,
    #[cfg(feature = "sqlite")]
    reader: Reader::Database(goose::read),
    #[cfg(not(feature = "sqlite"))]
    reader: Reader::Missing("this build of checkrein has no SQLite"),
};

/// Result of reading all files of a format.
#[derive(Debug, Default)]
pub(super) struct FormatFiles {
    pub(super) sessions: Vec<Session>,
    pub(super) problems: Vec<String>,
}

impl Format {
    /// Returns the format of an agent. A variant of a dialect, such as `copilot@pascal`, has the format of its agent.
    pub fn of(agent: &str) -> Option<&'static Self> {
        let agent = agent.split('@').next().unwrap_or(agent);
        FORMATS.iter().find(|format| format.agent == agent)
    }

    /// Reads all files that changed at this time or later.
    pub(super) fn read_all(&'static self, places: &Places, since: Option<SystemTime>) -> FormatFiles {
        let mut all = FormatFiles::default();
        for root in self.roots {
            let directory = places.resolve(root);
            for pattern in root.patterns {
                let found = places::find(&directory, pattern);
                all.problems.extend(found.problems);
                for path in found.files {
                    let is_old = since.zip(self.changed(&path)).is_some_and(|(since, changed)| changed < since);
                    if !is_old {
                        merge(&mut all.sessions, self.read_file(&path, None));
                    }
                }
            }
        }
        all.sessions.iter_mut().for_each(Session::name_subagents);
        // A place can fit several patterns.
        all.problems.sort();
        all.problems.dedup();
        all.problems.truncate(MAX_PROBLEMS);
        all
    }

    /// Returns the time of the last change of a file.
    fn changed(&self, path: &Path) -> Option<SystemTime> {
        let file = changed(path);
        match &self.reader {
            // Recent rows may be in the log only, until a checkpoint.
            Reader::Database(_) => file.max(changed(&beside(path, "-wal"))),
            _ => file,
        }
    }

    /// Reads one file, or only its last bytes.
    pub(super) fn read_file(&'static self, path: &Path, tail: Option<u64>) -> Vec<Session> {
        let read = match &self.reader {
            Reader::Lines(reader) => self.read_lines(path, tail, reader()).map(|session| vec![session]),
            Reader::Document(read) => self.read_document(path, *read).map(|session| vec![session]),
            Reader::Database(read) => read(path, self),
            Reader::Missing(why) => Err((*why).to_owned()),
        };
        let mut sessions = read.unwrap_or_else(|problem| {
            vec![Session { agent: self.agent, problem: Some(problem), ..Session::default() }]
        });
        for session in &mut sessions {
            session.files = vec![path.to_owned()];
            if session.id.is_empty() {
                session.id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            }
        }
        sessions
    }

    fn read_lines(
        &'static self,
        path: &Path,
        tail: Option<u64>,
        mut reader: Box<dyn LineReader>,
    ) -> Result<Session, String> {
        let mut file = regular_file::open_no_link(path).map_err(|error| error.to_string())?;
        let mut found = Builder::new(self);
        reader.start(path, &mut found);
        let length = file.metadata().map_err(|error| error.to_string())?.len();
        let mut skips_first = false;
        if let Some(tail) = tail.filter(|tail| *tail < length) {
            use std::io::Seek as _;
            // Some agents write the id and the version only at the start.
            let mut head = Vec::new();
            file.by_ref().take(MAX_HEAD).read_to_end(&mut head).map_err(|error| error.to_string())?;
            if let Some(end) = memchr::memchr(b'\n', &head) {
                let read = reader.line(&head[..end], &mut found);
                found.count(read);
            }
            file.seek(std::io::SeekFrom::Start(length - tail)).map_err(|error| error.to_string())?;
            skips_first = true;
        }
        // Lines that are added meanwhile are not read: a file that grows must not keep the reader busy.
        read_all_lines(file.take(length), &mut *reader, &mut found, skips_first).map_err(|error| error.to_string())?;
        Ok(found.finish())
    }

    fn read_document(
        &'static self,
        path: &Path,
        read: fn(&[u8], &mut Builder) -> Result<(), Odd>,
    ) -> Result<Session, String> {
        let mut file = regular_file::open_no_link(path).map_err(|error| error.to_string())?;
        let length = file.metadata().map_err(|error| error.to_string())?.len();
        if length > MAX_DOCUMENT {
            return Err(format!("the file has {length} bytes; the limit is {MAX_DOCUMENT}"));
        }
        let mut bytes = Vec::new();
        file.by_ref().take(MAX_DOCUMENT).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        Ok(self.document(&bytes, read))
    }

    fn document(&'static self, bytes: &[u8], read: fn(&[u8], &mut Builder) -> Result<(), Odd>) -> Session {
        let mut found = Builder::new(self);
        if read(bytes, &mut found).is_err() {
            found.count(Err(Odd::Broken));
            let text = "the file is damaged, or has a shape that is not known".to_owned();
            found.session.problem.get_or_insert(text);
            found.session.calls.iter_mut().for_each(|call| call.is_unreadable = true);
        }
        found.finish()
    }

    /// Reads the bytes of a file.
    pub(super) fn read_bytes(&self, bytes: &[u8]) -> Vec<Session> {
        let Some(format) = Self::of(self.agent) else { return Vec::new() };
        match &format.reader {
            Reader::Lines(reader) => {
                let mut found = Builder::new(format);
                let _ = read_all_lines(bytes, &mut *reader(), &mut found, false);
                vec![found.finish()]
            }
            Reader::Document(read) => vec![format.document(bytes, *read)],
            Reader::Database(read) => {
                let Ok(mut file) = tempfile::NamedTempFile::new() else { return Vec::new() };
                let _ = std::io::Write::write_all(&mut file, bytes);
                read(file.path(), format).unwrap_or_default()
            }
            Reader::Missing(_) => Vec::new(),
        }
    }

    /// Returns the name of a tool in hooks.
    pub(super) fn hook_tool<'n>(&self, tool: &'n str) -> &'n str {
        self.tools.iter().find(|(own, _)| *own == tool).map_or(tool, |(_, name)| name)
    }
}

/// Returns the path of a file beside another one, such as the log of a database.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the time of the last change of a file. Programs can set back the time of the content, but not that of the file's state.
fn changed(path: &Path) -> Option<SystemTime> {
    let metadata = path.symlink_metadata().ok()?;
    metadata.modified().ok().max(state_changed(&metadata))
}

#[cfg(unix)]
fn state_changed(metadata: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt as _;
    let since_epoch = std::time::Duration::from_secs(u64::try_from(metadata.ctime()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since_epoch)
}

#[cfg(not(unix))]
fn state_changed(_: &Metadata) -> Option<SystemTime> {
    None
}

fn read_all_lines(
    file: impl std::io::Read,
    reader: &mut dyn LineReader,
    found: &mut Builder,
    mut skips_first: bool,
) -> std::io::Result<()> {
    lines::for_each(file, |line| {
        if std::mem::take(&mut skips_first) {
            return true;
        }
        match line {
            Line::Whole(text, _) => {
                let read = reader.line(text, found);
                found.count(read);
            }
            Line::TooLong => found.count(Err(Odd::Broken)),
        }
        true
    })?;
    reader.end(found);
    Ok(())
}

/// Adds sessions to others. Files of the same session are one session.
fn merge(all: &mut Vec<Session>, more: Vec<Session>) {
    for session in more {
        let same = all.iter_mut().find(|have| have.agent == session.agent && have.id == session.id);
        let Some(have) = same else {
            all.push(session);
            continue;
        };
        have.files.extend(session.files);
        have.calls.extend(session.calls);
        have.lines += session.lines;
        have.unknown_lines += session.unknown_lines;
        have.unknown_blocks += session.unknown_blocks;
        have.broken_lines += session.broken_lines;
        have.dropped_calls += session.dropped_calls;
        have.problem = have.problem.take().or(session.problem);
        have.project = have.project.take().or(session.project);
        have.version = have.version.take().or(session.version);
        have.surface = have.surface.take().or(session.surface);
        have.started = have.started.take().or(session.started);
        have.notes.extend(session.notes);
        have.subagent_kinds.extend(session.subagent_kinds);
        for kind in session.unknown_kinds {
            if !have.unknown_kinds.contains(&kind) {
                have.unknown_kinds.push(kind);
            }
        }
    }
}
