//! The files that `check` reads, and the agent that each of them belongs to.
//!
//! Every file is judged as a file of its own agent. Some agents also read files of others; such a file is checked once, for
//! its owner.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use checkrein::dialects::agents::native;
use checkrein::dialects::config::{Diagnostic, Severity};
use checkrein::dialects::{self, Dialect};
use checkrein::document::Format;
use checkrein::hook_files::{FileStatus, Loaded, Sources};
use checkrein_tools::lint;

use super::super::config::sources;

/// The files of one agent.
pub struct AgentFiles {
    pub dialect: &'static Dialect,
    pub loaded: Loaded,
}

/// Loads the files that the arguments select.
pub fn load(
    dialect: Option<&'static Dialect>,
    named: &[PathBuf],
    dir: &Path,
    agent: Option<&str>,
) -> Result<Vec<AgentFiles>> {
    let load = |dialect: &'static Dialect, files: &[PathBuf]| -> Result<AgentFiles> {
        let mut sources = sources(dialect, files, dir)?;
        if let Some(name) = agent {
            sources = sources.agent(name);
        }
        Ok(AgentFiles { dialect, loaded: sources.load() })
    };
    if let Some(dialect) = dialect {
        let mut files = load(dialect, named)?;
        without_hooks(&mut files, named);
        return Ok(vec![files]);
    }
    if named.is_empty() {
        let own = load(&native::DIALECT, &[])?;
        let mut seen: HashSet<PathBuf> = own.loaded.files.iter().map(|file| file.path.clone()).collect();
        let mut all = vec![own];
        // Files in a directory with the name of an agent belong to that agent, also if others read them.
        for is_own_directory in [true, false] {
            let others = dialects::ALL.iter().filter(|dialect| dialect.name != native::DIALECT.name);
            all.extend(others.filter_map(|dialect| of_other(dialect, dir, agent, is_own_directory, &mut seen)));
        }
        return Ok(all);
    }
    let mut all: Vec<AgentFiles> = Vec::new();
    let mut owners: Vec<&'static Dialect> = Vec::new();
    for file in named {
        let owner = owner(file);
        if !owners.iter().any(|known| known.name == owner.name) {
            owners.push(owner);
        }
    }
    for dialect in owners {
        let own: Vec<_> = named.iter().filter(|file| owner(file).name == dialect.name).cloned().collect();
        let mut files = load(dialect, &own)?;
        without_hooks(&mut files, &own);
        all.push(files);
    }
    Ok(all)
}

/// The files of another agent that were not seen yet. `None` if it has no hooks there but those that call checkrein.
fn of_other(
    dialect: &'static Dialect,
    dir: &Path,
    agent: Option<&str>,
    is_own_directory: bool,
    seen: &mut HashSet<PathBuf>,
) -> Option<AgentFiles> {
    let mut sources = Sources::discover(dialect, dir).without_managed();
    if let Some(name) = agent {
        sources = sources.agent(name);
    }
    let mut loaded = sources.load();
    loaded.files.retain(|file| {
        let is_found = file.status != FileStatus::Missing;
        is_found && is_in_directory_of(dialect, &file.path) == is_own_directory && seen.insert(file.path.clone())
    });
    loaded.hooks.retain(|hook| !lint::calls_checkrein(hook));
    let is_here = |file: &str| loaded.files.iter().any(|state| state.path == Path::new(file));
    loaded.hooks.retain(|hook| hook.info.source.file.as_deref().is_some_and(is_here));
    loaded.diagnostics.retain(|diagnostic| is_here(&diagnostic.file));
    if loaded.hooks.is_empty() && loaded.diagnostics.is_empty() {
        return None;
    }
    for file in &mut loaded.files {
        let is_own = |hook: &&checkrein::HookSpec| hook.info.source.file.as_deref().map(Path::new) == Some(&file.path);
        file.hooks = loaded.hooks.iter().filter(is_own).count();
    }
    Some(AgentFiles { dialect, loaded })
}

