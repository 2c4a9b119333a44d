//! JSON object that an answer is built from.

use checkrein_core::RawJson;

/// JSON object that is built from paths.
#[derive(Default)]
pub(super) struct JsonTree(Vec<(String, Branch)>);

enum Branch {
    Value(RawJson),
    Object(JsonTree),
}

impl JsonTree {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn put(&mut self, path: &str, value: RawJson) {
        self.insert(path, value, false);
    }

    pub(super) fn put_first(&mut self, path: &str, value: RawJson) {
        self.insert(path, value, true);
    }

    fn insert(&mut self, path: &str, value: RawJson, first: bool) {
        match path.split_once('.') {
            None => {
                self.0.retain(|(key, _)| key != path);
                let at = if first { 0 } else { self.0.len() };
                self.0.insert(at, (path.to_owned(), Branch::Value(value)));
            }
            Some((object, rest)) => {
                let at = self.0.iter().position(|(key, _)| key == object).unwrap_or_else(|| {
                    self.0.push((object.to_owned(), Branch::Object(Self::default())));
                    self.0.len() - 1
                });
                if let Some((_, Branch::Object(inner))) = self.0.get_mut(at) {
                    inner.insert(rest, value, first);
                }
            }
        }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
        self.0.iter().any(|(have, branch)| {
            have == key
                && match (branch, rest) {
                    (Branch::Object(inner), Some(rest)) => inner.has(rest),
                    (_, rest) => rest.is_none(),
                }
        })
    }

    pub(super) fn to_json(&self) -> String {
        let members = self.0.iter().map(|(key, branch)| {
            let value = match branch {
                Branch::Value(json) => json.as_str().to_owned(),
                Branch::Object(tree) => tree.to_json(),
            };
            format!("{}:{value}", RawJson::string(key))
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}
