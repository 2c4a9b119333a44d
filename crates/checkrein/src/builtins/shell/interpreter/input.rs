//! Standard input of commands, and scripts that a shell reads from it, from a pipe or from a descriptor.
//!
//! A text is followed as a script if it is known. Of a text that only a running shell knows, an unknown command is added.
//! Files of the disk are neither: what a script in a file does is not followed.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::words::{as_script, as_shown, is_certain};
use super::{Context, Interpreter, Ran};
use crate::builtins::doubt::is_wholly_unknown;
use crate::builtins::shell::ParseError;
use crate::builtins::shell::commands::{base_name, lexical};
use crate::builtins::shell::expand::{UNKNOWN, is_unknown, unknown_text};
use crate::builtins::shell::expanded::Expanded;
use crate::builtins::shell::parse::{Command, List, RedirectKind};

/// Maximum length of the text that several commands print, in bytes. A longer text is unknown.
const LONGEST_INPUT: usize = 64 << 10;

/// Maximum number of files whose text is kept.
const MOST_WRITTEN: usize = 64;

/// Standard input of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Input {
    /// Its text. `None` if it is a file, or comes from outside. [`UNKNOWN`] stands for unknown parts.
    pub(super) text: Option<Arc<str>>,
    /// Programs that print it.
    pub(super) fed_by: Rc<[String]>,
}

impl Input {
    /// Returns the text for callers, if a part of it is known.
    pub(super) fn shown(&self) -> Option<String> {
        self.text.as_deref().filter(|text| !is_unknown(text)).map(as_shown)
    }
}

