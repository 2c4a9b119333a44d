//! The repository of the working directory, read from `.git`.
//!
//! Rules use it as `git`, and pushes without a refspec use [`current_branch`]. Git is never run: a repository can make git run
//! programs. All files are read with limits. A `.git` of another user is not read, and its facts are unknown.

mod config;
mod dirty;
mod index;
mod object;
mod place;
mod refs;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use checkrein_expression::{FailureKind, Field, Method, Object, Schema, Type, Value};

use self::config::Config;
use self::place::{Found, Place};
use self::refs::Head;
use super::{RepositoryState, cached};

/// Branches that are protected in every repository. `*` matches any text.
const PROTECTED: &[&str] = &["main", "master", "trunk", "develop", "release/*", "production"];

/// Fields and methods of `git`.
pub(crate) static SCHEMA: Schema = Schema {
    name: "git",
    doc: "Repository of the working directory, read from `.git`.",
    fields: &[
        Field {
            name: "branch",
            kind: Type::String,
            doc: "Current branch; empty if detached, or without a repository.",
        },
        Field { name: "root", kind: Type::String, doc: "Root of the working tree; empty without a repository." },
        Field { name: "remotes", kind: Type::map(&Type::String), doc: "URLs of the remotes by name." },
        Field {
            name: "dirty",
            kind: Type::Bool,
            doc: "`true` if tracked files are changed or staged. Unknown if file contents would have to be compared.",
        },
    ],
    methods: &[Method {
        name: "protected",
        parameters: &[Type::String],
        result: Type::Bool,
        doc: "`true` for `main`, `master`, `trunk`, `develop`, `release/*`, `production` and the default branch of `origin`.",
    }],
};

/// Returns the object `git` for a working directory. The disk is read when a rule uses a field.
pub(crate) fn git(cwd: &Path) -> Value {
    cached::value(Repository::new(cwd))
}

/// Returns the object `git` for a state, for tests of rules.
pub(crate) fn given(state: &RepositoryState) -> Value {
    Value::Object(Arc::new(Given(state.clone())))
}

#[derive(Debug)]
struct Given(RepositoryState);

impl Object for Given {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn field(&self, index: usize) -> Value {
        let Self(state) = self;
        match index {
            0 => state.branch.as_str().into(),
            1 => state.root.to_string_lossy().into_owned().into(),
            2 => {
                let urls = state.remotes.iter().map(|(name, url)| (name.clone(), Value::from(url.as_str())));
                Value::Map(Arc::new(urls.collect()))
            }
            _ => state.dirty.into(),
        }
    }

    fn call(&self, _: usize, arguments: &[Value]) -> Result<Value, FailureKind> {
        match arguments {
            [Value::String(branch)] => Ok(is_usually_protected(branch).into()),
            _ => Err(FailureKind::Function("`protected` needs the name of a branch".to_owned())),
        }
    }
}

/// `true` for a branch that is protected in every repository.
fn is_usually_protected(branch: &str) -> bool {
    let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    PROTECTED.iter().any(|pattern| crate::wildcard::wildcard(pattern, branch))
}

/// Returns the current branch; empty if `HEAD` is detached or the directory is in no repository.
pub(crate) fn current_branch(cwd: &Path) -> Value {
    Repository::new(cwd).branch()
}

/// Returns the root of the working tree; empty if the directory is in no repository.
pub(crate) fn root(cwd: &Path) -> Value {
    Repository::new(cwd).root()
}

/// Returns the name of the current branch for people. `None`: `HEAD` is detached or unreadable, or there is no repository.
pub(crate) fn branch_name(cwd: &Path) -> Option<String> {
    let Found::Place(place) = Place::find(cwd) else { return None };
    match refs::head(&place) {
        Head::Branch(branch) => Some(branch),
        Head::Detached(_) | Head::Unknown => None,
    }
}

/// Returns the URLs of the remotes after rewriting, if they can be read.
pub(crate) fn remotes(cwd: &Path) -> Option<Remotes> {
    let place = match Place::find(cwd) {
        Found::Place(place) => place,
        Found::None => return Some(Remotes::default()),
        Found::Unreadable(_) => return None,
    };
    let upstream = match refs::head(&place) {
        Head::Branch(branch) => Some(branch),
        Head::Detached(_) | Head::Unknown => None,
    };
    let config = Config::read(&place)?;
    let upstream = upstream.and_then(|branch| config.branch_remote(&branch));
    Some(Remotes { config, upstream })
}

