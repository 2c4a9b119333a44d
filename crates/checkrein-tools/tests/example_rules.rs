//! The example rules are valid, and their tests pass.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use checkrein::policy::Rule;
use checkrein_core::Scope;
use checkrein_dialects::HandlerSpec;
use checkrein_dialects::agents::native;
use checkrein_document::Format;
use checkrein_tools::rule_tests;

const FIELD: &str = include_str!("../../checkrein/examples/rules/field.yaml");

#[test]
fn field_rules_compile_and_their_tests_pass() {
    let decoded = native::DIALECT.decode("field.yaml", Scope::User, FIELD, Format::Yaml);
    assert_eq!(decoded.diagnostics, []);
    let rules = decoded.hooks.iter().filter(|hook| matches!(hook.handler, HandlerSpec::Rule(_))).count();
    assert!(rules >= 15, "the file has {rules} rules");
    for hook in &decoded.hooks {
        let id = &hook.info.id;
        let HandlerSpec::Rule(spec) = &hook.handler else { panic!("`{id}` is no rule") };
        if let Err(error) = Rule::compile(spec, &hook.kinds) {
            panic!("{id}: {error}");
        }
        let report = rule_tests::run(hook, false).unwrap();
        let failed: Vec<_> = report.tests.iter().filter(|test| !test.is_passed()).collect();
        assert!(failed.is_empty(), "{id}: {failed:#?}");
        assert!(
            report.applied() > 0 && report.applied() < report.tests.len(),
            "{id} needs tests with and without effect"
        );
    }
}
