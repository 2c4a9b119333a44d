//! JSON schemas, made from the same tables and types that the engine uses: for editors, and for tools that write configs or
//! read records.
//!
//! ```
//! let schema = checkrein_tools::schema::config();
//! assert!(schema["properties"]["hooks"].is_object());
//! ```

mod outputs;
mod payload;

pub use outputs::{
    bench, check, convert, effective, events, explain, init, install, list, say, status, trust, trust_done, trust_lock,
};
pub use payload::payload;

use checkrein_core::payload::FieldInfo;
use checkrein_core::{Envelope, EventKind, Record};
use checkrein_dialects::FileAccess;
use checkrein_dialects::agents::native;
use checkrein_dialects::config::{self, Attribute, HookKey};
use checkrein_dialects::reply::KeyMeaning;
use serde_json::{Map, Value, json};

use crate::simulate::{Answer, KeyType, LEADS, TOOL_KEYS};

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema that is part of the distribution.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Schema {
    /// What it is called: `config`.
    pub name: &'static str,
    /// What it is of, in a few words.
    pub about: &'static str,
    /// Makes it.
    pub make: fn() -> Value,
}

/// Every schema that needs no further choice.
pub const ALL: &[Schema] = &[
    Schema { name: "config", about: "config files", make: config },
    Schema { name: "event", about: "what hooks are given", make: event },
    Schema { name: "answer", about: "what hooks answer", make: answer },
    Schema { name: "record", about: "what `run --json` prints; a list of them with --as more than once", make: record },
    Schema { name: "session", about: "scripts of sessions, for `simulate`", make: session },
    Schema { name: "test-cases", about: "files with cases, for `test`", make: test_cases },
    Schema { name: "test-report", about: "what `test --json` prints", make: test_report },
    Schema { name: "audit-line", about: "lines of the audit log", make: audit_line },
    Schema { name: "audit", about: "what `audit --json` prints: what `verify` found, or a list of lines", make: audit },
    Schema { name: "audit-dry-runs", about: "output of `audit dry-runs --json`", make: audit_dry_runs },
    Schema { name: "recording", about: "lines of recordings, as `record` keeps them", make: recording },
    Schema { name: "record-status", about: "what `record --json` prints", make: record_status },
    Schema { name: "replay", about: "what `replay --json` prints", make: replay },
    Schema { name: "explain", about: "what `explain --json` prints", make: explain },
    Schema { name: "bench", about: "what `bench --json` prints", make: bench },
    Schema { name: "list", about: "what `list --json` prints", make: list },
    Schema { name: "check", about: "what `check --json` prints", make: check },
    Schema { name: "convert", about: "what `convert --json` prints", make: convert },
    Schema { name: "init", about: "what `init --json` prints", make: init },
    Schema { name: "install", about: "what `install --json` and `uninstall --json` print", make: install },
    Schema { name: "trust", about: "what `trust list --json` and `trust check --json` print", make: trust },
    Schema {
        name: "trust-done",
        about: "what `trust approve --json` and `trust revoke --json` print",
        make: trust_done,
    },
    Schema { name: "trust-lock", about: "what `trust lock --json` prints", make: trust_lock },
    Schema { name: "status", about: "what `status --json` prints", make: status },
    Schema { name: "effective", about: "what `status --effective --json` prints", make: effective },
    Schema { name: "events", about: "what `events --json` prints", make: events },
    Schema { name: "say", about: "what `say --json` prints", make: say },
];

/// The schema of this name.
pub fn find(name: &str) -> Option<&'static Schema> {
    ALL.iter().find(|schema| schema.name == name)
}

