//! Reading of replies: the output of a process or an HTTP response becomes an `Opinion`, by a dialect's [`ReplyTable`].
//!
//! [`Dialect::read`] is the entry point; handlers use it. An invalid answer at a gate must never become "no opinion" unless the
//! dialect's table says so.

mod answer;
mod answer_text;
mod defect;
mod restrictions;
mod table;

pub use defect::Defect;
pub use table::{
    AnswerDetection, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, MalformedPolicy,
    NoOpinionAnswer, ReasonSource, ReplyTable, UnknownPolicy,
};

use checkrein_core::{
    Captured, Decision, Event, Failure, FailureKind, HttpReply, Opinion, ProcessExit, ProcessReply, RawJson, Reply,
    closest_match,
};

use crate::table::{Dialect, PlainTextUse};
use answer_text::AnswerText;

impl Dialect {
    /// Reads a reply. `strict`: unknown keys and invalid values are failures, even if the dialect ignores them.
    ///
    /// # Errors
    /// A failure with its kind: the process was ended by a signal, the exit code is unknown, the answer is not JSON, was
    /// cut, or contains something that the event does not allow.
    pub fn read(&self, event: &Event, reply: Reply, strict: bool) -> Result<Opinion, Failure> {
        let reader = ReplyReader { dialect: self, event, strict };
        match reply {
            Reply::Opinion(opinion) => Ok(opinion),
            Reply::Process(reply) => reader.process(&reply),
            Reply::Http(reply) => reader.http(&reply),
        }
    }
}

struct ReplyReader<'a> {
    dialect: &'a Dialect,
    event: &'a Event,
    strict: bool,
}

/// Content of standard output.
enum Printed {
    Answer(Opinion),
    Text(String),
    Nothing,
}

