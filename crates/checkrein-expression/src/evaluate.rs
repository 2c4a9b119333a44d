//! The evaluator. It follows the checked form of an expression, within a limited number of steps.
//!
//! `&&` and `||` are Kleene's: `false && unknown` is false, `true && unknown` is unknown. An error on one side has no effect if the
//! other side decides. A value that is unknown takes precedence over an error.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::failure::{Failure, FailureKind};
use crate::functions;
use crate::limits;
use crate::node::{Node, NodeKind, Search};
use crate::syntax::{Comprehension, Operator, Span};
use crate::value::{List, Object, Unknown, Value};

/// Result of an expression, which may be unknown or fail.
pub(crate) type Evaluated = Result<Value, Failure>;

/// The evaluation of one rule for one event.
pub(crate) struct Evaluation<'a> {
    facts: &'a dyn Object,
    variables: &'a [Node],
    values: RefCell<Vec<Option<Evaluated>>>,
    locals: RefCell<Vec<Value>>,
    steps: Cell<u32>,
    trace: Option<RefCell<Vec<Step>>>,
    /// The part that decided the last comprehension or variable.
    inside: RefCell<Option<Inside>>,
}

/// The value of a part of an expression.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Step {
    /// Place in the text of the expression, or of the variable around it.
    pub span: Span,
    /// The value.
    pub value: Value,
    /// Steps that led to the value, in another scope.
    pub inside: Option<Inside>,
}

/// Steps in a scope of their own.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Inside {
    /// The element that decided a comprehension, and the steps for it.
    Element {
        /// The element.
        element: Value,
        /// Steps for the element. Spans are in the same text.
        steps: Vec<Step>,
    },
    /// The evaluation of a variable.
    Variable {
        /// Index for [`Variables::name`](crate::Variables::name) and [`Variables::source`](crate::Variables::source).
        index: usize,
        /// Steps for the variable. Spans are in its text.
        steps: Vec<Step>,
    },
}

impl<'a> Evaluation<'a> {
    pub(crate) fn new(facts: &'a dyn Object, variables: &'a [Node]) -> Self {
        Self {
            facts,
            variables,
            values: RefCell::new(vec![None; variables.len()]),
            locals: RefCell::new(Vec::new()),
            steps: Cell::new(0),
            trace: None,
            inside: RefCell::new(None),
        }
    }

    /// Records the values of expressions.
    pub(crate) fn traced(mut self) -> Self {
        self.trace = Some(RefCell::default());
        self
    }

    /// Returns the recorded values, in the order of evaluation.
    pub(crate) fn into_trace(self) -> Vec<Step> {
        self.trace.map(RefCell::into_inner).unwrap_or_default()
    }

    /// Returns the number of steps so far.
    pub(crate) fn steps(&self) -> u32 {
        self.steps.get()
    }

    fn step(&self, span: Span, bytes: usize) -> Result<(), Failure> {
        let cost = u32::try_from(bytes / 64).unwrap_or(u32::MAX).saturating_add(1);
        let steps = self.steps.get().saturating_add(cost);
        self.steps.set(steps);
        match steps > limits::STEPS {
            true => Err(Failure { span, kind: FailureKind::TooManySteps }),
            false => Ok(()),
        }
    }

    pub(crate) fn evaluate(&self, node: &Node) -> Evaluated {
        self.step(node.span, 0)?;
        let value = self.value(node)?;
        if self.trace.is_some() {
            self.record(node, &value);
        }
        Ok(value)
    }

