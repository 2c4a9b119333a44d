//! A path as an object of expressions.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use checkrein_expression::{Object, Schema, Value};

use super::pattern::{Answer, Part, Table, TableIn, parts_of, parts_of_word};
use super::protected::{AGENTS, PROTECTED, is_agent_directory};
use super::secret::SECRET;
use super::system::is_system;
use super::{PathContext, SCHEMA};
use crate::builtins::doubt::has_unknown_name;
use crate::builtins::paths::{expanded, names};
use crate::builtins::protect_paths::Reach;
use crate::builtins::protect_paths::access::{Access, UsedPath};
use crate::builtins::shell::{Expanded, lexical};
use crate::facts::{command, file_word as word};
use crate::real_path::real_ancestor;

/// A path that a call uses.
#[derive(Debug)]
pub(super) struct PathFact {
    used: Arc<UsedPath>,
    context: Arc<PathContext>,
    /// The path as written.
    word: Expanded,
    place: Place,
    /// All names of a known path: as written, and with links resolved.
    names: OnceLock<Vec<PathBuf>>,
    secret: OnceLock<Value>,
    of_agent: OnceLock<Value>,
    protected: OnceLock<Value>,
}

/// Place of a path.
#[derive(Debug)]
enum Place {
    /// An absolute path.
    Known(PathBuf),
    /// A path with unknown parts.
    Open {
        parts: Vec<Part>,
        /// Directory in which the path is for certain: the unknown parts are names of files below it.
        within: Option<PathBuf>,
    },
}

/// Maximum number of paths for one word.
const MOST: usize = 500;

impl PathFact {
    /// Returns the facts for a used path: one for each file and each possible directory.
    pub(super) fn all(used: UsedPath, context: &Arc<PathContext>) -> Vec<Self> {
        let used = Arc::new(used);
        let make = |word: Expanded, place: Place| Self {
            used: Arc::clone(&used),
            context: Arc::clone(context),
            word,
            place,
            names: OnceLock::new(),
            secret: OnceLock::new(),
            of_agent: OnceLock::new(),
            protected: OnceLock::new(),
        };
        let word = &used.path;
        let is_relative = !Path::new(&word.text).is_absolute();
        if is_relative && !used.cwd_known {
            let word = used.names.first().map_or_else(|| word.clone(), |name| below(word, name));
            let parts = parts_of_word(&word, None);
            return vec![make(word, Place::Open { parts, within: None })];
        }
        let mut facts = Vec::new();
        let cwds = if is_relative { &used.cwds[..] } else { used.cwds.get(..1).unwrap_or_default() };
        for cwd in cwds {
            if !word.known {
                facts.push(make(word.clone(), Place::Open { parts: parts_of_word(word, Some(cwd)), within: None }));
                continue;
            }
            if !used.names.is_empty() {
                let below = used.names.iter().map(|name| below(word, name));
                facts.extend(below.map(|word| {
                    let within = Some(lexical(&cwd.join(&used.path.text)));
                    let parts = parts_of_word(&word, Some(cwd));
                    make(word, Place::Open { parts, within })
                }));
                continue;
            }
            let whole = cwd.join(&word.text);
            let mut files = expanded(word, cwd);
            // A shell sorts them.
            files.sort();
            if word.glob && files == [whole] {
                let parts = parts_of_word(word, Some(cwd));
                let is_open = |text: &str| text.contains(['*', '?', '[']);
                let known = word.text.split('/').take_while(|part| !is_open(part)).collect::<Vec<_>>().join("/");
                let known = if known.is_empty() && !is_relative { "/".to_owned() } else { known };
                let within = Some(lexical(&cwd.join(known)));
                facts.push(make(word.clone(), Place::Open { parts, within }));
                continue;
            }
            for file in files.into_iter().take(MOST) {
                let written = match word.glob {
                    true => {
                        let text = file.to_string_lossy().into_owned();
                        Expanded { text, known: true, ..Expanded::default() }
                    }
                    false => word.clone(),
                };
                facts.push(make(written, Place::Known(lexical(&file))));
            }
        }
        facts
    }

    fn home(&self) -> Option<&str> {
        self.context.home.as_deref()
    }

    /// Returns the names of a known path.
    fn names(&self, path: &Path) -> &[PathBuf] {
        self.names.get_or_init(|| names(path))
    }

    fn unknown(&self) -> Value {
        Value::Unknown(word::unknown(&self.word.text))
    }

