//! Follows commands in the order in which a shell runs them, without running anything.
//!
//! A command whose words have several possible values is followed once for each combination. What happens in subshells,
//! branches and loops is in `flow`, what words do in `words`, builtins of the shell in `builtins`, and programs that start
//! others in `launch`. Everything that costs time is charged to [`Work`].

mod builtins;
mod code;
mod flow;
mod helpers;
mod input;
mod launch;
mod words;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::ParseError;
use super::commands::{ShellEnv, SimpleCommand, base_name};
use super::expand::Inside;
use super::expanded::Expanded;
use super::parse::{Command, List, Redirect, RedirectKind, parse};
use super::state::{State, Values};
use super::work::Work;
use super::wrappers::package_name;
use crate::builtins::doubt::conventional_program;
use flow::{Frame, Function};
use input::{Input, either};

/// Maximum nesting of scripts in scripts.
const DEPTH: usize = 16;

/// Maximum number of simple commands.
const COMMANDS: usize = 10_000;

/// Maximum number of variables that a text may set.
const VARIABLES: usize = 512;

/// Maximum length of a known variable, in bytes.
const LONGEST_VARIABLE: usize = 4 << 10;

/// Work of adding one command to the result, beside its words.
const COMMAND: usize = 64;

pub(super) struct Interpreter<'a> {
    env: ShellEnv<'a>,
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) work: Work,
    /// Names of variables that the text sets.
    pub(super) assigned: HashSet<String>,
    state: State,
    /// All values that variables had at any time, for code that runs later.
    ever: State,
    depth: usize,
    /// Number of scripts around the current one. Only words of the first one have a position in the text.
    scripts: usize,
    /// Names of variables that the caller has set.
    inherited: HashSet<String>,
    /// Results of command lists inside of words, by the address of the list.
    ran: HashMap<usize, Inside>,
    /// Standard input of the current commands.
    input: Input,
    /// `true` if `exec` has replaced the standard input of the shell.
    is_input_replaced: bool,
    /// `true` if the text has a `<(…)`, whose name a variable may hold.
    has_pipes: bool,
    /// Commands that other programs start, with more arguments.
    helpers: Vec<String>,
    /// Aliases of git that the text sets.
    git_aliases: Vec<(String, String)>,
    functions: HashMap<Rc<str>, Vec<Function>>,
    /// Number of other processes around the current command.
    processes: usize,
    /// Functions that are running.
    calls: Vec<Rc<str>>,
    /// `true` while a function runs with unknown variables, because it calls itself.
    is_recursive: bool,
    aliases: HashMap<String, Vec<String>>,
    /// Aliases that are being replaced.
    replacing: Vec<String>,
    frames: Vec<Frame>,
    /// Variables that `local` has replaced, with their values before.
    locals: Vec<(String, Option<Values>)>,
    /// Scripts of `trap`, which may run at any time.
    traps: Vec<String>,
    /// Directories that the shell has left.
    left: Vec<PathBuf>,
    /// `true` if the shell has been in an unknown directory.
    was_lost: bool,
    /// `true` if a value contains a substitution in a subscript, which arithmetic would run.
    holds_code: bool,
    /// `true` if arithmetic is evaluated.
    calculates: bool,
    /// Programs that start the current command, outermost first.
    wrappers: Vec<Arc<str>>,
    /// Texts that the commands have written to files, by path. A script in such a file is followed.
    written: HashMap<PathBuf, Arc<str>>,
}

/// Redirections and input of a program.
#[derive(Debug, Clone, Default)]
struct Context {
    writes: Vec<Expanded>,
    appends: Vec<Expanded>,
    reads: Vec<Expanded>,
    input: Input,
    multiplies: bool,
}

/// Result of a command, for the commands that read its output.
#[derive(Debug, Clone, Default)]
struct Ran {
    names: Vec<String>,
    /// Output. `None` if it is the content of files. [`super::expand::UNKNOWN`] stands for unknown parts.
    printed: Option<Arc<str>>,
    /// Its commands in the result.
    found: Range<usize>,
}

