//! Shape of a new value in an answer. Agents ignore a new tool output of another shape, without an error.

use checkrein_core::json::JsonObject;
use checkrein_core::{JsonType, RawJson, Rewritten};

use super::json_tree::JsonTree;
use crate::reply::Key;

impl Key {
    /// Returns the new value in the shape that the agent accepts under this key. `None`: there is no such shape.
    pub(super) fn shaped(&self, rewritten: &Rewritten) -> Option<RawJson> {
        let value = &rewritten.effective;
        if let Some((name, beside)) = self.wrapped_in {
            return match value.field(name) {
                Some(_) => Some(value.clone()),
                None => Some(wrapped(name, beside, &RawJson::string(&self.text(value)?))),
            };
        }
        match &rewritten.original {
            Some(original) if self.same_shape => self.fitted(original, value),
            _ => Some(value.clone()),
        }
    }

    /// Returns the text of an output.
    fn text(&self, output: &RawJson) -> Option<String> {
        if let Some(text) = output.as_text() {
            return Some(text.into_owned());
        }
        if let Some(items) = output.items() {
            let blocks =
                items.map(|item| RawJson::parse(item).ok()?.field("text")?.as_text().map(std::borrow::Cow::into_owned));
            return blocks.collect::<Option<Vec<_>>>().map(|blocks| blocks.join("\n"));
        }
        self.text_in.iter().find_map(|path| Some(at(output, path)?.as_text()?.into_owned()))
    }

    /// Returns a value in the shape of the original.
    fn fitted(&self, original: &RawJson, value: &RawJson) -> Option<RawJson> {
        match (original.json_type(), value.json_type()) {
            (JsonType::Object, JsonType::Object) => completed(original, value),
            (JsonType::Object, JsonType::String) => {
                let is_text = |path: &&&str| at(original, path).is_some_and(|old| old.json_type() == JsonType::String);
                let mut texts = self.text_in.iter().filter(is_text);
                let main = *texts.next()?;
                // The new text replaces the whole output, so that other parts of it must not stay.
                let others = texts.copied().filter(|path| !path.contains('.'));
                let empty = RawJson::string("");
                others.fold(replaced(original, main, value), |output, path| replaced(&output?, path, &empty))
            }
            // Blocks of content.
            (JsonType::Array, JsonType::String) => {
                RawJson::parse(format!(r#"[{{"type":"text","text":{}}}]"#, value.as_str())).ok()
            }
            (old, new) if old == new => Some(value.clone()),
            _ => None,
        }
    }
}

/// Returns the object in which a text is sent.
fn wrapped(name: &str, beside: &[(&str, &str)], text: &RawJson) -> RawJson {
    let mut tree = JsonTree::default();
    for (name, json) in beside {
        if let Ok(json) = RawJson::parse(*json) {
            tree.put(name, json);
        }
    }
    tree.put(name, text.clone());
    RawJson::parse(tree.to_json()).unwrap_or_else(|_| text.clone())
}

/// Returns the value at a path. Dots lead into objects.
fn at(json: &RawJson, path: &str) -> Option<RawJson> {
    path.split('.').try_fold(json.clone(), |json, key| json.field(key))
}

/// Returns the object with another value at a path.
fn replaced(object: &RawJson, path: &str, value: &RawJson) -> Option<RawJson> {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let mut changed = JsonObject::new();
    for field in object.entries()? {
        if !field.is_named(key) {
            changed.entry(&field.key(), &field);
            continue;
        }
        match rest {
            Some(rest) => changed.field(key, &replaced(&object.field(key)?, rest, value)?),
            None => changed.field(key, value),
        }
    }
    changed.finish()
}

/// Returns the new object with the fields that it lacks: texts are empty, other fields are those of the original. `None`: a field
/// has another type.
fn completed(original: &RawJson, value: &RawJson) -> Option<RawJson> {
    let mut object = JsonObject::new();
    for field in value.entries()? {
        object.entry(&field.key(), &field);
    }
    for field in original.entries()? {
        let key = field.key();
        let old = original.field(&key)?;
        match value.field(&key) {
            Some(new) if new.json_type() == old.json_type() || old.json_type() == JsonType::Null => {}
            Some(_) => return None,
            None if old.json_type() == JsonType::String => object.field(&key, &RawJson::string("")),
            None => object.field(&key, &old),
        }
    }
    object.finish()
}
