//! Tells the model who its user is, as the host knows it: the account, the home directory, the machine.
//!
//! - **Arguments**: none.
//! - **Events**: those that take context; `session_start` is enough.
//!
//! Example: `add_user_info` says
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
    Builtin::immediate(|call| Ok(said(&call))).checked(args::none).described(
        BuiltinDoc::new("Tells the model the user's account, home directory and machine.")
            .args("none")
            .events(AT_CONTEXT),
    )
}

fn said(call: &BuiltinCall<'_>) -> Opinion {
    let first = |names: &[&str]| names.iter().find_map(|name| call.env.var(name));
    let lines = [
        ("User", first(&["USER", "LOGNAME", "USERNAME"])),
        ("Home directory", first(&["HOME", "USERPROFILE"])),
        ("Host", host_name().or_else(|| first(&["HOSTNAME", "COMPUTERNAME"]))),
    ];
    let known: Vec<_> = lines.into_iter().filter_map(|(what, value)| Some(format!("{what}: {}", value?))).collect();
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