impl<'a> Interpreter<'a> {
    pub(super) fn new(env: ShellEnv<'a>) -> Self {
        let state = State::new(env.cwd.to_owned());
        let mut interpreter = Self {
            env,
            commands: Vec::new(),
            work: Work::new(),
            assigned: HashSet::new(),
            ever: state.clone(),
            state,
            depth: 0,
            scripts: 0,
            inherited: HashSet::new(),
            ran: HashMap::new(),
            input: Input::default(),
            is_input_replaced: false,
            has_pipes: false,
            helpers: Vec::new(),
            git_aliases: Vec::new(),
            functions: HashMap::new(),
            processes: 0,
            calls: Vec::new(),
            is_recursive: false,
            aliases: HashMap::new(),
            replacing: Vec::new(),
            frames: Vec::new(),
            locals: Vec::new(),
            traps: Vec::new(),
            left: Vec::new(),
            was_lost: false,
            holds_code: false,
            calculates: false,
            wrappers: Vec::new(),
            written: HashMap::new(),
        };
        // The work of a new interpreter suffices for this.
        let _ = interpreter.state.set("IFS", Values::one(" \t\n"), &mut interpreter.work);
        interpreter
    }

    /// Creates an interpreter for a shell that starts in one of these directories.
    pub(super) fn in_one_of(home: Option<&'a str>, cwds: Vec<PathBuf>) -> Result<Self, ParseError> {
        let mut interpreter = Self::new(ShellEnv { home, cwd: Path::new("/") });
        interpreter.state.limit(cwds, &mut interpreter.work)?;
        interpreter.ever = interpreter.state.clone();
        Ok(interpreter)
    }

    pub(super) fn inherit(&mut self, vars: &[(String, String)]) -> Result<(), ParseError> {
        for (name, value) in vars {
            let values = Values { exported: true, ..Values::one(value) };
            self.state.set(name, values, &mut self.work)?;
            self.inherited.insert(name.clone());
        }
        Ok(())
    }

    /// Follows a whole text, and the code that it leaves for later.
    pub(super) fn text(&mut self, text: &str) -> Result<(), ParseError> {
        self.script(text)?;
        self.later()
    }

    /// Follows a program with its arguments.
    pub(super) fn argv(&mut self, words: &[Expanded]) -> Result<(), ParseError> {
        self.scripts = 1;
        self.program(words, &Context::default())?;
        self.scripts = 0;
        self.later()
    }

    fn script(&mut self, text: &str) -> Result<(), ParseError> {
        if self.depth >= DEPTH {
            return Err(ParseError("scripts are nested too deeply"));
        }
        self.work.spend(2 * text.len())?;
        self.depth += 1;
        self.scripts += 1;
        let result = parse(text).and_then(|list| self.list(&list));
        self.scripts -= 1;
        self.depth -= 1;
        result
    }

    fn list(&mut self, list: &Rc<List>) -> Result<(), ParseError> {
        self.part(list, 0..list.commands.len(), 0..list.marks.len()).map(|_| ())
    }

    /// Follows one command with its redirections.
    fn one(&mut self, command: &Command, feed: Option<Input>) -> Result<Ran, ParseError> {
        let outer = self.input.clone();
        self.input = self.input_of(command, feed);
        let ran = self.with_input(command);
        self.input = outer;
        ran
    }

    /// Follows one command with its standard input, which [`Self::input`] has.
    fn with_input(&mut self, command: &Command) -> Result<Ran, ParseError> {
        if self.commands.len() > COMMANDS {
            return Err(ParseError("it runs too many commands"));
        }
        self.work.spend(COMMAND / 2)?;
        let words = command.words.iter().chain(command.redirects.iter().map(|redirect| &redirect.target));
        let values = command.assignments.iter().map(|assignment| &assignment.value);
        let subscripts = command.assignments.iter().filter_map(|assignment| assignment.subscript.as_ref());
        for word in words.chain(values).chain(&command.evaluated) {
            self.side_effects(word)?;
        }
        for word in subscripts {
            self.calculates = true;
            self.side_effects(word)?;
        }
        let first = self.commands.len();
        let context = self.context(command)?;
        self.input = context.input.clone();
        let printed = self.command(command, &context)?;
        let mut names: Vec<String> = Vec::new();
        for command in &self.commands[first..] {
            if !command.name.is_empty() && !names.contains(&command.name) {
                self.work.spend(COMMAND + names.len())?;
                names.push(command.name.clone());
            }
        }
        Ok(Ran { names, printed, found: first..self.commands.len() })
    }

