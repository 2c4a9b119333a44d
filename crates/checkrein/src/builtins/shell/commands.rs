//! Finds the simple commands that a shell text would run, in order.
//!
//! The interpreter follows variables, `cd`, wrappers and nested scripts without running anything. A text that exceeds a
//! limit is an error, never a shorter list.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::ParseError;
use super::parse::{Command, RedirectKind, parse};
use super::word::{Expanded, Expansion, LONGEST_VARIABLE, Vars, Word, WordPart};
use super::wrappers::{Wrapper, is_shell};

/// Environment in which a text would run.
#[derive(Debug, Clone, Copy)]
pub struct ShellEnv<'a> {
    pub home: Option<&'a str>,
    pub cwd: &'a Path,
}

/// One program with its arguments.
#[derive(Debug, Clone, Default)]
pub struct SimpleCommand {
    /// The word that names the program.
    pub program: Expanded,
    /// Name of the program without its directory. Empty for redirections without a program.
    pub name: String,
    pub args: Vec<Expanded>,
    /// Files that the shell opens for writing.
    pub writes: Vec<Expanded>,
    /// Programs whose output is the standard input.
    pub fed_by: Vec<String>,
    /// Text of the standard input, if known.
    pub input: Option<String>,
    /// `true` if a function calls itself, in the background or in a pipe.
    pub multiplies: bool,
    /// Possible working directories.
    pub cwds: Arc<[PathBuf]>,
}

impl SimpleCommand {
    /// Returns the arguments that are not options. All arguments behind `--` are operands.
    pub fn operands(&self) -> impl Iterator<Item = &Expanded> {
        let end = self.args.iter().position(|arg| arg.text == "--").unwrap_or(self.args.len());
        self.args
            .iter()
            .enumerate()
            .filter(move |(index, arg)| {
                *index > end || (*index < end && (!arg.text.starts_with('-') || arg.text == "-"))
            })
            .map(|(_, arg)| arg)
    }

    /// `true` if the command has one of these options: single letters, also combined, or long names.
    pub fn has_option(&self, letters: &str, long: &[&str]) -> bool {
        self.args.iter().take_while(|arg| arg.text != "--").any(|arg| match arg.text.strip_prefix('-') {
            Some(name) if name.starts_with('-') => {
                let name = name[1..].split('=').next().unwrap_or_default();
                long.contains(&name)
            }
            Some(name) => name.contains(|c| letters.contains(c)),
            None => false,
        })
    }
}

/// Maximum nesting of scripts in scripts.
const DEPTH: usize = 16;

/// Maximum number of simple commands.
const COMMANDS: usize = 10_000;

/// Maximum size of all expanded words together, in bytes.
const EXPANDED: usize = 8 << 20;

/// Maximum number of directory changes.
const MOVES: usize = 256;

/// Maximum length of a path, in bytes.
const LONGEST_PATH: usize = 4096;

/// Maximum number of variables that a text may set. Each substitution works on a copy of them.
const VARIABLES: usize = 256;

/// Returns the simple commands that a text would run.
pub fn simple_commands(text: &str, env: ShellEnv<'_>) -> Result<Vec<SimpleCommand>, ParseError> {
    let mut interpreter = Interpreter::new(env);
    interpreter.script(text)?;
    Ok(interpreter.commands)
}

/// Returns the simple commands that a text would run with these variables, and the names of the variables that it sets.
pub fn simple_commands_with(
    text: &str,
    env: ShellEnv<'_>,
    vars: &[(String, String)],
) -> Result<(Vec<SimpleCommand>, HashSet<String>), ParseError> {
    let mut interpreter = Interpreter::new(env);
    for (name, value) in vars {
        interpreter.vars.insert(name.clone(), vec![value.clone()]);
        interpreter.inherited.insert(name.clone());
    }
    interpreter.script(text)?;
    Ok((interpreter.commands, interpreter.assigned))
}

/// Returns the simple commands that a program with its arguments would run.
pub fn simple_commands_of_argv(argv: &[String], env: ShellEnv<'_>) -> Result<Vec<SimpleCommand>, ParseError> {
    let mut interpreter = Interpreter::new(env);
    let words: Vec<_> = (0..)
        .zip(argv)
        .map(|(index, word)| Expanded { span: Some((index, index + 1)), ..Expanded::literal(word) })
        .collect();
    interpreter.program(&words, &Context::default())?;
    Ok(interpreter.commands)
}

