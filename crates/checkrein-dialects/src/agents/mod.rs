//! Dialect tables: one module per agent.
//!
//! A module contains the [`Dialect`] value of its agent and the facts that only this agent has. The code that uses the tables
//! is outside this folder. A module must not contain logic that a second agent needs: that is a missing column.

pub mod amazon_q;
pub mod amp;
pub mod antigravity;
pub mod augment;
pub mod claude;
pub mod claw;
pub mod cline;
pub mod codex;
pub mod copilot;
pub mod copilot_pascal;
pub mod crush;
pub mod cursor;
pub mod devin;
pub mod docker_agent;
mod evidence;
pub mod evva;
pub mod factory;
pub mod gemini;
pub mod goose;
pub mod grok;
pub mod kiro;
pub mod letta;
pub mod native;
pub mod opencode;
pub mod qwen;
pub mod ub;
pub mod vscode;
pub mod windsurf;

use crate::Dialect;

/// All dialects. The five that checkrein was built for come first.
pub static ALL: &[&Dialect] = &[
    &native::DIALECT,
    &claw::DIALECT,
    &docker_agent::DIALECT,
    &docker_agent::G2,
    &evva::DIALECT,
    &claude::DIALECT,
    &claude::SENDER,
    &ub::DIALECT,
    &codex::DIALECT,
    &gemini::DIALECT,
    &grok::DIALECT,
    &antigravity::DIALECT,
    &copilot::DIALECT,
    &copilot_pascal::DIALECT,
    &vscode::DIALECT,
    &cursor::DIALECT,
    &windsurf::DIALECT,
    &qwen::DIALECT,
    &cline::DIALECT,
    &cline::EXTENSION,
    &kiro::DIALECT,
    &amazon_q::DIALECT,
    &goose::DIALECT,
    &crush::DIALECT,
    &opencode::DIALECT,
    &devin::DIALECT,
    &letta::DIALECT,
    &factory::DIALECT,
    &amp::DIALECT,
    &augment::DIALECT,
];

/// The dialect with this name.
pub fn find(name: &str) -> Option<&'static Dialect> {
    ALL.iter().copied().find(|dialect| dialect.name == name)
}
