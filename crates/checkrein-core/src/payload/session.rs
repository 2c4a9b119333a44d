use super::payload;
use crate::json::RawJson;

payload! {
    /// A session begins.
    SessionStart {
        optional {
            /// Why: `startup`, `resume`, `clear`, `compact`, `fork`.
            source: String,
            /// The model that the session uses.
            model: String,
            /// What the session is called.
            session_title: String,
            /// The first prompt, where it is known already.
            initial_prompt: String,
            /// Tokens that the session holds already.
            context_tokens: u64,
            /// Whether the session runs without anybody watching.
            is_background_agent: bool,
        }
    }
}

payload! {
    /// A session that had stopped goes on.
    SessionResume {
        optional {
            /// Why it goes on.
            source: String,
            /// The limit of model calls until now.
            previous_max_iterations: u64,
            /// The limit from now on.
            new_max_iterations: u64,
        }
    }
}

payload! {
    /// A session is over.
    SessionEnd {
        optional {
            /// Why: `clear`, `logout`, `prompt_input_exit`, `error`, `other`.
            reason: String,
            /// How long the session lasted.
            duration_ms: u64,
            /// What went wrong, if something did.
            error: String,
        }
    }
}

payload! {
    /// A session is deleted from the history.
    SessionDelete {
        optional {
            /// The session that goes.
            deleted_session_id: String,
        }
    }
}

payload! {
    /// A session is still alive.
    Heartbeat {
        optional {
            /// How long it has lived.
            duration_ms: u64,
        }
    }
}

payload! {
    /// A workspace is opened.
    Workspace {
        optional {
            /// Its folders.
            workspace_roots: RawJson,
        }
    }
}

payload! {
    /// The agent is set up or maintained, without a conversation.
    Setup {
        optional {
            /// `init` or `maintenance`.
            trigger: String,
        }
    }
}

payload! {
    /// A file with standing instructions was read.
    InstructionsLoaded {
        required {
            /// The file.
            file_path: String,
        }
        optional {
            /// Whose it is: `User`, `Project`, `Local`, `Managed`.
            memory_type: String,
            /// Why: `session_start`, `nested_traversal`, `path_glob_match`, `include`, `compact`.
            load_reason: String,
            /// The patterns under which it applies.
            globs: RawJson,
            /// The file whose use made the agent read it.
            trigger_file_path: String,
            /// The file that includes it.
            parent_file_path: String,
        }
    }
}

payload! {
    /// The agent's own settings changed.
    ConfigChange {
        optional {
            /// Which: `user_settings`, `project_settings`, `local_settings`, `policy_settings`, `skills`.
            source: String,
            /// The file.
            file_path: String,
        }
    }
}

payload! {
    /// The working directory changed.
    CwdChanged {
        required {
            /// The directory left.
            old_cwd: String,
            /// The directory entered.
            new_cwd: String,
        }
    }
}

payload! {
    /// A directory was added to what the agent may work on.
    DirectoryAdded {
        required {
            /// The directory.
            directory: String,
        }
        optional {
            /// How it was added.
            source: String,
        }
    }
}

payload! {
    /// Something happened to a file, whoever did it.
    FileEvent {
        required {
            /// The file.
            file_path: String,
        }
        optional {
            /// What happened: `change`, `add`, `unlink`.
            change: String,
        }
    }
}

payload! {
    /// A work tree of the repository.
    Worktree {
        optional {
            /// Its name.
            name: String,
            /// Where it is.
            worktree_path: String,
            /// Its branch.
            worktree_branch: String,
            /// The directory that it was made from.
            worktree_source_dir: String,
        }
        targets { Output => worktree_path }
    }
}

payload! {
    /// A user ran a hook by hand.
    Manual {
        optional {
            /// Which.
            name: String,
        }
    }
}
