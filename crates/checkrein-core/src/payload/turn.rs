use super::payload;
use crate::json::RawJson;

payload! {
    /// A user's turn: from the prompt until the agent hands back.
    UserTurn {
        optional {
            /// What the user said.
            prompt: String,
            /// How the turn ended.
            reason: String,
        }
    }
}

payload! {
    /// One round of the loop: one model call and what follows from it.
    Turn {
        optional {
            /// Which round, from 1.
            iteration: u64,
            /// The model.
            model: String,
            /// How the round ended: `normal`, `continue`, `steered`, `error`, `canceled`, `hook_blocked`.
            reason: String,
            /// What it used, as the host counts.
            usage: RawJson,
            /// What it cost. Absent is unknown, 0 is free.
            cost: RawJson,
            /// Tokens read.
            input_tokens: u64,
            /// Tokens written.
            output_tokens: u64,
            /// Tokens that fit.
            context_limit: u64,
        }
    }
}

payload! {
    /// A prompt on its way to the model.
    Prompt {
        required {
            /// What the user said.
            prompt: String,
        }
        optional {
            /// Files and images that come with it.
            attachments: RawJson,
            /// All waiting messages, where several are sent at once.
            messages: RawJson,
            /// What the session is called.
            session_title: String,
        }
        targets { Prompt => prompt }
    }
}

payload! {
    /// A command or template that the user typed becomes a prompt.
    PromptExpansion {
        required {
            /// The prompt.
            prompt: String,
        }
        optional {
            /// The command.
            command_name: String,
            /// Its arguments.
            command_args: String,
            /// Where the command comes from.
            command_source: String,
            /// `slash_command` or `mcp_prompt`.
            expansion_type: String,
            /// What the prompt has become, where the host knows it already.
            transformed_prompt: String,
        }
        targets { Prompt => prompt }
    }
}

payload! {
    /// Text that the agent shows: a message, a thought, a piece of a stream.
    AgentText {
        required {
            /// The text.
            text: String,
        }
        optional {
            /// The message that it is part of.
            message_id: String,
            /// The turn that it is part of.
            turn_id: String,
            /// Which piece, from 0.
            index: u64,
            /// Whether it is the last piece.
            is_final: bool,
            /// How long it took.
            duration_ms: u64,
        }
        targets { Output => text }
    }
}

payload! {
    /// The agent is about to stop and hand back.
    Stop {
        optional {
            /// Whether it only goes on because an earlier stop hook told it to.
            stop_hook_active: bool,
            /// What the agent said last.
            last_assistant_message: String,
            /// Why it stops.
            reason: String,
            /// How often stop hooks have made it go on.
            loop_count: u64,
            /// What still runs in the background.
            background_tasks: RawJson,
            /// What is scheduled.
            session_crons: RawJson,
        }
    }
}

payload! {
    /// The user or the host ended a turn before its time.
    Cancelled {
        optional {
            /// Why.
            reason: String,
        }
    }
}

payload! {
    /// Something went wrong, or a limit was reached.
    ErrorInfo {
        optional {
            /// What the error says.
            error: String,
            /// Its class: `rate_limit`, `overloaded`, `server_error`, `unknown` and the like.
            error_type: String,
            /// More of it.
            error_details: String,
            /// Whether the agent can go on.
            recoverable: bool,
            /// What the agent said last.
            last_assistant_message: String,
            /// Model calls so far.
            iteration: u64,
            /// Model calls allowed.
            max_iterations: u64,
        }
    }
}

payload! {
    /// The conversation is shortened.
    Compaction {
        optional {
            /// `manual`, `auto`, `overflow`.
            trigger: String,
            /// What the user asked to keep.
            custom_instructions: String,
            /// Messages in the conversation.
            message_count: u64,
            /// Messages that will go.
            messages_to_compact: u64,
            /// Tokens in the conversation.
            context_tokens: u64,
            /// Tokens that fit.
            context_limit: u64,
            /// What stands for the messages that went.
            summary: String,
        }
        targets { Summary => summary }
    }
}

payload! {
    /// The agent tells its user something.
    Notification {
        optional {
            /// What it says.
            message: String,
            /// The heading.
            title: String,
            /// Its class: `permission_prompt`, `idle_prompt`, `auth_success` and the like.
            notification_type: String,
            /// How urgent.
            level: String,
            /// More of it.
            details: RawJson,
        }
    }
}
