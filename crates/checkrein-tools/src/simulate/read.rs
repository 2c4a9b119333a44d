//! Parser of simulation scripts. Reports every problem with its location.

use std::fmt;
use std::path::Path;

use checkrein_core::payload::FieldInfo;
use checkrein_core::{Envelope, Event, EventKind, RawJson, closest_match};
use checkrein_dialects::agents::native;
use checkrein_dialects::config::{Diagnostic, Location, Severity};
use checkrein_document::{Format, LineIndex, Member, Node, Span};

use super::script::{Action, Answer, LEADS, Script, ScriptedOutcome, Step, StepKey, TOOL_KEYS, ToolStep};
use crate::samples;

/// All problems of a script, with their locations.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptError {
    /// Problems. Never empty.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, diagnostic) in self.diagnostics.iter().enumerate() {
            let gap = if at == 0 { "" } else { "\n" };
            write!(f, "{gap}{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Parses a script. The format depends on the file's extension; the default is YAML.
    ///
    /// # Errors
    /// All problems of the script: unknown keys, values of a wrong type, steps with two actions.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScriptError> {
        let format = match Format::from_path(Path::new(file)) {
            Some(Format::Json) => Format::Jsonc,
            format => format.unwrap_or(Format::Yaml),
        };
        let mut reader = ScriptReader { file, lines: LineIndex::new(text), diagnostics: Vec::new() };
        let script = match checkrein_document::parse(text, format) {
            Ok(parsed) => {
                for problem in &parsed.problems {
                    reader.error("suspicious-document", problem.span(), problem.to_string());
                }
                reader.script(&parsed.root)
            }
            Err(error) => {
                reader.error("not-readable", error.span, error.message);
                Self::default()
            }
        };
        let mut diagnostics = reader.diagnostics;
        diagnostics.sort_by_key(|diagnostic| diagnostic.at.as_ref().map(|at| at.span.start));
        if diagnostics.is_empty() { Ok(script) } else { Err(ScriptError { diagnostics }) }
    }
}

struct ScriptReader<'a> {
    file: &'a str,
    lines: LineIndex<'a>,
    diagnostics: Vec<Diagnostic>,
}