struct Interpreter<'a> {
    env: ShellEnv<'a>,
    vars: Vars,
    cwds: Arc<[PathBuf]>,
    /// Number of directory changes so far.
    moves: usize,
    commands: Vec<SimpleCommand>,
    depth: usize,
    /// Programs of command lists inside of words, by the address of the list.
    names: HashMap<usize, Vec<String>>,
    /// Names of variables that the caller has set.
    inherited: HashSet<String>,
    /// Names of variables that the text sets.
    assigned: HashSet<String>,
    /// Length of all values so far.
    expanded: usize,
}

/// Redirections and input of a program.
#[derive(Debug, Clone, Default)]
struct Context {
    writes: Vec<Expanded>,
    fed_by: Vec<String>,
    /// Text of the standard input, if known.
    input: Option<String>,
    multiplies: bool,
}

/// Result of a command, for the commands that read its output.
#[derive(Default)]
struct Ran {
    names: Vec<String>,
    printed: Option<String>,
}

impl<'a> Interpreter<'a> {
    fn new(env: ShellEnv<'a>) -> Self {
        let mut interpreter = Self {
            env,
            vars: Vars::new(),
            cwds: [env.cwd.to_owned()].into(),
            moves: 0,
            commands: Vec::new(),
            depth: 0,
            names: HashMap::new(),
            inherited: HashSet::new(),
            assigned: HashSet::new(),
            expanded: 0,
        };
        interpreter.vars.insert("IFS".to_owned(), vec![" \t\n".to_owned()]);
        interpreter.set_pwd();
        interpreter
    }

    fn script(&mut self, text: &str) -> Result<(), ParseError> {
        if self.depth >= DEPTH {
            return Err(ParseError("scripts are nested too deeply"));
        }
        self.depth += 1;
        let result = parse(text).and_then(|commands| self.list(&commands));
        self.depth -= 1;
        result
    }

    fn list(&mut self, commands: &[Command]) -> Result<(), ParseError> {
        let mut ran: Vec<Ran> = Vec::new();
        for command in commands {
            if self.commands.len() > COMMANDS {
                return Err(ParseError("it runs too many commands"));
            }
            let words = command.words.iter().chain(command.redirects.iter().map(|redirect| &redirect.target));
            for word in words.chain(command.assignments.iter().map(|(_, word)| word)).chain(&command.evaluated) {
                self.outputs(word)?;
            }
            let first = self.commands.len();
            let feed = ran.get(command.fed_by.clone()).unwrap_or_default();
            let context = self.context(command, feed)?;
            let printed = self.command(command, &context)?;
            let names = self.commands[first..].iter().map(|command| command.name.clone());
            let names = names.filter(|name| !name.is_empty()).collect();
            ran.push(Ran { names, printed });
        }
        Ok(())
    }

