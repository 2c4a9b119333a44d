//! What a text would run, one program after the other.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::ParseError;
use super::parse::{Command, RedirectKind, parse};
use super::word::{Expanded, Expansion, LONGEST_VARIABLE, Vars, Word, WordPart};
use super::wrappers::{Wrapper, is_shell};

/// Where a text would be run.
#[derive(Debug, Clone, Copy)]
pub struct ShellEnv<'a> {
    pub home: Option<&'a str>,
    pub cwd: &'a Path,
}

/// One program that would be run.
#[derive(Debug, Clone, Default)]
pub struct SimpleCommand {
    /// The word that names it, as it is written.
    pub program: Expanded,
    /// Its name without its directory; empty for redirections on their own.
    pub name: String,
    pub args: Vec<Expanded>,
    /// The files that the shell writes to for it.
    pub writes: Vec<Expanded>,
    /// The programs whose output it reads.
    pub fed_by: Vec<String>,
    /// What it reads, if that is known.
    pub input: Option<String>,
    /// Whether it is a call of the function that it is part of, beside another one.
    pub multiplies: bool,
    /// The directories that it may run in.
    pub cwds: Arc<[PathBuf]>,
}

impl SimpleCommand {
    /// The arguments that are no options. Everything behind `--` is none.
    pub fn operands(&self) -> impl Iterator<Item = &Expanded> {
        let end = self.args.iter().position(|arg| arg.text == "--").unwrap_or(self.args.len());
        self.args
            .iter()
            .enumerate()
            .filter(move |(at, arg)| *at > end || (*at < end && (!arg.text.starts_with('-') || arg.text == "-")))
            .map(|(_, arg)| arg)
    }

    /// Whether it has one of these options: single letters, also together, or long names.
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

/// How deep texts that are run as scripts may nest.
const DEPTH: usize = 16;

/// More steps than any command that is worth reading has.
const STEPS: usize = 10_000;

/// The most text that words may expand to, all together, in bytes.
const EXPANDED: usize = 8 << 20;

/// The most changes of the directory.
const MOVES: usize = 256;

/// The longest path that systems accept, in bytes.
const LONGEST_PATH: usize = 4096;

/// The most variables that a text may set. Each substitution works on a copy of them.
const VARIABLES: usize = 256;

/// What the text would run.
pub fn simple_commands(text: &str, world: ShellEnv<'_>) -> Result<Vec<SimpleCommand>, ParseError> {
    let mut walk = Interpreter::new(world);
    walk.script(text)?;
    Ok(walk.steps)
}

/// What the text would run where these variables are set, and the names of those that it sets itself.
pub fn simple_commands_with(
    text: &str,
    world: ShellEnv<'_>,
    vars: &[(String, String)],
) -> Result<(Vec<SimpleCommand>, HashSet<String>), ParseError> {
    let mut walk = Interpreter::new(world);
    for (name, value) in vars {
        walk.vars.insert(name.clone(), vec![value.clone()]);
        walk.given.insert(name.clone());
    }
    walk.script(text)?;
    Ok((walk.steps, walk.sets))
}

/// What a program with its arguments would run.
pub fn simple_commands_of_argv(argv: &[String], world: ShellEnv<'_>) -> Result<Vec<SimpleCommand>, ParseError> {
    let mut walk = Interpreter::new(world);
    let words: Vec<_> =
        (0..).zip(argv).map(|(at, word)| Expanded { span: Some((at, at + 1)), ..Expanded::literal(word) }).collect();
    walk.program(&words, &Context::default())?;
    Ok(walk.steps)
}

struct Interpreter<'a> {
    world: ShellEnv<'a>,
    vars: Vars,
    cwds: Arc<[PathBuf]>,
    /// The number of times that the directory has changed.
    moves: usize,
    steps: Vec<SimpleCommand>,
    depth: usize,
    /// The programs that lists of commands inside of words run, by the place of the list in memory.
    names: HashMap<usize, Vec<String>>,
    /// Names of variables that are known from outside.
    given: HashSet<String>,
    /// Names of those that the text sets.
    sets: HashSet<String>,
    /// The length of all values so far.
    expanded: usize,
}

/// What a program finds around it.
#[derive(Debug, Clone, Default)]
struct Context {
    writes: Vec<Expanded>,
    fed_by: Vec<String>,
    /// What it reads, if that is known.
    input: Option<String>,
    multiplies: bool,
}

