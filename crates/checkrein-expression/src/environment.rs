//! Names that an expression can use.

use std::collections::BTreeMap;

use crate::expression::Expression;
use crate::functions;
use crate::types::{Function, Inner, Schema, Type};
use crate::value::Value;

/// Name of the object with the parameters of a rule.
pub(crate) const PARAMS: &str = "params";

/// Name of the object with the variables of a rule.
pub(crate) const VARS: &str = "vars";

/// Names that an expression can use: facts, functions, parameters and variables.
#[derive(Debug, Clone)]
pub struct Environment {
    pub(crate) facts: &'static Schema,
    functions: Vec<&'static [Function]>,
    pub(crate) params: BTreeMap<String, Value>,
    /// Variables in the order of their evaluation.
    pub(crate) variables: Vec<(String, Type)>,
    /// Names of facts that exist, but not for this rule.
    unavailable: Vec<&'static str>,
    /// Describes where an unavailable name exists.
    describe: Option<fn(&str) -> String>,
    literal_check: Option<LiteralCheck>,
    /// `true` if the patterns of the expressions are known to be valid.
    pub(crate) has_valid_patterns: bool,
    /// Facts that a condition around the expression has proven, as in [`Checker`](crate::check).
    pub(crate) proven: Vec<String>,
}

/// Checks the arguments of a call that are known before any event: the name of the function, and its arguments without the
/// receiver. `None` stands for an argument that depends on the event.
pub type LiteralCheck = fn(&str, &[Option<&Value>]) -> Result<(), String>;

impl Environment {
    /// Returns an environment with these facts, and the functions of the language.
    pub fn new(facts: &'static Schema) -> Self {
        Self {
            facts,
            functions: vec![functions::ALL],
            params: BTreeMap::new(),
            variables: Vec::new(),
            unavailable: Vec::new(),
            describe: None,
            literal_check: None,
            has_valid_patterns: false,
            proven: Vec::new(),
        }
    }

    /// Removes facts that do not exist for the rule. `describe` returns help for the error, such as the events that have the
    /// name.
    #[must_use]
    pub fn without(mut self, names: Vec<&'static str>, describe: fn(&str) -> String) -> Self {
        self.unavailable = names;
        self.describe = Some(describe);
        self
    }

    /// Assumes that a condition is true. A value that it compares with null then is not null.
    #[must_use]
    pub fn assuming(mut self, condition: &Expression) -> Self {
        self.proven.extend_from_slice(&condition.proven);
        self
    }

    /// Sets a check of arguments that are known before any event.
    #[must_use]
    pub fn literal_check(mut self, check: LiteralCheck) -> Self {
        self.literal_check = Some(check);
        self
    }

    /// Does not check the patterns of `matches`, because they are known to be valid. The use of an invalid one fails.
    #[must_use]
    pub fn with_valid_patterns(mut self) -> Self {
        self.has_valid_patterns = true;
        self
    }

    /// Returns the methods of the language that take literals or conditions, for the reference: name, parameters and description.
    pub fn macros() -> &'static [(&'static str, &'static str, &'static str)] {
        functions::MACROS
    }

    /// Returns the facts, for the reference.
    pub fn facts(&self) -> &'static Schema {
        self.facts
    }

    /// Returns help if a fact of this name is not available for the rule.
    pub(crate) fn unavailable(&self, name: &str) -> Option<String> {
        let describe = self.describe?;
        if self.unavailable.contains(&name) { Some(describe(name)) } else { None }
    }

    /// Returns the names of facts that are available.
    pub(crate) fn available(&self) -> impl Iterator<Item = &str> {
        let names = self.facts.fields.iter().map(|field| field.name);
        names.filter(|name| !self.unavailable.contains(name))
    }

    pub(crate) fn check_literals(&self, name: &str, arguments: &[Option<&Value>]) -> Result<(), String> {
        match self.literal_check {
            Some(check) => check(name, arguments),
            None => Ok(()),
        }
    }

    /// Adds functions.
    #[must_use]
    pub fn functions(mut self, functions: &'static [Function]) -> Self {
        self.functions.push(functions);
        self
    }

    /// Sets the parameters of the rule.
    #[must_use]
    pub fn params(mut self, params: BTreeMap<String, Value>) -> Self {
        self.params = params;
        self
    }

    /// Returns all functions, for the reference.
    pub fn all_functions(&self) -> impl Iterator<Item = &'static Function> {
        self.functions.iter().flat_map(|functions| functions.iter())
    }
}

/// Returns the type of a parameter.
pub(crate) fn type_of(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Bool,
        Value::Int(_) => Type::Int,
        Value::Double(_) => Type::Double,
        Value::String(_) | Value::Partial(_) => Type::String,
        Value::List(list) => {
            let element = list.elements.iter().map(type_of).reduce(either).unwrap_or(Type::Any);
            Type::List(Inner::from(element))
        }
        Value::Map(map) => Type::Map(Inner::from(map.values().map(type_of).reduce(either).unwrap_or(Type::Any))),
        Value::Object(object) => Type::Object(object.schema()),
        Value::Unknown(_) => Type::Any,
    }
}

/// Returns a type that accepts values of both types.
fn either(left: Type, right: Type) -> Type {
    left.join(right).unwrap_or(Type::Any)
}
