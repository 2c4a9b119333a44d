//! Facts about an event that rules use: names, commands, history and functions, as objects of `checkrein-expression`.
//!
//! The tables (`Schema`) are the reference: `docs/facts.md` and the checks of rules come from them. Every fact is computed when an
//! expression reads it first, and at most once per event. Facts never start a process and never use the network. A fact that only a
//! running shell knows is an unknown value, never left out.

mod cached;
mod command;
mod file_word;
mod formats;
mod functions;
mod history;
pub(crate) mod json;
mod net;
mod path;
mod record;
mod reference;
mod repository;
mod testing;
mod tool;
mod user;
mod versions;
mod word;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use checkrein_core::payload::Field as PayloadField;
use checkrein_core::{Event, EventKind, RawJson};
use checkrein_dialects::agents::native;
use checkrein_expression::{Environment, FailureKind, Field, List, Method, Object, Schema, Type, Unknown, Value};
use jiff::Zoned;

use crate::builtins::commands::{ParsedCommands, parse_commands};
use path::PathContext;
use record::Record;

pub use history::{HistoryReader, MemoryHistory, NoHistory, PastCall};
pub use reference::reference;
pub(crate) use repository::branch_name;
pub use testing::exercise_facts;

/// Inputs of the facts, besides the event.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FactContext {
    /// Name of the agent's dialect. Empty without a dialect.
    pub agent: String,
    /// Home directory of the user.
    pub home: Option<PathBuf>,
    /// Working directory of the agent.
    pub cwd: PathBuf,
    /// Directory in which the agent was started.
    pub start: PathBuf,
    /// Root of the project. `None`: the root of the git repository around `start`, or `start`.
    pub project: Option<PathBuf>,
    /// Name of the user.
    pub user: String,
    /// Time of the event. `None`: the time at which a rule asks.
    pub now: Option<Zoned>,
    /// Environment variables of the agent.
    pub vars: Arc<[(OsString, OsString)]>,
    /// State of the repository, for tests of rules. `None`: it is read from `.git`.
    pub repository: Option<RepositoryState>,
    /// Files that exist, for tests of rules. `None`: the disk is read.
    pub files: Option<Vec<PathBuf>>,
    /// The session so far.
    pub history: Arc<dyn HistoryReader>,
}

/// State of a repository, for tests of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryState {
    /// Root of the working tree.
    pub root: PathBuf,
    /// Current branch.
    pub branch: String,
    /// URLs of the remotes by name.
    pub remotes: BTreeMap<String, String>,
    /// `true` if tracked files are changed.
    pub dirty: bool,
}

impl FactContext {
    /// Creates a context for a working directory. The other values are empty.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        Self {
            start: cwd.clone(),
            agent: String::new(),
            home: None,
            cwd,
            project: None,
            user: String::new(),
            now: None,
            vars: Arc::from([]),
            repository: None,
            files: None,
            history: Arc::new(NoHistory),
        }
    }

    /// Returns the root of the project.
    pub fn project_root(&self) -> PathBuf {
        let repository = || crate::hook_files::repository(&self.start).map(PathBuf::from);
        self.project.clone().or_else(repository).unwrap_or_else(|| self.start.clone())
    }

    pub(crate) fn home_text(&self) -> Option<&str> {
        self.home.as_deref().and_then(|home| home.to_str())
    }
}

/// Values that the objects of one event share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) event: Arc<Event>,
    pub(crate) context: FactContext,
    parsed: OnceLock<ParsedCommands>,
}

impl Shared {
    /// Returns the shell commands of the event.
    pub(crate) fn parsed(&self) -> &ParsedCommands {
        self.parsed.get_or_init(|| parse_commands(&self.event, self.context.home_text(), &self.context.cwd))
    }

    /// Returns the branch of the repository of a directory. The given repository of a test stands for all directories in it.
    pub(crate) fn current_branch(&self, directory: &Path) -> Value {
        match &self.context.repository {
            Some(repository) if directory.starts_with(&self.context.cwd) => repository.branch.as_str().into(),
            Some(_) => Value::unknown(format!("the branch in {}", directory.display())),
            None => repository::current_branch(directory),
        }
    }

