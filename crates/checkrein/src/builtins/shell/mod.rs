//! Shell commands, read well enough to judge them.
//!
//! [`parse`] reads the grammar that POSIX shells and bash share into commands and words. [`steps`] walks through them as
//! a shell would and says what would be run: it follows variables that the text itself sets, `cd`, programs that start
//! others (`sudo`, `env`, `xargs`, `find -exec`), and texts that are run as scripts (`sh -c`, `eval`, here-documents,
//! `echo … | sh`). What only a running shell can know stays unknown: variables from outside, what programs print, aliases,
//! and what scripts and other languages do.

mod parse;
mod readers;
mod steps;
mod word;
mod wrappers;

pub(crate) use readers::{is_reader, pieces};
pub use steps::{Step, World, lexical, steps, steps_of_argv, steps_with};
pub use word::Value;
pub(crate) use wrappers::starts_others;

/// Why a text could not be read as a shell would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(pub(crate) &'static str);
