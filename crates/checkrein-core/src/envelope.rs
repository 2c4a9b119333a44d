use crate::payload::payload;

payload! {
    /// What every event carries, whatever its kind.
    Envelope {
        optional {
            /// The session.
            session_id: String,
            /// The directory that the agent works in.
            cwd: String,
            /// The file with the conversation so far.
            transcript_path: String,
            /// How freely the agent may act: `default`, `plan`, `acceptEdits` and the like.
            permission_mode: String,
            /// The agent, if it is a sub-agent.
            agent_id: String,
            /// What kind of agent.
            agent_type: String,
            /// Which turn of the session, from 1.
            turn: u64,
        }
        open {
            /// What else the host says, by name.
            extra
        }
    }
}

impl Envelope {
    /// The fields that it has, besides what hosts add.
    pub fn fields() -> &'static [crate::payload::FieldInfo] {
        <Self as crate::payload::PayloadData>::FIELDS
    }
}
