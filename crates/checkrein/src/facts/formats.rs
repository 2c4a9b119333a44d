//! Formats of facts that are texts, for literals that a rule compares with them.
//!
//! A literal that a fact never has is an error of the rule, and one that it rarely has is a warning.

use checkrein_core::{EventKind, closest_match};
use checkrein_dialects::agents::{claude, native};
use checkrein_dialects::{ALL, is_common_tool};
use checkrein_expression::{Fit, Format};

use crate::builtins::option_names;

/// Name of an event.
pub(super) static EVENT: Format = Format {
    fit: |text| {
        if EventKind::ALL.iter().any(|kind| kind.name() == text) {
            return Fit::Fits;
        }
        match native::DIALECT.kind_of(text) {
            Ok(kind) => Fit::Never(format!("its name is `{}`", kind.name())),
            Err(_) => unlikely(text, EventKind::ALL.iter().map(EventKind::name), "no event has this name"),
        }
    },
};

/// Name of an agent.
pub(super) static AGENT: Format = Format {
    fit: |text| match text.is_empty() || ALL.iter().any(|agent| agent.name == text) {
        true => Fit::Fits,
        false => unlikely(text, ALL.iter().map(|agent| agent.name), "no known agent has this name"),
    },
};

/// Name of a tool that all agents share.
pub(super) static COMMON_TOOL: Format = Format {
    fit: |text| match is_common_tool(text) || text.is_empty() {
        true => Fit::Fits,
        false => similar_tool(text),
    },
};

/// Name of a tool, shared or of one agent.
pub(super) static TOOL: Format = Format {
    fit: |text| {
        let mut tools = ALL.iter().flat_map(|agent| agent.tools);
        match text.is_empty() || tools.any(|tool| tool.name == text || tool.aliases.contains(&text)) {
            true => Fit::Fits,
            false => similar_tool(text),
        }
    },
};

/// Name of a program.
pub(super) static PROGRAM: Format = Format {
    fit: |text| {
        if text.contains('/') {
            let name = text.rsplit('/').next().unwrap_or_default();
            return Fit::Never(format!("it has no directory: write \"{name}\", or compare `path`"));
        }
        match text.split_once(' ') {
            Some((program, rest)) => {
                Fit::Unlikely(format!("it is one word: write \"{program}\", and test `subcommand` for \"{rest}\""))
            }
            None => Fit::Fits,
        }
    },
};

/// An option without its value.
pub(super) static FLAG: Format = Format {
    fit: |text| {
        if !text.starts_with('-') {
            // `find` has the operator `!`.
            return if text == "!" { Fit::Fits } else { Fit::Unlikely("options start with `-`".to_owned()) };
        }
        if let Some((option, _)) = text.split_once('=') {
            return Fit::Unlikely(format!(
                "options are without their values: write \"{option}\", and compare `options`"
            ));
        }
        let letters = text.trim_start_matches('-');
        let is_cluster = !text.starts_with("--")
            && (2..=MAX_CLUSTER).contains(&letters.len())
            && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !is_cluster || option_names::is_known(text) {
            return Fit::Fits;
        }
        let each: Vec<_> = letters.chars().map(|letter| format!("\"-{letter}\"")).collect();
        Fit::Unlikely(format!("options are read one by one: test {}", each.join(" and ")))
    },
};

/// Maximum number of letters that are written behind one dash. Longer words are options of one dash, such as `-name`.
const MAX_CLUSTER: usize = 3;

fn similar_tool(text: &str) -> Fit {
    let common = || claude::DIALECT.tools.iter().map(|tool| tool.name);
    let same = common().find(|name| name.eq_ignore_ascii_case(text));
    match same.or_else(|| closest_match(text, common())) {
        Some(meant) if !text.contains("__") => Fit::Unlikely(format!("did you mean `{meant}`?")),
        _ => Fit::Fits,
    }
}

fn unlikely<'a>(text: &str, known: impl Iterator<Item = &'a str>, why: &str) -> Fit {
    Fit::Unlikely(match closest_match(text, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => why.to_owned(),
    })
}
