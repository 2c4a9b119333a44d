//! Rendering of a verdict as the answer that an agent expects, by the same tables that read replies.
//!
//! The agent adapter and `checkrein say` use [`Dialect::render_verdict`]. The answer must never be weaker than the verdict: a decision that
//! the agent does not support becomes the next stricter one, and everything that is dropped is in the notes.

mod json_tree;
mod output;
mod refusal;
mod rewrites;
mod unsupported;

use std::collections::BTreeMap;

use checkrein_core::{BlockEffect, Decision, Event, EventKind, RawJson, Target, Told, Verdict};

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
    /// Decision that the agent receives.
    pub decision: Decision,
    /// Reason that the agent receives.
    pub reason: Option<String>,
    /// New values that the agent receives.
    pub rewrites: BTreeMap<Target, RawJson>,
    /// Messages of hooks for the user. A message about a rewrite that the agent does not support is replaced.
    pub messages: Vec<String>,
    /// `true` if the answer asks, denies or changes the input: without it, the agent would run the original call.
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
            decision: Decision::Deny,
            reason: Some(reason.to_owned()),
            restricts: true,
            user_message_included: true,
            ..Self::default()
        }
    }

    /// Returns the parts of the answer for the record of the event.
    pub fn told(&self) -> Told<'_> {
        Told {
            decision: self.decision,
            reason: self.reason.as_deref(),
            rewrites: &self.rewrites,
            messages: &self.messages,
            notes: &self.notes,
        }
    }
}

/// Texts and switches that the caller adds to an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnswerExtras<'a> {
    /// Messages for the user, if the agent can show messages.
    pub messages: &'a [String],
    /// Context for the model, if the agent accepts context.
    pub context: &'a [String],
    /// Command with which the user can confirm a call that the agent cannot ask about.
    pub confirm_with: Option<&'a str>,
    /// Returns whether a text contains a secret. Such a new input is not shown to the model.
    pub has_secret: Option<fn(&str) -> bool>,
    /// `true` if a denied call may become a call that prints the reason and fails, for agents that show no reason.
    pub speaks_by_command: bool,
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
            extras,
            tree: JsonTree::default(),
            plain: None,
            has_messages: false,
            feedback: None,
            answer: Answer::default(),
        };
        let plan = renderer.plan_rewrites(verdict);
        if plan.lost.is_empty() || !kind.contract().is_gate() {
            renderer.decision(verdict);
        } else {
            // The hooks allowed only the rewritten event.
            renderer.refuse_lost_rewrites(verdict, &plan.lost);
        }
        renderer.texts(verdict, &plan);
        renderer.put_rewrites(plan);
        renderer.avoid_implicit_allow(verdict);
        renderer.state_no_opinion();
        renderer.finish()
    }
}

impl Dialect {
    /// `true` if hooks can make the agent ask its user at events of this kind.
    pub fn can_ask(&self, kind: &EventKind) -> bool {
        let has_answers = self.reply.trigger != AnswerDetection::Never;
        has_answers && self.reply.keys.iter().any(|key| key.says(Decision::Ask) && key.at.fits(self, kind))
    }

    /// `true` if hooks can add context for the model at events of this kind.
    pub fn takes_context(&self, kind: &EventKind) -> bool {
        let has_answers = self.reply.trigger != AnswerDetection::Never;
        let is_context = |key: &Key| key.means == KeyMeaning::Context && !key.parse_only && key.at.fits(self, kind);
        let is_background = self.row(kind).is_some_and(|row| row.always_background);
        let has_key = has_answers && self.reply.keys.iter().any(is_context);
        !is_background && (has_key || self.plain(kind) == PlainTextUse::Context)
    }

    /// `true` if the agent needs an answer at events of this kind, even if no hook has an opinion.
    pub fn needs_answer(&self, kind: &EventKind) -> bool {
        self.silence_means_allow(kind) || self.reply.no_opinion.is_some_and(|answer| answer.at.fits(self, kind))
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
    /// `true` if the messages of the caller are rendered.
    has_messages: bool,
    extras: AnswerExtras<'a>,
    answer: Answer,
}

/// Reason of a block without one. Agents that require a reason ignore a block without one.
const NO_REASON: &str = "a hook denied this without a reason; ask the user before you try again";

/// Way in which an agent receives a decision.
enum Spelling {
    /// A key with this value. `None`: the reason is the value.
    Key { index: usize, path: &'static str, value: Option<RawJson> },
    /// An exit code, with the reason on standard error.
    Exit(i32),
}

/// Rewrites of a verdict, and whether the agent supports them.
#[derive(Default)]
struct RewritePlan {
    supported: Vec<rewrites::PlannedRewrite>,
    lost: Vec<(Target, rewrites::LossCause)>,
}

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