impl Interpreter<'_> {
    /// Returns the standard input of a command, without its redirections.
    pub(super) fn input_of(&self, command: &Command, feed: Option<Input>) -> Input {
        let is_replaced = feed.is_none() && self.is_input_replaced;
        let mut input = feed.unwrap_or_else(|| self.input.clone());
        if command.in_redirected || is_replaced {
            input.text = Some(with_unknown(input.text.as_deref().unwrap_or_default()));
        }
        input
    }

    /// Returns the output of the commands that feed another one.
    pub(super) fn fed(&mut self, list: &List, start: usize, ran: &[Ran]) -> Result<Input, ParseError> {
        // The first of them may pass on what it reads.
        self.work.spend(12 * self.input.fed_by.len())?;
        let mut fed_by = self.input.fed_by.to_vec();
        for ran in ran {
            self.work.spend(1 + ran.names.len() * 12)?;
            fed_by.extend(ran.names.iter().cloned());
        }
        Ok(Input { text: self.printed(list, start, ran)?, fed_by: fed_by.into() })
    }

    /// Returns the output of commands of a list. The first one has the index `start`.
    pub(super) fn printed(&mut self, list: &List, start: usize, ran: &[Ran]) -> Result<Option<Arc<str>>, ParseError> {
        let Some((last, before)) = ran.split_last() else { return Ok(Some("".into())) };
        // In a plain pipeline, the last command prints everything.
        let is_pipeline = list.commands.get(start + before.len()).is_some_and(|last| {
            before.is_empty() || last.fed_by == (start..start + before.len()) && is_chain(list, start, before.len())
        });
        if is_pipeline {
            return Ok(last.printed.clone());
        }
        if ran.iter().all(|ran| ran.printed.is_none()) {
            return Ok(None);
        }
        let mut text = String::new();
        for printed in ran.iter().filter_map(|ran| ran.printed.as_deref()) {
            self.work.spend(1 + printed.len())?;
            if text.len() + printed.len() > LONGEST_INPUT {
                text.clear();
                break;
            }
            text.push_str(printed);
        }
        // The order, and which of the commands run, may be another one.
        Ok(Some(with_unknown(&text)))
    }

    /// Returns the standard input behind a redirection.
    pub(super) fn redirected(
        &mut self,
        kind: RedirectKind,
        values: &[Expanded],
        before: &Input,
    ) -> Result<Option<Input>, ParseError> {
        let text = match (kind, values) {
            // `<>` opens a file for both.
            (RedirectKind::Write, [value]) if value.content.is_some() => self.content(value, before)?,
            (RedirectKind::Write | RedirectKind::Append, _) => return Ok(None),
            (RedirectKind::Here, [value]) => Some(as_script(value).into()),
            (RedirectKind::Read, [value]) if self.is_stdin(value)? => return Ok(None),
            (RedirectKind::Read, [value]) => self.content(value, before)?,
            (RedirectKind::Here | RedirectKind::Read | RedirectKind::Copy, _) => Some(unknown_text()),
        };
        let from: Vec<_> = values.iter().flat_map(|value| value.from.iter().cloned()).collect();
        self.work.spend(8 * from.len())?;
        Ok(Some(Input { text, fed_by: from.into() }))
    }

    /// Returns the text of a file that is no file of the disk: a pipe or a descriptor. `None` for other files.
    pub(super) fn content(&mut self, file: &Expanded, input: &Input) -> Result<Option<Arc<str>>, ParseError> {
        if file.content.is_some() {
            return Ok(file.content.clone());
        }
        if self.is_stdin(file)? {
            return Ok(input.text.clone());
        }
        if let Some(text) = self.written_text(file)? {
            return Ok(Some(text));
        }
        if self.has_pipes && is_wholly_unknown(file) {
            return Ok(Some(unknown_text()));
        }
        // The part before the first wildcard or unknown part.
        let end = file.unknown.first().map_or(file.text.len(), |range| range.start);
        let known = file.text.get(..end).unwrap_or_default();
        let start = if file.glob { known.split(['*', '?', '[']).next().unwrap_or_default() } else { known };
        let is_device = |path: &PathBuf| {
            let text = path.to_string_lossy();
            ["/dev/fd", "/dev/tcp", "/dev/udp", "/dev/std"].iter().any(|start| text.starts_with(start))
                || text.starts_with("/proc/") && text.contains("/fd")
                || file.glob
                || !file.known
        };
        Ok(if self.devices(start)?.iter().any(is_device) { Some(unknown_text()) } else { None })
    }

    /// `true` for a name of the standard input.
    pub(super) fn is_stdin(&mut self, file: &Expanded) -> Result<bool, ParseError> {
        const NAMES: &[&str] = &["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/thread-self/fd/0"];
        if !is_certain(file) {
            return Ok(false);
        }
        let is_name = |path: &PathBuf| NAMES.iter().any(|name| path.as_os_str() == *name);
        Ok(file.text == "-" || self.devices(&file.text)?.iter().any(is_name))
    }

    /// Returns the paths below `/dev` and `/proc` that a text may name, without links.
    fn devices(&mut self, text: &str) -> Result<Vec<PathBuf>, ParseError> {
        const DIRECTORIES: &[&str] = &["/dev", "/proc"];
        let is_in = |path: &Path| DIRECTORIES.iter().any(|directory| path.starts_with(directory));
        let is_root = |path: &Path| path == Path::new("/");
        let mut found = Vec::new();
        if text.starts_with('/') {
            self.work.spend(16 + 4 * text.len())?;
            found.push(lexical(Path::new(text)));
        } else {
            let climbs = text.contains("..");
            self.work.spend(4 * self.state.cwds.len())?;
            for cwd in self.state.cwds.iter().filter(|cwd| climbs || is_in(cwd) || is_root(cwd)) {
                // Each component of a path is read.
                self.work.spend(64 + 16 * (cwd.as_os_str().len() + text.len()))?;
                found.push(lexical(&cwd.join(text)));
            }
        }
        found.retain(|path| is_in(path));
        Ok(found)
    }

    /// Keeps the text that a command writes to files: `echo … > x.sh`, `cat > x.sh <<E`, `… | tee x.sh`.
    pub(super) fn keep_written(
        &mut self,
        words: &[Expanded],
        context: &Context,
        printed: Option<&str>,
    ) -> Result<(), ParseError> {
        let is_tee = words.first().is_some_and(|program| base_name(&program.text) == "tee");
        let operands = words.iter().skip(1).filter(|word| is_tee && !word.text.starts_with('-'));
        let files: Vec<_> = context.writes.iter().chain(operands).filter(|file| is_certain(file)).cloned().collect();
        // Of a text that only a running shell knows, nothing is followed.
        let Some(text) = printed.filter(|text| !files.is_empty() && !text.contains(UNKNOWN)) else { return Ok(()) };
        if text.len() > LONGEST_INPUT || self.written.len() >= MOST_WRITTEN {
            return Ok(());
        }
        for file in files {
            for path in self.paths_of(&file)? {
                self.work.spend(64 + text.len())?;
                let before = if context.appends.contains(&file) { self.written.get(&path).cloned() } else { None };
                let whole = format!("{}{text}", before.as_deref().unwrap_or_default());
                if whole.len() <= LONGEST_INPUT {
                    self.written.insert(path, whole.into());
                }
            }
        }
        Ok(())
    }

    /// Returns the text that an earlier command has written to a file.
    pub(super) fn written_text(&mut self, file: &Expanded) -> Result<Option<Arc<str>>, ParseError> {
        if self.written.is_empty() || !is_certain(file) {
            return Ok(None);
        }
        let paths = self.paths_of(file)?;
        Ok(paths.iter().find_map(|path| self.written.get(path)).cloned())
    }

    fn paths_of(&mut self, file: &Expanded) -> Result<Vec<PathBuf>, ParseError> {
        let cwds = self.state.cwds.clone();
        self.work.spend(cwds.iter().map(|cwd| 64 + 4 * (cwd.as_os_str().len() + file.text.len())).sum())?;
        let mut paths: Vec<_> = cwds.iter().map(|cwd| lexical(&cwd.join(&file.text))).collect();
        paths.dedup();
        Ok(paths)
    }

    /// Follows a script that a shell reads from its standard input, from a pipe or from a descriptor.
    pub(super) fn read_script(&mut self, script: &str, from: &[String], context: &Context) -> Result<(), ParseError> {
        // Commands in the script read what is left of it.
        let rest = Input { text: Some(unknown_text()), fed_by: context.input.fed_by.clone() };
        let outer = std::mem::replace(&mut self.input, rest);
        let result = self.nested(script, false, from, context);
        self.input = outer;
        result
    }
}

/// `true` if each command of a list is fed by all commands before it.
fn is_chain(list: &List, start: usize, count: usize) -> bool {
    let is_fed = |index: usize| list.commands[index].fed_by == (start..index);
    (start + 1..start + count).all(is_fed)
}

/// Returns a text with an unknown part behind it.
pub(super) fn with_unknown(text: &str) -> Arc<str> {
    format!("{text}\n{UNKNOWN}").into()
}

/// Returns the output of a command that prints one text or the other, or both.
pub(super) fn either(one: Option<&str>, other: Option<&str>) -> Arc<str> {
    // The unknown part is behind both.
    let text = format!("{}{}", one.unwrap_or_default().trim_end_matches(UNKNOWN), other.unwrap_or_default());
    if text.len() > LONGEST_INPUT { unknown_text() } else { with_unknown(&text) }
}
