//! Properties of a hook as names and values.
//!
//! The types of a hook list their own properties, in functions that destructure every field. A new field does not compile
//! until it is either listed or excluded with a reason. Approvals and comparisons of hooks use these lists.

use std::fmt::Display;

/// One property of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Name. Several properties can have the same name.
    pub label: String,
    /// Value.
    pub value: String,
}

/// The properties of a hook, in order.
///
/// Properties with their default values are not in the list. So a new property does not change the lists of existing hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties(Vec<Property>);

impl Properties {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a property.
    pub fn add(&mut self, label: &str, value: impl Into<String>) {
        self.0.push(Property { label: label.to_owned(), value: value.into() });
    }

    /// Adds a property if it is set.
    pub fn add_set(&mut self, label: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(label, value.to_string());
        }
    }

    /// Adds a flag if it is `true`.
    pub fn add_flag(&mut self, label: &str, is_set: bool) {
        if is_set {
            self.add(label, "yes");
        }
    }

    /// Adds one property per value.
    pub fn add_each<V: Into<String>>(&mut self, label: &str, values: impl IntoIterator<Item = V>) {
        values.into_iter().for_each(|value| self.add(label, value));
    }

    /// Returns the properties.
    pub fn into_vec(self) -> Vec<Property> {
        self.0
    }
}