    /// Interprets the commands inside of a word.
    fn outputs(&mut self, word: &Word) -> Result<(), ParseError> {
        for part in &word.parts {
            match part {
                WordPart::Output(commands) => {
                    // A substitution runs in a subshell: its variables and its directory do not remain.
                    let (vars, cwds) = (self.vars.clone(), self.cwds.clone());
                    let first = self.commands.len();
                    self.list(commands)?;
                    (self.vars, self.cwds) = (vars, cwds);
                    let names = self.commands[first..].iter().map(|command| command.name.clone()).collect();
                    self.names.insert(place(commands), names);
                }
                WordPart::Var { fallback: Some(fallback), .. } => self.outputs(&fallback.word)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the possible values of a word, as one text each.
    fn values(&mut self, word: &Word) -> Result<Vec<Expanded>, ParseError> {
        self.expand(word, Word::values)
    }

    /// Returns the arguments that a word expands to.
    fn fields(&mut self, word: &Word) -> Result<Vec<Expanded>, ParseError> {
        let mut fields = self.expand(word, Word::fields)?;
        if let [value] = fields.as_mut_slice() {
            let is_fixed = |part: &WordPart| match part {
                WordPart::Text(_) | WordPart::Bare(_) => true,
                WordPart::Home => self.env.home.is_some(),
                WordPart::Var { name, .. } => self.inherited.contains(name),
                WordPart::Output(_) => false,
            };
            // A word of a nested script has no position in the text.
            if self.depth == 1 && value.known && !value.glob && word.parts.iter().all(is_fixed) {
                value.span = word.span;
            }
        }
        Ok(fields)
    }

    fn expand(
        &mut self,
        word: &Word,
        expand: fn(&Word, &Expansion<'_>) -> Vec<Expanded>,
    ) -> Result<Vec<Expanded>, ParseError> {
        let names_of = |commands: &[Command]| self.names.get(&place(commands)).cloned().unwrap_or_default();
        let values = expand(word, &Expansion { vars: &self.vars, home: self.env.home, names_of: &names_of });
        self.expanded += values.iter().map(|value| value.text.len()).sum::<usize>();
        if self.expanded > EXPANDED || values.iter().any(|value| value.cut) {
            return Err(ParseError("its words expand to too much"));
        }
        Ok(values)
    }

    fn context(&mut self, command: &Command, feed: &[Ran]) -> Result<Context, ParseError> {
        let mut context =
            Context { fed_by: feed.iter().flat_map(|ran| ran.names.iter().cloned()).collect(), ..Context::default() };
        if let Some(last) = feed.last() {
            context.input = last.printed.clone();
        }
        for redirect in &command.redirects {
            let values = self.values(&redirect.target)?;
            match redirect.kind {
                RedirectKind::Write => context.writes.extend(values),
                RedirectKind::Read => context.fed_by.extend(values.into_iter().flat_map(|value| value.from)),
                RedirectKind::Here => {
                    if let Some(value) = values.into_iter().next() {
                        context.fed_by.extend(value.from);
                        context.input = Some(value.text);
                    }
                }
            }
        }
        Ok(context)
    }

    /// Interprets a command and returns its output, if known.
    fn command(&mut self, command: &Command, context: &Context) -> Result<Option<String>, ParseError> {
        // Words are expanded before the variables in front of them are set.
        let mut words = Vec::new();
        for word in &command.words {
            words.extend(self.fields(word)?);
        }
        let before: Vec<_> = command.assignments.iter().map(|(name, _)| (name, self.vars.get(name).cloned())).collect();
        for (name, word) in &command.assignments {
            let values = self.values(word)?;
            self.set(name, values)?;
        }
        let Some(first) = words.first() else {
            if !context.writes.is_empty() {
                self.push(SimpleCommand { writes: context.writes.clone(), ..SimpleCommand::default() });
            }
            return Ok(None);
        };
        let calls_itself = command.function.as_deref() == Some(first.text.as_str());
        let multiplies = calls_itself && (command.background || !command.fed_by.is_empty());
        self.program(&words, &Context { multiplies, ..context.clone() })?;
        // Assignments in front of a program apply to that program only.
        for (name, values) in before.into_iter().rev() {
            match values {
                Some(values) => self.vars.insert(name.clone(), values),
                None => self.vars.remove(name),
            };
        }
        let passes_on = matches!(base_name(&words[0].text), "cat" | "tee");
        if let Some(printed) = printed(&words) {
            return Ok(Some(printed));
        }
        if passes_on && words[1..].iter().all(|word| word.text == "-") { Ok(context.input.clone()) } else { Ok(None) }
    }

    fn set_pwd(&mut self) {
        let cwds = self.cwds.iter().map(|cwd| cwd.to_string_lossy().into_owned()).collect();
        self.vars.insert("PWD".to_owned(), cwds);
    }

    fn set(&mut self, name: &str, values: Vec<Expanded>) -> Result<(), ParseError> {
        self.assigned.insert(name.to_owned());
        if self.assigned.len() > VARIABLES {
            return Err(ParseError("it sets too many variables"));
        }
        if values.iter().all(|value| value.known && value.text.len() <= LONGEST_VARIABLE) {
            self.vars.insert(name.to_owned(), values.into_iter().map(|value| value.text).collect());
        } else {
            self.vars.remove(name);
        }
        Ok(())
    }

    fn push(&mut self, command: SimpleCommand) {
        self.commands.push(SimpleCommand { cwds: self.cwds.clone(), ..command });
    }

    /// Adds a program and the programs that it starts.
    fn program(&mut self, words: &[Expanded], context: &Context) -> Result<(), ParseError> {
        let Some((first, args)) = words.split_first() else { return Ok(()) };
        let name = base_name(&first.text).to_owned();
        self.push(SimpleCommand {
            program: first.clone(),
            name: name.clone(),
            args: args.to_vec(),
            writes: context.writes.clone(),
            fed_by: context.fed_by.clone(),
            input: context.input.clone(),
            multiplies: context.multiplies,
            cwds: Arc::default(),
        });
        // The outer command already has the redirections.
        let inner = Context { writes: Vec::new(), multiplies: false, ..context.clone() };
        if self.depth >= DEPTH {
            return Err(ParseError("programs start programs too deeply"));
        }
        self.depth += 1;
        // With an empty variable the next word is the program: `$SUDO rm`.
        let is_variable = !first.known && first.text.starts_with('$') && first.from.is_empty();
        let done = if is_variable { self.program(args, &inner) } else { self.inside(&name, args, &inner) };
        self.depth -= 1;
        done
    }

    /// Interprets the commands that a program starts.
    fn inside(&mut self, name: &str, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        if is_shell(name) {
            return self.shell(args, context);
        }
        if let Some(wrapper) = Wrapper::named(name) {
            return self.wrapped(wrapper, args, context);
        }
        match name {
            "eval" => self.script(&joined(args)),
            "trap" => args.first().map_or(Ok(()), |text| self.script(&text.text)),
            "su" | "runuser" | "script" => match option_value(args, &["-c", "--command"]) {
                Some(text) => self.script(&text.text),
                None if name == "runuser" => {
                    let user = args.iter().position(|arg| matches!(arg.text.as_str(), "-u" | "--user"));
                    let behind = user.and_then(|index| args.get(index + 2..)).unwrap_or_default();
                    let behind =
                        behind.split_first().filter(|(first, _)| first.text == "--").map_or(behind, |(_, rest)| rest);
                    self.program(behind, context)
                }
                None => Ok(()),
            },
            "ssh" => {
                const WITH_VALUE: &[&str] = &[
                    "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-o", "-p", "-R", "-S",
                    "-W", "-w",
                ];
                let mut host = 0;
                while let Some(arg) = args.get(host).filter(|arg| arg.text.starts_with('-')) {
                    host += if WITH_VALUE.contains(&arg.text.as_str()) { 2 } else { 1 };
                }
                self.script(&joined(args.get(host + 1..).unwrap_or_default()))
            }
            "find" | "fd" | "fdfind" => self.executed(args, context),
            "cd" | "pushd" => self.change_directory(args),
            "export" | "local" | "declare" | "typeset" | "readonly" => {
                for arg in args {
                    if let Some((name, value)) = arg.text.split_once('=') {
                        let value = Expanded { text: value.to_owned(), ..arg.clone() };
                        self.set(name, vec![value])?;
                    }
                }
                Ok(())
            }
            "for" | "select" => {
                if let [variable, word, values @ ..] = args
                    && word.text == "in"
                {
                    self.set(&variable.text, values.to_vec())?;
                }
                Ok(())
            }
            "read" | "mapfile" | "readarray" | "unset" => {
                for arg in args {
                    self.vars.remove(&arg.text);
                    self.assigned.insert(arg.text.clone());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn shell(&mut self, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        // `-c` may be combined with other options, as in `-lc`. The text is the first operand.
        let (mut runs_text, mut index) = (false, 0);
        while let Some(arg) = args.get(index).map(|arg| arg.text.as_str()).filter(|arg| arg.starts_with(['-', '+'])) {
            runs_text |= !arg.starts_with("--") && arg.contains('c');
            let takes_value =
                matches!(arg, "--rcfile" | "--init-file") || (!arg.starts_with("--") && arg.ends_with(['o', 'O']));
            index += if takes_value { 2 } else { 1 };
        }
        if runs_text {
            return args.get(index).map_or(Ok(()), |text| self.script(&text.text));
        }
        let has_file = args.get(index).is_some();
        match &context.input {
            Some(text) if !has_file || args.iter().any(|arg| arg.text == "-s") => self.script(text),
            _ => Ok(()),
        }
    }

    fn wrapped(&mut self, wrapper: &Wrapper, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        if wrapper.name() == "command" && args.first().is_some_and(|arg| matches!(arg.text.as_str(), "-v" | "-V")) {
            return Ok(());
        }
        if let Some(text) = split_string(args).filter(|_| wrapper.name() == "env") {
            return self.script(&text);
        }
        if let Some(text) = option_value(args, &["-c", "--command"]).filter(|_| wrapper.name() == "flock") {
            return self.script(&text.text);
        }
        let mut inner = wrapper.inner(args).to_vec();
        let reads_arguments = matches!(wrapper.name(), "xargs" | "parallel");
        if reads_arguments && let Some(input) = &context.input {
            inner.extend(input.split_whitespace().map(Expanded::literal));
        }
        if matches!(wrapper.name(), "watch" | "parallel") {
            return self.script(&joined(&inner));
        }
        // The inner program reads the standard input of the wrapper.
        self.program(&inner, context)
    }

    /// Interprets the programs of `-exec` and similar options.
    fn executed(&mut self, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        let starts = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let mut rest = args;
        while let Some(option) = rest.iter().position(|arg| starts.contains(&arg.text.as_str())) {
            rest = &rest[option + 1..];
            let end = rest.iter().position(|arg| matches!(arg.text.as_str(), ";" | "+")).unwrap_or(rest.len());
            self.program(&rest[..end], context)?;
            rest = &rest[end..];
        }
        Ok(())
    }

    fn change_directory(&mut self, args: &[Expanded]) -> Result<(), ParseError> {
        let home = self.env.home.map(Expanded::literal);
        let Some(to) = args.iter().find(|arg| !arg.text.starts_with('-')).or(home.as_ref()) else { return Ok(()) };
        if !to.known || to.text.len() > LONGEST_PATH {
            return Ok(());
        }
        self.moves += 1;
        if self.moves > MOVES {
            return Err(ParseError("it changes the directory too often"));
        }
        let moved = self.cwds.iter().map(|cwd| lexical(&cwd.join(&to.text)));
        let mut cwds: Vec<_> = moved.filter(|cwd| cwd.as_os_str().len() <= LONGEST_PATH).collect();
        // `cd` may fail or run in a subshell: later commands may run in either directory.
        cwds.extend_from_slice(&self.cwds);
        cwds.dedup();
        cwds.truncate(8);
        self.cwds = cwds.into();
        self.set_pwd();
        Ok(())
    }
}

/// Identifies a list of commands inside of a word by its address, during the lifetime of its tree.
fn place(commands: &[Command]) -> usize {
    commands.as_ptr().addr()
}

/// Returns the output of `echo` and `printf`.
fn printed(words: &[Expanded]) -> Option<String> {
    let (first, args) = words.split_first()?;
    let options: &[&str] = match base_name(&first.text) {
        "echo" => &["-n", "-e", "-E", "-ne", "-en"],
        "printf" => &["--"],
        _ => return None,
    };
    let operands = args.iter().skip_while(|arg| options.contains(&arg.text.as_str()));
    let joined = operands.map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    Some(joined.replace("\\n", "\n").replace("%s", " "))
}

fn joined(args: &[Expanded]) -> String {
    args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn option_value<'a>(args: &'a [Expanded], names: &[&str]) -> Option<&'a Expanded> {
    let index = args.iter().position(|arg| names.contains(&arg.text.as_str()))?;
    args.get(index + 1)
}

/// Returns the script of `env -S`: the text, in each form of the option, and the words behind it.
fn split_string(args: &[Expanded]) -> Option<String> {
    let text = |arg: &Expanded| {
        let text = arg.text.as_str();
        if let Some(text) = text.strip_prefix("--split-string") {
            return text.strip_prefix('=').map(str::to_owned).or_else(|| text.is_empty().then(String::new));
        }
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        let (before, behind) = letters.split_once('S')?;
        before.chars().all(|letter| matches!(letter, 'i' | '0' | 'v')).then(|| behind.to_owned())
    };
    let is_before = |arg: &&Expanded| arg.text.starts_with('-') || arg.text.contains('=');
    let mut before = args.iter().enumerate().take_while(|(_, arg)| is_before(arg));
    let (index, text) = before.find_map(|(index, arg)| Some((index, text(arg)?)))?;
    Some(format!("{text} {}", joined(&args[index + 1..])))
}

/// Returns the program's name without its directory and without `.exe`.
fn base_name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Removes `.` and `..` from a path without reading the disk.
pub fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}
