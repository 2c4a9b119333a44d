//! Simulator of agent sessions: runs a script against the hooks of an [`Engine`](checkrein::Engine). `checkrein simulate` uses
//! it.
//!
//! The script defines the actions of the user, the model and the tools. The hooks are real. The simulator applies their
//! verdicts like an agent: a denied tool does not run, a rewritten input replaces the original, an `ask` goes to the user, a
//! denied prompt ends the turn, and a denied stop is repeated. It must never run a tool.
//!
//! ```
//! use checkrein_tools::simulate::{SimEvent, Simulator, Script, Summary};
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
//! let simulator = Simulator::new(engine);
//! let play = simulator.play(&script, |event| {
//!     match event {
//!         SimEvent::Fired(fired) => summary.add(fired.record),
//!         SimEvent::ToolRuns { .. } => ran = true,
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
