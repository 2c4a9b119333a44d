//! The packs of rules: their own tests, and their quality on a corpus of destructive and ordinary calls.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a failed test panics")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use checkrein::facts::Facts;
use checkrein::policy::{Rule, pack_prefilters};
use checkrein_core::{HookState, RawJson, Scope};
use checkrein_dialects::HandlerSpec;
use checkrein_dialects::agents::native;
use checkrein_dialects::packs::{self, Pack};
use checkrein_document::{Format, Node, parse};
use checkrein_tools::rule_tests::{self, Effect, RuleSet, TestCase};

/// Share of destructive calls that each pack must catch.
const CATCH_RATE: f64 = 0.97;

/// Share of ordinary calls that each pack may stop.
const FALSE_ALARMS: f64 = 0.01;

#[test]
fn tests_of_packs_pass() {
    let mut failed = String::new();
    for rule in packs::ALL.iter().flat_map(Pack::rules) {
        let report = rule_tests::run(&rule, false).unwrap_or_else(|| panic!("{} is no rule", rule.info.id));
        for case in report.cases().iter().filter(|case| !case.is_passed()) {
            writeln!(failed, "{} (line {}): {:?} {:?}", case.name, case.line, case.error, case.mismatches).unwrap();
        }
        let (applied, all) = (report.applied(), report.tests.len());
        if applied == 0 || applied == all {
            writeln!(failed, "{}: {applied} of {all} tests apply", rule.info.id).unwrap();
        }
    }
    assert_eq!(failed, "");
}

#[test]
fn rules_of_packs_are_described_and_named_after_their_pack() {
    for pack in packs::ALL {
        for rule in pack.rules() {
            let id = &rule.info.id;
            assert!(id.starts_with(&format!("{}.", pack.name)), "{id}");
            assert!(rule.description.as_deref().is_some_and(|text| text.ends_with('.')), "{id}");
            let HandlerSpec::Rule(spec) = &rule.handler else { panic!("{id}") };
            for (key, text) in spec.texts() {
                let longest = if key == "when" || key.starts_with("vars") { 350 } else { 200 };
                assert!(text.len() <= longest, "{id}: {key} has {} characters", text.len());
            }
        }
    }
}

/// Compiled rules of each pack that are on by default.
fn rules() -> Vec<(&'static str, RuleSet)> {
    let set = |pack: &'static Pack| {
        let on = pack.rules().into_iter().filter(|rule| rule.state == HookState::Ready);
        (pack.name, RuleSet::compile(on).unwrap())
    };
    packs::ALL.iter().map(set).collect()
}

/// One entry of the corpus.
struct Entry {
    case: TestCase,
    /// Packs that must catch a destructive call, or that may stop an ordinary one because that is their purpose.
    packs: Vec<String>,
    want: String,
    line: usize,
}

fn corpus(text: &str) -> Vec<Entry> {
    let parsed = parse(text, Format::Yaml).unwrap();
    let texts = |node: &Node<'_>| match node.as_array() {
        Some(items) => items.iter().filter_map(Node::as_str).map(str::to_owned).collect(),
        None => node.as_str().map(str::to_owned).into_iter().collect(),
    };
    let entry = |node: &Node<'_>| {
        let mut json: serde_json::Value = serde_json::from_str(&node.to_json()).unwrap();
        let members = json.as_object_mut().unwrap();
        let key = if node.get("except").is_some() { "except" } else { "pack" };
        let packs = members.remove(key).map(|_| texts(node.get(key).unwrap())).unwrap_or_default();
        let want = members.remove("want").and_then(|want| want.as_str().map(str::to_owned)).unwrap_or_default();
        members.insert("want".to_owned(), "none".into());
        let line = text[..node.span.start as usize].lines().count();
        let case = TestCase::parse(&RawJson::parse(json.to_string()).unwrap())
            .unwrap_or_else(|error| panic!("line {line}: {error}"));
        Entry { case, packs, want, line }
    };
    parsed.root.as_array().unwrap().iter().map(entry).collect()
}

/// Strongest decision of a pack about a call. A label is no decision.
fn decision(rules: &RuleSet, entry: &Entry) -> (Effect, String) {
    let effects = rules.effects(&entry.case).unwrap_or_else(|why| panic!("line {}: {why}", entry.line));
    let strength = |effect: Effect| match effect {
        Effect::Halt => 3,
        Effect::Deny => 2,
        Effect::Ask => 1,
        _ => 0,
    };
    let strongest = effects
        .into_iter()
        .filter(|(_, effect, _)| strength(*effect) > 0)
        .max_by_key(|(_, effect, _)| strength(*effect));
    strongest.map_or((Effect::None, String::new()), |(id, effect, text)| {
        (effect, format!("{id}: {}", text.unwrap_or_default()))
    })
}

