//! Payloads: events as a dialect's hooks get them, and as its agent sends them. One [`PayloadTable`] serves both directions.
//!
//! Handlers use [`Dialect::payload`]; the agent adapter uses [`Dialect::event`]. A tool input is never changed on the way, except
//! for its field names.

mod object_writer;
mod table;

use std::borrow::Cow;

use checkrein_core::payload::{EventFields, Field, FieldInfo, FieldValue, JsonPiece};
use checkrein_core::{
    DecodeError, Entry, Envelope, Event, EventFilter, EventKind, JsonError, JsonType, RawJson, Target,
};

use crate::input::canonical_input;
use crate::json_index::{FieldIndex, at, strip_key};
use crate::table::{Dialect, EventRow};

use self::object_writer::ObjectWriter;
pub use self::table::{Absent, FieldEncoding, FieldRow, PayloadTable};

/// Field of checkrein's own payloads with the canonical name of a tool, if its agent has another name for it.
const COMMON_NAME: &str = "common_tool_name";

/// Field of checkrein's own payloads with the tool input as the agent sent it, if its field names differ.
const AGENT_INPUT: &str = "agent_tool_input";

/// Prefix of the name of a value whose type differs from that of the field. The field itself is absent then.
const AGENT_PREFIX: &str = "agent_sent_";

/// Size of JSON values from which payloads for hooks share them instead of copying.
const SHARE_FROM: usize = 64 * 1024;

impl Dialect {
    /// Returns the payload of an event for a hook: one JSON object, in pieces. JSON inside it, such as a tool's input, is not
    /// reformatted.
    ///
    /// `original` is the event as it was fired, if a hook has rewritten it.
    pub fn payload(&self, event: &Event, original: Option<&Event>) -> Vec<JsonPiece> {
        let kind = event.kind();
        let row = self.row(&kind);
        let mut out = ObjectWriter::new(SHARE_FROM);
        let name = row.map_or(kind.name(), |row| row.name);
        let (place, name) = row.and_then(|row| row.event_field).unwrap_or((self.payload.event, name));
        if !place.is_empty() {
            out.text(place, name);
        }
        if let Some(original) = original.filter(|_| self.payload.includes_original) {
            for target in Target::ALL {
                let (before, now) = (original.original(target), event.original(target));
                if let Some(before) = before.filter(|before| now.as_ref() != Some(before)) {
                    let own = self.native_input(original).filter(|_| target == Target::Input);
                    out.extra(format!("original_{target}"), own.as_deref().unwrap_or(&before));
                }
            }
        }
        for field in self.fields_of(row) {
            let part = field.from.contains('.').then(|| part_of(event, field.from)).flatten();
            let own_name = if field.from == "tool_name" { self.native_name(event) } else { None };
            let own_name = own_name.as_deref().map(Field::Text);
            let own_input = (field.from == "tool_input").then(|| self.native_input(event)).flatten();
            let own = own_name.or_else(|| own_input.as_deref().map(Field::Json));
            write(field, own.or_else(|| part.as_ref().map(Field::Json)).or_else(|| event.field(field.from)), &mut out);
        }
        if self.payload.all_fields {
            if let Some(common) = event.tool_aliases().next() {
                out.text(COMMON_NAME, common);
            }
            let translated = match (self.native_input(event), event.tool_input()) {
                (Some(Cow::Owned(own)), Some(agents)) => {
                    out.json(AGENT_INPUT, agents);
                    event.rewritten(Target::Input, &own)
                }
                _ => None,
            };
            let event = translated.as_ref().unwrap_or(event);
            return out.append(event);
        }
        // Extra fields of the host are passed on, unless the payload has them already.
        for (name, value) in &event.envelope.extra {
            let field = name.strip_prefix(AGENT_PREFIX).filter(|field| find_field(&kind, field).is_some());
            let name = field.unwrap_or(name);
            if !self.fields_of(row).any(|field| field.from == name) {
                out.extra(name, value);
            }
        }
        out.finish()
    }