/// Config files.
pub fn config() -> Value {
    let shape = native::SHAPE;
    let hook: Map<String, Value> = shape.keys.iter().map(|key| (key.name.to_owned(), of_key(key, &shape))).collect();
    let mut flat = hook.clone();
    flat.insert(
        "matcher".to_owned(),
        text("What the subject of the event must fit: names as in `Edit|Write`, or a pattern."),
    );
    let mut listed = flat.clone();
    listed.insert("event".to_owned(), json!({ "$ref": "#/$defs/event" }));
    let events =
        json!({ "anyOf": [{ "$ref": "#/$defs/event" }, { "type": "array", "items": { "$ref": "#/$defs/event" } }] });
    listed.insert("events".to_owned(), events);
    let group = json!({
        "type": "object",
        "properties": {
            "matcher": flat["matcher"],
            "hooks": { "type": "array", "items": { "$ref": "#/$defs/hook" } },
        },
        "required": ["hooks"],
        "additionalProperties": false,
    });
    let handlers: Vec<_> = shape.handlers.iter().map(|row| json!({ "required": row.needs })).collect();
    let flat = json!({ "type": "object", "properties": flat, "anyOf": handlers, "additionalProperties": false });
    let one = json!({ "anyOf": [{ "$ref": "#/$defs/group" }, { "$ref": "#/$defs/flat_hook" }] });
    let of_event = json!({ "anyOf": [one, { "type": "array", "items": one }] });
    let names: Vec<_> = event_names().collect();
    let by_event: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({ "$ref": "#/$defs/of_event" }))).collect();
    json!({
        "$schema": DRAFT,
        "title": "checkrein hooks",
        "type": "object",
        "properties": {
            "$schema": { "type": "string" },
            "version": { "type": ["string", "integer"] },
            "description": { "type": "string" },
            "allowManagedHooksOnly": flag("Whether only hooks that an administrator has set run; counts in managed files."),
            "allowedHttpHookUrls": { "type": "array", "items": { "type": "string" }, "description": "Patterns of the URLs that hooks may call." },
            "httpHookAllowedEnvVars": { "type": "array", "items": { "type": "string" }, "description": "Names of variables that hooks may send." },
            "restrict": restrict(),
            "protect_self": flag("Whether checkrein's own files are kept from agents; true if nothing is said. Counts in managed files."),
            "disableAllHooks": flag("Whether no hooks run, but for those that an administrator has set."),
            "allow_skip": { "type": "boolean", "description": "Whether `CHECKREIN=0` and `CHECKREIN_SKIP` count under an agent, whose project could set them. Only in files of the user and the administrator." },
            "dry_run": flag("Makes the hooks of this file and of the files that it includes dry runs: they are recorded and have no effect."),
            "env_allow": { "type": "array", "items": { "type": "string" }, "description": "Names of variables that hooks of other agents get although they look like secrets or make programs load something else; `*` for all. Only in files of the user and the administrator." },
            "trusted_paths": { "type": "array", "items": { "type": "string" }, "description": "Directories whose projects' hooks run without approval; `~` is the home directory. Only in files of the user and the administrator." },
            "trusted_keys": { "type": "array", "items": { "type": "string" }, "description": "SSH keys (ssh-ed25519) whose signature under a project's checkrein.lock approves the hooks in it. Only in files of the user and the administrator." },
            "compat": { "enum": ["safe", "exact"], "description": "Whether an agent's rules are followed where they are not safe." },
            "audit": {
                "description": "Where what hooks decide is written down; counts in files of the user and in managed ones.",
                "anyOf": [
                    { "type": "boolean" },
                    {
                        "type": "object",
                        "properties": {
                            "path": text("The file; $XDG_STATE_HOME/checkrein/audit.jsonl if nothing is said."),
                            "on_failure": { "enum": ["open", "closed"], "description": "What is done at gates if nothing can be written." },
                            "max_size": { "type": ["integer", "string"], "description": "How large a file may get: bytes, or as in 64MiB." },
                            "max_age": text("How old the first line of a file may get: 30d, 12h."),
                        },
                        "additionalProperties": false,
                    },
                ],
            },
            "include": {
                "description": "Files of other agents whose hooks run as well.",
                "anyOf": [
                    { "$ref": "#/$defs/include" },
                    { "type": "array", "items": { "$ref": "#/$defs/include" } },
                ],
            },
            "hooks": {
                "anyOf": [
                    { "type": "object", "properties": by_event, "additionalProperties": false },
                    { "type": "array", "items": { "type": "object", "properties": listed, "anyOf": handlers, "additionalProperties": false } },
                ],
            },
        },
        "additionalProperties": false,
        "$defs": {
            "event": { "enum": names },
            "of_event": of_event,
            "group": group,
            "hook": { "type": "object", "properties": hook, "anyOf": handlers, "additionalProperties": false },
            "flat_hook": flat,
            "include": {
                "anyOf": [
                    { "type": "string", "description": "A dialect: all its files." },
                    {
                        "type": "object",
                        "properties": {
                            "dialect": { "type": "string" },
                            "path": { "type": "string" },
                            "on_failure": { "enum": ["open", "closed", "ask"] },
                            "dry_run": flag("Makes the hooks of the included files dry runs: they are recorded and have no effect."),
                            "env_allow": { "type": "array", "items": { "type": "string" }, "description": "Names of variables that its hooks get although they look like secrets or make programs load something else; `*` for all." },
                            "under_own_agent": flag("Whether its hooks run also under the agent that the files belong to, which runs them itself."),
                        },
                        "required": ["dialect"],
                        "additionalProperties": false,
                    },
                ],
            },
        },
    })
}

