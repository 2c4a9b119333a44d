//! What a case says.

use std::path::PathBuf;
use std::time::Duration;

use checkrein_core::{Decision, FailureKind, RawJson, Target};
use checkrein_dialects::Dialect;

use super::pattern::TextPattern;
use super::scratch::{Scratch, in_json};
use crate::event_builder::EventBuilder;

/// One case: an event, its surroundings, and what shall come of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Case {
    /// What it is called.
    pub name: String,
    /// The file that it stands in.
    pub file: PathBuf,
    /// The line that it starts in.
    pub line: u32,
    /// In whose words the event is told, and by whose rules it settles.
    pub dialect: &'static Dialect,
    /// The files with its hooks, if they are not those of the whole run.
    pub config: Vec<PathBuf>,
    /// Whose hooks are meant, where a file has those of several agents.
    pub agent: Option<String>,
    /// The event's name.
    pub event: String,
    /// The tool that it is about.
    pub tool: Option<String>,
    /// What the tool is called with.
    pub input: Option<RawJson>,
    /// The payload as the agent sends it.
    pub payload: Option<RawJson>,
    /// Fields of the payload, by their paths.
    pub set: Vec<(String, RawJson)>,
    /// The agent's environment, besides what is usual. `None`: a usual one that is not there.
    pub environment: Vec<(String, Option<String>)>,
    /// Files in the scratch directory.
    pub files: Vec<NewFile>,
    /// What shall come of it. Never empty.
    pub expect: Vec<Expected>,
}

impl Case {
    /// The event, with what the scratch directory is called filled in.
    pub(super) fn draft(&self, scratch: &Scratch) -> EventBuilder {
        let mut draft = EventBuilder::new(&self.event);
        if let Some(tool) = &self.tool {
            draft = draft.tool(tool);
        }
        if let Some(payload) = &self.payload {
            draft = draft.payload(in_json(payload, scratch));
        }
        for (path, value) in &self.set {
            draft = draft.set(path, in_json(value, scratch));
        }
        match &self.input {
            Some(input) => draft.input(in_json(input, scratch)),
            None => draft,
        }
    }
}

/// A file to create.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewFile {
    /// Where, seen from the scratch directory. Never leads out of it.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
    /// Whether it may be executed. If nothing is said: whether it starts with `#!`.
    pub executable: bool,
}

/// Something that shall hold, and where that is said.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Expected {
    /// The line of the file.
    pub line: u32,
    /// What shall hold.
    pub check: Check,
}

/// What shall hold when a case has run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Check {
    /// The verdict, or what a hook said, is one of these.
    Decision(Vec<Decision>),
    /// The reason fits. `None`: there is none.
    Reason(Option<TextPattern>),
    /// What the model is told: something fits each of these. None at all: it is told nothing.
    Context(Vec<TextPattern>),
    /// The same of what the user is told.
    Messages(Vec<TextPattern>),
    /// The same of what the user is warned of.
    Warnings(Vec<TextPattern>),
    /// What came of the event's text. `None`: it is as it was.
    Prompt(Option<TextPattern>),
    /// What came of the event's JSON has all of this. `None`: it is as it was.
    Json {
        /// Of what.
        target: Target,
        /// What it has.
        wanted: Option<RawJson>,
        /// Whether it has nothing else.
        exact: bool,
    },
    /// It took no longer.
    MaxDuration(Duration),
    /// The process ended with this code.
    ExitCode(i32),
    /// The hook failed like this. `None`: it did not fail.
    Failure(Option<FailureKind>),
    /// What the hook printed fits.
    Stdout(TextPattern),
    /// What the hook complained about fits.
    Stderr(TextPattern),
    /// These hooks ran. None at all: no hook ran.
    Ran(Vec<String>),
    /// These hooks did not run.
    NotRan(Vec<String>),
    /// All of this holds for one hook, which ran.
    Hook(String, Vec<Expected>),
}