/// What became of a command, for those that read its output.
#[derive(Default)]
struct Ran {
    names: Vec<String>,
    printed: Option<String>,
}

impl<'a> Interpreter<'a> {
    fn new(world: ShellEnv<'a>) -> Self {
        let mut walk = Self {
            world,
            vars: Vars::new(),
            cwds: [world.cwd.to_owned()].into(),
            moves: 0,
            steps: Vec::new(),
            depth: 0,
            names: HashMap::new(),
            given: HashSet::new(),
            sets: HashSet::new(),
            expanded: 0,
        };
        walk.vars.insert("IFS".to_owned(), vec![" \t\n".to_owned()]);
        walk.set_pwd();
        walk
    }

    fn script(&mut self, text: &str) -> Result<(), ParseError> {
        if self.depth >= DEPTH {
            return Err(ParseError("scripts are nested too deeply"));
        }
        self.depth += 1;
        let walked = parse(text).and_then(|commands| self.list(&commands));
        self.depth -= 1;
        walked
    }

    fn list(&mut self, commands: &[Command]) -> Result<(), ParseError> {
        let mut ran: Vec<Ran> = Vec::new();
        for command in commands {
            if self.steps.len() > STEPS {
                return Err(ParseError("it runs too much"));
            }
            let words = command.words.iter().chain(command.redirects.iter().map(|redirect| &redirect.target));
            for word in words.chain(command.assignments.iter().map(|(_, word)| word)).chain(&command.evaluated) {
                self.outputs(word)?;
            }
            let own = self.steps.len();
            let feed = ran.get(command.fed_by.clone()).unwrap_or_default();
            let around = self.around(command, feed)?;
            let printed = self.command(command, &around)?;
            let names =
                self.steps[own..].iter().map(|step| step.name.clone()).filter(|name| !name.is_empty()).collect();
            ran.push(Ran { names, printed });
        }
        Ok(())
    }