    /// Evaluates an operand. A constant is not copied.
    fn operand<'n>(&self, node: &'n Node) -> Result<Cow<'n, Value>, Failure> {
        match &node.kind {
            NodeKind::Constant(value) => {
                self.step(node.span, 0)?;
                Ok(Cow::Borrowed(value))
            }
            _ => self.evaluate(node).map(Cow::Owned),
        }
    }

    fn value(&self, node: &Node) -> Evaluated {
        let span = node.span;
        let fail = |kind: FailureKind| Failure { span, kind };
        match &node.kind {
            NodeKind::Constant(value) => Ok(value.clone()),
            NodeKind::Fact(index) => Ok(self.facts.field(*index)),
            NodeKind::Variable(index) => self.variable(*index),
            NodeKind::Local(index) => Ok(self.locals.borrow().get(*index).cloned().unwrap_or(Value::Null)),
            NodeKind::List(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(|item| self.evaluate(item)).collect();
                Ok(Value::list(items?))
            }
            NodeKind::Map(entries) => {
                let mut map = BTreeMap::new();
                for (key, entry) in entries {
                    map.insert(key.clone(), self.evaluate(entry)?);
                }
                Ok(Value::Map(Arc::new(map)))
            }
            // Most fields are those of the element of a comprehension.
            NodeKind::Field { object, index } if self.trace.is_none() && matches!(object.kind, NodeKind::Local(_)) => {
                self.step(object.span, 0)?;
                let NodeKind::Local(local) = object.kind else { return Ok(Value::Null) };
                match self.locals.borrow().get(local) {
                    Some(Value::Object(object)) => Ok(object.field(*index)),
                    Some(Value::Unknown(unknown)) => Ok(Value::Unknown(unknown.clone())),
                    other => Err(fail(wrong_type("an object", other.unwrap_or(&Value::Null)))),
                }
            }
            NodeKind::Field { object, index } => match self.evaluate(object)? {
                Value::Object(object) => Ok(object.field(*index)),
                Value::Unknown(unknown) => Ok(Value::Unknown(unknown)),
                other => Err(fail(wrong_type("an object", &other))),
            },
            NodeKind::Key { object, key } => match self.evaluate(object)? {
                Value::Map(map) => match map.get(key) {
                    Some(value) => Ok(value.clone()),
                    None => Err(fail(FailureKind::MissingKey(key.clone()))),
                },
                Value::Unknown(unknown) => Ok(Value::Unknown(unknown)),
                other => Err(fail(wrong_type("a map", &other))),
            },
            NodeKind::HasKey { object, key } => match self.evaluate(object)? {
                Value::Map(map) => Ok(map.get(key).is_some_and(|value| !matches!(value, Value::Null)).into()),
                Value::Unknown(unknown) => Ok(Value::Unknown(unknown)),
                _ => Ok(false.into()),
            },
            NodeKind::IsPresent(inner) => match self.evaluate(inner)? {
                Value::Null => Ok(false.into()),
                Value::Unknown(unknown) => Ok(Value::Unknown(unknown)),
                _ => Ok(true.into()),
            },
            NodeKind::Index { object, index } => self.index(span, object, index),
            NodeKind::Method { .. } | NodeKind::FactMethod { .. } | NodeKind::Function { .. } => self.call(node),
            NodeKind::Matches { .. } | NodeKind::Globs { .. } => self.pattern(node),
            NodeKind::Search { search, text, part } => self.search(span, *search, text, part),
            NodeKind::Comprehension { kind, list, body } => self.comprehension(span, *kind, list, body),
            NodeKind::Not(inner) => match self.evaluate(inner)? {
                Value::Bool(own) => Ok((!own).into()),
                other => unknown_or(&other, || fail(wrong_type("a bool", &other))),
            },
            NodeKind::Negate(inner) => match self.evaluate(inner)? {
                Value::Int(own) => own.checked_neg().map(Value::Int).ok_or_else(|| fail(FailureKind::Overflow)),
                Value::Double(own) => Ok(Value::Double(-own)),
                other => unknown_or(&other, || fail(wrong_type("a number", &other))),
            },
            NodeKind::Binary { operator: operator @ (Operator::And | Operator::Or), left, right } => {
                self.logical(*operator == Operator::Or, left, right)
            }
            NodeKind::Binary { operator, left, right } => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                self.step(span, text_size(&left).saturating_add(text_size(&right)))?;
                operate(*operator, &left, &right).map_err(fail)
            }
            NodeKind::Conditional { condition, then, otherwise } => match self.evaluate(condition)? {
                Value::Bool(true) => self.evaluate(then),
                Value::Bool(false) => self.evaluate(otherwise),
                other => unknown_or(&other, || fail(wrong_type("a bool", &other))),
            },
        }
    }

    fn record(&self, node: &Node, value: &Value) {
        let Some(trace) = &self.trace else { return };
        let inside = match node.kind {
            NodeKind::Constant(_) => return,
            NodeKind::Comprehension { .. } | NodeKind::Variable(_) => self.inside.take(),
            _ => None,
        };
        trace.borrow_mut().push(Step { span: node.span, value: value.clone(), inside });
    }

    fn trace_length(&self) -> usize {
        self.trace.as_ref().map_or(0, |trace| trace.borrow().len())
    }

    /// Removes and returns the steps since a length.
    fn cut_trace(&self, start: usize) -> Vec<Step> {
        self.trace.as_ref().map(|trace| trace.borrow_mut().split_off(start)).unwrap_or_default()
    }

    /// Calls a method or a function. Frames of [`value`](Self::value) stay small without it, and expressions are nested.
    fn call(&self, node: &Node) -> Evaluated {
        let span = node.span;
        let fail = |kind: FailureKind| Failure { span, kind };
        match &node.kind {
            NodeKind::Method { object, index, arguments } => {
                let object = self.evaluate(object)?;
                let arguments = self.arguments(span, arguments)?;
                match object {
                    Value::Unknown(unknown) => Ok(Value::Unknown(unknown)),
                    _ if arguments.iter().any(|argument| argument.unknown_part().is_some()) => {
                        Ok(first_unknown(&arguments))
                    }
                    Value::Object(object) => object.call(*index, &arguments).map_err(fail),
                    other => Err(fail(wrong_type("an object", &other))),
                }
            }
            NodeKind::FactMethod { index, arguments } => {
                let arguments = self.arguments(span, arguments)?;
                if arguments.iter().any(|argument| argument.unknown_part().is_some()) {
                    return Ok(first_unknown(&arguments));
                }
                self.facts.call(*index, &arguments).map_err(fail)
            }
            NodeKind::Function { function, arguments } => {
                let arguments = self.arguments(span, arguments)?;
                if arguments.iter().any(|argument| argument.unknown_part().is_some()) {
                    return Ok(
                        functions::partial(function.name, &arguments).unwrap_or_else(|| first_unknown(&arguments))
                    );
                }
                (function.run)(&arguments).map_err(fail)
            }
            _ => Ok(Value::Null),
        }
    }

    fn pattern(&self, node: &Node) -> Evaluated {
        let span = node.span;
        let fail = |kind: FailureKind| Failure { span, kind };
        match &node.kind {
            NodeKind::Matches { text, pattern } => match self.evaluate(text)? {
                Value::String(text) => {
                    self.step(span, text.len())?;
                    pattern.is_match(&text).map(Value::Bool).map_err(fail)
                }
                Value::Partial(text) => {
                    self.step(span, text.shown.len().saturating_mul(4))?;
                    match pattern.is_partial_match(&text).map_err(fail)? {
                        true => Ok(true.into()),
                        false => Ok(Value::unknown(text.shown.as_str())),
                    }
                }
                other => unknown_or(&other, || fail(wrong_type("a string", &other))),
            },
            NodeKind::Globs { text, patterns } => match self.evaluate(text)? {
                Value::String(text) => {
                    self.step(span, text.len())?;
                    patterns.is_match(&text).map(Value::Bool).map_err(fail)
                }
                Value::Partial(text) => {
                    // The comparison takes as many steps as the product of the lengths.
                    self.step(span, text.shown.len() * 64)?;
                    match patterns.is_partial_match(&text) {
                        Some(known) => Ok(known.into()),
                        None => Ok(Value::unknown(text.shown.as_str())),
                    }
                }
                other => unknown_or(&other, || fail(wrong_type("a string", &other))),
            },
            _ => Ok(Value::Null),
        }
    }

    fn arguments(&self, span: Span, nodes: &[Node]) -> Result<Vec<Value>, Failure> {
        let values: Result<Vec<_>, _> = nodes.iter().map(|node| self.evaluate(node)).collect();
        let values = values?;
        self.step(span, values.iter().map(text_size).fold(0, usize::saturating_add))?;
        Ok(values)
    }

    /// Returns the value of a variable. Each is evaluated once.
    fn variable(&self, index: usize) -> Evaluated {
        let known = self.values.borrow().get(index).cloned().flatten();
        if let Some(value) = known {
            return value;
        }
        let Some(node) = self.variables.get(index) else { return Ok(Value::Null) };
        // A variable has no access to the variables of comprehensions around its use.
        let locals = self.locals.take();
        let start = self.trace_length();
        let value = self.evaluate(node);
        self.locals.replace(locals);
        let steps = self.cut_trace(start);
        if self.trace.is_some() {
            self.inside.replace(Some(Inside::Variable { index, steps }));
        }
        if let Some(slot) = self.values.borrow_mut().get_mut(index) {
            *slot = Some(value.clone());
        }
        value
    }

    fn index(&self, span: Span, object: &Node, index: &Node) -> Evaluated {
        let fail = |kind: FailureKind| Failure { span, kind };
        let (object, index) = (self.evaluate(object)?, self.evaluate(index)?);
        if let Some(unknown) = index.unknown_part() {
            return Ok(Value::Unknown(unknown));
        }
        match (object, index) {
            (Value::Unknown(unknown), _) => Ok(Value::Unknown(unknown)),
            (Value::List(list), Value::Int(index)) => {
                if let Some(rest) = list.rest {
                    return Ok(Value::Unknown(rest));
                }
                let element = usize::try_from(index).ok().and_then(|index| list.elements.get(index));
                element.cloned().ok_or_else(|| fail(FailureKind::MissingElement(index)))
            }
            (Value::Map(map), Value::String(key)) => {
                map.get(&*key).cloned().ok_or_else(|| fail(FailureKind::MissingKey(key.as_ref().to_owned())))
            }
            (object, _) => Err(fail(wrong_type("a list or a map", &object))),
        }
    }

    fn search(&self, span: Span, search: Search, text: &Node, part: &Node) -> Evaluated {
        let (text, part) = (self.evaluate(text)?, self.evaluate(part)?);
        self.step(span, text_size(&text).saturating_add(text_size(&part)))?;
        let known = match (&text, &part) {
            (Value::String(text), Value::String(part)) => Some(match search {
                Search::StartsWith => text.starts_with(&**part),
                Search::EndsWith => text.ends_with(&**part),
                Search::Contains => text.contains(&**part),
                Search::Under => is_under(text, part),
            }),
            (Value::Partial(text), Value::String(part)) => match search {
                Search::StartsWith => text.starts_with(part),
                Search::EndsWith => text.ends_with(part),
                Search::Contains => text.contains(part),
                Search::Under => text.under(part),
            },
            _ => None,
        };
        match (known, text.unknown_part().or_else(|| part.unknown_part())) {
            (Some(known), _) => Ok(known.into()),
            (None, Some(unknown)) => Ok(Value::Unknown(unknown)),
            (None, None) => {
                let other = if matches!(text, Value::String(_)) { &part } else { &text };
                Err(Failure { span, kind: wrong_type("a string", other) })
            }
        }
    }

    /// Evaluates `&&` (decided by false) or `||` (decided by true).
    fn logical(&self, decides: bool, left: &Node, right: &Node) -> Evaluated {
        let side = |node: &Node| match self.evaluate(node) {
            Ok(Value::Bool(own)) => Ok(Ok(own)),
            Ok(Value::Unknown(unknown)) => Ok(Err(unknown)),
            Ok(other) => Err(Failure { span: node.span, kind: wrong_type("a bool", &other) }),
            Err(failure) => Err(failure),
        };
        let one = side(left);
        match &one {
            Ok(Ok(own)) if *own == decides => return Ok(decides.into()),
            // The limit of steps holds for the whole rule.
            Err(failure) if failure.kind == FailureKind::TooManySteps => return Err(failure.clone()),
            _ => {}
        }
        match (one, side(right)) {
            (_, Err(failure)) if failure.kind == FailureKind::TooManySteps => Err(failure),
            (_, Ok(Ok(own))) if own == decides => Ok(decides.into()),
            (Ok(Err(unknown)), _) | (_, Ok(Err(unknown))) => Ok(Value::Unknown(unknown)),
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
            (Ok(Ok(_)), Ok(Ok(_))) => Ok((!decides).into()),
        }
    }

    fn comprehension(&self, span: Span, kind: Comprehension, list: &Node, body: &Node) -> Evaluated {
        let list = match self.evaluate(list)? {
            Value::List(list) => list,
            Value::Map(map) => List { elements: map.keys().map(|key| Value::from(key.as_str())).collect(), rest: None },
            Value::Unknown(unknown) => return Ok(Value::Unknown(unknown)),
            other => return Err(Failure { span, kind: wrong_type("a list", &other) }),
        };
        let mut rest = list.rest.clone();
        let mut failure = None;
        let mut found = 0_u32;
        let mut kept = Vec::new();
        self.inside.take();
        let mut decisive = None;
        let mut nearest: Option<(usize, Inside)> = None;
        for element in list.elements.iter() {
            self.locals.borrow_mut().push(element.clone());
            let start = self.trace_length();
            let result = self.evaluate(body);
            self.locals.borrow_mut().pop();
            let steps = self.cut_trace(start);
            if self.trace.is_some() && is_decisive(kind, &result, decisive.is_some()) {
                decisive = Some(Inside::Element { element: element.clone(), steps });
            } else if self.trace.is_some()
                && matches!((kind, &result), (Comprehension::Exists | Comprehension::Filter, Ok(Value::Bool(false))))
            {
                let held = steps.iter().filter(|step| matches!(step.value, Value::Bool(true))).count();
                if nearest.as_ref().is_none_or(|(most, _)| held > *most) {
                    nearest = Some((held, Inside::Element { element: element.clone(), steps }));
                }
            }
            let is_end = matches!(
                (kind, &result),
                (Comprehension::Exists, Ok(Value::Bool(true))) | (Comprehension::All, Ok(Value::Bool(false)))
            );
            if is_end {
                self.inside.replace(decisive.take());
            }
            match (kind, result) {
                (_, Err(error)) if error.kind == FailureKind::TooManySteps => return Err(error),
                (_, Err(error)) => failure = Some(error),
                (Comprehension::Map, Ok(value)) => kept.push(value),
                (_, Ok(Value::Unknown(unknown))) => rest = Some(unknown),
                (Comprehension::Exists, Ok(Value::Bool(true))) => return Ok(true.into()),
                (Comprehension::All, Ok(Value::Bool(false))) => return Ok(false.into()),
                (Comprehension::Filter, Ok(Value::Bool(true))) => kept.push(element.clone()),
                (_, Ok(Value::Bool(own))) => found += u32::from(own),
                (_, Ok(other)) => return Err(Failure { span: body.span, kind: wrong_type("a bool", &other) }),
            }
        }
        // Without a decisive element, the one for which most parts held explains the result best.
        self.inside.replace(decisive.or(nearest.map(|(_, inside)| inside)));
        let is_quantifier = !matches!(kind, Comprehension::Map | Comprehension::Filter);
        // Two matches decide, even if other elements are unknown or failed.
        if kind == Comprehension::ExistsOne && found > 1 {
            return Ok(false.into());
        }
        match (rest, failure) {
            (Some(unknown), _) if is_quantifier => Ok(Value::Unknown(unknown)),
            (_, Some(failure)) => Err(failure),
            (rest, None) => Ok(match kind {
                Comprehension::Map | Comprehension::Filter => Value::List(List { elements: kept.into(), rest }),
                Comprehension::All => true.into(),
                Comprehension::Exists => false.into(),
                Comprehension::ExistsOne => (found == 1).into(),
            }),
        }
    }
}

