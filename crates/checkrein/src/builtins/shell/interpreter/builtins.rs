//! Builtins of the shell that change its state or run code.

use std::path::PathBuf;

use super::words::{as_script, is_certain, joined};
use super::{Context, Interpreter};
use crate::builtins::shell::ParseError;
use crate::builtins::shell::commands::lexical;
use crate::builtins::shell::expand::{UNKNOWN, is_unknown};
use crate::builtins::shell::expanded::Expanded;
use crate::builtins::shell::state::Values;
use crate::builtins::shell::word::is_name;
use crate::builtins::shell::wrappers::is_shell;

/// Builtins behind which assignments in front of them stay in some shells.
pub(super) const SPECIAL: &[&str] = &[
    ":", ".", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "source",
    "times", "trap", "unset", "command", "builtin",
];

/// Maximum length of a path, in bytes.
const LONGEST_PATH: usize = 4096;

impl Interpreter<'_> {
    /// Follows a builtin. Returns `false` if the program is another one.
    pub(super) fn builtin(&mut self, name: &str, args: &[Expanded], context: &Context) -> Result<bool, ParseError> {
        match name {
            "eval" => {
                let args = behind_end_of_options(args);
                let is_split = args.iter().any(|arg| arg.may_split || arg.glob);
                let from: Vec<_> = args.iter().flat_map(|arg| arg.from.iter().cloned()).collect();
                self.nested(&joined(args), is_split, &from, context)?;
            }
            "trap" => {
                let args = behind_end_of_options(args);
                if let Some(text) = args.first().filter(|text| args.len() > 1 && text.text != "-") {
                    let script = as_script(text);
                    let before = self.state.clone();
                    self.nested(&script, text.may_split, &text.from, context)?;
                    // The script may run at any time, or never.
                    let changed = before.differences(&self.state, &mut self.work)?;
                    self.state.join(&before, &mut self.work)?;
                    for name in changed {
                        self.state
                            .update(&name, &mut self.work, |values| (values.other, values.fixed) = (true, true))?;
                    }
                    if !script.contains(UNKNOWN) && !self.traps.contains(&script) {
                        self.traps.push(script);
                    }
                }
            }
            "cd" | "pushd" | "popd" | "chdir" => self.change_directory(name, args)?,
            "export" | "readonly" | "local" | "declare" | "typeset" => self.declare(name, args)?,
            "read" | "mapfile" | "readarray" | "unset" | "getopts" | "wait" => {
                if name == "unset" {
                    self.unset_functions();
                }
                if matches!(name, "mapfile" | "readarray") {
                    self.callback(args, context)?;
                }
                let args = if name == "getopts" { args.get(1..).unwrap_or_default() } else { args };
                for arg in args {
                    self.changed(arg, name == "unset")?;
                }
            }
            "printf" => {
                let option = args.first().filter(|arg| arg.text.starts_with("-v"));
                match option.map(|option| option.text.len()) {
                    Some(2) => self.changed(args.get(1).unwrap_or(&args[0]), false)?,
                    Some(length) => self.changed(&args[0].part(2..length), false)?,
                    None if args.first().is_some_and(|arg| !is_certain(arg) && arg.could_be("-v")) => {
                        self.state.forget(&mut self.work, |_, _| false)?;
                    }
                    None => {}
                }
            }
            "let" => {
                for arg in args {
                    self.calculated(&as_script(arg))?;
                }
            }
            "test" | "[" => self.calculates |= args.iter().any(|arg| matches!(arg.text.as_str(), "-v" | "-R")),
            "set" => self.set_args(args),
            "shift" => {
                let count = match args {
                    [] => Some(1),
                    [count] if count.known => count.text.parse::<usize>().ok(),
                    _ => None,
                };
                // `shift` fails if there are not enough arguments.
                let rest = self
                    .state
                    .args
                    .as_deref()
                    .zip(count)
                    .map(|(args, count)| if count <= args.len() { args[count..].into() } else { args.into() });
                self.state.args = rest;
            }
            "break" | "continue" | "return" => self.escape()?,
            "alias" => {
                for arg in args {
                    self.define_alias(&as_script(arg))?;
                }
            }
            "hash" => {
                if let [option, path, names @ ..] = args
                    && option.text.starts_with("-p")
                {
                    for name in names {
                        self.define_alias(&format!("{}={}", as_script(name), as_script(path)))?;
                    }
                }
            }
            "compgen" | "complete" => self.completions(args, context)?,
            "bind" => {
                // `-x` runs the text behind the keys.
                let is_option = |arg: &Expanded| arg.text.starts_with('-') && arg.text.contains('x');
                if args.iter().any(is_option) {
                    for arg in args.iter().filter(|arg| !is_option(arg)) {
                        let script = as_script(arg);
                        let script = script.split_once(':').map_or(script.as_str(), |(_, script)| script);
                        self.nested(script.trim().trim_matches('"'), arg.may_split, &arg.from, context)?;
                    }
                }
            }
            "enable" if args.iter().any(|arg| arg.text.starts_with("-f") || !arg.known) => {
                // Code of a library.
                self.push_unknown("$(…)", &[], context)?;
            }
            "." | "source" => {
                let args = behind_end_of_options(args);
                let script = match args.first() {
                    Some(file) => self.content(file, &context.input)?,
                    // Fish reads the standard input.
                    None => context.input.text.clone(),
                };
                if let Some(script) = script {
                    let from = args.first().map_or(&*context.input.fed_by, |file| &file.from).to_vec();
                    self.read_script(&script, &from, context)?;
                }
                // The script may set any variable.
                self.state.forget(&mut self.work, |name, _| matches!(name, "IFS" | "HOME"))?;
                self.state.args = None;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Follows the callback of `mapfile -C`, which gets an index and a line as arguments.
    fn callback(&mut self, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        for script in option_values(args, 'C') {
            self.nested(&format!("{} {UNKNOWN}", as_script(&script)), false, &[], context)?;
        }
        Ok(())
    }

    /// Follows the commands of `complete` and `compgen`: `-C` runs a command, and `-W` expands a text.
    fn completions(&mut self, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        for script in option_values(args, 'C') {
            self.nested(&format!("{} {UNKNOWN}", as_script(&script)), false, &[], context)?;
        }
        for words in option_values(args, 'W') {
            let text = as_script(&words);
            if text.contains(['$', '`']) {
                // A here-document expands as these words do.
                self.nested(&format!(": <<\u{1}\n{text}\n\u{1}\n"), false, &words.from, context)?;
            }
        }
        Ok(())
    }

    /// Follows a script that is built from values. If a part of it is unknown, an unknown command is added. `from` has the
    /// programs that print the unknown parts.
    pub(super) fn nested(
        &mut self,
        script: &str,
        is_split: bool,
        from: &[String],
        context: &Context,
    ) -> Result<(), ParseError> {
        if !is_split && !script.contains(UNKNOWN) {
            return self.script(script);
        }
        if is_unknown(script) {
            return self.push_unknown("$(…)", from, context);
        }
        self.push_unknown("$(…)", &[], context)?;
        self.script_if_valid(script)
    }

    /// Follows a script as far as it can be parsed.
    pub(super) fn script_if_valid(&mut self, script: &str) -> Result<(), ParseError> {
        let (found, frames) = (self.commands.len(), self.frames.len());
        let (depth, scripts, processes) = (self.depth, self.scripts, self.processes);
        let (calls, replacing) = (self.calls.len(), self.replacing.len());
        let (is_recursive, locals, input) = (self.is_recursive, self.locals.clone(), self.input.clone());
        match self.script(script) {
            Err(error) if self.work.is_over() => return Err(error),
            Err(_) => {
                self.commands.truncate(found);
                self.frames.truncate(frames);
                (self.depth, self.scripts, self.processes) = (depth, scripts, processes);
                self.calls.truncate(calls);
                self.replacing.truncate(replacing);
                (self.is_recursive, self.locals, self.input) = (is_recursive, locals, input);
            }
            Ok(()) => {}
        }
        Ok(())
    }

    fn define_alias(&mut self, text: &str) -> Result<(), ParseError> {
        if text.contains(UNKNOWN) {
            return Err(ParseError("an alias has an unknown value"));
        }
        if let Some((name, value)) = text.split_once('=') {
            self.work.spend(text.len())?;
            let values = self.aliases.entry(name.to_owned()).or_default();
            if !values.iter().any(|own| own == value) {
                values.push(value.to_owned());
            }
        }
        Ok(())
    }

    fn declare(&mut self, builtin: &str, args: &[Expanded]) -> Result<(), ParseError> {
        let (mut exported, mut fixed) = (builtin == "export", builtin == "readonly");
        let mut is_opaque = false;
        for arg in args {
            if let Some(letters) = arg.text.strip_prefix(['-', '+']).filter(|_| is_certain(arg)) {
                exported |= letters.contains('x');
                fixed |= letters.contains('r');
                is_opaque |= letters.contains(['i', 'l', 'u', 'c', 'A']) && !matches!(builtin, "export" | "readonly");
                if letters.contains('n') && !matches!(builtin, "export" | "readonly") {
                    return Err(ParseError("a variable refers to another variable"));
                }
                self.calculates |= letters.contains('i');
                continue;
            }
            let end = arg.text.find(['=', '+', '[']).unwrap_or(arg.text.len());
            let name = arg.part(0..end);
            if !name.known || !is_name(&name.text) {
                if !name.known {
                    // Any variable may have been set.
                    self.state.forget(&mut self.work, |_, _| false)?;
                    self.ever.forget(&mut self.work, |_, _| false)?;
                    self.assigned.insert(name.text.clone());
                }
                continue;
            }
            let is_local = matches!(builtin, "local" | "declare" | "typeset") && !self.calls.is_empty();
            if is_local {
                let before = self.state.get(&name.text).cloned();
                self.locals.push((name.text.clone(), before));
            }
            if let Some(text) = arg.text.get(end..).filter(|text| text.starts_with('=') && !is_opaque) {
                let mut values = if text.starts_with("=(") || !arg.known && arg.may_split {
                    Values::unknown()
                } else {
                    self.known_values(&[arg.part(end + 1..arg.text.len())])
                };
                // An array is shown as its elements with blanks behind them.
                values.other |= text.ends_with(' ');
                values.exported = exported;
                self.set(&name.text, values)?;
            } else if end < arg.text.len() || is_opaque || is_local {
                self.set(&name.text, Values::unknown())?;
            }
            if exported || fixed || is_opaque {
                let is_fixed = fixed || is_opaque;
                self.state.update(&name.text, &mut self.work, |values| {
                    values.exported |= exported;
                    values.fixed |= is_fixed;
                    values.other |= is_opaque;
                })?;
            }
        }
        Ok(())
    }

    /// Makes a variable unknown.
    fn changed(&mut self, name: &Expanded, is_unset: bool) -> Result<(), ParseError> {
        if name.text.contains('[') {
            self.calculates = true;
        }
        if !is_certain(name) {
            return self.state.forget(&mut self.work, |_, _| false);
        }
        let base = name.text.split('[').next().unwrap_or_default();
        if !is_name(base) {
            return Ok(());
        }
        let known = if is_unset { Values::one("").known } else { Vec::new() };
        self.set(base, Values { known, other: true, ..Values::default() })
    }

    fn set_args(&mut self, args: &[Expanded]) {
        let mut index = 0;
        while let Some(arg) = args.get(index) {
            if !is_certain(arg) {
                self.state.args = None;
                return;
            }
            match arg.text.as_str() {
                "--" => {
                    self.replace_args(&args[index + 1..]);
                    return;
                }
                "-" => index += 1,
                text if text.starts_with(['-', '+']) => index += if text.ends_with('o') { 2 } else { 1 },
                _ => break,
            }
        }
        if index < args.len() {
            self.replace_args(&args[index..]);
        }
    }

    fn replace_args(&mut self, args: &[Expanded]) {
        let is_list = args.iter().all(|arg| !arg.may_split && !arg.glob);
        self.state.args = is_list.then(|| args.into());
    }

    /// `true` if `cd` finds these directories: they exist, or a command before has made them.
    fn succeeds(&self, directories: &[PathBuf]) -> bool {
        // `ssh host 'cd x'` finds other directories.
        if !self.wrappers.iter().all(|wrapper| is_shell(wrapper)) {
            return false;
        }
        let is_made = |directory: &PathBuf| {
            self.commands.iter().filter(|command| command.name == "mkdir").any(|command| {
                let cwd = command.cwds.first().filter(|_| command.cwd_known && command.cwds.len() == 1);
                let is_named = |cwd: &PathBuf| {
                    command.operands().any(|made| is_certain(made) && lexical(&cwd.join(&made.text)) == *directory)
                };
                cwd.is_some_and(is_named)
            })
        };
        let is_removed =
            self.commands.iter().any(|command| !command.program_known() || REMOVES.contains(&command.name.as_str()));
        directories.iter().all(|directory| is_made(directory) || !is_removed && directory.is_dir())
    }

    fn change_directory(&mut self, name: &str, args: &[Expanded]) -> Result<(), ParseError> {
        let home = self.env.home.filter(|_| self.state.get("HOME").is_none()).map(Expanded::literal);
        let is_option = |arg: &&Expanded| arg.text.starts_with(['-', '+']) && arg.known && arg.text != "-";
        let is_end = args.iter().position(|arg| arg.text == "--" && arg.known);
        let operands: Vec<_> = match is_end {
            Some(end) => args[end + 1..].iter().collect(),
            None => args.iter().filter(|arg| !is_option(arg)).collect(),
        };
        let to = operands.first().copied().or(home.as_ref().filter(|_| name == "cd"));
        let left = self.state.cwds.clone();
        let goes_back = to.is_some_and(|to| to.text == "-") || name == "popd" || operands.is_empty() && name == "pushd";
        let has_number = name != "cd" && args.iter().any(|arg| arg.text.starts_with(['+', '-']));
        let moved = match to {
            _ if goes_back && !has_number => Some(self.left.clone()).filter(|_| !self.was_lost),
            Some(to) if is_certain(to) && !goes_back && !(self.state.get("CDPATH").is_some() && is_plain(&to.text)) => {
                // Each component of a path is read.
                let size = |cwd: &PathBuf| 64 + 16 * (cwd.as_os_str().len() + to.text.len());
                self.work.spend(left.iter().map(size).sum())?;
                Some(left.iter().map(|cwd| lexical(&cwd.join(&to.text))).collect())
            }
            _ => None,
        };
        let moved: Option<Vec<_>> =
            moved.filter(|moved| !moved.is_empty() && moved.iter().all(|cwd| cwd.as_os_str().len() <= LONGEST_PATH));
        self.work.spend(64 + left.iter().map(|cwd| cwd.as_os_str().len()).sum::<usize>())?;
        for cwd in left.iter() {
            self.work.spend(4 * self.left.len())?;
            if !self.left.iter().any(|own| own.as_os_str() == cwd.as_os_str()) {
                self.left.push(cwd.clone());
            }
        }
        let was_known = self.state.cwd_known;
        let is_absolute = operands.first().is_none_or(|to| to.text.starts_with('/'));
        match moved {
            Some(moved) => {
                self.state.cwd_known = was_known || is_absolute && !goes_back;
                self.work.spend(256 * moved.len() + 8 * self.commands.len())?;
                let succeeds = !goes_back && self.succeeds(&moved);
                self.state.limit(moved, &mut self.work)?;
                self.state.before_cd = if succeeds { None } else { Some((left, was_known)) };
            }
            None => self.state.cwd_known = false,
        }
        self.was_lost |= !self.state.cwd_known;
        Ok(())
    }
}

/// Programs that can remove a directory before `cd`.
const REMOVES: &[&str] = &["rm", "rmdir", "mv", "git", "find", "trash", "rsync", "umount"];

/// `true` for a path that `CDPATH` applies to.
fn is_plain(path: &str) -> bool {
    !path.starts_with(['/', '.'])
}

/// Returns the values of an option of one letter: the rest of its word, or the next word.
fn option_values(args: &[Expanded], letter: char) -> Vec<Expanded> {
    let mut values = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        let Some(at) = arg.text.find(letter).filter(|_| arg.text.starts_with('-') && !arg.text.starts_with("--"))
        else {
            continue;
        };
        let end = at + letter.len_utf8();
        if end < arg.text.len() {
            values.push(arg.part(end..arg.text.len()));
        } else {
            values.extend(args.get(index + 1).cloned());
        }
    }
    values
}

fn behind_end_of_options(args: &[Expanded]) -> &[Expanded] {
    match args.split_first() {
        Some((first, rest)) if first.text == "--" => rest,
        _ => args,
    }
}
