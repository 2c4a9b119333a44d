//! Plays scripts: an agent's loop, with a script in place of the model, the tools and the user.

use checkrein_core::payload::{Compaction, ModelCall, Stop, Turn, UserTurn};
use checkrein_core::{Action as Next, Envelope, Event, EventKind, Payload, RawJson, Record, Target, Verdict};
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::native;

use super::script::{Action, Answer, Script, Step};
use checkrein::engine::Engine;

/// How often a stop may be refused if the host's own rules set no limit.
const STOPS: u32 = 16;

/// Plays scripts against the hooks of an engine.
#[derive(Debug, Clone)]
pub struct Simulator {
    pub(super) engine: Engine,
    host: &'static Dialect,
    envelope: Envelope,
}

impl Simulator {
    /// Against the hooks of this engine, as an agent that has all of checkrein's events.
    pub fn new(engine: Engine) -> Self {
        Self { engine, host: &native::DIALECT, envelope: Envelope::new().session_id("simulated-session") }
    }

    /// As the agent of this dialect: events that it does not have are not fired.
    #[must_use]
    pub fn host(mut self, dialect: &'static Dialect) -> Self {
        self.host = dialect;
        self
    }

    /// In this directory, unless the script names another.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<String>) -> Self {
        self.envelope.cwd = Some(cwd.into());
        self
    }

    /// Plays a script from its start to its end. The audience is told of all that happens, as it happens; an error of its
    /// own ends the session at once. Dropping the future ends everything that it has started.
    ///
    /// Hooks in the background may still run afterwards: [`Engine::shutdown`] waits for them.
    ///
    /// # Errors
    /// Those of the audience.
    pub async fn play<E>(&self, script: &Script, audience: impl FnMut(SimEvent<'_>) -> Result<(), E>) -> Result<(), E> {
        let envelope = filled(&script.envelope, &self.envelope);
        let mut session = Session { player: self, audience, envelope, fired: 0, calls: 0, iteration: 0 };
        session.play(&script.steps).await
    }
}

/// Something that happens in a session.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SimEvent<'a> {
    /// An event is about to be fired.
    Fires(&'a Event),
    /// It has been settled.
    Fired(Fired<'a>),
    /// A tool runs, with this input.
    ToolRuns {
        /// The tool.
        tool: &'a str,
        /// What it is called with.
        input: &'a RawJson,
    },
    /// A tool does not run: a hook or the user said no.
    ToolRefused {
        /// The tool.
        tool: &'a str,
    },
    /// The user was asked whether a tool may run.
    UserAnswers {
        /// The tool.
        tool: &'a str,
        /// What the user said.
        answer: Answer,
    },
    /// The agent wanted to stop and goes on.
    GoesOn {
        /// How often in a row.
        times: u32,
    },
    /// The agent stops although hooks would have it go on for ever.
    StopsAnyway {
        /// How often they refused.
        times: u32,
    },
    /// The turn is over before its time: a prompt was refused, or a hook ended the loop.
    TurnOver {
        /// How many steps of the script are left out: all up to the next prompt or the end of the session.
        skipped: usize,
    },
    /// The session is over before its time.
    SessionOver {
        /// How many steps of the script are left out: all up to the end of the session.
        skipped: usize,
    },
}

/// An event that has been settled.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Fired<'a> {
    /// Which event of the session, from 1.
    pub number: usize,
    /// The event.
    pub event: &'a Event,
    /// What it came to.
    pub verdict: &'a Verdict,
    /// All that happened.
    pub record: &'a Record,
}

/// How it goes on after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Control {
    Next,
    TurnOver,
    SessionOver,
}

