//! Reading of JSON answers, by a dialect's table of keys.

use std::borrow::Cow;

use checkrein_core::{
    Decision, Entry, Event, Failure, FailureKind, JsonType, Opinion, RawJson, Rewrite, Target, closest_match,
};

use super::marked;
use super::restrictions::Found;
use super::table::{Key, KeyMeaning, UnknownPolicy};
use crate::json_index::FieldIndex;
use crate::table::Dialect;

/// Reads an answer.
///
/// # Errors
/// An answer that is a failure in the dialect: unknown keys, invalid values, an answer to another event.
pub(super) fn read(dialect: &Dialect, event: &Event, json: &RawJson, strict: bool) -> Result<Opinion, Failure> {
    let (opinion, decisions) = (Opinion::none(), Vec::with_capacity(8));
    let mut reader = AnswerReader { dialect, event, strict, exact: true, opinion, decisions, lost_rewrite: None };
    let Some(fields) = FieldIndex::new(json) else {
        return Err(schema(format!("the answer should be an object, but is {}", json.json_type())));
    };
    let kind = event.kind();
    for key in dialect.reply.keys {
        let applies = key.at.fits(dialect, &kind);
        if applies && matches!(key.means, KeyMeaning::Decision(_) | KeyMeaning::Flag(..) | KeyMeaning::Because(_)) {
            reader.decisions.push(AnswerValue::default());
        }
        for path in key.paths {
            // `null` means absent.
            let is_present =
                |value: &RawJson| value.json_type() != JsonType::Null && !(key.ignore_if_empty && is_empty(value));
            let Some(value) = fields.at(path).map(|entry| entry.to_json()).filter(is_present) else { continue };
            match key.requires_sibling.filter(|(sibling, _)| applies && fields.at(sibling).is_none()) {
                Some((sibling, _)) => {
                    reader.report_ignored(key.means, format!("`{path}` has no effect without `{sibling}`"))?;
                }
                None => reader.read_key(key, path, &value)?,
            }
        }
    }
    reader.unknown_keys(fields.into_iter(), "")?;
    reader.finish()
}

/// Reads only the decisions and reasons among the values of a damaged answer. Invalid values are ignored. Of several values, the
/// strongest decision applies.
pub(super) fn read_restrictions(dialect: &Dialect, event: &Event, found: &[Found]) -> Opinion {
    let (opinion, decisions) = (Opinion::none(), Vec::new());
    let mut reader =
        AnswerReader { dialect, event, strict: false, exact: false, opinion, decisions, lost_rewrite: None };
    let kind = event.kind();
    for key in dialect.reply.keys.iter().filter(|key| key.at.fits(dialect, &kind)) {
        match key.means {
            KeyMeaning::Decision(_) | KeyMeaning::Flag(..) | KeyMeaning::Because(_) => {
                reader.decisions.push(AnswerValue::default());
            }
            KeyMeaning::Reason | KeyMeaning::StopReason => {}
            _ => continue,
        }
        for path in key.paths {
            for value in found.iter().filter(|found| found.path.eq_ignore_ascii_case(path)) {
                let _ = reader.read_value(key, path, &value.value);
            }
        }
    }
    // The part with the reason may be missing.
    reader.decisions.iter_mut().for_each(|value| value.needs_reason = None);
    reader.finish().unwrap_or_default()
}

struct AnswerReader<'a> {
    dialect: &'a Dialect,
    event: &'a Event,
    strict: bool,
    /// `true` if the dialect's case of words applies.
    exact: bool,
    opinion: Opinion,
    decisions: Vec<AnswerValue>,
    /// Reason why a rewrite cannot be translated. It is a failure unless the answer blocks: an allow was for the rewritten input.
    lost_rewrite: Option<Failure>,
}

/// A decision and the reason that belongs to it.
#[derive(Default)]
struct AnswerValue {
    decision: Decision,
    reason: Option<String>,
    /// Path of a key whose block needs a reason.
    needs_reason: Option<&'static str>,
}