    /// Reads the payload of an agent of this dialect. `name` is the name of the event, if the payload does not contain it.
    ///
    /// # Errors
    /// A payload that is not an event, with the location of the problem.
    pub fn event(&'static self, json: &RawJson, name: Option<&str>) -> Result<Event, PayloadError> {
        let Some(fields) = FieldIndex::new(json) else {
            return Err(PayloadError::NotAnObject(json.json_type()));
        };
        let name = name.map(Cow::Borrowed).or_else(|| self.find_name(|path| fields.at(path)));
        let name = name.ok_or(PayloadError::NoName { field: self.payload.event })?;
        let row = self.events.iter().find(|row| row.name == name);
        let kind = match row {
            Some(row) => row.kind.clone(),
            None => self.kind_named(&name)?,
        };
        let rows = || self.fields_of(row);
        let mut canonical = EventFields::new(json);
        let mut parts = NestedFields::default();
        // Fields of another type than the canonical one stay under the agent's names.
        let mut foreign = Vec::new();
        // A value from a list is used only if no other field has one.
        let listed = rows().filter(|field| field.form == FieldEncoding::First);
        let plain = rows().filter(|field| field.form != FieldEncoding::First);
        for field in plain.chain(listed).filter(|field| !field.from.is_empty()) {
            let info = find_field(&kind, field.from);
            let entry = fields.at(field.name);
            let source = entry.as_ref().map(Entry::value);
            let value = read(field, entry.as_ref(), info.filter(|info| info.required));
            match (field.from.split_once('.'), value) {
                (Some((whole, path)), value) => parts.put(whole, path, value.as_ref()),
                (None, Some(value)) if info.is_none_or(|info| info.required || fits(info, &value)) => {
                    canonical.add(field.from, value, source);
                }
                (None, Some(_)) => foreign.push(field.name),
                (None, None) => {}
            }
        }
        parts.finish(&mut canonical);
        // All other fields are kept under their names.
        let taken = |key: &str, is_object: bool| {
            let own = |path: &str| {
                let inside = strip_key(key, path);
                inside.is_some_and(|inside| inside.is_empty() || is_object) && !foreign.contains(&path)
            };
            let named = row.and_then(|row| row.event_field).map_or(self.payload.event, |(place, _)| place);
            own(named) || rows().any(|field| own(field.name))
        };
        for entry in fields.into_iter() {
            let (key, value) = (entry.key(), FieldValue::Part(entry.value()));
            if taken(&key, value.json_type() == JsonType::Object) {
                continue;
            }
            // An event whose optional field has another type is not lost for its hooks.
            if find_field(&kind, &key).is_none_or(|info| info.required || fits(info, &value)) {
                canonical.add(key, value, None);
            } else {
                canonical.add(format!("{AGENT_PREFIX}{key}"), value, None);
            }
        }
        Ok(self.with_common_names(Event::from_fields(&kind, canonical)?))
    }

    /// Returns a filter for the hooks that can match the event of a payload, without reading the whole payload. `None`: the whole
    /// [event](Self::event) is needed.
    pub fn event_filter(&self, json: &RawJson, name: Option<&str>) -> Option<EventFilter> {
        let name = name.map(Cow::Borrowed).or_else(|| self.find_name(|path| at(json, path)))?;
        let row = self.events.iter().find(|row| row.name == name)?;
        let kind = row.kind.clone();
        if self.lacks_general(&kind) {
            return None;
        }
        let Some(field) = kind.contract().matched_on.clone() else { return Some(EventFilter::new(kind, Vec::new())) };
        let place = self.fields_of(Some(row)).find(|row| row.from == field);
        let place = match place {
            Some(row) if row.form == FieldEncoding::Same => row.name,
            None if self.payload.all_fields => &field,
            _ => return None,
        };
        let subject = at(json, place)?.text()?.into_owned();
        let mut subjects = vec![subject];
        if field == "tool_name" {
            let tool = &subjects[0];
            let common = self.common_names(tool).iter().map(|name| (*name).to_owned());
            let others: Vec<_> = common.chain(self.mcp_aliases(tool, |path| at(json, path)?.text())).collect();
            subjects.extend(others);
        }
        Some(EventFilter::new(kind, subjects))
    }

