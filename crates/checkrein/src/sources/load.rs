//! Reads files, and those that they include.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use checkrein_core::{Effect, Scope};
use checkrein_dialects::agents::native;
use checkrein_dialects::config::{DecodeOptions, Decoded, Diagnostic, Include, Settings, Severity};
use checkrein_dialects::{CommandLine, Dialect, HandlerSpec, HookSpec};
use checkrein_document::Format;

use super::approved::{approved, project_of};
use super::find::{Found, find, is_missing};
use super::ownership::{self, Ownership};
use super::read::{NoText, read};
use super::{
    FileState, FileStatus, Files, Loaded, Part, Where, calls_itself, guards, links, merge, own_files, settings, shadow,
};
use crate::real_path::{real_path, real_path_or_same};
use crate::trust::Origin;

/// Which dialect has the files with which an administrator rules over those of all others.
const RULING: &Dialect = &native::DIALECT;

/// How deep files may include files.
const DEPTH: usize = 16;

/// More files than anybody has.
const FILES: usize = 4096;

/// A file that was looked at, and what is in it.
pub(super) struct LoadedFile {
    pub(super) state: FileState,
    pub(super) hooks: Vec<HookSpec>,
    pub(super) settings: Settings,
    /// Whether the caller named it.
    pub(super) named: bool,
    /// Whether it is one of those with which an administrator rules over all others, whatever language they are in.
    pub(super) rules: bool,
    /// The names of its dialect and of those that include it: their settings count for it.
    pub(super) under: Vec<&'static str>,
    /// Whose word it is that it is read.
    by: Scope,
    /// Whether an include has put its hooks in the shadow.
    in_shadow: bool,
    /// How it came to be read.
    pub(super) origin: Origin,
    /// Which of the sources it is of.
    pub(super) part: usize,
}

impl LoadedFile {
    pub(super) fn name(&self) -> String {
        self.state.path.display().to_string()
    }

    /// Whose word it is that it is read, if an include has put its hooks in the shadow.
    pub(super) fn in_shadow_by(&self) -> Option<Scope> {
        self.in_shadow.then_some(self.by)
    }

    /// Whose word it is that it is read.
    pub(super) fn by(&self) -> Scope {
        self.by
    }
}

/// How a file came to be read.
#[derive(Clone)]
struct Way<'a> {
    dialect: &'static Dialect,
    scope: Scope,
    place: &'a Where,
    /// The directory that dialects look for their files from.
    dir: &'a Path,
    named: bool,
    rules: bool,
    origin: Origin,
    part: usize,
    under: Vec<&'static str>,
    depth: usize,
    /// What the include that led here says about failures, and whose it is.
    on_failure: Option<(Effect, Scope)>,
    /// Whose include that led here is.
    by: Option<Scope>,
    /// Who says that its hooks run in the shadow.
    shadow: Option<Scope>,
    /// What includes that led here pass on, and whose they are.
    env_allow: Vec<(String, Scope)>,
    /// The agent that asks, if its own files are passed over.
    caller: Option<&'static Dialect>,
    options: &'a DecodeOptions,
}

