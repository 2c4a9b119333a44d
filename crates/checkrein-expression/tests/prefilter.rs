//! The prefilter excludes only calls for which the condition is false.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a failed test reports its cause by panicking")]

use std::sync::Arc;

use checkrein_expression::{
    Environment, Error, Expression, Field, List, Object, Prefilter, Problem, Schema, Type, Unknown, Value, Variables,
};
use proptest::prelude::*;

static COMMAND: Schema = Schema {
    name: "command",
    doc: "",
    fields: &[
        Field { name: "program", kind: Type::String, doc: "" },
        Field { name: "subcommand", kind: Type::String, doc: "" },
        Field { name: "args", kind: Type::list(&Type::String), doc: "" },
        Field { name: "multiplies", kind: Type::Bool, doc: "" },
    ],
    methods: &[],
};

static FACTS: Schema = Schema {
    name: "facts",
    doc: "",
    fields: &[
        Field { name: "other", kind: Type::Bool, doc: "" },
        Field { name: "commands", kind: Type::list(&Type::Object(&COMMAND)), doc: "" },
    ],
    methods: &[],
};

#[derive(Debug, Clone)]
struct Fields(&'static Schema, Vec<Value>);

impl Object for Fields {
    fn schema(&self) -> &'static Schema {
        self.0
    }

    fn field(&self, index: usize) -> Value {
        self.1[index].clone()
    }
}

fn compiled(variables: &[(String, String)], when: &str) -> Result<(Expression, Variables, Option<Prefilter>), Error> {
    let mut environment = Environment::new(&FACTS);
    let variables = Variables::compile(variables, &mut environment).map_err(|(_, error)| error)?;
    let condition = Expression::condition(when, &environment)?;
    let prefilter =
        Prefilter::new(&condition, &variables, &FACTS, "commands", &["program", "subcommand", "multiplies"]);
    Ok((condition, variables, prefilter))
}

fn prefilter(variables: &[(String, String)], when: &str) -> Option<Prefilter> {
    compiled(variables, when).unwrap().2
}

fn command(program: Value, subcommand: Value, args: &[&str]) -> Value {
    multiplying(program, subcommand, args, false.into())
}

fn multiplying(program: Value, subcommand: Value, args: &[&str], multiplies: Value) -> Value {
    let args = Value::list(args.iter().map(|arg| Value::from(*arg)));
    Value::Object(Arc::new(Fields(&COMMAND, vec![program, subcommand, args, multiplies])))
}

fn call(other: Value, elements: Vec<Value>, rest: Option<Unknown>) -> Fields {
    Fields(&FACTS, vec![other, Value::List(List { elements: elements.into(), rest })])
}