/// Name and value of a field.
type StepFields<'n, 't> = (&'n str, &'n Node<'t>);

impl ScriptReader<'_> {
    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        let location = Location::of(&self.lines, span);
        self.diagnostics.push(Diagnostic::of_file(Severity::Error, code, self.file, message).at(location));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    fn wrong_type(&mut self, node: &Node<'_>, what: &str, expected: &str) {
        let message = format!("`{what}` must be {expected}, but is {}", node.type_name());
        self.error("wrong-type", node.span, message);
    }

    fn unknown(&mut self, span: Span, what: &str, word: &str, known: &[&str]) {
        let help = match closest_match(word, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("use one of: {}", known.join(", ")),
        };
        self.error("unknown-key", span, format!("unknown {what} `{word}`")).help = Some(help);
    }

    fn keys(&mut self, members: &[Member<'_>], known: &[&str]) {
        for member in members.iter().filter(|member| !known.contains(&&*member.key)) {
            self.unknown(member.key_span, "key", &member.key, known);
        }
    }

    fn text(&mut self, node: &Node<'_>, what: &str) -> Option<String> {
        if node.as_str().is_none() {
            self.wrong_type(node, what, "a string");
        }
        node.as_str().map(str::to_owned)
    }

    fn json(&mut self, node: &Node<'_>, what: &str) -> Option<RawJson> {
        RawJson::parse(node.to_json())
            .map_err(|error| {
                self.error("wrong-type", node.span, format!("`{what}` is not valid JSON: {error}"));
            })
            .ok()
    }

    fn script(&mut self, root: &Node<'_>) -> Script {
        let Some(members) = root.as_object() else {
            self.wrong_type(root, "script", "an object with `steps`");
            return Script::default();
        };
        self.keys(members, &["$schema", "description", "session", "steps"]);
        let description = root.get("description").and_then(|node| self.text(node, "description"));
        let envelope = root.get("session").and_then(|node| self.envelope(node)).unwrap_or_default();
        let steps = match root.get("steps") {
            Some(node) => match node.as_array() {
                Some(steps) => steps.iter().filter_map(|step| self.step(step)).collect(),
                None => {
                    self.wrong_type(node, "steps", "an array");
                    Vec::new()
                }
            },
            None => {
                self.error("no-steps", root.span, "the script has no key `steps`");
                Vec::new()
            }
        };
        Script { description, envelope, steps }
    }

    fn envelope(&mut self, node: &Node<'_>) -> Option<Envelope> {
        let given = self.fields(node, "session", &[])?;
        let event = self.event(&EventKind::Setup, None, &given, node.span)?;
        Some(event.envelope)
    }

    fn step(&mut self, node: &Node<'_>) -> Option<Step> {
        let Some(members) = node.as_object() else {
            self.wrong_type(node, "step", "an object");
            return None;
        };
        let leading: Vec<_> = members.iter().filter(|member| leads().any(|key| key == member.key)).collect();
        let lead = match leading[..] {
            [lead] => lead,
            [] => {
                let all: Vec<_> = leads().collect();
                match members.iter().find(|member| closest_match(&member.key, all.iter().copied()).is_some()) {
                    Some(member) => self.unknown(member.key_span, "step", &member.key, &all),
                    None => {
                        self.error("no-step", node.span, "the step has no action").help =
                            Some(format!("add one of the keys {}", all.join(", ")));
                    }
                }
                return None;
            }
            [first, second, ..] => {
                let text = format!("the step has both `{}` and `{}`", first.key, second.key);
                self.error("two-steps", second.key_span, text).help = Some("split it into two steps".to_owned());
                return None;
            }
        };
        let place = self.lines.place(lead.key_span.start);
        let action = match LEADS.iter().find(|row| row.key == lead.key) {
            Some(row) => self.lead(row, lead, node, members)?,
            None if lead.key == "tool" => Action::Tool(self.tool(lead, node, members)?),
            None => Action::Fire(self.other(lead, node, members)?),
        };
        Some(Step { action, place })
    }

    fn lead(&mut self, row: &StepKey, lead: &Member<'_>, node: &Node<'_>, members: &[Member<'_>]) -> Option<Action> {
        self.keys(members, &[row.key, "fields"]);
        let mut given = match node.get("fields") {
            Some(fields) => self.fields(fields, "fields", row.kind.fields())?,
            None => Vec::new(),
        };
        self.text(&lead.value, row.key)?;
        given.retain(|(name, _)| *name != row.field);
        given.push((row.field, &lead.value));
        self.event(&row.kind, None, &given, lead.key_span).map(row.action)
    }

    fn other(&mut self, lead: &Member<'_>, node: &Node<'_>, members: &[Member<'_>]) -> Option<Event> {
        self.keys(members, &["event", "fields"]);
        let name = self.text(&lead.value, "event")?;
        let kind = match native::DIALECT.kind_named(&name) {
            Ok(kind) => kind,
            Err(error) => {
                self.error("unknown-event", lead.value.span, error.to_string());
                return None;
            }
        };
        let given = match node.get("fields") {
            Some(fields) => self.fields(fields, "fields", kind.fields())?,
            None => Vec::new(),
        };
        self.event(&kind, Some(&samples::event(&kind)), &given, lead.key_span)
    }

    fn tool(&mut self, lead: &Member<'_>, node: &Node<'_>, members: &[Member<'_>]) -> Option<ToolStep> {
        let known: Vec<_> = TOOL_KEYS.iter().map(|(key, ..)| *key).collect();
        self.keys(members, &known);
        let name = self.text(&lead.value, "tool")?;
        let usual = samples::tool_event(&EventKind::PostToolUse, &name);
        let input = match node.get("input") {
            Some(input) => self.json(input, "input")?,
            None => usual.tool_input()?.clone(),
        };
        if let (Some(_), Some(failure)) = (node.get("result"), members.iter().find(|member| member.key == "failure")) {
            let text = "the step cannot have both `result` and `failure`";
            self.error("two-outcomes", failure.key_span, text).help = Some("remove one of them".to_owned());
            return None;
        }
        let outcome = match (node.get("result"), node.get("failure")) {
            (_, Some(failure)) => ScriptedOutcome::Failure(self.text(failure, "failure")?),
            (Some(result), None) => ScriptedOutcome::Result(self.json(result, "result")?),
            (None, None) => ScriptedOutcome::Result(usual.original(checkrein_core::Target::Output).unwrap_or_default()),
        };
        let asks = match node.get("asks") {
            Some(asks) => asks.as_bool().or_else(|| {
                self.wrong_type(asks, "asks", "true or false");
                None
            })?,
            None => false,
        };
        let answer = match node.get("answer") {
            Some(answer) => self.answer(answer)?,
            None => Answer::default(),
        };
        Some(ToolStep { name, input, outcome, asks, answer })
    }

    fn answer(&mut self, node: &Node<'_>) -> Option<Answer> {
        let word = self.text(node, "answer")?;
        let found = Answer::ALL.into_iter().find(|answer| answer.name() == word);
        if found.is_none() {
            self.unknown(node.span, "answer", &word, &Answer::ALL.map(Answer::name));
        }
        found
    }

    /// Reads fields of an event or its envelope, and checks their names and types.
    fn fields<'n, 't>(&mut self, node: &'n Node<'t>, what: &str, own: &[FieldInfo]) -> Option<Vec<StepFields<'n, 't>>> {
        let Some(members) = node.as_object() else {
            self.wrong_type(node, what, "an object");
            return None;
        };
        let all: Vec<_> = own.iter().chain(Envelope::fields()).collect();
        let names: Vec<_> = all.iter().map(|info| info.name).collect();
        let mut given = Vec::new();
        let mut fine = true;
        for member in members {
            match all.iter().find(|info| info.name == member.key) {
                None => {
                    self.unknown(member.key_span, "field", &member.key, &names);
                    fine = false;
                }
                Some(info) if !fits(info, &member.value) => {
                    self.wrong_type(&member.value, &member.key, info.json);
                    fine = false;
                }
                Some(_) => given.push((&*member.key, &member.value)),
            }
        }
        fine.then_some(given)
    }

    /// Builds an event with these fields. Missing fields come from `base`.
    fn event(
        &mut self,
        kind: &EventKind,
        base: Option<&Event>,
        given: &[StepFields<'_, '_>],
        span: Span,
    ) -> Option<Event> {
        let mut parts = vec![format!("\"event\":{}", RawJson::string(kind.name()))];
        if let Some(base) = base.and_then(|base| RawJson::parse(base.to_json()).ok()) {
            // These fields come from the session.
            let of_session = ["event", "session_id", "cwd", "transcript_path", "permission_mode", "turn"];
            for entry in base.entries().into_iter().flatten() {
                let key = entry.key();
                if !of_session.contains(&&*key) && !given.iter().any(|(name, _)| *name == key) {
                    parts.push(format!("{}:{}", RawJson::string(&key), entry.value()));
                }
            }
        }
        parts.extend(given.iter().map(|(name, node)| format!("{}:{}", RawJson::string(name), node.to_json())));
        Event::from_json(&format!("{{{}}}", parts.join(",")))
            .map_err(|error| {
                self.error("bad-event", span, format!("invalid `{kind}` event: {error}"));
            })
            .ok()
    }
}

/// Keys that define the action of a step. Each step has exactly one.
pub(super) fn leads() -> impl Iterator<Item = &'static str> {
    LEADS.iter().map(|row| row.key).chain(["tool", "event"])
}

fn fits(info: &FieldInfo, node: &Node<'_>) -> bool {
    match info.json {
        "a string" => node.as_str().is_some(),
        "a whole number" => node.as_number().is_some_and(|number| number.parse::<u64>().is_ok()),
        "true or false" => node.as_bool().is_some(),
        "an object" => node.as_object().is_some(),
        _ => true,
    }
}
