//! JSON schemas of config files, payloads, answers and all `--json` outputs, for editors and other tools. `checkrein schema`
//! prints them, and `schemas/` holds copies.
//!
//! They are generated from the tables and types that the engine uses. A schema must never be written by hand if a table exists.
//!
//! ```
//! let schema = checkrein_tools::schema::config();
//! assert!(schema["properties"]["hooks"].is_object());
//! ```

mod outputs;
mod payload;
mod rule;

pub use outputs::{
    bench, check, convert, doctor, effective, events, explain, facts, init, install, list, packs, say, serve_status,
    status, trust, trust_done, trust_lock, try_call,
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
    /// Name, such as `config`.
    pub name: &'static str,
    /// Description in a few words.
    pub about: &'static str,
    /// Function that generates the schema.
    pub make: fn() -> Value,
}

/// All schemas without parameters.
pub const ALL: &[Schema] = &[
    Schema { name: "config", about: "config files", make: config },
    Schema { name: "event", about: "payloads of hooks", make: event },
    Schema { name: "answer", about: "answers of hooks", make: answer },
    Schema { name: "record", about: "output of `run --json`; a list with several --as", make: record },
    Schema { name: "session", about: "scripts for `simulate`", make: session },
    Schema { name: "test-cases", about: "test files for `test`", make: test_cases },
    Schema { name: "test-report", about: "output of `test --json`", make: test_report },
    Schema { name: "approval", about: "a question that waits for the user, and its answer", make: approval },
    Schema { name: "approvals", about: "output of `approvals --json`", make: approvals },
    Schema { name: "audit-line", about: "lines of the audit log", make: audit_line },
    Schema { name: "audit", about: "output of `audit --json`: result of `verify`, or a list of lines", make: audit },
    Schema { name: "audit-dry-runs", about: "output of `audit dry-runs --json`", make: audit_dry_runs },
    Schema { name: "log-line", about: "lines of the decision log, and of `log --follow --json`", make: log_line },
    Schema { name: "log", about: "output of `log --json`", make: log },
    Schema { name: "serve-status", about: "output of `serve status --json`", make: serve_status },
    Schema { name: "coverage", about: "output of `coverage --json`", make: coverage },
    Schema { name: "recording", about: "lines of recordings of `record`", make: recording },
    Schema { name: "record-status", about: "output of `record --json`", make: record_status },
    Schema { name: "replay", about: "output of `replay --json`", make: replay },
    Schema { name: "explain", about: "output of `explain --json`", make: explain },
    Schema { name: "facts", about: "output of `facts`", make: facts },
    Schema { name: "packs", about: "output of `packs --json`: a list, or one pack with `show`", make: packs },
    Schema { name: "try", about: "output of `try --json`", make: try_call },
    Schema { name: "bench", about: "output of `bench --json`", make: bench },
    Schema { name: "list", about: "output of `list --json`", make: list },
    Schema { name: "check", about: "output of `check --json`", make: check },
    Schema { name: "convert", about: "output of `convert --json`", make: convert },
    Schema { name: "init", about: "output of `init --json`", make: init },
    Schema { name: "install", about: "output of `install --json` and `uninstall --json`", make: install },
    Schema { name: "trust", about: "output of `trust list --json` and `trust check --json`", make: trust },
    Schema {
        name: "trust-done",
        about: "output of `trust approve --json` and `trust revoke --json`",
        make: trust_done,
    },
    Schema { name: "trust-lock", about: "output of `trust lock --json`", make: trust_lock },
    Schema { name: "doctor", about: "output of `doctor --json`", make: doctor },
    Schema { name: "status", about: "output of `status --json`", make: status },
    Schema { name: "effective", about: "output of `status --effective --json`", make: effective },
    Schema { name: "events", about: "output of `events --json`", make: events },
    Schema { name: "say", about: "output of `say --json`", make: say },
];

/// Finds the schema with this name.
pub fn find(name: &str) -> Option<&'static Schema> {
    ALL.iter().find(|schema| schema.name == name)
}

