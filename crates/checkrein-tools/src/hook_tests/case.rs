//! Decoded test cases: event, environment and expectations.

use std::path::PathBuf;
use std::time::Duration;

use checkrein_core::{Decision, FailureKind, RawJson, Target};
use checkrein_dialects::Dialect;

use super::pattern::TextPattern;
use super::scratch::{Scratch, in_json};
use crate::event_builder::EventBuilder;

/// One case: an event, its environment and the expected results.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Case {
    /// Name.
    pub name: String,
    /// File of the case.
    pub file: PathBuf,
    /// First line of the case.
    pub line: u32,
    /// Dialect of the event and of the decision rules.
    pub dialect: &'static Dialect,
    /// Files with the hooks. Empty: those of the test runner.
    pub config: Vec<PathBuf>,
    /// Agent whose hooks run, for files with hooks of several agents.
    pub agent: Option<String>,
    /// Name of the event.
    pub event: String,
    /// Name of the tool.
    pub tool: Option<String>,
    /// Input of the tool.
    pub input: Option<RawJson>,
    /// Payload in the agent's format.
    pub payload: Option<RawJson>,
    /// Fields of the payload, by path.
    pub set: Vec<(String, RawJson)>,
    /// Variables of the agent, in addition to the default ones. `None` removes a default variable.
    pub environment: Vec<(String, Option<String>)>,
    /// Files to create in the scratch directory.
    pub files: Vec<NewFile>,
    /// Expected results. Never empty.
    pub expect: Vec<Expected>,
}

impl Case {
    /// Builder for the event, with the path of the scratch directory filled in.
    pub(super) fn event_builder(&self, scratch: &Scratch) -> EventBuilder {
        let mut builder = EventBuilder::new(&self.event);
        if let Some(tool) = &self.tool {
            builder = builder.tool(tool);
        }
        if let Some(payload) = &self.payload {
            builder = builder.payload(in_json(payload, scratch));
        }
        for (path, value) in &self.set {
            builder = builder.set(path, in_json(value, scratch));
        }
        match &self.input {
            Some(input) => builder.input(in_json(input, scratch)),
            None => builder,
        }
    }
}

/// A file to create.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewFile {
    /// Path relative to the scratch directory. Never leads out of it.
    pub path: PathBuf,
    /// Contents.
    pub text: String,
    /// `true` if the file is executable. Default: `true` if the text starts with `#!`.
    pub executable: bool,
}

/// One expectation and its line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Expected {
    /// Line in the file.
    pub line: u32,
    /// Condition.
    pub check: Check,
}

/// Condition on the result of a case.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Check {
    /// The decision of the verdict or of a hook is one of these.
    Decision(Vec<Decision>),
    /// The reason matches. `None`: there is no reason.
    Reason(Option<TextPattern>),
    /// Each pattern matches a text for the model. Empty: there is no such text.
    Context(Vec<TextPattern>),
    /// Each pattern matches a message for the user. Empty: there is no message.
    Messages(Vec<TextPattern>),
    /// Each pattern matches a warning for the user. Empty: there is no warning.
    Warnings(Vec<TextPattern>),
    /// The final prompt matches. `None`: it was not rewritten.
    Prompt(Option<TextPattern>),
    /// The final JSON value contains these fields. `None`: it was not rewritten.
    Json {
        /// Rewritable part of the event.
        target: Target,
        /// Expected value.
        wanted: Option<RawJson>,
        /// `true` if other fields are not permitted.
        exact: bool,
    },
    /// The run took at most this long.
    MaxDuration(Duration),
    /// The process exited with this code.
    ExitCode(i32),
    /// The hook failed in this way. `None`: it did not fail.
    Failure(Option<FailureKind>),
    /// The stdout of the hook matches.
    Stdout(TextPattern),
    /// The stderr of the hook matches.
    Stderr(TextPattern),
    /// These hooks ran. Empty: no hook ran.
    Ran(Vec<String>),
    /// These hooks did not run.
    NotRan(Vec<String>),
    /// This hook ran, and all conditions hold for it.
    Hook(String, Vec<Expected>),
}
