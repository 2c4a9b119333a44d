//! Rendering of a verdict as the answer that an agent expects, by the same tables that read replies.
//!
//! The agent adapter and `checkrein say` use [`Dialect::render_verdict`]. The answer must never be weaker than the verdict: a decision that
//! the agent does not support becomes the next stricter one, and everything that is dropped is in the notes.

mod json_tree;
mod unsupported;

use checkrein_core::{BlockEffect, Decision, Event, EventKind, RawJson, RewriteMode, Rewritten, Target, Verdict};

use crate::reply::{AnswerDetection, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning};
use crate::table::{Dialect, PlainTextUse};
use json_tree::JsonTree;

/// Answer of a hook program to its agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Answer {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Exit code.
    pub exit: i32,
    /// `true` if the verdict asks, denies or changes the input: without the answer, the agent would run the original call.
    pub restricts: bool,
    /// `true` if it contains the messages for the user.
    pub user_message_included: bool,
    /// Parts of the verdict that the agent does not support, with their replacements.
    pub notes: Vec<String>,
}

impl Answer {
    /// Creates a denial for an unknown agent or an unknown event. It has every spelling that agents read, and exit code 2.
    pub fn deny_everywhere(reason: &str) -> Self {
        let text = RawJson::string(reason);
        let stdout = format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":{text}}},"decision":"block","reason":{text},"permissionDecision":"deny","permissionDecisionReason":{text},"cancel":true,"errorMessage":{text}}}"#
        );
        Self {
            stdout,
            stderr: reason.to_owned(),
            exit: 2,
            restricts: true,
            user_message_included: true,
            notes: Vec::new(),
        }
    }
}

/// Texts that the caller adds to an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnswerExtras<'a> {
    /// Messages for the user, if the agent can show messages.
    pub messages: &'a [String],
    /// Command with which the user can confirm a call that the agent cannot ask about.
    pub confirm_with: Option<&'a str>,
}

impl Dialect {
    /// Renders a verdict as an answer to the agent of this dialect. A decision that the agent does not support becomes the next
    /// stricter one. Other unsupported parts are dropped with a note.
    pub fn render_verdict(&self, event: &Event, verdict: &Verdict) -> Answer {
        self.render_verdict_with(event, verdict, AnswerExtras::default())
    }

    /// Renders a verdict with further texts from the caller.
    pub fn render_verdict_with(&self, event: &Event, verdict: &Verdict, extras: AnswerExtras<'_>) -> Answer {
        let kind = event.kind();
        let mut renderer = VerdictRenderer {
            dialect: self,
            event,
            kind: &kind,
            tree: JsonTree::default(),
            plain: None,
            has_messages: false,
            feedback: None,
            confirm_with: extras.confirm_with,
            answer: Answer {
                restricts: !matches!(verdict.decision(), Decision::NoOpinion | Decision::Allow)
                    || verdict.effective_input().is_some(),
                ..Answer::default()
            },
        };
        let messages = extras.messages;
        if !messages.is_empty()
            && let Some(path) = renderer.key(|key| key == KeyMeaning::Message)
        {
            let own = verdict.messages().iter().map(|message| message.text.as_str());
            let all: Vec<_> = own.chain(messages.iter().map(String::as_str)).collect();
            renderer.has_messages = true;
            renderer.put(path, &RawJson::string(&all.join("\n")));
        }
        renderer.decision(verdict);
        renderer.texts(verdict);
        // A blocked event needs no rewrites.
        if !(verdict.decision().is_block() && kind.contract().is_gate()) {
            renderer.rewrites(verdict);
        }
        renderer.avoid_implicit_allow(verdict);
        renderer.finish()
    }
}

impl Dialect {
    /// `true` if hooks can make the agent ask its user at events of this kind.
    pub fn can_ask(&self, kind: &EventKind) -> bool {
        let has_answers = self.reply.trigger != AnswerDetection::Never;
        has_answers && self.reply.keys.iter().any(|key| key.says(Decision::Ask) && key.at.fits(self, kind))
    }

