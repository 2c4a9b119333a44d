//! Writer of a JSON object in pieces, so that large values are shared instead of copied.

use std::borrow::Cow;

use checkrein_core::payload::JsonPiece;
use checkrein_core::{Event, RawJson};

use super::SHARE_FROM;

/// Writer of one object. Fields with dots in their paths go into inner objects.
pub(super) struct ObjectWriter<'n> {
    pieces: Vec<JsonPiece>,
    text: String,
    /// The open inner object.
    open: Option<&'n str>,
    names: Vec<Cow<'n, str>>,
    /// Size of values from which they are shared.
    share_from: usize,
}

impl<'n> ObjectWriter<'n> {
    pub(super) fn new(share_from: usize) -> Self {
        // Most payloads are smaller.
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

    /// Adds a field unless the object has its name. Dots in the name have no meaning.
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

    /// Writes the name of a field of the outer object.
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
        // No value ends with an opening brace, and the text is empty after a shared value.
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

    /// Appends the fields of an event. Its extra fields with names that exist already are dropped.
    pub(super) fn append(mut self, event: &Event) -> Vec<JsonPiece> {
        self.close();
        let is_duplicate = |name: &Cow<'_, str>| event.envelope.extra.contains_key(&**name);
        let mut pieces = if self.names.iter().any(is_duplicate) {
            let mut stripped = event.clone();
            stripped.envelope.extra.retain(|name, _| !self.has(name));
            stripped.to_json_pieces(SHARE_FROM)
        } else {
            event.to_json_pieces(SHARE_FROM)
        };
        if let Some(JsonPiece::Text(text)) = pieces.first_mut() {
            // Replaces the opening brace.
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