/// `true` if the steps of an element explain the result better than those before: the element decides, or is the first unknown one,
/// or is the first one that a filter keeps.
fn is_decisive(kind: Comprehension, result: &Evaluated, has_other: bool) -> bool {
    match (kind, result) {
        (Comprehension::Exists, Ok(Value::Bool(true))) | (Comprehension::All, Ok(Value::Bool(false))) => true,
        (Comprehension::Filter | Comprehension::ExistsOne, Ok(Value::Bool(true))) => !has_other,
        (Comprehension::Map, _) => false,
        (_, Ok(Value::Unknown(_)) | Err(_)) => !has_other,
        _ => false,
    }
}

fn is_under(path: &str, dir: &str) -> bool {
    let dir = dir.strip_suffix('/').unwrap_or(dir);
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn text_size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Partial(text) => text.shown.len(),
        Value::List(list) => list.elements.iter().map(element_size).fold(0, usize::saturating_add),
        Value::Map(map) => map.values().map(element_size).fold(0, usize::saturating_add),
        _ => 0,
    }
}

/// Size of an element, which may be a text or a list itself.
fn element_size(value: &Value) -> usize {
    text_size(value).saturating_add(16)
}

fn wrong_type(expected: &str, found: &Value) -> FailureKind {
    FailureKind::WrongType { expected: expected.to_owned(), found: found.type_name() }
}

