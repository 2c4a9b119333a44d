//! The kind table. A new kind is one row; the enums, contracts and constructors are generated from the rows.

use std::borrow::Cow;
use std::fmt;

use super::name::CustomKind;
use crate::contract::{BlockEffect, ContextUse, Contract, Target, TimeClass};
use crate::envelope::Envelope;
use crate::event::{DecodeError, Event};
use crate::json::RawJson;
use crate::payload::{self, CustomPayload, EventFields, Field, FieldInfo, PayloadData, Writer};

/// Expands a cell of the table.
macro_rules! cell {
    (matched_on -) => { None };
    (matched_on envelope.$field:ident) => { Some(Cow::Borrowed(stringify!($field))) };
    (matched_on $outer:ident.$field:ident) => {
        Some(Cow::Borrowed(concat!(stringify!($outer), ".", stringify!($field))))
    };
    (matched_on $field:ident) => { Some(Cow::Borrowed(stringify!($field))) };
    (subject $data:ident $envelope:ident -) => { None };
    (subject $data:ident $envelope:ident envelope.$field:ident) => { $envelope.$field.as_subject() };
    (subject $data:ident $envelope:ident $($field:ident).+) => { $data.$($field).+.as_subject() };
    (yes_no yes) => { true };
    (yes_no -) => { false };
}

/// Field that matchers can be compared with.
trait AsSubject {
    fn as_subject(&self) -> Option<&str>;
}

impl AsSubject for String {
    #[inline]
    fn as_subject(&self) -> Option<&str> {
        Some(self)
    }
}

impl AsSubject for Option<String> {
    #[inline]
    fn as_subject(&self) -> Option<&str> {
        self.as_deref()
    }
}

