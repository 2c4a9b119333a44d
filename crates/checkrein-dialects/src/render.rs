//! A verdict in the words of the agent that asked: the same tables as for replies, the other way round.

use checkrein_core::{BlockEffect, Decision, Event, EventKind, RawJson, RewriteMode, Rewritten, Target, Verdict};

use crate::reply::{AnswerDetection, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning};
use crate::table::{Dialect, PlainTextUse};

/// What a program says to the agent that called it as a hook.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Answer {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// The exit code.
    pub exit: i32,
    /// Whether what the user shall read is in it.
    pub user_message_included: bool,
    /// What the agent has no words for, and what was said instead.
    pub notes: Vec<String>,
}

impl Dialect {
    /// The verdict as an answer to the agent of this dialect. A decision that it cannot hear becomes the nearest one that
    /// is not weaker; what else it cannot hear is noted.
    pub fn say(&self, event: &Event, verdict: &Verdict) -> Answer {
        self.say_with(event, verdict, &[])
    }

    /// The same with more that the user shall read, where the agent has a way to show it.
    pub fn say_with(&self, event: &Event, verdict: &Verdict, told: &[String]) -> Answer {
        let kind = event.kind();
        let mut saying = VerdictRenderer {
            dialect: self,
            kind: &kind,
            tree: JsonTree::default(),
            plain: None,
            told: false,
            feedback: None,
            answer: Answer::default(),
        };
        if !told.is_empty()
            && let Some(path) = saying.key(|key| key == KeyMeaning::Message)
        {
            let said = verdict.messages().iter().map(|said| said.text.as_str());
            let all: Vec<_> = said.chain(told.iter().map(String::as_str)).collect();
            saying.told = true;
            saying.put(path, &RawJson::string(&all.join("\n")));
        }
        saying.decision(verdict);
        saying.words(verdict);
        // What does not happen needs no new input.
        if !(verdict.decision().is_block() && kind.contract().is_gate()) {
            saying.rewrites(verdict);
        }
        saying.not_silent(verdict);
        saying.finish()
    }
}

impl Dialect {
    /// Whether the agent takes a hook that says nothing for leave.
    pub fn silence_means_allow(&self, kind: &EventKind) -> bool {
        let silence = self.reply.exits.iter().find(|rule| {
            matches!(rule.code, ExitCodeMatch::Is(0) | ExitCodeMatch::AtLeast(0) | ExitCodeMatch::Any)
                && rule.at.fits(self, kind)
        });
        silence.is_some_and(|rule| matches!(rule.then, ExitAction::Decide(Decision::Allow, _)))
    }
}

struct VerdictRenderer<'a> {
    dialect: &'a Dialect,
    kind: &'a EventKind,
    tree: JsonTree,
    /// Context that is said as text, if nothing else is said.
    plain: Option<String>,
    /// Why something was bad, for agents that hear it only as context.
    feedback: Option<String>,
    /// Whether the user's messages are said already.
    told: bool,
    answer: Answer,
}

/// Why something does not happen, if nobody said. Agents that want a reason overlook a block without one.
const NO_REASON: &str = "refused by a hook, which gave no reason";