    /// Returns the root of the repository of a directory.
    pub(crate) fn repository_root(&self, directory: &Path) -> Value {
        match &self.context.repository {
            Some(repository) if directory.starts_with(&self.context.cwd) => {
                repository.root.to_string_lossy().as_ref().into()
            }
            Some(_) => Value::unknown(format!("the repository of {}", directory.display())),
            None => repository::root(directory),
        }
    }
}

/// Facts about one event.
#[derive(Debug)]
pub struct Facts {
    shared: Arc<Shared>,
    values: Vec<OnceLock<Value>>,
}

impl Facts {
    /// Creates the facts of an event. Nothing is computed yet.
    pub fn new(event: impl Into<Arc<Event>>, context: FactContext) -> Self {
        let values = ROOT.fields.iter().map(|_| OnceLock::new()).collect();
        Self { shared: Arc::new(Shared { event: event.into(), context, parsed: OnceLock::new() }), values }
    }

    /// Returns the shell commands of the event.
    pub(crate) fn parsed(&self) -> &ParsedCommands {
        self.shared.parsed()
    }

    /// Returns the facts that the event has, as JSON. `{"unknown": "$X"}` stands for a value of which a part is unknown, and
    /// `{"more": "…"}` at the end of a list for further elements.
    pub fn to_json(&self) -> RawJson {
        let kind = self.shared.event.kind();
        json::object(self, |field| is_available(field, &kind))
    }

    fn compute(&self, name: &str) -> Value {
        let Shared { event, context, .. } = &*self.shared;
        let text = |path: &Path| Value::from(path.to_string_lossy().as_ref());
        match name {
            "event" => event.kind().name().into(),
            "agent" => context.agent.as_str().into(),
            "session" => self.session(),
            "subagent" => match (&event.envelope.agent_id, &event.envelope.agent_type) {
                (None, None) => Value::Null,
                (id, own) => Record::value(&SUBAGENT, [text_or_empty(id.as_deref()), text_or_empty(own.as_deref())]),
            },
            "cwd" => text(&context.cwd),
            "project" => text(&context.project_root()),
            "home" => context.home.as_deref().map_or_else(|| "".into(), text),
            "user" if context.user.is_empty() => user::name().into(),
            "user" => context.user.as_str().into(),
            "now" => now(&context.now.clone().unwrap_or_else(Zoned::now)),
            "tool" => tool::value(event),
            "input" => match event.tool_input().map(json::value) {
                Some(map @ Value::Map(_)) => map,
                // An input that is no object has no fields.
                _ => Value::Map(Arc::default()),
            },
            "output" => match event.field("tool_response") {
                Some(PayloadField::Json(output)) => json::value(output),
                _ => Value::Null,
            },
            "error" => payload_text(event, "error"),
            "prompt" => payload_text(event, "prompt"),
            "commands" => self.commands(),
            "paths" => {
                let home = context.home_text().map(str::to_owned);
                let (cwd, files) = (context.cwd.clone(), context.files.clone());
                let places = PathContext { cwd, project: context.project_root(), home, files };
                path::paths(event, self.shared.parsed(), &places)
            }
            "net" => net::net(event, self.shared.parsed(), context.repository.as_ref()),
            "git" => match &context.repository {
                Some(state) => repository::given(state),
                None => repository::git(&context.cwd),
            },
            "history" => history::value(context.history.clone()),
            _ => Value::Null,
        }
    }

    fn session(&self) -> Value {
        let Shared { event, context, .. } = &*self.shared;
        let turn = event.envelope.turn.or_else(|| context.history.turn());
        Record::value(
            &SESSION,
            [
                text_or_empty(event.envelope.session_id.as_deref()),
                text_or_empty(event.envelope.permission_mode.as_deref()),
                turn.map_or_else(|| Value::unknown("number of the turn"), whole),
            ],
        )
    }

