//! Agent loop of the simulator, with a script in place of the model, the tools and the user.

use checkrein_core::payload::{Compaction, ModelCall, Stop, Turn, UserTurn};
use checkrein_core::{Action as Next, Envelope, Event, EventKind, Payload, RawJson, Record, Target, Verdict};
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::native;

use super::script::{Action, Answer, Script, Step};
use checkrein::engine::Engine;

/// Largest number of denied stops in a row, if the engine has no limit.
const MAX_DENIED_STOPS: u32 = 16;

/// Runs scripts against the hooks of an engine.
#[derive(Debug, Clone)]
pub struct Simulator {
    pub(super) engine: Engine,
    host: &'static Dialect,
    envelope: Envelope,
}

impl Simulator {
    /// Simulator for the hooks of this engine, as an agent that has all of checkrein's events.
    pub fn new(engine: Engine) -> Self {
        Self { engine, host: &native::DIALECT, envelope: Envelope::new().session_id("simulated-session") }
    }

    /// Simulates the agent of this dialect: events that it does not have are not fired.
    #[must_use]
    pub fn host(mut self, dialect: &'static Dialect) -> Self {
        self.host = dialect;
        self
    }

    /// Working directory of events. The script can override it.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<String>) -> Self {
        self.envelope.cwd = Some(cwd.into());
        self
    }

    /// Runs a script. Calls `observer` for each [`SimEvent`] as it happens; an error of the observer ends the session at once.
    /// Dropping the future kills the processes of hooks.
    ///
    /// Background hooks may still run afterwards: [`Engine::shutdown`] waits for them.
    ///
    /// # Errors
    /// The errors of the observer.
    pub async fn play<E>(&self, script: &Script, observer: impl FnMut(SimEvent<'_>) -> Result<(), E>) -> Result<(), E> {
        let envelope = merged(&script.envelope, &self.envelope);
        let mut session = Session { simulator: self, observer, envelope, fired: 0, calls: 0, iteration: 0 };
        session.play(&script.steps).await
    }
}

/// Progress of a simulated session.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SimEvent<'a> {
    /// An event is about to be fired.
    Fires(&'a Event),
    /// An event has a verdict.
    Fired(Fired<'a>),
    /// A tool would run with this input.
    ToolRuns {
        /// Tool name.
        tool: &'a str,
        /// Final input.
        input: &'a RawJson,
    },
    /// A tool does not run: a hook or the user denied it.
    ToolRefused {
        /// Tool name.
        tool: &'a str,
    },
    /// The user answers a permission request.
    UserAnswers {
        /// Tool name.
        tool: &'a str,
        /// Answer of the user.
        answer: Answer,
    },
    /// A stop was denied, and the agent continues.
    GoesOn {
        /// Number of denied stops in a row.
        times: u32,
    },
    /// The agent stops although a hook denied it, because the limit is reached.
    StopsAnyway {
        /// Number of denied stops in a row.
        times: u32,
    },
    /// The turn ends early: a prompt was denied, or a hook ended the loop.
    TurnOver {
        /// Number of skipped steps: all up to the next prompt or the end of the session.
        skipped: usize,
    },
    /// The session ends early.
    SessionOver {
        /// Number of skipped steps: all up to the end of the session.
        skipped: usize,
    },
}

/// An event with its verdict.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Fired<'a> {
    /// Number of the event in the session, from 1.
    pub number: usize,
    /// Event.
    pub event: &'a Event,
    /// Verdict.
    pub verdict: &'a Verdict,
    /// Record of all hooks.
    pub record: &'a Record,
}

/// Control flow after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Next,
    TurnOver,
    SessionOver,
}

pub(super) struct Session<'a, A> {
    pub(super) simulator: &'a Simulator,
    pub(super) observer: A,
    envelope: Envelope,
    fired: usize,
    /// Number of tool calls so far.
    pub(super) calls: usize,
    /// Number of model calls in this turn so far.
    iteration: u64,
}