    fn abs(&self) -> Value {
        match &self.place {
            Place::Known(path) => path.to_string_lossy().into_owned().into(),
            Place::Open { .. } if self.word.text.contains("..") => self.unknown(),
            Place::Open { within, .. } => {
                let is_absolute = Path::new(&self.word.text).is_absolute();
                let starts_unknown = self.word.unknown.first().is_some_and(|range| range.start == 0);
                match (is_absolute || starts_unknown, within, self.used.cwds.first()) {
                    (true, ..) => word::value(&self.word),
                    (false, None, _) if !self.used.cwd_known => self.unknown(),
                    (false, _, Some(cwd)) => word::value(&joined(cwd, &self.word)),
                    (false, _, None) => self.unknown(),
                }
            }
        }
    }

    fn real(&self) -> Value {
        match &self.place {
            Place::Known(path) => real(path).to_string_lossy().into_owned().into(),
            Place::Open { .. } => self.unknown(),
        }
    }

    fn name(&self) -> Value {
        match &self.place {
            Place::Known(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned().into(),
            Place::Open { parts, .. } => match parts.last() {
                Some(Part::Known(name)) => name.as_str().into(),
                Some(Part::Partial(name)) => word::value(name),
                Some(Part::Any) | None => self.unknown(),
            },
        }
    }

    fn ext(&self) -> Value {
        let ext = |name: &str| Path::new(name).extension().unwrap_or_default().to_string_lossy().into_owned();
        match self.name() {
            Value::String(name) => ext(&name).into(),
            Value::Partial(name) => match name.known.last().filter(|_| name.ends) {
                Some(tail) if tail.contains('.') => ext(&format!("x{tail}")).into(),
                _ => self.unknown(),
            },
            other => other,
        }
    }

    /// Returns whether the path is in a directory, with links resolved.
    fn is_in(&self, directory: Option<&Path>) -> Value {
        let Some(directory) = directory.filter(|directory| !directory.as_os_str().is_empty()) else {
            return false.into();
        };
        let is_below = |path: &Path| real(path).starts_with(real(directory));
        match &self.place {
            Place::Known(path) => is_below(path).into(),
            Place::Open { within: Some(within), .. } => is_below(within).into(),
            Place::Open { .. } if self.used.is_temporary => false.into(),
            Place::Open { .. } => self.unknown(),
        }
    }

    /// `true` if another machine or a container has the file.
    fn is_remote(&self) -> bool {
        self.used.wrappers.iter().any(|wrapper| command::is_remote(wrapper))
    }

    fn exists(&self) -> Value {
        match &self.place {
            Place::Known(_) if self.is_remote() => self.unknown(),
            Place::Known(path) => self.has_file(path).into(),
            Place::Open { .. } => self.unknown(),
        }
    }

    fn has_file(&self, path: &Path) -> bool {
        match &self.context.files {
            Some(files) => files.iter().any(|file| file.starts_with(path)),
            None => path.symlink_metadata().is_ok(),
        }
    }

    /// Returns the absolute path up to its first unknown part.
    fn known_start(&self) -> Value {
        match self.abs() {
            Value::Partial(text) if text.starts => text.known.first().map_or("", String::as_str).into(),
            Value::String(text) => Value::String(text),
            _ => "".into(),
        }
    }

    fn is_system(&self) -> Value {
        match &self.place {
            Place::Known(path) => self.names(path).iter().any(|name| is_system(name, &self.context)).into(),
            Place::Open { within: Some(within), .. } => is_system(within, &self.context).into(),
            Place::Open { .. } if self.used.is_temporary => false.into(),
            Place::Open { .. } => self.unknown(),
        }
    }

    /// Returns whether the path is in a table.
    fn is_in_table(&self, table: &Table) -> Value {
        let answer = match &self.place {
            Place::Known(path) => {
                let names = self.names(path).iter().map(|name| table.answer(&parts_of(name), self.home()));
                names.max_by_key(|answer| *answer as u8).unwrap_or(Answer::No)
            }
            Place::Open { .. } if self.used.is_temporary => Answer::No,
            // A guard asks about a change to a file whose name is unknown.
            Place::Open { within: None, .. } if self.used.access != Access::Read && has_unknown_name(&self.word) => {
                Answer::Maybe
            }
            Place::Open { parts, .. } => table.answer(parts, self.home()),
        };
        match answer {
            Answer::Yes | Answer::Included => true.into(),
            Answer::No => false.into(),
            Answer::Maybe => self.unknown(),
        }
    }

    fn is_secret(&self) -> Value {
        let found = self.is_in_table(&SECRET);
        if !matches!(found, Value::Bool(false)) {
            return found;
        }
        let files = TableIn { table: &SECRET, home: self.home() };
        match self.used.search.as_ref().and_then(|search| search.find(&files)) {
            Some(file) => Value::unknown(format!("`{}` may read {}", self.used.program, file.display())),
            None => found,
        }
    }

    /// Returns whether the file belongs to checkrein or to an agent.
    fn is_of_agent(&self) -> Value {
        if let Place::Known(path) = &self.place
            && self.used.access == Access::Delete
            && path.file_name().and_then(|name| name.to_str()).is_some_and(is_agent_directory)
        {
            return true.into();
        }
        self.is_in_or_above(&AGENTS)
    }

    fn is_protected(&self) -> Value {
        match self.of_agent.get_or_init(|| self.is_of_agent()) {
            Value::Bool(false) => self.is_in_or_above(&PROTECTED),
            Value::Bool(_) => true.into(),
            unknown => match self.is_in_or_above(&PROTECTED) {
                Value::Bool(true) => true.into(),
                _ => unknown.clone(),
            },
        }
    }

    /// Returns whether the path is in a table, or is a directory that is changed with a file of the table in it.
    fn is_in_or_above(&self, table: &Table) -> Value {
        let found = self.is_in_table(table);
        let Place::Known(path) = &self.place else { return found };
        let changes = matches!(self.used.access, Access::Write | Access::Delete) && self.used.reach != Reach::Exact;
        // Programs that work in a directory change files that the project names.
        let is_work =
            self.used.reach == Reach::Into && (self.used.program == "make" || path == &lexical(&self.context.cwd));
        if !matches!(found, Value::Bool(false)) || !changes || is_work || self.is_remote() {
            return found;
        }
        let is_below = |place: &PathBuf| self.names(path).iter().any(|name| place.starts_with(name) && place != name);
        let mut places = table.places(self.home(), &self.context.project);
        match places.find(|place| is_below(place) && self.has_file(place)) {
            Some(_) if self.used.reach == Reach::Tree => true.into(),
            Some(place) => Value::unknown(format!("`{}` may change {}", self.used.program, place.display())),
            None => found,
        }
    }
}

/// Returns the path of a file with this name anywhere below a directory.
fn below(directory: &Expanded, name: &str) -> Expanded {
    let start = format!("{}/", directory.text.trim_end_matches('/'));
    let unknown = std::iter::once(start.len()..start.len() + 2).collect();
    let glob = name.contains(['*', '?', '[']);
    Expanded { text: format!("{start}**/{name}"), known: false, glob, unknown, ..Expanded::default() }
}

fn joined(cwd: &Path, word: &Expanded) -> Expanded {
    let text = word.text.strip_prefix("./").unwrap_or(&word.text);
    let start = format!("{}/", cwd.to_string_lossy().trim_end_matches('/'));
    let (added, removed) = (start.len(), word.text.len() - text.len());
    let moved = word.unknown.iter().map(|range| range.start + added - removed..range.end + added - removed);
    Expanded { text: format!("{start}{text}"), unknown: moved.collect(), span: None, ..word.clone() }
}

/// Resolves links in the part of the path that exists.
fn real(path: &Path) -> PathBuf {
    real_ancestor(path).map_or_else(|| lexical(path), |(found, rest)| lexical(&found.join(rest)))
}

impl Object for PathFact {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn field(&self, index: usize) -> Value {
        match index {
            0 => word::value(&self.word),
            1 => self.abs(),
            2 => self.real(),
            3 => self.name(),
            4 => self.ext(),
            5 => self.used.access.name().into(),
            6 => self.is_in(Some(&self.context.project)),
            7 => self.is_in(self.home().map(Path::new)),
            8 => self.exists(),
            9 => self.secret.get_or_init(|| self.is_secret()).clone(),
            10 => self.protected.get_or_init(|| self.is_protected()).clone(),
            11 => self.of_agent.get_or_init(|| self.is_of_agent()).clone(),
            12 => self.is_system(),
            13 => self.known_start(),
            14 => self.used.program.as_str().into(),
            _ => self.is_remote().into(),
        }
    }
}
