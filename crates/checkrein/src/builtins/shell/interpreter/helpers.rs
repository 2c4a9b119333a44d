//! Commands in the options and settings of programs that are no wrappers: `git -c alias.x='!…' x`, `rsync -e …`.

use super::words::as_script;
use super::{Context, Interpreter};
use crate::builtins::global_options;
use crate::builtins::shell::ParseError;
use crate::builtins::shell::expanded::Expanded;
use crate::builtins::shell::quoted;

/// Options of a program whose value is a command.
struct Helper {
    /// The program, or a program and its subcommand.
    program: &'static str,
    letters: &'static str,
    long: &'static [&'static str],
}

const HELPERS: &[Helper] = &[
    Helper { program: "git rebase", letters: "x", long: &["exec"] },
    Helper {
        program: "git filter-branch",
        letters: "",
        long: &[
            "commit-filter",
            "env-filter",
            "index-filter",
            "msg-filter",
            "parent-filter",
            "setup",
            "tag-name-filter",
            "tree-filter",
        ],
    },
    Helper { program: "git difftool", letters: "x", long: &["extcmd"] },
    Helper { program: "git grep", letters: "O", long: &["open-files-in-pager"] },
    Helper { program: "git clone", letters: "u", long: &["upload-pack"] },
    Helper { program: "git fetch", letters: "", long: &["upload-pack"] },
    Helper { program: "git pull", letters: "", long: &["upload-pack"] },
    Helper { program: "git ls-remote", letters: "", long: &["upload-pack", "exec"] },
    Helper { program: "git push", letters: "", long: &["receive-pack", "exec"] },
    Helper { program: "rsync", letters: "e", long: &["rsh", "rsync-path"] },
    Helper { program: "man", letters: "P", long: &["pager"] },
    Helper { program: "sort", letters: "", long: &["compress-program"] },
    Helper { program: "split", letters: "", long: &["filter"] },
    Helper {
        program: "tar",
        letters: "I",
        long: &["use-compress-program", "to-command", "info-script", "new-volume-script", "rsh-command"],
    },
];

/// Settings of git whose value is a command. `*` stands for any name.
const SETTINGS: &[&str] = &[
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.pager",
    "core.sshcommand",
    "diff.*.command",
    "diff.*.textconv",
    "diff.external",
    "difftool.*.cmd",
    "filter.*.clean",
    "filter.*.process",
    "filter.*.smudge",
    "gpg.*.program",
    "gpg.program",
    "interactive.difffilter",
    "man.*.cmd",
    "merge.*.driver",
    "mergetool.*.cmd",
    "pager.*",
    "remote.*.receivepack",
    "remote.*.uploadpack",
    "sequence.editor",
    "uploadpack.packobjectshook",
    "web.browser",
];

/// Programs of `git` that take a setting and its value as arguments.
const CONFIG: &str = "config";