impl AnswerReader<'_> {
    fn read_key(&mut self, key: &Key, path: &str, value: &RawJson) -> Result<(), Failure> {
        if key.only_strict && !self.strict {
            return Ok(());
        }
        let kind = self.event.kind();
        if !key.at.fits(self.dialect, &kind) {
            let mut others = self.dialect.reply.keys.iter().filter(|other| other.paths.contains(&path));
            if has_no_effect(key.means, value) || others.any(|other| other.at.fits(self.dialect, &kind)) {
                return Ok(());
            }
            let what = format!("`{path}` has no effect at `{}`", self.event.kind());
            let fails = self.strict || self.dialect.reply.unknown_keys == UnknownPolicy::Failure;
            return if fails { Err(schema(what)) } else { self.report_ignored(key.means, what) };
        }
        let embedded = || RawJson::parse(value.as_text()?.as_ref()).ok();
        let inner = if key.or_text { embedded() } else { None };
        self.read_value(key, path, inner.as_ref().unwrap_or(value)).or_else(|problem| self.bad(problem))
    }

    /// Reports an ignored key, unless the key never has an effect.
    fn report_ignored(&mut self, means: KeyMeaning, what: String) -> Result<(), Failure> {
        if means != KeyMeaning::Nothing && self.dialect.reply.unknown_keys != UnknownPolicy::Ignored {
            self.message(what);
        }
        Ok(())
    }

    fn message(&mut self, text: String) {
        self.edit(|opinion| opinion.with_message(text));
    }

    fn edit(&mut self, change: impl FnOnce(Opinion) -> Opinion) {
        self.opinion = change(std::mem::take(&mut self.opinion));
    }

    fn read_value(&mut self, key: &Key, path: &str, value: &RawJson) -> Result<(), Failure> {
        let text = || value.as_text().ok_or_else(|| wrong_type(path, value, "a string"));
        let flag = || value.as_bool().ok_or_else(|| wrong_type(path, value, "true or false"));
        match key.means {
            KeyMeaning::Decision(words) => {
                let word = text()?;
                let exact = self.exact && self.dialect.reply.exact_case;
                let same = |have: &str| if exact { have == word } else { have.eq_ignore_ascii_case(&word) };
                let Some((_, decision)) = words.iter().find(|(have, _)| same(have)) else {
                    return Err(unknown_word(path, &word, words.iter().map(|(word, _)| *word)));
                };
                self.decide(key, *decision);
            }
            KeyMeaning::Flag(when, decision) => {
                if flag()? == when {
                    self.decide(key, decision);
                }
            }
            KeyMeaning::Reason => {
                let text = text()?;
                if self.decisions.is_empty() {
                    self.decisions.push(AnswerValue::default());
                }
                if let Some(last) = self.decisions.last_mut().filter(|_| !text.trim().is_empty()) {
                    last.reason = Some(text.into_owned());
                }
            }
            KeyMeaning::Because(decision) => {
                let text = text()?;
                if !text.trim().is_empty() {
                    self.decide(key, decision);
                    if let Some(last) = self.decisions.last_mut() {
                        last.reason = Some(text.into_owned());
                    }
                }
            }
            KeyMeaning::StopReason => {
                let text = text()?;
                self.edit(|opinion| opinion.with_stop_reason(text));
            }
            KeyMeaning::Message => {
                let text = text()?;
                self.message(text.into_owned());
            }
            KeyMeaning::Suppress => {
                if flag()? {
                    self.edit(Opinion::suppress_output);
                }
            }
            KeyMeaning::Context => match value.items() {
                Some(items) => {
                    let texts = items.map(RawJson::parse);
                    for item in texts {
                        let item = item.map_err(|error| schema(error.to_string()))?;
                        let text = item.as_text().ok_or_else(|| wrong_type(path, &item, "a string"))?.into_owned();
                        self.edit(|opinion| opinion.with_context(text));
                    }
                }
                None => {
                    let text = text()?;
                    self.edit(|opinion| opinion.with_context(text));
                }
            },
            KeyMeaning::Replace(target) => {
                let value = self.translate_rewrite(path, target, value);
                self.edit(|opinion| opinion.with_rewrite(Rewrite::replace(target, value)));
            }
            KeyMeaning::Merge(target) => {
                let value = self.translate_rewrite(path, target, value);
                self.edit(|opinion| opinion.with_rewrite(Rewrite::merge(target, value)));
            }
            KeyMeaning::FirstMessage => {
                let text = text()?;
                self.edit(|opinion| opinion.with_first_user_message(text));
            }
            KeyMeaning::Metadata => {
                for entry in value.entries().ok_or_else(|| wrong_type(path, value, "an object"))? {
                    self.edit(|opinion| opinion.with_metadata(entry.key(), entry.to_json()));
                }
            }
            KeyMeaning::Named(name) => self.edit(|opinion| opinion.with_metadata(name, value.clone())),
            KeyMeaning::EventName => self.check_event(&text()?)?,
            KeyMeaning::Nothing => {}
        }
        Ok(())
    }

    /// Translates a rewritten tool input to the field names of the agent that sent the event.
    fn translate_rewrite(&mut self, path: &str, target: Target, value: &RawJson) -> RawJson {
        if target != Target::Input {
            return value.clone();
        }
        match self.dialect.rewritten_input(self.event, value) {
            Ok(input) => input.into_owned(),
            Err(error) => {
                self.lost_rewrite = Some(schema(format!("`{path}`: {error}")));
                value.clone()
            }
        }
    }

    /// Adds a decision. The stronger of two decisions of one entry applies.
    fn decide(&mut self, key: &Key, decision: Decision) {
        if let Some(mark) = key.tags.filter(|_| decision.is_block()) {
            self.edit(|opinion| marked(opinion, mark));
        }
        if let Some(last) = self.decisions.last_mut() {
            last.decision = last.decision.max(decision);
            if key.needs_reason && decision.is_block() {
                last.needs_reason = key.paths.first().copied();
            }
        }
    }

    /// Rejects an answer to another event.
    fn check_event(&self, name: &str) -> Result<(), Failure> {
        let kind = self.event.kind();
        let known = self.dialect.kind_named(name);
        if name == kind.name() || known.is_ok_and(|named| named == kind) {
            return Ok(());
        }
        Err(schema(format!("the answer is for the event `{name}`, but this is `{kind}`")))
    }

    fn unknown_keys<'e>(&mut self, entries: impl Iterator<Item = Entry<'e>>, inside: &str) -> Result<(), Failure> {
        let policy = if self.strict { UnknownPolicy::Failure } else { self.dialect.reply.unknown_keys };
        if policy == UnknownPolicy::Ignored {
            return Ok(());
        }
        let paths = || self.dialect.reply.keys.iter().flat_map(|key| key.paths).copied();
        for entry in entries {
            let key = entry.key();
            let path = if inside.is_empty() { key.clone() } else { Cow::Owned(format!("{inside}.{key}")) };
            if paths().any(|known| known == path) {
                continue;
            }
            if paths().any(|known| known.strip_prefix(&*path).is_some_and(|rest| rest.starts_with('.'))) {
                let value = entry.to_json();
                match (entry.entries(), value.json_type()) {
                    (Some(inner), _) => self.unknown_keys(inner, &path)?,
                    (None, JsonType::Null) => {}
                    (None, _) => self.bad(wrong_type(&path, &value, "an object"))?,
                }
                continue;
            }
            let last = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
            let meant = closest_match(&key, paths().map(last));
            // A key at the wrong level is the most common mistake.
            let elsewhere = paths().find(|path| last(path) == key);
            let hint = elsewhere
                .map(|path| format!(", it belongs at `{path}`"))
                .or_else(|| meant.map(|meant| format!(", did you mean `{meant}`?")))
                .unwrap_or_default();
            let misspelt = policy == UnknownPolicy::MisspeltFails && meant.is_some();
            if policy == UnknownPolicy::Failure || misspelt {
                return Err(schema(format!("unknown key `{path}`{hint}")));
            }
            self.message(format!("its answer has an unknown key `{path}`{hint}"));
        }
        Ok(())
    }

    fn bad(&mut self, problem: Failure) -> Result<(), Failure> {
        match self.dialect.reply.bad_values {
            _ if self.strict => Err(problem),
            UnknownPolicy::Ignored => Ok(()),
            UnknownPolicy::Reported => {
                self.message(format!("{}; ignored", problem.message));
                Ok(())
            }
            UnknownPolicy::MisspeltFails | UnknownPolicy::Failure => Err(problem),
        }
    }

    fn finish(mut self) -> Result<Opinion, Failure> {
        let blocks = self.decisions.iter().any(|value| value.decision.is_block());
        if let Some(failure) = self.lost_rewrite.take()
            && !blocks
        {
            return Err(failure);
        }
        let empty = |value: &&AnswerValue| value.reason.is_none();
        if let Some(path) = self.decisions.iter().filter(empty).find_map(|value| value.needs_reason) {
            return Err(schema(format!("`{path}` blocks without a reason, so the answer is invalid; add a reason")));
        }
        // Of equal decisions, the first in the table has the reason. Without a reason, any other reason is used.
        let strongest = self.decisions.iter().map(|value| value.decision).max().unwrap_or_default();
        let own =
            self.decisions.iter().filter(|value| value.decision == strongest).find_map(|value| value.reason.clone());
        let reason = own
            .or_else(|| self.decisions.iter().find_map(|value| value.reason.clone()))
            .or_else(|| self.opinion.stop_reason().map(str::to_owned));
        let opinion = match strongest {
            Decision::NoOpinion => self.opinion,
            decision => self.opinion.with_decision(decision),
        };
        Ok(match reason {
            Some(reason) => opinion.with_reason(reason),
            None => opinion,
        })
    }
}