    /// Returns the name of this dialect's agent for the tool of another agent's event.
    fn native_name(&self, event: &Event) -> Option<Cow<'static, str>> {
        let tool = self.native_tool_name(event).map(|tool| Cow::Borrowed(tool.name));
        tool.or_else(|| self.native_mcp_name(event).map(Cow::Owned))
    }

    /// `true` if a payload only repeats an earlier event, so that no hook may run: it lacks the field that every first payload of
    /// its event has.
    pub fn repeats_earlier(&self, json: &RawJson, name: Option<&str>) -> bool {
        let required = self.events.iter().filter_map(|row| Some((row.name, row.only_with?)));
        let mut lacking = required.filter(|(_, field)| at(json, field).is_none()).peekable();
        if lacking.peek().is_none() {
            return false;
        }
        let event = name.map(Cow::Borrowed).or_else(|| self.find_name(|path| at(json, path)));
        lacking.any(|(name, _)| event.as_deref() == Some(name))
    }

    /// Returns the dialect's name of the event, if the payload contains it.
    pub fn event_name(&self, payload: &RawJson) -> Option<String> {
        self.find_name(|path| at(payload, path)).map(Cow::into_owned)
    }

    /// Returns the name of an event in payloads.
    pub fn sent_name_of<'k>(&self, kind: &'k EventKind) -> &'k str {
        match self.row(kind) {
            Some(row) => row.event_field.map_or(row.name, |(_, name)| name),
            None => kind.name(),
        }
    }

    /// `true` if the payload has only the start of the tool's input.
    pub fn has_cut_input(&self, payload: &RawJson) -> bool {
        self.payload.cut_input.is_some_and(|field| at(payload, field).is_some_and(|entry| entry.value() == "true"))
    }

    fn find_name<'p>(&self, find: impl Fn(&str) -> Option<Entry<'p>>) -> Option<Cow<'p, str>> {
        let text = |path: &str| find(path)?.text();
        let usual = || if self.payload.event.is_empty() { None } else { text(self.payload.event) };
        let row = self
            .events
            .iter()
            .find(|row| row.event_field.is_some_and(|(place, name)| text(place).is_some_and(|text| text == name)));
        row.map(|row| Cow::Borrowed(row.name)).or_else(usual)
    }

    /// Lists the fields of payloads at events of this kind.
    pub fn fields_at(&self, kind: &EventKind) -> impl Iterator<Item = &'static FieldRow> + use<> {
        self.fields_of(self.row(kind))
    }

    /// Lists the fields of payloads of this event. `None`: those of all events.
    pub fn fields_of(&self, row: Option<&'static EventRow>) -> impl Iterator<Item = &'static FieldRow> + use<> {
        let common = row.and_then(|row| row.replaces_common_fields).unwrap_or(self.payload.fields);
        common.iter().chain(row.map_or(&[][..], |row| row.fields))
    }

    /// Returns the kind of event with this name, in the dialect's spelling or in checkrein's.
    ///
    /// # Errors
    /// An unknown name.
    pub fn kind_named(&self, name: &str) -> Result<EventKind, crate::UnknownEvent> {
        self.kind_of(name).cloned().or_else(|unknown| name.parse().map_err(|_| unknown))
    }
}

/// Reason why a payload is not an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// The payload is not an object.
    #[error("the payload should be a JSON object, but is {0}")]
    NotAnObject(JsonType),
    /// The payload does not contain the name of the event.
    #[error("the payload does not name its event{}, and no name was given", in_field(.field))]
    NoName {
        /// Field for the name. Empty: payloads of the agent do not have one.
        field: &'static str,
    },
    /// The dialect does not have the event.
    #[error(transparent)]
    Unknown(#[from] crate::UnknownEvent),
    /// A field is missing or invalid.
    #[error(transparent)]
    Field(#[from] DecodeError),
    /// The payload is not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
}

fn in_field(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!(" in `{field}`") }
}