/// `true` if a directory of the path has the name of the agent: `.claude/settings.json`.
fn is_in_directory_of(dialect: &Dialect, path: &Path) -> bool {
    let own = format!(".{}", dialect.agent());
    path.components().any(|part| part.as_os_str() == own.as_str())
}

/// The agent that reads a file at this path. checkrein, if no agent has files of this name.
fn owner(file: &Path) -> &'static Dialect {
    let file = &*std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let is_at = |path: &str, extensions: &[&str]| match path.strip_suffix("/*") {
        Some(directory) => {
            let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            file.parent().is_some_and(|parent| parent.ends_with(directory)) && extensions.contains(&extension)
        }
        None if extensions.is_empty() => path.contains('/') && file.ends_with(path),
        None => extensions.iter().any(|extension| path.contains('/') && file.ends_with(format!("{path}.{extension}"))),
    };
    let has_file = |dialect: &&&'static Dialect| {
        let config = &dialect.config;
        let is_usual = config.files.iter().any(|row| {
            let (_, usual) = row.base.variables();
            let path = if usual.is_empty() { row.path.to_owned() } else { format!("{usual}/{}", row.path) };
            !path.contains("/*/") && is_at(&path, row.extensions)
        });
        is_usual || config.plugin.is_some_and(|plugin| file.ends_with(plugin.file))
    };
    let mut readers = dialects::ALL.iter().filter(has_file).peekable();
    let first = readers.peek().copied().copied();
    readers.find(|dialect| is_in_directory_of(dialect, file)).copied().or(first).unwrap_or(&native::DIALECT)
}

/// Reports files on the command line without hooks.
fn without_hooks(files: &mut AgentFiles, named: &[PathBuf]) {
    let (dialect, loaded) = (files.dialect, &mut files.loaded);
    for file in named {
        let path = std::path::absolute(file).unwrap_or_else(|_| file.clone());
        let has_hooks = loaded.hooks.iter().any(|hook| hook.info.source.file.as_deref().map(Path::new) == Some(&path));
        let is_read = loaded.files.iter().any(|state| state.path == path && state.status == FileStatus::Found);
        let is_reported =
            loaded.diagnostics.iter().any(|found| Path::new(&found.file) == path && found.severity == Severity::Error);
        if has_hooks || !is_read || is_reported {
            continue;
        }
        if let Some(why) = why_no_hooks(dialect, &path) {
            let text = format!("no hooks found in this file of {}: {why}", dialect.title());
            let found = Diagnostic::of_file(Severity::Error, "no-hooks-found", path.display().to_string(), text);
            loaded.diagnostics.push(found);
        }
    }
}

/// Reason why a file has no hooks. `None` if the file is complete without hooks.
fn why_no_hooks(dialect: &'static Dialect, path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    if text.trim().is_empty() {
        return Some("the file is empty".to_owned());
    }
    let format = Format::from_path(path).unwrap_or(Format::Json);
    let file = path.display().to_string();
    let has_hooks = |other: &&&'static Dialect| {
        let decoded = other.decode(&file, checkrein::Scope::User, &text, format);
        other.name != dialect.name && !decoded.unreadable && decoded.diagnostics.is_empty() && !decoded.hooks.is_empty()
    };
    if let Some(other) = dialects::ALL.iter().find(has_hooks) {
        let name = other.name;
        return Some(format!("it has the format of {}; add `--as {name}`", other.title()));
    }
    let document =
        checkrein::document::parse(&text, if format == Format::Json { Format::Jsonc } else { format }).ok()?;
    let members = document.root.as_object()?;
    // A file of checkrein may contain settings only.
    if dialect.has_all_events && members.iter().any(|member| member.key != "hooks") {
        return None;
    }
    let keys: Vec<_> = members.iter().take(4).map(|member| format!("`{}`", member.key)).collect();
    Some(match members.iter().any(|member| member.key == "hooks") {
        true => "`hooks` is empty".to_owned(),
        false => format!("it has no `hooks`, only {}", keys.join(", ")),
    })
}