/// Remotes of a repository.
#[derive(Debug, Default)]
pub(crate) struct Remotes {
    config: Config,
    /// Remote of the current branch.
    upstream: Option<String>,
}

impl Remotes {
    /// Returns the remotes of a state, for tests of rules.
    pub(crate) fn from_state(state: &RepositoryState) -> Self {
        Self { config: Config::from_remotes(&state.remotes), upstream: None }
    }

    /// Returns the remote that a fetch or a push without a name uses.
    pub(crate) fn default_name(&self) -> &str {
        self.upstream.as_deref().unwrap_or("origin")
    }

    /// Returns the URL of a remote for a fetch or a push.
    pub(crate) fn url(&self, name: &str, is_push: bool) -> Option<String> {
        self.config.remote_url(name, is_push)
    }

    /// Returns a URL after the rewriting of `url.BASE.insteadOf`.
    pub(crate) fn rewritten(&self, url: &str, is_push: bool) -> String {
        self.config.rewritten(url, is_push)
    }
}

/// A repository. Each fact is read at most once.
#[derive(Debug)]
struct Repository {
    cwd: std::path::PathBuf,
    found: OnceLock<Found>,
    config: OnceLock<Option<Config>>,
    dirty: OnceLock<Value>,
}

impl Repository {
    fn new(cwd: &Path) -> Self {
        Self { cwd: cwd.to_owned(), found: OnceLock::new(), config: OnceLock::new(), dirty: OnceLock::new() }
    }

    fn found(&self) -> &Found {
        self.found.get_or_init(|| Place::find(&self.cwd))
    }

    /// Returns a fact of the repository, or `none` without a repository.
    fn fact(&self, none: Value, read: impl FnOnce(&Place) -> Value) -> Value {
        match self.found() {
            Found::None => none,
            Found::Unreadable(why) => Value::unknown(why.as_str()),
            Found::Place(place) => read(place),
        }
    }

    fn config(&self, place: &Place) -> Option<&Config> {
        self.config.get_or_init(|| Config::read(place)).as_ref()
    }

    fn branch(&self) -> Value {
        self.fact("".into(), |place| match refs::head(place) {
            Head::Branch(name) => name.into(),
            Head::Detached(_) => "".into(),
            Head::Unknown => Value::unknown("the current branch (`HEAD` cannot be read)"),
        })
    }

    fn root(&self) -> Value {
        self.fact("".into(), |place| place.root.to_string_lossy().into_owned().into())
    }

    fn remotes(&self) -> Value {
        self.fact(Value::Map(Arc::default()), |place| match self.config(place) {
            Some(config) => {
                let urls = config.remotes().map(|(name, url)| (name.to_owned(), Value::from(url)));
                Value::Map(Arc::new(urls.collect::<BTreeMap<_, _>>()))
            }
            None => Value::unknown("the remotes (`.git/config` cannot be read)"),
        })
    }

    fn is_protected(&self, branch: &str) -> Value {
        let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        if is_usually_protected(branch) {
            return true.into();
        }
        self.fact(false.into(), |place| (refs::default_branch(place).as_deref() == Some(branch)).into())
    }
}

impl Object for Repository {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn field(&self, index: usize) -> Value {
        match index {
            0 => self.branch(),
            1 => self.root(),
            2 => self.remotes(),
            _ => {
                let read = || {
                    self.fact(false.into(), |place| match self.config(place) {
                        Some(config) => dirty::is_dirty(place, config),
                        None => Value::unknown("changes of the repository (`.git/config` cannot be read)"),
                    })
                };
                self.dirty.get_or_init(read).clone()
            }
        }
    }

    fn call(&self, _: usize, arguments: &[Value]) -> Result<Value, FailureKind> {
        match arguments {
            [Value::String(branch)] => Ok(self.is_protected(branch)),
            _ => Err(FailureKind::Function("`protected` needs the name of a branch".to_owned())),
        }
    }
}
