//! Payloads of events about models.

use super::payload;
use crate::json::RawJson;

payload! {
    /// A model call, before or after.
    ModelCall {
        optional {
            /// Model.
            model: String,
            /// Conversation for the model.
            messages: RawJson,
            /// Settings of the call.
            config: RawJson,
            /// Tools that the model may use.
            tool_config: RawJson,
            /// Response of the model.
            response: RawJson,
            /// Token usage, in the host's format.
            usage: RawJson,
        }
        targets { Messages => messages, Input => tool_config, Output => response }
    }
}

payload! {
    /// The session switches to another model.
    ModelSwitch {
        required {
            /// New model.
            to_model: String,
        }
        optional {
            /// Previous model.
            from_model: String,
            /// Requested model, before aliases were resolved.
            requested_model: String,
            /// Source of the request: `command`, `picker`, `sdk`, `auto`, `resume`.
            source: String,
            /// Number of tokens in the conversation.
            context_tokens: u64,
            /// `true` if the previous model has the conversation in its cache.
            prompt_cache_warm: bool,
            /// Lifetime of the cache.
            cache_ttl: String,
            /// Estimated cost of sending the whole conversation again, in US dollars.
            estimated_cache_write_usd: RawJson,
        }
    }
}
