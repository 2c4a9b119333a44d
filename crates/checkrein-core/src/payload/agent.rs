//! Payloads of events about sub-agents, teams and tasks.

use super::payload;
use crate::json::RawJson;

payload! {
    /// A sub-agent is about to start. Its id and type are in the envelope.
    SubagentStart {
        optional {
            /// Task of the sub-agent.
            task: String,
            /// Model of the sub-agent.
            model: String,
            /// Session that started it.
            parent_session_id: String,
            /// Display name.
            display_name: String,
            /// Description.
            description: String,
        }
        targets { Prompt => task }
    }
}

payload! {
    /// A sub-agent is about to stop. Its id and type are in the envelope.
    SubagentStop {
        optional {
            /// `true` if it is running only because an earlier stop hook made it continue.
            stop_hook_active: bool,
            /// Last message of the sub-agent.
            last_assistant_message: String,
            /// Number of times that stop hooks made it continue.
            loop_count: u64,
            /// Response for the parent agent.
            response: RawJson,
            /// Transcript of the sub-agent.
            agent_transcript_path: String,
            /// Status at the end.
            status: String,
            /// Duration in milliseconds.
            duration_ms: u64,
        }
        targets { Output => response }
    }
}

payload! {
    /// Another agent takes over the conversation.
    AgentSwitch {
        required {
            /// New agent.
            to_agent: String,
        }
        optional {
            /// Previous agent.
            from_agent: String,
            /// Way of the switch, such as a transfer or a user command.
            agent_switch_kind: String,
            /// Models of the previous agent.
            from_agent_models: RawJson,
        }
    }
}

payload! {
    /// A task, a to-do item or a task of a spec.
    Task {
        optional {
            /// Id of the task.
            task_id: String,
            /// Title of the task.
            task_subject: String,
            /// Full text of the task.
            task_description: String,
            /// Owner of the task.
            teammate_name: String,
            /// Team.
            team_name: String,
            /// `validation` or `postWrite`, where the host has two phases.
            phase: String,
            /// Complete list of to-do items.
            todos: RawJson,
        }
    }
}

payload! {
    /// A member of a team of agents.
    Teammate {
        optional {
            /// Name of the member.
            teammate_name: String,
            /// Team.
            team_name: String,
        }
    }
}
