//! [`JsonObject`]: builds an object from validated values.

use super::{Entry, RawJson, write_string};

/// Builder of an object. Values keep their text and are not validated again.
///
/// ```
/// use checkrein_core::{JsonObject, RawJson};
///
/// let old = RawJson::parse(r#"{"path": "a.txt", "n": 1.50}"#)?;
/// let mut new = JsonObject::new();
/// for entry in old.entries().into_iter().flatten() {
///     let key = entry.key();
///     new.entry(if key == "path" { "file_path" } else { &key }, &entry);
/// }
/// assert_eq!(new.finish().unwrap().as_str(), r#"{"file_path":"a.txt","n":1.50}"#);
/// # Ok::<(), checkrein_core::JsonError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct JsonObject {
    text: String,
    keys: Vec<String>,
    has_duplicate: bool,
}

impl JsonObject {
    /// Creates an empty object.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty object with capacity for a text of this length.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ..Self::default() }
    }

    /// Adds the value of another object's field.
    pub fn entry(&mut self, key: &str, entry: &Entry<'_>) {
        self.put(key, entry.value());
    }

    /// Adds a field.
    pub fn field(&mut self, key: &str, value: &RawJson) {
        self.put(key, value.as_str().trim_ascii());
    }

    /// `true` if there is a field with this name.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|existing| existing == key)
    }

    fn put(&mut self, key: &str, value: &str) {
        self.has_duplicate |= self.has(key);
        self.keys.push(key.to_owned());
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        write_string(&mut self.text, key);
        self.text.push(':');
        self.text.push_str(value);
    }

    /// Returns the object. `None` if a key was added twice.
    pub fn finish(mut self) -> Option<RawJson> {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        if self.has_duplicate { None } else { Some(RawJson::from_checked(&self.text)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_keys_are_rejected() {
        let mut object = JsonObject::new();
        assert_eq!(object.clone().finish().unwrap().as_str(), "{}");
        object.field("a", &RawJson::string("1"));
        assert!(object.has("a"));
        assert_eq!(object.clone().finish().unwrap().as_str(), r#"{"a":"1"}"#);
        object.field("a", &RawJson::string("2"));
        assert_eq!(object.finish(), None);
    }
}