pub(super) fn load(parts: &[Part]) -> Loaded {
    let mut loader = Loader::default();
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| part.managed) {
        let (dir, place) = part.files.place();
        let before = loader.files.len();
        loader.managed(dir, place, at, &part.options);
        // Where other files are meant, it is no news that an administrator has none.
        if !matches!(part.files, Files::Usual(..)) || !part.dialect.config.files.iter().any(|row| row.rules) {
            let is_there = |file: &LoadedFile| file.state.status != FileStatus::Missing;
            let managed = loader.files.split_off(before);
            loader.files.extend(managed.into_iter().filter(is_there));
        }
    }
    for (part, Part { dialect, files, options, caller, of_project, .. }) in parts.iter().enumerate() {
        let way = |place, dir, named| Way {
            dialect,
            scope: Scope::User,
            place,
            dir,
            named,
            rules: false,
            origin: match named {
                true if *of_project => Origin::Project,
                true => Origin::Vouched,
                false => Origin::Found,
            },
            part,
            under: vec![dialect.name],
            depth: 0,
            on_failure: None,
            by: None,
            shadow: None,
            env_allow: Vec::new(),
            caller: *caller,
            options,
        };
        match files {
            Files::Usual(dir, place) => loader.usual(&way(place, dir.as_path(), false)),
            Files::Named(paths, dir, place) => {
                paths.iter().for_each(|path| loader.named(path, &way(place, dir.as_path(), true)));
            }
            Files::Plugin(root, place) => {
                if let Some(plugin) = dialect.config.plugin {
                    let origin = if project_of(root, parts).is_some() { Origin::Project } else { Origin::Vouched };
                    let way = Way { scope: Scope::Plugin, origin, ..way(place, root.as_path(), false) };
                    let before = loader.files.len();
                    loader.named(&root.join(plugin.file), &way);
                    for file in loader.files.iter_mut().skip(before) {
                        file.hooks.iter_mut().for_each(|hook| at_home(hook, plugin.root_variable, root));
                    }
                }
            }
        }
    }
    let Loader { mut files, mut diagnostics, mut followed, passed_over, .. } = loader;
    shadow::settle(&mut files);
    let reviewed = approved(&mut files, parts, &mut diagnostics, &mut followed);
    diagnostics.extend(merge::merge(&mut files));
    let (compat, audit) = (merge::compat(&files), merge::audit(&files));
    let allow_skip = merge::allow_skip(&files);
    let settings = settings::said(&files);
    let (hooks, files): (Vec<_>, Vec<_>) = files.into_iter().map(|file| (file.hooks, file.state)).unzip();
    let mut all = Vec::with_capacity(hooks.iter().map(Vec::len).sum());
    all.extend(hooks.into_iter().flatten());
    Loaded { hooks: all, diagnostics, compat, allow_skip, audit, settings, files, passed_over, followed, reviewed }
}

/// Tells a hook of a plugin where the plugin is.
fn at_home(hook: &mut HookSpec, variable: &str, root: &Path) {
    let HandlerSpec::Command(command) = &mut hook.handler else { return };
    let root = root.to_string_lossy();
    command.env_set.push((variable.to_owned(), root.clone().into_owned()));
    if let CommandLine::Argv(words) = &mut command.run {
        for word in words {
            *word = word.replace(&format!("${{{variable}}}"), &root);
        }
    }
}

#[derive(Default)]
struct Loader {
    files: Vec<LoadedFile>,
    diagnostics: Vec<Diagnostic>,
    followed: Vec<PathBuf>,
    /// What stands for `/` where an administrator's files have been looked for.
    roots: Vec<PathBuf>,
    /// Each file is read once in each dialect, in the shadow and not.
    seen: HashSet<(PathBuf, &'static str, bool)>,
    /// Files whose hooks the agent that asks runs itself.
    passed_over: Vec<PathBuf>,
    /// What files are read into, one after the other.
    buffer: Vec<u8>,
}

impl Loader {
    /// The files with which an administrator rules over all others. They come before everything else.
    fn managed(&mut self, dir: &Path, place: &Where, part: usize, options: &DecodeOptions) {
        if self.roots.contains(&place.root) {
            return;
        }
        let way = Way {
            dialect: RULING,
            scope: Scope::Managed,
            place,
            dir,
            named: false,
            rules: true,
            origin: Origin::Found,
            part,
            under: vec![RULING.name],
            depth: 0,
            on_failure: None,
            by: None,
            shadow: None,
            env_allow: Vec::new(),
            caller: None,
            options,
        };
        let found = find(RULING, dir, place, |row| row.rules);
        let is_empty = !found.files.iter().any(|candidate| candidate.is_there);
        let directory = found.files.iter().find(|candidate| candidate.has_directory).map(|found| found.path.clone());
        let before = self.files.len();
        self.found(found, &way);
        // Whoever can write the directory could have taken the files out of it.
        if let Some(directory) = directory.as_deref().and_then(Path::parent).filter(|_| is_empty) {
            let ownership = ownership::of(directory, place);
            if ownership.problem.is_some() {
                self.unguarded(directory, &way, ownership);
            }
        }
        self.roots.push(place.root.clone());
        let own = self.files.get_mut(before..).unwrap_or_default();
        own_files::protect(own, &way.options.only, place, dir);
    }