    fn context(&mut self, command: &Command) -> Result<Context, ParseError> {
        let mut context = Context { input: self.input.clone(), ..Context::default() };
        for redirect in &command.redirects {
            let values = self.values(&redirect.target)?;
            let input = if redirect.is_stdin { self.redirected(redirect.kind, &values, &context.input)? } else { None };
            match redirect.kind {
                RedirectKind::Write => context.writes.extend(values),
                RedirectKind::Append => {
                    context.appends.extend(values.iter().cloned());
                    context.writes.extend(values);
                }
                RedirectKind::Read => context.reads.extend(values),
                RedirectKind::Here | RedirectKind::Copy => {}
            }
            if let Some(input) = input {
                context.input = input;
            }
        }
        Ok(context)
    }

    /// Follows a command once for each combination of values, and returns its output, if known.
    fn command(&mut self, command: &Command, context: &Context) -> Result<Option<Arc<str>>, ParseError> {
        if command.words.first().and_then(|word| word.bare()).is_some_and(|word| matches!(word, "for" | "select"))
            && command.assignments.is_empty()
        {
            self.for_loop(command)?;
            return Ok(Some("".into()));
        }
        let combinations = self.combinations(command.words.iter())?;
        let entry = self.state.clone();
        let mut exit: Option<State> = None;
        let mut printed = None;
        let count = combinations.len();
        for choices in combinations {
            self.state = entry.clone();
            let mut words = Vec::new();
            for word in &command.words {
                words.extend(self.fields(word, &choices, count == 1)?);
            }
            let declared = self.declared(command, &words, &choices)?;
            let output = self.expanded_command(command, &words, context)?;
            for (name, values) in declared {
                let mut all = self.state.get(&name).cloned().unwrap_or_else(Values::unknown);
                all.join(&values, &mut self.work)?;
                self.set(&name, all)?;
            }
            printed = if count == 1 {
                output
            } else {
                let text = either(printed.as_deref(), output.as_deref());
                self.work.spend(text.len())?;
                Some(text)
            };
            if count > 1 {
                self.state.add_failed_cd(&mut self.work)?;
            }
            match &mut exit {
                None => exit = Some(self.state.clone()),
                Some(exit) => exit.join(&self.state, &mut self.work)?,
            }
        }
        self.state = exit.unwrap_or(entry);
        Ok(printed)
    }

    /// Follows a command with its words.
    fn expanded_command(
        &mut self,
        command: &Command,
        words: &[Expanded],
        context: &Context,
    ) -> Result<Option<Arc<str>>, ParseError> {
        let Some(first) = words.first() else {
            for assignment in &command.assignments {
                self.assign(assignment, false)?;
            }
            if !context.writes.is_empty() || !context.reads.is_empty() {
                let Context { writes, appends, reads, .. } = context.clone();
                self.push(SimpleCommand { writes, appends, reads, ..SimpleCommand::default() })?;
            }
            return Ok(Some("".into()));
        };
        // Words are expanded before the variables in front of them are set.
        let before = self.state.clone();
        for assignment in &command.assignments {
            self.assign(assignment, true)?;
        }
        let with = self.state.clone();
        let calls_itself = command.function.as_deref() == Some(first.text.as_str());
        let multiplies = calls_itself && (command.background || !command.fed_by.is_empty());
        self.program(words, &Context { multiplies, ..context.clone() })?;
        if !command.assignments.is_empty() {
            self.end_assignments(command, first, &before, &with)?;
        }
        // Behind `cd x &&` a command runs in `x`. Elsewhere, `cd` may have failed.
        if !command.and_then {
            self.state.add_failed_cd(&mut self.work)?;
        }
        if first.text == "exec" && words.len() == 1 && command.redirects.iter().any(Redirect::is_text) {
            self.is_input_replaced = true;
        }
        let printed = self.output(words, context)?;
        self.keep_written(words, context, printed.as_deref())?;
        Ok(printed)
    }

