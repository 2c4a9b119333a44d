//! Internals that `checkrein-tools` uses. Not part of the API: any release may change them.

pub use crate::builtins::protect_self::Attempt;
pub use crate::builtins::secrets::{cut_at_secret, has_secret, redacted_json, redacted_text};
pub use crate::builtins::shell;
pub use crate::engine::StopLimit;
pub use crate::handler::{CommandFactory, DEPTH, is_usual, variables_of};
#[cfg(feature = "audit")]
pub use crate::hash::sha256_hex;
pub use crate::hook_files::repository;
pub use crate::trust::interpreters::{is_interpreter, script_operand};
pub use crate::trust::{is_private, script_copy};

/// Appends the record of an event to an audit log. Returns the verdict to use: if the entry cannot be written and the policy of
/// the log requires it, a blocking one.
#[cfg(feature = "audit")]
pub fn append_record(
    log: &crate::audit::AuditLog,
    event: &checkrein_core::Event,
    rules: &checkrein_core::Rules,
    verdict: checkrein_core::Verdict,
    record: &mut checkrein_core::Record,
) -> checkrein_core::Verdict {
    log.append_record(event, rules, verdict, record)
}

/// Returns the name of the branch of a directory, read from `.git`. `None`: there is none, or it cannot be read.
pub fn branch_name(directory: &std::path::Path) -> Option<String> {
    crate::facts::branch_name(directory)
}

/// Returns the name of the user in the account database, or else the user id.
pub fn user_name() -> String {
    crate::hook_files::user_name()
}

/// Files that several processes append lines to.
pub mod line_file {
    pub use crate::append_file::*;
}

/// New files that only the user can read.
pub mod private_file {
    pub use crate::private_file::*;
}

/// Paths with all symbolic links resolved.
pub mod real_path {
    pub use crate::real_path::leads_out_of;
}

/// The reader of files that a project or a user controls.
pub mod regular_file {
    pub use crate::regular_file::*;
}

/// The user's state directory.
pub mod state {
    pub use crate::state_dir::*;
}

pub use crate::policy::record_event;

/// Signatures of the Standard Webhooks specification, for messages that arrive.
#[cfg(feature = "http")]
pub mod webhooks {
    pub use crate::handler::http::header_vars::fill;
    pub use crate::handler::http::sign::{Signed, signature, verify};
}