macro_rules! kinds {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident $name:ident($data:ident) {
            on $($on:tt).+ ; block $block:ident; rewrites [$($target:ident),*]; context $context:ident;
            text $text:tt; halt $halt:tt; time $time:ident
        }
    )+) => {
        /// Kind of event in an agent's lifecycle.
        ///
        /// Names are canonical: snake_case, equal for all agents. Dialects map their own names to them.
        ///
        /// ```
        /// use checkrein_core::{BlockEffect, EventKind};
        ///
        /// let kind: EventKind = "pre_tool_use".parse()?;
        /// assert_eq!(kind, EventKind::PreToolUse);
        /// assert_eq!(kind.to_string(), "pre_tool_use");
        /// assert_eq!(kind.contract().block, BlockEffect::Refuse);
        ///
        /// let error = "pre_tool_usee".parse::<EventKind>().unwrap_err();
        /// assert_eq!(error.to_string(), "unknown event `pre_tool_usee`, did you mean `pre_tool_use`?");
        /// # Ok::<(), checkrein_core::UnknownKind>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum EventKind {
            $( $(#[doc = $doc])+ $variant, )+
            /// Kind that a host adds, with its own contract.
            Custom(CustomKind),
        }

        /// The data of an event, by kind.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Payload {
            $( $(#[doc = $doc])+ $variant(payload::$data), )+
            /// Data of a custom kind.
            Custom(CustomPayload),
        }

        /// Number of kinds in the table.
        pub(crate) const KIND_COUNT: usize = EventKind::ALL.len();

        static CONTRACTS: [Contract; KIND_COUNT] = [$(
            Contract {
                matched_on: cell!(matched_on $($on).+),
                block: BlockEffect::$block,
                halt: cell!(yes_no $halt),
                rewrites: Cow::Borrowed(&[$(Target::$target),*]),
                context: ContextUse::$context,
                plain_text: cell!(yes_no $text),
                time: TimeClass::$time,
            },
        )+];

        /// Row numbers, in the order of the table.
        enum KindId { $( $variant, )+ }

        impl EventKind {
            /// All kinds of the table, in its order.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// Returns the canonical name.
            pub fn name(&self) -> &str {
                match self {
                    $( Self::$variant => stringify!($name), )+
                    Self::Custom(custom) => custom.name(),
                }
            }

            /// Returns a description in one sentence.
            pub fn description(&self) -> &'static str {
                match self {
                    $( Self::$variant => concat!($($doc),+).trim_ascii(), )+
                    Self::Custom(_) => "A kind that the host adds.",
                }
            }

            /// Returns the effects that hooks can have at events of this kind.
            pub fn contract(&self) -> &Contract {
                match self {
                    Self::Custom(custom) => custom.contract(),
                    named => &CONTRACTS[named.index().unwrap_or_default()],
                }
            }

            /// Returns the fields of the payload of this kind.
            pub fn fields(&self) -> &'static [FieldInfo] {
                match self {
                    $( Self::$variant => <payload::$data as PayloadData>::FIELDS, )+
                    Self::Custom(_) => &[],
                }
            }

            /// Returns the row number. `None` for custom kinds.
            #[inline]
            pub(crate) fn index(&self) -> Option<usize> {
                match self {
                    $( Self::$variant => Some(KindId::$variant as usize), )+
                    Self::Custom(_) => None,
                }
            }
        }

        impl Payload {
            /// Returns the kind of event with this payload.
            pub fn kind(&self) -> EventKind {
                match self {
                    $( Self::$variant(_) => EventKind::$variant, )+
                    Self::Custom(custom) => EventKind::Custom(custom.kind.clone()),
                }
            }

            /// Returns the row number of the kind. `None` for custom kinds.
            #[inline]
            pub(crate) fn kind_index(&self) -> Option<usize> {
                match self {
                    $( Self::$variant(_) => Some(KindId::$variant as usize), )+
                    Self::Custom(_) => None,
                }
            }

            /// Returns the subject that matchers are compared with, if the event has it.
            pub(crate) fn subject<'a>(&'a self, envelope: &'a Envelope) -> Option<Cow<'a, str>> {
                #[allow(unused_variables, reason = "not every kind has a subject")]
                match self {
                    $( Self::$variant(data) => cell!(subject data envelope $($on).+).map(Cow::Borrowed), )+
                    Self::Custom(custom) => custom.subject(envelope),
                }
            }

            /// Returns the contract of the kind.
            pub(crate) fn contract(&self) -> &Contract {
                match self {
                    Self::Custom(custom) => custom.kind.contract(),
                    named => &CONTRACTS[named.kind_index().unwrap_or_default()],
                }
            }

            /// Returns a field of the payload by its JSON name.
            pub fn field(&self, name: &str) -> Option<Field<'_>> {
                match self {
                    $( Self::$variant(data) => PayloadData::field(data, name), )+
                    Self::Custom(custom) => custom.get(name),
                }
            }

            /// Returns the value that a rewrite of `target` would replace.
            pub fn original(&self, target: Target) -> Option<RawJson> {
                match self {
                    $( Self::$variant(data) => PayloadData::original(data, target), )+
                    Self::Custom(custom) => custom.original(target),
                }
            }

            pub(crate) fn replace(&mut self, target: Target, value: &RawJson) -> bool {
                match self {
                    $( Self::$variant(data) => PayloadData::replace(data, target, value), )+
                    Self::Custom(custom) => custom.replace(target, value),
                }
            }

            pub(crate) fn read(kind: &EventKind, fields: &mut EventFields<'_>) -> Result<Self, DecodeError> {
                Ok(match kind {
                    $( EventKind::$variant => Self::$variant(PayloadData::read(fields)?), )+
                    EventKind::Custom(custom) => Self::Custom(CustomPayload::new(custom.clone())),
                })
            }

            pub(crate) fn write(&self, out: &mut Writer<'_>) {
                match self {
                    $( Self::$variant(data) => PayloadData::write(data, out), )+
                    Self::Custom(custom) => out.all(&custom.fields),
                }
            }
        }

        impl Event {
            $(
                $(#[doc = $doc])+
                pub fn $name(data: payload::$data) -> Self {
                    Self::new(Payload::$variant(data))
                }
            )+
        }
    };
}