#[test]
fn packs_catch_destructive_calls_and_pass_ordinary_ones() {
    let destructive = corpus(include_str!("packs/destructive.yaml"));
    let ordinary = corpus(include_str!("packs/ordinary.yaml"));
    assert!(destructive.len() >= 1500 && ordinary.len() >= 1400, "{} {}", destructive.len(), ordinary.len());
    let rules = rules();
    let mut report = String::new();
    let mut fails = false;
    for (pack, rules) in &rules {
        let own: Vec<_> = destructive.iter().filter(|entry| entry.packs.iter().any(|name| name == pack)).collect();
        let mut missed = Vec::new();
        for entry in &own {
            let (got, text) = decision(rules, entry);
            let is_caught = match entry.want.as_str() {
                "deny" => matches!(got, Effect::Deny | Effect::Halt),
                "ask" | "deny-or-ask" => got != Effect::None,
                other => panic!("line {}: unknown `want: {other}`", entry.line),
            };
            if !is_caught {
                missed.push(format!(
                    "missed line {}: {} (want {}, got {got} {text})",
                    entry.line,
                    entry.case.describe(),
                    entry.want
                ));
            }
        }
        let stopped: Vec<_> = ordinary
            .iter()
            .filter(|entry| !entry.packs.iter().any(|name| name == pack))
            .filter_map(|entry| {
                let (got, text) = decision(rules, entry);
                let line = || format!("stopped line {}: {} ({got}: {text})", entry.line, entry.case.describe());
                (got != Effect::None).then(line)
            })
            .collect();
        let rate = |part: usize, all: usize| if all == 0 { 0.0 } else { part as f64 / all as f64 };
        let (caught, alarms) = (1.0 - rate(missed.len(), own.len()), rate(stopped.len(), ordinary.len()));
        fails |= caught < CATCH_RATE || alarms > FALSE_ALARMS;
        writeln!(
            report,
            "{pack}: caught {:.1} % of {}, false alarms {:.2} % of {}",
            caught * 100.0,
            own.len(),
            alarms * 100.0,
            ordinary.len()
        )
        .unwrap();
        for line in missed.iter().chain(&stopped) {
            writeln!(report, "  {line}").unwrap();
        }
    }
    println!("{report}");
    assert!(!fails, "{report}");
}

/// The table of prefilters has all rules of the packs, and a file that selects the packs gets its rows.
#[test]
fn prefilters_of_packs_are_known_before_compilation() {
    let rules: Vec<_> = packs::ALL.iter().flat_map(Pack::rules).collect();
    let table = pack_prefilters::table(&rules).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../checkrein/src/policy/pack_prefilters/table.rs");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    assert!(found == table, "{path} is out of date: run `UPDATE_DOCS=1 cargo test -p checkrein-tools --test packs`");
    let known = |text: &str| {
        let file = native::DIALECT.decode("hooks.yaml", Scope::User, text, Format::Yaml);
        assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
        (file.hooks.iter().filter(|rule| pack_prefilters::is_known(rule)).count(), file.hooks.len())
    };
    let (lazy, all) = known("packs: [filesystem, git, secrets, self]");
    assert!(lazy * 2 > all, "{lazy} of {all}");
    // Another parameter can need another prefilter.
    let (default, _) = known("packs: [git]");
    let (changed, _) = known("packs: [{ pack: git, set: { protected: [stable] } }]");
    assert!(changed < default, "{changed} {default}");
}

/// A rule that is not evaluated for a call is one whose condition is false for it.
#[test]
fn excluded_rules_do_not_apply() {
    let texts = [include_str!("packs/destructive.yaml"), include_str!("packs/ordinary.yaml")];
    let rules: Vec<_> = packs::ALL.iter().flat_map(Pack::rules).collect();
    let compiled: Vec<_> = rules
        .iter()
        .map(|rule| {
            let HandlerSpec::Rule(spec) = &rule.handler else { panic!("{} is no rule", rule.info.id) };
            Rule::compile(spec, &rule.kinds).unwrap()
        })
        .collect();
    let (mut excluded, mut evaluated) = (0, 0);
    for entry in texts.into_iter().flat_map(corpus) {
        let (event, context) = entry.case.facts(&rules[0]).unwrap();
        let facts = Facts::new(event, context);
        for (rule, spec) in compiled.iter().zip(&rules) {
            if !rule.is_excluded(&facts) {
                evaluated += 1;
                continue;
            }
            excluded += 1;
            let found = rule.explain(&facts).map(|evaluation| evaluation.value);
            assert_eq!(found, Ok(Ok(false)), "line {}: {}: {}", entry.line, spec.info.id, entry.case.describe());
        }
    }
    println!("{excluded} evaluations excluded, {evaluated} left");
    assert!(excluded > evaluated, "{excluded} {evaluated}");
}

#[test]
fn corpus_has_calls_for_every_pack() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for entry in corpus(include_str!("packs/destructive.yaml")) {
        for pack in entry.packs {
            *counts.entry(pack).or_default() += 1;
        }
    }
    for pack in packs::ALL {
        let count = counts.get(pack.name).copied().unwrap_or_default();
        assert!(count >= 10 || pack.name == "loops", "{}: {count}", pack.name);
    }
}
