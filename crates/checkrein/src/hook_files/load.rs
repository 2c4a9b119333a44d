//! Loader: reads hook files and those that they include.
//!
//! [`Sources::load`](super::Sources::load) calls [`load`]. Settings for other files are applied by [`merge`]
//! afterwards. An unreadable file is never treated as empty: it closes the gates that it could have.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use checkrein_core::{Scope, TrustLevel};
use checkrein_dialects::Dialect;
use checkrein_dialects::config::{Decoded, Diagnostic, Include, Severity};
use checkrein_document::Format;

use super::approval::{approved, project_of};
use super::context::{LoadContext, POLICY};
use super::find::{Candidate, Found, find, is_missing};
use super::loaded_file::{LoadedFile, Reading, change_hash, name};
use super::ownership::{self, Ownership};
use super::read::{ReadError, is_executable, read};
use super::{
    FileState, FileStatus, Files, Loaded, SourceSet, effective_settings, managed_guards, merge, plugin, recursion,
    self_protection, symlinks,
};
use crate::real_path::{real_path, real_path_or_same};
use crate::trust::{Origin, ProjectRoots};

/// Maximum depth of includes.
const MAX_DEPTH: usize = 16;

/// Maximum number of files.
const MAX_FILES: usize = 4096;

pub(super) fn load(parts: &[SourceSet]) -> Loaded {
    let Loader { mut files, mut diagnostics, mut followed, run_by_caller, has_replaced, .. } = Loader::read(parts);
    files.retain(|file| !file.is_left_out);
    if has_replaced {
        // A file that was read twice has reported its problems twice.
        let all = std::mem::take(&mut diagnostics);
        all.into_iter().for_each(|found| {
            if !diagnostics.contains(&found) {
                diagnostics.push(found);
            }
        });
    }
    let reviewed = approved(&mut files, parts, &mut diagnostics, &mut followed);
    let all_are_loaded = parts.iter().all(|part| part.options.only.is_none());
    diagnostics.extend(merge::merge(&mut files, all_are_loaded));
    let (compat, mut audit) = (merge::compat(&files), merge::audit(&files));
    if let (Some(audit), Some(part)) = (&mut audit, parts.first()) {
        let usual = || part.files.place().1.state_dir().map(|dir| name(&dir.join("audit.jsonl")));
        audit.path = audit.path.take().or_else(usual);
    }
    let (allow_skip, unguarded_subagents) = (merge::allow_skip(&files), merge::unguarded_subagents(&files));
    let deny_by_command = merge::deny_by_command(&files);
    let approvals_wait = merge::approvals_wait(&files);
    let uses_history = files.iter().any(|file| file.settings.uses_history);
    let approval_webhook = merge::approval_webhook(&files);
    let (log, resident) = (merge::log(&files), merge::resident(&files));
    let settings = effective_settings::effective(&files);
    let (hooks, files): (Vec<_>, Vec<_>) = files.into_iter().map(|file| (file.hooks, file.state)).unzip();
    let mut all = Vec::with_capacity(hooks.iter().map(Vec::len).sum());
    all.extend(hooks.into_iter().flatten());
    Loaded {
        hooks: all,
        diagnostics,
        compat,
        allow_skip,
        unguarded_subagents,
        deny_by_command,
        approvals_wait,
        uses_history,
        log,
        resident,
        approval_webhook,
        audit,
        settings,
        files,
        run_by_caller,
        followed,
        reviewed,
    }
}

/// Rank of a reading of a file. Several files can name the same one, and each would read it for its own scope, with its own
/// settings. The highest reading applies, so that none of a narrower scope takes a file from its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Trust level of the scope that the file is read for.
    scope: TrustLevel,
    /// Trust level of the file that includes it.
    included_by: TrustLevel,
    /// `false` if an include makes its hooks dry runs.
    in_force: bool,
}

impl Rank {
    fn new(context: &LoadContext<'_>) -> Self {
        let (scope, includes) = (context.scope, &context.includes);
        Self {
            scope: scope.trust_level(),
            included_by: includes.included_by().unwrap_or(scope).trust_level(),
            in_force: !includes.is_dry_run(scope),
        }
    }
}

