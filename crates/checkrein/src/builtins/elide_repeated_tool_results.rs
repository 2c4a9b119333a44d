//! Replaces a tool result by a short note if the same tool was called with the same input before in the session and gave
//! back the same: the model has it already.
//!
//! Results of less than 256 bytes are left alone. The last 512 results of each session are remembered, as a fingerprint,
//! not as text. What the model has is gone after a compaction: if the hook is for `pre_compact` or `post_compact`,
//! `session_start` and `session_end` too, the session's results are forgotten then. Use it with one of the compaction
//! events wherever the host compacts.
//!
//! - **Arguments**: none.
//! - **Events**: `post_tool_use`, `tool_output_transform` and their kin.
//!
//! Example: the second `Read` of an unchanged file gives back
//! `[same result as the earlier call of Read with the same input, 5312 bytes; not repeated]`.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use checkrein_core::{EventKind, Opinion, RawJson, Target};

use super::args;
use super::session_cache::Sessions;
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

/// A note is no gain for less.
const SMALL: usize = 256;

/// How many results are remembered of each session.
const RESULTS: usize = 512;

pub(super) fn builtin() -> Builtin {
    let memory = Arc::new(Memory::default());
    Builtin::immediate(move |call| Ok(memory.look(&call))).checked(args::none).rewriting().described(
        BuiltinDoc::new(
            "Puts a short note in place of a tool result that the session has seen before, for the same input.",
        )
        .args("none")
        .events("`post_tool_use`, `tool_output_transform` and their kin; `pre_compact`, `post_compact` to forget"),
    )
}

/// 128 bits, keyed afresh in every process, so that nobody can make two results look the same.
type Fingerprint = (u64, u64);

#[derive(Default)]
struct Memory {
    keys: (RandomState, RandomState),
    seen: Sessions<VecDeque<Fingerprint>>,
}

impl Memory {
    fn look(&self, call: &BuiltinCall<'_>) -> Opinion {
        let session = call.event.envelope.session_id.as_deref().unwrap_or_default();
        match call.event.kind() {
            EventKind::PreCompact | EventKind::PostCompact | EventKind::SessionStart | EventKind::SessionEnd => {
                self.seen.forget(session);
                return Opinion::none();
            }
            _ => {}
        }
        let (Some(tool), Some(input), Some(output)) =
            (call.event.tool_name(), call.event.tool_input(), call.event.original(Target::Output))
        else {
            return Opinion::none();
        };
        if output.as_str().len() < SMALL {
            return Opinion::none();
        }
        // Sub-agents have contexts of their own.
        let agent = call.event.envelope.agent_id.as_deref();
        let print = self.print(&(&*call.hook.id, agent, tool, input.as_str(), output.as_str()));
        let repeated = self.seen.with(session, |seen| {
            if seen.contains(&print) {
                return true;
            }
            if seen.len() >= RESULTS {
                seen.pop_front();
            }
            seen.push_back(print);
            false
        });
        if !repeated {
            return Opinion::none();
        }
        let bytes = output.as_str().len();
        let note =
            format!("[same result as the earlier call of {tool} with the same input, {bytes} bytes; not repeated]");
        Opinion::rewrite_output(RawJson::string(&note))
    }

    fn print(&self, what: &impl std::hash::Hash) -> Fingerprint {
        (self.keys.0.hash_one(what), self.keys.1.hash_one(what))
    }
}
