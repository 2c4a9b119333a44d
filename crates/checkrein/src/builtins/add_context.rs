//! Adds a fixed text to the model's context.
//!
//! - **Arguments**: the text. Several arguments become several lines.
//! - **Events**: all that accept context, such as `session_start`, `turn_start` and `prompt_submit`.
//!
//! Example: `add_context "Answer in British English."`

use checkrein_core::Opinion;

use super::AT_CONTEXT;
use crate::handler::{Builtin, BuiltinDoc};

pub(super) fn builtin() -> Builtin {
    Builtin::immediate(|call| Ok(Opinion::context(call.args.join("\n"))))
        .checked(check)
        .works_at(super::accepts_context)
        .described(
            BuiltinDoc::new("Adds a fixed text to the model's context.")
                .args("the text; several arguments become several lines")
                .events(AT_CONTEXT),
        )
}

fn check(args: &[String]) -> Result<(), String> {
    if args.iter().all(|arg| arg.trim().is_empty()) {
        return Err("has no text; pass it as an argument".to_owned());
    }
    Ok(())
}
