//! Checks that `docs/packs.md` and the page of each pack are current. `UPDATE_DOCS=1` updates them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test panics")]

use std::fmt::Write as _;
use std::path::Path;

use checkrein_core::HookState;
use checkrein_dialects::packs::{self, Pack};
use checkrein_dialects::{HandlerSpec, HookSpec, RuleSpec};
use checkrein_tools::rule_tests::{self, Effect};

/// Returns a text as code in a table. Line breaks are shown as in a shell string.
fn code(text: &str) -> String {
    let text = text.replace('\n', "\\n").replace('|', "\\|");
    let fence = if text.contains('`') { "``" } else { "`" };
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

fn spec_of(rule: &HookSpec) -> &RuleSpec {
    match &rule.handler {
        HandlerSpec::Rule(spec) => spec,
        _ => panic!("{} is no rule", rule.info.id),
    }
}

fn add_rule(text: &mut String, rule: &HookSpec) {
    let spec = spec_of(rule);
    let id = &rule.info.id;
    let name = id.split_once('.').map_or(id.as_str(), |(_, name)| name);
    let (decision, reason) = spec.decision.as_ref().unwrap();
    writeln!(text, "\n## `{name}`\n\n{}\n", rule.description.as_deref().unwrap_or_default()).unwrap();
    writeln!(text, "Decision: {}. {reason}.", decision.name()).unwrap();
    let is_described = rule.description.as_deref().is_some_and(|text| text.contains("Off unless it is selected"));
    if rule.state != HookState::Ready && !is_described {
        text.push_str("\nThe rule is off until a file selects it.\n");
    }
    text.push_str("\n| call | result |\n|---|---|\n");
    let report = rule_tests::run(rule, false).unwrap();
    for (test, written) in report.tests.iter().zip(&spec.tests) {
        let result = if test.want == Effect::None { "no decision".to_owned() } else { test.want.to_string() };
        let scene = rule_tests::scene(written);
        let scene: String =
            scene.iter().map(|(key, value)| format!("; {}: {}", key.replace('_', " "), code(value))).collect();
        writeln!(text, "| {}{scene} | {result} |", code(&test.call)).unwrap();
    }
}

fn page(pack: &Pack) -> String {
    let name = pack.name;
    let mut text = format!(
        "# Pack `{name}`\n\n{}\n\n\
         `checkrein packs show {name}` prints the rules. The calls of each rule are its tests. This page is generated from \
         `crates/checkrein-dialects/packs/{name}.yaml`.\n",
        pack.description
    );
    let params = pack.params();
    if !params.is_empty() {
        text.push_str("\n| parameter | default |\n|---|---|\n");
        for (key, value) in params {
            writeln!(text, "| `{key}` | {} |", code(value.as_str())).unwrap();
        }
    }
    for rule in pack.rules() {
        add_rule(&mut text, &rule);
    }
    text
}

fn index() -> String {
    let mut text = "# Packs\n\n\
        A pack is a set of rules that comes with checkrein. The key `packs` of a hook file selects packs and changes them:\n\n\
        ```yaml\npacks:\n  - filesystem\n  - { pack: git, except: [git.no-verify], set: { protected: [main] }, ask: [git.force-push] }\n```\n\n\
        The rules of a pack decide about calls that its tests name, and about similar ones. A pack is not a sandbox: it does not \
        see the effects of scripts and programs.\n\n\
        | pack | rules | purpose |\n|---|---|---|\n"
        .to_owned();
    for pack in packs::ALL {
        let name = pack.name;
        writeln!(text, "| [`{name}`](packs/{name}.md) | {} | {} |", pack.rules().len(), pack.description).unwrap();
    }
    text
}

fn check(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found.replace("\r\n", "\n") == text,
        "docs/{file} is out of date: run `UPDATE_DOCS=1 cargo test -p checkrein-tools --test pack_docs`"
    );
}

#[test]
fn pages_of_packs_are_current() {
    check("packs.md", &index());
    let summary = include_str!("../../../docs/SUMMARY.md");
    for pack in packs::ALL {
        check(&format!("packs/{}.md", pack.name), &page(pack));
        assert!(summary.contains(&format!("(packs/{}.md)", pack.name)), "docs/SUMMARY.md has no `{}`", pack.name);
    }
}
