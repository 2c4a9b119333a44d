//! Replaces secrets by notes such as `[redacted:github_token]`.
//!
//! The builtin finds keys with a published format of about 110 services (AWS, Azure, GitHub, GitLab, Slack, Stripe, OpenAI,
//! Anthropic, Google, npm, PyPI, Docker, SendGrid, Vault and others), JSON web tokens, private key blocks, bearer tokens and passwords in URLs. It also finds values behind
//! names such as `password=` or `token:` if they look generated: eight characters or more with letters and digits. It
//! does not find a password that is a plain word. Every other byte stays the same: large integers, the order of keys,
//! escapes.
//!
//! The event determines the rewritten part: the tool's input before the call, its output after the call, the user's
//! prompt, or the messages for the model. A tool that needs the secret does not get it. Therefore use the hook only at
//! events where no secret is needed.
//!
//! Not every agent lets hooks change every part. Where an agent does not, a prompt or a call is blocked with a reason that
//! says what was found, and after a call a message says that the output contains it. docs/support.md lists the events.
//!
//! - **Arguments**: none.
//! - **Events**: `pre_tool_use`, `tool_input_transform` (input), `post_tool_use`, `tool_output_transform` and related
//!   events (output), `prompt_submit` (prompt), `before_model` (messages).
//!
//! Example: `redact_secrets` turns `{"command": "curl -H 'Authorization: Bearer eyJhbGci…'"}` into
//! `{"command": "curl -H 'Authorization: Bearer [redacted:jwt]'"}`.

use checkrein_core::{Failure, Opinion, RawJson, Rewrite, RewriteTexts};

use super::secrets::{RedactedSecrets, redact_json};
use super::{args, off_thread};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

/// Size in bytes from which on the search runs outside of the runtime's threads.
const LARGE: usize = 64 * 1024;

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call))).checked(args::none).rewriting().works_at(|kind| !kind.contract().rewrites.is_empty()).described(
        BuiltinDoc::new("Redacts keys, tokens and passwords in tool input, tool output and prompts.")
            .args("none")
            .events(
                "`pre_tool_use`, `tool_input_transform`, `post_tool_use`, `tool_output_transform` and related events, \
             `prompt_submit`, `before_model`",
            ),
    )
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let mut opinion = Opinion::none();
    let kind = call.event.kind();
    for &target in kind.contract().rewrites.iter() {
        let Some(original) = call.event.original(target) else { continue };
        if let Some((clean, secrets)) = redact(original).await? {
            let texts = RewriteTexts {
                done: format!("redacted {secrets} in the {target}"),
                cause: format!("the {target} contains what looks like {}", secrets.found()),
                remedy: format!("remove the {}", secrets.noun()),
            };
            opinion = opinion.with_rewrite(Rewrite::replace(target, clean).with_texts(texts));
        }
    }
    Ok(opinion)
}

async fn redact(original: RawJson) -> Result<Option<(RawJson, RedactedSecrets)>, Failure> {
    if original.as_str().len() < LARGE {
        return Ok(redact_json(&original));
    }
    off_thread(move || redact_json(&original)).await
}
