//! Builtins of docker-agent that checkrein does not have, because they depend on docker-agent itself.
//!
//! A hook that uses one of these names cannot be loaded. The message names an alternative.
//!
//! | name | reason | alternative |
//! |---|---|---|
//! | `snapshot` | keeps a shadow repository for that program's own undo | a command hook that commits or stashes |
//! | `unload` | unloads models of that program's local model runner | a command hook that calls the runner |
//! | `safer_shell` | deprecated there | `block_dangerous_commands` |
//! | `model` | asks a model that the program has configured | a handler that the host registers, or a command hook |

use crate::handler::{Builtin, BuiltinDoc};

struct Unsupported {
    name: &'static str,
    summary: &'static str,
    why: &'static str,
}

const ALL: &[Unsupported] = &[
    Unsupported {
        name: "snapshot",
        summary: "Not in checkrein: part of docker-agent's undo. Loading fails with an alternative.",
        why: "belongs to docker-agent's own undo and does not exist in checkrein; use a command hook that runs \
              `git stash create` or commits to a branch of its own",
    },
    Unsupported {
        name: "unload",
        summary: "Not in checkrein: part of docker-agent's local models. Loading fails with an alternative.",
        why: "unloads models of docker-agent's model runner and does not exist in checkrein, which runs no models; use a \
              command hook at `agent_switch` that calls your model runner",
    },
    Unsupported {
        name: "safer_shell",
        summary: "Not in checkrein: deprecated in docker-agent. Loading fails with an alternative.",
        why: "is deprecated in docker-agent and does not exist in checkrein; use `block_dangerous_commands`",
    },
    Unsupported {
        name: "model",
        summary: "Not in checkrein, which calls no models. Loading fails with an alternative.",
        why: "asks a model and does not exist in checkrein, which calls none; register a handler in your host \
              (`Registry::register`) or use a command hook that calls one",
    },
];

pub(super) fn builtins() -> impl Iterator<Item = (&'static str, Builtin)> {
    ALL.iter().map(|Unsupported { name, summary, why }| {
        let builtin = Builtin::prepared(|_| Err((*why).into()));
        (*name, builtin.described(BuiltinDoc::new(summary)))
    })
}
