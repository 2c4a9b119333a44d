//! Operators: their types, and comparisons that can never hold.

use super::suggest::did_you_mean;
use super::{Checker, Typed, constant_value, node};
use crate::error::{Error, Problem};
use crate::node::{Node, NodeKind};
use crate::syntax::{Expr, ExprKind, Operator, Span};
use crate::types::{Fit, Type};
use crate::value::Value;

impl Checker<'_> {
    pub(super) fn binary(&mut self, span: Span, operator: Operator, left: &Expr, right: &Expr) -> Typed {
        if matches!(operator, Operator::And | Operator::Or) {
            return self.logical(span, operator, left, right);
        }
        self.operation(span, operator, left, right)
    }

    /// Checks an operator other than `&&` and `||`, whose chains are long. Without it, their frames are small.
    fn operation(&mut self, span: Span, operator: Operator, left: &Expr, right: &Expr) -> Typed {
        let (one, left_type) = self.expression(left)?;
        let (other, right_type) = self.expression(right)?;
        let operands = || {
            let (left, right) = (left_type.to_string(), right_type.to_string());
            Error::new(span, Problem::Operands { operator: operator.symbol(), left, right })
        };
        let own = match operator {
            Operator::Equal | Operator::NotEqual => {
                if let (Some(left), Some(right)) = (literal(left), literal(right)) {
                    let result = (left.equals(&right) == Some(true)) == (operator == Operator::Equal);
                    let reason = "both sides are literals".to_owned();
                    return Err(Error::new(span, Problem::Constant { result, reason }));
                }
                self.comparable(span, operator, (&one, &left_type), (&other, &right_type))?;
                Type::Bool
            }
            Operator::In => {
                if matches!(&right.kind, ExprKind::List(items) if items.is_empty()) {
                    let reason = "the list is empty".to_owned();
                    return Err(Error::new(span, Problem::Constant { result: false, reason }));
                }
                self.membership(span, (&one, &left_type), (&other, &right_type))?;
                Type::Bool
            }
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => {
                let is_ordered =
                    |own: &Type| matches!(own.clone().general(), Type::Int | Type::Double | Type::String | Type::Any);
                if !is_ordered(&left_type) || !is_ordered(&right_type) || !left_type.can_equal(&right_type) {
                    return Err(self.null_or(operands(), (left, &left_type), (right, &right_type)));
                }
                self.reachable(span, operator, (&one, &left_type), (&other, &right_type))?;
                Type::Bool
            }
            _ => match arithmetic(operator, &left_type, &right_type) {
                Some(own) => own,
                None => return Err(self.null_or(operands(), (left, &left_type), (right, &right_type))),
            },
        };
        let kind = NodeKind::Binary { operator, left: Box::new(one), right: Box::new(other) };
        node(span, kind, own)
    }

    /// Returns the error about null if an operand may be null, or else the given one.
    fn null_or(&self, error: Error, left: (&Expr, &Type), right: (&Expr, &Type)) -> Error {
        let nullable = [left, right].into_iter().find(|(_, own)| matches!(own, Type::Nullable(_)));
        nullable.map_or(error, |(expression, _)| self.may_be_null(expression))
    }

    fn logical(&mut self, span: Span, operator: Operator, left: &Expr, right: &Expr) -> Typed {
        let one = self.typed(left, &Type::Bool)?;
        let known = self.proven.len();
        self.assume(left, operator == Operator::And);
        let other = self.typed(right, &Type::Bool);
        self.proven.truncate(known);
        let kind = NodeKind::Binary { operator, left: Box::new(one), right: Box::new(other?) };
        node(span, kind, Type::Bool)
    }

    fn comparable(
        &mut self,
        span: Span,
        operator: Operator,
        left: (&Node, &Type),
        right: (&Node, &Type),
    ) -> Result<(), Error> {
        let constant =
            |reason: String| Error::new(span, Problem::Constant { result: operator == Operator::NotEqual, reason });
        if !left.1.can_equal(right.1) {
            return Err(constant(format!("{} is never equal to {}", left.1, right.1)));
        }
        for ((checked, own), (other, _)) in [(left, right), (right, left)] {
            let Some(value) = constant_value(other) else { continue };
            if let (Some(case), Value::String(text)) = (changed_case(checked), &value)
                && case.change(text) != **text
            {
                let name = checked.span.text(self.source);
                return Err(constant(format!("`{name}` is never \"{text}\"")).help(case.help()));
            }
            self.fits(span, operator == Operator::NotEqual, checked.span, own, &value)?;
        }
        Ok(())
    }

    /// Checks a constant that is compared with an expression. `result`: the value of the comparison if it never fits.
    pub(super) fn fits(
        &mut self,
        span: Span,
        result: bool,
        compared: Span,
        own: &Type,
        value: &Value,
    ) -> Result<(), Error> {
        let name = compared.text(self.source);
        let never = |reason: String| Error::new(span, Problem::Constant { result, reason });
        match (own.non_null(), value) {
            (Type::OneOf(values), Value::String(text)) if !values.contains(&&**text) => {
                let error = never(format!("`{name}` is never \"{text}\""));
                Err(did_you_mean(error, text, values.iter().copied()))
            }
            (Type::Range(least, most), Value::Int(number)) if !(least..=most).contains(&number) => {
                Err(never(format!("`{name}` is from {least} to {most}")))
            }
            (Type::Format(format), Value::String(text)) => match (format.fit)(text) {
                Fit::Fits => Ok(()),
                Fit::Never(help) => Err(never(format!("`{name}` is never \"{text}\"")).help(help)),
                Fit::Unlikely(help) => {
                    let problem = Problem::Unlikely { name: name.to_owned(), value: text.as_ref().to_owned() };
                    self.warnings.push(Error::new(span, problem).help(help));
                    Ok(())
                }
            },
            _ => Ok(()),
        }
    }

    /// Checks that a number with limits can be less or greater than a constant.
    fn reachable(
        &self,
        span: Span,
        operator: Operator,
        left: (&Node, &Type),
        right: (&Node, &Type),
    ) -> Result<(), Error> {
        let (Some(least), Some(most)) = (limits(left), limits(right)) else { return Ok(()) };
        let is_possible = match operator {
            Operator::Less => least.0 < most.1,
            Operator::LessEqual => least.0 <= most.1,
            Operator::Greater => least.1 > most.0,
            _ => least.1 >= most.0,
        };
        if is_possible {
            return Ok(());
        }
        let ranged = [left, right].into_iter().find(|(_, own)| matches!(own, Type::Range(..)));
        let Some((checked, Type::Range(least, most))) = ranged else { return Ok(()) };
        let reason = format!("`{}` is from {least} to {most}", checked.span.text(self.source));
        Err(Error::new(span, Problem::Constant { result: false, reason }))
    }

    fn membership(&mut self, span: Span, left: (&Node, &Type), right: (&Node, &Type)) -> Result<(), Error> {
        let never = |reason: String| Error::new(span, Problem::Constant { result: false, reason });
        match right.1 {
            Type::Any => Ok(()),
            Type::List(element) if left.1.can_equal(element) => {
                if let Some(value) = constant_value(left.0) {
                    self.fits(span, false, right.0.span, element, &value)?;
                }
                let Some(Value::List(list)) = constant_value(right.0) else { return Ok(()) };
                for element in list.elements.iter() {
                    self.fits(span, false, left.0.span, left.1, element)?;
                }
                Ok(())
            }
            Type::List(element) => Err(never(format!("{} is never equal to {}", left.1, **element))),
            Type::Map(_) if Type::String.can_equal(left.1) => Ok(()),
            _ => Err(Error::new(
                span,
                Problem::Operands { operator: "in", left: left.1.to_string(), right: right.1.to_string() },
            )),
        }
    }
}

