//! The type checker. It resolves every name against the tables of facts and functions, and rejects an expression that cannot
//! work, before any event.

mod calls;
mod compare;
mod suggest;

use crate::environment::{self, Environment, PARAMS, VARS};
use crate::error::{Error, Problem};
use crate::node::{Node, NodeKind};
use crate::syntax::{Expr, ExprKind, Name, Operator, Span};
use crate::types::{Inner, Schema, Type};
use crate::value::Value;
use suggest::did_you_mean;

/// A checked expression.
pub(crate) struct Checked {
    pub(crate) node: Node,
    pub(crate) result: Type,
    /// Facts that hold if the value is true, as in [`Checker`].
    pub(crate) proven: Vec<String>,
    pub(crate) warnings: Vec<Error>,
}

/// Checks an expression and returns its checked form and type.
pub(crate) fn check(expression: &Expr, environment: &Environment, source: &str) -> Result<Checked, Error> {
    let proven = environment.proven.clone();
    let mut checker = Checker { environment, source, locals: Vec::new(), proven, warnings: Vec::new() };
    let (node, result) = checker.expression(expression)?;
    checker.assume(expression, true);
    Ok(Checked { node, result, proven: checker.proven, warnings: checker.warnings })
}

struct Checker<'a> {
    environment: &'a Environment,
    source: &'a str,
    /// Variables of comprehensions, outermost first.
    locals: Vec<(String, Type)>,
    /// Texts of expressions that are known not to be null, and of tests such as `"--output" in c.options` that are known to hold.
    proven: Vec<String>,
    warnings: Vec<Error>,
}

type Typed = Result<(Node, Type), Error>;

fn node(span: Span, kind: NodeKind, own: Type) -> Typed {
    Ok((Node { span, kind }, own))
}

fn constant(span: Span, value: Value) -> Typed {
    let own = environment::type_of(&value);
    node(span, NodeKind::Constant(value), own)
}