    /// Returns the decision that the agent receives in place of this one: the first supported one that is not weaker.
    fn supported(&self, decision: Decision) -> Option<Decision> {
        let tries: &[Decision] = match decision {
            Decision::NoOpinion => &[],
            // Without an allow, the agent applies its own permissions.
            Decision::Allow => &[Decision::Allow],
            Decision::Ask => &[Decision::Ask, Decision::Deny, Decision::Halt],
            Decision::Defer => &[Decision::Defer, Decision::Ask, Decision::Deny, Decision::Halt],
            // Feedback for the model must not become a halt.
            Decision::Deny if self.kind.contract().block == BlockEffect::Feedback => &[Decision::Deny],
            Decision::Deny => &[Decision::Deny, Decision::Halt],
            Decision::Halt => &[Decision::Halt, Decision::Deny],
        };
        tries.iter().copied().find(|decision| self.spelling(*decision).is_some())
    }

    fn decision(&mut self, verdict: &Verdict) {
        let decision = verdict.decision();
        if decision == Decision::NoOpinion {
            return;
        }
        let mut reason = verdict.reason().unwrap_or_default().to_owned();
        if let Some(supported) = self.supported(decision) {
            if reason.is_empty() && decision.is_block() {
                NO_REASON.clone_into(&mut reason);
            }
            if self.decide_by_command(decision, &reason) {
                return;
            }
            if supported != decision {
                reason = self.replaced_reason(decision, supported, &reason);
                self.note(self.replaced_note(decision, supported));
            }
            self.decide(supported, &reason);
            return;
        }
        let is_feedback = self.kind.contract().block == BlockEffect::Feedback && decision == Decision::Deny;
        if is_feedback && !reason.is_empty() && self.key(|key| key == KeyMeaning::Context).is_some() {
            self.feedback = Some(reason);
            self.note(format!("{}, so the reason is sent as context", self.cannot(decision)));
        } else if decision != Decision::Allow {
            self.note(format!(
                "{} hooks cannot block `{}`; the {decision} is dropped",
                self.dialect.title(),
                self.kind
            ));
        }
    }

    /// Returns the way in which the agent receives a decision here.
    fn spelling(&self, decision: Decision) -> Option<Spelling> {
        self.key_spellings(decision).next().or_else(|| self.exit_code(decision).map(Spelling::Exit))
    }

    /// Lists the keys with which the agent receives a decision here.
    fn key_spellings(&self, decision: Decision) -> impl Iterator<Item = Spelling> + use<'_> {
        self.keys().filter_map(move |(index, key)| {
            let value = match key.means {
                KeyMeaning::Decision(words) if !key.never_says.contains(&decision) => {
                    let (word, _) = words.iter().find(|(_, means)| *means == decision)?;
                    Some(RawJson::string(word))
                }
                KeyMeaning::Flag(when, means) if means == decision => {
                    RawJson::parse(if when { "true" } else { "false" }).ok()
                }
                KeyMeaning::Because(means) if means == decision => None,
                _ => return None,
            };
            Some(Spelling::Key { index, path: key.paths.first()?, value })
        })
    }

    /// Denies with each key that says so, and with the exit code.
    fn deny_everywhere(&mut self, reason: &str) {
        for spelling in self.key_spellings(Decision::Deny).collect::<Vec<_>>() {
            if let Spelling::Key { index, path, value } = spelling {
                self.put(path, &value.unwrap_or_else(|| RawJson::string(reason)));
                self.put_reason(index, reason);
            }
        }
        if let Some(code) = self.exit_code(Decision::Deny) {
            self.answer.exit = code;
            reason.clone_into(&mut self.answer.stderr);
        }
    }

    /// Renders the reason of the decision whose key has this position.
    fn put_reason(&mut self, index: usize, reason: &str) {
        let after = self.keys().skip_while(|(own, _)| *own <= index);
        let reason_paths: &[&str] = after
            .take_while(|(_, key)| {
                !matches!(key.means, KeyMeaning::Decision(_) | KeyMeaning::Flag(..) | KeyMeaning::Because(_))
            })
            .find(|(_, key)| matches!(key.means, KeyMeaning::Reason | KeyMeaning::StopReason))
            .map_or(&[], |(_, key)| if key.at_all_paths { key.paths } else { key.paths.get(..1).unwrap_or_default() });
        for path in reason_paths.iter().filter(|_| !reason.is_empty()) {
            self.put(path, &RawJson::string(reason));
        }
    }

