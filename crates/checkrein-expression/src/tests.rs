//! Tests of the language over a small table of facts.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use crate::{
    Environment, Expression, FailureKind, Field, Fit, Format, Inside, List, Method, Object, PartialText, Schema, Step,
    Template, Type, Unknown, Value, Variables,
};

static PROGRAM: Format = Format {
    fit: |text| match (text.contains('/'), text.contains(' ')) {
        (true, _) => Fit::Never("use `path`".to_owned()),
        (_, true) => Fit::Unlikely("it is one word".to_owned()),
        _ => Fit::Fits,
    },
    judges_starts: false,
};

static ABSOLUTE: Format = Format {
    fit: |text| match text.starts_with(['/', '*']) {
        true => Fit::Fits,
        false => Fit::Never("it is absolute".to_owned()),
    },
    judges_starts: true,
};

static COMMAND: Schema = Schema {
    name: "command",
    doc: "",
    fields: &[
        Field { name: "program", kind: Type::Format(&PROGRAM), doc: "" },
        Field { name: "args", kind: Type::list(&Type::String), doc: "" },
        Field { name: "options", kind: Type::map(&Type::String), doc: "" },
    ],
    methods: &[],
};

static SUBAGENT: Schema = Schema {
    name: "subagent",
    doc: "",
    fields: &[
        Field { name: "id", kind: Type::String, doc: "" },
        Field { name: "type", kind: Type::nullable(&Type::String), doc: "" },
    ],
    methods: &[],
};

static HISTORY: Schema = Schema {
    name: "history",
    doc: "",
    fields: &[Field { name: "denials", kind: Type::Int, doc: "" }],
    methods: &[Method { name: "count", parameters: &[Type::String], result: Type::Int, doc: "" }],
};

static FACTS: Schema = Schema {
    name: "facts",
    doc: "",
    fields: &[
        Field { name: "tool", kind: Type::String, doc: "" },
        Field { name: "kind", kind: Type::OneOf(&["read", "edit", "execute"]), doc: "" },
        Field { name: "input", kind: Type::map(&Type::Any), doc: "" },
        Field { name: "commands", kind: Type::list(&Type::Object(&COMMAND)), doc: "" },
        Field { name: "subagent", kind: Type::nullable(&Type::Object(&SUBAGENT)), doc: "" },
        Field { name: "history", kind: Type::Object(&HISTORY), doc: "" },
        Field { name: "secret", kind: Type::Bool, doc: "" },
        Field { name: "prompt", kind: Type::String, doc: "" },
        Field { name: "hour", kind: Type::Range(0, 23), doc: "" },
        Field { name: "cwd", kind: Type::Format(&ABSOLUTE), doc: "" },
    ],
    methods: &[Method { name: "mode", parameters: &[Type::String], result: Type::Int, doc: "" }],
};

#[derive(Debug)]
struct Row(&'static Schema, Vec<Value>);

impl Object for Row {
    fn schema(&self) -> &'static Schema {
        self.0
    }

    fn field(&self, index: usize) -> Value {
        self.1.get(index).cloned().unwrap_or(Value::Null)
    }

    fn call(&self, _: usize, arguments: &[Value]) -> Result<Value, FailureKind> {
        Ok(Value::Int(i64::try_from(arguments.len()).unwrap_or(0)))
    }
}

fn object(schema: &'static Schema, fields: impl IntoIterator<Item = Value>) -> Value {
    Value::Object(Arc::new(Row(schema, fields.into_iter().collect())))
}

fn partial(shown: &str, known: &[&str], starts: bool, ends: bool) -> Value {
    let known = known.iter().map(|part| (*part).to_owned()).collect();
    Value::Partial(Arc::new(PartialText { shown: shown.to_owned(), known, starts, ends }))
}

fn command(program: impl Into<Value>, args: &[Value]) -> Value {
    object(&COMMAND, [program.into(), Value::list(args.iter().cloned())])
}