    /// `true` if the agent treats a hook without an answer as an allow.
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
    event: &'a Event,
    kind: &'a EventKind,
    tree: JsonTree,
    /// Context that is rendered as plain text, if the answer has nothing else.
    plain: Option<String>,
    /// Reason of a deny, for agents that accept it only as context.
    feedback: Option<String>,
    /// `true` if the messages for the user are rendered already.
    has_messages: bool,
    /// Command with which the user can confirm a call that the agent cannot ask about.
    confirm_with: Option<&'a str>,
    answer: Answer,
}

/// Reason of a block without one. Agents that require a reason ignore a block without one.
const NO_REASON: &str = "a hook denied this without a reason; ask the user before you try again";

impl VerdictRenderer<'_> {
    /// Lists the keys that can be rendered here, in the table's order.
    fn keys(&self) -> impl Iterator<Item = (usize, &'static Key)> + use<'_> {
        let has_answers = self.dialect.reply.trigger != AnswerDetection::Never;
        self.dialect
            .reply
            .keys
            .iter()
            .enumerate()
            .filter(move |(_, key)| has_answers && !key.parse_only && key.at.fits(self.dialect, self.kind))
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
        // The decision, then stricter ones, until the agent supports one.
        let tries: &[Decision] = match decision {
            Decision::NoOpinion => return,
            // Without an allow, the agent applies its own permissions.
            Decision::Allow => &[Decision::Allow],
            Decision::Ask => &[Decision::Ask, Decision::Deny, Decision::Halt],
            Decision::Defer => &[Decision::Defer, Decision::Ask, Decision::Deny, Decision::Halt],
            // Feedback for the model must not become a halt.
            Decision::Deny if self.kind.contract().block == BlockEffect::Feedback => &[Decision::Deny],
            Decision::Deny => &[Decision::Deny, Decision::Halt],
            Decision::Halt => &[Decision::Halt, Decision::Deny],
        };
        for &supported in tries {
            let mut reason = reason.to_owned();
            if reason.is_empty() && decision.is_block() {
                NO_REASON.clone_into(&mut reason);
            }
            if supported != decision {
                reason = self.replaced_reason(decision, supported, &reason);
            }
            if self.decide(supported, &reason) {
                if supported != decision {
                    self.note(self.replaced_note(decision, supported));
                }
                return;
            }
        }
        let is_feedback = self.kind.contract().block == BlockEffect::Feedback && decision == Decision::Deny;
        if is_feedback && !reason.is_empty() && self.key(|key| key == KeyMeaning::Context).is_some() {
            self.feedback = Some(reason.to_owned());
            self.note(format!("{} hooks cannot deny here, so the reason is sent as context", self.dialect.title()));
        } else if decision != Decision::Allow {
            self.note(format!(
                "{} hooks cannot block `{}`; the {decision} is dropped",
                self.dialect.title(),
                self.kind
            ));
        }
    }

    /// Renders a decision. Returns `false` if the agent does not support it.
    fn decide(&mut self, decision: Decision, reason: &str) -> bool {
        let found = self.keys().find_map(|(at, key)| match key.means {
            KeyMeaning::Decision(words) => {
                let can_render = !key.never_says.contains(&decision);
                let (word, _) = words.iter().find(|(_, means)| *means == decision && can_render)?;
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
            let after = self.keys().skip_while(|(index, _)| *index <= at);
            let reason_paths: &[&str] = after
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
                // Hooks of this agent block by failing, if its config allows that.
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

    fn texts(&mut self, verdict: &Verdict) {
        let joined = |messages: &[checkrein_core::HookMessage]| {
            messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n")
        };
        let context = joined(verdict.context());
        let parts = self.feedback.take().into_iter().chain([context].into_iter().filter(|text| !text.is_empty()));
        let context = parts.collect::<Vec<_>>().join("\n");
        let first = verdict.first_user_message().unwrap_or_default().to_owned();
        for (what, text, means) in [
            ("context", context, KeyMeaning::Context),
            ("a message for the user", joined(verdict.messages()), KeyMeaning::Message),
            ("a first user message", first, KeyMeaning::FirstMessage),
        ] {
            if text.is_empty() || (means == KeyMeaning::Message && self.has_messages) {
                continue;
            }
            match self.key(|key| key == means) {
                Some(path) => self.put(path, &RawJson::string(&text)),
                None if means == KeyMeaning::Context && self.dialect.plain(self.kind) == PlainTextUse::Context => {
                    self.plain = Some(text);
                }
                None => {
                    self.note(format!(
                        "{} hooks cannot send {what} at `{}`; it is dropped",
                        self.dialect.title(),
                        self.kind
                    ));
                }
            }
        }
        if verdict.suppresses_output()
            && let Some(path) = self.key(|key| key == KeyMeaning::Suppress)
            && let Ok(yes) = RawJson::parse("true")
        {
            self.put(path, &yes);
        }
        for (name, value) in verdict.metadata() {
            if let Some(path) =
                self.key(|key| key == KeyMeaning::Named(table_name(self.dialect, name).unwrap_or_default()))
            {
                self.put(path, value);
            }
        }
    }

    fn rewrites(&mut self, verdict: &Verdict) {
        for target in Target::ALL {
            let Some(rewritten) = verdict.rewritten(target) else { continue };
            let key = self.keys().find_map(|(_, key)| match key.means {
                KeyMeaning::Replace(own) if own == target => Some((key, key.paths.first()?, RewriteMode::Replace)),
                KeyMeaning::Merge(own) if own == target => Some((key, key.paths.first()?, RewriteMode::Merge)),
                _ => None,
            });
            match key {
                // A merge cannot remove fields.
                Some((_, _, RewriteMode::Merge)) if removes_fields(rewritten) => self.lost_rewrite(target),
                Some((key, path, _)) => {
                    self.put(path, &wrap(key, &rewritten.effective));
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

    /// Reports a rewrite that the agent does not support. At a gate the answer becomes a deny, because the hooks allowed only the
    /// rewritten event.
    fn lost_rewrite(&mut self, target: Target) {
        let text = format!("{} hooks cannot change the {target} at `{}`", self.dialect.title(), self.kind);
        if self.kind.contract().is_gate() {
            self.tree = JsonTree::default();
            let next = match target {
                Target::Prompt => "change the prompt and send it again",
                _ => "tell the user",
            };
            let denied = self.decide(Decision::Deny, &format!("{text}, and a hook requires a change; {next}"));
            self.note(if denied { format!("{text}, so this was denied") } else { text });
        } else {
            self.note(text);
        }
    }

    /// Exits with 1 if the agent treats an empty answer as an allow and the verdict is not an allow.
    fn avoid_implicit_allow(&mut self, verdict: &Verdict) {
        if self.dialect.silence_means_allow(self.kind) && self.answer.exit == 0 && verdict.decision() != Decision::Allow
        {
            self.answer.exit = 1;
            "checkrein has no opinion".clone_into(&mut self.answer.stderr);
        }
    }

    fn finish(mut self) -> Answer {
        if !self.tree.is_empty() {
            // An object with a key for the event's name always has that name.
            for (_, key) in self.keys().filter(|(_, key)| key.means == KeyMeaning::EventName).collect::<Vec<_>>() {
                let name = self.dialect.name_of(self.kind).unwrap_or(self.kind.name());
                if let Some(path) = key.paths.first()
                    && path.rsplit_once('.').is_some_and(|(object, _)| self.tree.has(object))
                {
                    self.tree.put_first(path, RawJson::string(name));
                }
            }
            self.answer.user_message_included =
                self.has_messages && self.key(|key| key == KeyMeaning::Message).is_some_and(|path| self.tree.has(path));
            self.answer.stdout = self.tree.to_json();
        }
        match self.plain.take() {
            Some(text) if self.answer.stdout.is_empty() && self.answer.exit == 0 => self.answer.stdout = text,
            Some(_) => self.note(format!(
                "{} hooks cannot send context with another answer at `{}`; the context is dropped",
                self.dialect.title(),
                self.kind
            )),
            None => {}
        }
        self.answer
    }
}

/// `true` if the new value lacks a field of the old one.
fn removes_fields(rewritten: &Rewritten) -> bool {
    let original = rewritten.original.as_ref();
    original.and_then(RawJson::entries).into_iter().flatten().any(|old| rewritten.effective.field(&old.key()).is_none())
}

/// Wraps a value in the object of its key, if it has one.
fn wrap(key: &Key, value: &RawJson) -> RawJson {
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

/// Returns the table's own static text for a name.
fn table_name(dialect: &Dialect, name: &str) -> Option<&'static str> {
    dialect.reply.keys.iter().find_map(|key| match key.means {
        KeyMeaning::Named(own) if own == name => Some(own),
        _ => None,
    })
}