/// Schema of the key `approval_webhook`.
fn approval_webhook() -> Value {
    json!({
        "type": "object",
        "description": "Endpoint that the resident process tells about questions that wait for you. Managed and user files only.",
        "properties": {
            "url": { "type": "string" },
            "secret": { "type": "string", "description": "Secret of the signatures (Standard Webhooks). `$NAME` is replaced by a variable of `allowedEnvVars`. Without a secret, requests are not signed, and no answer is accepted." },
            "secret_file": { "type": "string", "description": "File with the secret, which only you can read. An absolute path, or one that starts with `~/`." },
            "ca_file": { "type": "string" },
            "allowedEnvVars": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["url"],
        "additionalProperties": false,
    })
}

/// Schema of config files.
pub fn config() -> Value {
    let shape = native::LAYOUT;
    let hook: Map<String, Value> =
        shape.keys.iter().map(|key| (key.name.to_owned(), key_schema(key, &shape))).collect();
    let mut flat = hook.clone();
    flat.insert(
        "matcher".to_owned(),
        text("Matcher for the subject of the event: names as in `Edit|Write`, or a pattern."),
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
            "allowManagedHooksOnly": flag("`true` runs managed hooks only. Managed files only."),
            "allowedHttpHookUrls": { "type": "array", "items": { "type": "string" }, "description": "Patterns for URLs that HTTP hooks may call." },
            "httpHookAllowedEnvVars": { "type": "array", "items": { "type": "string" }, "description": "Names of variables that HTTP hooks may send." },
            "restrict": restrict(),
            "protect_self": flag("`true` keeps agents from changing checkrein's own files. Default: true. Managed files only."),
            "disable": { "type": "array", "items": { "type": "string" }, "description": "Ids of hooks to disable. A file affects hooks of its own scope and of narrower ones; a local file also affects hooks of its project." },
            "override": overrides(),
            "disableAllHooks": flag("`true` disables all hooks except managed ones."),
            "unguarded_subagents": { "enum": ["ask", "allow"], "description": "Some agents call no hooks for the tools of their sub-agents. `ask` (default): if a hook guards tools, the user is asked before such a sub-agent starts, and it is denied if the agent cannot ask. `allow`: it starts. Managed and user files only." },
            "allow_skip": { "type": "boolean", "description": "`true` allows the variables `CHECKREIN=0` and `CHECKREIN_SKIP` to skip hooks under an agent, too. A project's settings could set them there. Managed and user files only." },
            "approval_webhook": approval_webhook(),
            "resident": flag("`true` lets `checkrein hook` start the resident process when it does not run, except for root and in CI. Default: false. Managed and user files only."),
            "log": flag("`false` turns off the decision log, which `checkrein coverage` and `checkrein log` read. Default: true. Managed and user files only."),
            "approvals": { "enum": ["deny", "wait"], "description": "Calls that hooks ask about, under agents that cannot ask. `deny` (default): the call is denied with the id of an approval, and may be repeated after `checkrein approve ID`. `wait`: the call waits for the answer, up to the agent's own timeout for hooks. Managed and user files only." },
            "deny_by_command": flag("`false` keeps a denied command of Cline from becoming a command that prints the reason and fails. Default: true. Managed and user files only."),
            "dry_run": flag("Makes the hooks of this file and of the files that it includes dry runs: they are recorded and have no effect."),
            "env_allow": { "type": "array", "items": { "type": "string" }, "description": "Names of variables that hooks of other agents get although they look like secrets or make programs load code; `*` for all. Managed and user files only." },
            "warm": { "enum": [true, false, "auto"], "description": "Use of warm interpreters by the hooks of this file. Default: `auto`." },
            "trusted_paths": { "type": "array", "items": { "type": "string" }, "description": "Directories whose project hooks run without approval; `~` is the home directory. Managed and user files only." },
            "trusted_keys": { "type": "array", "items": { "type": "string" }, "description": "SSH keys (ssh-ed25519) whose signature of a project's checkrein.lock approves the hooks in it. Managed and user files only." },
            "compat": { "enum": ["safe", "exact"], "description": "`exact` follows an agent's rules even where they are not safe." },
            "audit": {
                "description": "Audit log of all decisions. Managed and user files only.",
                "anyOf": [
                    { "type": "boolean" },
                    {
                        "type": "object",
                        "properties": {
                            "path": text("Log file; `%u` is the name of the user. Default: $XDG_STATE_HOME/checkrein/audit.jsonl."),
                            "on_failure": { "enum": ["open", "closed"], "description": "Effect at gates if the log cannot be written: `closed` denies." },
                            "max_size": { "type": ["integer", "string"], "description": "Largest size of a log file before rotation: bytes, or a size such as 64MiB." },
                            "max_age": text("Largest age of the first line of a log file before rotation: 30d, 12h."),
                        },
                        "additionalProperties": false,
                    },
                ],
            },
            "include": {
                "description": "Files of other agents whose hooks run too.",
                "anyOf": [
                    { "$ref": "#/$defs/include" },
                    { "type": "array", "items": { "$ref": "#/$defs/include" } },
                ],
            },
            "packs": rule::packs(),
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
                    { "type": "string", "description": "Dialect whose files are all included." },
                    {
                        "type": "object",
                        "properties": {
                            "dialect": { "type": "string" },
                            "path": { "type": "string" },
                            "on_failure": { "enum": ["open", "closed", "ask"] },
                            "dry_run": flag("Makes the hooks of the included files dry runs: they are recorded and have no effect."),
                            "env_allow": { "type": "array", "items": { "type": "string" }, "description": "Names of variables that the included hooks get although they look like secrets or make programs load code; `*` for all." },
                            "under_own_agent": flag("`true` runs the included hooks even under the agent that owns the files and runs them itself."),
                        },
                        "required": ["dialect"],
                        "additionalProperties": false,
                    },
                ],
            },
        },
    })
}