fn first_unknown(values: &[Value]) -> Value {
    values.iter().find_map(Value::unknown_part).map_or(Value::Null, Value::Unknown)
}

/// Returns the unknown part of a value, or else the failure.
fn unknown_or(value: &Value, failure: impl FnOnce() -> Failure) -> Evaluated {
    value.unknown_part().map(Value::Unknown).ok_or_else(failure)
}

fn unknown_of(left: &Value, right: &Value) -> Option<Unknown> {
    left.unknown_part().or_else(|| right.unknown_part())
}

/// Applies an operator other than `&&` and `||`.
fn operate(operator: Operator, left: &Value, right: &Value) -> Result<Value, FailureKind> {
    let or_unknown = |known: Option<bool>| match known {
        Some(known) => Value::Bool(known),
        None => unknown_of(left, right).map_or(Value::Bool(false), Value::Unknown),
    };
    match operator {
        Operator::Equal => return Ok(or_unknown(left.equals(right))),
        Operator::NotEqual => return Ok(or_unknown(left.equals(right).map(|equal| !equal))),
        Operator::In => return contains(left, right),
        _ => {}
    }
    match (operator, left, right) {
        (Operator::Add, Value::Partial(left), Value::String(right)) => {
            return Ok(Value::Partial(Arc::new(left.before(right))));
        }
        (Operator::Add, Value::String(left), Value::Partial(right)) => {
            return Ok(Value::Partial(Arc::new(right.after(left))));
        }
        _ => {}
    }
    if let Some(unknown) = unknown_of(left, right) {
        return Ok(Value::Unknown(unknown));
    }
    match (operator, left, right) {
        (Operator::Add, Value::String(left), Value::String(right)) => Ok(format!("{left}{right}").into()),
        (Operator::Add, Value::List(left), Value::List(right)) => {
            Ok(Value::list(left.elements.iter().chain(right.elements.iter()).cloned()))
        }
        (_, Value::Int(left), Value::Int(right)) => whole(operator, *left, *right),
        (_, Value::String(left), Value::String(right)) => {
            order(operator, Some(left.cmp(right))).ok_or_else(|| wrong_type("numbers", &Value::String(left.clone())))
        }
        _ => match (number(left), number(right)) {
            (Some(one), Some(other)) => float(operator, one, other),
            (None, _) => Err(wrong_type("a number", left)),
            (_, None) => Err(wrong_type("a number", right)),
        },
    }
}

