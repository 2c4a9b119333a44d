//! Termination: no expression over any facts takes more steps than the limit.
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use std::sync::OnceLock;

use checkrein_expression::{
    Environment, Expression, FailureKind, Field, Object, Schema, Template, Type, Value, Variables, limits,
};
use proptest::prelude::*;

/// Type of a list of texts.
static TEXTS: Type = Type::list(&Type::String);

static FACTS: Schema = Schema {
    name: "facts",
    doc: "",
    fields: &[
        Field { name: "words", kind: Type::list(&Type::String), doc: "" },
        Field { name: "lists", kind: Type::list(&TEXTS), doc: "" },
        Field { name: "text", kind: Type::String, doc: "" },
        Field { name: "part", kind: Type::list(&Type::String), doc: "" },
    ],
    methods: &[],
};

/// Facts of a call that was made to be slow: long lists, a long text, unknown elements.
#[derive(Debug)]
struct Huge;

fn words() -> Value {
    static WORDS: OnceLock<Value> = OnceLock::new();
    let make = || Value::list((0..20_000).map(|number| Value::from(format!("word{number}").as_str())));
    WORDS.get_or_init(make).clone()
}

fn text() -> Value {
    static TEXT: OnceLock<Value> = OnceLock::new();
    TEXT.get_or_init(|| "aaaaaaaaab/".repeat(50_000).as_str().into()).clone()
}

fn lists() -> Value {
    static LISTS: OnceLock<Value> = OnceLock::new();
    LISTS.get_or_init(|| Value::list(std::iter::repeat_n(words(), 100))).clone()
}

fn part() -> Value {
    static PART: OnceLock<Value> = OnceLock::new();
    PART.get_or_init(|| Value::list((0..1000).map(|_| Value::unknown("$X")))).clone()
}

impl Object for Huge {
    fn schema(&self) -> &'static Schema {
        &FACTS
    }

    fn field(&self, index: usize) -> Value {
        match index {
            0 => words(),
            1 => lists(),
            2 => text(),
            _ => part(),
        }
    }
}

/// Conditions on a text.
fn condition(text: &'static str) -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        format!("{text} == \"word1\""),
        format!("{text}.contains(\"zzz\")"),
        format!("{text}.lower().upper().trim().startsWith(\"x\")"),
        format!("{text}.matches(\"(a|aa)+$\")"),
        format!("{text}.globs(\"**/*a*/**\")"),
        format!("{text}.split(\"a\").size() > 3"),
        format!("({text} + text).size() == 0"),
        format!("{text} in words"),
        format!("words.join({text}).size() < 0"),
        format!("{text}.under(text)"),
    ])
}

/// Expressions over the facts, with comprehensions of two levels.
fn expression() -> impl Strategy<Value = String> {
    let list = prop::sample::select(vec!["words", "part", "lists[0]", "words.map(w, w + w)", "text.split(\"b\")"]);
    let kind = prop::sample::select(vec!["exists", "all", "exists_one"]);
    let one =
        (list.clone(), kind.clone(), condition("x")).prop_map(|(list, kind, body)| format!("{list}.{kind}(x, {body})"));
    let two = (list, kind, condition("y"))
        .prop_map(|(list, kind, body)| format!("words.exists(x, {list}.{kind}(y, {body} && x == y))"));
    let long = prop::sample::select(vec![
        "lists.all(x, x.filter(y, y == \"\").size() == 0)",
        "words.map(w, text).join(\"\").size() == 0",
        "words.map(w, text) == words.map(v, text)",
        "string(words.map(w, text)).size() == 0",
        "text in words.map(w, text + w)",
    ])
    .prop_map(str::to_owned);
    let leaf = prop_oneof![condition("text"), one, two, long];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let operator = prop::sample::select(vec!["&&", "||"]);
        prop_oneof![
            (inner.clone(), operator, inner.clone())
                .prop_map(|(left, operator, right)| format!("({left}) {operator} ({right})")),
            inner.prop_map(|inner| format!("!({inner})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn evaluation_ends_within_the_limit(text in expression(), variable in expression()) {
        let mut environment = Environment::new(&FACTS);
        let variables = Variables::compile(&[("own".to_owned(), variable)], &mut environment).unwrap();
        let text = format!("({text}) || vars.own");
        let Ok(expression) = Expression::condition(&text, &environment) else { return Ok(()) };
        let (value, steps) = expression.count_steps(&Huge, &variables);
        match value {
            // The last step can be long, and is refused before its work.
            Err(failure) if failure.kind == FailureKind::TooManySteps => {}
            _ => prop_assert!(steps <= limits::STEPS, "{}: {} steps", text, steps),
        }
        // An explanation and a text have the same limit.
        let _ = expression.explain(&Huge, &variables);
        if let Ok(template) = Template::compile(&format!("${{{text}}} ${{words.size()}}"), &environment) {
            let _ = template.render(&Huge, &variables);
        }
    }
}

/// Texts that would be far larger than their arguments are refused before they are made.
#[test]
fn work_that_exceeds_the_limit_is_refused() {
    for text in [
        "words.join(text).size() == 0",
        "words.map(w, text).join(\"\").size() == 0",
        "words.map(w, text) == words.map(v, text)",
        "string(words.map(w, text)).size() == 0",
        "words.all(x, x in words)",
        // The limit is a failure, also beside an unknown value.
        "part[0] == \"a\" || words.all(x, x in words)",
        "words.all(x, x in words) || part[0] == \"a\"",
    ] {
        let expression = Expression::condition(text, &Environment::new(&FACTS)).unwrap();
        let failure = expression.evaluate(&Huge).unwrap_err();
        assert_eq!(failure.kind, FailureKind::TooManySteps, "{text}");
    }
}
