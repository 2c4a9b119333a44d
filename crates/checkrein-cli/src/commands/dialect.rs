//! Names of dialects on the command line.

use std::str::FromStr;

use anyhow::{Context, Result};
use checkrein::dialects::{self, Dialect};

use crate::exit::Exit;

/// A dialect, by its name.
#[derive(Debug, Clone, Copy)]
pub struct DialectName(pub &'static Dialect);

impl FromStr for DialectName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        dialects::find(name).map(Self).ok_or_else(|| {
            let names = || dialects::ALL.iter().map(|dialect| dialect.name);
            match checkrein::core::closest_match(name, names()) {
                Some(meant) => format!("there is no dialect `{name}`, did you mean `{meant}`?"),
                None => format!("there is no dialect `{name}`; there are {}", names().collect::<Vec<_>>().join(", ")),
            }
        })
    }
}

/// An exit code that a dialect asks for.
pub fn exit_code(code: i32) -> Result<Exit> {
    u8::try_from(code).map(Exit::code).with_context(|| format!("the dialect asks for exit code {code}"))
}