/// Facts of `git push $REMOTE release/$X; $TOOL x`.
fn facts() -> Row {
    let git =
        command("git", &["push".into(), Value::unknown("$REMOTE"), partial("release/$X", &["release/"], true, false)]);
    let unknown = command(Value::unknown("$TOOL"), &["x".into()]);
    let input = BTreeMap::from([("command".to_owned(), "git push".into()), ("count".to_owned(), 3.into())]);
    Row(
        &FACTS,
        vec![
            "Bash".into(),
            "execute".into(),
            Value::Map(Arc::new(input)),
            Value::list([git, unknown]),
            Value::Null,
            object(&HISTORY, [Value::Int(2)]),
            Value::unknown("the output of `cat`"),
        ],
    )
}

fn environment() -> Environment {
    let params = BTreeMap::from([
        ("protected".to_owned(), Value::list(["main".into(), "release/*".into()])),
        ("limit".to_owned(), 3.into()),
    ]);
    let check = |name: &str, arguments: &[Option<&Value>]| match arguments {
        [Some(Value::String(text))] if name == "mode" && text.is_empty() => Err("`mode` needs a name".to_owned()),
        _ => Ok(()),
    };
    let describe = |name: &str| format!("`{name}` exists at `prompt_submit`");
    Environment::new(&FACTS).params(params).literal_check(check).without(vec!["prompt"], describe)
}

fn shown(text: &str) -> String {
    let expression = match Expression::compile(text, &environment()) {
        Ok(expression) => expression,
        Err(error) => return format!("error: {error}"),
    };
    match expression.evaluate(&facts()) {
        Ok(Value::Unknown(unknown)) => format!("unknown: {}", unknown.0),
        Ok(value) => value.to_string(),
        Err(failure) => format!("failure: {failure}"),
    }
}