    fn exit_code(&self, decision: Decision) -> Option<i32> {
        let here = |rule: &&ExitRule| rule.at.fits(self.dialect, self.kind);
        self.dialect.reply.exits.iter().filter(here).find_map(|rule| {
            let means = match rule.then {
                ExitAction::Decide(means, _) => means,
                // Hooks of this agent block by failing, if its config allows that.
                ExitAction::FailFor(_) => Decision::Deny,
                _ => return None,
            };
            match rule.code {
                ExitCodeMatch::Is(code) | ExitCodeMatch::AtLeast(code) if means == decision => Some(code),
                ExitCodeMatch::NotZero if means == decision => Some(1),
                _ => None,
            }
        })
    }

    /// Renders a decision. Returns `false` if the agent does not support it.
    fn decide(&mut self, decision: Decision, reason: &str) -> bool {
        let everywhere = decision == Decision::Deny
            && self.dialect.reply.all_spellings.is_some_and(|scope| scope.fits(self.dialect, self.kind));
        if everywhere {
            self.deny_everywhere(reason);
        }
        match self.spelling(decision) {
            None => return false,
            Some(Spelling::Exit(code)) => {
                self.answer.exit = code;
                reason.clone_into(&mut self.answer.stderr);
            }
            Some(Spelling::Key { index, path, value }) => {
                self.put(path, &value.unwrap_or_else(|| RawJson::string(reason)));
                self.put_reason(index, reason);
            }
        }
        self.answer.decision = decision;
        self.answer.reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
        true
    }

    fn texts(&mut self, verdict: &Verdict, plan: &RewritePlan) {
        let context = verdict.context().iter().map(|message| message.text.clone());
        let context: Vec<String> = self.feedback.take().into_iter().chain(context).collect();
        self.answer.messages = self.messages_about(verdict, plan);
        let first = verdict.first_user_message().unwrap_or_default().to_owned();
        for (what, own, added, means) in [
            ("context", context, self.extras.context, KeyMeaning::Context),
            ("a message for the user", self.answer.messages.clone(), self.extras.messages, KeyMeaning::Message),
            ("a first user message", vec![first], &[], KeyMeaning::FirstMessage),
        ] {
            let text = own.iter().chain(added).filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>().join("\n");
            if text.is_empty() {
                continue;
            }
            match self.key(|key| key == means) {
                Some(path) => {
                    self.put(path, &RawJson::string(&text));
                    self.has_messages |= means == KeyMeaning::Message && !added.is_empty();
                }
                None if means == KeyMeaning::Context && self.dialect.plain(self.kind) == PlainTextUse::Context => {
                    self.plain = Some(text);
                }
                // The caller shows its own texts in another way.
                None if own.iter().all(String::is_empty) => {}
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

    /// Exits with 1 if the agent treats an empty answer as an allow and the verdict is not an allow.
    fn avoid_implicit_allow(&mut self, verdict: &Verdict) {
        if self.dialect.silence_means_allow(self.kind) && self.answer.exit == 0 && verdict.decision() != Decision::Allow
        {
            self.answer.exit = 1;
            "checkrein has no opinion".clone_into(&mut self.answer.stderr);
        }
    }

    /// Renders the answer of an agent that treats silence as a decision.
    fn state_no_opinion(&mut self) {
        if let Some(answer) = self.dialect.reply.no_opinion
            && self.answer.decision == Decision::NoOpinion
            && answer.at.fits(self.dialect, self.kind)
            && let Ok(json) = RawJson::parse(answer.json)
        {
            self.put(answer.path, &json);
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
            self.answer.user_message_included = self.has_messages;
            self.answer.stdout = self.tree.to_json();
        }
        self.answer.restricts = !matches!(self.answer.decision, Decision::NoOpinion | Decision::Allow)
            || self.answer.rewrites.contains_key(&Target::Input);
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

/// Returns the table's own static text for a name.
fn table_name(dialect: &Dialect, name: &str) -> Option<&'static str> {
    dialect.reply.keys.iter().find_map(|key| match key.means {
        KeyMeaning::Named(own) if own == name => Some(own),
        _ => None,
    })
}