impl VerdictRenderer<'_> {
    /// The keys that can be said here, in the table's order.
    fn keys(&self) -> impl Iterator<Item = (usize, &'static Key)> + use<'_> {
        let can = self.dialect.reply.trigger != AnswerDetection::Never;
        self.dialect
            .reply
            .keys
            .iter()
            .enumerate()
            .filter(move |(_, key)| can && !key.parse_only && key.at.fits(self.dialect, self.kind))
    }

    fn key(&self, wanted: impl Fn(KeyMeaning) -> bool) -> Option<&'static str> {
        self.keys().find(|(_, key)| wanted(key.means)).and_then(|(_, key)| key.paths.first().copied())
    }

    fn put(&mut self, path: &'static str, value: &RawJson) {
        self.tree.put(path, value.clone());
    }

    fn note(&mut self, text: String) {
        self.answer.notes.push(text);
    }

    fn decision(&mut self, verdict: &Verdict) {
        let decision = verdict.decision();
        let reason = verdict.reason().unwrap_or_default();
        // From what was decided to what is stronger, until the agent has a word for it.
        let tries: &[Decision] = match decision {
            Decision::NoOpinion => return,
            // Not to say it leaves the agent as careful as it was.
            Decision::Allow => &[Decision::Allow],
            Decision::Ask => &[Decision::Ask, Decision::Deny, Decision::Halt],
            Decision::Defer => &[Decision::Defer, Decision::Ask, Decision::Deny, Decision::Halt],
            // Where a block is feedback, the model shall hear it; that is no reason to end everything.
            Decision::Deny if self.kind.contract().block == BlockEffect::Feedback => &[Decision::Deny],
            Decision::Deny => &[Decision::Deny, Decision::Halt],
            Decision::Halt => &[Decision::Halt, Decision::Deny],
        };
        for &said in tries {
            let mut reason = reason.to_owned();
            if reason.is_empty() && decision.is_block() {
                NO_REASON.clone_into(&mut reason);
            }
            if said != decision {
                let cannot = format!("{} has no way to say {decision} here", self.dialect.name);
                reason = if reason.is_empty() { cannot.clone() } else { format!("{reason} ({cannot})") };
            }
            if self.decide(said, &reason) {
                if said != decision {
                    self.note(format!("{} has no way to say {decision} here; it was told {said}", self.dialect.name));
                }
                return;
            }
        }
        let is_feedback = self.kind.contract().block == BlockEffect::Feedback && decision == Decision::Deny;
        if is_feedback && !reason.is_empty() && self.key(|key| key == KeyMeaning::Context).is_some() {
            self.feedback = Some(reason.to_owned());
            self.note(format!("{} has no way to say deny here; it was told the reason as context", self.dialect.name));
        } else if decision != Decision::Allow {
            self.note(format!("{} cannot be stopped at `{}`; its {decision} is lost", self.dialect.name, self.kind));
        }
    }

    /// Says a decision; tells whether there was a way.
    fn decide(&mut self, decision: Decision, reason: &str) -> bool {
        let found = self.keys().find_map(|(at, key)| match key.means {
            KeyMeaning::Decision(words) => {
                let says = !key.never_says.contains(&decision);
                let (word, _) = words.iter().find(|(_, means)| *means == decision && says)?;
                Some((at, key.paths.first()?, RawJson::string(word)))
            }
            KeyMeaning::Flag(when, means) if means == decision => {
                let value = RawJson::parse(if when { "true" } else { "false" }).ok()?;
                Some((at, key.paths.first()?, value))
            }
            KeyMeaning::Because(means) if means == decision => Some((at, key.paths.first()?, RawJson::string(reason))),
            _ => None,
        });
        if let Some((at, path, value)) = found {
            let behind = self.keys().skip_while(|(behind, _)| *behind <= at);
            let reason_paths: &[&str] = behind
                .take_while(|(_, key)| {
                    !matches!(key.means, KeyMeaning::Decision(_) | KeyMeaning::Flag(..) | KeyMeaning::Because(_))
                })
                .find(|(_, key)| matches!(key.means, KeyMeaning::Reason | KeyMeaning::StopReason))
                .map_or(
                    &[],
                    |(_, key)| if key.at_all_paths { key.paths } else { key.paths.get(..1).unwrap_or_default() },
                );
            self.put(path, &value);
            for path in reason_paths.iter().filter(|_| !reason.is_empty()) {
                self.put(path, &RawJson::string(reason));
            }
            return true;
        }
        let here = |rule: &&ExitRule| rule.at.fits(self.dialect, self.kind);
        let code = self.dialect.reply.exits.iter().filter(here).find_map(|rule| {
            let means = match rule.then {
                ExitAction::Decide(means, _) => means,
                // Its hooks stop things by failing, and its config says whether that counts.
                ExitAction::FailFor(_) => Decision::Deny,
                _ => return None,
            };
            match rule.code {
                ExitCodeMatch::Is(code) | ExitCodeMatch::AtLeast(code) => Some(code).filter(|_| means == decision),
                ExitCodeMatch::NotZero => Some(1).filter(|_| means == decision),
                ExitCodeMatch::Any => None,
            }
        });
        if let Some(code) = code {
            self.answer.exit = code;
            self.answer.stderr = reason.to_owned();
            return true;
        }
        false
    }

    fn words(&mut self, verdict: &Verdict) {
        let joined = |said: &[checkrein_core::HookMessage]| {
            said.iter().map(|said| said.text.as_str()).collect::<Vec<_>>().join("\n")
        };
        let said = joined(verdict.context());
        let parts = self.feedback.take().into_iter().chain([said].into_iter().filter(|said| !said.is_empty()));
        let context = parts.collect::<Vec<_>>().join("\n");
        let first = verdict.first_user_message().unwrap_or_default().to_owned();
        for (what, text, means) in [
            ("context", context, KeyMeaning::Context),
            ("message for the user", joined(verdict.messages()), KeyMeaning::Message),
            ("first user message", first, KeyMeaning::FirstMessage),
        ] {
            if text.is_empty() || (means == KeyMeaning::Message && self.told) {
                continue;
            }
            match self.key(|key| key == means) {
                Some(path) => self.put(path, &RawJson::string(&text)),
                None if means == KeyMeaning::Context && self.dialect.plain(self.kind) == PlainTextUse::Context => {
                    self.plain = Some(text);
                }
                None => self.note(format!("{} takes no {what} at `{}`", self.dialect.name, self.kind)),
            }
        }
        if verdict.suppresses_output()
            && let Some(path) = self.key(|key| key == KeyMeaning::Suppress)
            && let Ok(yes) = RawJson::parse("true")
        {
            self.put(path, &yes);
        }
        for (name, value) in verdict.metadata() {
            if let Some(path) = self.key(|key| key == KeyMeaning::Named(leaked(self.dialect, name).unwrap_or_default()))
            {
                self.put(path, value);
            }
        }
    }

    fn rewrites(&mut self, verdict: &Verdict) {
        for target in Target::ALL {
            let Some(rewritten) = verdict.rewritten(target) else { continue };
            let key = self.keys().find_map(|(_, key)| match key.means {
                KeyMeaning::Replace(of) if of == target => Some((key, key.paths.first()?, RewriteMode::Replace)),
                KeyMeaning::Merge(of) if of == target => Some((key, key.paths.first()?, RewriteMode::Merge)),
                _ => None,
            });
            match key {
                // What is merged into the old value cannot take anything out of it.
                Some((_, _, RewriteMode::Merge)) if takes_out(rewritten) => self.lost_rewrite(target),
                Some((key, path, _)) => {
                    self.put(path, &inside(key, &rewritten.effective));
                    if let Some((path, json)) = key.requires_sibling.filter(|(path, _)| !self.tree.has(path))
                        && let Ok(json) = RawJson::parse(json)
                    {
                        self.put(path, &json);
                    }
                }
                None => self.lost_rewrite(target),
            }
        }
    }

    /// Who allowed something else must not be heard as allowing this.
    fn lost_rewrite(&mut self, target: Target) {
        let text = format!("{} cannot be told of a new {target} at `{}`", self.dialect.name, self.kind);
        if self.kind.contract().is_gate() {
            self.tree = JsonTree::default();
            let denied = self.decide(Decision::Deny, &text);
            self.note(if denied { format!("{text}; it was told deny") } else { text });
        } else {
            self.note(text);
        }
    }

    /// Where silence gives leave, who has none to give fails.
    fn not_silent(&mut self, verdict: &Verdict) {
        if self.dialect.silence_means_allow(self.kind) && self.answer.exit == 0 && verdict.decision() != Decision::Allow
        {
            self.answer.exit = 1;
            "checkrein has no opinion here".clone_into(&mut self.answer.stderr);
        }
    }

    fn finish(mut self) -> Answer {
        if !self.tree.0.is_empty() {
            // An object of the answer that has the event's name has it always.
            for (_, key) in self.keys().filter(|(_, key)| key.means == KeyMeaning::EventName).collect::<Vec<_>>() {
                let name = self.dialect.name_of(self.kind).unwrap_or(self.kind.name());
                if let Some(path) = key.paths.first()
                    && path.rsplit_once('.').is_some_and(|(object, _)| self.tree.has(object))
                {
                    self.tree.put_first(path, RawJson::string(name));
                }
            }
            self.answer.user_message_included =
                self.told && self.key(|key| key == KeyMeaning::Message).is_some_and(|path| self.tree.has(path));
            self.answer.stdout = self.tree.to_json();
        }
        match self.plain.take() {
            Some(text) if self.answer.stdout.is_empty() && self.answer.exit == 0 => self.answer.stdout = text,
            Some(_) => self.note(format!("{} takes context at `{}` only alone", self.dialect.name, self.kind)),
            None => {}
        }
        self.answer
    }
}