    fn commands(&self) -> Value {
        let parsed = self.shared.parsed();
        let commands = (0..parsed.simple_commands.len()).map(|index| command::value(&self.shared, index));
        let rest = parsed.parse_error.map(|why| Unknown(format!("a command that cannot be read: {why}").into()));
        Value::List(List { elements: commands.collect(), rest })
    }
}

impl Object for Facts {
    fn schema(&self) -> &'static Schema {
        &ROOT
    }

    fn field(&self, index: usize) -> Value {
        let (Some(slot), Some(field)) = (self.values.get(index), ROOT.fields.get(index)) else { return Value::Null };
        slot.get_or_init(|| self.compute(field.name)).clone()
    }

    fn call(&self, index: usize, arguments: &[Value]) -> Result<Value, FailureKind> {
        match (ROOT.methods.get(index).map(|method| method.name), arguments) {
            (Some("env"), [Value::String(name)]) => {
                functions::check_variable(name).map_err(FailureKind::Function)?;
                let found = self.shared.context.vars.iter().find(|(own, _)| own.to_str() == Some(name));
                Ok(found.map_or_else(|| "".into(), |(_, value)| value.to_string_lossy().as_ref().into()))
            }
            _ => Err(FailureKind::Function("the function takes a string".to_owned())),
        }
    }
}

/// Returns the names at the top level, with their descriptions.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROOT.fields.iter().map(|field| (field.name, field.doc))
}

/// Returns the names and functions that a rule for these kinds can use. A name that not all of the kinds have is an error that
/// lists the events which have it.
pub fn environment(kinds: &[EventKind]) -> Environment {
    let is_missing = |name: &str| kinds.iter().any(|kind| !is_available(name, kind));
    let missing = ROOT.fields.iter().map(|field| field.name).filter(|name| is_missing(name)).collect();
    Environment::new(&ROOT)
        .functions(functions::ALL)
        .literal_check(functions::check_literals)
        .without(missing, events_with)
}

/// Field of the payload that a fact needs.
fn required_field(name: &str) -> Option<&'static str> {
    match name {
        "tool" | "input" | "commands" | "paths" | "net" => Some("tool_name"),
        "output" => Some("tool_response"),
        "error" => Some("error"),
        "prompt" => Some("prompt"),
        _ => None,
    }
}

/// `true` if events of this kind have the fact. Custom events may have every field.
fn is_available(name: &str, kind: &EventKind) -> bool {
    let has = |field: &str| kind.fields().iter().any(|own| own.name == field);
    matches!(kind, EventKind::Custom(_)) || required_field(name).is_none_or(has)
}

fn events_with(name: &str) -> String {
    let kinds = EventKind::ALL.iter().filter(|kind| is_available(name, kind));
    let name = |kind| native::DIALECT.name_of(kind).unwrap_or_else(|| EventKind::name(kind));
    let names: Vec<_> = kinds.map(|kind| format!("`{}`", name(kind))).collect();
    format!("events with it: {}", names.join(", "))
}

fn text_or_empty(text: Option<&str>) -> Value {
    text.unwrap_or_default().into()
}

fn payload_text(event: &Event, name: &str) -> Value {
    match event.field(name) {
        Some(PayloadField::Text(text)) => text.into(),
        Some(PayloadField::Json(json)) => {
            json.as_text().map_or_else(|| json.as_str().into(), |text| text.as_ref().into())
        }
        _ => "".into(),
    }
}