#[test]
fn expressions_have_these_values() {
    for (text, value) in [
        ("1 + 2 * 3 - 4 / 2", "5"),
        ("7 % 4 == 3 && !(1 > 2)", "true"),
        ("-(2 - 5)", "3"),
        ("1.5 + 1 == 2.5", "true"),
        ("0x10 + 0 == 16", "true"),
        (r#""a" + 'b' + """c"d""" + r"\n""#, "abc\"d\\n"),
        (r#""\u00e9\x41\101\t""#, "éAA\t"),
        ("tool == \"Bash\" ? \"yes\" : \"no\"", "yes"),
        ("[1, 2, 3].map(x, x * 2)", "2, 4, 6"),
        ("[1, 2, 3].filter(x, x > 1).size()", "2"),
        ("[1, 2, 3].all(x, x > 0) && [1, 2].exists(x, x == 2) && [1, 2].exists_one(x, x == 2)", "true"),
        ("{\"a\": 1, \"b\": 2}[\"b\"]", "2"),
        ("\"a\" in {\"a\": 1}", "true"),
        ("2 in [1, 2]", "true"),
        ("size(\"héllo\")", "5"),
        ("\"a,b\".split(\",\").join(\"-\").upper()", "A-B"),
        ("\"/a/b\".under(\"/a\") && !\"/ab\".under(\"/a\") && \"/a\".under(\"/a/\")", "true"),
        ("\"foo123\".matches(r\"\\d+$\")", "true"),
        ("\"src/a/b.rs\".globs([\"src/**/*.rs\"]) && !\"src/a/b.rs\".globs(\"*.rs\")", "true"),
        ("\"release/1\".globs(params.protected)", "true"),
        ("params.limit + 1", "4"),
        ("has(input.command) && !has(input.other)", "true"),
        ("input.command.startsWith(\"git\")", "true"),
        ("input[\"count\"] + 1", "4"),
        ("history.count(\"Bash\") + history.denials", "3"),
        ("int(\" 12 \") + 1", "13"),
        ("string(12) + \"!\"", "12!"),
        ("1 // a comment\n + 1", "2"),
        ("subagent == null", "true"),
        ("subagent != null && subagent.type == \"explore\"", "false"),
        ("subagent == null || subagent.id == \"1\"", "true"),
        ("subagent != null ? subagent.id : \"main\"", "main"),
    ] {
        assert_eq!(shown(text), value, "{text}");
    }
}

#[test]
fn unknown_parts_stay_unknown_only_where_they_matter() {
    for (text, value) in [
        ("secret", "unknown: the output of `cat`"),
        ("secret && false", "false"),
        ("false && secret", "false"),
        ("secret || true", "true"),
        ("secret && true", "unknown: the output of `cat`"),
        ("!secret", "unknown: the output of `cat`"),
        ("secret || input.missing == 1", "unknown: the output of `cat`"),
        // One command is git, whatever the other is.
        ("commands.exists(c, c.program == \"git\")", "true"),
        ("commands.exists(c, c.program == \"rm\")", "unknown: $TOOL"),
        ("commands.all(c, c.program == \"git\")", "unknown: $TOOL"),
        ("commands.all(c, c.program == \"rm\")", "false"),
        ("commands.filter(c, c.program == \"git\").exists(c, \"push\" in c.args)", "true"),
        ("commands.filter(c, c.program == \"git\").size()", "unknown: $TOOL"),
        ("commands.map(c, c.program)", "git, $TOOL"),
        ("commands.size()", "2"),
        // `release/$X` is not main, and it may be release/1.
        ("commands[0].args[2] == \"main\"", "false"),
        ("commands[0].args[2] == \"release/1\"", "unknown: release/$X"),
        ("commands[0].args[2].startsWith(\"release\")", "true"),
        ("commands[0].args[2].startsWith(\"release/2\")", "unknown: release/$X"),
        ("commands[0].args[2].startsWith(\"main\")", "false"),
        ("commands[0].args[2].contains(\"lease\")", "true"),
        ("commands[0].args[2].contains(\"x\")", "unknown: release/$X"),
        ("commands[0].args[2].endsWith(\"x\")", "unknown: release/$X"),
        ("commands[0].args[2] in [\"main\", \"master\"]", "false"),
        ("\"origin\" in commands[0].args", "unknown: $REMOTE"),
        ("\"push\" in commands[0].args", "true"),
        ("secret ? 1 : 2", "unknown: the output of `cat`"),
        ("size(commands[0].args[2])", "unknown: release/$X"),
        ("commands[0].args[2].globs(\"main\")", "false"),
        ("commands[0].args[2].globs([\"main\", \"dev/*\"])", "false"),
        ("commands[0].args[2].globs([\"main\", \"release/*\"])", "unknown: release/$X"),
        ("commands[0].args[2].globs(\"rel*/1\")", "unknown: release/$X"),
        ("commands[0].args[2].globs(\"release?1\")", "unknown: release/$X"),
        ("commands[0].args[2].globs(\"**\")", "true"),
        ("commands[0].args[2].under(\"release\")", "true"),
        ("commands[0].args[2].under(\"main\")", "false"),
        ("commands[0].args[2].under(\"release/2\")", "unknown: release/$X"),
        ("(\"a/\" + commands[0].args[2]).startsWith(\"a/release/\")", "true"),
        ("commands[0].args[2] + \"/b\" == \"release/main\"", "false"),
        ("commands[0].args[2] + \"/b\" == \"release/x/b\"", "unknown: release/$X/b"),
        ("commands[0].args[2].matches(\"^main$\")", "unknown: release/$X"),
        ("commands[0].args[2].matches(\"^rel\")", "true"),
        ("commands[0].args[2].matches(\"^release/\")", "true"),
        ("commands[0].args[2].matches(\"release/$\")", "unknown: release/$X"),
        ("commands[0].args[2].matches(\"^release/[^/]*$\")", "unknown: release/$X"),
        ("commands[0].args[2].matches(\"^release.*\")", "true"),
        ("commands[0].args[2].matches(\"release/x\")", "unknown: release/$X"),
        ("commands[0].args[2].upper().matches(\"^RELEASE\")", "true"),
        ("commands[0].args.join(\" \").matches(\"^push .* release\")", "unknown: push $REMOTE release/$X"),
        ("commands[0].args.join(\" \").matches(\" release/\")", "true"),
        ("mode(\"x\") + 1", "2"),
    ] {
        assert_eq!(shown(text), value, "{text}");
    }
}

#[test]
fn rest_of_a_list_may_have_a_match() {
    let list = |rest: Option<&str>| {
        let rest = rest.map(|fact| Unknown(fact.into()));
        let commands = Value::List(List { elements: [command("ls", &[])].into(), rest });
        Row(&FACTS, vec![Value::Null, Value::Null, Value::Null, commands])
    };
    let value = |text: &str, rest: Option<&str>| {
        Expression::compile(text, &environment()).unwrap().evaluate(&list(rest)).unwrap().to_string()
    };
    for (text, complete, open) in [
        ("commands.exists(c, c.program == \"ls\")", "true", "true"),
        ("commands.exists(c, c.program == \"rm\")", "false", "a script"),
        ("commands.all(c, c.program == \"ls\")", "true", "a script"),
        ("commands.all(c, c.program == \"rm\")", "false", "false"),
        ("commands.exists_one(c, c.program == \"ls\")", "true", "a script"),
        ("commands.size() == 1", "true", "a script"),
    ] {
        assert_eq!(value(text, None), complete, "{text}");
        assert_eq!(value(text, Some("a script")), open, "{text}");
    }
}

#[test]
fn invalid_expressions_are_rejected_with_help() {
    for (text, message) in [
        ("", "expected a value, found the end"),
        ("1 +", "expected a value, found the end"),
        ("(1", "expected `)`, found the end"),
        ("1 2", "expected an operator or the end, found a number"),
        ("tool = \"x\"", "unexpected character `=`; use `==` to compare"),
        ("tool == \"x", "the string is not closed"),
        (r#""\d""#, r#"invalid escape; write `\\` for a backslash, or a raw string such as r"\d""#),
        ("1u", "`1u` is not a valid number; omit the `u`: all whole numbers have one type"),
        ("b\"x\"", "byte strings are not supported in rules"),
        ("99999999999999999999", "`99999999999999999999` is not a valid number"),
        ("if", "`if` is a reserved word"),
        ("has(tool)", "`has` takes one field, such as `has(input.command)`"),
        ("commands.exists(c)", "`exists` takes a name and an expression, such as `list.exists(x, x == 1)`"),
        ("{1: 2}", "keys of a map must be strings in quotes"),
        ("tol == \"x\"", "unknown name `tol`; did you mean `tool`?"),
        ("commands.exists(c, c.prog == \"x\")", "`command` has no field `prog`; known names: program, args, options"),
        ("history.cuont(\"x\")", "`history` has no method `cuont`; did you mean `count`?"),
        ("tool.startswith(\"x\")", "a string has no method `startswith`; did you mean `startsWith`?"),
        ("siez(tool)", "unknown function `siez`; known names: string, int, mode"),
        ("mod(tool)", "unknown function `mod`; did you mean `mode`?"),
        ("mode(1)", "expected a string, found a whole number"),
        ("mode(\"\")", "`mode` needs a name"),
        ("prompt == \"\"", "`prompt` is not available at all events of the rule; `prompt` exists at `prompt_submit`"),
        ("tool.matches(\"(a{1000}){1000}\")", "invalid pattern: Compiled regex exceeds size limit of 262144 bytes."),
        ("tool.matches(\"[z-a]\")", "invalid pattern: invalid character class range, the start must be <= the end"),
        ("tool == 1", "this comparison is always false: a string is never equal to a whole number"),
        (
            "kind == \"exec\"",
            "this comparison is always false: `kind` is never \"exec\"; known names: read, edit, execute",
        ),
        (
            "kind in [\"read\", \"edti\"]",
            "this comparison is always false: `kind` is never \"edti\"; did you mean `edit`?",
        ),
        ("1 in [\"a\"]", "this comparison is always false: a whole number is never equal to a string"),
        ("hour > 30", "this comparison is always false: `hour` is from 0 to 23"),
        ("-1 == hour", "this comparison is always false: `hour` is from 0 to 23"),
        ("cwd == \"src\"", "this comparison is always false: `cwd` is never \"src\"; it is absolute"),
        ("cwd.under(\"~/.ssh\")", "this comparison is always false: `cwd` is never \"~/.ssh\"; it is absolute"),
        ("cwd.startsWith(\"~/\")", "this comparison is always false: `cwd` is never \"~/\"; it is absolute"),
        (
            "cwd.globs([\"/a/**\", \"src/**\"])",
            "this comparison is always false: `cwd` is never \"src/**\"; it is absolute",
        ),
        ("tool in []", "this comparison is always false: the list is empty"),
        (
            "tool.lower() == \"Bash\"",
            "this comparison is always false: `tool.lower()` is never \"Bash\"; write it in lower case",
        ),
        (
            "\"Bash\" != tool.upper()",
            "this comparison is always true: `tool.upper()` is never \"Bash\"; write it in upper case",
        ),
        ("secret && (tool == \"x\" ? 1 : false)", "the branches have different types: a whole number and a bool"),
        (
            "commands.exists(c, c.program in [\"git\", 3])",
            "the elements of the list have different types: a string and a whole number",
        ),
        ("[1] + [\"a\"] == []", "`+` does not apply to a list of whole numbers and a list of strings"),
        ("hour + 1 < \"a\"", "`<` does not apply to a whole number and a string"),
        ("\"a\" == \"b\"", "this comparison is always false: both sides are literals"),
        ("1 != 2", "this comparison is always true: both sides are literals"),
        (
            "commands.exists(c, c.program == \"/usr/bin/git\")",
            "this comparison is always false: `c.program` is never \"/usr/bin/git\"; use `path`",
        ),
        ("commands.exists(c, \"x\" == c.options[\"-o\"])", MISSING),
        ("commands.exists(c, \"-a\" in c.options && c.options[\"-o\"] == \"x\")", MISSING),
        ("commands.exists(c, \"-o\" in c.options || c.options[\"-o\"] == \"x\")", MISSING),
        (
            "commands.exists(c, c.options.force == \"x\")",
            "`c.options.force` fails for a call without the key; test it first: `\"force\" in c.options && …`",
        ),
        (
            "commands.program == \"git\"",
            "`commands` is a list; write a condition for its elements, such as `commands.exists(x, x.program == …)`",
        ),
        ("commands.exists(c, c.args.contains(\"-f\"))", "`c.args` is a list; write `\"-f\" in c.args`"),
        (
            "commands.exists(c, c.args.startsWith(\"-f\"))",
            "`c.args` is a list; write `c.args.exists(x, x.startsWith(\"-f\"))`",
        ),
        ("commands.exists(c, c.args.has(\"-f\"))", "`c.args` is a list; write `\"-f\" in c.args`"),
        ("tool.toLowerCase() == \"x\"", "a string has no method `toLowerCase`; did you mean `lower`?"),
        ("commands.length() == 1", "a list of `command` has no method `length`; did you mean `size`?"),
        ("tool == \"a\" and tool == \"b\"", "expected an operator or the end, found `and`; write `&&`"),
        ("(tool == \"a\" OR tool == \"b\")", "expected `)`, found `OR`; write `||`"),
        ("not secret", "expected an operator or the end, found `secret`; write `!`"),
        ("tool && true", "expected a bool, found a string"),
        ("tool + 1", "`+` does not apply to a string and a whole number"),
        ("!tool", "expected a bool, found a string"),
        ("tool.size(1)", "`size` takes no arguments, not 1"),
        ("history.count(1)", "expected a string, found a whole number"),
        ("subagent.id == \"x\"", "`subagent` may be null here; test it first: `subagent != null && …`"),
        (
            "subagent != null && subagent.type.startsWith(\"x\")",
            "`subagent.type` may be null here; test it first: `subagent.type != null && …`",
        ),
        ("tool.matches(tool)", "the pattern of `matches` must be a string in quotes"),
        ("tool.matches(\"(\")", "invalid pattern: unclosed group"),
        ("tool.globs(\"[\")", "invalid pattern: unclosed character class; missing ']'"),
        ("params.protcted", "`params` has no field `protcted`; did you mean `protected`?"),
        ("vars.x", "`vars` has no field `x`"),
        ("params", "unknown name `params`; name one of them: `params.NAME`"),
        (
            "commands.exists(a, commands.exists(b, commands.exists(c, true)))",
            "comprehensions are nested more than 2 levels deep",
        ),
    ] {
        assert_eq!(shown(text), format!("error: {message}"), "{text}");
    }
}

const MISSING: &str = "`c.options[\"-o\"]` fails for a call without the key; test it first: `\"-o\" in c.options && …`";

#[test]
fn tested_keys_and_other_maps_need_no_test() {
    for text in [
        "commands.exists(c, \"-o\" in c.options && c.options[\"-o\"] == \"x\")",
        "commands.exists(c, '-o' in c.options && c.options[\"-o\"] == \"x\")",
        "commands.exists(c, has(c.options.o) && c.options.o == \"x\")",
        "commands.exists(c, !(\"-o\" in c.options) || c.options[\"-o\"] == \"x\")",
        "commands.exists(c, c.options.exists(name, c.options[name] == \"x\"))",
        "commands.exists(c, (\"-o\" in c.options ? c.options[\"-o\"] : \"\") == \"x\")",
        "commands.filter(c, \"-o\" in c.options).map(c, c.options[\"-o\"]) == [\"x\"]",
        "input.command == \"x\"",
        "{\"a\": 1}[\"a\"] == params.limit",
    ] {
        assert!(Expression::compile(text, &environment()).is_ok(), "{text}: {}", shown(text));
    }
    // The name of an inner value does not inherit what is proven about an outer one.
    let text = "subagent != null && [subagent].exists(subagent, subagent.id == \"x\")";
    let text = text.replace("[subagent]", "[null, subagent]");
    assert!(shown(&text).contains("may be null"), "{}", shown(&text));
}

#[test]
fn unlikely_values_are_warnings() {
    let warnings = |text: &str| {
        let expression = Expression::compile(text, &environment()).unwrap();
        expression.warnings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let expected = ["`c.program` is probably never \"git push\"; it is one word"];
    assert_eq!(warnings("commands.exists(c, c.program == \"git push\")"), expected);
    assert_eq!(warnings("commands.exists(c, c.program in [\"git\", \"git push\"])"), expected);
    assert!(warnings("commands.exists(c, c.program == \"git\")").is_empty());
}

#[test]
fn templates_use_what_the_condition_has_proven() {
    let condition = Expression::condition("tool == \"Task\" && subagent != null", &environment()).unwrap();
    let text = "by ${subagent.id}";
    assert!(Template::compile(text, &environment()).is_err());
    assert!(Template::compile(text, &environment().assuming(&condition)).is_ok());
    let other = Expression::condition("tool == \"Task\" || subagent != null", &environment()).unwrap();
    assert!(Template::compile(text, &environment().assuming(&other)).is_err());
}

#[test]
fn objects_are_no_texts() {
    let error = |text: &str| Template::compile(text, &environment()).unwrap_err().to_string();
    assert_eq!(
        error("runs ${commands}"),
        "`commands` is a list of objects, not a text; write a text, such as `commands.map(x, x.program)`"
    );
    assert_eq!(
        error("runs ${commands[0]}"),
        "`commands[0]` is an object, not a text; write a text, such as `commands[0].program`"
    );
    assert!(Template::compile("${commands[0].args}", &environment()).is_ok());
}

#[test]
fn failures_name_their_cause() {
    for (text, message) in [
        ("input.missing == 1", "no value for the key `missing`; test it with `has(…)` first"),
        ("[1][3] == 1", "the list has no element 3"),
        ("input.count.startsWith(\"x\")", "expected a string, found a whole number"),
        ("1 / (history.denials - 2)", "division by zero"),
        ("9223372036854775807 + 1", "the result of the calculation is too large"),
        ("int(tool)", "`Bash` is not a whole number"),
    ] {
        assert_eq!(shown(text), format!("failure: {message}"), "{text}");
    }
    // An error has no effect if the other side decides.
    assert_eq!(shown("input.missing == 1 || true"), "true");
    assert_eq!(shown("false && input.missing == 1"), "false");
    assert_eq!(shown("input.missing == 1 && false"), "false");
}

#[test]
fn limits_hold() {
    let long = format!("\"{}\"", "x".repeat(crate::limits::BYTES));
    assert_eq!(shown(&long), "error: the expression has 16386 bytes, more than 16384");
    for text in [
        "(".repeat(1000),
        format!("{}1{}", "(".repeat(100), ")".repeat(100)),
        format!("{}true", "!".repeat(200)),
        format!("tool{}", ".x".repeat(200)),
        format!("1{}", " + 1".repeat(2000)),
        "[".repeat(8000),
        "a ? ".repeat(3000),
    ] {
        let message = shown(&text);
        assert!(message.starts_with("error: "), "{message}");
    }
    assert_eq!(shown(&format!("true{}", " && true".repeat(200))), "true");
    // Long chains of conditions are limited by their parts only, and keep their order.
    assert_eq!(shown(&format!("false{} || true", " || history.denials > 5".repeat(600))), "true");
    assert_eq!(shown(&format!("tool == \"Bash\"{} && false", " && tool != \"x\"".repeat(600))), "false");
    let many = format!("1{}", "||1".repeat(3000));
    assert_eq!(shown(&many), "error: the expression has more than 4096 parts");
    let list = format!("[{}]", vec!["1"; 2000].join(","));
    let costly = format!("{list}.all(x, {list}.all(y, x == y))");
    assert_eq!(shown(&costly), "failure: the rule needs more than 200000 steps");
}

#[test]
fn variables_are_evaluated_in_any_order() {
    let mut own = environment();
    let texts = [("b", "vars.a.size() > 0"), ("a", "commands.filter(c, c.program == \"git\")")];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let variables = Variables::compile(&texts, &mut own).unwrap();
    let expression = Expression::condition("vars.a.exists(c, \"push\" in c.args)", &own).unwrap();
    assert_eq!(expression.evaluate_with(&facts(), &variables).unwrap().to_string(), "true");
    let (value, trace) = expression.explain(&facts(), &variables);
    assert_eq!(value.unwrap().to_string(), "true");
    assert!(!trace.is_empty());

    let cyclic = [("a", "vars.b"), ("b", "vars.a")].map(|(name, text)| (name.to_owned(), text.to_owned()));
    let (name, error) = Variables::compile(&cyclic, &mut environment()).unwrap_err();
    assert_eq!((name.as_str(), error.to_string().as_str()), ("a", "the variable `a` depends on itself"));
}

/// Shows steps as `text = value`, with the steps of the deciding element in brackets.
fn trace(steps: &[Step], source: &str, variables: &Variables) -> String {
    let show = |step: &Step| {
        let inside = match &step.inside {
            Some(Inside::Element { element, steps }) => format!(" [{element}: {}]", trace(steps, source, variables)),
            Some(Inside::Variable { index, steps }) => {
                format!(" [{}: {}]", variables.name(*index), trace(steps, variables.source(*index), variables))
            }
            None => String::new(),
        };
        format!("{} = {}{inside}", step.span.text(source), step.value)
    };
    steps.iter().map(show).collect::<Vec<_>>().join("; ")
}

#[test]
fn traces_show_the_element_that_decided() {
    let mut own = environment();
    let texts = [("big".to_owned(), "[3, 4].filter(x, x > 3)".to_owned())];
    let variables = Variables::compile(&texts, &mut own).unwrap();
    for (text, expected) in [
        (
            "params.limit == 3 && tool == \"Bash\"",
            "params.limit == 3 = true; tool = Bash; tool == \"Bash\" = true; \
         params.limit == 3 && tool == \"Bash\" = true",
        ),
        ("[1, 2].exists(x, x == 2)", "[1, 2].exists(x, x == 2) = true [2: x = 2; x == 2 = true]"),
        ("[1, 2].all(x, x == 2)", "[1, 2].all(x, x == 2) = false [1: x = 1; x == 2 = false]"),
        // Without a match, the element for which most parts hold.
        ("[1, 2].exists(x, x == 3)", "[1, 2].exists(x, x == 3) = false [1: x = 1; x == 3 = false]"),
        (
            "[1, 5, 2].exists(x, x > 4 && x < 5)",
            "[1, 5, 2].exists(x, x > 4 && x < 5) = false [5: x = 5; x > 4 = true; x = 5; x < 5 = false; \
             x > 4 && x < 5 = false]",
        ),
        (
            "[1].exists(x, [2].exists(y, x + 1 == y))",
            "[1].exists(x, [2].exists(y, x + 1 == y)) = true [1: [2].exists(y, x + 1 == y) = true \
             [2: x = 1; x + 1 = 2; y = 2; x + 1 == y = true]]",
        ),
        (
            "vars.big.size() == 1",
            "vars.big = 4 [big: [3, 4].filter(x, x > 3) = 4 [4: x = 4; x > 3 = true]]; vars.big.size() = 1; \
             vars.big.size() == 1 = true",
        ),
    ] {
        let expression = Expression::compile(text, &own).unwrap();
        let (_, steps) = expression.explain(&facts(), &variables);
        assert_eq!(trace(&steps, text, &variables), expected, "{text}");
    }
}

#[test]
fn templates_have_expressions() {
    let render = |text: &str| {
        let template =
            Template::compile(text, &environment()).map_err(|error| (error.span.start, error.to_string()))?;
        Ok::<_, (u32, String)>(template.render(&facts(), &Variables::default()).unwrap())
    };
    for (text, rendered) in [
        ("plain $5 text", "plain $5 text"),
        ("push to ${commands[0].args[2]}!", "push to release/$X!"),
        ("${tool}${1 + 1}", "Bash2"),
        ("${\"a}b\"} ${{\"k\": 1}[\"k\"]}", "a}b 1"),
        ("cost: $${x}", "cost: ${x}"),
        ("${commands.map(c, c.program)}", "git, $TOOL"),
    ] {
        assert_eq!(render(text).as_deref(), Ok(rendered), "{text}");
    }
    assert_eq!(render("a ${tol}"), Err((4, "unknown name `tol`; did you mean `tool`?".to_owned())));
    assert_eq!(render("a ${tool"), Err((2, "`${` has no closing `}`".to_owned())));
}

proptest! {
    #[test]
    fn any_text_is_an_expression_or_an_error(text in "[ -~\\n]{0,80}") {
        let _ = shown(&text);
        let _ = Template::compile(&text, &environment());
    }

    #[test]
    fn any_sequence_of_words_is_an_expression_or_an_error(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "tool", "kind", "input", "commands", "secret", "c", ".", "program", "args", "exists", "filter", "map",
                "(", ")", "[", "]", "{", "}", ",", "?", ":", "!", "-", "+", "==", "&&", "||", "in", "null", "true", "1",
                "2.5", "\"git\"", "size", "has", "matches", "params", "limit", "history", "count",
            ]),
            0..30,
        )
    ) {
        let _ = shown(&words.join(" "));
    }

    /// A glob that matches a text could match each partly known form of it.
    #[test]
    fn globs_of_partial_texts_agree_with_whole_texts(
        text in "[ab/]{0,6}", glob in "[ab/*?]{0,6}", start in 0..7_usize, end in 0..7_usize,
    ) {
        let (start, end) = (start.min(text.len()), end.min(text.len()));
        let (start, end) = (start.min(end), start.max(end));
        let known = vec![text[..start].to_owned(), text[end..].to_owned()];
        let partial = PartialText { shown: String::new(), known, starts: true, ends: true };
        if let Ok(globs) = crate::pattern::Globs::new(&[glob]) {
            let whole = globs.is_match(&text).unwrap();
            prop_assert!(globs.is_partial_match(&partial).is_none_or(|known| known == whole));
        }
    }

    /// A partly known text is never equal to a text that it cannot have.
    #[test]
    fn partial_texts_know_what_they_can_be(
        middle in "[a-c]{0,4}", start in "[a-c]{0,2}", end in "[a-c]{0,2}", other in "[a-c]{0,6}",
    ) {
        let text = PartialText { shown: String::new(), known: vec![start.clone(), end.clone()], starts: true, ends: true };
        let whole = format!("{start}{middle}{end}");
        prop_assert!(text.could_be(&whole));
        if text.starts_with(&other) == Some(true) {
            prop_assert!(whole.starts_with(&other));
        }
        if text.ends_with(&other) == Some(false) {
            prop_assert!(!whole.ends_with(&other));
        }
        if text.contains(&other) == Some(true) {
            prop_assert!(whole.contains(&other));
        }
    }
}

proptest! {
    #[test]
    fn fuzz_target_ends_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        crate::exercise(&bytes);
    }
}

#[test]
fn long_repetitions_are_invalid_before_any_event() {
    use crate::pattern::Pattern;
    for text in ["a{2,3}", "[0-9]{20}", "(ab{3}){4}", "\\p{Greek}+", "x{1,}"] {
        assert!(Pattern::new(text).is_ok(), "{text}");
    }
    // Repetitions beside each other add up.
    assert!(Pattern::new("^[0-7]{40}$|^[rwx]{40}$|^[a-f]{40}$").is_ok());
    for text in ["(\\w{200}){200}", "\\w{5000}", "((a{99}){99}){99}"] {
        assert!(Pattern::new(text).is_err(), "{text}");
    }
    assert!(Pattern::new(&"\\pL".repeat(170)).is_err(), "classes count with their ranges");
    let short = Pattern::new("^[0-9]{2,3}$").unwrap();
    assert_eq!(short.is_match("123"), Ok(true));
    assert_eq!(short.is_match("1"), Ok(false));
}
