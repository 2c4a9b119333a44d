//! [`Approver`]: resolves the questions of hooks in the host's own way.
//!
//! Without an approver, the verdict of such an event is ask, and the host asks its user. An approver answers before the verdict is
//! returned and recorded: with a dialog, a chat message or a policy of the host. It must never pass a deny or a failure: the engine
//! asks it only about verdicts whose decision is ask, and only if no failed hook is a cause.
//!
//! ```
//! use checkrein::approver::{Approver, ApproverFuture, Question, Resolution};
//! use checkrein::payload::ToolCall;
//! use checkrein::verdict::Decision;
//! use checkrein::{Engine, Event, EventKind, Opinion, RawJson};
//!
//! /// Approves everything but `rm`.
//! struct Careful;
//!
//! impl Approver for Careful {
//!     fn resolve<'a>(&'a self, question: &'a Question) -> ApproverFuture<'a> {
//!         Box::pin(async move {
//!             let input = question.input.as_ref().map(ToString::to_string).unwrap_or_default();
//!             Ok(if input.contains("rm ") { Resolution::Deny("not today".into()) } else { Resolution::Approve })
//!         })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::builder()
//!     .on(EventKind::PreToolUse, "asks", |_| Opinion::ask("sure?"))
//!     .approver(Careful)
//!     .build();
//! let call = |command: &str| Event::pre_tool_use(ToolCall::new("Bash", command.parse::<RawJson>().unwrap()));
//! assert_eq!(engine.fire(call(r#"{"command":"ls"}"#)).await.decision(), Decision::NoOpinion);
//! assert_eq!(engine.fire(call(r#"{"command":"rm -r x"}"#)).await.reason(), Some("not today"));
//! # Ok(())
//! # }
//! ```

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use checkrein_core::{Event, RawJson, Reason};

/// Time that an approver gets by default.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Future of [`Approver::resolve`].
pub type ApproverFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Resolution, Box<dyn std::error::Error + Send + Sync>>> + Send + 'a>>;

/// Resolves questions of hooks.
///
/// After an error, a panic or the deadline, the question stays a question: the verdict is ask, with a warning.
pub trait Approver: Send + Sync + 'static {
    /// Answers a question.
    fn resolve<'a>(&'a self, question: &'a Question) -> ApproverFuture<'a>;
}

/// A question of hooks about an event.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Question {
    /// The event, as the host fired it.
    pub event: Arc<Event>,
    /// Questions of the hooks, in config order.
    pub reasons: Vec<Reason>,
    /// Tool input that would be used, after the rewrites of hooks. `None`: the event has no tool.
    pub input: Option<RawJson>,
    /// Time after which the answer is ignored.
    pub deadline: Instant,
}

/// Answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resolution {
    /// The event passes the questions.
    Approve,
    /// The event passes with this tool input. All hooks judge it first. A denial wins, and the question stays if hooks have another
    /// one about the new input.
    ApproveWith(RawJson),
    /// The event is denied for this reason.
    Deny(String),
    /// The host asks its user.
    Leave,
}