/// Whether something of the old value is not in the new one.
fn takes_out(rewritten: &Rewritten) -> bool {
    let original = rewritten.original.as_ref();
    original.and_then(RawJson::entries).into_iter().flatten().any(|old| rewritten.effective.field(&old.key()).is_none())
}

/// The value as the key has it.
fn inside(key: &Key, value: &RawJson) -> RawJson {
    let Some((name, beside)) = key.wrapped_in.filter(|_| value.entries().is_none()) else { return value.clone() };
    let mut tree = JsonTree::default();
    for (name, json) in beside {
        if let Ok(json) = RawJson::parse(*json) {
            tree.put(name, json);
        }
    }
    tree.put(name, value.clone());
    RawJson::parse(tree.to_json()).unwrap_or_else(|_| value.clone())
}

/// The table's own text for a name.
fn leaked(dialect: &Dialect, name: &str) -> Option<&'static str> {
    dialect.reply.keys.iter().find_map(|key| match key.means {
        KeyMeaning::Named(own) if own == name => Some(own),
        _ => None,
    })
}

/// JSON that is built from paths.
#[derive(Default)]
struct JsonTree(Vec<(String, Branch)>);

enum Branch {
    Value(RawJson),
    Object(JsonTree),
}

impl JsonTree {
    fn put(&mut self, path: &str, value: RawJson) {
        self.insert(path, value, false);
    }

    fn put_first(&mut self, path: &str, value: RawJson) {
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

    fn has(&self, path: &str) -> bool {
        let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
        self.0.iter().any(|(have, branch)| {
            have == key
                && match (branch, rest) {
                    (Branch::Object(inner), Some(rest)) => inner.has(rest),
                    (_, rest) => rest.is_none(),
                }
        })
    }

    fn to_json(&self) -> String {
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
