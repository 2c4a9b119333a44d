//! Texts with expressions in `${…}`.

use std::fmt::Write as _;

use crate::environment::Environment;
use crate::error::{Error, Problem};
use crate::evaluate::Evaluation;
use crate::expression::Expression;
use crate::failure::Failure;
use crate::syntax::Span;
use crate::value::{Object, Unknown};
use crate::variables::Variables;

/// A text such as `push to ${vars.branch}`. `$${` is a literal `${`.
#[derive(Debug)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Value(Expression),
}

impl Template {
    /// Checks a text and its expressions.
    ///
    /// # Errors
    ///
    /// If an expression is not valid. Its span is in the whole text.
    pub fn compile(text: &str, environment: &Environment) -> Result<Self, Error> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut at = 0;
        while let Some(dollar) = text[at..].find("${").map(|found| at + found) {
            if text[at..dollar].ends_with('$') {
                literal.push_str(&text[at..dollar - 1]);
                literal.push_str("${");
                at = dollar + 2;
                continue;
            }
            literal.push_str(&text[at..dollar]);
            let start = dollar + 2;
            let end = end_of_expression(&text[start..])
                .map(|length| start + length)
                .ok_or_else(|| Error::new(Span::new(dollar, start), Problem::UnclosedInterpolation))?;
            let compiled = Expression::compile(&text[start..end], environment);
            let compiled = compiled.and_then(|expression| match expression.no_text() {
                Some(error) => Err(error),
                None => Ok(expression),
            });
            let expression = compiled.map_err(|mut error| {
                let shift = u32::try_from(start).unwrap_or(u32::MAX);
                error.span.start = error.span.start.saturating_add(shift);
                error.span.end = error.span.end.saturating_add(shift);
                error
            })?;
            parts.push(Part::Text(std::mem::take(&mut literal)));
            parts.push(Part::Value(expression));
            at = end + 1;
        }
        literal.push_str(&text[at..]);
        parts.push(Part::Text(literal));
        Ok(Self { parts })
    }

    /// Returns the text for the facts of an event. Unknown values are shown as they are written, such as `$X`.
    ///
    /// # Errors
    ///
    /// As [`Expression::evaluate`].
    pub fn render(&self, facts: &dyn Object, variables: &Variables) -> Result<String, Failure> {
        self.write(facts, variables).map(|(text, _)| text)
    }

    /// As [`render`](Self::render). Returns the first unknown value instead of a text that contains one.
    ///
    /// # Errors
    ///
    /// As [`Expression::evaluate`].
    pub fn render_known(&self, facts: &dyn Object, variables: &Variables) -> Result<Result<String, Unknown>, Failure> {
        let (text, unknown) = self.write(facts, variables)?;
        Ok(unknown.map_or(Ok(text), Err))
    }

    /// Returns the text and the first unknown value in it.
    fn write(&self, facts: &dyn Object, variables: &Variables) -> Result<(String, Option<Unknown>), Failure> {
        let mut unknown = None;
        let evaluation = Evaluation::new(facts, &variables.nodes);
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(own) => text.push_str(own),
                Part::Value(expression) => {
                    let value = evaluation.evaluate(&expression.node)?;
                    unknown = unknown.or_else(|| value.unknown_part());
                    let _ = write!(text, "{value}");
                }
            }
        }
        Ok((text, unknown))
    }
}

/// Returns the length of an expression before its closing brace. Braces in strings and maps are part of it.
fn end_of_expression(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(own), character) if own == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '{') => open += 1,
            (None, '}') if open == 0 => return Some(at),
            (None, '}') => open -= 1,
            (None, _) => {}
        }
    }
    None
}