#[derive(Default)]
struct Loader {
    files: Vec<LoadedFile>,
    diagnostics: Vec<Diagnostic>,
    followed: Vec<PathBuf>,
    /// Root directories whose managed files were read.
    roots: Vec<PathBuf>,
    /// The reading of each file in each dialect that applies, with its index in `files`.
    readings: HashMap<(PathBuf, &'static str), (Rank, usize)>,
    /// `true` if a reading has taken the place of another.
    has_replaced: bool,
    /// Directories of projects, by the start directory of the agent.
    projects: HashMap<PathBuf, ProjectRoots>,
    /// Files whose hooks the calling agent runs itself.
    run_by_caller: Vec<PathBuf>,
    /// Read buffer for all files.
    buffer: Vec<u8>,
}

impl Loader {
    /// Reads all files of the sources: the administrator's first.
    fn read(parts: &[SourceSet]) -> Self {
        let mut loader = Self::default();
        for (index, part) in parts.iter().enumerate().filter(|(_, part)| part.managed) {
            let before = loader.files.len();
            loader.policy(&LoadContext::policy(part, index));
            // Missing managed files are listed only if the sources discover files of the native dialect.
            if !matches!(part.files, Files::Usual(..)) || !part.dialect.config.files.iter().any(|row| row.rules) {
                for file in loader.files.iter_mut().skip(before) {
                    file.is_left_out |= file.state.status == FileStatus::Missing;
                }
            }
        }
        for (index, part) in parts.iter().enumerate() {
            let context = LoadContext::new(part, index);
            match &part.files {
                Files::Usual(..) => loader.usual(&context),
                Files::Named(paths, ..) => {
                    for path in paths {
                        let before = loader.files.len();
                        loader.named(path, &context);
                        if let Some((table, root)) = plugin::of_file(part.dialect, path) {
                            loader.files.iter_mut().skip(before).for_each(|file| file.set_plugin(table, &root));
                        }
                    }
                }
                Files::Plugin(root, _) => {
                    if let Some(table) = part.dialect.config.plugin {
                        let is_of_project = project_of(root, parts).is_some();
                        let origin = if is_of_project { Origin::Project } else { Origin::Explicit };
                        let context = LoadContext { scope: Scope::Plugin, origin, ..context };
                        let before = loader.files.len();
                        loader.named(&root.join(table.file), &context);
                        loader.files.iter_mut().skip(before).for_each(|file| file.set_plugin(table, root));
                    }
                }
            }
        }
        loader
    }

    /// Reads the administrator's files that apply to all dialects. They come before everything else.
    fn policy(&mut self, context: &LoadContext<'_>) {
        let (dir, place) = (context.dir(), context.place());
        if self.roots.contains(&place.root) {
            return;
        }
        let found = find(POLICY, dir, place, |row| row.rules);
        let is_empty = !found.files.iter().any(|candidate| candidate.is_there);
        let directory = found.files.iter().find(|candidate| candidate.has_directory).map(|found| found.path.clone());
        let before = self.files.len();
        self.found(found, context);
        // A user who can write the directory could have removed the files.
        if is_empty && let Some(directory) = directory.as_deref().and_then(Path::parent) {
            let ownership = ownership::check(directory, place);
            if ownership.problem.is_some() {
                self.reject_insecure(directory, context, ownership);
            }
        }
        self.roots.push(place.root.clone());
        let own = self.files.get_mut(before..).unwrap_or_default();
        self_protection::protect(own, &context.options().only, place, dir);
    }

    /// Reads all files of the context's dialect.
    fn usual(&mut self, context: &LoadContext<'_>) {
        let are_read = self.roots.contains(&context.place().root);
        let found = find(context.dialect, context.dir(), context.place(), |row| !(are_read && row.rules));
        self.found(found, context);
    }

