//! Subshells, branches, loops, functions, aliases and code that runs later.

use std::ops::Range;
use std::rc::Rc;

use super::{Context, Interpreter, Ran};
use crate::builtins::shell::ParseError;
use crate::builtins::shell::expanded::Expanded;
use crate::builtins::shell::parse::{Block, Command, List, Mark, parse};
use crate::builtins::shell::state::{State, Values};

/// Maximum number of times that the body of a loop is followed.
const ROUNDS: usize = 4;

/// An open block.
pub(super) struct Frame {
    block: Block,
    /// State at the start.
    entry: State,
    /// State at the end of other ways through the block.
    exits: Option<State>,
    /// Position of the start.
    command: usize,
    mark: usize,
    /// Number of commands found before.
    found: usize,
    rounds: usize,
}

/// The body of a function.
#[derive(Clone)]
pub(super) struct Function {
    list: Rc<List>,
    commands: Range<usize>,
    marks: Range<usize>,
    /// Number of scripts around it.
    scripts: usize,
    is_called: bool,
    /// `true` if the function exists for certain behind its definition.
    is_certain: bool,
}

impl Interpreter<'_> {
    /// Follows a part of a list.
    pub(super) fn part(
        &mut self,
        list: &Rc<List>,
        commands: Range<usize>,
        marks: Range<usize>,
    ) -> Result<Vec<Ran>, ParseError> {
        let mut ran = vec![Ran::default(); commands.len()];
        let (mut at, mut mark) = (commands.start, marks.start);
        loop {
            while mark < marks.end && list.marks[mark].0 <= at {
                self.work.spend(4)?;
                match &list.marks[mark].1 {
                    Mark::Enter(Block::Function(name)) => {
                        let end = end_of(list, mark);
                        self.work.spend(end - mark)?;
                        let last = list.marks.get(end).map_or(commands.end, |(at, _)| *at);
                        let body = Function {
                            list: list.clone(),
                            commands: at..last,
                            marks: mark + 1..end,
                            scripts: self.scripts,
                            is_called: false,
                            is_certain: self.is_certain(),
                        };
                        self.functions.entry(name.clone()).or_default().push(body);
                        (at, mark) = (last, end);
                    }
                    Mark::Enter(block) => self.enter(block.clone(), list, at, mark)?,
                    Mark::Next => {
                        if let Some(frame) = self.frames.last_mut() {
                            let entry = frame.entry.clone();
                            let then = std::mem::replace(&mut self.state, entry);
                            frame.exits = Some(then);
                        }
                    }
                    Mark::Leave => {
                        if let Some((command, start)) = self.leave()? {
                            (at, mark) = (command, start);
                        }
                    }
                }
                mark += 1;
            }
            if at >= commands.end {
                return Ok(ran);
            }
            let command = &list.commands[at];
            let feed =
                command.fed_by.start.saturating_sub(commands.start)..command.fed_by.end.saturating_sub(commands.start);
            let input = match ran.get(feed.clone()) {
                None | Some([]) => None,
                Some(feed) => Some(self.fed(list, command.fed_by.start, feed)?),
            };
            let now = self.one(command, input)?;
            self.piped(ran.get(feed).unwrap_or_default(), &now)?;
            ran[at - commands.start] = now;
            at += 1;
        }
    }

    /// Notes the programs that read the output of others.
    fn piped(&mut self, from: &[Ran], to: &Ran) -> Result<(), ParseError> {
        for fed in from.iter().flat_map(|ran| ran.found.clone()) {
            let Some(fed) = self.commands.get_mut(fed) else { continue };
            self.work.spend(12 * to.names.len())?;
            // A command that only a running shell knows has no name.
            for name in to.names.iter().filter(|name| *name != "$(…)") {
                if !fed.pipes_to.contains(name) {
                    fed.pipes_to.push(name.clone());
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, block: Block, list: &List, command: usize, mark: usize) -> Result<(), ParseError> {
        if block == Block::Loop {
            self.widen_for_loop(list, command, mark)?;
        }
        let mut entry = self.state.clone();
        entry.add_failed_cd(&mut self.work)?;
        if block == Block::And {
            self.state.before_cd = None;
        } else {
            self.state = entry.clone();
        }
        self.frames.push(Frame { block, entry, exits: None, command, mark, found: self.commands.len(), rounds: 0 });
        Ok(())
    }

    /// Variables that a loop sets have an unknown value at its start.
    fn widen_for_loop(&mut self, list: &List, command: usize, mark: usize) -> Result<(), ParseError> {
        let end = list.marks.get(end_of(list, mark)).map_or(list.commands.len(), |(at, _)| *at);
        let body = list.commands.get(command..end).unwrap_or_default();
        self.work.spend(body.len() + end_of(list, mark) - mark)?;
        for command in body {
            for assignment in &command.assignments {
                if self.state.get(&assignment.name).is_some_and(|values| !values.other) {
                    self.state.update(&assignment.name, &mut self.work, |values| values.other = true)?;
                }
            }
        }
        Ok(())
    }

    /// Ends a block. Returns the position from which a loop is followed again.
    fn leave(&mut self) -> Result<Option<(usize, usize)>, ParseError> {
        let Some(mut frame) = self.frames.pop() else { return Ok(None) };
        match frame.block {
            Block::Subshell => self.state = frame.entry,
            Block::Pipe | Block::Branch | Block::And => self.state.join(&frame.entry, &mut self.work)?,
            Block::Either => {
                if let Some(exit) = &frame.exits {
                    self.state.join(exit, &mut self.work)?;
                }
            }
            Block::Loop => {
                frame.rounds += 1;
                if !frame.entry.covers(&self.state, &mut self.work)? {
                    if frame.rounds >= ROUNDS {
                        return Err(ParseError("a loop changes too much"));
                    }
                    frame.entry.widen(&self.state, &mut self.work)?;
                    self.state = frame.entry.clone();
                    self.commands.truncate(frame.found);
                    let start = (frame.command, frame.mark);
                    self.frames.push(frame);
                    return Ok(Some(start));
                }
                self.state.join(&frame.entry, &mut self.work)?;
                if let Some(exit) = &frame.exits {
                    self.state.join(exit, &mut self.work)?;
                }
            }
            Block::Function(_) => {}
        }
        Ok(None)
    }

    /// Follows `break`, `continue` or `return`: the state may be that at the end of a block.
    pub(super) fn escape(&mut self) -> Result<(), ParseError> {
        for frame in self.frames.iter_mut().filter(|frame| matches!(frame.block, Block::Loop | Block::Function(_))) {
            match &mut frame.exits {
                None => frame.exits = Some(self.state.clone()),
                Some(exit) => exit.join(&self.state, &mut self.work)?,
            }
        }
        Ok(())
    }

    /// Follows a function of this name, if there is one.
    pub(super) fn call(&mut self, name: &str, args: &[Expanded]) -> Result<(), ParseError> {
        let Some((name, bodies)) = self.functions.get_key_value(name) else { return Ok(()) };
        let (name, bodies) = (name.clone(), bodies.clone());
        self.work.spend(bodies.len() * 16)?;
        let is_recursive = self.calls.contains(&name);
        if is_recursive && self.is_recursive {
            // The outer call is followed with unknown variables.
            self.state = self.unknown_state()?;
            return Ok(());
        }
        for body in self.functions.get_mut(&name).into_iter().flatten() {
            body.is_called = true;
        }
        let was_recursive = self.is_recursive;
        self.is_recursive |= is_recursive;
        let outer_args = self.state.args.clone();
        if is_recursive {
            self.state = self.unknown_state()?;
        } else {
            let is_list = args.iter().all(|arg| !arg.may_split && !arg.glob);
            self.state.args = is_list.then(|| args.into());
        }
        let entry = self.state.clone();
        let is_certain = bodies.len() == 1 && bodies.iter().all(|body| body.is_certain);
        let mut exit: Option<State> = (!is_certain).then(|| entry.clone());
        self.calls.push(name.clone());
        for body in bodies {
            self.state = entry.clone();
            self.body(&body)?;
            match &mut exit {
                None => exit = Some(self.state.clone()),
                Some(exit) => exit.join(&self.state, &mut self.work)?,
            }
        }
        self.calls.pop();
        self.is_recursive = was_recursive;
        self.state = exit.unwrap_or(entry);
        self.state.args = outer_args;
        Ok(())
    }

    /// `true` if the current command runs in this shell, whatever happens before.
    fn is_certain(&self) -> bool {
        self.processes == 0 && self.frames.iter().all(|frame| matches!(frame.block, Block::Function(_)))
    }

    /// Makes it uncertain whether a function exists.
    pub(super) fn unset_functions(&mut self) {
        self.functions.values_mut().flatten().for_each(|body| body.is_certain = false);
    }

    fn body(&mut self, body: &Function) -> Result<(), ParseError> {
        let locals = std::mem::take(&mut self.locals);
        let found = self.commands.len();
        let block = Block::Function("".into());
        let depth = self.frames.len();
        self.frames.push(Frame {
            block,
            entry: self.state.clone(),
            exits: None,
            command: 0,
            mark: 0,
            found,
            rounds: 0,
        });
        let scripts = std::mem::replace(&mut self.scripts, body.scripts);
        self.part(&body.list, body.commands.clone(), body.marks.clone())?;
        self.scripts = scripts;
        self.frames.truncate(depth + 1);
        if let Some(Frame { exits: Some(exit), .. }) = self.frames.pop() {
            self.state.join(&exit, &mut self.work)?;
        }
        // Whether `local` has run may be unknown, so both values are possible.
        for (name, before) in std::mem::replace(&mut self.locals, locals) {
            let before = before.unwrap_or_else(Values::unknown);
            let mut values = self.state.get(&name).cloned().unwrap_or_else(Values::unknown);
            values.join(&before, &mut self.work)?;
            self.state.restore(&name, Some(values), &mut self.work)?;
        }
        Ok(())
    }

    /// Returns a state in which nothing is known that the text has changed.
    fn unknown_state(&mut self) -> Result<State, ParseError> {
        let mut state = self.state.clone();
        let assigned = &self.assigned;
        state.open(&mut self.work, |name, _| assigned.contains(name))?;
        state.args = None;
        state.cwd_known &= self.left.is_empty();
        Ok(state)
    }

    /// Follows the words that an alias stands for.
    pub(super) fn alias(&mut self, name: &str, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        const ODD: ParseError = ParseError("an alias is not a plain command");
        let Some(texts) = self.aliases.get(name).cloned() else { return Ok(()) };
        if self.replacing.iter().any(|replaced| replaced == name) {
            return Ok(());
        }
        self.replacing.push(name.to_owned());
        // Words of the alias have no position in the text.
        self.scripts += 1;
        for text in texts {
            self.work.spend(2 * text.len())?;
            let list = parse(&text).map_err(|_| ODD)?;
            let [command] = list.commands.as_slice() else { return Err(ODD) };
            let is_plain = list.marks.is_empty() && command.redirects.is_empty() && command.assignments.is_empty();
            if !is_plain || command.words.is_empty() || text.ends_with([' ', '\t']) || text.contains(['#', '\n', '&']) {
                return Err(ODD);
            }
            for word in &command.words {
                self.side_effects(word)?;
            }
            for choices in self.combinations(command.words.iter())? {
                let mut words = Vec::new();
                for word in &command.words {
                    words.extend(self.fields(word, &choices, false)?);
                }
                words.extend_from_slice(args);
                self.program(&words, context)?;
            }
        }
        self.scripts -= 1;
        self.replacing.pop();
        Ok(())
    }

    /// Follows the head of a loop: the variable has each of the values.
    pub(super) fn for_loop(&mut self, command: &Command) -> Result<(), ParseError> {
        let mut words: Vec<Expanded> = Vec::new();
        for word in &command.words {
            let combinations = self.combinations(std::iter::once(word))?;
            let count = combinations.len();
            for choices in combinations {
                words.extend(self.fields(word, &choices, count == 1)?);
            }
        }
        let values = match words.as_slice() {
            [_, _, keyword, values @ ..] if keyword.text == "in" => values.to_vec(),
            [_, _] => match &self.state.args {
                Some(args) => args.to_vec(),
                None => vec![Expanded::unknown_text("$@")],
            },
            _ => Vec::new(),
        };
        let Some(variable) = words.get(1).map(|word| word.text.clone()) else { return Ok(()) };
        let mut values = self.known_values(&values);
        // Without any item, the variable stays as it was.
        let before = self.state.get(&variable).cloned().unwrap_or_else(Values::unknown);
        if values.known.is_empty() && !values.other {
            values.join(&before, &mut self.work)?;
        }
        self.set(&variable, values)
    }

    /// Follows functions that are not called in the text, scripts of `trap` and commands in variables, with all values that variables ever had.
    pub(super) fn later(&mut self) -> Result<(), ParseError> {
        let mut done = 0;
        loop {
            let helpers = std::mem::take(&mut self.helpers);
            let traps: Vec<_> = self.traps[done..].to_vec();
            done += traps.len();
            let mut bodies = Vec::new();
            for body in self.functions.values_mut().flatten().filter(|body| !body.is_called) {
                body.is_called = true;
                bodies.push(body.clone());
            }
            if traps.is_empty() && bodies.is_empty() && helpers.is_empty() {
                break;
            }
            bodies.sort_by_key(|body| body.commands.start);
            let mut state = self.ever.clone();
            state.cwds = self.state.cwds.clone();
            state.cwd_known = self.state.cwd_known && self.left.is_empty();
            for text in traps {
                self.state = state.clone();
                // Its words have no position in the text.
                self.scripts = 1;
                self.script(&text)?;
                self.scripts = 0;
            }
            for text in helpers {
                self.state = state.clone();
                self.scripts = 1;
                self.helper(&Expanded::literal(text), &Context::default())?;
                self.scripts = 0;
            }
            for body in bodies {
                self.state = state.clone();
                self.depth += 1;
                self.body(&body)?;
                self.depth -= 1;
            }
        }
        if self.holds_code && self.calculates {
            return Err(ParseError("arithmetic may run a command in a value"));
        }
        Ok(())
    }
}

/// Returns the index of the mark that ends the block of this mark.
fn end_of(list: &List, mark: usize) -> usize {
    let mut open = 0_usize;
    for (index, (_, kind)) in list.marks.iter().enumerate().skip(mark) {
        match kind {
            Mark::Enter(_) => open += 1,
            Mark::Leave if open == 1 => return index,
            Mark::Leave => open = open.saturating_sub(1),
            Mark::Next => {}
        }
    }
    list.marks.len()
}