/// Returns a field of an event as text, by checkrein's name for it. Strings stay unchanged; other values are JSON. Dots lead into
/// JSON.
pub fn text_at(event: &Event, path: &str) -> Option<String> {
    let json = if path.contains('.') { part_of(event, path)? } else { event.field(path)?.to_json() };
    Some(json.as_text().map_or_else(|| json.as_str().to_owned(), Cow::into_owned))
}

/// Returns a part of a field. Parts of a tool's input have canonical names.
fn part_of(event: &Event, path: &str) -> Option<RawJson> {
    let (field, inside) = path.split_once('.')?;
    match (field, canonical_input(event)) {
        ("tool_input", Some(input)) => Some(at(&input, inside)?.to_json()),
        _ => Some(at(&event.field(field)?.to_json(), inside)?.to_json()),
    }
}

/// Returns a field of the payload or the envelope.
fn find_field(kind: &EventKind, name: &str) -> Option<&'static FieldInfo> {
    kind.fields().iter().chain(Envelope::fields()).find(|info| info.name == name)
}

/// `true` if a value has the canonical type of the field, or is `null`, which means that the field is absent.
fn fits(info: &FieldInfo, value: &FieldValue<'_>) -> bool {
    match info.json {
        _ if value.json_type() == JsonType::Null => true,
        "a string" => value.json_type() == JsonType::String,
        "true or false" => value.json_type() == JsonType::Boolean,
        "a whole number" => value.as_str().parse::<u64>().is_ok(),
        _ => true,
    }
}

