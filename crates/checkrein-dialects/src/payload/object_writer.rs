//! Writing an object in pieces.

use std::borrow::Cow;

use checkrein_core::payload::JsonPiece;
use checkrein_core::{Event, RawJson};

use super::SHARE_FROM;

/// Writes an object. Keys with dots are written into objects.
pub(super) struct ObjectWriter<'n> {
    pieces: Vec<JsonPiece>,
    text: String,
    /// The object inside that is open.
    open: Option<&'n str>,
    names: Vec<Cow<'n, str>>,
    /// Values from this size on are passed on without being copied.
    share_from: usize,
}

impl<'n> ObjectWriter<'n> {
    pub(super) fn new(share_from: usize) -> Self {
        // Most payloads are shorter, and have fewer fields.
        let mut text = String::with_capacity(512);
        text.push('{');
        Self { pieces: Vec::new(), text, open: None, names: Vec::with_capacity(16), share_from }
    }

    pub(super) fn text(&mut self, path: &'n str, text: &str) {
        self.key(path);
        RawJson::push_string(&mut self.text, text);
    }

    pub(super) fn raw(&mut self, path: &'n str, json: &str) {
        self.key(path);
        self.text.push_str(json);
    }

    pub(super) fn json(&mut self, path: &'n str, json: &RawJson) {
        self.key(path);
        self.value(json);
    }

    fn value(&mut self, json: &RawJson) {
        if json.as_str().len() < self.share_from {
            self.text.push_str(json.as_str());
        } else {
            self.pieces.push(JsonPiece::Text(std::mem::take(&mut self.text)));
            self.pieces.push(JsonPiece::Shared(json.clone()));
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|taken| taken == name)
    }

    /// A field that is left out if its name is taken. Its name has no meaning here, dots neither.
    pub(super) fn extra(&mut self, name: impl Into<Cow<'n, str>>, json: &RawJson) {
        let name = name.into();
        if self.has(&name) {
            return;
        }
        self.close();
        self.name(name);
        self.value(json);
    }

    fn key(&mut self, path: &'n str) {
        let (object, key) = match path.split_once('.') {
            Some((object, key)) => (Some(object), key),
            None => (None, path),
        };
        if self.open != object {
            self.close();
            if let Some(object) = object {
                self.name(object.into());
                self.text.push('{');
                self.open = Some(object);
            }
        }
        if object.is_none() {
            self.name(key.into());
        } else {
            self.write_name(key);
        }
    }

    /// The name of a field of the object itself.
    fn name(&mut self, name: Cow<'n, str>) {
        self.write_name(&name);
        self.names.push(name);
    }

    fn write_name(&mut self, name: &str) {
        self.separate();
        RawJson::push_string(&mut self.text, name);
        self.text.push(':');
    }

    fn separate(&mut self) {
        // No value ends like this, and after one that is shared the text is empty.
        if !self.text.ends_with('{') {
            self.text.push(',');
        }
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.text.push('}');
        }
    }

    pub(super) fn finish(mut self) -> Vec<JsonPiece> {
        let last = self.finish_last();
        self.pieces.push(JsonPiece::Text(last));
        self.pieces
    }

    fn finish_last(&mut self) -> String {
        self.close();
        self.text.push('}');
        std::mem::take(&mut self.text)
    }

    /// Goes on with an object that was written elsewhere, which has none of the names so far.
    pub(super) fn append(mut self, event: &Event) -> Vec<JsonPiece> {
        self.close();
        let doubled = |name: &Cow<'_, str>| event.envelope.extra.contains_key(&**name);
        let mut pieces = if self.names.iter().any(doubled) {
            let mut stripped = event.clone();
            stripped.envelope.extra.retain(|name, _| !self.has(name));
            stripped.to_json_pieces(SHARE_FROM)
        } else {
            event.to_json_pieces(SHARE_FROM)
        };
        if let Some(JsonPiece::Text(text)) = pieces.first_mut() {
            // In place of the opening brace.
            self.separate();
            text.replace_range(..1, &self.text);
        }
        if self.pieces.is_empty() {
            return pieces;
        }
        self.pieces.extend(pieces);
        self.pieces
    }
}
