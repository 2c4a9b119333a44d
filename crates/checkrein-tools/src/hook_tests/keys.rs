//! Keys of test files: one table for both the reader and the schema.

/// Type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueType {
    Text,
    Event,
    Dialect,
    /// A path, or several.
    Paths,
    /// Any JSON.
    Json,
    /// Object with any JSON values.
    Fields,
    /// Object with strings, numbers, booleans or null.
    Environment,
    Files,
    /// A decision, or a list of alternatives.
    Decisions,
    /// A pattern, or null.
    Pattern,
    /// A pattern, not null.
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
    pub(super) value_type: ValueType,
    pub(super) description: &'static str,
}

const fn key(name: &'static str, value_type: ValueType, description: &'static str) -> Key {
    Key { name, value_type, description }
}

/// Keys of a file.
pub(super) const FILE: &[Key] = &[
    key("$schema", ValueType::Text, "Schema for editors."),
    key("as", ValueType::Dialect, "Agent whose files, payload format and rules apply to all cases of the file."),
    key("config", ValueType::Paths, "Files with the hooks, relative to this file."),
    key("agent", ValueType::Text, "Agent whose hooks run, for files with hooks of several agents."),
    key("environment", ValueType::Environment, "Variables for all cases of the file; a case can override them."),
    key("files", ValueType::Files, "Files to create for all cases of the file; a case can override them."),
    key("cases", ValueType::Cases, "Test cases."),
];

/// Keys of a case.
pub(super) const CASE: &[Key] = &[
    key("name", ValueType::Text, "Name of the case, unique in the file."),
    key("as", ValueType::Dialect, "Agent whose files, payload format and rules apply."),
    key("config", ValueType::Paths, "Files with the hooks, relative to this file."),
    key("agent", ValueType::Text, "Agent whose hooks run, for files with hooks of several agents."),
    key("event", ValueType::Event, "Event, in the agent's spelling or checkrein's."),
    key("tool", ValueType::Text, "Tool name."),
    key("input", ValueType::Json, "Tool input."),
    key("payload", ValueType::Fields, "Fields of the payload in the agent's format; other fields have sample values."),
    key("set", ValueType::Fields, "Single fields of the payload by path; dots lead into objects."),
    key("environment", ValueType::Environment, "Variables in addition to the default ones; null removes a variable."),
    key("files", ValueType::Files, "Files to create in the scratch directory."),
    key("expect", ValueType::Expect, "Expected results. Results that are not mentioned are not checked."),
];

/// Keys of `expect`.
pub(super) const EXPECT: &[Key] = &[
    key("decision", ValueType::Decisions, "Decision of the verdict, or a list of permitted decisions."),
    key("reason", ValueType::Pattern, "Reason of the verdict; null: no reason."),
    key("context", ValueType::Patterns, "Texts for the model; an empty list: none."),
    key("messages", ValueType::Patterns, "Messages for the user; an empty list: none."),
    key("warnings", ValueType::Patterns, "Warnings for the user; an empty list: none."),
    key("input", ValueType::WantedJson, "Fields of the final tool input; null: not rewritten."),
    key("input_is", ValueType::Json, "The complete final tool input."),
    key("output", ValueType::WantedJson, "Fields of the tool output that the model sees; null: not rewritten."),
    key("output_is", ValueType::Json, "The complete tool output that the model sees."),
    key("prompt", ValueType::Pattern, "Final prompt; null: not rewritten."),
    key("exit_code", ValueType::Integer, "Exit code of the only hook that ran."),
    key("max_duration", ValueType::Duration, "Longest permitted time of the whole case: `500ms`, `2s`, or seconds."),
    key("ran", ValueType::Names, "Hooks that must run; an empty list: no hook runs."),
    key("not_ran", ValueType::Names, "Hooks that must not run."),
    key("hooks", ValueType::Hooks, "Expected results of single hooks, by name. These hooks must run."),
];

/// Keys of a hook in `expect.hooks`.
pub(super) const HOOK: &[Key] = &[
    key("decision", ValueType::Decisions, "Decision of the hook, or a list of permitted decisions."),
    key("reason", ValueType::Pattern, "Reason of the hook; null: no reason."),
    key("context", ValueType::Patterns, "Texts for the model; an empty list: none."),
    key("messages", ValueType::Patterns, "Messages for the user; an empty list: none."),
    key("exit_code", ValueType::Integer, "Exit code."),
    key("failure", ValueType::Failure, "Kind of failure; null: no failure."),
    key("stdout", ValueType::SomePattern, "Standard output."),
    key("stderr", ValueType::SomePattern, "Standard error."),
    key("max_duration", ValueType::Duration, "Longest permitted time: `500ms`, `2s`, or seconds."),
];

/// Keys of a file to create, if it is not a plain text.
pub(super) const NEW_FILE: &[Key] = &[
    key("text", ValueType::Text, "Contents of the file."),
    key("executable", ValueType::Json, "`true` makes the file executable. Default: true if the text starts with `#!`."),
];

/// Keys of a pattern object, which has exactly one of them.
pub(super) const PATTERN: &[Key] = &[
    key("matches", ValueType::Text, "Regular expression that must match somewhere in the text."),
    key("lacks", ValueType::Text, "Regular expression that must not match anywhere in the text."),
    key("contains", ValueType::Text, "Substring of the text."),
    key("equals", ValueType::Text, "The complete text, without white space around it."),
];

/// JSON schema of test files.
pub(crate) fn schema() -> serde_json::Value {
    use checkrein_core::{Decision, FailureKind};
    use serde_json::{Map, Value, json};

    fn object(keys: &[Key], required: &[&str]) -> Value {
        let properties: Map<String, Value> = keys
            .iter()
            .map(|key| {
                let mut schema = type_schema(key.value_type);
                if let Value::Object(schema) = &mut schema {
                    schema.insert("description".to_owned(), key.description.into());
                }
                (key.name.to_owned(), schema)
            })
            .collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }

    fn type_schema(value_type: ValueType) -> Value {
        let one_or_many = |one: Value| json!({ "anyOf": [one, { "type": "array", "items": one }] });
        let or_null = |one: Value| json!({ "anyOf": [one, { "type": "null" }] });
        let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
        match value_type {
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
        root.insert("title".to_owned(), "Test cases for checkrein test".into());
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
                "pattern": { "anyOf": [{ "type": "string", "description": "Regular expression that must match somewhere in the text." }, pattern] },
            }),
        );
    }
    root
}