    /// All files of a dialect.
    fn usual(&mut self, way: &Way<'_>) {
        let are_read = self.roots.contains(&way.place.root);
        let found = find(way.dialect, way.dir, way.place, |row| !(are_read && row.rules));
        self.found(found, way);
    }

    fn found(&mut self, found: Found, way: &Way<'_>) {
        self.followed.extend(found.followed);
        self.diagnostics.extend(found.diagnostics);
        for candidate in found.files {
            let origin = if candidate.of_project { Origin::Project } else { Origin::Found };
            let way = Way { scope: candidate.scope, origin, ..way.clone() };
            if candidate.is_there {
                let before = self.files.len();
                self.file(&candidate.path, candidate.is_file, &way);
                if let Some((root, plugin)) = candidate.plugin.zip(way.dialect.config.plugin) {
                    for file in self.files.iter_mut().skip(before) {
                        file.hooks.iter_mut().for_each(|hook| at_home(hook, plugin.root_variable, &root));
                    }
                }
            } else if way.options.only.is_none() {
                self.take(&candidate.path, &way, Decoded::default(), FileStatus::Missing, None);
            }
        }
    }

    /// A file that somebody named.
    fn named(&mut self, path: &Path, way: &Way<'_>) {
        self.followed.push(path.to_owned());
        match path.symlink_metadata() {
            Err(error) if is_missing(&error) => {
                let text = "there is no such file";
                let why = Diagnostic::of_file(Severity::Error, "missing-file", name(path), text);
                // Whoever includes a file counts on its guards; taking it away must not open what they guard.
                let decoded = if way.depth == 0 {
                    self.diagnostics.push(why);
                    Decoded::default()
                } else {
                    way.dialect.unreadable(&name(path), way.scope, why)
                };
                self.take(path, way, decoded, FileStatus::Missing, None);
            }
            found => self.file(path, found.is_ok_and(|metadata| metadata.is_file()), way),
        }
    }

    /// Whether the agent that asks reads this file itself, in the same language, and runs what it says.
    fn is_callers_own(path: &Path, way: &Way<'_>) -> bool {
        let is_own = |caller: &&Dialect| way.depth > 0 && caller.agent() == way.dialect.agent();
        let Some(caller) = way.caller.filter(is_own) else {
            return false;
        };
        let own = find(caller, way.dir, way.place, |_| true).files;
        own.iter()
            .any(|own| own.path == path || (own.is_there && real_path_or_same(&own.path) == real_path_or_same(path)))
    }