impl ReplyReader<'_> {
    fn process(&self, reply: &ProcessReply) -> Result<Opinion, Failure> {
        let stderr = reply.stderr.text();
        let stdout = self.answer_of(reply);
        let kind = self.event.kind();
        let rule = self.dialect.reply.exits.iter().find(|rule| {
            let code = match (rule.code, reply.exit) {
                (ExitCodeMatch::Any, _) => true,
                (ExitCodeMatch::Is(code), ProcessExit::Code(is)) => code == is,
                (ExitCodeMatch::AtLeast(least), ProcessExit::Code(is)) => is >= least,
                (ExitCodeMatch::NotZero, exit) => exit != ProcessExit::Code(0),
                (ExitCodeMatch::Is(_) | ExitCodeMatch::AtLeast(_), ProcessExit::Signal(_)) => false,
            };
            let complained = !stderr.trim().is_empty();
            code && rule.at.fits(self.dialect, &kind)
                && (!rule.needs_stderr || complained)
                && (!rule.needs_text || complained || !reply.stdout.text().trim().is_empty())
                && (!rule.if_answer || !matches!(self.printed(stdout), Ok(Printed::Text(_) | Printed::Nothing)))
        });
        match rule.map_or(ExitAction::Fail, |rule| rule.then) {
            ExitAction::Nothing => Ok(Opinion::none()),
            ExitAction::Fail => Err(self.unexpected(reply)),
            ExitAction::FailFor(reasons) => {
                let failure = self.unexpected(reply);
                Err(match self.answer_with_reason(reasons, reply).2 {
                    Some(reason) => failure.with_reason(reason),
                    None => failure,
                })
            }
            ExitAction::Read => self.opinion_of(self.printed(stdout)?),
            ExitAction::ReadOrFail => match self.printed(stdout) {
                Ok(Printed::Answer(opinion)) => Ok(opinion),
                _ => Err(self.unexpected(reply)),
            },
            ExitAction::Decide(decision, reasons) => {
                let opinion = self.decided(decision, reasons, reply);
                Ok(match rule.and_then(|rule| rule.marks) {
                    Some(mark) => marked(opinion, mark),
                    None => opinion,
                })
            }
            ExitAction::Tell(texts) => {
                let opinion = self.decided(Decision::NoOpinion, texts, reply);
                Ok(match opinion.reason() {
                    Some(text) if !text.is_empty() => Opinion::none().with_message(text),
                    _ => Opinion::none(),
                })
            }
        }
    }

    /// Returns the stream that contains the answer.
    fn answer_of<'r>(&self, reply: &'r ProcessReply) -> &'r Captured {
        let blank = reply.stdout.bytes.trim_ascii().is_empty() && !reply.stdout.is_cut();
        if self.dialect.reply.stderr_answers && blank { &reply.stderr } else { &reply.stdout }
    }

    /// Returns the decision of an exit code with the reason and the answer of the hook. An invalid answer does not cancel the
    /// decision.
    fn decided(&self, decision: Decision, reasons: &[ReasonSource], reply: &ProcessReply) -> Opinion {
        let (answer, unread, reason) = self.answer_with_reason(reasons, reply);
        let decision = answer.decision().max(decision);
        let answer = match unread {
            Some(failure) => answer.with_message(format!("its output is invalid ({failure})")),
            None => answer,
        };
        answer.with_decision(decision).with_reason(reason.unwrap_or_default())
    }

    /// Returns the answer, the failure of reading it, and the first available reason.
    fn answer_with_reason(
        &self,
        reasons: &[ReasonSource],
        reply: &ProcessReply,
    ) -> (Opinion, Option<Failure>, Option<String>) {
        let (answer, text, unread) = match self.printed(self.answer_of(reply)) {
            Ok(Printed::Answer(opinion)) => (opinion, None, None),
            Ok(Printed::Text(text)) => (Opinion::none(), Some(text), None),
            Ok(Printed::Nothing) => (Opinion::none(), None, None),
            Err(failure) => (Opinion::none(), Some(reply.stdout.text().trim().to_owned()), Some(failure)),
        };
        let stderr = reply.stderr.text();
        let reason = reasons.iter().find_map(|source| {
            let text = match source {
                ReasonSource::Answer => {
                    answer.reason().or_else(|| answer.messages().first().map(String::as_str))?.to_owned()
                }
                ReasonSource::Stderr => stderr.trim().to_owned(),
                ReasonSource::Stdout => text.clone()?,
                ReasonSource::Fixed(text) => (*text).to_owned(),
                ReasonSource::Exit => match reply.exit {
                    ProcessExit::Code(code) => format!("hook {} exit {code}", reply.program),
                    ProcessExit::Signal(signal) => format!("hook {} ended by signal {signal}", reply.program),
                },
            };
            Some(text).filter(|text| !text.is_empty())
        });
        (answer, unread, reason)
    }

    fn unexpected(&self, reply: &ProcessReply) -> Failure {
        let stderr = reply.stderr.text();
        match reply.exit {
            ProcessExit::Code(code) => {
                Failure::new(FailureKind::Exit, format!("exit code {code}{}", first_line(&stderr)))
            }
            ProcessExit::Signal(signal) => {
                Failure::new(FailureKind::Signal, format!("ended by signal {signal}{}", first_line(&stderr)))
            }
        }
    }

    fn opinion_of(&self, printed: Printed) -> Result<Opinion, Failure> {
        let plain = self.dialect.plain(&self.event.kind());
        match (printed, plain) {
            (Printed::Answer(opinion), _) => Ok(opinion),
            (Printed::Text(text), plain) if self.strict || plain == PlainTextUse::Failure => Err(Failure::new(
                FailureKind::Parse,
                format!("printed text, but only one JSON object is allowed{}", first_line(&text)),
            )),
            (Printed::Text(text), PlainTextUse::Context) => Ok(Opinion::context(text)),
            (Printed::Text(text), PlainTextUse::LastLine) => {
                let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
                Ok(Opinion::rewrite_output(RawJson::string(line)))
            }
            (Printed::Text(text), PlainTextUse::Message) => Ok(Opinion::none().with_message(text)),
            _ => Ok(Opinion::none()),
        }
    }

    fn printed(&self, stdout: &Captured) -> Result<Printed, Failure> {
        if self.dialect.reply.trigger == AnswerDetection::Never {
            return Ok(match stdout.text().trim() {
                "" => Printed::Nothing,
                text => Printed::Text(text.to_owned()),
            });
        }
        let mut answer = AnswerText::new(&stdout.bytes, &self.dialect.reply);
        if let AnswerDetection::ObjectOrLine(mark) = self.dialect.reply.trigger
            && let Some(marked) = last_marked(&stdout.bytes, mark)
        {
            answer = AnswerText::new(marked, &self.dialect.reply);
        }
        let printed = self.detect(stdout, &answer);
        if answer.is_clean() {
            return printed;
        }
        let decision = match &printed {
            Ok(Printed::Answer(opinion)) => opinion.decision(),
            _ => Decision::NoOpinion,
        };
        match self.restriction(&answer, decision) {
            Some(opinion) => Ok(Printed::Answer(opinion)),
            None => printed,
        }
    }

    /// Returns a restriction that a damaged answer contains, if it is stronger than this decision.
    fn restriction(&self, answer: &AnswerText<'_>, weaker: Decision) -> Option<Opinion> {
        let has_lines = self.dialect.reply.tolerates.contains(&Defect::LeadingLines);
        let text = answer.object().or_else(|| has_lines.then_some(&*answer.text))?;
        let is_malformed = answer.json.is_err() && answer.object().is_some();
        let opinion = restrictions::find(self.dialect, self.event, text, is_malformed)?;
        let decision = opinion.decision();
        let warning = format!(
            "its answer is damaged ({}); the `{decision}` in it applies, the rest is ignored",
            answer.problem()
        );
        (decision > weaker).then(|| opinion.with_warning(warning))
    }

    /// Decides whether standard output is an answer, and reads it as the agent does.
    fn detect(&self, stdout: &Captured, answer: &AnswerText<'_>) -> Result<Printed, Failure> {
        let text = || match &*answer.text {
            "" => Printed::Nothing,
            text => Printed::Text(text.to_owned()),
        };
        let is_gate = self.dialect.is_gate(&self.event.kind());
        match self.dialect.reply.trigger {
            AnswerDetection::Never => return Ok(text()),
            // The missing part may contain the answer.
            _ if stdout.is_cut() && (answer.opens() || is_gate) => return Err(cut(stdout)),
            AnswerDetection::OwnObject if answer.opens() => {
                if let Some(mut entries) = answer.entries().map(Iterator::peekable) {
                    if entries.peek().is_none() {
                        return Ok(Printed::Nothing);
                    }
                    if !entries.any(|entry| self.is_near_own(&entry.key())) {
                        return Ok(text());
                    }
                }
            }
            AnswerDetection::OwnObject => return Ok(text()),
            AnswerDetection::ObjectOrLine(mark) if last_marked(&stdout.bytes, mark).is_some() => {
                return self.json(stdout, answer).map(Printed::Answer);
            }
            AnswerDetection::Object | AnswerDetection::ObjectOrLine(_) if answer.entries().is_some() => {}
            AnswerDetection::Object | AnswerDetection::ObjectOrLine(_) if !answer.opens() => return Ok(text()),
            AnswerDetection::Braces if !(answer.opens() && answer.closes()) => return Ok(text()),
            AnswerDetection::Brace | AnswerDetection::LastObject if answer.opens() => {}
            AnswerDetection::LastObject => {
                return match noise_before_answer(&answer.text) {
                    Some(noise) => {
                        let message = format!("printed {noise} bytes before its answer; they were skipped");
                        let last = AnswerText::new(&answer.text.as_bytes()[noise..], &self.dialect.reply);
                        let opinion = self.json(stdout, &last)?;
                        Ok(Printed::Answer(opinion.with_message(message)))
                    }
                    None if is_gate && looks_like_an_answer(&answer.text) => {
                        let message = "its output contains an answer between other text; print only the JSON object";
                        Err(Failure::new(FailureKind::Parse, message))
                    }
                    None => Ok(text()),
                };
            }
            AnswerDetection::Brace => return Ok(text()),
            _ => {}
        }
        match self.json(stdout, answer) {
            Err(failure)
                if failure.kind == FailureKind::Parse
                    && !self.strict
                    && match self.dialect.reply.malformed {
                        MalformedPolicy::Failure => false,
                        MalformedPolicy::Text => true,
                        MalformedPolicy::TextUnlessAnswer => !(is_gate && looks_like_an_answer(&answer.text)),
                    } =>
            {
                Ok(text())
            }
            read => read.map(Printed::Answer),
        }
    }

    /// `true` if a key of an answer is one of the dialect's, or a misspelling of one.
    fn is_near_own(&self, key: &str) -> bool {
        let own = self.dialect.reply.keys.iter().flat_map(|key| key.paths).filter_map(|path| path.split('.').next());
        own.clone().any(|own| own == key) || closest_match(key, own).is_some()
    }

    fn http(&self, reply: &HttpReply) -> Result<Opinion, Failure> {
        let http = &self.dialect.http;
        if !(200..300).contains(&reply.status) {
            let hint = if matches!(reply.status, 301 | 302 | 307 | 308) { NOT_FOLLOWED } else { "" };
            return Err(Failure::new(FailureKind::HttpStatus, format!("status {}{hint}", reply.status)));
        }
        if !http.decides {
            return Ok(Opinion::none());
        }
        let answer = AnswerText::new(&reply.body.bytes, &self.dialect.reply);
        if answer.text.is_empty() && !reply.body.is_cut() {
            return Ok(Opinion::none());
        }
        let read = if reply.body.is_cut() {
            let message = format!("the answer exceeds the limit of {} bytes", reply.body.bytes.len());
            Err(Failure::new(FailureKind::OutputCap, message))
        } else {
            self.json(&reply.body, &answer)
        };
        if answer.is_clean() {
            return read;
        }
        let decision = read.as_ref().map_or(Decision::NoOpinion, Opinion::decision);
        self.restriction(&answer, decision).map_or(read, Ok)
    }

    fn json(&self, captured: &Captured, answer: &AnswerText<'_>) -> Result<Opinion, Failure> {
        if captured.is_cut() {
            return Err(cut(captured));
        }
        let tolerates = if self.strict { &[Defect::ByteOrderMark] } else { self.dialect.reply.tolerates };
        let json = answer.as_read_by(tolerates).map_err(|problem| Failure::new(FailureKind::Parse, problem))?;
        answer::read(self.dialect, self.event, json, self.strict)
    }
}

