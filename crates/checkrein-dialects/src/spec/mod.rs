//! Hooks as they are configured: a [`HookSpec`] and the types that it is made of.
//!
//! Readers of hook files, the engine and hosts use these types. They hold settings only; nothing here runs a hook.

mod callback;
mod command;
mod expand;
mod handler;
mod hook;
mod http;
mod permission_rule;
mod rule;
mod sandbox;
mod verified_scripts;

pub use callback::{Callback, CallbackFuture};
pub use command::{CommandError, CommandLine, CommandSpec, Warm};
pub(crate) use expand::{escaped, has_variables, plain, shell_text};
pub use handler::{BuiltinSpec, HandlerKind, HandlerSpec};
pub use hook::{HookSpec, InputPattern};
pub use http::HttpSpec;
pub use permission_rule::{BadRule, PermissionRule};
pub use rule::{RuleDecision, RuleSpec, RuleTest};
pub use sandbox::{FileAccess, SandboxSpec};
pub use verified_scripts::{VerifiedScript, VerifiedScripts, VerifiedWord};
