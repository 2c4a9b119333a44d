use super::payload;
use crate::json::RawJson;

payload! {
    /// A sub-agent begins. Its id and type are in the envelope.
    SubagentStart {
        optional {
            /// What it shall do.
            task: String,
            /// The model that it uses.
            model: String,
            /// The session that started it.
            parent_session_id: String,
            /// What it is called.
            display_name: String,
            /// What it is for.
            description: String,
        }
        targets { Prompt => task }
    }
}

payload! {
    /// A sub-agent is about to stop. Its id and type are in the envelope.
    SubagentStop {
        optional {
            /// Whether it only goes on because an earlier stop hook told it to.
            stop_hook_active: bool,
            /// What it said last.
            last_assistant_message: String,
            /// How often stop hooks have made it go on.
            loop_count: u64,
            /// What its parent will read.
            response: RawJson,
            /// Its own transcript.
            agent_transcript_path: String,
            /// How it ended.
            status: String,
            /// How long it took.
            duration_ms: u64,
        }
        targets { Output => response }
    }
}

payload! {
    /// Another agent takes over the conversation.
    AgentSwitch {
        required {
            /// Who takes over.
            to_agent: String,
        }
        optional {
            /// Who had it.
            from_agent: String,
            /// How: by transfer, by hand.
            agent_switch_kind: String,
            /// The models of the agent that had it.
            from_agent_models: RawJson,
        }
    }
}

payload! {
    /// A task, a to-do entry or a step of a plan.
    Task {
        optional {
            /// Its id.
            task_id: String,
            /// Its heading.
            task_subject: String,
            /// The whole of it.
            task_description: String,
            /// Whose it is.
            teammate_name: String,
            /// The team.
            team_name: String,
            /// `validation` or `postWrite`, where the host has two phases.
            phase: String,
            /// The whole list.
            todos: RawJson,
        }
    }
}

payload! {
    /// A member of a team of agents.
    Teammate {
        optional {
            /// Who.
            teammate_name: String,
            /// The team.
            team_name: String,
        }
    }
}
