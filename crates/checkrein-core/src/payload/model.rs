use super::payload;
use crate::json::RawJson;

payload! {
    /// A call of the model, before or after.
    ModelCall {
        optional {
            /// The model.
            model: String,
            /// The conversation that it is sent.
            messages: RawJson,
            /// Settings of the call.
            config: RawJson,
            /// Which tools the model may use.
            tool_config: RawJson,
            /// What it answered.
            response: RawJson,
            /// What it used.
            usage: RawJson,
        }
        targets { Messages => messages, Input => tool_config, Output => response }
    }
}

payload! {
    /// The session changes its model.
    ModelSwitch {
        required {
            /// The new model.
            to_model: String,
        }
        optional {
            /// The old model.
            from_model: String,
            /// What was asked for, before aliases were resolved.
            requested_model: String,
            /// Who asked: `command`, `picker`, `sdk`, `auto`, `resume`.
            source: String,
            /// Tokens in the conversation.
            context_tokens: u64,
            /// Whether the old model has the conversation cached.
            prompt_cache_warm: bool,
            /// How long it keeps it.
            cache_ttl: String,
            /// What it would cost to send it all again.
            estimated_cache_write_usd: RawJson,
        }
    }
}