/// Schema of `restrict`.
fn restrict() -> Value {
    let keys = config::RESTRICT_KEYS.iter().map(|key| {
        let word = if key.words.is_empty() { json!({ "type": "string" }) } else { json!({ "enum": key.words }) };
        (key.name.to_owned(), json!({ "type": "array", "items": word, "description": key.about }))
    });
    let keys: Map<String, Value> = keys.collect();
    json!({
        "type": "object",
        "description": "Restrictions for hooks that are not managed. Managed files only.",
        "properties": keys,
        "additionalProperties": false,
    })
}

fn overrides() -> Value {
    let policy = |about: &str| json!({ "enum": ["open", "closed", "ask"], "description": about });
    json!({
        "type": "object",
        "description": "Changes of hooks by id, of those that `disable` could disable.",
        "additionalProperties": {
            "type": "object",
            "properties": {
                "dry_run": flag("`true` makes the hook a dry run."),
                "on_failure": policy("Effect of its failures."),
                "on_timeout": policy("Effect of its timeouts."),
            },
            "additionalProperties": false,
        },
    })
}

/// Schema of native payloads: one definition per event, under `$defs`.
pub fn event() -> Value {
    let events: Map<String, Value> = EventKind::ALL
        .iter()
        .map(|kind| {
            let fields = Envelope::fields().iter().chain(kind.fields());
            let mut properties: Map<String, Value> =
                fields.map(|field| (field.name.to_owned(), field_schema(field))).collect();
            properties.insert("event".to_owned(), json!({ "const": kind.name() }));
            let name = native::DIALECT.name_of(kind).unwrap_or(kind.name());
            properties.insert("hook_event_name".to_owned(), json!({ "const": name }));
            let required = kind.fields().iter().filter(|field| field.required).map(|field| field.name);
            let required: Vec<_> = ["event", "hook_event_name"].into_iter().chain(required).collect();
            (kind.name().to_owned(), json!({ "type": "object", "properties": properties, "required": required }))
        })
        .collect();
    let all: Vec<_> = events.keys().map(|name| json!({ "$ref": format!("#/$defs/{name}") })).collect();
    json!({ "$schema": DRAFT, "title": "Payload of a checkrein hook", "oneOf": all, "$defs": events })
}

/// Schema of answers of native hooks.
pub fn answer() -> Value {
    let mut root = json!({ "type": "object", "properties": {} });
    for key in native::DIALECT.reply.keys {
        for path in key.paths {
            put(&mut root, path, meaning_schema(key.means));
        }
    }
    let Value::Object(mut root) = root else { return Value::Null };
    root.insert("$schema".to_owned(), DRAFT.into());
    root.insert("title".to_owned(), "Answer of a checkrein hook".into());
    Value::Object(root)
}

/// Schema of the record of one event.
pub fn record() -> Value {
    titled(schemars::schema_for!(Record), "Record of one event")
}