#[test]
fn conditions_have_these_prefilters() {
    let status = call(false.into(), vec![command("git".into(), "status".into(), &[])], None);
    let names = ("names".to_owned(), r#"["rm", "mv"]"#.to_owned());
    let git = ("git".to_owned(), r#"commands.filter(c, c.program == "git")"#.to_owned());
    for (when, is_excluded) in [
        (r#"commands.exists(c, c.program == "rm" && "-r" in c.args)"#, true),
        (r#"commands.exists(c, c.program in vars.names || c.program == "git" && c.subcommand == "push")"#, true),
        (r#"commands.exists(c, "-r" in c.args && "rm" == c.program)"#, true),
        (r#"vars.git.exists(c, c.subcommand == "push") && other"#, true),
        (r#"vars.git.exists(c, c.subcommand in ["push", "status"])"#, false),
        (r#"vars.git.map(c, c.subcommand).exists(s, s == "push")"#, false),
        (r#"commands.filter(c, c.program == "rm").map(c, c.subcommand).exists(s, s == "push")"#, true),
        (r#"commands.exists(c, c.multiplies)"#, true),
        (r#"commands.exists(c, "x" in c.args && c.multiplies)"#, true),
        (r#"commands.exists(c, !c.multiplies)"#, false),
        (r#"commands.exists(c, c.program == "rm") || other"#, false),
        (r#"!commands.exists(c, c.program == "rm")"#, false),
        (r#"commands.all(c, c.program == "rm")"#, false),
        (r#"commands.exists(c, c.program != "rm")"#, false),
        (r#"commands.exists(c, c.program == "rm") ? other : true"#, false),
        // Two commands meet the demands together.
        (r#"commands.exists(c, c.program == "git") && commands.exists(c, c.subcommand == "status")"#, false),
    ] {
        let prefilter = prefilter(&[names.clone(), git.clone()], when);
        let found = prefilter.is_some_and(|prefilter| prefilter.excludes(&status));
        assert_eq!(found, is_excluded, "{when}");
    }
}

#[test]
fn unknown_commands_exclude_nothing() {
    let prefilter = prefilter(&[], r#"commands.exists(c, c.program == "rm" && c.subcommand == "x")"#);
    let prefilter = prefilter.unwrap();
    let ls = || command("ls".into(), "".into(), &[]);
    assert!(prefilter.excludes(&call(true.into(), vec![ls()], None)));
    assert!(prefilter.excludes(&call(true.into(), vec![], None)));
    assert!(!prefilter.excludes(&call(true.into(), vec![ls()], Some(Unknown("$X".into())))));
    assert!(!prefilter.excludes(&call(true.into(), vec![ls(), command(Value::unknown("$X"), "x".into(), &[])], None)));
    assert!(!prefilter.excludes(&call(true.into(), vec![command("rm".into(), Value::unknown("$X"), &[])], None)));
    assert!(!prefilter.excludes(&call(true.into(), vec![ls(), Value::unknown("$X")], None)));
}

fn on_command(name: &'static str) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["program", "subcommand"])
            .prop_flat_map(move |field| {
                prop::sample::select(vec!["== \"a\"", "== \"b\"", "in [\"a\", \"c\"]", "!= \"a\"", "in vars.names"])
                    .prop_map(move |rest| format!("{name}.{field} {rest}"))
            })
            .boxed(),
        prop::sample::select(vec!["other", "vars.some", "\"x\" in commands[5].args"]).prop_map(str::to_owned),
        Just(format!("\"a\" == {name}.program")),
        Just(format!("{name}.multiplies")),
        Just(format!("{name}.args.exists(x, x == {name}.program)")),
    ];
    combined(leaf.boxed())
}

fn combined(leaf: BoxedStrategy<String>) -> BoxedStrategy<String> {
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} && {other})")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("({one} || {other})")),
            inner.prop_map(|own| format!("!({own})")),
        ]
    })
    .boxed()
}

fn list() -> BoxedStrategy<String> {
    let lists = prop::sample::select(vec!["commands", "vars.part", "vars.mixed"]).prop_map(str::to_owned);
    prop_oneof![lists.clone(), (lists, on_command("f")).prop_map(|(list, body)| format!("{list}.filter(f, {body})"))]
        .boxed()
}

fn condition() -> BoxedStrategy<String> {
    let quantifier = prop::sample::select(vec!["exists", "exists", "exists", "all", "exists_one"]);
    let leaf = (list(), quantifier, on_command("c")).prop_map(|(list, kind, body)| format!("{list}.{kind}(c, {body})"));
    let nested = (list(), list(), on_command("d"), on_command("c"))
        .prop_map(|(one, other, inner, outer)| format!("{one}.exists(c, {other}.exists(d, {inner}) && {outer})"));
    let mapped = (list(), on_command("c"))
        .prop_map(|(list, body)| format!("{list}.filter(m, m.program == \"a\").map(c, {body}).exists(b, b)"));
    combined(prop_oneof![4 => leaf, 2 => nested, 1 => mapped, 1 => Just("vars.some".to_owned())].boxed())
}

fn value() -> BoxedStrategy<Value> {
    prop::sample::select(vec!["a", "b", "c", "d", "$X"])
        .prop_map(|text| if text == "$X" { Value::unknown(text) } else { text.into() })
        .boxed()
}

fn facts() -> BoxedStrategy<Fields> {
    let flag = || prop::sample::select(vec![Value::Bool(true), Value::Bool(false), Value::unknown("$Y")]);
    let element = (value(), value(), flag())
        .prop_map(|(program, subcommand, multiplies)| multiplying(program, subcommand, &["a", "x"], multiplies));
    let other = flag();
    (other, prop::collection::vec(element, 0..4), prop::sample::select(vec![None, None, None, Some("$Z")]))
        .prop_map(|(other, elements, rest)| call(other, elements, rest.map(|rest| Unknown(rest.into()))))
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn excluded_conditions_are_false(
        when in condition(),
        part in on_command("p"),
        mixed in on_command("q"),
        some in on_command("r"),
        calls in prop::collection::vec(facts(), 8),
    ) {
        let variables = [
            ("names", r#"["b", "d"]"#.to_owned()),
            ("some", format!("commands.exists(r, {})", some.replace("vars.some", "other"))),
            ("part", format!("commands.filter(p, {part})")),
            ("mixed", format!("commands.filter(q, commands.exists(p, p.program == \"a\") && ({mixed}))")),
        ];
        let variables: Vec<_> = variables.map(|(name, text)| (name.to_owned(), text)).into();
        let (condition, variables, prefilter) = match compiled(&variables, &when) {
            Ok(compiled) => compiled,
            // The nesting of comprehensions is limited.
            Err(error) if error.problem == Problem::TooManyComprehensions => return Ok(()),
            Err(error) => panic!("{error}: {when}"),
        };
        let Some(prefilter) = prefilter else { return Ok(()) };
        for call in calls.iter().filter(|call| prefilter.excludes(*call)) {
            let value = condition.evaluate_with(call, &variables);
            prop_assert!(matches!(value, Ok(Value::Bool(false))), "{when} is {value:?} for {call:?}");
        }
    }
}
