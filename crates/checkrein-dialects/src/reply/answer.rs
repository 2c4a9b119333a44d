//! What a JSON answer says, by a dialect's table of keys.

use std::borrow::Cow;

use checkrein_core::{
    Decision, Entry, Event, Failure, FailureKind, JsonType, Opinion, RawJson, Rewrite, Target, closest_match,
};

use super::marked;
use super::table::{Key, KeyMeaning, UnknownPolicy};
use crate::json_index::FieldIndex;
use crate::table::Dialect;

/// Reads an answer.
///
/// # Errors
/// What the dialect takes for a failure: keys or values that it does not know, an answer to another event.
pub(super) fn read(dialect: &Dialect, event: &Event, json: &RawJson, strict: bool) -> Result<Opinion, Failure> {
    let (opinion, said) = (Opinion::none(), Vec::with_capacity(8));
    let mut reading = AnswerReader { dialect, event, strict, opinion, said, unsayable: None };
    let Some(fields) = FieldIndex::of(json) else {
        return Err(schema(format!("the answer should be an object, but is {}", json.json_type())));
    };
    let kind = event.kind();
    for key in dialect.reply.keys {
        let counts = key.at.fits(dialect, &kind);
        if counts && matches!(key.means, KeyMeaning::Decision(_) | KeyMeaning::Flag(..) | KeyMeaning::Because(_)) {
            reading.said.push(AnswerValue::default());
        }
        for path in key.paths {
            // `null` is as good as absent.
            let is_said =
                |value: &RawJson| value.json_type() != JsonType::Null && !(key.ignore_if_empty && is_empty(value));
            let Some(value) = fields.at(path).map(|entry| entry.to_json()).filter(is_said) else { continue };
            // Alone it does not count.
            match key.requires_sibling.filter(|(beside, _)| counts && fields.at(beside).is_none()) {
                Some((beside, _)) => reading.tell(key.means, format!("`{path}` counts only beside `{beside}`"))?,
                None => reading.take(key, path, &value)?,
            }
        }
    }
    reading.unknown_keys(fields.into_iter(), "")?;
    reading.finish()
}

struct AnswerReader<'a> {
    dialect: &'a Dialect,
    event: &'a Event,
    strict: bool,
    opinion: Opinion,
    said: Vec<AnswerValue>,
    /// Why a rewrite cannot be told. It is never overlooked: who allowed something else has not allowed this.
    unsayable: Option<Failure>,
}

/// A decision and the reason that belongs to it.
#[derive(Default)]
struct AnswerValue {
    decision: Decision,
    reason: Option<String>,
    /// The key whose block needs a reason.
    needs_reason: Option<&'static str>,
}

