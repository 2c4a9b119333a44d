//! Entry point of fuzz targets.

use std::collections::BTreeMap;

use crate::environment::Environment;
use crate::expression::Expression;
use crate::template::Template;
use crate::types::{Field, Schema, Type};
use crate::value::{Object, Value};
use crate::variables::Variables;

static FACTS: Schema = Schema {
    name: "facts",
    doc: "",
    fields: &[
        Field { name: "tool", kind: Type::String, doc: "" },
        Field { name: "kind", kind: Type::OneOf(&["read", "edit"]), doc: "" },
        Field { name: "input", kind: Type::map(&Type::Any), doc: "" },
        Field { name: "args", kind: Type::list(&Type::String), doc: "" },
        Field { name: "agent", kind: Type::nullable(&Type::String), doc: "" },
        Field { name: "secret", kind: Type::Bool, doc: "" },
    ],
    methods: &[],
};

#[derive(Debug)]
struct Facts;

impl Object for Facts {
    fn schema(&self) -> &'static Schema {
        &FACTS
    }

    fn field(&self, index: usize) -> Value {
        match index {
            0 => "Bash".into(),
            1 => "edit".into(),
            2 => Value::Map(BTreeMap::from([("command".to_owned(), "ls".into())]).into()),
            3 => Value::list(["push".into(), Value::unknown("$X")]),
            4 => Value::Null,
            _ => Value::unknown("$Y"),
        }
    }
}

/// Checks and evaluates a text as an expression, a template and a variable. It must end without a panic.
pub fn exercise(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut environment = Environment::new(&FACTS);
    if let Ok(expression) = Expression::compile(text, &environment) {
        let _ = expression.evaluate(&Facts);
        let _ = expression.explain(&Facts, &Variables::default());
    }
    if let Ok(template) = Template::compile(text, &environment) {
        let _ = template.render(&Facts, &Variables::default());
    }
    let _ = Variables::compile(&[("own".to_owned(), text.to_owned())], &mut environment);
}
