//! The reference of facts, from the tables.

use std::fmt::Write as _;

use checkrein_core::EventKind;
use checkrein_expression::{Environment, Function, Schema, Type};

use crate::builtins::doubt::PROGRAMS;

use super::{ROOT, environment, functions, required_field};

const HEAD: &str = "# Facts

Rules are expressions over these facts. Every fact is computed when a rule reads it, at most once per event, without starting a
process and without the network. `checkrein facts 'git push -f origin main'` prints the facts of a call.

This page is generated from the tables in `crates/checkrein/src/facts/`.

## Unknown values

Some facts are known only to a running shell, such as the program of `$X push`. Such a fact is unknown, and so is every result that
depends on it: `false && unknown` is false, `true && unknown` is unknown. A text can be partly known: `release/$X` is not `main`, and it
starts with `release/`. A list can have unknown further elements, such as the commands of a text that cannot be read. A rule whose
condition is unknown does what its key `unknown` says.

Everyday uses are not unknown: `$CC x.c`, `$(which python3)`, `$DIR/build`, and files below `$TMPDIR`. A variable that names a program
by convention is read as this program, unless the call sets it: `$GIT push` is a push. The variables are at the end of this page. As JSON, an unknown or partly
known value is `{\"unknown\": \"$X\"}`, and unknown further elements of a list are `{\"more\": \"…\"}` at its end.

These unknown parts are left out, because rules would ask about ordinary calls:

- A file of which only the shell knows the name, such as `cat \"$F\"`, is not in `paths`. `\"$ROOT/.env\"` is, with its name.
- `git push origin $X` is not forced, although `$X` can be `+main`. Its branch is unknown.
- `cd DIR` succeeds if the directory exists, or if an earlier command of the call makes it. Otherwise the commands behind
  `cd DIR;` may run in both directories; behind `cd DIR &&`, only in `DIR`.
- The text that a program reads from a file is not read: `psql -f x.sql`.
";

/// Returns the text of the reference.
#[doc(hidden)]
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    let mut schemas: Vec<&'static Schema> = Vec::new();
    collect(&ROOT, &mut schemas);
    for schema in schemas {
        let title = if schema == &ROOT { "Names".to_owned() } else { format!("`{}`", schema.name) };
        let _ = write!(page, "\n## {title}\n\n{}\n\n", schema.doc);
        page.push_str("| name | type | meaning |\n|---|---|---|\n");
        for field in schema.fields {
            let events = if schema == &ROOT { events(field.name) } else { String::new() };
            let _ = writeln!(page, "| `{}` | {} | {}{events} |", field.name, type_name(&field.kind), cell(field.doc));
        }
        for method in schema.methods {
            let parameters: Vec<_> = method.parameters.iter().map(type_name).collect();
            let (result, doc) = (type_name(&method.result), cell(method.doc));
            let _ = writeln!(page, "| `{}({})` | {result} | {doc} |", method.name, parameters.join(", "));
        }
        if schema == &ROOT {
            let names: Vec<_> = functions::VARIABLES.iter().map(|name| format!("`{name}`")).collect();
            let _ = write!(page, "\n`env` reads these variables: {}.\n", names.join(", "));
        }
    }
    page.push_str("\n## Functions\n\n| function | result | meaning |\n|---|---|---|\n");
    for (name, parameters, doc) in Environment::macros() {
        let is_list = matches!(*name, "exists" | "all" | "exists_one" | "filter" | "map");
        let receiver = if is_list { "list" } else { "string" };
        let result = match *name {
            "filter" | "map" => "list",
            _ => "bool",
        };
        let _ = writeln!(page, "| `{receiver}.{name}({parameters})` | {result} | {} |", cell(doc));
    }
    for function in environment(&[EventKind::PreToolUse]).all_functions() {
        let _ = writeln!(page, "| `{}` | {} | {} |", call(function), type_name(&function.result), cell(function.doc));
    }
    page.push_str("| `has(object.field)` | bool | `true` if a map has the key, and its value is not null. |\n");
    page.push_str(
        "\n## Variables for programs\n\nThese variables are read as programs, unless the call sets them:\n\n",
    );
    page.push_str("| variable | program |\n|---|---|\n");
    for (variable, program) in PROGRAMS {
        let _ = writeln!(page, "| `${variable}` | `{program}` |");
    }
    page
}

fn call(function: &Function) -> String {
    let parameters: Vec<_> = function.parameters.iter().map(type_name).collect();
    match parameters.split_first() {
        Some((receiver, rest)) if function.is_method => format!("{receiver}.{}({})", function.name, rest.join(", ")),
        _ => format!("{}({})", function.name, parameters.join(", ")),
    }
}

/// Adds a table and the tables that it names, each once.
fn collect(schema: &'static Schema, found: &mut Vec<&'static Schema>) {
    if found.iter().any(|own| std::ptr::eq(*own, schema)) {
        return;
    }
    found.push(schema);
    for field in schema.fields {
        if let Some(inner) = object(&field.kind) {
            collect(inner, found);
        }
    }
}

fn object(own: &Type) -> Option<&'static Schema> {
    match own {
        Type::Object(schema) => Some(schema),
        Type::List(inner) | Type::Map(inner) | Type::Nullable(inner) => object(inner),
        _ => None,
    }
}

fn type_name(own: &Type) -> String {
    match own {
        Type::Any => "any".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Int | Type::Range(..) => "int".to_owned(),
        Type::Double => "double".to_owned(),
        Type::String | Type::OneOf(_) | Type::Format(_) => "string".to_owned(),
        Type::List(inner) => format!("list of {}", type_name(inner)),
        Type::Map(inner) => format!("map of {}", type_name(inner)),
        Type::Object(schema) => schema.name.to_owned(),
        Type::Nullable(inner) => format!("{} or null", type_name(inner)),
    }
}

fn cell(doc: &str) -> String {
    doc.replace('|', "\\|")
}

fn events(name: &str) -> String {
    match required_field(name) {
        Some("tool_name") => " Only at events about a tool.".to_owned(),
        Some(field) => format!(" Only at events with the field `{field}`."),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_current() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/facts.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, reference()).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(
            text == reference(),
            "docs/facts.md differs: UPDATE_DOCS=1 cargo test -p checkrein --lib facts::reference"
        );
    }
}
