use super::payload;
use crate::json::RawJson;

payload! {
    /// A tool is about to be used.
    ToolCall {
        required {
            /// The tool.
            tool_name: String,
            /// What it is called with, untouched.
            tool_input: RawJson,
        }
        optional {
            /// The id of this call.
            tool_use_id: String,
            /// The MCP server that the tool belongs to.
            mcp_server: RawJson,
            /// Rules that the host offers to add.
            permission_suggestions: RawJson,
            /// The class of the tool, as the host sorts them.
            tool_category: String,
            /// Whether the tool only reads.
            tool_read_only: bool,
            /// How careful the host is.
            safety_policy: String,
        }
        targets { Input => tool_input }
    }
}

payload! {
    /// A tool has been used.
    ToolOutcome {
        required {
            /// The tool.
            tool_name: String,
            /// What it was called with, untouched.
            tool_input: RawJson,
        }
        optional {
            /// What it gave back.
            tool_response: RawJson,
            /// The id of this call.
            tool_use_id: String,
            /// Whether it gave back an error, where the host has one event for both.
            is_error: bool,
            /// How long it took.
            duration_ms: u64,
        }
        targets { Input => tool_input, Output => tool_response }
    }
}

payload! {
    /// A tool has been used and failed.
    ToolFailure {
        required {
            /// The tool.
            tool_name: String,
            /// What it was called with, untouched.
            tool_input: RawJson,
            /// What went wrong.
            error: String,
        }
        optional {
            /// What it gave back all the same.
            tool_response: RawJson,
            /// The id of this call.
            tool_use_id: String,
            /// Its class: `error`, `timeout`, `permission_denied`.
            failure_type: String,
            /// Whether the user interrupted it.
            is_interrupt: bool,
            /// How long it took.
            duration_ms: u64,
        }
        targets { Input => tool_input, Output => tool_response }
    }
}

payload! {
    /// The host refused a tool call by itself.
    PermissionDenied {
        required {
            /// The tool.
            tool_name: String,
            /// What it would have been called with.
            tool_input: RawJson,
        }
        optional {
            /// The id of the call.
            tool_use_id: String,
            /// Why.
            reason: String,
        }
        targets { Input => tool_input }
    }
}

payload! {
    /// It is settled whether a tool call may happen.
    ApprovalDecision {
        required {
            /// The tool.
            tool_name: String,
            /// What it is called with.
            tool_input: RawJson,
        }
        optional {
            /// The id of the call.
            tool_use_id: String,
            /// `allow`, `deny` or `canceled`.
            approval_decision: String,
            /// Who settled it.
            approval_source: String,
            /// How dangerous the host took the call to be.
            safety_label: String,
        }
        targets { Input => tool_input }
    }
}

payload! {
    /// All tool calls of one answer are done.
    ToolBatch {
        required {
            /// The calls, each with what it gave back.
            tool_calls: RawJson,
        }
    }
}

payload! {
    /// An MCP server asks the user for something.
    Elicitation {
        required {
            /// The server.
            mcp_server_name: String,
        }
        optional {
            /// What it asks.
            message: String,
            /// `form` or `url`.
            mode: String,
            /// The page to open.
            url: String,
            /// The id of the question.
            elicitation_id: String,
            /// What an answer must look like.
            requested_schema: RawJson,
            /// What the user did: `accept`, `decline`, `cancel`.
            action: String,
            /// What the user filled in.
            content: RawJson,
        }
        targets { Input => content }
    }
}
