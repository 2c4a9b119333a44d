//! Properties of a hook as names and values: what its entry says, in one form.
//!
//! The types that make up a hook list their own properties, in functions that name every field. So a new field does not
//! compile until it is either listed or left out for a reason. Approvals and comparisons of hooks are made from these lists.

use std::fmt::Display;

/// One property of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name. Several properties can have the same one.
    pub label: String,
    /// Its value.
    pub value: String,
}

/// The properties of a hook, in order.
///
/// A property with its default value is not in the list: then a new property changes nothing of hooks that do not set it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties(Vec<Property>);

impl Properties {
    /// An empty list.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a property.
    pub fn add(&mut self, label: &str, value: impl Into<String>) {
        self.0.push(Property { label: label.to_owned(), value: value.into() });
    }

    /// Adds a property that is set.
    pub fn add_set(&mut self, label: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(label, value.to_string());
        }
    }

    /// Adds a flag that is `true`.
    pub fn add_flag(&mut self, label: &str, is_set: bool) {
        if is_set {
            self.add(label, "yes");
        }
    }

    /// Adds a property for each of several values.
    pub fn add_each<V: Into<String>>(&mut self, label: &str, values: impl IntoIterator<Item = V>) {
        values.into_iter().for_each(|value| self.add(label, value));
    }

    /// The properties.
    pub fn into_vec(self) -> Vec<Property> {
        self.0
    }
}
