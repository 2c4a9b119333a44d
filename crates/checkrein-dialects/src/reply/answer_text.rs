//! [`AnswerText`]: the text of an answer, and its deviations from JSON.
//!
//! The reader of replies uses it. Agents accept different deviations. A dialect's table lists those that its agent accepts
//! ([`ReplyTable::tolerates`](super::ReplyTable::tolerates)). This module corrects all of them, and never decides what a
//! corrected answer may do.

use std::borrow::Cow;

use checkrein_core::json::{Lexer, TokenKind, decode_string};
use checkrein_core::{JsonError, JsonErrorKind, RawJson};

use super::defect::Defect;
use super::table::{Key, ReplyTable};

/// Text of an answer without white space around it.
pub(super) struct AnswerText<'a> {
    /// Text as the agent reads it.
    pub(super) text: Cow<'a, str>,
    /// JSON of the text, without duplicate keys.
    pub(super) json: Result<RawJson, JsonError>,
    /// JSON with the dialect's spelling of keys, if it differs.
    recased: Option<RawJson>,
    /// Deviations that were corrected in `text` and `json`.
    defects: Vec<Defect>,
    /// Object inside of text that the agent does not read as an object.
    hidden: Option<String>,
    /// Error of the JSON parser, if a duplicate key was removed.
    duplicate: Option<JsonError>,
}

impl<'a> AnswerText<'a> {
    /// Decodes bytes, by the rules of a dialect.
    pub(super) fn new(bytes: &'a [u8], table: &ReplyTable) -> Self {
        let mut defects = Vec::new();
        let decoded = String::from_utf8_lossy(bytes);
        if let Cow::Owned(_) = decoded {
            defects.push(Defect::InvalidUtf8);
        }
        let has_mark = table.tolerates.contains(&Defect::ByteOrderMark);
        let trim = if has_mark { trim } else { str::trim };
        let mut text = match decoded {
            Cow::Borrowed(text) => Cow::Borrowed(trim(text)),
            Cow::Owned(text) => Cow::Owned(trim(&text).to_owned()),
        };
        if table.tolerates.contains(&Defect::JsonString)
            && let Some(inner) = unwrapped(&text)
        {
            text = Cow::Owned(inner);
        }
        let hidden = hidden_object(&text);
        let mut duplicate = None;
        let json = match RawJson::parse(text.as_ref()) {
            Err(error) if matches!(error.kind(), JsonErrorKind::DuplicateKey { .. }) => {
                defects.push(Defect::DuplicateKey);
                let json = RawJson::parse(corrected(&text, &[]));
                duplicate = Some(error);
                json
            }
            json => json,
        };
        let mut answer = Self { text, json, recased: None, defects, hidden, duplicate };
        answer.correct_case(table.keys);
        answer
    }

    /// Returns the object of a damaged answer, for the search for restrictions.
    pub(super) fn object(&self) -> Option<&str> {
        match &self.hidden {
            Some(object) => Some(object),
            None => self.opens().then_some(&*self.text),
        }
    }

    /// `true` if the text is JSON without defects.
    pub(super) fn is_clean(&self) -> bool {
        self.json.is_ok() && self.defects.is_empty() && self.hidden.is_none()
    }

    /// `true` if the text starts like a JSON object.
    pub(super) fn opens(&self) -> bool {
        self.text.starts_with('{')
    }

    /// `true` if the text ends like a JSON object.
    pub(super) fn closes(&self) -> bool {
        self.text.ends_with('}')
    }

    /// Returns the fields of the object. `None` if the text is not a JSON object.
    pub(super) fn entries(&self) -> Option<checkrein_core::Entries<'_>> {
        self.json.as_ref().ok()?.entries()
    }

    /// Returns the JSON as an agent reads it that accepts these defects.
    ///
    /// # Errors
    /// A description of the first defect that the agent does not accept.
    pub(super) fn as_read_by(&self, tolerates: &[Defect]) -> Result<&RawJson, String> {
        // To other agents, a key in another case is an unknown key.
        let refused = |defect: &&Defect| **defect != Defect::KeyCase && !tolerates.contains(defect);
        match (&self.json, self.defects.iter().find(refused), &self.recased) {
            (Err(_), ..) | (_, Some(_), _) => Err(self.problem()),
            (_, _, Some(recased)) if tolerates.contains(&Defect::KeyCase) => Ok(recased),
            (Ok(json), ..) => Ok(json),
        }
    }

    /// Describes the error of the parser, or the first defect.
    pub(super) fn problem(&self) -> String {
        match (&self.json, &self.duplicate, self.defects.first()) {
            _ if self.hidden.is_some() => "invisible characters or quotes around the JSON object".to_owned(),
            (Err(error), ..) | (_, Some(error), _) => error.to_string(),
            (_, _, Some(defect)) => defect.describe().to_owned(),
            _ => "text before the JSON object".to_owned(),
        }
    }

    fn correct_case(&mut self, keys: &[Key]) {
        let Ok(json) = &self.json else { return };
        let paths: Vec<_> = keys.iter().flat_map(|key| key.paths).copied().collect();
        if !has_other_case(json.entries(), &paths) {
            return;
        }
        self.defects.push(Defect::KeyCase);
        self.recased = RawJson::parse(corrected(json.as_str(), &paths)).ok();
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Removes white space around a text, as all agents do, and byte order marks.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_whitespace() || character == BYTE_ORDER_MARK)
}

