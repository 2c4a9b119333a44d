//! Adds the user's account, home directory and host name to the model's context.
//!
//! - **Arguments**: none.
//! - **Events**: all that accept context; `session_start` is sufficient.
//!
//! Example: `add_user_info` adds
//!
//! ```text
//! User: ann
//! Home directory: /home/ann
//! Host: lovelace
//! ```

use checkrein_core::Opinion;

use super::{AT_CONTEXT, args};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

pub(super) fn builtin() -> Builtin {
    Builtin::immediate(|call| Ok(describe(&call))).checked(args::none).works_at(super::accepts_context).described(
        BuiltinDoc::new("Adds the user's account, home directory and host name to the model's context.")
            .args("none")
            .events(AT_CONTEXT),
    )
}

fn describe(call: &BuiltinCall<'_>) -> Opinion {
    let first = |names: &[&str]| names.iter().find_map(|name| call.env.var(name));
    let lines = [
        ("User", first(&["USER", "LOGNAME", "USERNAME"])),
        ("Home directory", first(&["HOME", "USERPROFILE"])),
        ("Host", host_name().or_else(|| first(&["HOSTNAME", "COMPUTERNAME"]))),
    ];
    let known: Vec<_> = lines.into_iter().filter_map(|(label, value)| Some(format!("{label}: {}", value?))).collect();
    if known.is_empty() { Opinion::none() } else { Opinion::context(known.join("\n")) }
}

#[cfg(unix)]
fn host_name() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    (!name.is_empty()).then_some(name)
}

#[cfg(not(unix))]
fn host_name() -> Option<String> {
    None
}