    /// Ends assignments in front of a program, which apply to that program only.
    fn end_assignments(
        &mut self,
        command: &Command,
        program: &Expanded,
        before: &State,
        with: &State,
    ) -> Result<(), ParseError> {
        // They stay behind special builtins and functions in some shells.
        let stays = !program.known
            || builtins::SPECIAL.contains(&program.text.as_str())
            || self.functions.contains_key(program.text.as_str())
            || self.aliases.contains_key(program.text.as_str());
        for assignment in &command.assignments {
            let name = assignment.name.as_str();
            let mut values = before.get(name).cloned();
            let is_changed = self.state.get(name) != with.get(name);
            if stays || is_changed {
                let mut all = values.unwrap_or_else(Values::unknown);
                if let Some(now) = self.state.get(name) {
                    all.join(now, &mut self.work)?;
                }
                values = Some(all);
            }
            self.state.restore(name, values, &mut self.work)?;
        }
        Ok(())
    }

    fn push(&mut self, command: SimpleCommand) -> Result<(), ParseError> {
        let redirects = command.writes.iter().chain(&command.reads);
        let words = command.args.iter().chain(redirects).map(|word| 16 + word.text.len() + 8 * word.from.len());
        self.work.spend(COMMAND + 12 * command.fed_by.len() + words.sum::<usize>())?;
        if self.commands.len() > COMMANDS {
            return Err(ParseError("it runs too many commands"));
        }
        let (cwds, cwd_known) = (self.state.cwds.clone(), self.state.cwd_known);
        let wrappers = self.wrappers.clone();
        let env = self.state.exported(&mut self.work)?;
        self.commands.push(SimpleCommand { cwds, cwd_known, wrappers, env, ..command });
        Ok(())
    }

    /// Adds a command of which nothing is known, except for the programs that print it.
    fn push_unknown(&mut self, text: &str, from: &[String], context: &Context) -> Result<(), ParseError> {
        let program = Expanded { may_split: true, from: from.to_vec(), ..Expanded::unknown_text(text) };
        self.push(SimpleCommand {
            name: text.to_owned(),
            program,
            fed_by: context.input.fed_by.to_vec(),
            ..SimpleCommand::default()
        })
    }

    /// Adds a program and the programs that it starts.
    fn program(&mut self, words: &[Expanded], context: &Context) -> Result<(), ParseError> {
        let Some((first, args)) = words.split_first() else { return Ok(()) };
        // `$GIT` is git, unless the text sets the variable.
        let named = conventional_program(first, |name| self.assigned.contains(name) || self.state.get(name).is_some());
        let own_name = package_name(base_name(&first.text), self.wrappers.last().map(|name| &**name));
        let name = named.unwrap_or(own_name).to_owned();
        if first.known && first.text.is_empty() && !first.glob {
            // An empty name is an error of the shell.
            return Ok(());
        }
        self.holds_code |= args.iter().any(|arg| words::is_code(&words::as_script(arg)));
        self.push(SimpleCommand {
            program: first.clone(),
            name: name.clone(),
            args: args.to_vec(),
            writes: context.writes.clone(),
            appends: context.appends.clone(),
            reads: context.reads.clone(),
            fed_by: context.input.fed_by.to_vec(),
            input: context.input.shown(),
            multiplies: context.multiplies,
            ..SimpleCommand::default()
        })?;
        // The outer command already has the redirections.
        let inner = Context {
            writes: Vec::new(),
            appends: Vec::new(),
            reads: Vec::new(),
            multiplies: false,
            ..context.clone()
        };
        if self.depth >= DEPTH {
            return Err(ParseError("programs start programs too deeply"));
        }
        self.depth += 1;
        let done = match named {
            Some(named) => self.inside(&Expanded::literal(named), &name, args, &inner),
            None => self.inside(first, &name, args, &inner),
        };
        self.depth -= 1;
        done
    }

    /// Follows the commands that a program starts.
    fn inside(&mut self, first: &Expanded, name: &str, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        // With an empty variable the next word is the program: `$SUDO rm`.
        if first.may_split {
            return self.program(args, context);
        }
        if !first.known || first.glob {
            return Ok(());
        }
        self.alias(&first.text, args, context)?;
        self.call(&first.text, args)?;
        if self.builtin(name, args, context)? {
            return Ok(());
        }
        if first.text.contains('/')
            && let Some(script) = self.written_text(first)?
        {
            return self.read_script(&script, &[], context);
        }
        self.launch(name, args, context)
    }
}