pub(super) struct Session<'a, A> {
    pub(super) player: &'a Simulator,
    pub(super) audience: A,
    envelope: Envelope,
    fired: usize,
    /// Tool calls so far.
    pub(super) calls: usize,
    /// Model calls of this turn so far.
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
                Control::TurnOver => (self.audience)(SimEvent::TurnOver { skipped })?,
                Control::SessionOver => (self.audience)(SimEvent::SessionOver { skipped })?,
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
                self.aside(&EventKind::TurnEnd, || Event::turn_end(turn)).await?;
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
        if !self.knows(&event.kind()) {
            return Ok(Verdict::default());
        }
        event.envelope = filled(&event.envelope, &self.envelope);
        (self.audience)(SimEvent::Fires(&event))?;
        let (verdict, record) = self.player.engine.fire_recorded(event.clone()).await;
        self.fired += 1;
        let fired = Fired { number: self.fired, event: &event, verdict: &verdict, record: &record };
        (self.audience)(SimEvent::Fired(fired))?;
        Ok(verdict)
    }

    /// Fires an event that few agents have and few hooks are for: only if one is.
    pub(super) async fn aside(&mut self, kind: &EventKind, event: impl FnOnce() -> Event) -> Result<Verdict, E> {
        if self.player.engine.has(kind) { self.fire(event()).await } else { Ok(Verdict::default()) }
    }

    /// Whether the host has events of this kind.
    pub(super) fn knows(&self, kind: &EventKind) -> bool {
        self.player.host.has_all_events || self.player.host.row(kind).is_some()
    }

    async fn prompt(&mut self, event: &Event) -> Result<Control, E> {
        self.iteration = 0;
        let turn = UserTurn::new().prompt(event.prompt().unwrap_or_default());
        self.aside(&EventKind::UserTurnStart, || Event::user_turn_start(turn)).await?;
        let verdict = self.fire(event.clone()).await?;
        if !is_refused(&verdict) {
            return Ok(Control::Next);
        }
        self.turn_is_over().await?;
        Ok(Control::TurnOver)
    }

    async fn turn_is_over(&mut self) -> Result<(), E> {
        self.aside(&EventKind::UserTurnEnd, || Event::user_turn_end(UserTurn::new())).await.map(|_| ())
    }

    /// The model is asked what to do next.
    async fn model_call(&mut self) -> Result<Control, E> {
        self.iteration += 1;
        let turn = Turn::new().iteration(self.iteration);
        let started = self.aside(&EventKind::TurnStart, || Event::turn_start(turn)).await?;
        let call = || ModelCall::new().model("simulated");
        let asked = self.aside(&EventKind::BeforeModel, || Event::before_model(call())).await?;
        if is_refused(&asked) || ends_loop(&started) {
            return Ok(Control::TurnOver);
        }
        let answered = self.aside(&EventKind::AfterModel, || Event::after_model(call())).await?;
        Ok(if ends_loop(&answered) { Control::TurnOver } else { Control::Next })
    }

    async fn compact(&mut self, event: &Event) -> Result<Control, E> {
        let verdict = self.fire(event.clone()).await?;
        if is_refused(&verdict) {
            return Ok(if ends_loop(&verdict) { Control::TurnOver } else { Control::Next });
        }
        let mut about = match &event.payload {
            Payload::PreCompact(about) => about.clone(),
            _ => Compaction::new(),
        };
        let before = about.clone();
        let written = self.aside(&EventKind::BeforeCompaction, || Event::before_compaction(before)).await?;
        if is_refused(&written) {
            return Ok(Control::Next);
        }
        about.summary = written.summary().map(std::borrow::Cow::into_owned).or(about.summary);
        let verdict = self.fire(Event::post_compact(about)).await?;
        Ok(if ends_loop(&verdict) { Control::TurnOver } else { Control::Next })
    }

    /// A stop that is refused comes again, until it is let through or stands by the engine's rules.
    async fn stop(&mut self, event: &Event) -> Result<Control, E> {
        let said = match &event.payload {
            Payload::Stop(stop) => stop.clone(),
            _ => Stop::new(),
        };
        let mut refused = 0;
        loop {
            if self.model_call().await? != Control::Next {
                break;
            }
            let stop = said.clone().stop_hook_active(refused > 0).loop_count(u64::from(refused));
            let verdict = self.fire(Event::stop(stop).within(event.envelope.clone())).await?;
            let turn = Turn::new().iteration(self.iteration);
            self.aside(&EventKind::TurnEnd, || Event::turn_end(turn)).await?;
            if !matches!(verdict.action(), Next::Continue { .. }) {
                break;
            }
            refused += 1;
            if refused == STOPS {
                (self.audience)(SimEvent::StopsAnyway { times: refused })?;
                break;
            }
            (self.audience)(SimEvent::GoesOn { times: refused })?;
        }
        self.turn_is_over().await?;
        Ok(Control::Next)
    }
}

/// Returns whether what was about to happen does not happen.
fn is_refused(verdict: &Verdict) -> bool {
    matches!(verdict.action(), Next::Refuse { .. } | Next::EndLoop { .. })
}

/// Returns whether the agent loop ends.
fn ends_loop(verdict: &Verdict) -> bool {
    matches!(verdict.action(), Next::EndLoop { .. })
}

/// What a verdict has made of something.
pub(super) fn effective(verdict: &Verdict, target: Target, original: RawJson) -> RawJson {
    verdict.rewritten(target).map_or(original, |rewritten| rewritten.effective.clone())
}

/// What one envelope says, and where it says nothing what the other says.
fn filled(upper: &Envelope, lower: &Envelope) -> Envelope {
    let mut filled = lower.clone();
    macro_rules! prefer {
        ($($field:ident)+) => { $( if upper.$field.is_some() { filled.$field.clone_from(&upper.$field); } )+ };
    }
    prefer!(session_id cwd transcript_path permission_mode agent_id agent_type turn);
    filled.extra.extend(upper.extra.clone());
    filled
}
