//! Operators: their types, and comparisons that can never hold.

use super::suggest::did_you_mean;
use super::{Checked, Checker, constant_value, node};
use crate::error::{Error, Problem};
use crate::node::{Node, NodeKind};
use crate::syntax::{Expr, Operator, Span};
use crate::types::Type;
use crate::value::Value;

impl Checker<'_> {
    pub(super) fn binary(&mut self, span: Span, operator: Operator, left: &Expr, right: &Expr) -> Checked {
        if matches!(operator, Operator::And | Operator::Or) {
            return self.logical(span, operator, left, right);
        }
        let (one, left_type) = self.expression(left)?;
        let (other, right_type) = self.expression(right)?;
        let operands = || {
            let (left, right) = (left_type.to_string(), right_type.to_string());
            Error::new(span, Problem::Operands { operator: operator.symbol(), left, right })
        };
        let own = match operator {
            Operator::Equal | Operator::NotEqual => {
                self.comparable(span, operator, (&one, &left_type), (&other, &right_type))?;
                Type::Bool
            }
            Operator::In => {
                self.membership(span, (&one, &left_type), (&other, &right_type))?;
                Type::Bool
            }
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => {
                let is_ordered =
                    |own: &Type| matches!(own, Type::Int | Type::Double | Type::String | Type::OneOf(_) | Type::Any);
                if !is_ordered(&left_type) || !is_ordered(&right_type) || !left_type.can_equal(&right_type) {
                    return Err(self.null_or(operands(), (left, &left_type), (right, &right_type)));
                }
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

    fn logical(&mut self, span: Span, operator: Operator, left: &Expr, right: &Expr) -> Checked {
        let one = self.typed(left, &Type::Bool)?;
        let known = self.non_null.len();
        self.assume(left, operator == Operator::And);
        let other = self.typed(right, &Type::Bool);
        self.non_null.truncate(known);
        let kind = NodeKind::Binary { operator, left: Box::new(one), right: Box::new(other?) };
        node(span, kind, Type::Bool)
    }

    fn comparable(
        &self,
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
            if let (Type::OneOf(values), Some(Value::String(text))) = (own.non_null(), constant_value(other))
                && !values.contains(&&*text)
            {
                let name = checked.span.text(self.source);
                let error = constant(format!("`{name}` is never \"{text}\""));
                return Err(did_you_mean(error, &text, values.iter().copied()));
            }
        }
        Ok(())
    }

    fn membership(&self, span: Span, left: (&Node, &Type), right: (&Node, &Type)) -> Result<(), Error> {
        let never = |reason: String| Error::new(span, Problem::Constant { result: false, reason });
        match right.1 {
            Type::Any => Ok(()),
            Type::List(element) if left.1.can_equal(element) => {
                let Some(Value::List(list)) = constant_value(right.0) else { return Ok(()) };
                let Type::OneOf(values) = left.1.non_null() else { return Ok(()) };
                for element in list.elements.iter() {
                    if let Value::String(text) = element
                        && !values.contains(&&**text)
                    {
                        let error = never(format!("`{}` is never \"{text}\"", left.0.span.text(self.source)));
                        return Err(did_you_mean(error, text, values.iter().copied()));
                    }
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

fn arithmetic(operator: Operator, left: &Type, right: &Type) -> Option<Type> {
    let is_number = |own: &Type| matches!(own, Type::Int | Type::Double | Type::Any);
    match (operator, left, right) {
        (_, Type::Any, Type::Any) => Some(Type::Any),
        (Operator::Add, left, right) if Type::String.accepts(left) && Type::String.accepts(right) => Some(Type::String),
        (Operator::Add, Type::List(one), Type::List(other)) => {
            Some(Type::list_of(Type::clone(one).join(Type::clone(other))))
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
