//! Replaces a tool result by a short note if an earlier call of the session had the same tool, input and result.
//!
//! Results of less than 256 bytes do not change. The builtin keeps fingerprints of the last 512 results of each session,
//! not their text. A compaction removes results from the model's context. Therefore the hook should also have the event
//! `pre_compact` or `post_compact` if the host compacts: it then forgets the session's results. `session_start` and
//! `session_end` have the same effect.
//!
//! - **Arguments**: none.
//! - **Events**: `post_tool_use`, `tool_output_transform` and related events.
//!
//! Example: the second `Read` of an unchanged file returns
//! `[same result as the earlier call of Read with the same input, 5312 bytes; not repeated]`.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use checkrein_core::{EventKind, Opinion, RawJson, Target};

use super::args;
use super::session_cache::Sessions;
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

/// Minimum size of a result, in bytes. For smaller ones a note saves nothing.
const SMALL: usize = 256;

/// Number of results that are remembered for each session.
const RESULTS: usize = 512;

pub(super) fn builtin() -> Builtin {
    let memory = Arc::new(Memory::default());
    Builtin::immediate(move |call| Ok(memory.elide(&call))).checked(args::none).rewriting().described(
        BuiltinDoc::new("Replaces a tool result by a short note if an earlier call had the same input and result.")
            .args("none")
            .events(
                "`post_tool_use`, `tool_output_transform` and related events; `pre_compact`, `post_compact` to forget",
            ),
    )
}

/// 128 bits with a new key in every process, so that a tool cannot produce collisions.
type Fingerprint = (u64, u64);

#[derive(Default)]
struct Memory {
    keys: (RandomState, RandomState),
    seen: Sessions<VecDeque<Fingerprint>>,
}

impl Memory {
    fn elide(&self, call: &BuiltinCall<'_>) -> Opinion {
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
        // Each sub-agent has a context of its own.
        let agent = call.event.envelope.agent_id.as_deref();
        let fingerprint = self.fingerprint(&(&*call.hook.id, agent, tool, input.as_str(), output.as_str()));
        let repeated = self.seen.with(session, |seen| {
            if seen.contains(&fingerprint) {
                return true;
            }
            if seen.len() >= RESULTS {
                seen.pop_front();
            }
            seen.push_back(fingerprint);
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

    fn fingerprint(&self, value: &impl std::hash::Hash) -> Fingerprint {
        (self.keys.0.hash_one(value), self.keys.1.hash_one(value))
    }
}
