//! The key `packs`: adds the rules of packs, with adjustments.
//!
//! An unknown pack or an adjustment that does not fit closes all gates: the file relies on rules that would be missing.

use std::sync::Arc;

use checkrein_core::{HookState, RawJson, Scope, Source};
use checkrein_document::{Format, Node, Span, parse};

use super::layout::{HookFileLayout, json, values};
use super::{DecodeOptions, Decoder, Settings, mentions_history};
use crate::agents::native;
use crate::packs::{self, Pack};
use crate::spec::{HandlerSpec, HookSpec, RuleDecision};

/// Keys of an entry of `packs`.
pub const PACK_KEYS: &[&str] = &["pack", "except", "set", "deny", "ask", "dry_run"];

/// Keys of an entry that change the decision of rules.
const DECISIONS: [RuleDecision; 2] = [RuleDecision::Deny, RuleDecision::Ask];

/// Adjustments of the rules of one pack.
#[derive(Debug, Default)]
struct Adjustments {
    except: Vec<String>,
    set: Vec<(String, RawJson)>,
    decisions: Vec<(String, RuleDecision)>,
    dry_run: bool,
}

/// Reads the value of `packs` and adds the rules.
pub(super) fn read(layout: &HookFileLayout, decoder: &mut Decoder<'_>, node: &Node<'_>) {
    let items = match decoder.array(node, "packs") {
        Ok(items) => items,
        Err(why) => return decoder.broken_somewhere("packs", node.span, &why),
    };
    let mut seen: Vec<&str> = Vec::new();
    for item in items {
        match entry(decoder, item) {
            Ok((pack, _)) if seen.contains(&pack.name) => {
                let text = format!("the pack `{}` is listed twice; remove one of the entries", pack.name);
                decoder.error("duplicate-pack", item.span, text.clone());
                decoder.broken_somewhere(pack.name, item.span, &text);
            }
            Ok((pack, adjustments)) => {
                seen.push(pack.name);
                add(layout, decoder, item.span, pack, &adjustments);
            }
            Err(why) => decoder.broken_somewhere("packs", item.span, &why),
        }
    }
}

fn entry(decoder: &mut Decoder<'_>, item: &Node<'_>) -> Result<(&'static Pack, Adjustments), String> {
    let mut adjustments = Adjustments::default();
    if let Some(name) = item.as_str() {
        return Ok((find(decoder, name, item.span)?, adjustments));
    }
    let members = decoder.object(item, "packs")?;
    decoder.check_keys(members, PACK_KEYS);
    if let Some(unknown) = members.iter().find(|member| !PACK_KEYS.contains(&&*member.key)) {
        return Err(format!("unknown key `{}`", unknown.key));
    }
    let Some(name) = item.get("pack") else {
        let why = "this entry has no `pack`; add the name of the pack".to_owned();
        decoder.error("missing-key", item.span, why.clone());
        return Err(why);
    };
    let text = decoder.text(name, "pack")?;
    let pack = find(decoder, &text, name.span)?;
    let source = parse(pack.json, Format::Json).map_err(|error| error.to_string())?;
    if let Some(node) = item.get("except") {
        adjustments.except = rule_ids(decoder, node, "except", &source.root)?;
    }
    for decision in DECISIONS {
        let Some(node) = item.get(decision.name()) else { continue };
        for id in rule_ids(decoder, node, decision.name(), &source.root)? {
            let is_excepted = adjustments.except.contains(&id);
            if is_excepted || adjustments.decisions.iter().any(|(other, _)| *other == id) {
                let why = format!("the entry has two adjustments of the rule `{id}`; keep one");
                decoder.error("contradiction", node.span, why.clone());
                return Err(why);
            }
            adjustments.decisions.push((id, decision));
        }
    }
    if let Some(node) = item.get("set") {
        adjustments.set = values(decoder, node, "set")?;
        check_params(decoder, node, pack, &source.root)?;
    }
    if let Some(node) = item.get("dry_run") {
        adjustments.dry_run = decoder.flag(node, "dry_run")?;
    }
    Ok((pack, adjustments))
}

