//! The keys of files with cases: one table, from which both the reader and the schema come.

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueType {
    Text,
    Event,
    Dialect,
    /// A path, or several.
    Paths,
    /// Any JSON.
    Json,
    /// Fields and their JSON.
    Fields,
    /// Names, and texts or null.
    Environment,
    Files,
    /// A decision, or several of which one will do.
    Decisions,
    /// A pattern, or null.
    Pattern,
    /// A pattern that must be there.
    SomePattern,
    /// A pattern, or a list of them.
    Patterns,
    /// Any JSON, or null.
    WantedJson,
    Duration,
    Integer,
    /// A kind of failure, or null.
    Failure,
    Names,
    Hooks,
    Expect,
    Cases,
}

/// One key.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) is: ValueType,
    pub(super) says: &'static str,
}

const fn key(name: &'static str, is: ValueType, says: &'static str) -> Key {
    Key { name, is, says }
}

/// Of a file.
pub(super) const FILE: &[Key] = &[
    key("$schema", ValueType::Text, "For editors."),
    key("as", ValueType::Dialect, "Whose files, words and rules apply to all cases of the file."),
    key("config", ValueType::Paths, "The files with the hooks, seen from this file."),
    key("agent", ValueType::Text, "Whose hooks are meant, where a file has those of several agents."),
    key("environment", ValueType::Environment, "For all cases of the file; a case's own counts more."),
    key("files", ValueType::Files, "For all cases of the file; a case's own counts more."),
    key("cases", ValueType::Cases, "The cases."),
];

/// Of a case.
pub(super) const CASE: &[Key] = &[
    key("name", ValueType::Text, "What it is called."),
    key("as", ValueType::Dialect, "Whose files, words and rules apply."),
    key("config", ValueType::Paths, "The files with the hooks, seen from this file."),
    key("agent", ValueType::Text, "Whose hooks are meant, where a file has those of several agents."),
    key("event", ValueType::Event, "The event, in the dialect's spelling or checkrein's."),
    key("tool", ValueType::Text, "The tool that it is about."),
    key("input", ValueType::Json, "What the tool is called with."),
    key("payload", ValueType::Fields, "Fields of the payload as the agent sends it; the others are made up."),
    key("set", ValueType::Fields, "Single fields of the payload; dots lead into objects."),
    key("environment", ValueType::Environment, "The agent's environment, besides what is usual; null takes one away."),
    key("files", ValueType::Files, "Files to create in the scratch directory."),
    key("expect", ValueType::Expect, "What shall come of it. Only what is said is judged."),
];

/// Of what a case expects.
pub(super) const EXPECT: &[Key] = &[
    key("decision", ValueType::Decisions, "What the verdict is; of several, one will do."),
    key("reason", ValueType::Pattern, "Why; null: no reason is given."),
    key("context", ValueType::Patterns, "What the model is told; an empty list: nothing."),
    key("messages", ValueType::Patterns, "What the user is told; an empty list: nothing."),
    key("warnings", ValueType::Patterns, "What the user is warned of; an empty list: of nothing."),
    key("input", ValueType::WantedJson, "What the tool is called with in the end has this; null: it is not rewritten."),
    key("input_is", ValueType::Json, "What the tool is called with in the end is this, and nothing else."),
    key(
        "output",
        ValueType::WantedJson,
        "What the model sees of the tool's output has this; null: it is not rewritten.",
    ),
    key("output_is", ValueType::Json, "What the model sees of the tool's output is this, and nothing else."),
    key("prompt", ValueType::Pattern, "What the user has said in the end; null: it is not rewritten."),
    key("exit_code", ValueType::Integer, "The exit code of the only hook that ran."),
    key("max_duration", ValueType::Duration, "How long all of it may take: `500ms`, `2s`, or seconds."),
    key("ran", ValueType::Names, "Hooks that run; an empty list: none runs."),
    key("not_ran", ValueType::Names, "Hooks that do not run."),
    key("hooks", ValueType::Hooks, "What shall hold for single hooks, by their names. They must run."),
];

/// Of what is expected of one hook.
pub(super) const HOOK: &[Key] = &[
    key("decision", ValueType::Decisions, "What it decides; of several, one will do."),
    key("reason", ValueType::Pattern, "Why; null: it gives no reason."),
    key("context", ValueType::Patterns, "What it tells the model; an empty list: nothing."),
    key("messages", ValueType::Patterns, "What it tells the user; an empty list: nothing."),
    key("exit_code", ValueType::Integer, "Its exit code."),
    key("failure", ValueType::Failure, "How it fails; null: it does not."),
    key("stdout", ValueType::SomePattern, "What it prints."),
    key("stderr", ValueType::SomePattern, "What it complains about."),
    key("max_duration", ValueType::Duration, "How long it may take: `500ms`, `2s`, or seconds."),
];

