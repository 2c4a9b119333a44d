//! Formats of facts that are texts, for literals that a rule compares with them.
//!
//! A literal that a fact never has is an error of the rule, and one that it rarely has is a warning.

use checkrein_core::{EventKind, closest_match};
use checkrein_dialects::agents::{claude, native};
use checkrein_dialects::{ALL, is_common_tool};
use checkrein_expression::{Fit, Format};

use super::command::has_subcommands;
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
    judges_starts: false,
};

/// Name of an agent.
pub(super) static AGENT: Format = Format {
    fit: |text| match text.is_empty() || ALL.iter().any(|agent| agent.name == text) {
        true => Fit::Fits,
        false => unlikely(text, ALL.iter().map(|agent| agent.name), "no known agent has this name"),
    },
    judges_starts: false,
};

/// Name of a tool that all agents share.
pub(super) static COMMON_TOOL: Format = Format {
    fit: |text| match is_common_tool(text) || text.is_empty() {
        true => Fit::Fits,
        false => similar_tool(text),
    },
    judges_starts: false,
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
    judges_starts: false,
};

/// Name of a program.
pub(super) static PROGRAM: Format = Format {
    fit: |text| {
        if text.contains('/') {
            let name = text.rsplit('/').next().unwrap_or_default();
            return Fit::Never(format!("it has no directory: write \"{name}\", or compare `path`"));
        }
        if text.trim() != text {
            return Fit::Never(format!("it has no spaces around it: write \"{}\"", text.trim()));
        }
        match text.split_once(' ') {
            Some((program, rest)) => {
                Fit::Unlikely(format!("it is one word: write \"{program}\", and test `subcommand` for \"{rest}\""))
            }
            None => Fit::Fits,
        }
    },
    judges_starts: false,
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
    judges_starts: false,
};

/// Subcommand of a program.
pub(super) static SUBCOMMAND: Format = Format {
    fit: |text| {
        if text.starts_with('-') {
            return Fit::Never("options are in `flags`".to_owned());
        }
        match text.split_once(' ') {
            Some((program, rest)) if has_subcommands(program) => Fit::Unlikely(format!(
                "it is without the program: write \"{rest}\", and test `program` for \"{program}\""
            )),
            _ => Fit::Fits,
        }
    },
    judges_starts: false,
};

/// Operand of a command.
pub(super) static OPERAND: Format = Format {
    fit: |text| match text.strip_prefix('-') {
        // `-` is the standard input. An option can be an operand only behind `--`.
        Some(rest) if !rest.is_empty() && text != "--" => Fit::Unlikely("options are in `flags`".to_owned()),
        _ => Fit::Fits,
    },
    judges_starts: false,
};

/// Branch that a push writes.
pub(super) static BRANCH: Format = Format {
    fit: |text| match text.strip_prefix("refs/heads/") {
        Some(branch) => Fit::Never(format!("it has no `refs/heads/`: write \"{branch}\"")),
        None => Fit::Fits,
    },
    judges_starts: true,
};

/// Absolute path, or a pattern for one.
pub(super) static ABSOLUTE: Format = Format {
    fit: |text| {
        if text == "~" {
            return Fit::Never("it is absolute: compare with `home`".to_owned());
        }
        if let Some(rest) = text.strip_prefix("~/") {
            return Fit::Never(format!("it is absolute: write `home + \"/{rest}\"`, or use `in_home` and `name`"));
        }
        let is_pattern = text.starts_with(['*', '?', '[', '{']);
        // `C:/x` is an absolute path too.
        let is_drive = text.as_bytes().get(1) == Some(&b':');
        match text.is_empty() || text.starts_with(['/', '\\']) || is_pattern || is_drive {
            true => Fit::Fits,
            false => {
                Fit::Never(format!("it is absolute: write `project + \"/{text}\"`, or a pattern such as \"**/{text}\""))
            }
        }
    },
    judges_starts: true,
};

/// Last part of a path.
pub(super) static FILE_NAME: Format = Format {
    fit: |text| match text.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => {
            Fit::Never(format!("it is the last part: write \"{name}\", or compare `path` or `abs`"))
        }
        Some(_) => Fit::Never("it is the last part; compare `path` or `abs`".to_owned()),
        None => Fit::Fits,
    },
    judges_starts: false,
};

/// Extension of a file.
pub(super) static EXTENSION: Format = Format {
    fit: |text| match text.strip_prefix('.') {
        Some(rest) => Fit::Never(format!("it has no dot: write \"{rest}\"")),
        None => Fit::Fits,
    },
    judges_starts: true,
};

/// Name or address of a host.
pub(super) static HOST: Format = Format {
    fit: |text| {
        if text.contains("://") || text.contains('/') {
            return Fit::Never("it is without scheme and path; compare `url`".to_owned());
        }
        match text.chars().any(char::is_uppercase) {
            true => Fit::Never(format!("it is in lower case: write \"{}\"", text.to_lowercase())),
            false => Fit::Fits,
        }
    },
    judges_starts: true,
};

/// Scheme of a URL.
pub(super) static SCHEME: Format = Format {
    fit: |text| match text.split_once(':') {
        Some((scheme, _)) => Fit::Never(format!("it is without `://`: write \"{scheme}\"")),
        None => Fit::Fits,
    },
    judges_starts: false,
};

/// Date, such as `2026-11-18`.
pub(super) static DATE: Format = Format {
    fit: |text| {
        let is_date = text.len() == 10
            && text.bytes().enumerate().all(|(index, byte)| match index {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        match is_date {
            true => Fit::Fits,
            false => Fit::Never("write a date as year, month and day: \"2026-11-18\"".to_owned()),
        }
    },
    judges_starts: false,
};

/// Maximum number of letters that are written behind one dash. Longer words are options of one dash, such as `-name`.
const MAX_CLUSTER: usize = 3;

fn similar_tool(text: &str) -> Fit {
    let common = || claude::DIALECT.tools.iter().map(|tool| tool.name);
    let same = common().find(|name| name.eq_ignore_ascii_case(text));
    // The own name of an agent.
    let mut own = ALL.iter().flat_map(|agent| agent.tools).filter(|tool| tool.name == text);
    let shared = own.find_map(|tool| tool.shared_names().find(|name| is_common_tool(name)));
    if let (None, Some(shared)) = (same, shared) {
        return Fit::Unlikely(format!("it is the name that all agents share: write `{shared}`"));
    }
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
