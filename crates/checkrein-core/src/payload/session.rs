//! Payloads of events about sessions, workspaces, files and settings.

use super::payload;
use crate::json::RawJson;

payload! {
    /// A session starts.
    SessionStart {
        optional {
            /// Cause: `startup`, `resume`, `clear`, `compact`, `fork`.
            source: String,
            /// Model of the session.
            model: String,
            /// Title of the session.
            session_title: String,
            /// First prompt, if it is known already.
            initial_prompt: String,
            /// Number of tokens in the conversation.
            context_tokens: u64,
            /// `true` if the session runs unattended.
            is_background_agent: bool,
        }
    }
}

payload! {
    /// A session is resumed.
    SessionResume {
        optional {
            /// Cause.
            source: String,
            /// Previous limit of model calls.
            previous_max_iterations: u64,
            /// New limit of model calls.
            new_max_iterations: u64,
        }
    }
}

payload! {
    /// A session ends.
    SessionEnd {
        optional {
            /// Cause: `clear`, `logout`, `prompt_input_exit`, `error`, `other`.
            reason: String,
            /// Duration of the session in milliseconds.
            duration_ms: u64,
            /// Error message, if the session failed.
            error: String,
        }
    }
}

payload! {
    /// A session is deleted from the history.
    SessionDelete {
        optional {
            /// Id of the deleted session.
            deleted_session_id: String,
        }
    }
}

payload! {
    /// A session is still alive.
    Heartbeat {
        optional {
            /// Time since the start in milliseconds.
            duration_ms: u64,
        }
    }
}

payload! {
    /// A workspace is opened.
    Workspace {
        optional {
            /// Folders of the workspace.
            workspace_roots: RawJson,
        }
    }
}

payload! {
    /// The agent runs setup or maintenance, without a conversation.
    Setup {
        optional {
            /// `init` or `maintenance`.
            trigger: String,
        }
    }
}

payload! {
    /// An instructions file was loaded.
    InstructionsLoaded {
        required {
            /// File.
            file_path: String,
        }
        optional {
            /// Owner of the file: `User`, `Project`, `Local`, `Managed`.
            memory_type: String,
            /// Cause: `session_start`, `nested_traversal`, `path_glob_match`, `include`, `compact`.
            load_reason: String,
            /// Globs of the paths that it applies to.
            globs: RawJson,
            /// File whose use caused the loading.
            trigger_file_path: String,
            /// File that includes it.
            parent_file_path: String,
        }
    }
}

payload! {
    /// The agent's settings change.
    ConfigChange {
        optional {
            /// Part of the settings: `user_settings`, `project_settings`, `local_settings`, `policy_settings`, `skills`.
            source: String,
            /// File.
            file_path: String,
        }
    }
}

payload! {
    /// The working directory changed.
    CwdChanged {
        required {
            /// Previous directory.
            old_cwd: String,
            /// New directory.
            new_cwd: String,
        }
    }
}

payload! {
    /// A directory was added to the workspace.
    DirectoryAdded {
        required {
            /// Directory.
            directory: String,
        }
        optional {
            /// Source of the request.
            source: String,
        }
    }
}

payload! {
    /// A file changed, by the agent or another program.
    FileEvent {
        required {
            /// File.
            file_path: String,
        }
        optional {
            /// Type of change: `change`, `add`, `unlink`.
            change: String,
        }
    }
}

payload! {
    /// A worktree of the repository.
    Worktree {
        optional {
            /// Name.
            name: String,
            /// Directory of the worktree.
            worktree_path: String,
            /// Branch.
            worktree_branch: String,
            /// Directory that it was created from.
            worktree_source_dir: String,
        }
        targets { Output => worktree_path }
    }
}

payload! {
    /// The user ran a hook manually.
    Manual {
        optional {
            /// Name of the hook.
            name: String,
        }
    }
}
