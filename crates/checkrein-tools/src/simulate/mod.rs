//! A whole agent session, played from a script against the hooks of an [`Engine`](checkrein::Engine).
//!
//! The script says what the user, the model and the tools do; the hooks are real, and the player does with their verdicts
//! what an agent does: a tool that is denied does not run, one whose input was rewritten runs with that, a question goes to
//! the user, a prompt that is refused ends the turn, and a stop that is refused comes again.
//!
//! ```
//! use checkrein_tools::session::{Moment, Player, Script, Summary};
//! use checkrein::handler::Builtin;
//! use checkrein::{Engine, EventKind, HookSpec, Opinion, Registry};
//!
//! let script = Script::parse(
//!     "session.yaml",
//!     "steps:
//!        - prompt: Tidy up
//!        - tool: Bash
//!          input: { command: rm -rf target }
//!        - stop: Done.",
//! )?;
//! # let mut registry = Registry::new();
//! # registry.register_builtin("no", Builtin::immediate(|_| Ok(Opinion::deny("move it instead"))))?;
//! # let builder = Engine::builder().registry(registry);
//! let engine = builder.hook(HookSpec::builtin("no-deleting", EventKind::PreToolUse, "no")).build();
//!
//! let mut summary = Summary::default();
//! let mut ran = false;
//! let player = Player::new(engine);
//! let play = player.play(&script, |moment| {
//!     match moment {
//!         Moment::Fired(fired) => summary.add(fired.record),
//!         Moment::ToolRuns { .. } => ran = true,
//!         _ => {}
//!     }
//!     Ok::<_, std::convert::Infallible>(())
//! });
//! tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(play)?;
//! assert!(!ran);
//! assert_eq!((summary.events, summary.blocked), (3, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod play;
mod read;
mod script;
mod summary;
mod tool;

pub use play::{Fired, SimEvent, Simulator};
pub use read::ScriptError;
pub use script::{Action, Answer, Script, ScriptedOutcome, Step, ToolStep};
pub(crate) use script::{KeyType, LEADS, TOOL_KEYS};
pub use summary::{HookTime, Summary};