/// What hooks of others may be, says an administrator.
fn restrict() -> Value {
    let keys = config::RESTRICT_KEYS.iter().map(|key| {
        let word = if key.words.is_empty() { json!({ "type": "string" }) } else { json!({ "enum": key.words }) };
        (key.name.to_owned(), json!({ "type": "array", "items": word, "description": key.about }))
    });
    let keys: Map<String, Value> = keys.collect();
    json!({
        "type": "object",
        "description": "What hooks that are not the administrator's may be; counts in managed files.",
        "properties": keys,
        "additionalProperties": false,
    })
}

/// What hooks are given: one schema for each event, under `$defs`.
pub fn event() -> Value {
    let events: Map<String, Value> = EventKind::ALL
        .iter()
        .map(|kind| {
            let fields = Envelope::fields().iter().chain(kind.fields());
            let mut properties: Map<String, Value> =
                fields.map(|field| (field.name.to_owned(), of_field(field))).collect();
            properties.insert("event".to_owned(), json!({ "const": kind.name() }));
            let name = native::DIALECT.name_of(kind).unwrap_or(kind.name());
            properties.insert("hook_event_name".to_owned(), json!({ "const": name }));
            let required = kind.fields().iter().filter(|field| field.required).map(|field| field.name);
            let required: Vec<_> = ["event", "hook_event_name"].into_iter().chain(required).collect();
            (kind.name().to_owned(), json!({ "type": "object", "properties": properties, "required": required }))
        })
        .collect();
    let all: Vec<_> = events.keys().map(|name| json!({ "$ref": format!("#/$defs/{name}") })).collect();
    json!({ "$schema": DRAFT, "title": "What a checkrein hook is given", "oneOf": all, "$defs": events })
}

/// What hooks answer.
pub fn answer() -> Value {
    let mut root = json!({ "type": "object", "properties": {} });
    for key in native::DIALECT.reply.keys {
        for path in key.paths {
            put(&mut root, path, of_means(key.means));
        }
    }
    let Value::Object(mut root) = root else { return Value::Null };
    root.insert("$schema".to_owned(), DRAFT.into());
    root.insert("title".to_owned(), "What a checkrein hook answers".into());
    Value::Object(root)
}

/// Everything that happened for one event.
pub fn record() -> Value {
    titled(schemars::schema_for!(Record), "What happened for one event")
}