/// Objects whose members are separate fields in the payload.
#[derive(Default)]
struct NestedFields(Vec<(&'static str, Vec<String>)>);

impl NestedFields {
    fn put(&mut self, whole: &'static str, key: &str, value: Option<&FieldValue<'_>>) {
        let at = self.0.iter().position(|(have, _)| *have == whole).unwrap_or_else(|| {
            self.0.push((whole, Vec::new()));
            self.0.len() - 1
        });
        self.0[at].1.extend(value.map(|value| format!("{}:{}", RawJson::string(key), value.as_str())));
    }

    fn finish(self, out: &mut EventFields<'_>) {
        for (whole, members) in self.0 {
            if let Ok(json) = RawJson::parse(format!("{{{}}}", members.join(","))) {
                out.add(whole, FieldValue::Made(json), None);
            }
        }
    }
}

fn write(row: &'static FieldRow, field: Option<Field<'_>>, out: &mut ObjectWriter<'_>) {
    // The first of several rows for one name applies.
    if matches!(row.absent, Absent::Implied(_)) || out.has(row.name) {
        return;
    }
    let Some(field) = field else {
        if let Absent::Json(json) = row.absent {
            out.raw(row.name, json);
        }
        return;
    };
    match row.absent {
        Absent::OmittedIfEmpty if is_empty(&field) => return,
        Absent::OmittedIfVoid if is_empty(&field) || is_void(&field) => return,
        _ => {}
    }
    match (row.form, field) {
        (FieldEncoding::Same | FieldEncoding::OrJsonText | FieldEncoding::Text, Field::Text(text)) => {
            out.text(row.name, text);
        }
        (FieldEncoding::Same | FieldEncoding::OrJsonText, Field::Json(json)) => out.json(row.name, json),
        (FieldEncoding::Same | FieldEncoding::OrJsonText, field) => out.json(row.name, &field.to_json()),
        (FieldEncoding::Text, Field::Json(json)) => match json.as_text() {
            Some(text) => out.text(row.name, &text),
            None => out.text(row.name, json.as_str()),
        },
        (FieldEncoding::JsonText | FieldEncoding::Text, field) => out.text(row.name, field.to_json().as_str()),
        (FieldEncoding::TextValues, field) => {
            out.json(row.name, &with_values(&field.to_json(), |value| Some(RawJson::string(value))));
        }
        (FieldEncoding::TextIn(_), Field::Json(json)) if json.json_type() != JsonType::String => {
            out.json(row.name, json);
        }
        (FieldEncoding::TextIn(inside), field) => {
            out.raw(row.name, &format!("{{{}:{}}}", RawJson::string(inside), field.to_json()));
        }
        (FieldEncoding::First, field) => out.raw(row.name, &format!("[{}]", field.to_json())),
    }
}

fn is_empty(field: &Field<'_>) -> bool {
    match field {
        Field::Text(text) => text.is_empty(),
        Field::Count(count) => *count == 0,
        Field::Flag(flag) => !flag,
        Field::Json(json) => matches!(json.as_str().trim_ascii(), "null" | "\"\"" | "0" | "false"),
    }
}

fn is_void(field: &Field<'_>) -> bool {
    match field {
        Field::Json(json) => {
            json.entries().is_some_and(|mut entries| entries.next().is_none())
                || json.items().is_some_and(|mut items| items.next().is_none())
        }
        _ => false,
    }
}

/// Returns the JSON inside a string. A string without JSON stays a string. Text that starts like an object or an array and is
/// invalid or ambiguous is dropped, because another parser could read it differently.
fn embedded_json(value: &str) -> Option<FieldValue<'_>> {
    let Some(text) = RawJson::text_of(value) else { return Some(FieldValue::Part(value)) };
    match RawJson::parse(text.as_ref()) {
        Ok(json) => Some(FieldValue::Made(json)),
        Err(_) if text.trim_ascii_start().starts_with(['{', '[']) => None,
        Err(_) => Some(FieldValue::Part(value)),
    }
}

/// Reads a field from an agent's payload: the reverse of [`write`].
fn read<'p>(row: &FieldRow, entry: Option<&Entry<'p>>, required: Option<&FieldInfo>) -> Option<FieldValue<'p>> {
    let Some(entry) = entry else {
        return match (row.absent, required) {
            (Absent::Json("null"), None) => None,
            (Absent::Json(json) | Absent::Implied(json), _) => Some(FieldValue::Part(json)),
            // The field is absent because it is empty.
            (Absent::OmittedIfEmpty | Absent::OmittedIfVoid, Some(info)) => match info.json {
                "a string" => Some(FieldValue::Part("\"\"")),
                _ => Some(FieldValue::Part("{}")),
            },
            _ => None,
        };
    };
    let value = entry.value();
    // The value that the dialect writes for an absent field means that it is absent.
    if required.is_none() && row.absent == Absent::Json("null") && value == "null" {
        return None;
    }
    match row.form {
        FieldEncoding::Same | FieldEncoding::Text => Some(FieldValue::Part(value)),
        FieldEncoding::OrJsonText => {
            let is_object = entry.text().is_some_and(|text| text.trim_ascii_start().starts_with('{'));
            if is_object { embedded_json(value) } else { Some(FieldValue::Part(value)) }
        }
        FieldEncoding::JsonText => embedded_json(value),
        FieldEncoding::TextValues => {
            let parse = |value: &str| RawJson::parse(RawJson::text_of(value)?.as_ref()).ok();
            Some(FieldValue::Made(with_values(&entry.to_json(), parse)))
        }
        FieldEncoding::First => {
            entry.to_json().items()?.next().and_then(|first| RawJson::parse(first).ok()).map(FieldValue::Made)
        }
        FieldEncoding::TextIn(inside) => {
            let Some(mut entries) = entry.entries() else { return Some(FieldValue::Part(value)) };
            let first = entries.next();
            match (first, entries.next()) {
                (Some(only), None) if only.key() == inside => Some(FieldValue::Part(only.value())),
                _ => Some(FieldValue::Part(value)),
            }
        }
    }
}

/// Returns the object with each value replaced. `None` of `make` keeps a value.
fn with_values(json: &RawJson, make: impl Fn(&str) -> Option<RawJson>) -> RawJson {
    let Some(entries) = json.entries() else { return json.clone() };
    let members: Vec<_> = entries
        .map(|entry| {
            let value = make(entry.value()).map_or_else(|| entry.value().to_owned(), |made| made.as_str().to_owned());
            format!("{}:{value}", RawJson::string(&entry.key()))
        })
        .collect();
    RawJson::parse(format!("{{{}}}", members.join(","))).unwrap_or_else(|_| json.clone())
}