/// Hint for a redirect.
const NOT_FOLLOWED: &str = ": the redirect was not followed; use its target as the URL of the hook, or allow redirects in the \
                            host program (`HttpSpec::follow_redirects`)";

/// Adds a mark for the host to an opinion.
fn marked(opinion: Opinion, mark: &str) -> Opinion {
    opinion.with_metadata(mark, RawJson::parse("true").unwrap_or_default())
}

/// Returns `: ` and the first line of standard error, if it has one.
fn first_line(stderr: &str) -> String {
    const SHOWN: usize = 200;
    match stderr.lines().map(str::trim).find(|line| !line.is_empty()) {
        None => String::new(),
        Some(line) => format!(": {}", line.chars().take(SHOWN).collect::<String>()),
    }
}

/// Returns the text after the mark in the last line that starts with the mark.
fn last_marked<'b>(bytes: &'b [u8], mark: &str) -> Option<&'b [u8]> {
    bytes.split(|byte| *byte == b'\n').rev().find_map(|line| line.strip_prefix(mark.as_bytes()))
}

/// Returns the start of a JSON object at the end of the text, on its own line. A shell's profile or a tool may print before the
/// hook does. If the answer were read as plain text, a deny would be lost.
fn noise_before_answer(text: &str) -> Option<usize> {
    // Each attempt parses to the end, so their number is limited. The answer is the last object.
    const TRIES: usize = 64;
    if !text.ends_with('}') {
        return None;
    }
    let starts = text.rmatch_indices('\n').filter_map(|(line_break, _)| {
        let line = &text[line_break + 1..];
        let object = line.trim_start_matches([' ', '\t']);
        object.starts_with('{').then(|| text.len() - object.len())
    });
    starts.take(TRIES).find(|&at| RawJson::parse(&text[at..]).is_ok())
}

/// `true` if the text contains a key of answers.
fn looks_like_an_answer(text: &str) -> bool {
    const KEYS: [&str; 4] = ["\"decision\"", "\"permissionDecision\"", "\"continue\"", "\"hookSpecificOutput\""];
    KEYS.iter().any(|key| text.contains(key))
}

fn cut(captured: &Captured) -> Failure {
    let message = format!("printed {} bytes, but only {} are read", captured.total, captured.bytes.len());
    Failure::new(FailureKind::OutputCap, message)
}