/// Scripts of sessions, as `checkrein simulate` plays them.
pub fn session() -> Value {
    let object = |fields: &[FieldInfo]| {
        let all = fields.iter().chain(Envelope::fields());
        let properties: Map<String, Value> = all.map(|field| (field.name.to_owned(), of_field(field))).collect();
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    };
    let step = |properties: Value, lead: &str| json!({ "type": "object", "properties": properties, "required": [lead], "additionalProperties": false });
    let mut steps: Vec<_> = LEADS
        .iter()
        .map(|lead| step(json!({ (lead.key): text(lead.about), "fields": object(lead.kind.fields()) }), lead.key))
        .collect();
    let tool: Map<String, Value> = TOOL_KEYS
        .iter()
        .map(|(key, takes, about)| {
            let schema = match takes {
                KeyType::Text => text(about),
                KeyType::Flag => flag(about),
                KeyType::Answer => json!({ "enum": Answer::ALL.map(Answer::name), "description": about }),
                KeyType::Anything => json!({ "description": about }),
            };
            ((*key).to_owned(), schema)
        })
        .collect();
    let mut tool = step(Value::Object(tool), "tool");
    tool["not"] = json!({ "required": ["result", "failure"] });
    steps.push(tool);
    let names: Vec<_> = event_names().collect();
    let fields = json!({ "type": "object", "description": "Its fields. What is absent is made up." });
    let event = json!({ "enum": names, "description": "Any other event is fired." });
    steps.push(step(json!({ "event": event, "fields": fields }), "event"));
    json!({
        "$schema": DRAFT,
        "title": "A session that checkrein plays",
        "type": "object",
        "properties": {
            "$schema": { "type": "string" },
            "description": text("What it is about."),
            "session": object(&[]),
            "steps": { "type": "array", "items": { "oneOf": steps } },
        },
        "required": ["steps"],
        "additionalProperties": false,
    })
}

/// Files with cases for hooks.
pub fn test_cases() -> Value {
    crate::hook_tests::schema()
}

/// What came of cases and probes.
pub fn test_report() -> Value {
    titled(schemars::schema_for!(crate::hook_tests::TestReport), "What came of tests of hooks")
}

/// Lines of the audit log.
pub fn audit_line() -> Value {
    let mut line = titled(schemars::schema_for!(checkrein::audit::AuditEntry), "One line of the audit log");
    let hash = || json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" });
    for (key, mut schema, about) in [
        ("prev", hash(), "The hash of the line before it."),
        ("seq", json!({ "type": "integer", "minimum": 1 }), "Its number."),
        ("hash", hash(), "The SHA-256 of all bytes of the line in front of `,\"hash\":`."),
    ] {
        schema["description"] = about.into();
        line["properties"][key] = schema;
        if let Value::Array(required) = &mut line["required"] {
            required.push(key.into());
        }
    }
    line
}

/// What `audit --json` prints.
pub fn audit() -> Value {
    let found = schemars::schema_for!(checkrein::audit::Verification).to_value();
    let mut line = audit_line();
    let mut root = json!({ "$schema": DRAFT, "title": "What `verify` found, or lines of the audit log" });
    let mut definitions = Map::new();
    let mut found = found;
    for schema in [&mut found, &mut line] {
        if let Value::Object(schema) = schema {
            schema.remove("$schema");
            if let Some(Value::Object(inner)) = schema.remove("$defs") {
                definitions.extend(inner);
            }
        }
    }
    root["anyOf"] = json!([found, { "type": "array", "items": line }]);
    root["$defs"] = Value::Object(definitions);
    root
}

/// Output of `audit dry-runs --json`.
pub fn audit_dry_runs() -> Value {
    titled(schemars::schema_for!(checkrein::audit::DryRunReport), "Effects that dry-run hooks would have had")
}

/// Lines of recordings.
pub fn recording() -> Value {
    titled(schemars::schema_for!(crate::recording::RecordedEvent), "One line of a recording")
}

/// Whether events are recorded.
pub fn record_status() -> Value {
    titled(schemars::schema_for!(crate::recording::Status), "Whether events are recorded, and where to")
}

/// What came of a recording that was fired again.
pub fn replay() -> Value {
    titled(schemars::schema_for!(crate::recording::ReplayReport), "What came of a recording that was fired again")
}

fn titled(schema: schemars::Schema, title: &str) -> Value {
    let mut schema = schema.to_value();
    if let Value::Object(schema) = &mut schema {
        schema.insert("title".to_owned(), title.into());
    }
    schema
}

