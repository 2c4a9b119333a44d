//! Names that docker-agent has and checkrein does not, because they need what only that program has. A hook that uses
//! one is told so when it is loaded, with what to use instead.
//!
//! | name | why not | instead |
//! |---|---|---|
//! | `snapshot` | keeps a shadow repository for that program's own undo | a command hook that commits or stashes |
//! | `unload` | unloads models of that program's local model runner | a command hook that calls the runner |
//! | `safer_shell` | deprecated there | `block_dangerous_commands` |
//! | `model` | asks a model that the program has configured | a handler that the host registers, or a command hook |

use crate::handler::{Builtin, BuiltinDoc};

struct Unavailable {
    name: &'static str,
    summary: &'static str,
    why: &'static str,
}

const ALL: &[Unavailable] = &[
    Unavailable {
        name: "snapshot",
        summary: "Not in checkrein: docker-agent's own undo. Loading it fails and says what to use instead.",
        why: "belongs to docker-agent's own undo and does not exist in checkrein; use a command hook that runs \
              `git stash create` or commits to a branch of its own",
    },
    Unavailable {
        name: "unload",
        summary: "Not in checkrein: docker-agent's local models. Loading it fails and says what to use instead.",
        why: "unloads models of docker-agent's model runner and does not exist in checkrein, which runs no models; use a \
              command hook at `agent_switch` that calls your model runner",
    },
    Unavailable {
        name: "safer_shell",
        summary: "Not in checkrein: deprecated in docker-agent. Loading it fails and says what to use instead.",
        why: "is deprecated in docker-agent and does not exist in checkrein; use `block_dangerous_commands`",
    },
    Unavailable {
        name: "model",
        summary: "Not in checkrein, which calls no models. Loading it fails and says what to use instead.",
        why: "asks a model and does not exist in checkrein, which calls none; register a handler in your host \
              (`Registry::register`) or use a command hook that calls one",
    },
];

pub(super) fn builtins() -> impl Iterator<Item = (&'static str, Builtin)> {
    ALL.iter().map(|Unavailable { name, summary, why }| {
        let builtin = Builtin::prepared(|_| Err((*why).into()));
        (*name, builtin.described(BuiltinDoc::new(summary)))
    })
}
