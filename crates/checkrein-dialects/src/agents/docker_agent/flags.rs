//! Hooks from the command-line flags of the agent.

use std::fmt;
use std::sync::Arc;

use checkrein_core::{EventKind, HookInfo, Scope, Source, closest_match};

use crate::spec::{CommandSpec, HandlerSpec, HookSpec};
use crate::table::Dialect;

/// Flags and their events.
pub const FLAGS: [(&str, EventKind); 6] = [
    ("--hook-pre-tool-use", EventKind::PreToolUse),
    ("--hook-post-tool-use", EventKind::PostToolUse),
    ("--hook-session-start", EventKind::SessionStart),
    ("--hook-session-end", EventKind::SessionEnd),
    ("--hook-on-user-input", EventKind::UserInputNeeded),
    ("--hook-stop", EventKind::Stop),
];

/// Converts flags with commands to hooks, in order. They run after the hooks of all files. A flag may occur several times. A
/// flag with an empty command is ignored. Hooks at tool events match all tools.
///
/// ```
/// use checkrein_dialects::agents::docker_agent::{DIALECT, hooks_from_flags};
///
/// let hooks = hooks_from_flags(&DIALECT, [("--hook-stop", "./done.sh"), ("--hook-stop", " ")])?;
/// assert_eq!(hooks.len(), 1);
/// # Ok::<(), checkrein_dialects::agents::docker_agent::UnknownFlag>(())
/// ```
///
/// # Errors
/// An unknown flag, with the most similar known one.
pub fn hooks_from_flags<'a>(
    dialect: &'static Dialect,
    flags: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<HookSpec>, UnknownFlag> {
    let mut hooks = Vec::new();
    for (at, (flag, command)) in flags.into_iter().enumerate() {
        let Some((flag, kind)) = FLAGS.iter().find(|(name, _)| *name == flag) else {
            return Err(UnknownFlag {
                flag: flag.to_owned(),
                meant: closest_match(flag, FLAGS.iter().map(|(name, _)| *name)),
            });
        };
        if command.trim().is_empty() {
            continue;
        }
        let mut source = Source::for_scope(Scope::Code);
        source.file = Some((*flag).to_owned());
        let handler = HandlerSpec::Command(CommandSpec::shell(command));
        let mut spec = HookSpec::new("", kind.clone(), handler).dialect(dialect);
        spec.info = Arc::new(HookInfo::new(format!("{flag}[{at}]"), source));
        spec.identity = dialect.config.dedup_key.identity(&spec);
        hooks.push(spec);
    }
    Ok(hooks)
}

/// A flag that docker-agent does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFlag {
    flag: String,
    meant: Option<&'static str>,
}

impl fmt::Display for UnknownFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown flag `{}`", self.flag)?;
        match self.meant {
            None => Ok(()),
            Some(meant) => write!(f, ", did you mean `{meant}`?"),
        }
    }
}

impl std::error::Error for UnknownFlag {}
