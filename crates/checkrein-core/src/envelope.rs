//! [`Envelope`]: the fields that events of all kinds have, such as the session and the working directory.
//!
//! Hosts and dialects fill it. The data of one kind belongs in [`payload`](crate::payload).

use crate::payload::payload;

payload! {
    /// Fields that events of all kinds carry.
    Envelope {
        optional {
            /// Identifier of the session.
            session_id: String,
            /// Working directory of the agent.
            cwd: String,
            /// File with the conversation so far.
            transcript_path: String,
            /// Permission mode of the agent, such as `default`, `plan` or `acceptEdits`.
            permission_mode: String,
            /// Identifier of the sub-agent. Absent for the main agent.
            agent_id: String,
            /// Type of the agent.
            agent_type: String,
            /// Number of the turn in the session, from 1.
            turn: u64,
        }
        open {
            /// Further fields from the host, by name.
            extra
        }
    }
}

impl Envelope {
    /// Returns the fields of the envelope, without those that hosts add.
    pub fn fields() -> &'static [crate::payload::FieldInfo] {
        <Self as crate::payload::PayloadData>::FIELDS
    }
}