    fn found(&mut self, found: Found, context: &LoadContext<'_>) {
        self.followed.extend(found.followed);
        self.diagnostics.extend(found.diagnostics);
        for candidate in found.files {
            let is_moved = !candidate.of_project && self.is_moved_into_project(&candidate, context);
            if is_moved {
                self.diagnostics.push(in_project(&candidate.path, context));
            }
            let of_project = candidate.of_project || is_moved;
            let (scope, origin) = match of_project {
                true if candidate.scope == Scope::User => (Scope::Project, Origin::Project),
                true => (candidate.scope, Origin::Project),
                false => (candidate.scope, Origin::Discovered),
            };
            let context = LoadContext { scope, origin, ..context.clone() };
            if let Some(why) = candidate.problem {
                let message = why.message.clone();
                let decoded = context.dialect.unreadable(&name(&candidate.path), scope, why);
                self.take(&candidate.path, &context, decoded, FileStatus::Unreadable, Some(&message));
            } else if candidate.is_there {
                let before = self.files.len();
                self.file(&candidate.path, candidate.is_file, &context);
                if let Some(project) = candidate.project.filter(|_| origin == Origin::Project) {
                    self.files.iter_mut().skip(before).for_each(|file| file.set_project(&project));
                }
                if let Some((root, table)) = candidate.plugin.zip(context.dialect.config.plugin) {
                    self.files.iter_mut().skip(before).for_each(|file| file.set_plugin(table, &root));
                }
            } else if !context.is_for_one_event() {
                self.take(&candidate.path, &context, Decoded::default(), FileStatus::Missing, None);
            }
        }
    }

    /// `true` if a file of the user lies in the project. A project's settings can set the variables that locate the user's
    /// files, so a file in the project belongs to the project.
    fn is_moved_into_project(&mut self, candidate: &Candidate, context: &LoadContext<'_>) -> bool {
        if candidate.scope != Scope::User || !candidate.is_there {
            return false;
        }
        let dir = context.dir();
        let project = self
            .projects
            .entry(dir.to_owned())
            .or_insert_with(|| ProjectRoots::for_dir(dir).with_home(context.place().known_home()));
        project.contains(&candidate.path)
    }

    /// Reads a file that the caller or an include names.
    fn named(&mut self, path: &Path, context: &LoadContext<'_>) {
        self.followed.push(path.to_owned());
        match path.symlink_metadata() {
            Err(error) if is_missing(&error) => {
                let text = "the file does not exist";
                let why = Diagnostic::of_file(Severity::Error, "missing-file", name(path), text);
                // The including file relies on its guards, so removing the file must not open their gates.
                let decoded = if context.includes.depth() == 0 {
                    self.diagnostics.push(why);
                    Decoded::default()
                } else {
                    context.dialect.unreadable(&name(path), context.scope, why)
                };
                self.take(path, context, decoded, FileStatus::Missing, None);
            }
            found => self.file(path, found.is_ok_and(|metadata| metadata.is_file()), context),
        }
    }

    /// `true` if the calling agent reads this file itself, in the same dialect, and runs its hooks.
    fn is_callers_own(path: &Path, context: &LoadContext<'_>) -> bool {
        let is_own = |caller: &&Dialect| {
            context.includes.depth() > 0
                && !context.includes.under_own_agent(context.scope)
                && caller.agent() == context.dialect.agent()
        };
        let Some(caller) = context.caller().filter(is_own) else {
            return false;
        };
        let own = find(caller, context.dir(), context.place(), |_| true).files;
        let is_same = |other: &Path| real_path_or_same(other) == real_path_or_same(path);
        // A hook that runs twice is better than one that never runs.
        own.iter().any(|own| !own.is_moved && (own.path == path || (own.is_there && is_same(&own.path))))
    }

    /// Number of files for the limit of a file of this scope. Files of narrower scopes are not counted: a project must not use
    /// up the limit before a file of its user is read.
    fn count_files(&self, scope: Scope) -> usize {
        // The common case needs no count.
        if self.files.len() < MAX_FILES {
            return self.files.len();
        }
        self.files.iter().filter(|file| file.state.scope.may_change(scope)).count()
    }