fn find(decoder: &mut Decoder<'_>, name: &str, span: Span) -> Result<&'static Pack, String> {
    packs::find(name).ok_or_else(|| {
        let known: Vec<_> = packs::ALL.iter().map(|pack| pack.name).collect();
        decoder.unknown("unknown-pack", span, "pack", name, &known);
        format!("unknown pack `{name}`")
    })
}

/// Returns the names of rules in a list. Each must be a rule of the pack.
fn rule_ids(decoder: &mut Decoder<'_>, node: &Node<'_>, key: &str, pack: &Node<'_>) -> Result<Vec<String>, String> {
    let rules = pack.get("hooks").and_then(Node::as_array).unwrap_or_default();
    let known: Vec<&str> = rules.iter().filter_map(|rule| rule.get("id")?.as_str()).collect();
    for item in decoder.array(node, key)? {
        let id = decoder.text(item, key)?;
        if !known.contains(&id.as_str()) {
            decoder.unknown("unknown-rule", item.span, "rule of the pack", &id, &known);
            return Err(format!("unknown rule `{id}`"));
        }
    }
    decoder.texts(node, key)
}

/// Checks that the pack has these parameters, and that the values have the types of the defaults.
fn check_params(decoder: &mut Decoder<'_>, set: &Node<'_>, pack: &Pack, source: &Node<'_>) -> Result<(), String> {
    let defaults = source.get("params").and_then(Node::as_object).unwrap_or_default();
    for member in decoder.object(set, "set")? {
        let Some(default) = defaults.iter().find(|default| default.key == member.key) else {
            let known: Vec<&str> = defaults.iter().map(|default| &*default.key).collect();
            let what = format!("parameter of the pack `{}`", pack.name);
            match known.is_empty() {
                true => drop(decoder.error(
                    "unknown-key",
                    member.key_span,
                    format!("the pack `{}` has no parameters", pack.name),
                )),
                false => decoder.unknown("unknown-key", member.key_span, &what, &member.key, &known),
            }
            return Err(format!("unknown parameter `{}`", member.key));
        };
        let (own, expected) = (member.value.type_name(), default.value.type_name());
        if own != expected {
            return Err(decoder.wrong_type(&member.value, &member.key, expected));
        }
        // Numbers of packs are limits.
        let is_whole =
            |node: &Node<'_>| node.as_number().is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        if is_whole(&default.value) && !is_whole(&member.value) {
            let why = format!("`{}` is `{}`; write a whole number from 0", member.key, member.value.to_json());
            decoder.error("wrong-type", member.value.span, why.clone());
            return Err(why);
        }
        let element = default.value.as_array().and_then(|items| items.first()).map(Node::type_name);
        let other = |item: &&Node<'_>| element.is_some_and(|element| item.type_name() != element);
        if let Some(item) = member.value.as_array().unwrap_or_default().iter().find(other) {
            return Err(decoder.wrong_type(item, &member.key, element.unwrap_or_default()));
        }
    }
    Ok(())
}

/// Adds the rules of a pack.
fn add(layout: &HookFileLayout, decoder: &mut Decoder<'_>, span: Span, pack: &'static Pack, change: &Adjustments) {
    let parsed = match parse(pack.json, Format::Json) {
        Ok(parsed) => parsed,
        Err(error) => return decoder.broken_somewhere(pack.name, span, &error.to_string()),
    };
    let (file, scope, options) = (decoder.file(), decoder.scope(), decoder.options());
    let mut inner = Decoder::new(decoder.dialect(), file, scope, pack.json, options);
    inner.settings = Settings { dry_run: decoder.settings.dry_run || change.dry_run, ..Settings::default() };
    layout.decode_hooks(&mut inner, &parsed.root);
    let mut params = params_of(&parsed.root);
    for (name, value) in &mut params {
        if let Some((_, new)) = change.set.iter().find(|(set, _)| set == name) {
            value.clone_from(new);
        }
    }
    let (rules, problem) = inner.into_hooks();
    // A test loads every pack, so this is a defect of the program.
    if let Some(problem) = problem {
        let why = format!("the pack `{}` is invalid: {}", pack.name, problem.message);
        decoder.broken_somewhere(pack.name, span, &why);
    }
    decoder.settings.uses_history |= mentions_history(pack.json);
    let place = decoder.place(span);
    for mut spec in rules {
        let is_selected = change.decisions.iter().any(|(id, _)| *id == spec.info.id);
        // Some rules of a pack are off until an adjustment selects them.
        if change.except.contains(&spec.info.id) || (spec.state == HookState::Disabled && !is_selected) {
            continue;
        }
        spec.state = HookState::Ready;
        adjust(&mut spec, change, &params);
        Arc::make_mut(&mut spec.info).source = Source::in_file(scope, file, place.line, place.column);
        decoder.push(spec);
    }
}

fn adjust(spec: &mut HookSpec, change: &Adjustments, params: &[(String, RawJson)]) {
    let id = spec.info.id.clone();
    let HandlerSpec::Rule(rule) = &mut spec.handler else { return };
    // Parameters of the rule itself take precedence. Others that it does not use would only make each start and each approval longer.
    let params = if rule.mentions("params") { params } else { &[] };
    for (name, value) in params {
        if !rule.params.iter().any(|(own, _)| own == name) && rule.mentions(name) {
            rule.params.push((name.clone(), value.clone()));
        }
    }
    let new = change.decisions.iter().find(|(changed, _)| *changed == id);
    if let (Some((decision, _)), Some((_, new))) = (&mut rule.decision, new) {
        *decision = *new;
    }
    rule.pack_rule = Some(id);
}

/// Returns the parameters of a pack.
fn params_of(pack: &Node<'_>) -> Vec<(String, RawJson)> {
    let members = pack.get("params").and_then(Node::as_object).unwrap_or_default();
    members.iter().filter_map(|member| Some((member.key.to_string(), json(&member.value).ok()?))).collect()
}

/// Returns the parameters of a pack with their defaults.
pub(crate) fn default_params(pack: &Pack) -> Vec<(String, RawJson)> {
    parse(pack.json, Format::Json).map(|parsed| params_of(&parsed.root)).unwrap_or_default()
}

/// Returns all rules of a pack with their tests, without adjustments.
pub(crate) fn rules_of(pack: &Pack) -> Vec<HookSpec> {
    let (text, format) = if cfg!(feature = "yaml") { (pack.yaml, Format::Yaml) } else { (pack.json, Format::Json) };
    let Ok(parsed) = parse(text, format) else { return Vec::new() };
    let options = DecodeOptions::default();
    let file = format!("packs/{}.yaml", pack.name);
    let mut decoder = Decoder::new(&native::DIALECT, &file, Scope::Code, text, &options);
    native::LAYOUT.decode_hooks(&mut decoder, &parsed.root);
    let params = params_of(&parsed.root);
    let mut rules = decoder.finish().hooks;
    rules.iter_mut().for_each(|spec| adjust(spec, &Adjustments::default(), &params));
    rules
}
