//! Payloads of events about tools and permissions.

use super::payload;
use crate::json::RawJson;

payload! {
    /// A tool is about to be used.
    ToolCall {
        required {
            /// Tool.
            tool_name: String,
            /// Input of the tool, unchanged.
            tool_input: RawJson,
        }
        optional {
            /// Id of the call.
            tool_use_id: String,
            /// MCP server of the tool.
            mcp_server: RawJson,
            /// Permission rules that the host offers to add.
            permission_suggestions: RawJson,
            /// Category of the tool, as defined by the host.
            tool_category: String,
            /// `true` if the tool is read-only.
            tool_read_only: bool,
            /// Safety policy of the host.
            safety_policy: String,
        }
        targets { Input => tool_input }
    }
}

payload! {
            /// A tool was used.
            ToolOutcome {
            required {
            /// Tool.
            tool_name: String,
            /// Input of the tool, unchanged.
            tool_input: RawJson,
            }
            optional {
            /// Output of the tool.
            tool_response: RawJson,
            /// Id of the call.
            tool_use_id: String,
            /// `true` if the output is an error, for hosts with one event for success and failure.
            is_error: bool,
            /// Duration in milliseconds.
            duration_ms: u64,
        }
        targets { Input => tool_input, Output => tool_response }
    }
}

payload! {
            /// A tool was used and failed.
            ToolFailure {
            required {
            /// Tool.
            tool_name: String,
            /// Input of the tool, unchanged.
            tool_input: RawJson,
            /// Error message.
            error: String,
            }
            optional {
            /// Output of the tool before it failed.
            tool_response: RawJson,
            /// Id of the call.
            tool_use_id: String,
            /// Type of failure: `error`, `timeout`, `permission_denied`.
            failure_type: String,
            /// `true` if the user interrupted the tool.
            is_interrupt: bool,
            /// Duration in milliseconds.
            duration_ms: u64,
        }
        targets { Input => tool_input, Output => tool_response }
    }
}

payload! {
            /// The host refused a tool call by its own rules.
            PermissionDenied {
            required {
            /// Tool.
            tool_name: String,
            /// Input of the refused call.
            tool_input: RawJson,
            }
            optional {
            /// Id of the call.
            tool_use_id: String,
            /// Reason.
            reason: String,
        }
        targets { Input => tool_input }
    }
}

payload! {
            /// A tool call was approved or refused.
            ApprovalDecision {
            required {
            /// Tool.
            tool_name: String,
            /// Input of the tool.
            tool_input: RawJson,
            }
            optional {
            /// Id of the call.
            tool_use_id: String,
            /// `allow`, `deny` or `canceled`.
            approval_decision: String,
            /// Source of the decision.
            approval_source: String,
            /// Risk of the call, as rated by the host.
            safety_label: String,
        }
        targets { Input => tool_input }
    }
}

payload! {
    /// All tool calls of one model response are finished.
    ToolBatch {
        required {
            /// Calls, each with its output.
            tool_calls: RawJson,
        }
    }
}

payload! {
    /// An MCP server asks the user for input.
    Elicitation {
        required {
            /// Server.
            mcp_server_name: String,
        }
        optional {
            /// Text of the request.
            message: String,
            /// `form` or `url`.
            mode: String,
            /// Page to open.
            url: String,
            /// Id of the request.
            elicitation_id: String,
            /// JSON schema of the answer.
            requested_schema: RawJson,
            /// Action of the user: `accept`, `decline`, `cancel`.
            action: String,
            /// Input of the user.
            content: RawJson,
        }
        targets { Input => content }
    }
}