impl Checker<'_> {
    fn expression(&mut self, expression: &Expr) -> Typed {
        let span = expression.span;
        match &expression.kind {
            ExprKind::Null => constant(span, Value::Null),
            ExprKind::Bool(own) => constant(span, Value::Bool(*own)),
            ExprKind::Int(own) => constant(span, Value::Int(*own)),
            ExprKind::Double(own) => constant(span, Value::Double(*own)),
            ExprKind::String(own) => constant(span, own.as_str().into()),
            ExprKind::Name(name) => self.name(span, name),
            ExprKind::List(items) => self.list(span, items),
            ExprKind::Map(entries) => self.map(span, entries),
            ExprKind::Select { object, field } => self.select(span, object, field),
            ExprKind::Index { object, index } => self.index(span, object, index),
            ExprKind::Has { object, field } => self.has(span, object, field),
            ExprKind::Call { object, name, arguments } => self.call(span, object.as_deref(), name, arguments),
            ExprKind::Comprehension { kind, list, variable, body } => {
                self.comprehension(span, *kind, list, variable, body)
            }
            ExprKind::Not(inner) => {
                let inner = self.typed(inner, &Type::Bool)?;
                node(span, NodeKind::Not(Box::new(inner)), Type::Bool)
            }
            ExprKind::Negate(inner) => {
                let (inner, own) = self.expression(inner)?;
                match own.general() {
                    own @ (Type::Int | Type::Double | Type::Any) => node(span, NodeKind::Negate(Box::new(inner)), own),
                    other => Err(wrong_type(span, &Type::Int, &other)),
                }
            }
            ExprKind::Binary { operator, left, right } => self.binary(span, *operator, left, right),
            ExprKind::Conditional { condition, then, otherwise } => {
                let known = self.proven.len();
                let checked = self.typed(condition, &Type::Bool)?;
                self.assume(condition, true);
                let then = self.expression(then);
                self.proven.truncate(known);
                self.assume(condition, false);
                let otherwise = self.expression(otherwise);
                self.proven.truncate(known);
                let ((then, own), (otherwise, other)) = (then?, otherwise?);
                let kind = NodeKind::Conditional {
                    condition: Box::new(checked),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                };
                node(span, kind, joined(span, "the branches", own, other)?)
            }
        }
    }

    /// Checks an expression that must have a type.
    fn typed(&mut self, expression: &Expr, expected: &Type) -> Result<Node, Error> {
        let (checked, own) = self.expression(expression)?;
        match expected.accepts(&own) {
            true => Ok(checked),
            false if matches!(own, Type::Nullable(_)) && expected.accepts(own.non_null()) => {
                Err(self.may_be_null(expression))
            }
            false => Err(wrong_type(expression.span, expected, &own)),
        }
    }

    fn text(&self, expression: &Expr) -> String {
        expression.span.text(self.source).to_owned()
    }

    fn may_be_null(&self, expression: &Expr) -> Error {
        let text = self.text(expression);
        Error::new(expression.span, Problem::MayBeNull(text.clone()))
            .help(format!("test it first: `{text} != null && …`"))
    }

    fn name(&self, span: Span, name: &str) -> Typed {
        if let Some(index) = self.locals.iter().rposition(|(own, _)| own == name) {
            return node(span, NodeKind::Local(index), self.known_type(span, self.locals[index].1.clone()));
        }
        if let Some(help) = self.environment.unavailable(name) {
            return Err(Error::new(span, Problem::UnavailableName(name.to_owned())).help(help));
        }
        if let Some(index) = self.environment.facts.fields.iter().position(|field| field.name == name) {
            let own = self.environment.facts.fields[index].kind.clone();
            return node(span, NodeKind::Fact(index), self.known_type(span, own));
        }
        let locals = self.locals.iter().map(|(name, _)| name.as_str());
        let facts = self.environment.available();
        let error = Error::new(span, Problem::UnknownName(name.to_owned()));
        if matches!(name, PARAMS | VARS) {
            return Err(error.help(format!("name one of them: `{name}.NAME`")));
        }
        Err(did_you_mean(error, name, locals.chain(facts)))
    }

    /// Returns the type of an expression without null, if a condition around it excludes null.
    fn known_type(&self, span: Span, own: Type) -> Type {
        match own {
            Type::Nullable(inner) if self.is_proven(span.text(self.source)) => Type::clone(&inner),
            other => other,
        }
    }

    fn is_proven(&self, text: &str) -> bool {
        self.proven.iter().any(|known| known == text)
    }

    /// Returns an error unless a condition around the expression tests that a map has a key. The values of a tool's input are
    /// exempt: their keys depend on the tool.
    fn check_key(&self, span: Span, (map, value): (&Node, &Type), test: &str) -> Result<(), Error> {
        let is_literal = matches!(map.kind, NodeKind::Constant(_) | NodeKind::Map(_));
        if is_literal || *value == Type::Any || self.is_proven(test) {
            return Ok(());
        }
        let problem = Problem::MayBeMissing(span.text(self.source).to_owned());
        Err(Error::new(span, problem).help(format!("test it first: `{test} && …`")))
    }

    /// Returns the text of a test that a map has a key. It is the same for every spelling of the key.
    fn key_test(&self, map: &Expr, key: &Expr) -> String {
        let key = match &key.kind {
            ExprKind::String(key) => format!("{key:?}"),
            _ => self.text(key),
        };
        format!("{key} in {}", self.text(map))
    }

    fn list(&mut self, span: Span, items: &[Expr]) -> Typed {
        let mut element: Option<Type> = None;
        let mut nodes = Vec::with_capacity(items.len());
        for item in items {
            let (checked, own) = self.expression(item)?;
            element = Some(match element {
                Some(before) => joined(item.span, "the elements of the list", before, own)?,
                None => own,
            });
            nodes.push(checked);
        }
        let own = Type::list_of(element.unwrap_or(Type::Any));
        let constants: Option<Vec<_>> = nodes.iter().map(constant_value).collect();
        match constants {
            Some(values) => node(span, NodeKind::Constant(Value::list(values)), own),
            None => node(span, NodeKind::List(nodes), own),
        }
    }

    fn map(&mut self, span: Span, entries: &[(String, Expr)]) -> Typed {
        let mut value: Option<Type> = None;
        let mut nodes = Vec::with_capacity(entries.len());
        for (key, entry) in entries {
            let (checked, own) = self.expression(entry)?;
            value = Some(match value {
                Some(before) => before.join(own).unwrap_or(Type::Any),
                None => own,
            });
            nodes.push((key.clone(), checked));
        }
        node(span, NodeKind::Map(nodes), Type::Map(Inner::from(value.unwrap_or(Type::Any))))
    }

    /// Checks `params.x` and `vars.x`. `None` for other objects.
    fn of_rule(&self, span: Span, object: &Expr, field: &Name) -> Option<Typed> {
        let ExprKind::Name(name) = &object.kind else { return None };
        let unknown = |names: Vec<&str>| {
            let problem = Problem::UnknownField { object: name.clone(), field: field.text.clone() };
            Err(did_you_mean(Error::new(field.span, problem), &field.text, names.into_iter()))
        };
        match name.as_str() {
            PARAMS => Some(match self.environment.params.get(&field.text) {
                Some(value) => constant(span, value.clone()),
                None => unknown(self.environment.params.keys().map(String::as_str).collect()),
            }),
            VARS => {
                let variables = &self.environment.variables;
                Some(match variables.iter().position(|(name, _)| *name == field.text) {
                    Some(index) => {
                        let own = self.known_type(span, variables[index].1.clone());
                        node(span, NodeKind::Variable(index), own)
                    }
                    None => unknown(variables.iter().map(|(name, _)| name.as_str()).collect()),
                })
            }
            _ => None,
        }
    }

    fn select(&mut self, span: Span, object: &Expr, field: &Name) -> Typed {
        if let Some(checked) = self.of_rule(span, object, field) {
            return checked;
        }
        let (checked, own) = self.expression(object)?;
        match own {
            Type::Object(schema) => {
                let index = field_index(schema, field)?;
                let own = self.known_type(span, schema.fields[index].kind.clone());
                node(span, NodeKind::Field { object: Box::new(checked), index }, own)
            }
            Type::Map(value) => {
                self.check_key(span, (&checked, &value), &format!("{:?} in {}", field.text, self.text(object)))?;
                let own = self.known_type(span, Type::clone(&value));
                node(span, NodeKind::Key { object: Box::new(checked), key: field.text.clone() }, own)
            }
            Type::Any => node(span, NodeKind::Key { object: Box::new(checked), key: field.text.clone() }, Type::Any),
            Type::Nullable(_) => Err(self.may_be_null(object)),
            Type::List(_) => {
                let (list, field) = (self.text(object), &field.text);
                let example = format!("write a condition for its elements, such as `{list}.exists(x, x.{field} == …)`");
                Err(Error::new(span, Problem::IsList(list)).help(example))
            }
            other => Err(Error::new(
                field.span,
                Problem::UnknownField { object: other.to_string().replace('`', ""), field: field.text.clone() },
            )),
        }
    }

    fn has(&mut self, span: Span, object: &Expr, field: &Name) -> Typed {
        let (checked, own) = self.expression(object)?;
        let kind = match own {
            Type::Object(schema) => {
                let index = field_index(schema, field)?;
                let field = Node { span, kind: NodeKind::Field { object: Box::new(checked), index } };
                NodeKind::IsPresent(Box::new(field))
            }
            Type::Map(_) | Type::Any => NodeKind::HasKey { object: Box::new(checked), key: field.text.clone() },
            Type::Nullable(_) => return Err(self.may_be_null(object)),
            other => return Err(wrong_type(object.span, &Type::Map(Inner::Static(&Type::Any)), &other)),
        };
        node(span, kind, Type::Bool)
    }

    fn index(&mut self, span: Span, object: &Expr, index: &Expr) -> Typed {
        let (checked, own) = self.expression(object)?;
        let (expected, result) = match &own {
            Type::List(element) => (Type::Int, Type::clone(element)),
            Type::Map(value) => (Type::String, Type::clone(value)),
            Type::Any => (Type::Any, Type::Any),
            Type::Nullable(_) => return Err(self.may_be_null(object)),
            other => return Err(wrong_type(object.span, &Type::list(&Type::Any), other)),
        };
        if let Type::Map(value) = &own {
            self.check_key(span, (&checked, value), &self.key_test(object, index))?;
        }
        let index = self.typed(index, &expected)?;
        node(span, NodeKind::Index { object: Box::new(checked), index: Box::new(index) }, result)
    }

    /// Adds what is proven if the condition has this result.
    fn assume(&mut self, condition: &Expr, result: bool) {
        match &condition.kind {
            ExprKind::Binary { operator: Operator::And, left, right } if result => {
                self.assume(left, true);
                self.assume(right, true);
            }
            ExprKind::Binary { operator: Operator::Or, left, right } if !result => {
                self.assume(left, false);
                self.assume(right, false);
            }
            ExprKind::Not(inner) => self.assume(inner, !result),
            _ => self.assume_part(condition, result),
        }
    }

    /// As [`assume`](Self::assume), for a condition without conditions in it.
    fn assume_part(&mut self, condition: &Expr, result: bool) {
        match &condition.kind {
            ExprKind::Binary { operator, left, right }
                if (*operator == Operator::NotEqual && result) || (*operator == Operator::Equal && !result) =>
            {
                for (one, other) in [(left, right), (right, left)] {
                    if other.kind == ExprKind::Null {
                        self.proven.push(self.text(one));
                    }
                }
            }
            // `x == "text"` is false for null.
            ExprKind::Binary { operator: Operator::Equal, left, right } if result => {
                for (one, other) in [(left, right), (right, left)] {
                    if matches!(other.kind, ExprKind::String(_) | ExprKind::Int(_) | ExprKind::Bool(_)) {
                        self.proven.push(self.text(one));
                    }
                }
            }
            ExprKind::Binary { operator: Operator::In, left, right } if result => {
                self.proven.push(self.key_test(right, left));
            }
            ExprKind::Has { object, field } if result => {
                let text = Span { start: object.span.start, end: field.span.end }.text(self.source);
                self.proven.push(text.to_owned());
                self.proven.push(format!("{:?} in {}", field.text, self.text(object)));
            }
            _ => {}
        }
    }
}

fn field_index(schema: &'static Schema, field: &Name) -> Result<usize, Error> {
    schema.fields.iter().position(|own| own.name == field.text).ok_or_else(|| {
        let problem = Problem::UnknownField { object: schema.name.to_owned(), field: field.text.clone() };
        did_you_mean(Error::new(field.span, problem), &field.text, schema.fields.iter().map(|own| own.name))
    })
}

fn constant_value(checked: &Node) -> Option<Value> {
    match &checked.kind {
        NodeKind::Constant(value) => Some(value.clone()),
        _ => None,
    }
}

/// Returns a type that accepts two parts of an expression.
fn joined(span: Span, what: &'static str, left: Type, right: Type) -> Result<Type, Error> {
    let types = format!("{left} and {right}");
    left.join(right).ok_or_else(|| Error::new(span, Problem::DifferentTypes { what, types }))
}

fn wrong_type(span: Span, expected: &Type, found: &Type) -> Error {
    Error::new(span, Problem::WrongType { expected: expected.to_string(), found: found.to_string() })
}
