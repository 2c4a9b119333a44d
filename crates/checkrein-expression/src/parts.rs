//! Boolean parts of an expression, for tools that change an expression to test its tests.

use crate::expression::Expression;
use crate::syntax::{Comprehension, Expr, ExprKind, Operator, Span, parse};

/// Role of a part in the expression around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartRole {
    /// Operand of `&&`.
    AndOperand,
    /// Operand of `||`.
    OrOperand,
    /// The whole expression, the operand of `!`, the condition of `? :` or the body of a comprehension.
    Other,
}

impl Expression {
    /// Returns the parts of a text that are conditions, outermost first. The whole text is included although its value may have
    /// another type. Empty if the text is not an expression.
    pub fn boolean_parts(text: &str) -> Vec<(Span, PartRole)> {
        let mut parts = Vec::new();
        if let Ok(parsed) = parse(text) {
            parts.push((parsed.span, PartRole::Other));
            visit(&parsed, &mut parts);
        }
        parts
    }
}

fn visit(expression: &Expr, parts: &mut Vec<(Span, PartRole)>) {
    match &expression.kind {
        ExprKind::Binary { operator: operator @ (Operator::And | Operator::Or), left, right } => {
            let role = if *operator == Operator::And { PartRole::AndOperand } else { PartRole::OrOperand };
            parts.extend([(left.span, role), (right.span, role)]);
        }
        ExprKind::Not(inner) => parts.push((inner.span, PartRole::Other)),
        ExprKind::Conditional { condition, .. } => parts.push((condition.span, PartRole::Other)),
        ExprKind::Comprehension { kind, body, .. } if *kind != Comprehension::Map => {
            parts.push((body.span, PartRole::Other));
        }
        _ => {}
    }
    expression.for_each_part(|part| visit(part, parts));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_their_roles() {
        let text = "a && (b || !c) && l.exists(x, x > 1)";
        let parts: Vec<_> =
            Expression::boolean_parts(text).into_iter().map(|(span, role)| (span.text(text), role)).collect();
        for expected in [
            ("a", PartRole::AndOperand),
            ("b", PartRole::OrOperand),
            ("c", PartRole::Other),
            ("x > 1", PartRole::Other),
            ("l.exists(x, x > 1)", PartRole::AndOperand),
        ] {
            assert!(parts.contains(&expected), "{expected:?} {parts:?}");
        }
        assert!(Expression::boolean_parts("a &&").is_empty());
    }
}