/// Returns an object that a text contains behind invisible characters, between colour sequences, or in a JSON string. UTF-16 with
/// ASCII characters becomes readable without its NUL bytes.
fn hidden_object(text: &str) -> Option<String> {
    const ESCAPE: &str = "\u{1b}[";
    let is_invisible = |character: char| {
        character.is_control()
            || character.is_whitespace()
            || matches!(character, BYTE_ORDER_MARK | char::REPLACEMENT_CHARACTER)
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}')
    };
    let is_marked = text.contains(['\0', '\u{1b}']) || text.starts_with(is_invisible) || text.ends_with(is_invisible);
    if !is_marked {
        return unwrapped(text);
    }
    let mut visible = String::with_capacity(text.len());
    for (index, part) in text.split(ESCAPE).enumerate() {
        // A sequence ends with a letter.
        let end = if index == 0 { Some(0) } else { part.find(|c: char| c.is_ascii_alphabetic()).map(|last| last + 1) };
        visible.extend(end.and_then(|end| part.get(end..)).unwrap_or_default().chars().filter(|c| *c != '\0'));
    }
    let visible = visible.trim_matches(is_invisible);
    if visible.starts_with('{') { Some(visible.to_owned()) } else { unwrapped(visible) }
}

/// Returns the text of a JSON string that contains an object.
fn unwrapped(text: &str) -> Option<String> {
    if !text.starts_with('"') {
        return None;
    }
    let json = RawJson::parse(text).ok()?;
    let inner = json.as_text()?;
    let inner = trim(&inner);
    inner.starts_with('{').then(|| inner.to_owned())
}

/// `true` if an object has a key of these paths in another case.
fn has_other_case(entries: Option<checkrein_core::Entries<'_>>, paths: &[&str]) -> bool {
    entries.into_iter().flatten().any(|entry| {
        let key = entry.key();
        let heads = || paths.iter().map(|path| path.split_once('.').unwrap_or((path, "")));
        if heads().any(|(head, _)| head == key) {
            let rest: Vec<_> =
                heads().filter(|(head, rest)| *head == key && !rest.is_empty()).map(|(_, rest)| rest).collect();
            return !rest.is_empty() && has_other_case(entry.entries(), &rest);
        }
        heads().any(|(head, _)| head.eq_ignore_ascii_case(&key))
    })
}

/// Returns a JSON text in which each key of an object occurs once, with its last value. Keys of `paths` get the case of the
/// path. `text` must be valid JSON except for duplicate keys.
fn corrected(text: &str, paths: &[&str]) -> String {
    /// Open object or array.
    struct Level {
        /// Path of the object. `None`: no key of `paths` is inside.
        path: Option<String>,
        /// Keys with the offset of each. The last one is the current key.
        keys: Vec<(String, usize)>,
    }
    let mut levels: Vec<Level> = Vec::new();
    // Ranges of the text and their replacements.
    let mut edits: Vec<(std::ops::Range<usize>, String)> = Vec::new();
    let mut lexer = Lexer::new(text);
    while let Ok(Some(token)) = lexer.next_token() {
        match token.kind {
            TokenKind::ObjectStart | TokenKind::ArrayStart => {
                let path = match levels.last() {
                    None => Some(String::new()),
                    Some(Level { path: Some(path), keys }) => keys.last().map(|(key, _)| joined(path, key)),
                    Some(_) => None,
                };
                let path = path.filter(|_| token.kind == TokenKind::ObjectStart);
                levels.push(Level { path, keys: Vec::new() });
            }
            TokenKind::Key { .. } => {
                let Some(level) = levels.last_mut() else { continue };
                let mut key = decode_string(&text[token.start..token.end]).into_owned();
                if let Some(spelling) = level.path.as_ref().and_then(|path| spelling(&joined(path, &key), paths))
                    && spelling != key
                {
                    let mut quoted = String::new();
                    RawJson::push_string(&mut quoted, spelling);
                    edits.push((token.start..token.end, quoted));
                    key = spelling.to_owned();
                }
                level.keys.push((key, token.start));
            }
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => {
                let keys = levels.pop().map(|level| level.keys).unwrap_or_default();
                let mut last = std::collections::HashMap::with_capacity(keys.len());
                for (index, (key, _)) in keys.iter().enumerate() {
                    if let Some(earlier) = last.insert(key.as_str(), index) {
                        // A later key follows, so the range includes the comma.
                        let end = keys.get(earlier + 1).map_or(text.len(), |(_, start)| *start);
                        edits.push((keys[earlier].1..end, String::new()));
                    }
                }
            }
            _ => {}
        }
    }
    // Of two edits at the same place, the longer one applies.
    edits.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (range, replacement) in edits {
        if range.start >= done {
            result.push_str(&text[done..range.start]);
            result.push_str(&replacement);
            done = range.end;
        }
    }
    result.push_str(&text[done..]);
    result
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Returns the last key of a path, in the case of the equal path in `paths` or of a path below it.
fn spelling<'p>(path: &str, paths: &[&'p str]) -> Option<&'p str> {
    paths.iter().find_map(|known| {
        let start = known.get(..path.len())?;
        let is_whole = matches!(known.as_bytes().get(path.len()), None | Some(b'.'));
        if is_whole && start.eq_ignore_ascii_case(path) { start.rsplit('.').next() } else { None }
    })
}