fn event_names() -> impl Iterator<Item = String> {
    let known = native::DIALECT.events.iter().map(|row| row.name.to_owned());
    known.chain(EventKind::ALL.iter().map(|kind| kind.name().to_owned()))
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

fn of_key(key: &HookKey, shape: &config::HookFileLayout) -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let pairs = json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } });
    let mut schema = match key.says {
        Attribute::Type => json!({ "enum": shape.handlers.iter().map(|row| row.name).collect::<Vec<_>>() }),
        Attribute::Command => json!({ "anyOf": [{ "type": "string", "minLength": 1 }, texts] }),
        Attribute::Args | Attribute::HeaderVariables | Attribute::EnvAllow => texts,
        Attribute::Headers | Attribute::Env | Attribute::Input => pairs,
        Attribute::Timeout(_) => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Attribute::SignedReply
        | Attribute::Background
        | Attribute::Rewake
        | Attribute::Once
        | Attribute::Enabled
        | Attribute::Rewrites
        | Attribute::DryRun
        | Attribute::Strict => json!({ "type": "boolean" }),
        Attribute::OnFailure(words) | Attribute::OnTimeout(words) => {
            json!({ "enum": words.iter().map(|(word, _)| *word).collect::<Vec<_>>() })
        }
        Attribute::Order => json!({ "type": "integer" }),
        Attribute::Sandbox => of_sandbox(),
        Attribute::Setting => json!({}),
        _ => json!({ "type": "string" }),
    };
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), key.says.label().into());
    }
    schema
}

/// A sandbox in files.
fn of_sandbox() -> Value {
    let limit = |limit: Value| json!({ "anyOf": [limit, { "const": config::UNLIMITED }] });
    let keys = config::SANDBOX_KEYS.iter().map(|(name, says, words)| {
        let mut schema = match says {
            config::SandboxKey::Access => {
                json!({ "enum": FileAccess::ALL.iter().map(|access| access.name()).collect::<Vec<_>>() })
            }
            config::SandboxKey::Paths => json!({ "type": "array", "items": { "type": "string" } }),
            config::SandboxKey::Flag => json!({ "type": "boolean" }),
            config::SandboxKey::Seconds => limit(json!({ "type": "number", "exclusiveMinimum": 0 })),
            config::SandboxKey::Count => limit(json!({ "type": "integer", "minimum": 1 })),
            config::SandboxKey::Bytes => limit(json!({ "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "string", "pattern": "^[0-9]+ *([KMG]iB|[kKMG]?B)$" },
            ] })),
        };
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".to_owned(), (*words).into());
        }
        ((*name).to_owned(), schema)
    });
    let keys: Map<String, Value> = keys.collect();
    json!({ "anyOf": [
        { "type": "boolean" },
        { "const": config::STRICT },
        { "type": "object", "properties": keys, "additionalProperties": false },
    ] })
}

fn of_field(field: &FieldInfo) -> Value {
    match field.json {
        "a string" => json!({ "type": "string" }),
        "a whole number" => json!({ "type": "integer", "minimum": 0 }),
        "true or false" => json!({ "type": "boolean" }),
        "an object" => json!({ "type": "object" }),
        _ => json!(true),
    }
}

fn of_means(means: KeyMeaning) -> Value {
    match means {
        KeyMeaning::Decision(words) => json!({ "enum": words.iter().map(|(word, _)| *word).collect::<Vec<_>>() }),
        KeyMeaning::Flag(..) | KeyMeaning::Suppress => json!({ "type": "boolean" }),
        KeyMeaning::Context => {
            json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
        }
        KeyMeaning::Reason
        | KeyMeaning::StopReason
        | KeyMeaning::Message
        | KeyMeaning::FirstMessage
        | KeyMeaning::EventName => {
            json!({ "type": "string" })
        }
        KeyMeaning::Merge(_) | KeyMeaning::Metadata => json!({ "type": "object" }),
        _ => json!(true),
    }
}

/// Puts a schema at a path of keys.
fn put(object: &mut Value, path: &str, schema: Value) {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let slot = &mut object["properties"][key];
    match rest {
        None => *slot = schema,
        Some(rest) => {
            if slot["properties"].is_null() {
                *slot = json!({ "type": "object", "properties": {} });
            }
            put(slot, rest, schema);
        }
    }
}