kinds! {
    // Sessions and workspaces.

    /// A session starts, is resumed or is cleared.
    SessionStart session_start(SessionStart) {
        on source; block Ignored; rewrites []; context FirstMessage; text yes; halt yes; time Turn
    }
    /// A session is resumed.
    SessionResume session_resume(SessionResume) {
        on source; block Ignored; rewrites []; context Model; text yes; halt yes; time Turn
    }
    /// A session ends.
    SessionEnd session_end(SessionEnd) {
        on reason; block Ignored; rewrites []; context None; text -; halt -; time Closing
    }
    /// A session is deleted from the history.
    SessionDelete session_delete(SessionDelete) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A session is still alive.
    SessionHeartbeat session_heartbeat(Heartbeat) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A workspace is opened.
    WorkspaceOpen workspace_open(Workspace) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Turn
    }
    /// The agent runs setup or maintenance, without a conversation.
    Setup setup(Setup) {
        on trigger; block Ignored; rewrites []; context Model; text -; halt -; time Turn
    }
    /// An instructions file was loaded.
    InstructionsLoaded instructions_loaded(InstructionsLoaded) {
        on load_reason; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The agent's settings are about to change.
    ConfigChange config_change(ConfigChange) {
        on source; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// The working directory changed.
    CwdChanged cwd_changed(CwdChanged) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A directory was added to the workspace.
    DirectoryAdded directory_added(DirectoryAdded) {
        on source; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A watched file changed, by the agent or another program.
    FileChanged file_changed(FileEvent) {
        on file_path; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A file was created in the workspace.
    FileCreated file_created(FileEvent) {
        on file_path; block Ignored; rewrites []; context Model; text yes; halt -; time Notice
    }
    /// A file was saved in the workspace.
    FileSaved file_saved(FileEvent) {
        on file_path; block Ignored; rewrites []; context Model; text yes; halt -; time Notice
    }
    /// A file was deleted from the workspace.
    FileDeleted file_deleted(FileEvent) {
        on file_path; block Ignored; rewrites []; context Model; text yes; halt -; time Notice
    }
    /// A worktree is about to be created; a hook may create it.
    WorktreeCreate worktree_create(Worktree) {
        on name; block Refuse; rewrites [Output]; context Model; text yes; halt -; time Turn
    }
    /// A worktree was created.
    WorktreeCreated worktree_created(Worktree) {
        on name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A worktree is about to be removed.
    WorktreeRemove worktree_remove(Worktree) {
        on name; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// The user ran a hook manually.
    Manual manual(Manual) {
        on name; block Ignored; rewrites []; context Model; text yes; halt -; time Turn
    }

    // Turns and prompts.

    /// A user's turn starts.
    UserTurnStart user_turn_start(UserTurn) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Turn
    }
    /// A user's turn ended or was cancelled.
    UserTurnEnd user_turn_end(UserTurn) {
        on reason; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// One iteration of the agent loop starts: a model call and its tool calls.
    TurnStart turn_start(Turn) {
        on -; block Ignored; rewrites []; context OneCall; text yes; halt yes; time Turn
    }
    /// One iteration of the agent loop ended.
    TurnEnd turn_end(Turn) {
        on reason; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The user or the host cancelled a turn.
    TurnCancelled turn_cancelled(Cancelled) {
        on reason; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A prompt is about to be sent to the model.
    PromptSubmit prompt_submit(Prompt) {
        on -; block Refuse; rewrites [Prompt]; context Model; text yes; halt yes; time Turn
    }
    /// A command of the user is expanded to a prompt.
    PromptExpansion prompt_expansion(PromptExpansion) {
        on command_name; block Refuse; rewrites [Prompt]; context Model; text yes; halt yes; time Turn
    }
    /// The user sends a message while the agent works.
    SteeringSubmit steering_submit(Prompt) {
        on -; block Refuse; rewrites [Prompt]; context Model; text yes; halt yes; time Turn
    }
    /// A queued prompt is about to be sent.
    FollowupSubmit followup_submit(Prompt) {
        on -; block Refuse; rewrites [Prompt]; context Model; text yes; halt yes; time Turn
    }
    /// The agent produced a message.
    AgentResponse agent_response(AgentText) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The agent produced a thought.
    AgentThought agent_thought(AgentText) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A part of a message is about to be displayed.
    MessageDisplay message_display(AgentText) {
        on -; block Ignored; rewrites [Output]; context None; text -; halt -; time Display
    }
    /// The agent is about to stop and return control to the user.
    Stop stop(Stop) {
        on envelope.agent_type; block Continue; rewrites []; context Model; text -; halt yes; time Turn
    }
    /// An error of the model provider ended a turn.
    StopFailure stop_failure(ErrorInfo) {
        on error_type; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// An error occurred in the agent.
    Error error(ErrorInfo) {
        on error_type; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The agent reached its limit of model calls.
    MaxIterations max_iterations(ErrorInfo) {
        on error_type; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The conversation is about to be compacted.
    PreCompact pre_compact(Compaction) {
        on trigger; block Refuse; rewrites []; context Model; text yes; halt yes; time Turn
    }
    /// The summary for a compaction is about to be written; a hook may supply it.
    BeforeCompaction before_compaction(Compaction) {
        on trigger; block Refuse; rewrites [Summary]; context None; text -; halt -; time Turn
    }
    /// The conversation was compacted.
    PostCompact post_compact(Compaction) {
        on trigger; block Ignored; rewrites []; context None; text -; halt yes; time Notice
    }
    /// The agent notifies the user.
    Notification notification(Notification) {
        on notification_type; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The agent waits for the user.
    UserInputNeeded user_input_needed(Notification) {
        on notification_type; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }

    // Models.

    /// The model is about to be called.
    BeforeModel before_model(ModelCall) {
        on model; block Refuse; rewrites [Messages, Output]; context None; text -; halt yes; time Turn
    }
    /// The model responded, or a part of its response arrived.
    AfterModel after_model(ModelCall) {
        on model; block Ignored; rewrites [Output]; context None; text -; halt yes; time Display
    }
    /// The tools for the model are about to be selected.
    ToolSelection tool_selection(ModelCall) {
        on model; block Ignored; rewrites [Input]; context None; text -; halt -; time Turn
    }
    /// The session is about to switch to another model.
    PreModelSwitch pre_model_switch(ModelSwitch) {
        on to_model; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// The session switched to another model.
    PostModelSwitch post_model_switch(ModelSwitch) {
        on to_model; block Ignored; rewrites []; context Model; text yes; halt -; time Turn
    }

    // Tools.

    /// The input of a tool call can be rewritten, before any permission check.
    ToolInputTransform tool_input_transform(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// A tool call is checked, before and regardless of the host's own permission rules.
    ToolGuard tool_guard(ToolCall) {
        on tool_name; block Refuse; rewrites []; context None; text -; halt yes; time Tool
    }
    /// A tool is about to be used.
    PreToolUse pre_tool_use(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context Model; text -; halt yes; time Tool
    }
    /// The host is about to ask the user for permission to use a tool.
    PermissionRequest permission_request(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// The host refused a tool call by its own rules.
    PermissionDenied permission_denied(PermissionDenied) {
        on tool_name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A tool call was approved or refused.
    ToolApprovalDecision tool_approval_decision(ApprovalDecision) {
        on tool_name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A tool was used.
    PostToolUse post_tool_use(ToolOutcome) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// A tool was used and failed.
    PostToolFailure post_tool_failure(ToolFailure) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// The output of a tool can be rewritten, before the model sees it.
    ToolOutputTransform tool_output_transform(ToolOutcome) {
        on tool_name; block Ignored; rewrites [Output]; context None; text -; halt -; time Tool
    }
    /// All tool calls of one model response are finished.
    PostToolBatch post_tool_batch(ToolBatch) {
        on -; block EndLoop; rewrites []; context Model; text -; halt yes; time Tool
    }
    /// A shell command is about to run.
    PreShell pre_shell(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// A shell command was run.
    PostShell post_shell(ToolOutcome) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// The environment of a shell command is prepared.
    ShellEnvironment shell_environment(ToolCall) {
        on tool_name; block Ignored; rewrites [Input]; context None; text -; halt -; time Tool
    }
    /// A tool of an MCP server is about to be called.
    PreMcp pre_mcp(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// A request to an MCP server is prepared; a hook may change its metadata.
    McpRequest mcp_request(ToolCall) {
        on tool_name; block Ignored; rewrites [Input]; context None; text -; halt -; time Tool
    }
    /// A tool of an MCP server was called.
    PostMcp post_mcp(ToolOutcome) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// A file is about to be read.
    PreFileRead pre_file_read(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// A file was read.
    PostFileRead post_file_read(ToolOutcome) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// A file is about to be written.
    PreFileWrite pre_file_write(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// A file was written.
    PostFileWrite post_file_write(ToolOutcome) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// A file is about to be read for tab completion.
    PreTabRead pre_tab_read(ToolCall) {
        on tool_name; block Refuse; rewrites []; context None; text -; halt -; time Tool
    }
    /// A tab completion edited a file.
    PostTabEdit post_tab_edit(ToolOutcome) {
        on tool_name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// An MCP server asks the user for input.
    Elicitation elicitation(Elicitation) {
        on mcp_server_name; block Refuse; rewrites [Input]; context None; text -; halt -; time Turn
    }
    /// The user's answer is about to be sent to an MCP server.
    ElicitationResult elicitation_result(Elicitation) {
        on mcp_server_name; block Refuse; rewrites [Input]; context None; text -; halt -; time Turn
    }

    // Agents and tasks.

    /// A sub-agent is about to start.
    SubagentStart subagent_start(SubagentStart) {
        on envelope.agent_type; block Refuse; rewrites []; context Model; text yes; halt yes; time Turn
    }
    /// A sub-agent is about to stop.
    SubagentStop subagent_stop(SubagentStop) {
        on envelope.agent_type; block Continue; rewrites [Output]; context Model; text -; halt yes; time Turn
    }
    /// Another agent takes over the conversation.
    AgentSwitch agent_switch(AgentSwitch) {
        on to_agent; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A member of a team of agents is about to be idle.
    TeammateIdle teammate_idle(Teammate) {
        on teammate_name; block Continue; rewrites []; context None; text -; halt yes; time Turn
    }
    /// A task is about to be added to the list.
    TaskCreated task_created(Task) {
        on -; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// A task is about to be marked as done.
    TaskCompleted task_completed(Task) {
        on -; block Refuse; rewrites []; context None; text -; halt yes; time Turn
    }
    /// A to-do item is about to be added.
    TodoCreated todo_created(Task) {
        on -; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// A to-do item is about to be marked as done.
    TodoCompleted todo_completed(Task) {
        on -; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// A task of a spec is about to run.
    PreSpecTask pre_spec_task(Task) {
        on -; block Refuse; rewrites []; context Model; text yes; halt -; time Turn
    }
    /// A task of a spec ran.
    PostSpecTask post_spec_task(Task) {
        on -; block Ignored; rewrites []; context Model; text yes; halt -; time Notice
    }

    // Plugins.

    /// A plugin is about to be installed.
    PrePluginInstall pre_plugin_install(Plugin) {
        on plugin.name; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// The installation of a plugin succeeded or failed.
    PostPluginInstall post_plugin_install(Plugin) {
        on plugin.name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A plugin is about to be removed.
    PrePluginUninstall pre_plugin_uninstall(Plugin) {
        on plugin.name; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// The removal of a plugin succeeded or failed.
    PostPluginUninstall post_plugin_uninstall(Plugin) {
        on plugin.name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
}

/// The name.
impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
