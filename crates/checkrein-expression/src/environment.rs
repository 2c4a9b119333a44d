//! Names that an expression can use.

use std::collections::BTreeMap;

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
}

impl Environment {
    /// Returns an environment with these facts, and the functions of the language.
    pub fn new(facts: &'static Schema) -> Self {
        Self { facts, functions: vec![functions::ALL], params: BTreeMap::new(), variables: Vec::new() }
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
            let element = list.elements.iter().map(type_of).reduce(Type::join).unwrap_or(Type::Any);
            Type::List(Inner::from(element))
        }
        Value::Map(map) => Type::Map(Inner::from(map.values().map(type_of).reduce(Type::join).unwrap_or(Type::Any))),
        Value::Object(object) => Type::Object(object.schema()),
        Value::Unknown(_) => Type::Any,
    }
}
