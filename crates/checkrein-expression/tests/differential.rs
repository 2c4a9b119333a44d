//! Comparison with the `cel` crate: every generated expression has the same value in both.

#![allow(clippy::expect_used, reason = "a failed test reports its cause by panicking")]

use checkrein_expression::{Environment, Expression, Object, Problem, Schema, Value};
use proptest::prelude::*;

static FACTS: Schema = Schema { name: "facts", doc: "", fields: &[], methods: &[] };

#[derive(Debug)]
struct NoFacts;

impl Object for NoFacts {
    fn schema(&self) -> &'static Schema {
        &FACTS
    }

    fn field(&self, _: usize) -> Value {
        Value::Null
    }
}

/// Value by checkrein, as text. `None` if the evaluation fails.
fn ours(text: &str) -> Option<String> {
    let expression = Expression::compile(text, &Environment::new(&FACTS)).expect(text);
    expression.evaluate(&NoFacts).ok().map(|value| bracketed(&value))
}

/// Text of a value, with brackets around lists.
fn bracketed(value: &Value) -> String {
    match value {
        Value::List(list) => format!("[{}]", list.elements.iter().map(bracketed).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Value by the other implementation.
fn theirs(text: &str) -> Option<String> {
    let program = cel::Program::compile(text).expect(text);
    let value = program.execute(&cel::Context::default()).ok()?;
    Some(shown(&value))
}

fn shown(value: &cel::Value) -> String {
    match value {
        cel::Value::Int(own) => own.to_string(),
        cel::Value::Bool(own) => own.to_string(),
        cel::Value::String(own) => own.to_string(),
        cel::Value::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        other => format!("{other:?}"),
    }
}

fn whole() -> BoxedStrategy<String> {
    let leaf = prop_oneof![(0_i64..20).prop_map(|own| own.to_string()), Just("0x1f".to_owned()), Just("x".to_owned())];
    leaf.prop_recursive(3, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["+", "-", "*", "/", "%"]), inner.clone())
                .prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
            inner.clone().prop_map(|own| format!("({own})")),
            inner.clone().prop_map(|own| format!("-({own})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(one, two, three)| format!("({one} < {two} ? {two} : {three})")),
            (inner.clone(), inner).prop_map(|(one, two)| format!("[{one}, {two}][1]")),
        ]
    })
    .boxed()
}

fn text() -> BoxedStrategy<String> {
    let leaf = prop::sample::select(vec!["\"\"", "\"a\"", "'it''s'", "r\"\\d\"", "\"\\u00e9\\n\"", "\"abcabc\""]);
    let leaf = leaf.prop_map(|own| own.replace("''", "\\'"));
    leaf.prop_recursive(2, 8, 2, |inner| (inner.clone(), inner).prop_map(|(left, right)| format!("({left} + {right})")))
        .boxed()
}

fn list() -> BoxedStrategy<String> {
    let literal = prop::collection::vec(whole(), 1..4).prop_map(|items| format!("[{}]", items.join(", ")));
    literal
        .prop_recursive(2, 8, 2, |inner| {
            prop_oneof![
                (inner.clone(), whole()).prop_map(|(list, body)| format!("{list}.map(x, {body})")),
                (inner.clone(), whole()).prop_map(|(list, body)| format!("{list}.filter(x, x > {body})")),
                (inner.clone(), inner).prop_map(|(one, two)| format!("({one} + {two})")),
            ]
        })
        .boxed()
}

fn condition() -> BoxedStrategy<String> {
    let compare = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let leaf = prop_oneof![
        Just("true".to_owned()),
        Just("false".to_owned()),
        (whole(), compare.clone(), whole()).prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
        (text(), compare, text()).prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
        (whole(), list()).prop_map(|(element, list)| format!("{element} in {list}")),
        (text(), prop::sample::select(vec!["startsWith", "endsWith", "contains"]), text())
            .prop_map(|(own, method, part)| format!("{own}.{method}({part})")),
        (list(), prop::sample::select(vec!["exists", "all", "exists_one"]), whole())
            .prop_map(|(list, method, body)| format!("{list}.{method}(x, x == {body})")),
        (text(), whole()).prop_map(|(own, number)| format!("size({own}) > {number}")),
    ];
    leaf.prop_recursive(3, 16, 2, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["&&", "||"]), inner.clone())
                .prop_map(|(left, operator, right)| format!("{left} {operator} {right}")),
            inner.clone().prop_map(|own| format!("!({own})")),
            (inner.clone(), inner.clone(), inner).prop_map(|(one, two, three)| format!("({one} ? {two} : {three})")),
        ]
    })
    .boxed()
}

/// Puts an expression into a comprehension that defines its variable `x`.
fn closed(text: &str) -> String {
    format!("[1, 7].map(x, {text})")
}

/// `true` if the text compares two literals, which checkrein rejects.
fn compares_literals(text: &str) -> bool {
    let compiled = Expression::compile(text, &Environment::new(&FACTS));
    compiled.is_err_and(|error| matches!(error.problem, Problem::Constant { .. }))
}

/// `true` if the difference is known: the other implementation evaluates `&&` and `||` from left to right and keeps errors.
fn is_absorbed_error(ours: Option<&String>, theirs: Option<&String>) -> bool {
    ours.is_some() && theirs.is_none()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn numbers_and_lists_have_the_same_value(own in prop_oneof![whole(), list()]) {
        let own = closed(&own);
        if own.matches(".map(").count() + own.matches(".filter(").count() <= 2 {
            prop_assert_eq!(ours(&own), theirs(&own), "{}", own);
        }
    }

    #[test]
    fn conditions_have_the_same_value(own in condition()) {
        let own = closed(&own);
        let nested = ["map(", "filter(", "exists(", "all(", "exists_one("].iter().map(|name| own.matches(name).count());
        if nested.sum::<usize>() <= 2 && !compares_literals(&own) {
            let (ours, theirs) = (ours(&own), theirs(&own));
            if !is_absorbed_error(ours.as_ref(), theirs.as_ref()) {
                prop_assert_eq!(ours, theirs, "{}", own);
            }
        }
    }
}
