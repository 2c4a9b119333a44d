//! Tests for hooks: cases in files, which run with the real engine in scratch directories, and probes for hooks without cases.
//! `checkrein test` uses it.
//!
//! A case names an event, its environment and the expected results. Results that it does not mention are not checked. A test
//! must never change the project: hooks run on copies of its files.
//!
//! ```
//! use checkrein_tools::hook_tests::{self, TestRunner};
//! use checkrein::Trust;
//! use checkrein::dialects::agents::native;
//! # let project = tempfile::tempdir()?;
//! # std::fs::create_dir_all(project.path().join(".git"))?;
//! # std::fs::create_dir_all(project.path().join(".checkrein/tests"))?;
//! std::fs::write(
//!     project.path().join(".checkrein/hooks.yaml"),
//!     "hooks: [{id: guard, event: PreToolUse, command: 'grep -q rm && echo no >&2 && exit 2; exit 0'}]",
//! )?;
//! std::fs::write(
//!     project.path().join(".checkrein/tests/guard.yaml"),
//!     "cases: [{name: refuses rm, event: PreToolUse, input: {command: rm x}, expect: {decision: deny, reason: ^no$}}]",
//! )?;
//! let runner = TestRunner::new(&native::DIALECT, project.path()).trust(Trust::everything());
//! let files = hook_tests::find(&[], project.path(), &runner.config_files())?;
//! let read = hook_tests::read_files(&files, &native::DIALECT);
//! assert!(read.diagnostics.is_empty());
//!
//! let runtime = tokio::runtime::Runtime::new()?;
//! let report = runtime.block_on(runner.run(&read.cases[0]));
//! # #[cfg(unix)]
//! assert!(report.is_passed(), "{report:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assert;
mod case;
mod diff;
mod find;
mod keys;
mod pattern;
mod probes;
mod proof;
mod read;
mod referenced_files;
mod report;
mod run;
mod scratch;
mod text;

pub use case::{Case, Check, Expected, NewFile};
pub use find::{NoTestsFound, find, is_hook_file, places};
pub(crate) use keys::schema;
pub use pattern::TextPattern;
pub use probes::{Finding, HookProbes, PROBES, ProbeReport, probe, probe_all};
pub use read::{ReadCases, read_files, read_text};
pub use report::{CaseOutcome, CaseReport, Mismatch, TestReport};
pub use run::{SetupError, TestRunner};
pub use scratch::PLACEHOLDER;