/// Schema of scripts for `checkrein simulate`.
pub fn session() -> Value {
    let object = |fields: &[FieldInfo]| {
        let all = fields.iter().chain(Envelope::fields());
        let properties: Map<String, Value> = all.map(|field| (field.name.to_owned(), field_schema(field))).collect();
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
    let fields = json!({ "type": "object", "description": "Fields of the event. Missing fields have sample values." });
    let event = json!({ "enum": names, "description": "Event to fire." });
    steps.push(step(json!({ "event": event, "fields": fields }), "event"));
    json!({
        "$schema": DRAFT,
        "title": "Script for checkrein simulate",
        "type": "object",
        "properties": {
            "$schema": { "type": "string" },
            "description": text("Description for the reader."),
            "session": object(&[]),
            "steps": { "type": "array", "items": { "oneOf": steps } },
        },
        "required": ["steps"],
        "additionalProperties": false,
    })
}

/// Schema of test files.
pub fn test_cases() -> Value {
    crate::hook_tests::schema()
}

/// Schema of the output of `test --json`.
pub fn test_report() -> Value {
    titled(schemars::schema_for!(crate::hook_tests::TestReport), "Report of hook tests")
}

/// Schema of a line of the decision log.
pub fn log_line() -> Value {
    titled(schemars::schema_for!(crate::decision_log::DecisionEntry), "One line of the decision log")
}

/// Schema of the output of `log --json`.
pub fn log() -> Value {
    titled(schemars::schema_for!(Vec<crate::decision_log::DecisionEntry>), "Lines of the decision log, oldest first")
}

/// Schema of the output of `coverage --json`.
pub fn coverage() -> Value {
    titled(schemars::schema_for!(crate::coverage::Report), "Coverage: which tool calls of agents were judged")
}

/// Schema of an approval.
pub fn approval() -> Value {
    titled(schemars::schema_for!(crate::approvals::Approval), "A question of hooks that waits for the user's answer")
}

/// Schema of the output of `approvals --json`.
pub fn approvals() -> Value {
    titled(schemars::schema_for!(Vec<crate::approvals::Approval>), "Approvals, newest first")
}

/// Schema of a line of the audit log.
pub fn audit_line() -> Value {
    let mut line = titled(schemars::schema_for!(checkrein::audit::AuditEntry), "One line of the audit log");
    let hash = || json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" });
    for (key, mut schema, about) in [
        ("prev", hash(), "Hash of the previous line."),
        ("seq", json!({ "type": "integer", "minimum": 1 }), "Sequence number."),
        ("hash", hash(), "SHA-256 of all bytes of the line before `,\"hash\":`."),
    ] {
        schema["description"] = about.into();
        line["properties"][key] = schema;
        if let Value::Array(required) = &mut line["required"] {
            required.push(key.into());
        }
    }
    line
}

/// Schema of the output of `audit --json`.
pub fn audit() -> Value {
    let found = schemars::schema_for!(checkrein::audit::Verification).to_value();
    let mut line = audit_line();
    let mut root = json!({ "$schema": DRAFT, "title": "Result of `verify`, or lines of the audit log" });
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

/// Schema of the output of `audit dry-runs --json`.
pub fn audit_dry_runs() -> Value {
    titled(schemars::schema_for!(checkrein::audit::DryRunReport), "Effects that dry-run hooks would have had")
}

/// Schema of a line of a recording.
pub fn recording() -> Value {
    titled(schemars::schema_for!(crate::recording::RecordedEvent), "One line of a recording")
}

/// Schema of the output of `record --json`.
pub fn record_status() -> Value {
    titled(schemars::schema_for!(crate::recording::Status), "Status of recording")
}

/// Schema of the output of `replay --json`.
pub fn replay() -> Value {
    titled(schemars::schema_for!(crate::recording::ReplayReport), "Result of a replay")
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

fn key_schema(key: &HookKey, shape: &config::HookFileLayout) -> Value {
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
        Attribute::Warm => json!({ "enum": [true, false, "auto"] }),
        Attribute::Sandbox => sandbox_schema(),
        Attribute::OfRule(key) => return rule::key(key),
        Attribute::Setting => json!({}),
        _ => json!({ "type": "string" }),
    };
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), key.says.label().into());
    }
    schema
}

/// Schema of a sandbox.
fn sandbox_schema() -> Value {
    let limit = |limit: Value| json!({ "anyOf": [limit, { "const": config::UNLIMITED }] });
    let keys = config::SANDBOX_KEYS.iter().map(|(name, key, words)| {
        let mut schema = match key {
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

fn field_schema(field: &FieldInfo) -> Value {
    match field.json {
        "a string" => json!({ "type": "string" }),
        "a whole number" => json!({ "type": "integer", "minimum": 0 }),
        "true or false" => json!({ "type": "boolean" }),
        "an object" => json!({ "type": "object" }),
        _ => json!(true),
    }
}

fn meaning_schema(means: KeyMeaning) -> Value {
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

/// Inserts a schema at a path of keys.
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
