//! Variables of a rule: named expressions that other expressions of the rule use as `vars.NAME`.

use crate::check::check;
use crate::environment::{Environment, VARS};
use crate::error::{Error, Problem};
use crate::node::Node;
use crate::syntax::{Expr, ExprKind, parse};

/// Checked variables of a rule. Each is evaluated at most once per event.
#[derive(Debug, Default)]
pub struct Variables {
    pub(crate) nodes: Vec<Node>,
    /// Names and texts, in the order of `nodes`.
    texts: Vec<(String, String)>,
    warnings: Vec<(String, Error)>,
}

impl Variables {
    /// Checks variables and adds them to the environment. A variable can use others, in any order.
    ///
    /// # Errors
    ///
    /// The name of the variable and its error: as in [`Expression::compile`](crate::Expression::compile), or variables that
    /// depend on each other.
    pub fn compile(variables: &[(String, String)], environment: &mut Environment) -> Result<Self, (String, Error)> {
        let mut waiting = Vec::new();
        for (name, text) in variables {
            let parsed = parse(text).map_err(|error| (name.clone(), error))?;
            let mut uses = Vec::new();
            references(&parsed, &mut uses);
            waiting.push((name, text, parsed, uses));
        }
        let (mut nodes, mut texts, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        while !waiting.is_empty() {
            let is_ready = |uses: &[String]| {
                let is_waiting = |used: &String| waiting.iter().any(|(name, ..)| *name == used);
                !uses.iter().any(is_waiting)
            };
            let Some(next) = waiting.iter().position(|(_, _, _, uses)| is_ready(uses)) else {
                let (name, _, parsed, _) = &waiting[0];
                return Err(((*name).clone(), Error::new(parsed.span, Problem::Cycle((*name).clone()))));
            };
            let (name, text, parsed, _) = waiting.remove(next);
            let checked = check(&parsed, environment, text).map_err(|error| (name.clone(), error))?;
            environment.variables.push((name.clone(), checked.result));
            warnings.extend(checked.warnings.into_iter().map(|warning| (name.clone(), warning)));
            nodes.push(checked.node);
            texts.push((name.clone(), text.clone()));
        }
        Ok(Self { nodes, texts, warnings })
    }

    /// Names of variables, and parts of them that are valid and rarely intended.
    pub fn warnings(&self) -> &[(String, Error)] {
        &self.warnings
    }

    /// Name of a variable, by its index in a trace.
    pub fn name(&self, index: usize) -> &str {
        self.texts.get(index).map_or("", |(name, _)| name)
    }

    /// Text of a variable, by its index in a trace.
    pub fn source(&self, index: usize) -> &str {
        self.texts.get(index).map_or("", |(_, text)| text)
    }
}

/// Adds the variables that an expression uses.
fn references(expression: &Expr, found: &mut Vec<String>) {
    if let ExprKind::Select { object, field } = &expression.kind
        && matches!(&object.kind, ExprKind::Name(name) if name == VARS)
    {
        found.push(field.text.clone());
    }
    expression.for_each_part(|part| references(part, found));
}
