//! Objects whose values are computed together.

use std::sync::Arc;

use checkrein_expression::{Object, Schema, Value};

/// An object with the values of its fields.
#[derive(Debug)]
pub(crate) struct Record {
    schema: &'static Schema,
    values: Vec<Value>,
}

impl Record {
    /// Returns an object with these values, in the order of the fields.
    pub(crate) fn value(schema: &'static Schema, values: impl IntoIterator<Item = Value>) -> Value {
        let values: Vec<Value> = values.into_iter().collect();
        debug_assert_eq!(values.len(), schema.fields.len(), "{}", schema.name);
        Value::Object(Arc::new(Self { schema, values }))
    }
}

impl Object for Record {
    fn schema(&self) -> &'static Schema {
        self.schema
    }

    fn field(&self, index: usize) -> Value {
        self.values.get(index).cloned().unwrap_or(Value::Null)
    }
}