/// Case of the letters of a text.
#[derive(Clone, Copy)]
enum Case {
    Lower,
    Upper,
}

impl Case {
    fn change(self, text: &str) -> String {
        match self {
            Self::Lower => text.to_lowercase(),
            Self::Upper => text.to_uppercase(),
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Lower => "write it in lower case",
            Self::Upper => "write it in upper case",
        }
    }
}

/// Returns the case of the result of `lower` or `upper`.
fn changed_case(checked: &Node) -> Option<Case> {
    let NodeKind::Function { function, .. } = &checked.kind else { return None };
    match function.name {
        "lower" => Some(Case::Lower),
        "upper" => Some(Case::Upper),
        _ => None,
    }
}

/// Returns the value of a literal. A parameter is no literal: users set it.
fn literal(expression: &Expr) -> Option<Value> {
    match &expression.kind {
        ExprKind::Bool(own) => Some(Value::Bool(*own)),
        ExprKind::Int(own) => Some(Value::Int(*own)),
        ExprKind::Double(own) => Some(Value::Double(*own)),
        ExprKind::String(own) => Some(own.as_str().into()),
        _ => None,
    }
}

/// Returns the least and the greatest number that an operand can be.
fn limits((checked, own): (&Node, &Type)) -> Option<(i64, i64)> {
    match (own, constant_value(checked)) {
        (_, Some(Value::Int(number))) => Some((number, number)),
        (Type::Range(least, most), _) => Some((*least, *most)),
        _ => None,
    }
}

fn arithmetic(operator: Operator, left: &Type, right: &Type) -> Option<Type> {
    let (left, right) = (&left.clone().general(), &right.clone().general());
    let is_number = |own: &Type| matches!(own, Type::Int | Type::Double | Type::Any);
    match (operator, left, right) {
        (_, Type::Any, Type::Any) => Some(Type::Any),
        (Operator::Add, left, right) if Type::String.accepts(left) && Type::String.accepts(right) => Some(Type::String),
        (Operator::Add, Type::List(one), Type::List(other)) => {
            Type::clone(one).join(Type::clone(other)).map(Type::list_of)
        }
        (Operator::Remainder, Type::Double, _) | (Operator::Remainder, _, Type::Double) => None,
        (_, left, right) if is_number(left) && is_number(right) => match (left, right) {
            (Type::Int, Type::Int) => Some(Type::Int),
            (Type::Any, own) | (own, Type::Any) => Some(own.clone()),
            _ => Some(Type::Double),
        },
        _ => None,
    }
}