/// Of a file to create, if it is no text.
pub(super) const NEW_FILE: &[Key] = &[
    key("text", ValueType::Text, "What is in it."),
    key("executable", ValueType::Json, "Whether it may be executed."),
];

/// Of a pattern that is no regular expression. One of them.
pub(super) const PATTERN: &[Key] = &[
    key("matches", ValueType::Text, "A regular expression that is found in it."),
    key("lacks", ValueType::Text, "A regular expression that is not found in it."),
    key("contains", ValueType::Text, "Text that is in it."),
    key("equals", ValueType::Text, "All of it."),
];

/// The schema of files with cases.
pub(crate) fn schema() -> serde_json::Value {
    use checkrein_core::{Decision, FailureKind};
    use serde_json::{Map, Value, json};

    fn object(keys: &[Key], required: &[&str]) -> Value {
        let properties: Map<String, Value> = keys
            .iter()
            .map(|key| {
                let mut schema = of(key.is);
                if let Value::Object(schema) = &mut schema {
                    schema.insert("description".to_owned(), key.says.into());
                }
                (key.name.to_owned(), schema)
            })
            .collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }

    fn of(is: ValueType) -> Value {
        let one_or_many = |one: Value| json!({ "anyOf": [one, { "type": "array", "items": one }] });
        let or_null = |one: Value| json!({ "anyOf": [one, { "type": "null" }] });
        let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
        match is {
            ValueType::Text | ValueType::Event => json!({ "type": "string" }),
            ValueType::Dialect => {
                json!({ "enum": checkrein_dialects::ALL.iter().map(|dialect| dialect.name).collect::<Vec<_>>() })
            }
            ValueType::Paths => one_or_many(json!({ "type": "string" })),
            ValueType::Json | ValueType::WantedJson => json!({}),
            ValueType::Fields => json!({ "type": "object" }),
            ValueType::Environment => {
                json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean", "null"] } })
            }
            ValueType::Files => {
                let file = json!({ "anyOf": [{ "type": "string" }, reference("file")] });
                json!({ "type": "object", "additionalProperties": file })
            }
            ValueType::Decisions => one_or_many(json!({ "enum": Decision::ALL.map(Decision::name) })),
            ValueType::Pattern => or_null(reference("pattern")),
            ValueType::SomePattern => json!({ "allOf": [reference("pattern")] }),
            ValueType::Patterns => one_or_many(reference("pattern")),
            ValueType::Duration => {
                json!({ "anyOf": [{ "type": "string" }, { "type": "number", "exclusiveMinimum": 0 }] })
            }
            ValueType::Integer => json!({ "type": "integer" }),
            ValueType::Failure => {
                let kinds: Vec<_> = FailureKind::ALL.iter().map(|kind| kind.name()).collect();
                or_null(json!({ "enum": kinds }))
            }
            ValueType::Names => one_or_many(json!({ "type": "string" })),
            ValueType::Hooks => json!({ "type": "object", "additionalProperties": reference("hook") }),
            ValueType::Expect => json!({ "allOf": [reference("expect")] }),
            ValueType::Cases => json!({ "type": "array", "items": reference("case"), "minItems": 1 }),
        }
    }

    let mut root = object(FILE, &["cases"]);
    if let Value::Object(root) = &mut root {
        root.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
        root.insert("title".to_owned(), "Cases for checkrein test".into());
        let mut expect = object(EXPECT, &[]);
        let mut hook = object(HOOK, &[]);
        for one in [&mut expect, &mut hook] {
            one["minProperties"] = 1.into();
        }
        let mut pattern = object(PATTERN, &[]);
        pattern["minProperties"] = 1.into();
        pattern["maxProperties"] = 1.into();
        let mut file = object(NEW_FILE, &["text"]);
        file["properties"]["executable"]["type"] = "boolean".into();
        root.insert(
            "$defs".to_owned(),
            json!({
                "case": object(CASE, &["name", "event", "expect"]),
                "expect": expect,
                "hook": hook,
                "file": file,
                "pattern": { "anyOf": [{ "type": "string", "description": "A regular expression that is found in it." }, pattern] },
            }),
        );
    }
    root
}
