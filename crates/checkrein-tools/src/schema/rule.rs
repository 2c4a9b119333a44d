//! Schemas of rules and of the key `packs`. Descriptions name the facts, so that editors show them.

use checkrein::dialects::config::RuleKey;
use checkrein::dialects::packs::{self, Pack};
use checkrein::facts;
use checkrein_dialects::RuleDecision;
use serde_json::{Map, Value, json};

use super::{flag, text};
use crate::rule_tests::{Effect, TEST_KEYS};

/// Schema of a key of a rule.
pub(super) fn key(key: RuleKey) -> Value {
    match key {
        RuleKey::When => {
            let about = format!("Condition: an expression. The rule applies if it is true. {}", names());
            json!({ "type": ["string", "boolean"], "description": about })
        }
        RuleKey::Vars => json!({
            "type": "object",
            "additionalProperties": { "type": "string" },
            "description": format!("Named expressions, which others use as `vars.NAME`. {}", names()),
        }),
        RuleKey::Params => json!({
            "type": "object",
            "description": "Constants, which expressions use as `params.NAME`.",
        }),
        RuleKey::Decision(decision) => template(match decision {
            RuleDecision::Deny => "Denies the call, with this reason for the model.",
            RuleDecision::Ask => "Asks the user, with this reason.",
            RuleDecision::Allow => "Allows the call without a question of the agent.",
            RuleDecision::Halt => "Stops the agent, with this text for the user.",
        }),
        RuleKey::Context => template("Context for the model."),
        RuleKey::Message => template("Message for the user."),
        RuleKey::Label => text("Label that the session gets. Other rules ask for it with `history.seen(\"LABEL\")`."),
        RuleKey::Rewrite => json!({
            "type": "object",
            "description": "Fields of the tool input with their new values. `${…}` inserts a value; other fields stay.",
        }),
        RuleKey::Unknown => json!({
            "enum": ["ask", "closed", "open"],
            "description": "Effect if a fact that matters is unknown. `ask`: asks (default at gates); `closed`: denies; `open`: none.",
        }),
        RuleKey::Tests => json!({
            "type": "array",
            "items": test(),
            "description": "Tests, which `checkrein test` runs. Write one that applies and one that does not.",
        }),
    }
}

fn template(about: &str) -> Value {
    text(&format!("{about} `${{…}}` inserts the value of an expression; `$${{` is a literal `${{`."))
}

/// Sentences about the facts.
fn names() -> String {
    let facts = facts::names().map(|(name, about)| format!("`{name}`: {about}"));
    format!("Facts:\n{}\n`env(\"NAME\")`: An environment variable.", facts.collect::<Vec<_>>().join("\n"))
}

fn test() -> Value {
    let effects: Vec<_> = Effect::NAMES.iter().map(|(name, _)| *name).collect();
    let keys = TEST_KEYS.iter().map(|(name, about)| {
        let mut schema = match *name {
            "want" => json!({ "enum": effects }),
            "access" => json!({ "enum": ["read", "write"] }),
            "dirty" => json!({ "type": "boolean" }),
            "input" | "remotes" | "env" => json!({ "type": "object" }),
            "files" => json!({ "type": "array", "items": { "type": "string" } }),
            "history" => json!({ "type": "array", "items": { "type": ["string", "object"] } }),
            "output" => json!({}),
            _ => json!({ "type": "string" }),
        };
        schema["description"] = (*about).into();
        ((*name).to_owned(), schema)
    });
    let keys: Map<String, Value> = keys.collect();
    json!({ "type": "object", "properties": keys, "required": ["want"], "additionalProperties": false })
}

/// Schema of `packs`: names, or objects with adjustments.
pub(super) fn packs() -> Value {
    let names: Vec<_> = packs::ALL.iter().map(|pack| pack.name).collect();
    let about: Vec<_> = packs::ALL.iter().map(|pack| format!("`{}`: {}", pack.name, pack.description)).collect();
    let name = json!({ "enum": names, "description": about.join("\n") });
    let adjusted = packs::ALL.iter().map(adjusted);
    json!({
        "type": "array",
        "items": { "anyOf": std::iter::once(name).chain(adjusted).collect::<Vec<_>>() },
        "description": "Packs of rules that come with checkrein. `checkrein packs` lists them.",
    })
}

fn adjusted(pack: &Pack) -> Value {
    let ids: Vec<_> = pack.rules().into_iter().map(|rule| rule.info.id.clone()).collect();
    let rules = |about: &str| json!({ "type": "array", "items": { "enum": ids }, "description": about });
    let params: Map<String, Value> = pack
        .params()
        .into_iter()
        .map(|(name, default)| (name, json!({ "description": format!("Default: {default}") })))
        .collect();
    json!({
        "type": "object",
        "description": pack.description,
        "properties": {
            "pack": { "const": pack.name },
            "except": rules("Rules that are off."),
            "set": {
                "type": "object",
                "properties": params,
                "additionalProperties": false,
                "description": "Parameters of the pack.",
            },
            "deny": rules("Rules that deny."),
            "ask": rules("Rules that ask. This also turns on rules that are off by default."),
            "dry_run": flag("`true` makes the rules dry runs: they are recorded and have no effect."),
        },
        "required": ["pack"],
        "additionalProperties": false,
    })
}