impl Interpreter<'_> {
    /// Follows the commands in options and settings.
    pub(super) fn helpers(&mut self, name: &str, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        let subcommand = if name == "git" { global_options::subcommand(name, args) } else { None };
        let full = match subcommand {
            Some(index) => format!("git {}", args[index].text),
            None => name.to_owned(),
        };
        let behind = subcommand.map_or(args, |index| &args[index + 1..]);
        for helper in HELPERS.iter().filter(|helper| helper.program == full) {
            for script in helper.values(behind) {
                self.helper(&script, context)?;
            }
        }
        if name == "tar" {
            for action in behind.iter().filter_map(|arg| value_behind(arg, "exec=")) {
                self.helper(&action, context)?;
            }
        }
        if let Some(index) = subcommand {
            self.git(args, index, context)?;
        }
        Ok(())
    }

    /// Follows the settings on the command line of git, and the alias that it runs.
    fn git(&mut self, args: &[Expanded], subcommand: usize, context: &Context) -> Result<(), ParseError> {
        let options = &args[..subcommand];
        let mut settings = Vec::new();
        for (index, option) in options.iter().enumerate() {
            if option.text == "-c" {
                settings.extend(options.get(index + 1).and_then(|setting| split(setting, '=')));
            }
        }
        for (name, value) in &settings {
            self.git_setting(name, value, context)?;
        }
        let name = &args[subcommand];
        let behind = &args[subcommand + 1..];
        if name.text == CONFIG {
            let operands: Vec<_> = behind.iter().filter(|arg| !arg.text.starts_with('-')).collect();
            let at = usize::from(operands.first().is_some_and(|first| first.text == "set"));
            if let (Some(name), Some(value)) = (operands.get(at), operands.get(at + 1)) {
                self.git_setting(&name.text.to_lowercase(), value, context)?;
            }
        }
        let scripts: Vec<_> = self
            .git_aliases
            .iter()
            .filter(|(alias, _)| name.could_be(alias))
            .map(|(_, script)| script.clone())
            .collect();
        for script in scripts {
            let is_split = behind.iter().any(|arg| arg.may_split || arg.glob);
            let arguments: Vec<_> = behind.iter().map(|arg| quoted(&as_script(arg))).collect();
            self.nested(&format!("{script} {}", arguments.join(" ")), is_split, &[], context)?;
        }
        Ok(())
    }

    fn git_setting(&mut self, name: &str, value: &Expanded, context: &Context) -> Result<(), ParseError> {
        let script = as_script(value);
        self.work.spend(script.len() + 64)?;
        if let Some(alias) = name.strip_prefix("alias.") {
            let script = match script.strip_prefix('!') {
                Some(script) => script.to_owned(),
                None => format!("git {script}"),
            };
            if value.text.starts_with('!') {
                self.nested(&script, value.may_split, &value.from, context)?;
            }
            self.git_aliases.push((alias.to_owned(), script));
            return Ok(());
        }
        let is_helper = name.starts_with("credential.") && name.ends_with("helper");
        if let Some(script) = script.strip_prefix('!').filter(|_| is_helper) {
            return self.nested(script, value.may_split, &value.from, context);
        }
        if SETTINGS.iter().any(|setting| is_setting(setting, name)) && !value.text.is_empty() {
            return self.helper(value, context);
        }
        Ok(())
    }

    /// Follows a command that another program starts with more arguments.
    pub(super) fn helper(&mut self, script: &Expanded, context: &Context) -> Result<(), ParseError> {
        let found = self.commands.len();
        let state = self.state.clone();
        self.nested(&as_script(script), script.may_split || script.glob, &script.from, context)?;
        self.state = state;
        if let Some(last) = self.commands.get_mut(found..).and_then(|commands| commands.last_mut()) {
            last.args.push(Expanded { may_split: true, ..Expanded::unknown_text("$(…)") });
        }
        Ok(())
    }
}

impl Helper {
    /// Returns the values of the options.
    fn values(&self, args: &[Expanded]) -> Vec<Expanded> {
        let mut values = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let next = || args.get(index + 1).cloned();
            if let Some(option) = arg.text.strip_prefix("--") {
                let name = option.split('=').next().unwrap_or_default();
                if name.len() > 2 && self.long.iter().any(|long| long.starts_with(name)) {
                    values.extend(value_behind(arg, "=").or_else(next));
                }
            } else if let Some(letters) = arg.text.strip_prefix('-')
                && let Some(at) = letters.find(|letter| self.letters.contains(letter))
            {
                let end = at + 2;
                values.extend(if end < arg.text.len() { Some(arg.part(end..arg.text.len())) } else { next() });
            }
        }
        values
    }
}

/// Returns the part of a word behind a text.
fn value_behind(word: &Expanded, before: &str) -> Option<Expanded> {
    let at = word.text.find(before)? + before.len();
    Some(word.part(at..word.text.len()))
}

/// Splits `NAME=value`. The name is in lower case.
fn split(setting: &Expanded, at: char) -> Option<(String, Expanded)> {
    let name = setting.text.split(at).next()?;
    let value = setting.part((name.len() + 1).min(setting.text.len())..setting.text.len());
    Some((name.to_lowercase(), value))
}

/// Compares the name of a setting with a pattern.
fn is_setting(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => name.len() > start.len() + end.len() && name.starts_with(start) && name.ends_with(end),
        None => pattern == name,
    }
}
