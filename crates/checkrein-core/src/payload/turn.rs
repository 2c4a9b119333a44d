//! Payloads of events about turns, prompts and the end of the agent loop.

use super::payload;
use crate::json::RawJson;

payload! {
            /// A user's turn: from the prompt until the agent stops.
            UserTurn {
            optional {
            /// Prompt.
            prompt: String,
            /// Cause of the end.
            reason: String,
        }
    }
}

payload! {
    /// One iteration of the agent loop: a model call and its tool calls.
    Turn {
        optional {
            /// Number of the iteration, from 1.
            iteration: u64,
            /// Model.
            model: String,
            /// Cause of the end: `normal`, `continue`, `steered`, `error`, `canceled`, `hook_blocked`.
            reason: String,
            /// Token usage, in the host's format.
            usage: RawJson,
            /// Cost. Absent: unknown. 0: free.
            cost: RawJson,
            /// Number of input tokens.
            input_tokens: u64,
            /// Number of output tokens.
            output_tokens: u64,
            /// Size of the context window in tokens.
            context_limit: u64,
        }
    }
}

payload! {
            /// A prompt that is about to be sent to the model.
            Prompt {
            required {
            /// Prompt.
            prompt: String,
        }
        optional {
            /// Files and images of the prompt.
            attachments: RawJson,
            /// All queued messages, if several are sent together.
            messages: RawJson,
            /// Title of the session.
            session_title: String,
        }
        targets { Prompt => prompt }
    }
}

payload! {
    /// A command or template of the user is expanded to a prompt.
    PromptExpansion {
        required {
            /// Prompt.
            prompt: String,
        }
        optional {
            /// Command.
            command_name: String,
            /// Arguments of the command.
            command_args: String,
            /// Source of the command.
            command_source: String,
            /// `slash_command` or `mcp_prompt`.
            expansion_type: String,
            /// Expanded prompt, if the host knows it already.
            transformed_prompt: String,
        }
        targets { Prompt => prompt }
    }
}

payload! {
    /// Text of the agent: a message, a thought, or a part of a stream.
    AgentText {
        required {
            /// Text.
            text: String,
        }
        optional {
            /// Id of its message.
            message_id: String,
            /// Id of its turn.
            turn_id: String,
            /// Number of the part, from 0.
            index: u64,
            /// `true` if it is the last part.
            is_final: bool,
            /// Duration in milliseconds.
            duration_ms: u64,
        }
        targets { Output => text }
    }
}

payload! {
            /// The agent is about to stop and return control to the user.
            Stop {
            optional {
            /// `true` if the agent is running only because an earlier stop hook made it continue.
            stop_hook_active: bool,
            /// Last message of the agent.
            last_assistant_message: String,
            /// Cause.
            reason: String,
            /// Number of times that stop hooks made the agent continue.
            loop_count: u64,
            /// Tasks that still run in the background.
            background_tasks: RawJson,
            /// Scheduled tasks.
            session_crons: RawJson,
        }
    }
}

payload! {
            /// The user or the host cancelled a turn.
            Cancelled {
            optional {
            /// Cause.
            reason: String,
        }
    }
}

payload! {
            /// An error occurred, or a limit was reached.
            ErrorInfo {
            optional {
            /// Error message.
            error: String,
            /// Type of error, such as `rate_limit`, `overloaded`, `server_error` or `unknown`.
            error_type: String,
            /// Details of the error.
            error_details: String,
            /// `true` if the agent can continue.
            recoverable: bool,
            /// Last message of the agent.
            last_assistant_message: String,
            /// Number of model calls so far.
            iteration: u64,
            /// Maximum number of model calls.
            max_iterations: u64,
        }
    }
}

payload! {
    /// The conversation is compacted.
    Compaction {
        optional {
            /// Cause: `manual`, `auto`, `overflow`.
            trigger: String,
            /// Instructions of the user for the summary.
            custom_instructions: String,
            /// Number of messages in the conversation.
            message_count: u64,
            /// Number of messages that will be dropped.
            messages_to_compact: u64,
            /// Number of tokens in the conversation.
            context_tokens: u64,
            /// Size of the context window in tokens.
            context_limit: u64,
            /// Summary that replaces the dropped messages.
            summary: String,
        }
        targets { Summary => summary }
    }
}

payload! {
    /// The agent notifies the user.
    Notification {
        optional {
            /// Text.
            message: String,
            /// Title.
            title: String,
            /// Type, such as `permission_prompt`, `idle_prompt` or `auth_success`.
            notification_type: String,
            /// Urgency.
            level: String,
            /// Details.
            details: RawJson,
        }
    }
}