impl<E, A: FnMut(SimEvent<'_>) -> Result<(), E>> Session<'_, A> {
    async fn play(&mut self, steps: &[Step]) -> Result<(), E> {
        let mut rest = steps;
        while let [step, after @ ..] = rest {
            let flow = self.step(step).await?;
            let over = |step: &&Step| match flow {
                Control::Next => false,
                Control::TurnOver => !matches!(step.action, Action::Start(_) | Action::Prompt(_) | Action::End(_)),
                Control::SessionOver => !matches!(step.action, Action::End(_)),
            };
            let skipped = after.iter().take_while(over).count();
            match flow {
                Control::Next => {}
                Control::TurnOver => (self.observer)(SimEvent::TurnOver { skipped })?,
                Control::SessionOver => (self.observer)(SimEvent::SessionOver { skipped })?,
            }
            rest = after.get(skipped..).unwrap_or_default();
        }
        Ok(())
    }

    async fn step(&mut self, step: &Step) -> Result<Control, E> {
        match &step.action {
            Action::Start(event) => {
                let verdict = self.fire(event.clone()).await?;
                Ok(if ends_loop(&verdict) { Control::SessionOver } else { Control::Next })
            }
            Action::Prompt(event) => self.prompt(event).await,
            Action::Tool(tool) => {
                let flow = self.model_call().await?;
                let flow = if flow == Control::Next { self.tool(tool).await? } else { flow };
                let turn = Turn::new().iteration(self.iteration);
                self.fire_if_hooked(&EventKind::TurnEnd, || Event::turn_end(turn)).await?;
                if flow == Control::TurnOver {
                    self.turn_is_over().await?;
                }
                Ok(flow)
            }
            Action::Compact(event) => self.compact(event).await,
            Action::Stop(event) => self.stop(event).await,
            Action::End(event) | Action::Fire(event) => self.fire(event.clone()).await.map(|_| Control::Next),
        }
    }

    /// Fires an event, if the host has it.
    pub(super) async fn fire(&mut self, mut event: Event) -> Result<Verdict, E> {
        if !self.has_event(&event.kind()) {
            return Ok(Verdict::default());
        }
        event.envelope = merged(&event.envelope, &self.envelope);
        (self.observer)(SimEvent::Fires(&event))?;
        let (verdict, record) = self.simulator.engine.fire_recorded(event.clone()).await;
        self.fired += 1;
        let fired = Fired { number: self.fired, event: &event, verdict: &verdict, record: &record };
        (self.observer)(SimEvent::Fired(fired))?;
        Ok(verdict)
    }

    /// Fires a rarely used event, but only if a hook is registered for it.
    pub(super) async fn fire_if_hooked(
        &mut self,
        kind: &EventKind,
        event: impl FnOnce() -> Event,
    ) -> Result<Verdict, E> {
        if self.simulator.engine.has(kind) { self.fire(event()).await } else { Ok(Verdict::default()) }
    }

    /// Returns `true` if the host has events of this kind.
    pub(super) fn has_event(&self, kind: &EventKind) -> bool {
        self.simulator.host.has_all_events || self.simulator.host.row(kind).is_some()
    }

    async fn prompt(&mut self, event: &Event) -> Result<Control, E> {
        self.iteration = 0;
        let turn = UserTurn::new().prompt(event.prompt().unwrap_or_default());
        self.fire_if_hooked(&EventKind::UserTurnStart, || Event::user_turn_start(turn)).await?;
        let verdict = self.fire(event.clone()).await?;
        if !is_refused(&verdict) {
            return Ok(Control::Next);
        }
        self.turn_is_over().await?;
        Ok(Control::TurnOver)
    }

    async fn turn_is_over(&mut self) -> Result<(), E> {
        self.fire_if_hooked(&EventKind::UserTurnEnd, || Event::user_turn_end(UserTurn::new())).await.map(|_| ())
    }

    /// Fires the events of a model call.
    async fn model_call(&mut self) -> Result<Control, E> {
        self.iteration += 1;
        let turn = Turn::new().iteration(self.iteration);
        let started = self.fire_if_hooked(&EventKind::TurnStart, || Event::turn_start(turn)).await?;
        let call = || ModelCall::new().model("simulated");
        let requested = self.fire_if_hooked(&EventKind::BeforeModel, || Event::before_model(call())).await?;
        if is_refused(&requested) || ends_loop(&started) {
            return Ok(Control::TurnOver);
        }
        let answered = self.fire_if_hooked(&EventKind::AfterModel, || Event::after_model(call())).await?;
        Ok(if ends_loop(&answered) { Control::TurnOver } else { Control::Next })
    }

    async fn compact(&mut self, event: &Event) -> Result<Control, E> {
        let verdict = self.fire(event.clone()).await?;
        if is_refused(&verdict) {
            return Ok(if ends_loop(&verdict) { Control::TurnOver } else { Control::Next });
        }
        let mut compaction = match &event.payload {
            Payload::PreCompact(compaction) => compaction.clone(),
            _ => Compaction::new(),
        };
        let before = compaction.clone();
        let written = self.fire_if_hooked(&EventKind::BeforeCompaction, || Event::before_compaction(before)).await?;
        if is_refused(&written) {
            return Ok(Control::Next);
        }
        compaction.summary = written.summary().map(std::borrow::Cow::into_owned).or(compaction.summary);
        let verdict = self.fire(Event::post_compact(compaction)).await?;
        Ok(if ends_loop(&verdict) { Control::TurnOver } else { Control::Next })
    }

    /// Repeats a denied stop until it is allowed, or until the engine's stop limit or [`MAX_DENIED_STOPS`] is reached.
    async fn stop(&mut self, event: &Event) -> Result<Control, E> {
        let scripted = match &event.payload {
            Payload::Stop(stop) => stop.clone(),
            _ => Stop::new(),
        };
        let mut refused = 0;
        loop {
            if self.model_call().await? != Control::Next {
                break;
            }
            let stop = scripted.clone().stop_hook_active(refused > 0).loop_count(u64::from(refused));
            let verdict = self.fire(Event::stop(stop).within(event.envelope.clone())).await?;
            let turn = Turn::new().iteration(self.iteration);
            self.fire_if_hooked(&EventKind::TurnEnd, || Event::turn_end(turn)).await?;
            if !matches!(verdict.action(), Next::Continue { .. }) {
                break;
            }
            refused += 1;
            if refused == MAX_DENIED_STOPS {
                (self.observer)(SimEvent::StopsAnyway { times: refused })?;
                break;
            }
            (self.observer)(SimEvent::GoesOn { times: refused })?;
        }
        self.turn_is_over().await?;
        Ok(Control::Next)
    }
}

/// Returns `true` if the verdict blocks the action.
fn is_refused(verdict: &Verdict) -> bool {
    matches!(verdict.action(), Next::Refuse { .. } | Next::EndLoop { .. })
}

/// Returns `true` if the verdict ends the agent loop.
fn ends_loop(verdict: &Verdict) -> bool {
    matches!(verdict.action(), Next::EndLoop { .. })
}

/// The rewritten value, or the original if the verdict has no rewrite of the target.
pub(super) fn effective(verdict: &Verdict, target: Target, original: RawJson) -> RawJson {
    verdict.rewritten(target).map_or(original, |rewritten| rewritten.effective.clone())
}

/// Merges two envelopes. Fields of `upper` take precedence.
fn merged(upper: &Envelope, lower: &Envelope) -> Envelope {
    let mut merged = lower.clone();
    macro_rules! prefer {
        ($($field:ident)+) => { $( if upper.$field.is_some() { merged.$field.clone_from(&upper.$field); } )+ };
    }
    prefer!(session_id cwd transcript_path permission_mode agent_id agent_type turn);
    merged.extra.extend(upper.extra.clone());
    merged
}
