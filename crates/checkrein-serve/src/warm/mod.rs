//! Warm interpreters: Python and Node processes that wait before the script of a hook starts.
//!
//! The resident process has the [`Pool`]. `checkrein hook` asks it through a [`WarmClient`], takes over the streams and supervises
//! the run itself, by the same rules as a cold run. A gate blocks each interpreter until its control message arrives; then the
//! interpreter loads the script as always. One interpreter runs one event.
//!
//! Nothing here may run a part of a script before its event, or run a command for another user.

mod client;
mod gates;
mod interpreter;
mod limits;
mod message;
mod pool;
mod process_context;

pub use client::WarmClient;
pub use gates::GateError;
pub use message::WarmRequest;
pub use pool::{Pool, PoolLimits};