impl AnswerReader<'_> {
    fn take(&mut self, key: &Key, path: &str, value: &RawJson) -> Result<(), Failure> {
        if key.only_strict && !self.strict {
            return Ok(());
        }
        let kind = self.event.kind();
        if !key.at.fits(self.dialect, &kind) {
            let mut others = self.dialect.reply.keys.iter().filter(|other| other.paths.contains(&path));
            if says_nothing(key.means, value) || others.any(|other| other.at.fits(self.dialect, &kind)) {
                return Ok(());
            }
            let what = format!("`{path}` has no effect at `{}`", self.event.kind());
            let fails = self.strict || self.dialect.reply.unknown_keys == UnknownPolicy::Failure;
            return if fails { Err(schema(what)) } else { self.tell(key.means, what) };
        }
        let held = || RawJson::parse(value.as_text()?.as_ref()).ok();
        let inner = key.or_text.then(held).flatten();
        self.take_value(key, path, inner.as_ref().unwrap_or(value)).or_else(|problem| self.bad(problem))
    }

    /// Says that something was ignored, unless it never had a meaning.
    fn tell(&mut self, means: KeyMeaning, what: String) -> Result<(), Failure> {
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

    fn take_value(&mut self, key: &Key, path: &str, value: &RawJson) -> Result<(), Failure> {
        let text = || value.as_text().ok_or_else(|| wrong_type(path, value, "a string"));
        let flag = || value.as_bool().ok_or_else(|| wrong_type(path, value, "true or false"));
        match key.means {
            KeyMeaning::Decision(words) => {
                let word = text()?;
                let exact = self.dialect.reply.exact_case;
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
                if self.said.is_empty() {
                    self.said.push(AnswerValue::default());
                }
                if let Some(said) = self.said.last_mut().filter(|_| !text.trim().is_empty()) {
                    said.reason = Some(text.into_owned());
                }
            }
            KeyMeaning::Because(decision) => {
                let text = text()?;
                if !text.trim().is_empty() {
                    self.decide(key, decision);
                    if let Some(said) = self.said.last_mut() {
                        said.reason = Some(text.into_owned());
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
                let value = self.in_words_of_event(path, target, value);
                self.edit(|opinion| opinion.with_rewrite(Rewrite::replace(target, value)));
            }
            KeyMeaning::Merge(target) => {
                let value = self.in_words_of_event(path, target, value);
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

    /// A tool's input as the agent that asked calls its fields.
    fn in_words_of_event(&mut self, path: &str, target: Target, value: &RawJson) -> RawJson {
        if target != Target::Input {
            return value.clone();
        }
        match self.dialect.rewritten_input(self.event, value) {
            Ok(input) => input.into_owned(),
            Err(unsayable) => {
                self.unsayable = Some(schema(format!("`{path}`: {unsayable}")));
                value.clone()
            }
        }
    }

    /// Of two decisions in one place the stronger counts.
    fn decide(&mut self, key: &Key, decision: Decision) {
        if let Some(mark) = key.tags.filter(|_| decision.is_block()) {
            self.edit(|opinion| marked(opinion, mark));
        }
        if let Some(said) = self.said.last_mut() {
            said.decision = said.decision.max(decision);
            if key.needs_reason && decision.is_block() {
                said.needs_reason = key.paths.first().copied();
            }
        }
    }

    /// An answer to another event was not meant for this one.
    fn check_event(&self, name: &str) -> Result<(), Failure> {
        let kind = self.event.kind();
        let known = self.dialect.kind_named(name);
        if name == kind.name() || known.is_ok_and(|named| named == kind) {
            return Ok(());
        }
        Err(schema(format!("the answer is for the event `{name}`, but this is `{kind}`")))
    }

    fn unknown_keys<'e>(&mut self, entries: impl Iterator<Item = Entry<'e>>, inside: &str) -> Result<(), Failure> {
        let treatment = if self.strict { UnknownPolicy::Failure } else { self.dialect.reply.unknown_keys };
        if treatment == UnknownPolicy::Ignored {
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
            // At the wrong place is the commonest mistake of all.
            let elsewhere = paths().find(|path| last(path) == key);
            let hint = elsewhere
                .map(|path| format!(", it belongs at `{path}`"))
                .or_else(|| meant.map(|meant| format!(", did you mean `{meant}`?")))
                .unwrap_or_default();
            let misspelt = treatment == UnknownPolicy::MisspeltFails && meant.is_some();
            if treatment == UnknownPolicy::Failure || misspelt {
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
            UnknownPolicy::Told => {
                self.message(format!("{}; ignored", problem.message));
                Ok(())
            }
            UnknownPolicy::MisspeltFails | UnknownPolicy::Failure => Err(problem),
        }
    }

    fn finish(mut self) -> Result<Opinion, Failure> {
        let blocks = self.said.iter().any(|said| said.decision.is_block());
        if let Some(failure) = self.unsayable.take().filter(|_| !blocks) {
            return Err(failure);
        }
        let empty = |said: &&AnswerValue| said.reason.is_none();
        if let Some(path) = self.said.iter().filter(empty).find_map(|said| said.needs_reason) {
            return Err(schema(format!("`{path}` blocks without a reason, which voids the answer")));
        }
        // Of equals the first in the table gives the reason; one without a reason takes any.
        let strongest = self.said.iter().map(|said| said.decision).max().unwrap_or_default();
        let own = self.said.iter().filter(|said| said.decision == strongest).find_map(|said| said.reason.clone());
        let reason = own
            .or_else(|| self.said.iter().find_map(|said| said.reason.clone()))
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

/// Whether a key with this value would not have said anything in its own place either.
fn says_nothing(means: KeyMeaning, value: &RawJson) -> bool {
    match means {
        KeyMeaning::Flag(when, _) => value.as_bool() == Some(!when),
        KeyMeaning::Suppress | KeyMeaning::Nothing => value.as_bool() == Some(false),
        _ => value.as_text().is_some_and(|text| text.is_empty()),
    }
}

fn unknown_word(path: &str, word: &str, known: impl Iterator<Item = &'static str> + Clone) -> Failure {
    let hint = match closest_match(word, known.clone()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("use one of {}", known.collect::<Vec<_>>().join(", ")),
    };
    schema(format!("`{path}`: unknown decision `{word}`, {hint}"))
}

fn wrong_type(path: &str, value: &RawJson, expected: &str) -> Failure {
    schema(format!("`{path}` should be {expected}, but is {}", value.json_type()))
}

fn schema(message: String) -> Failure {
    Failure::new(FailureKind::Schema, message)
}
