//! Objects whose fields are computed at most once per event, because many rules read the same ones.

use std::fmt;
use std::sync::{Arc, OnceLock};

use checkrein_expression::{FailureKind, Object, Schema, Value};

/// An object with the values of its fields that were read.
struct Cached<T> {
    inner: T,
    values: Box<[OnceLock<Value>]>,
}

/// Returns an object whose fields are computed at most once.
pub(super) fn value<T: Object + 'static>(inner: T) -> Value {
    let values = inner.schema().fields.iter().map(|_| OnceLock::new()).collect();
    Value::Object(Arc::new(Cached { inner, values }))
}

impl<T: Object> Object for Cached<T> {
    fn schema(&self) -> &'static Schema {
        self.inner.schema()
    }

    fn field(&self, index: usize) -> Value {
        match self.values.get(index) {
            Some(slot) => slot.get_or_init(|| self.inner.field(index)).clone(),
            None => Value::Null,
        }
    }

    fn call(&self, index: usize, arguments: &[Value]) -> Result<Value, FailureKind> {
        self.inner.call(index, arguments)
    }
}

impl<T: fmt::Debug> fmt::Debug for Cached<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