fn contains(element: &Value, list: &Value) -> Result<Value, FailureKind> {
    match list {
        Value::Unknown(unknown) => Ok(Value::Unknown(unknown.clone())),
        Value::List(list) => {
            let mut unknown = list.rest.clone();
            for own in list.elements.iter() {
                match own.equals(element) {
                    Some(true) => return Ok(true.into()),
                    Some(false) => {}
                    None => unknown = unknown_of(own, element),
                }
            }
            Ok(unknown.map_or(Value::Bool(false), Value::Unknown))
        }
        Value::Map(map) => match element {
            Value::String(key) => Ok(map.contains_key(&**key).into()),
            other => other.unknown_part().map(Value::Unknown).ok_or_else(|| wrong_type("a string", other)),
        },
        other => Err(wrong_type("a list or a map", other)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of different types are calculated as floats")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(own) => Some(*own as f64),
        Value::Double(own) => Some(*own),
        _ => None,
    }
}

fn order(operator: Operator, ordering: Option<std::cmp::Ordering>) -> Option<Value> {
    let holds = |test: fn(std::cmp::Ordering) -> bool| Some(Value::Bool(ordering.is_some_and(test)));
    match operator {
        Operator::Less => holds(std::cmp::Ordering::is_lt),
        Operator::LessEqual => holds(std::cmp::Ordering::is_le),
        Operator::Greater => holds(std::cmp::Ordering::is_gt),
        Operator::GreaterEqual => holds(std::cmp::Ordering::is_ge),
        _ => None,
    }
}

fn whole(operator: Operator, left: i64, right: i64) -> Result<Value, FailureKind> {
    if let Some(value) = order(operator, Some(left.cmp(&right))) {
        return Ok(value);
    }
    if right == 0 && matches!(operator, Operator::Divide | Operator::Remainder) {
        return Err(FailureKind::DivisionByZero);
    }
    let result = match operator {
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder => left.checked_rem(right),
        _ => left.checked_add(right),
    };
    result.map(Value::Int).ok_or(FailureKind::Overflow)
}

fn float(operator: Operator, left: f64, right: f64) -> Result<Value, FailureKind> {
    if let Some(value) = order(operator, left.partial_cmp(&right)) {
        return Ok(value);
    }
    Ok(Value::Double(match operator {
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::Remainder => return Err(wrong_type("whole numbers", &Value::Double(left))),
        _ => left + right,
    }))
}
