//! Takes secrets out of what passes by: a note such as `[redacted:github_token]` stands in their place.
//!
//! Found are keys with a form of their own (AWS, GitHub, GitLab, Slack, Stripe, OpenAI, Anthropic, Google, npm, PyPI,
//! Hugging Face), JSON web tokens, private key blocks, bearer tokens, passwords in URLs, and what stands behind names
//! such as `password=` or `token:` if it looks made up (eight characters or more with letters and digits). A password
//! that is a plain word is not found. Every other byte stays as it is: large integers, the order of keys, odd escapes.
//!
//! What is rewritten depends on the event: what the tool is called with before it is used, what it gave back
//! afterwards, what the user said, the conversation for the model. A tool that needs the secret to work does not get
//! it: use the hook at the events where the secret should not pass.
//!
//! - **Arguments**: none.
//! - **Events**: `pre_tool_use`, `tool_input_transform` (input), `post_tool_use`, `tool_output_transform` and their kin
//!   (output), `prompt_submit` (prompt), `before_model` (messages).
//!
//! Example: `redact_secrets` turns `{"command": "curl -H 'Authorization: Bearer eyJhbGci…'"}` into
//! `{"command": "curl -H 'Authorization: Bearer [redacted:jwt]'"}`.

use checkrein_core::{Failure, Opinion, RawJson, Rewrite, Target};

use super::secrets::redacted_json;
use super::{args, off_thread};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

/// From this size on, the work is done off the runtime's threads.
const LARGE: usize = 64 * 1024;

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call))).checked(args::none).rewriting().described(
        BuiltinDoc::new("Puts notes in place of keys, tokens and passwords in tool input, tool output and prompts.")
            .args("none")
            .events(
                "`pre_tool_use`, `tool_input_transform`, `post_tool_use`, `tool_output_transform` and their kin, \
                 `prompt_submit`, `before_model`",
            ),
    )
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let mut opinion = Opinion::none();
    let kind = call.event.kind();
    for &target in kind.contract().rewrites.iter() {
        let Some(original) = call.event.original(target) else { continue };
        if let Some(clean) = clean(original).await? {
            opinion = opinion.with_rewrite(Rewrite::replace(target, clean)).with_message(told(target));
        }
    }
    Ok(opinion)
}

async fn clean(original: RawJson) -> Result<Option<RawJson>, Failure> {
    if original.as_str().len() < LARGE {
        return Ok(redacted_json(&original));
    }
    off_thread(move || redacted_json(&original)).await
}

fn told(target: Target) -> String {
    format!("took secrets out of the {target}")
}