    fn file(&mut self, path: &Path, known: bool, way: &Way<'_>) {
        if Self::is_callers_own(path, way) {
            self.passed_over.push(path.to_owned());
            return;
        }
        let real = self.real(path, way);
        let in_shadow = way.shadow.is_some_and(|by| shadow::may_put(by, way.scope));
        if !self.seen.insert((real, way.dialect.name, in_shadow)) {
            return;
        }
        if self.files.len() >= FILES || way.depth > DEPTH {
            let text = format!("it is one of more than {FILES} files, or included more than {DEPTH} levels deep");
            let why = Diagnostic::of_file(Severity::Error, "too-many-files", name(path), text);
            // The first of them closes what all of them might have.
            if self.files.len() <= FILES {
                let decoded = way.dialect.unreadable(&name(path), way.scope, why);
                self.take(path, way, decoded, FileStatus::Unreadable, None);
            }
            return;
        }
        if way.scope == Scope::Managed {
            let ownership = ownership::of(path, way.place);
            if ownership.problem.is_some() {
                self.unguarded(path, way, ownership);
                return;
            }
        }
        if way.dialect.config.scripts && path.is_file() {
            let decoded = way.dialect.decode_script(&name(path), way.scope, is_executable(path));
            // It is run anew each time, so what is in it does not matter here.
            self.take(path, way, decoded, FileStatus::Found, None);
            return;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        self.text(path, known, way, &mut buffer);
        self.buffer = buffer;
    }

    fn text(&mut self, path: &Path, known: bool, way: &Way<'_>, buffer: &mut Vec<u8>) {
        match read(path, known, buffer) {
            Ok(text) => {
                let format = Format::of_path(path).unwrap_or(Format::Json);
                let decoded = way.dialect.decode_with(&name(path), way.scope, text, format, way.options);
                let status = if decoded.unreadable { FileStatus::Unreadable } else { FileStatus::Found };
                let includes = decoded.settings.includes.clone();
                let in_shadow = decoded.settings.shadow;
                self.take(path, way, decoded, status, Some(text));
                for include in &includes {
                    self.include(path, include, in_shadow, way);
                }
            }
            Err(NoText { status, why }) => {
                let said = why.message.clone();
                let decoded = way.dialect.unreadable(&name(path), way.scope, *why);
                self.take(path, way, decoded, status, Some(&said));
            }
        }
    }

    /// Takes that somebody else may write an administrator's file. Nothing of it runs, since it may be anybody's, and all
    /// that it could guard is closed, since it may have been the administrator's.
    fn unguarded(&mut self, path: &Path, way: &Way<'_>, ownership: Ownership) {
        let problem = ownership.problem.clone().unwrap_or_default();
        let text = format!("this is not taken for an administrator's: {problem}");
        let why = Diagnostic::of_file(Severity::Error, "unguarded", name(path), text)
            .with_help("until that is mended, everything that hooks can guard is refused");
        let decoded = way.dialect.unreadable(&name(path), way.scope, why);
        self.take(path, way, decoded, FileStatus::Unguarded, Some(&problem));
        if let Some(file) = self.files.last_mut() {
            file.state.ownership = Some(ownership);
        }
    }

    /// What tells a file from others. Who wants only what may run now does not follow files, and looks at no links.
    fn real(&mut self, path: &Path, way: &Way<'_>) -> PathBuf {
        if way.options.only.is_some() {
            return path.to_owned();
        }
        let real = real_path(path);
        if let Ok(real) = &real {
            self.followed.push(real.clone());
        }
        self.followed.extend(links::on_the_way(path));
        real.unwrap_or_else(|_| path.to_owned())
    }

    fn include(&mut self, from: &Path, include: &Include, in_shadow: bool, way: &Way<'_>) {
        // The decoder takes only names of dialects that there are.
        let Some(dialect) = checkrein_dialects::find(include.dialect) else { return };
        let mut under = way.under.clone();
        if !under.contains(&dialect.name) {
            under.push(dialect.name);
        }
        let mut env_allow = way.env_allow.clone();
        env_allow.extend(include.env_allow.iter().map(|name| (name.clone(), way.scope)));
        let inner = Way {
            env_allow,
            dialect,
            under,
            depth: way.depth + 1,
            // What a file says about those that it includes counts for all below.
            on_failure: include.on_failure.map(|effect| (effect, way.scope)).or(way.on_failure),
            by: Some(way.scope),
            shadow: shadow::outermost(way.shadow, (include.shadow || in_shadow).then_some(way.scope)),
            caller: way.caller.filter(|_| !include.under_own_agent),
            ..way.clone()
        };
        match &include.path {
            // Whoever includes a file vouches for it, so it is his.
            Some(path) => {
                let origin = if way.origin == Origin::Project { Origin::Project } else { Origin::Vouched };
                let path = way.place.resolve(path, from.parent().unwrap_or(from));
                self.named(&path, &Way { origin, ..inner });
            }
            None => self.usual(&inner),
        }
    }

    fn take(&mut self, path: &Path, way: &Way<'_>, decoded: Decoded, status: FileStatus, text: Option<&str>) {
        let Decoded { mut hooks, mut settings, diagnostics, .. } = decoded;
        if let Some(log) = settings.audit.as_mut().and_then(|audit| audit.path.as_mut()) {
            *log = name(&way.place.resolve(log, path.parent().unwrap_or(path)));
        }
        self.diagnostics.extend(diagnostics);
        if let Some((effect, by)) = way.on_failure {
            self.on_failure(path, way, &mut hooks, effect, by);
        }
        for (variable, by) in &way.env_allow {
            self.env_allow(path, way, &mut hooks, variable, *by);
        }
        let in_shadow = match way.shadow {
            Some(by) => self.shadow(path, way, &mut hooks, by),
            None => false,
        };
        if way.depth > 0 {
            self.diagnostics.extend(hooks.iter_mut().filter_map(calls_itself::switch_off));
        }
        if way.scope == Scope::Managed {
            let thorough = way.options.only.is_none();
            self.diagnostics.extend(hooks.iter_mut().flat_map(|spec| guards::prepare(spec, way.place, thorough)));
        }
        // Who wants only what may run now does not follow files.
        let text = text.filter(|_| way.options.only.is_none());
        let is_managed = way.scope == Scope::Managed && status == FileStatus::Found && text.is_some();
        let state = FileState {
            path: path.to_owned(),
            scope: way.scope,
            dialect: way.dialect.name,
            status,
            hooks: hooks.len(),
            ownership: is_managed.then(|| ownership::of(path, way.place)),
            #[cfg(feature = "audit")]
            sha256: text.filter(|_| !status.is_unknown()).map(|text| crate::hash::sha256_hex(text.as_bytes())),
            hash: text.map_or(0, hash_of),
        };
        let (named, under, rules) = (way.named, way.under.clone(), way.rules && way.depth == 0);
        let by = way.by.unwrap_or(way.scope);
        let (origin, part) = (way.origin, way.part);
        self.files.push(LoadedFile { state, hooks, settings, named, rules, under, by, in_shadow, origin, part });
    }

    /// Passes a variable on to hooks, if whoever says so may.
    fn env_allow(&mut self, path: &Path, way: &Way<'_>, hooks: &mut [HookSpec], variable: &str, by: Scope) {
        if shadow::may_put(by, way.scope) {
            hooks.iter_mut().for_each(|spec| allow_env(spec, variable));
        } else if !hooks.is_empty() {
            let text = format!("a {by} file includes this one, and cannot pass `{variable}` on to its hooks");
            let note = Diagnostic::of_file(Severity::Warning, "not-its-to-say", name(path), text);
            self.diagnostics.push(note.with_help(format!("only a {} file can say that", way.scope)));
        }
    }

    /// Puts hooks in the shadow, if whoever says so may.
    fn shadow(&mut self, path: &Path, way: &Way<'_>, hooks: &mut [HookSpec], by: Scope) -> bool {
        if !shadow::may_put(by, way.scope) {
            if !hooks.is_empty() {
                let text = format!("a {by} file includes this one, and cannot put its hooks in the shadow");
                let note = Diagnostic::of_file(Severity::Warning, "not-its-to-say", name(path), text);
                self.diagnostics.push(note.with_help(format!("only a {} file can say that", way.scope)));
            }
            return false;
        }
        hooks.iter_mut().for_each(HookSpec::put_in_shadow);
        true
    }

    /// Does what an include says about failures, where hooks say nothing themselves.
    fn on_failure(&mut self, path: &Path, way: &Way<'_>, hooks: &mut [HookSpec], effect: Effect, by: Scope) {
        if vouched_for(by) > vouched_for(way.scope) {
            if !hooks.is_empty() {
                let text = format!("a {by} file includes this one, and cannot say what is done when its hooks fail");
                let note = Diagnostic::of_file(Severity::Warning, "not-its-to-say", name(path), text);
                self.diagnostics.push(note.with_help(format!("only a {} file can say that", way.scope)));
            }
            return;
        }
        for spec in hooks {
            let info = std::sync::Arc::make_mut(&mut spec.hook.info);
            info.on_failure.get_or_insert(effect);
        }
    }
}

/// Passes a variable of the host on to a command.
pub(super) fn allow_env(spec: &mut HookSpec, variable: &str) {
    if let HandlerSpec::Command(command) = &mut spec.handler
        && !command.env_allow.iter().any(|have| have == variable)
    {
        command.env_allow.push(variable.to_owned());
    }
}

/// How far away whoever wrote a file is: a repository must not loosen what its reader or his administrator has set.
fn vouched_for(scope: Scope) -> u8 {
    match scope {
        Scope::Managed => 0,
        Scope::User | Scope::Local | Scope::Code => 1,
        _ => 2,
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}

/// Elsewhere a file's name says it.
#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

pub(super) fn name(path: &Path) -> String {
    path.display().to_string()
}

pub(super) fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_administrator_rules_and_in_one_language() {
        for dialect in checkrein_dialects::ALL {
            for row in dialect.config.files {
                let expected = dialect.name == RULING.name && row.scope == Scope::Managed;
                assert_eq!(row.rules, expected, "{}: {}", dialect.name, row.path);
            }
        }
    }
}
