//! Schemas of the `--json` outputs of commands.

use checkrein_core::{Decision, EventKind, FailurePolicy, Scope};
use serde_json::{Map, Value, json};

use super::DRAFT;
use crate::doctor::Level;

/// Object with exactly these fields.
fn object(fields: &[(&str, Value)]) -> Value {
    let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false })
}

fn root(title: &str, schema: Value) -> Value {
    let Value::Object(schema) = schema else { return schema };
    let mut root = Map::new();
    root.insert("$schema".to_owned(), DRAFT.into());
    root.insert("title".to_owned(), title.into());
    root.extend(schema);
    Value::Object(root)
}

fn list_of(item: &Value) -> Value {
    json!({ "type": "array", "items": item })
}

fn or_null(schema: &Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn at_least_0() -> Value {
    json!({ "type": "number", "minimum": 0 })
}

fn event_kind() -> Value {
    // A host may define custom kinds.
    let known: Vec<_> = EventKind::ALL.iter().map(EventKind::name).collect();
    json!({ "type": "string", "examples": known })
}

fn scope() -> Value {
    part(schemars::schema_for!(Scope))
}

fn effect() -> Value {
    part(schemars::schema_for!(FailurePolicy))
}

/// A schema for use inside of another.
fn part(mut schema: schemars::Schema) -> Value {
    schema.remove("$schema");
    schema.to_value()
}

/// Source of a hook.
fn source(more: &[(&str, Value)]) -> Value {
    let line = || or_null(&json!({ "type": "integer", "minimum": 1 }));
    object(&[&[("file", or_null(&text())), ("line", line()), ("scope", scope())][..], more].concat())
}

/// Schema of the output of `facts`. `docs/facts.md` describes the fields.
pub fn facts() -> Value {
    let fields: Map<String, Value> =
        checkrein::facts::names().map(|(name, doc)| (name.to_owned(), json!({ "description": doc }))).collect();
    let required = ["event", "agent", "session", "subagent", "cwd", "project", "home", "user", "now", "history"];
    let schema = json!({ "type": "object", "properties": fields, "required": required, "additionalProperties": false });
    root("Facts about a call", schema)
}

/// Schema of the output of `packs --json`: a list of packs, or one pack with `show`.
pub fn packs() -> Value {
    let rule = object(&[("id", text()), ("description", or_null(&text())), ("decision", text()), ("enabled", flag())]);
    let pack = object(&[
        ("name", text()),
        ("description", text()),
        ("params", json!({ "type": "object" })),
        ("rules", list_of(&rule)),
    ]);
    root("Packs of rules, or one pack with `show`", json!({ "anyOf": [list_of(&pack), pack] }))
}

/// Schema of the output of `try --json`.
pub fn try_call() -> Value {
    let decision = || part(schemars::schema_for!(Decision));
    let hook = object(&[("id", text()), ("source", source(&[]))]);
    let heard = object(&[
        ("decision", decision()),
        ("reason", or_null(&text())),
        ("context", list_of(&text())),
        ("messages", list_of(&text())),
        ("rewrites", flag()),
    ]);
    let answer = object(&[("stdout", text()), ("stderr", text()), ("exit", json!({ "type": "integer" }))]);
    let agent = object(&[
        ("agent", text()),
        ("installed", flag()),
        ("event", event_kind()),
        ("tool", or_null(&text())),
        ("decision", decision()),
        ("reason", or_null(&text())),
        ("failed_closed", flag()),
        ("hook", or_null(&hook)),
        ("rule", or_null(&json!({ "type": "object" }))),
        ("told", heard),
        ("answer", answer),
        ("notes", list_of(&text())),
    ]);
    let skipped = object(&[("agent", text()), ("why", text())]);
    let report = object(&[("examples", flag()), ("agents", list_of(&agent)), ("skipped", list_of(&skipped))]);
    root("Answers of checkrein to one event, by agent", report)
}

/// Schema of the output of `list --json`.
pub fn list() -> Value {
    let event = object(&[
        ("event", event_kind()),
        ("name", or_null(&text())),
        ("timeout_s", at_least_0()),
        ("on_failure", effect()),
        ("on_timeout", effect()),
        ("gate", flag()),
    ]);
    let hook = object(&[
        ("id", text()),
        ("description", or_null(&text())),
        ("dialect", text()),
        ("source", source(&[("column", or_null(&json!({ "type": "integer", "minimum": 1 })))])),
        ("handler", text()),
        ("runs", text()),
        ("sandbox", or_null(&text())),
        ("matcher", text()),
        ("order", json!({ "type": "integer" })),
        ("waited_for", flag()),
        ("dry_run", flag()),
        ("state", text()),
        ("events", list_of(&event)),
    ]);
    let file =
        object(&[("path", text()), ("scope", scope()), ("dialect", text()), ("status", text()), ("hooks", count())]);
    root("All hooks, in the order of their runs", object(&[("hooks", list_of(&hook)), ("files", list_of(&file))]))
}

/// Schema of the output of `trust list --json` and `trust check --json`.
pub fn trust() -> Value {
    let fact = object(&[("label", text()), ("value", or_null(&text()))]);
    let script = object(&[("name", text()), ("path", text()), ("sha256", or_null(&text())), ("changed", flag())]);
    let hook = object(&[
        ("id", text()),
        ("source", source(&[])),
        ("file", text()),
        ("project", text()),
        ("status", json!({ "enum": ["approved", "trusted_path", "lockfile", "new", "changed"] })),
        ("trusted", flag()),
        ("why", or_null(&text())),
        ("events", list_of(&event_kind())),
        ("facts", list_of(&fact)),
        ("scripts", list_of(&script)),
        ("notes", list_of(&text())),
    ]);
    root("Hooks that need approval", object(&[("awaiting", count()), ("hooks", list_of(&hook))]))
}

/// Schema of the output of `trust approve --json` and `trust revoke --json`.
pub fn trust_done() -> Value {
    let hook = object(&[("id", text()), ("file", text())]);
    let done = json!({ "enum": ["approved", "revoked"] });
    root(
        "Hooks that were approved, or whose approvals were revoked",
        object(&[("done", done), ("hooks", list_of(&hook))]),
    )
}

/// Schema of the output of `trust lock --json`.
pub fn trust_lock() -> Value {
    root("Written lockfile", object(&[("path", or_null(&text())), ("hooks", count())]))
}

/// Schema of the output of `explain --json`.
pub fn explain() -> Value {
    let hook = object(&[
        ("id", text()),
        ("source", source(&[])),
        ("handler", text()),
        ("sandbox", or_null(&text())),
        ("matcher", text()),
        ("runs", or_null(&flag())),
        ("dry_run", flag()),
        ("why_not", or_null(&text())),
        ("depends", or_null(&text())),
        ("fails", or_null(&text())),
        ("undecided", or_null(&text())),
        ("rule", or_null(&json!({ "type": "object" }))),
    ]);
    let plan = object(&[("event", event_kind()), ("subject", or_null(&text())), ("hooks", list_of(&hook))]);
    root("Hooks that would run for an event, and reasons why others would not", plan)
}

/// Schema of the output of `check --json`.
pub fn check() -> Value {
    let place = || or_null(&json!({ "type": "integer", "minimum": 1 }));
    let diagnostic = object(&[
        ("severity", json!({ "enum": ["error", "warning"] })),
        ("code", text()),
        ("message", text()),
        ("file", text()),
        ("line", place()),
        ("column", place()),
        ("help", or_null(&text())),
    ]);
    let agent = object(&[
        ("agent", text()),
        ("hooks", count()),
        ("files", count()),
        ("errors", count()),
        ("warnings", count()),
        ("not_approved", count()),
    ]);
    let found = object(&[
        ("errors", count()),
        ("warnings", count()),
        ("diagnostics", list_of(&diagnostic)),
        ("agents", list_of(&agent)),
    ]);
    let rule = object(&[("code", text()), ("help", text()), ("explanation", text())]);
    root("Problems of hooks; with --explain the explanation of a lint", json!({ "anyOf": [found, rule] }))
}

/// Schema of the output of `events --json`.
pub fn events() -> Value {
    let answer = object(&[("stdout", json!(true)), ("stderr", text()), ("exit", json!({ "type": "integer" }))]);
    let evidence = object(&[
        ("known", json!({ "enum": ["observed", "documented", "uncertain"] })),
        ("source", text()),
        ("version", text()),
        ("date", text()),
    ]);
    let event = object(&[
        ("name", text()),
        ("kind", event_kind()),
        ("when", text()),
        ("matched_on", or_null(&text())),
        ("may", list_of(&text())),
        ("timeout_s", at_least_0()),
        ("evidence", or_null(&evidence)),
        ("payload", json!(true)),
        ("answer", answer),
    ]);
    root("All events as a list, or the named event", json!({ "anyOf": [event, list_of(&event)] }))
}

/// Schema of the output of `bench --json`.
pub fn bench() -> Value {
    let times = object(&[
        ("runs", json!({ "type": "integer", "minimum": 1 })),
        ("p50_us", at_least_0()),
        ("p95_us", at_least_0()),
        ("p99_us", at_least_0()),
        ("max_us", at_least_0()),
        ("mean_us", at_least_0()),
    ]);
    let times = or_null(&times);
    let bucket = object(&[("from_us", at_least_0()), ("to_us", at_least_0()), ("count", count())]);
    let hook = object(&[
        ("id", text()),
        ("source", source(&[])),
        ("handler", text()),
        ("time", times.clone()),
        ("failures", count()),
        ("share", json!({ "type": "number", "minimum": 0, "maximum": 1.000_001 })),
        ("times_floor", or_null(&at_least_0())),
        ("warm", times.clone()),
        ("cold_alone", times.clone()),
        ("warm_times_cold", or_null(&at_least_0())),
        ("histogram", list_of(&bucket)),
    ]);
    let event = object(&[
        ("event", event_kind()),
        ("name", or_null(&text())),
        ("subject", or_null(&text())),
        ("time", times.clone()),
        ("hooks", list_of(&hook)),
    ]);
    let left_out = object(&[("id", text()), ("source", source(&[])), ("why", text())]);
    let all = object(&[("floor", times), ("events", list_of(&event)), ("not_measured", list_of(&left_out))]);
    root("Run times of hooks, in microseconds", all)
}

/// Schema of the output of `convert --json`.
pub fn convert() -> Value {
    let converted = object(&[
        ("text", or_null(&text())),
        ("written_to", or_null(&text())),
        ("lost", list_of(&lost())),
        ("gates_lost", count()),
    ]);
    root("Hooks in another format, and conversion losses", converted)
}

/// Schema of a conversion loss.
fn lost() -> Value {
    object(&[("hook", text()), ("source", source(&[])), ("what", text()), ("all", flag()), ("gate", flag())])
}

/// Schema of the output of `init --json`.
pub fn init() -> Value {
    let outcome = json!({ "enum": ["written", "same", "dry-run", "exists", "gates-lost"] });
    let done = object(&[
        ("path", text()),
        ("written", flag()),
        ("outcome", outcome),
        ("why", or_null(&text())),
        ("text", text()),
        ("lost", list_of(&lost())),
        ("gates_lost", count()),
        ("agents", list_of(&text())),
    ]);
    root("Written config file, or the reason why it was not written", done)
}

/// Schema of the output of `install --json` and `uninstall --json`.
pub fn install() -> Value {
    let file = object(&[
        ("path", text()),
        ("done", json!({ "enum": ["written", "removed", "unchanged"] })),
        ("backup", or_null(&text())),
        ("diff", text()),
    ]);
    let outcome = json!({ "enum": ["installed", "uninstalled", "same", "dry-run", "declined", "failed"] });
    let agent = object(&[
        ("agent", text()),
        ("scope", scope()),
        ("outcome", outcome),
        ("why", or_null(&text())),
        ("paste", or_null(&text())),
        ("files", list_of(&file)),
        ("events", list_of(&text())),
        ("notes", list_of(&text())),
    ]);
    root("Changes in the settings of agents, or reasons why there are none", object(&[("agents", list_of(&agent))]))
}

/// Schema of the output of `status --json`.
pub fn status() -> Value {
    let texts = || list_of(&text());
    let place = object(&[
        ("scope", scope()),
        ("path", text()),
        ("state", json!({ "enum": ["absent", "installed", "broken"] })),
        ("why", or_null(&text())),
        ("fine", flag()),
        ("covered", texts()),
        ("missing", texts()),
        ("left_out", texts()),
        ("drift", texts()),
        ("untrusted", texts()),
        ("fails_open", flag()),
        ("needed", flag()),
        ("blocks_on_failure", flag()),
        ("directories", list_of(&object(&[("option", text()), ("path", text())]))),
        ("also_read_by", texts()),
    ]);
    let found = object(&[("program", or_null(&text())), ("version", or_null(&text())), ("directories", texts())]);
    let agent = object(&[
        ("agent", text()),
        ("found", found),
        ("places", list_of(&place)),
        ("by_hand", or_null(&text())),
        ("installed", flag()),
        ("fine", flag()),
        ("switched_off", list_of(&object(&[("path", text()), ("scope", scope()), ("setting", text())]))),
        ("stays_open", or_null(&flag())),
        ("blocked_without_program", flag()),
        ("prompts_blocked_without_program", flag()),
        ("unseen", texts()),
    ]);
    root("Status of each agent", object(&[("agents", list_of(&agent))]))
}

/// Schema of the output of `doctor --json`.
pub fn doctor() -> Value {
    let levels: Vec<_> = Level::ALL.iter().map(|level| level.label()).collect();
    let check =
        object(&[("check", text()), ("level", json!({ "enum": levels })), ("text", text()), ("fix", or_null(&text()))]);
    let section = object(&[
        ("title", text()),
        ("agent", flag()),
        ("installed", flag()),
        ("version", or_null(&text())),
        ("checks", list_of(&check)),
    ]);
    let other = object(&[("agent", text()), ("why", text())]);
    let fix = object(&[("agent", text()), ("files", list_of(&text())), ("failure", or_null(&text()))]);
    let report = object(&[
        ("directory", text()),
        ("fine", flag()),
        ("protected", list_of(&text())),
        ("not_protected", list_of(&other)),
        ("required", list_of(&text())),
        ("problems", count()),
        ("warnings", count()),
        ("fixes", list_of(&fix)),
        ("sections", list_of(&section)),
    ]);
    root("Checks of the setup", report)
}

/// Schema of the output of `say --json`.
pub fn say() -> Value {
    let answer = object(&[
        ("stdout", text()),
        ("stderr", text()),
        ("exit", json!({ "type": "integer" })),
        ("notes", list_of(&text())),
    ]);
    root("Answer of a hook: output and exit code", answer)
}

/// Schema of the output of `status --effective --json`.
pub fn effective() -> Value {
    let line = || or_null(&json!({ "type": "integer", "minimum": 1 }));
    let ownership = object(&[
        ("owner", or_null(&count())),
        ("mode", or_null(&text())),
        ("fine", flag()),
        ("problem", or_null(&text())),
    ]);
    let file = object(&[
        ("path", text()),
        ("scope", scope()),
        ("dialect", text()),
        ("status", text()),
        ("sha256", or_null(&json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" }))),
        ("ownership", or_null(&ownership)),
        ("hooks", count()),
    ]);
    let setting =
        object(&[("key", text()), ("value", json!({})), ("scope", scope()), ("file", text()), ("line", line())]);
    let event =
        object(&[("event", event_kind()), ("gate", flag()), ("on_failure", effect()), ("on_timeout", effect())]);
    let states = ["ready", "disabled", "skipped", "untrusted", "changed", "broken", "not ready"];
    let hook = object(&[
        ("id", text()),
        ("source", source(&[])),
        ("dialect", text()),
        ("handler", text()),
        ("runs", text()),
        ("matcher", text()),
        ("if", or_null(&text())),
        ("input", list_of(&object(&[("field", text()), ("pattern", text())]))),
        ("sandbox", or_null(&text())),
        ("order", json!({ "type": "integer" })),
        ("waited_for", flag()),
        ("dry_run", flag()),
        ("can_block", flag()),
        ("state", json!({ "enum": states })),
        ("why", or_null(&text())),
        ("events", list_of(&event)),
    ]);
    let audit = object(&[
        ("path", or_null(&text())),
        ("on_failure", effect()),
        ("max_size", or_null(&count())),
        ("max_age_s", or_null(&count())),
    ]);
    let diagnostic = object(&[
        ("severity", json!({ "enum": ["error", "warning"] })),
        ("code", text()),
        ("message", text()),
        ("file", text()),
        ("line", line()),
    ]);
    let schema = object(&[
        ("directory", text()),
        ("managed", flag()),
        ("files", list_of(&file)),
        ("settings", list_of(&setting)),
        ("audit", or_null(&audit)),
        ("skip", object(&[("heeded", flag()), ("set", flag())])),
        ("hooks", list_of(&hook)),
        ("diagnostics", list_of(&diagnostic)),
    ]);
    root("Effective configuration, as `checkrein status --effective --json` prints it", schema)
}

/// Schema of the output of `serve status`.
pub fn serve_status() -> Value {
    let mut process = object(&[
        ("pid", count()),
        ("checkrein", text()),
        ("uptime", json!({ "type": "integer", "minimum": 0, "description": "seconds" })),
        ("socket", text()),
        ("page", or_null(&text())),
        ("events", count()),
        ("received", count()),
        ("refused", count()),
        ("connections", count()),
        ("viewers", count()),
        ("pending_approvals", count()),
        ("idle_exit", or_null(&json!({ "type": "integer", "minimum": 0, "description": "seconds" }))),
        ("problems", list_of(&text())),
    ]);
    // These depend on the system and on the options of the process.
    let script = object(&[("script", text()), ("reason", text())]);
    process["properties"]["warm"] = object(&[("waiting", count()), ("runs", count()), ("cold", list_of(&script))]);
    process["properties"]["telemetry"] = json!({ "type": "object" });
    let fields = [
        ("state", json!({ "enum": ["running", "not_running", "unknown"] })),
        ("process", or_null(&process)),
        ("problem", or_null(&text())),
    ];
    root("checkrein serve status", object(&fields))
}