pub(crate) fn whole(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

const WEEKDAYS: &[&str] = &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

fn now(time: &Zoned) -> Value {
    let day = usize::try_from(time.weekday().to_monday_zero_offset()).unwrap_or_default();
    Record::value(
        &NOW,
        [
            i64::from(time.year()).into(),
            i64::from(time.month()).into(),
            i64::from(time.day()).into(),
            i64::from(time.hour()).into(),
            i64::from(time.minute()).into(),
            WEEKDAYS.get(day).copied().unwrap_or_default().into(),
            time.date().to_string().into(),
            time.timestamp().as_second().into(),
        ],
    )
}

pub(crate) const STRINGS: Type = Type::list(&Type::String);

const fn field(name: &'static str, kind: Type, doc: &'static str) -> Field {
    Field { name, kind, doc }
}

pub(crate) static ROOT: Schema = Schema {
    name: "facts",
    doc: "Names that every rule can use. Some exist only at events that have the data.",
    fields: &[
        field("event", Type::Format(&formats::EVENT), "Name of the event, such as `pre_tool_use`."),
        field("agent", Type::Format(&formats::AGENT), "Name of the agent, such as `claude`; \"\" if it is not known."),
        field("session", Type::Object(&SESSION), "The session."),
        field("subagent", Type::nullable(&Type::Object(&SUBAGENT)), "The sub-agent; null for the main agent."),
        field("cwd", Type::Format(&formats::ABSOLUTE), "Working directory of the agent."),
        field("project", Type::Format(&formats::ABSOLUTE), "Root of the project."),
        field("home", Type::Format(&formats::ABSOLUTE), "Home directory of the user; \"\" if it is not known."),
        field("user", Type::String, "Name of the user; \"\" if it is not known."),
        field("now", Type::Object(&NOW), "The local time."),
        field("tool", Type::Object(&tool::TOOL), "The tool of the call."),
        field("input", Type::map(&Type::Any), "Input of the tool, with the agent's own field names."),
        field("output", Type::Any, "Output of the tool; null if the event has none."),
        field("error", Type::String, "Error of a failed tool or of the agent."),
        field("prompt", Type::String, "Text of the user."),
        field(
            "commands",
            Type::list(&Type::Object(&command::COMMAND)),
            "Every program that a shell call runs, nested ones too: `sh -c`, `sudo`, `xargs`, `find -exec`, substitutions.",
        ),
        field(
            "paths",
            Type::list(&Type::Object(&path::SCHEMA)),
            "Every file that the call reads, writes, deletes or executes, from tools, patches and commands.",
        ),
        field(
            "net",
            Type::list(&Type::Object(&net::SCHEMA)),
            "Every host that the call contacts, as far as it is written.",
        ),
        field("git", Type::Object(&repository::SCHEMA), "The repository of the working directory."),
        field("history", Type::Object(&history::HISTORY), "The session so far."),
    ],
    methods: &[Method {
        name: "env",
        parameters: &[Type::String],
        result: Type::String,
        doc: "Value of an environment variable of the agent; \"\" if it is not set. Only names without secrets are allowed.",
    }],
};

static SESSION: Schema = Schema {
    name: "session",
    doc: "The session of an agent.",
    fields: &[
        field("id", Type::String, "Identifier; \"\" if the agent sends none."),
        field("permission_mode", Type::String, "Permission mode of the agent; \"\" if the agent sends none."),
        field("turn", Type::Int, "Number of prompts so far; unknown if neither the agent nor the history has it."),
    ],
    methods: &[],
};

static SUBAGENT: Schema = Schema {
    name: "subagent",
    doc: "A sub-agent.",
    fields: &[
        field("id", Type::String, "Identifier; \"\" if the agent sends none."),
        field("type", Type::String, "Type; \"\" if the agent sends none."),
    ],
    methods: &[],
};

static NOW: Schema = Schema {
    name: "now",
    doc: "The local time of the event.",
    fields: &[
        field("year", Type::Int, "Year."),
        field("month", Type::Range(1, 12), "Month, from 1."),
        field("day", Type::Range(1, 31), "Day of the month, from 1."),
        field("hour", Type::Range(0, 23), "Hour, from 0 to 23."),
        field("minute", Type::Range(0, 59), "Minute."),
        field("weekday", Type::OneOf(WEEKDAYS), "Day of the week, such as `monday`."),
        field("date", Type::Format(&formats::DATE), "Date, such as `2026-11-18`."),
        field("unix", Type::Int, "Seconds since 1970-01-01 in UTC."),
    ],
    methods: &[],
};