    fn file(&mut self, path: &Path, is_plain_file: bool, context: &LoadContext<'_>) {
        if Self::is_callers_own(path, context) {
            self.diagnostics.extend(context.includes.refused_under_own_agent(path, context.scope));
            self.run_by_caller.push(path.to_owned());
            return;
        }
        if !self.takes_precedence(path, context) {
            return;
        }
        let count = self.count_files(context.scope);
        if count >= MAX_FILES || context.includes.depth() > MAX_DEPTH {
            let text =
                format!("not read: more than {MAX_FILES} files, or includes nested more than {MAX_DEPTH} levels deep");
            let why = Diagnostic::of_file(Severity::Error, "too-many-files", name(path), text);
            // One unreadable file closes all gates, so the rest need no entry.
            if count <= MAX_FILES {
                let decoded = context.dialect.unreadable(&name(path), context.scope, why);
                self.take(path, context, decoded, FileStatus::Unreadable, None);
            }
            return;
        }
        if context.scope == Scope::Managed {
            let ownership = ownership::check(path, context.place());
            if ownership.problem.is_some() {
                self.reject_insecure(path, context, ownership);
                return;
            }
        }
        if context.dialect.config.format.is_programs() && path.is_file() {
            let decoded = context.dialect.decode_script(&name(path), context.scope, is_executable(path));
            // Without the text: the script is read at each run, so its text is no part of the config.
            self.take(path, context, decoded, FileStatus::Found, None);
            return;
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        self.text(path, is_plain_file, context, &mut buffer);
        self.buffer = buffer;
    }

    fn text(&mut self, path: &Path, is_plain_file: bool, context: &LoadContext<'_>, buffer: &mut Vec<u8>) {
        match read(path, is_plain_file, buffer) {
            Ok(text) => {
                let format = Format::from_path(path).unwrap_or(Format::Json);
                let decoded = context.dialect.decode_with(&name(path), context.scope, text, format, context.options());
                let status = if decoded.unreadable { FileStatus::Unreadable } else { FileStatus::Found };
                let includes = decoded.settings.includes.clone();
                let dry_run = decoded.settings.dry_run;
                self.take(path, context, decoded, status, Some(text));
                for include in &includes {
                    self.include(path, include, dry_run, context);
                }
            }
            Err(ReadError { status, why }) => {
                let message = why.message.clone();
                let decoded = context.dialect.unreadable(&name(path), context.scope, *why);
                self.take(path, context, decoded, status, Some(&message));
            }
        }
    }

    /// Rejects a managed file that other users can write. None of its hooks run, and every gate that it could have is closed.
    fn reject_insecure(&mut self, path: &Path, context: &LoadContext<'_>, ownership: Ownership) {
        let problem = ownership.problem.clone().unwrap_or_default();
        let text = format!("not trusted as a managed file: {problem}");
        let why = Diagnostic::of_file(Severity::Error, "insecure-permissions", name(path), text)
            .with_help("until this is fixed, every event that a hook can block is blocked");
        let decoded = context.dialect.unreadable(&name(path), context.scope, why);
        self.take(path, context, decoded, FileStatus::InsecurePermissions, Some(&problem));
        if let Some(file) = self.files.last_mut() {
            file.state.ownership = Some(ownership);
        }
    }

    /// `true` if a file was not read yet, or only with a lower rank. The other reading is left out then.
    fn takes_precedence(&mut self, path: &Path, context: &LoadContext<'_>) -> bool {
        let real = real_path(path);
        if !context.is_for_one_event() {
            self.followed.extend(real.as_ref().ok().cloned());
            self.followed.extend(symlinks::on_the_way(path));
        }
        let key = (real.unwrap_or_else(|_| path.to_owned()), context.dialect.name);
        let (rank, index) = (Rank::new(context), self.files.len());
        match self.readings.entry(key) {
            Entry::Occupied(other) if other.get().0 >= rank => return false,
            Entry::Occupied(mut other) => {
                let (_, replaced) = other.insert((rank, index));
                self.has_replaced = true;
                if let Some(file) = self.files.get_mut(replaced) {
                    file.is_left_out = true;
                }
            }
            Entry::Vacant(free) => {
                free.insert((rank, index));
            }
        }
        true
    }

    fn include(&mut self, from: &Path, include: &Include, dry_run: bool, context: &LoadContext<'_>) {
        // The decoder reports unknown dialects.
        let Some(dialect) = context.options().find_dialect(include.dialect) else { return };
        let inner = context.included(dialect, include, dry_run);
        match &include.path {
            // An included file belongs to the project if the including one does. Otherwise the include approves it.
            Some(path) => {
                let origin = if context.origin == Origin::Project { Origin::Project } else { Origin::Explicit };
                let path = context.place().resolve(path, from.parent().unwrap_or(from));
                self.named(&path, &LoadContext { origin, ..inner });
            }
            None => self.usual(&inner),
        }
    }

    fn take(
        &mut self,
        path: &Path,
        context: &LoadContext<'_>,
        decoded: Decoded,
        status: FileStatus,
        text: Option<&str>,
    ) {
        let Decoded { mut hooks, mut settings, diagnostics, .. } = decoded;
        let (scope, place, includes) = (context.scope, context.place(), &context.includes);
        if let Some(log) = settings.audit.as_mut().and_then(|audit| audit.path.as_mut()) {
            *log = name(&place.resolve_log(log, path.parent().unwrap_or(path)));
        }
        self.diagnostics.extend(diagnostics);
        self.diagnostics.extend(includes.apply(path, scope, &mut hooks));
        if includes.depth() > 0 {
            self.diagnostics.extend(hooks.iter_mut().filter_map(recursion::disable));
        }
        if scope == Scope::Managed {
            let thorough = !context.is_for_one_event();
            self.diagnostics.extend(hooks.iter_mut().flat_map(|spec| managed_guards::prepare(spec, place, thorough)));
        }
        // Files are not watched if only the hooks for one event are loaded.
        let text = text.filter(|_| !context.is_for_one_event());
        let is_managed = scope == Scope::Managed && status == FileStatus::Found && text.is_some();
        let state = FileState {
            path: path.to_owned(),
            scope,
            dialect: context.dialect.name,
            status,
            hooks: hooks.len(),
            ownership: is_managed.then(|| ownership::check(path, place)),
            #[cfg(feature = "audit")]
            sha256: text.filter(|_| !status.is_unknown()).map(|text| crate::hash::sha256_hex(text.as_bytes())),
            hash: text.map_or(0, change_hash),
        };
        self.files.push(LoadedFile {
            state,
            hooks,
            settings,
            is_explicit: context.is_explicit(),
            is_policy: context.is_policy(),
            dialect_chain: context.dialect_chain.clone(),
            origin: context.origin,
            reading: Reading { dialect: context.dialect, includes: includes.clone(), plugin: None },
            part: context.part_index,
            is_left_out: false,
        });
    }
}

/// Warning about a file of the user that is treated as one of the project.
fn in_project(path: &Path, context: &LoadContext<'_>) -> Diagnostic {
    let text = "this file of the user is inside of the project, which could have set `HOME` or a similar variable, so its \
                hooks need approval";
    let help = match (checkrein_process::user_home(), context.place().home.as_deref()) {
        (None, Some(home)) => format!(
            "this user has no entry in the account database: name the home directory with `checkrein hook AGENT --home \
             {}`, which `checkrein install` writes, or start the agent in another directory",
            home.display()
        ),
        _ => "move it to the home directory of your account, or start the agent in another directory".to_owned(),
    };
    Diagnostic::of_file(Severity::Warning, "user-file-in-project", name(path), text).with_help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_managed_files_of_the_native_dialect_are_policy() {
        for dialect in checkrein_dialects::ALL {
            for row in dialect.config.files {
                let expected = dialect.name == POLICY.name && row.scope == Scope::Managed;
                assert_eq!(row.rules, expected, "{}: {}", dialect.name, row.path);
            }
        }
    }
}
