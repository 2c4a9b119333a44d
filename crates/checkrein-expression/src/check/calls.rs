//! Calls of functions and methods, and comprehensions.

use super::suggest::{did_you_mean, usual_name};
use super::{Checker, Typed, constant_value, node, wrong_type};
use crate::error::{Error, Problem};
use crate::node::{Node, NodeKind, Search};
use crate::pattern::{Globs, Pattern};
use crate::syntax::{Comprehension, Expr, ExprKind, Name, Span};
use crate::types::{Method, Schema, Type};
use crate::value::Value;

/// Method that searches for a regular expression.
const MATCHES: &str = "matches";

/// Method that compares with patterns of file names.
const GLOBS: &str = "globs";

impl Checker<'_> {
    pub(super) fn call(&mut self, span: Span, object: Option<&Expr>, name: &Name, arguments: &[Expr]) -> Typed {
        let Some(object) = object else {
            // Methods of the facts are called as functions.
            let methods = self.environment.facts.methods;
            let Some(index) = methods.iter().position(|method| method.name == name.text) else {
                return self.function(span, None, name, arguments);
            };
            let checked = self.arguments(span, name, arguments, methods[index].parameters)?;
            self.check_literals(name, &checked, 0)?;
            let kind = NodeKind::FactMethod { index, arguments: checked };
            return node(span, kind, methods[index].result.clone());
        };
        if let Some(search) = Search::from_name(&name.text) {
            let [part] = count(name, arguments)?;
            let (text, own) = self.text_of(object, name, part)?;
            let part = Box::new(self.typed(part, &Type::String)?);
            if let (Search::StartsWith | Search::Under, Some(start)) = (search, constant_value(&part)) {
                self.starts(span, &text, &own, &start)?;
            }
            return node(span, NodeKind::Search { search, text: Box::new(text), part }, Type::Bool);
        }
        match name.text.as_str() {
            MATCHES => {
                let [pattern] = count(name, arguments)?;
                let text = Box::new(self.text_of(object, name, pattern)?.0);
                let texts = self.literals(MATCHES, pattern)?;
                let text_of_pattern = texts.first().map_or("", String::as_str);
                let pattern = match self.environment.has_valid_patterns {
                    true => Pattern::unchecked(text_of_pattern),
                    false => Pattern::new(text_of_pattern).map_err(|problem| Error::new(pattern.span, problem))?,
                };
                return node(span, NodeKind::Matches { text, pattern: Box::new(pattern) }, Type::Bool);
            }
            GLOBS => {
                let [patterns] = count(name, arguments)?;
                let (text, own) = self.text_of(object, name, patterns)?;
                let text = Box::new(text);
                let texts = self.literals(GLOBS, patterns)?;
                for pattern in &texts {
                    self.starts(span, &text, &own, &pattern.as_str().into())?;
                }
                let patterns = Globs::new(&texts).map_err(|problem| Error::new(patterns.span, problem))?;
                return node(span, NodeKind::Globs { text, patterns: Box::new(patterns) }, Type::Bool);
            }
            _ => {}
        }
        let (checked, own) = self.expression(object)?;
        match &own {
            Type::Nullable(_) => Err(self.may_be_null(object)),
            Type::Object(schema) => {
                let (index, method) = find_method(schema, name)?;
                let arguments = self.arguments(span, name, arguments, method.parameters)?;
                self.check_literals(name, &arguments, 0)?;
                let kind = NodeKind::Method { object: Box::new(checked), index, arguments };
                node(span, kind, method.result.clone())
            }
            _ => self.function(span, Some((object, &own)), name, arguments),
        }
    }

    /// Checks the receiver of a method of texts. A list of texts needs another form.
    fn text_of(&mut self, object: &Expr, name: &Name, argument: &Expr) -> Typed {
        let (_, own) = self.expression(object)?;
        match own.non_null() {
            Type::List(_) => Err(self.is_list(object, name, argument)),
            _ => self.typed(object, &Type::String).map(|checked| (checked, own)),
        }
    }

    /// Checks the constant start of a text, or a pattern for it.
    fn starts(&mut self, span: Span, text: &Node, own: &Type, start: &Value) -> Result<(), Error> {
        match own {
            Type::Format(format) if format.judges_starts => self.fits(span, false, text.span, own, start),
            _ => Ok(()),
        }
    }

    /// Returns the error for a method of texts that is called on a list.
    fn is_list(&self, object: &Expr, name: &Name, argument: &Expr) -> Error {
        let (list, argument) = (self.text(object), self.text(argument));
        let help = match name.text.as_str() {
            "contains" | "includes" | "has" => format!("write `{argument} in {list}`"),
            other => format!("write `{list}.exists(x, x.{other}({argument}))`"),
        };
        Error::new(object.span, Problem::IsList(list)).help(help)
    }

    /// Returns the texts of a pattern or of a list of patterns, which must be known before any event.
    fn literals(&mut self, name: &'static str, argument: &Expr) -> Result<Vec<String>, Error> {
        let (checked, own) = self.expression(argument)?;
        let invalid = || Error::new(argument.span, Problem::PatternNotLiteral(name));
        match constant_value(&checked) {
            Some(Value::String(text)) => Ok(vec![text.as_ref().to_owned()]),
            Some(Value::List(list)) if name == GLOBS => {
                let text = |value: &Value| match value {
                    Value::String(text) => Ok(text.as_ref().to_owned()),
                    _ => Err(wrong_type(argument.span, &Type::list(&Type::String), &own)),
                };
                list.elements.iter().map(text).collect()
            }
            _ => Err(invalid()),
        }
    }

    fn arguments(
        &mut self,
        span: Span,
        name: &Name,
        arguments: &[Expr],
        parameters: &[Type],
    ) -> Result<Vec<Node>, Error> {
        if arguments.len() != parameters.len() {
            return Err(wrong_count(name, parameters.len(), arguments.len()));
        }
        let mut nodes = Vec::with_capacity(arguments.len());
        for (argument, expected) in arguments.iter().zip(parameters) {
            let checked = self.typed(argument, expected)?;
            if let Some(value) = constant_value(&checked) {
                self.fits(span, false, name.span, expected, &value)?;
            }
            nodes.push(checked);
        }
        Ok(nodes)
    }

    /// Checks the arguments that are constants, without the receiver.
    fn check_literals(&self, name: &Name, arguments: &[Node], receivers: usize) -> Result<(), Error> {
        let arguments = arguments.get(receivers..).unwrap_or_default();
        let literal = |argument: &'_ Node| match &argument.kind {
            NodeKind::Constant(value) => Some(value.clone()),
            _ => None,
        };
        let values: Vec<_> = arguments.iter().map(literal).collect();
        let values: Vec<_> = values.iter().map(Option::as_ref).collect();
        self.environment.check_literals(&name.text, &values).map_err(|message| {
            let span = arguments.first().map_or(name.span, |argument| argument.span);
            Error::new(span, Problem::InvalidArgument(message))
        })
    }

    /// Checks the call of a function, or of a function that is called as a method of its first argument.
    fn function(&mut self, span: Span, receiver: Option<(&Expr, &Type)>, name: &Name, arguments: &[Expr]) -> Typed {
        let rows: Vec<_> = self.environment.all_functions().filter(|row| row.name == name.text).collect();
        if rows.is_empty() {
            if let (Some((object, Type::List(_))), "includes" | "has", [argument]) =
                (receiver, name.text.as_str(), arguments)
            {
                return Err(self.is_list(object, name, argument));
            }
            let names = self.environment.all_functions().filter(|row| row.is_method == receiver.is_some());
            let facts = self.environment.facts.methods.iter().filter(|_| receiver.is_none());
            let macros = Comprehension::NAMES.iter().map(|(name, _)| *name);
            let patterns = [MATCHES, GLOBS].into_iter().chain(Search::NAMES.iter().map(|(name, _)| *name));
            let methods = macros.chain(patterns).filter(|_| receiver.is_some());
            let problem = match receiver {
                Some((_, own)) => Problem::UnknownMethod { receiver: own.to_string(), name: name.text.clone() },
                None => Problem::UnknownFunction(name.text.clone()),
            };
            let error = Error::new(name.span, problem);
            if let Some(meant) = usual_name(&name.text) {
                return Err(error.help(format!("did you mean `{meant}`?")));
            }
            return Err(did_you_mean(
                error,
                &name.text,
                names.map(|row| row.name).chain(facts.map(|method| method.name)).chain(methods),
            ));
        }
        let all: Vec<&Expr> = receiver.iter().map(|(object, _)| *object).chain(arguments).collect();
        let mut checked = Vec::with_capacity(all.len());
        for argument in &all {
            checked.push(self.expression(argument)?);
        }
        let fits = |row: &&&crate::types::Function| {
            let is_called = row.is_method || receiver.is_none();
            let has_types = row.parameters.iter().zip(&checked).all(|(expected, (_, own))| expected.accepts(own));
            is_called && row.parameters.len() == checked.len() && has_types
        };
        let Some(row) = rows.iter().find(fits) else {
            let row = rows[0];
            let receivers = usize::from(receiver.is_some());
            if row.parameters.len() != checked.len() {
                return Err(wrong_count(name, row.parameters.len().saturating_sub(receivers), arguments.len()));
            }
            let wrong = row.parameters.iter().zip(&checked).zip(&all);
            for ((expected, (_, own)), argument) in wrong {
                if matches!(own, Type::Nullable(_)) && expected.accepts(own.non_null()) {
                    return Err(self.may_be_null(argument));
                }
                if !expected.accepts(own) {
                    return Err(wrong_type(argument.span, expected, own));
                }
            }
            return Err(Error::new(name.span, Problem::UnknownFunction(name.text.clone())));
        };
        let arguments: Vec<_> = checked.into_iter().map(|(checked, _)| checked).collect();
        self.check_literals(name, &arguments, usize::from(receiver.is_some()))?;
        node(span, NodeKind::Function { function: row, arguments }, row.result.clone())
    }

    pub(super) fn comprehension(
        &mut self,
        span: Span,
        kind: Comprehension,
        list: &Expr,
        variable: &Name,
        body: &Expr,
    ) -> Typed {
        let (checked, own) = self.expression(list)?;
        let element = match own {
            Type::List(element) => Type::clone(&element),
            Type::Map(_) => Type::String,
            Type::Any => Type::Any,
            Type::Nullable(_) => return Err(self.may_be_null(list)),
            other => return Err(wrong_type(list.span, &Type::list(&Type::Any), &other)),
        };
        let proven = self.proven.clone();
        // What is proven about another value of the same name does not hold in the body.
        self.proven.retain(|known| !has_word(known, &variable.text));
        self.proven.push(format!("{} in {}", variable.text, self.text(list)));
        // The elements that a filter keeps meet its condition.
        if let ExprKind::Comprehension { kind: Comprehension::Filter, variable: kept, body: condition, .. } = &list.kind
            && kept.text == variable.text
        {
            self.assume(condition, true);
        }
        self.locals.push((variable.text.clone(), element.clone()));
        let body = match kind {
            Comprehension::Map => self.expression(body),
            _ => self.typed(body, &Type::Bool).map(|body| (body, Type::Bool)),
        };
        self.locals.pop();
        self.proven = proven;
        let (body, result) = body?;
        let own = match kind {
            Comprehension::Map => Type::list_of(result),
            Comprehension::Filter => Type::list_of(element),
            Comprehension::All | Comprehension::Exists | Comprehension::ExistsOne => Type::Bool,
        };
        node(span, NodeKind::Comprehension { kind, list: Box::new(checked), body: Box::new(body) }, own)
    }
}

/// `true` if a name is in the text of an expression.
fn has_word(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
}

fn find_method(schema: &'static Schema, name: &Name) -> Result<(usize, &'static Method), Error> {
    let found = schema.methods.iter().enumerate().find(|(_, method)| method.name == name.text);
    found.ok_or_else(|| {
        let problem = Problem::UnknownMethod { receiver: format!("`{}`", schema.name), name: name.text.clone() };
        did_you_mean(Error::new(name.span, problem), &name.text, schema.methods.iter().map(|method| method.name))
    })
}

fn count<'a, const N: usize>(name: &Name, arguments: &'a [Expr]) -> Result<&'a [Expr; N], Error> {
    arguments.try_into().map_err(|_| wrong_count(name, N, arguments.len()))
}

fn wrong_count(name: &Name, expected: usize, found: usize) -> Error {
    let expected = match expected {
        0 => "no arguments".to_owned(),
        1 => "one argument".to_owned(),
        many => format!("{many} arguments"),
    };
    Error::new(name.span, Problem::ArgumentCount { name: name.text.clone(), expected, found })
}