    /// Walks through what runs inside of a word.
    fn outputs(&mut self, word: &Word) -> Result<(), ParseError> {
        for part in &word.parts {
            match part {
                WordPart::Output(commands) => {
                    // Variables and the directory that it changes are its own.
                    let (vars, cwds) = (self.vars.clone(), self.cwds.clone());
                    let first = self.steps.len();
                    self.list(commands)?;
                    (self.vars, self.cwds) = (vars, cwds);
                    let names = self.steps[first..].iter().map(|step| step.name.clone()).collect();
                    self.names.insert(place(commands), names);
                }
                WordPart::Var { fallback: Some(fallback), .. } => self.outputs(&fallback.word)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The values that a word may have, as one text each.
    fn values(&mut self, word: &Word) -> Result<Vec<Expanded>, ParseError> {
        self.expand(word, Word::values)
    }

    /// The arguments that a word becomes.
    fn fields(&mut self, word: &Word) -> Result<Vec<Expanded>, ParseError> {
        let mut fields = self.expand(word, Word::fields)?;
        if let [value] = fields.as_mut_slice() {
            let is_fixed = |part: &WordPart| match part {
                WordPart::Text(_) | WordPart::Bare(_) => true,
                WordPart::Home => self.world.home.is_some(),
                WordPart::Var { name, .. } => self.given.contains(name),
                WordPart::Output(_) => false,
            };
            // A word of a script inside of the text has no position in it.
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
        let values = expand(word, &Expansion { vars: &self.vars, home: self.world.home, names_of: &names_of });
        self.expanded += values.iter().map(|value| value.text.len()).sum::<usize>();
        if self.expanded > EXPANDED || values.iter().any(|value| value.cut) {
            return Err(ParseError("its words expand to too much"));
        }
        Ok(values)
    }

    fn around(&mut self, command: &Command, feed: &[Ran]) -> Result<Context, ParseError> {
        let mut around =
            Context { fed_by: feed.iter().flat_map(|ran| ran.names.iter().cloned()).collect(), ..Context::default() };
        if let Some(last) = feed.last() {
            around.input = last.printed.clone();
        }
        for redirect in &command.redirects {
            let values = self.values(&redirect.target)?;
            match redirect.kind {
                RedirectKind::Write => around.writes.extend(values),
                RedirectKind::Read => around.fed_by.extend(values.into_iter().flat_map(|value| value.from)),
                RedirectKind::Here => {
                    if let Some(value) = values.into_iter().next() {
                        around.fed_by.extend(value.from);
                        around.input = Some(value.text);
                    }
                }
            }
        }
        Ok(around)
    }

    /// Runs a command, and returns what it prints if that is known.
    fn command(&mut self, command: &Command, around: &Context) -> Result<Option<String>, ParseError> {
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
            if !around.writes.is_empty() {
                self.push(SimpleCommand { writes: around.writes.clone(), ..SimpleCommand::default() });
            }
            return Ok(None);
        };
        let calls_itself = command.function.as_deref() == Some(first.text.as_str());
        let multiplies = calls_itself && (command.background || !command.fed_by.is_empty());
        self.program(&words, &Context { multiplies, ..around.clone() })?;
        // In front of a program, they are set for that program alone.
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
        if passes_on && words[1..].iter().all(|word| word.text == "-") { Ok(around.input.clone()) } else { Ok(None) }
    }

    fn set_pwd(&mut self) {
        let cwds = self.cwds.iter().map(|cwd| cwd.to_string_lossy().into_owned()).collect();
        self.vars.insert("PWD".to_owned(), cwds);
    }

    fn set(&mut self, name: &str, values: Vec<Expanded>) -> Result<(), ParseError> {
        self.sets.insert(name.to_owned());
        if self.sets.len() > VARIABLES {
            return Err(ParseError("it sets too many variables"));
        }
        if values.iter().all(|value| value.known && value.text.len() <= LONGEST_VARIABLE) {
            self.vars.insert(name.to_owned(), values.into_iter().map(|value| value.text).collect());
        } else {
            self.vars.remove(name);
        }
        Ok(())
    }

    fn push(&mut self, step: SimpleCommand) {
        self.steps.push(SimpleCommand { cwds: self.cwds.clone(), ..step });
    }

    /// Runs a program, and what it runs.
    fn program(&mut self, words: &[Expanded], around: &Context) -> Result<(), ParseError> {
        let Some((first, args)) = words.split_first() else { return Ok(()) };
        let name = base_name(&first.text).to_owned();
        self.push(SimpleCommand {
            program: first.clone(),
            name: name.clone(),
            args: args.to_vec(),
            writes: around.writes.clone(),
            fed_by: around.fed_by.clone(),
            input: around.input.clone(),
            multiplies: around.multiplies,
            cwds: Arc::default(),
        });
        // The shell's files are written once.
        let inner = Context { writes: Vec::new(), multiplies: false, ..around.clone() };
        if self.depth >= DEPTH {
            return Err(ParseError("programs start programs too deeply"));
        }
        self.depth += 1;
        // A variable that is not set leaves the next word as the program: `$SUDO rm`.
        let is_variable = !first.known && first.text.starts_with('$') && first.from.is_empty();
        let done = if is_variable { self.program(args, &inner) } else { self.inside(&name, args, &inner) };
        self.depth -= 1;
        done
    }

    /// What a program runs in its turn.
    fn inside(&mut self, name: &str, args: &[Expanded], around: &Context) -> Result<(), ParseError> {
        if is_shell(name) {
            return self.shell(args, around);
        }
        if let Some(wrapper) = Wrapper::named(name) {
            return self.wrapped(wrapper, args, around);
        }
        match name {
            "eval" => self.script(&joined(args)),
            "trap" => args.first().map_or(Ok(()), |text| self.script(&text.text)),
            "su" | "runuser" | "script" => match option_value(args, &["-c", "--command"]) {
                Some(text) => self.script(&text.text),
                None if name == "runuser" => {
                    let user = args.iter().position(|arg| matches!(arg.text.as_str(), "-u" | "--user"));
                    let behind = user.and_then(|at| args.get(at + 2..)).unwrap_or_default();
                    let behind =
                        behind.split_first().filter(|(first, _)| first.text == "--").map_or(behind, |(_, rest)| rest);
                    self.program(behind, around)
                }
                None => Ok(()),
            },
            "ssh" => {
                const WITH_VALUE: &[&str] = &[
                    "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-o", "-p", "-R", "-S",
                    "-W", "-w",
                ];
                let mut at = 0;
                while let Some(arg) = args.get(at).filter(|arg| arg.text.starts_with('-')) {
                    at += if WITH_VALUE.contains(&arg.text.as_str()) { 2 } else { 1 };
                }
                self.script(&joined(args.get(at + 1..).unwrap_or_default()))
            }
            "find" | "fd" | "fdfind" => self.executed(args, around),
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
                    self.sets.insert(arg.text.clone());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn shell(&mut self, args: &[Expanded], around: &Context) -> Result<(), ParseError> {
        // `-c` may stand together with others, as in `-lc`; the text is the first word that is no option.
        let (mut runs_text, mut at) = (false, 0);
        while let Some(arg) = args.get(at).map(|arg| arg.text.as_str()).filter(|arg| arg.starts_with(['-', '+'])) {
            runs_text |= !arg.starts_with("--") && arg.contains('c');
            let takes_value =
                matches!(arg, "--rcfile" | "--init-file") || (!arg.starts_with("--") && arg.ends_with(['o', 'O']));
            at += if takes_value { 2 } else { 1 };
        }
        if runs_text {
            return args.get(at).map_or(Ok(()), |text| self.script(&text.text));
        }
        let has_file = args.get(at).is_some();
        match &around.input {
            Some(text) if !has_file || args.iter().any(|arg| arg.text == "-s") => self.script(text),
            _ => Ok(()),
        }
    }

    fn wrapped(&mut self, wrapper: &Wrapper, args: &[Expanded], around: &Context) -> Result<(), ParseError> {
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
        if let Some(input) = around.input.as_ref().filter(|_| reads_arguments) {
            inner.extend(input.split_whitespace().map(Expanded::literal));
        }
        if matches!(wrapper.name(), "watch" | "parallel") {
            return self.script(&joined(&inner));
        }
        // A shell started for its own sake reads what the wrapper would have read.
        self.program(&inner, around)
    }

    /// `-exec` and its kin.
    fn executed(&mut self, args: &[Expanded], around: &Context) -> Result<(), ParseError> {
        let starts = ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let mut rest = args;
        while let Some(at) = rest.iter().position(|arg| starts.contains(&arg.text.as_str())) {
            rest = &rest[at + 1..];
            let end = rest.iter().position(|arg| matches!(arg.text.as_str(), ";" | "+")).unwrap_or(rest.len());
            self.program(&rest[..end], around)?;
            rest = &rest[end..];
        }
        Ok(())
    }

    fn change_directory(&mut self, args: &[Expanded]) -> Result<(), ParseError> {
        let home = self.world.home.map(Expanded::literal);
        let Some(to) = args.iter().find(|arg| !arg.text.starts_with('-')).or(home.as_ref()) else { return Ok(()) };
        if !to.known || to.text.len() > LONGEST_PATH {
            return Ok(());
        }
        self.moves += 1;
        if self.moves > MOVES {
            return Err(ParseError("it changes its directory too often"));
        }
        let moved = self.cwds.iter().map(|cwd| lexical(&cwd.join(&to.text)));
        let mut cwds: Vec<_> = moved.filter(|cwd| cwd.as_os_str().len() <= LONGEST_PATH).collect();
        // It may fail, or be done in a subshell: what comes after may run at either place.
        cwds.extend_from_slice(&self.cwds);
        cwds.dedup();
        cwds.truncate(8);
        self.cwds = cwds.into();
        self.set_pwd();
        Ok(())
    }
}

/// Identifies a list of commands inside of a word, while the tree that it is part of lives.
fn place(commands: &[Command]) -> usize {
    commands.as_ptr().addr()
}

/// What `echo` and `printf` print, if that is known.
fn printed(words: &[Expanded]) -> Option<String> {
    let (first, args) = words.split_first()?;
    let options: &[&str] = match base_name(&first.text) {
        "echo" => &["-n", "-e", "-E", "-ne", "-en"],
        "printf" => &["--"],
        _ => return None,
    };
    let said: Vec<_> = args.iter().skip_while(|arg| options.contains(&arg.text.as_str())).collect();
    let joined = said.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    Some(joined.replace("\\n", "\n").replace("%s", " "))
}

fn joined(args: &[Expanded]) -> String {
    args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn option_value<'a>(args: &'a [Expanded], names: &[&str]) -> Option<&'a Expanded> {
    let at = args.iter().position(|arg| names.contains(&arg.text.as_str()))?;
    args.get(at + 1)
}

/// What `env -S` runs: the text, in whatever way it is given, and the words behind it.
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
    let ((at, _), text) =
        args.iter().enumerate().take_while(|(_, arg)| is_before(arg)).find_map(|it| Some((it, text(it.1)?)))?;
    Some(format!("{text} {}", joined(&args[at + 1..])))
}

/// The program's name without its directory, as different systems spell it.
fn base_name(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// The path with `.` and `..` taken out, as far as that goes without looking.
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
