//! A list of commands with marks for its structure.

use std::rc::Rc;

use super::{Command, ParseError};

/// Commands in the order of the text, and marks between them.
#[derive(Debug, Default)]
pub(in super::super) struct List {
    pub(in super::super) commands: Vec<Command>,
    /// Marks with the index of the command that they precede, in order.
    pub(in super::super) marks: Vec<(usize, Mark)>,
}

/// A change of the structure between two commands.
#[derive(Debug, Clone)]
pub(in super::super) enum Mark {
    Enter(Block),
    /// Start of the other alternative of [`Block::Either`].
    Next,
    Leave,
}

/// Commands that do not simply follow the ones before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Block {
    /// Changes of variables and of the directory end with the block.
    Subshell,
    /// A part of a pipe: some shells run the last one in the same process.
    Pipe,
    /// May run, or not.
    Branch,
    /// Behind `&&`.
    And,
    /// One of two alternatives runs.
    Either,
    /// Runs any number of times.
    Loop,
    Function(Rc<str>),
}

impl List {
    pub(super) fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    pub(super) fn enter(&mut self, block: Block) {
        self.mark(Mark::Enter(block));
    }

    pub(super) fn leave(&mut self) {
        self.mark(Mark::Leave);
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.push((self.commands.len(), mark));
    }

    fn position(&self) -> Position {
        (self.commands.len(), self.marks.len())
    }

    /// Starts a block at an earlier position.
    fn enter_at(&mut self, position: Position, block: Block) {
        self.marks.insert(position.1, (position.0, Mark::Enter(block)));
    }
}

/// Numbers of commands and marks.
pub(super) type Position = (usize, usize);

/// Blocks that are open in a list of pipelines.
pub(super) struct Lines {
    start: Position,
    pub(super) pipeline: Position,
    is_pipe: bool,
    /// `true` behind `!`.
    pub(super) negated: bool,
    /// Open blocks of `&&`, and of `||`.
    conditions: usize,
    is_or: bool,
    /// Open alternatives of `if`: behind `then`, and behind `else`.
    branches: Vec<bool>,
}

impl Lines {
    pub(super) fn new(out: &List) -> Self {
        let start = out.position();
        Self {
            start,
            pipeline: start,
            is_pipe: false,
            negated: false,
            conditions: 0,
            is_or: false,
            branches: Vec::new(),
        }
    }

    /// Starts the next command of a pipe.
    pub(super) fn pipe(&mut self, out: &mut List) {
        if !self.is_pipe {
            out.enter_at(self.pipeline, Block::Pipe);
            self.is_pipe = true;
        }
        out.leave();
        out.enter(Block::Pipe);
    }

    fn end_pipeline(&mut self, out: &mut List) {
        if self.is_pipe {
            out.leave();
        }
        (self.is_pipe, self.negated) = (false, false);
    }

    /// Starts the command behind `&&` or `||`.
    pub(super) fn condition(&mut self, out: &mut List, is_and: bool) {
        let is_single = out.commands.len() == self.pipeline.0 + 1 && out.marks.len() == self.pipeline.1;
        if is_and && !self.negated && is_single {
            out.commands[self.pipeline.0].and_then = true;
        }
        self.end_pipeline(out);
        if !is_and || self.is_or {
            self.end_conditions(out);
        }
        out.enter(if is_and { Block::And } else { Block::Branch });
        self.conditions += 1;
        self.is_or = !is_and;
        self.pipeline = out.position();
    }

    fn end_conditions(&mut self, out: &mut List) {
        for _ in 0..std::mem::take(&mut self.conditions) {
            out.leave();
        }
        self.is_or = false;
    }

    /// Ends a list behind `;` or a line.
    pub(super) fn end(&mut self, out: &mut List) {
        self.end_pipeline(out);
        self.end_conditions(out);
        (self.start, self.pipeline) = (out.position(), out.position());
    }

    /// Ends a list behind `&`.
    pub(super) fn background(&mut self, out: &mut List) {
        self.end_pipeline(out);
        self.end_conditions(out);
        out.enter_at(self.start, Block::Subshell);
        out.leave();
        self.end(out);
    }

    pub(super) fn then(&mut self, out: &mut List) {
        self.end(out);
        out.enter(Block::Either);
        self.branches.push(false);
        self.end(out);
    }

    pub(super) fn otherwise(&mut self, out: &mut List, is_last: bool) -> Result<(), ParseError> {
        match self.branches.last_mut() {
            Some(is_other @ false) => *is_other = true,
            _ => return Err(ParseError(if is_last { "`else` has no `then`" } else { "`elif` has no `then`" })),
        }
        self.end(out);
        out.mark(Mark::Next);
        self.end(out);
        Ok(())
    }

    /// Ends the alternatives of `if`.
    pub(super) fn close(&mut self, out: &mut List) {
        while let Some(has_other) = self.branches.pop() {
            if !has_other {
                out.mark(Mark::Next);
            }
            out.leave();
        }
    }
}