fn is_empty(value: &RawJson) -> bool {
    match value.json_type() {
        JsonType::String => value.as_text().is_some_and(|text| text.is_empty()),
        JsonType::Object => value.entries().is_none_or(|mut entries| entries.next().is_none()),
        JsonType::Array => value.items().is_none_or(|mut items| items.next().is_none()),
        _ => false,
    }
}

/// `true` if a key with this value has no effect at any event.
fn has_no_effect(means: KeyMeaning, value: &RawJson) -> bool {
    match means {
        KeyMeaning::Flag(when, _) => value.as_bool() == Some(!when),
        KeyMeaning::Suppress | KeyMeaning::Nothing => value.as_bool() == Some(false),
        _ => value.as_text().is_some_and(|text| text.is_empty()),
    }
}

fn unknown_word(path: &str, word: &str, known: impl Iterator<Item = &'static str> + Clone) -> Failure {
    let hint = match closest_match(word, known.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("use one of {}", known.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")),
    };
    schema(format!("`{path}`: unknown decision `{word}`, {hint}"))
}

fn wrong_type(path: &str, value: &RawJson, expected: &str) -> Failure {
    schema(format!("`{path}` should be {expected}, but is {}", value.json_type()))
}

fn schema(message: String) -> Failure {
    Failure::new(FailureKind::Schema, message)
}
