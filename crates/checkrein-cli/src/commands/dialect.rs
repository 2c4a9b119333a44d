//! Names of agents on the command line, which select a dialect.

use std::str::FromStr;

use anyhow::{Context, Result};
use checkrein::dialects::{self, Dialect};

use crate::exit::Exit;

/// A dialect that an argument names.
#[derive(Debug, Clone, Copy)]
pub struct DialectName(pub &'static Dialect);

impl FromStr for DialectName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        dialects::find(name).map(Self).ok_or_else(|| {
            let names = || dialects::ALL.iter().map(|dialect| dialect.name);
            match checkrein::core::closest_match(name, names()) {
                Some(meant) => format!("unknown agent `{name}`; did you mean `{meant}`?"),
                None => format!("unknown agent `{name}`; known agents: {}", names().collect::<Vec<_>>().join(", ")),
            }
        })
    }
}

/// The exit code that a dialect defines for an answer.
pub fn exit_code(code: i32) -> Result<Exit> {
    u8::try_from(code).map(Exit::code).with_context(|| format!("the answer has the invalid exit code {code}"))
}
