//! Building an object out of values that are checked already.

use super::{Entry, RawJson, write_string};

/// Writes an object. Values go in as they are spelt, and nothing is read a second time.
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
    doubled: bool,
}

impl JsonObject {
    /// With nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// With room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ..Self::default() }
    }

    /// Puts in the value of a field of another object.
    pub fn entry(&mut self, key: &str, entry: &Entry<'_>) {
        self.put(key, entry.value());
    }

    /// Puts in a value.
    pub fn field(&mut self, key: &str, value: &RawJson) {
        self.put(key, value.as_str().trim_ascii());
    }

    /// Whether it has a field of this name already.
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|have| have == key)
    }

    fn put(&mut self, key: &str, value: &str) {
        self.doubled |= self.has(key);
        self.keys.push(key.to_owned());
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        write_string(&mut self.text, key);
        self.text.push(':');
        self.text.push_str(value);
    }

    /// The object. `None`: a key came twice.
    pub fn finish(mut self) -> Option<RawJson> {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        (!self.doubled).then(|| RawJson::from_checked(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_twice_is_nothing() {
        let mut object = JsonObject::new();
        assert_eq!(object.clone().finish().unwrap().as_str(), "{}");
        object.field("a", &RawJson::string("1"));
        assert!(object.has("a"));
        assert_eq!(object.clone().finish().unwrap().as_str(), r#"{"a":"1"}"#);
        object.field("a", &RawJson::string("2"));
        assert_eq!(object.finish(), None);
    }
}
