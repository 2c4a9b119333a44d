//! The kind table. A new kind is one row here; everything else about kinds is made from the rows.

use std::borrow::Cow;
use std::fmt;

use super::name::CustomKind;
use crate::contract::{BlockEffect, ContextUse, Contract, Target, TimeClass};
use crate::envelope::Envelope;
use crate::event::{DecodeError, Event};
use crate::json::RawJson;
use crate::payload::{self, CustomPayload, EventFields, Field, FieldInfo, PayloadData, Writer};

/// Reads a cell of the table.
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

/// A field that matchers can be compared with.
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
        /// What kind of moment in an agent's life an event is.
        ///
        /// Names are canonical: snake_case, the same for every agent. Dialects map their own spellings to them.
        ///
        /// ```
        /// use checkrein_core::{Block, EventKind};
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
            /// What only one host knows; the host declares its contract.
            Custom(CustomKind),
        }

        /// The data of an event, by kind.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Payload {
            $( $(#[doc = $doc])+ $variant(payload::$data), )+
            /// What only one host knows.
            Custom(CustomPayload),
        }

        /// How many kinds there are, custom ones aside.
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

        /// The rows, numbered in the order of the table.
        enum KindId { $( $variant, )+ }

        impl EventKind {
            /// All kinds but the custom ones, in the order of the table.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )+];

            /// The canonical name.
            pub fn name(&self) -> &str {
                match self {
                    $( Self::$variant => stringify!($name), )+
                    Self::Custom(custom) => custom.name(),
                }
            }

            /// What the kind stands for, in a sentence.
            pub fn description(&self) -> &'static str {
                match self {
                    $( Self::$variant => concat!($($doc),+).trim_ascii(), )+
                    Self::Custom(_) => "What only one host knows.",
                }
            }

            /// What hooks may do at events of this kind.
            pub fn contract(&self) -> &Contract {
                match self {
                    Self::Custom(custom) => custom.contract(),
                    named => &CONTRACTS[named.index().unwrap_or_default()],
                }
            }

            /// The fields that events of this kind carry, besides the envelope.
            pub fn fields(&self) -> &'static [FieldInfo] {
                match self {
                    $( Self::$variant => <payload::$data as PayloadData>::FIELDS, )+
                    Self::Custom(_) => &[],
                }
            }

            /// The place in the table; `None` for custom kinds.
            #[inline]
            pub(crate) fn index(&self) -> Option<usize> {
                match self {
                    $( Self::$variant => Some(KindId::$variant as usize), )+
                    Self::Custom(_) => None,
                }
            }
        }

        impl Payload {
            /// The kind of event that carries this.
            pub fn kind(&self) -> EventKind {
                match self {
                    $( Self::$variant(_) => EventKind::$variant, )+
                    Self::Custom(custom) => EventKind::Custom(custom.kind.clone()),
                }
            }

            /// The place of the kind in the table; `None` for custom kinds.
            #[inline]
            pub(crate) fn kind_index(&self) -> Option<usize> {
                match self {
                    $( Self::$variant(_) => Some(KindId::$variant as usize), )+
                    Self::Custom(_) => None,
                }
            }

            /// What matchers are compared with, if the event says it.
            pub(crate) fn subject<'a>(&'a self, envelope: &'a Envelope) -> Option<Cow<'a, str>> {
                #[allow(unused_variables, reason = "not every kind has a subject")]
                match self {
                    $( Self::$variant(data) => cell!(subject data envelope $($on).+).map(Cow::Borrowed), )+
                    Self::Custom(custom) => custom.subject(envelope),
                }
            }

            /// The contract of the kind.
            pub(crate) fn contract(&self) -> &Contract {
                match self {
                    Self::Custom(custom) => custom.kind.contract(),
                    named => &CONTRACTS[named.kind_index().unwrap_or_default()],
                }
            }

            /// One of the data's own fields, by its name in JSON.
            pub fn field(&self, name: &str) -> Option<Field<'_>> {
                match self {
                    $( Self::$variant(data) => PayloadData::field(data, name), )+
                    Self::Custom(custom) => custom.get(name),
                }
            }

            /// What a rewrite of `target` would replace.
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
    // Sessions and what surrounds them.

    /// A session begins, goes on or starts afresh.
    SessionStart session_start(SessionStart) {
        on source; block Ignored; rewrites []; context FirstMessage; text yes; halt yes; time Turn
    }
    /// A session that had stopped goes on.
    SessionResume session_resume(SessionResume) {
        on source; block Ignored; rewrites []; context Model; text yes; halt yes; time Turn
    }
    /// A session is over.
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
    /// The agent is set up or maintained, without a conversation.
    Setup setup(Setup) {
        on trigger; block Ignored; rewrites []; context Model; text -; halt -; time Turn
    }
    /// A file with standing instructions was read.
    InstructionsLoaded instructions_loaded(InstructionsLoaded) {
        on load_reason; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The agent's own settings are about to change.
    ConfigChange config_change(ConfigChange) {
        on source; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// The working directory changed.
    CwdChanged cwd_changed(CwdChanged) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A directory was added to what the agent may work on.
    DirectoryAdded directory_added(DirectoryAdded) {
        on source; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A watched file changed, whoever changed it.
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
    /// A work tree is needed; a hook may make it.
    WorktreeCreate worktree_create(Worktree) {
        on name; block Refuse; rewrites [Output]; context Model; text yes; halt -; time Turn
    }
    /// A work tree was made.
    WorktreeCreated worktree_created(Worktree) {
        on name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A work tree is about to be removed.
    WorktreeRemove worktree_remove(Worktree) {
        on name; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// A user ran a hook by hand.
    Manual manual(Manual) {
        on name; block Ignored; rewrites []; context Model; text yes; halt -; time Turn
    }

    // Turns and prompts.

    /// A user's turn begins.
    UserTurnStart user_turn_start(UserTurn) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Turn
    }
    /// A user's turn is over, also when it was cancelled.
    UserTurnEnd user_turn_end(UserTurn) {
        on reason; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// One round of the loop begins: a model call and what follows from it.
    TurnStart turn_start(Turn) {
        on -; block Ignored; rewrites []; context OneCall; text yes; halt yes; time Turn
    }
    /// One round of the loop is over.
    TurnEnd turn_end(Turn) {
        on reason; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The user or the host ended a turn before its time.
    TurnCancelled turn_cancelled(Cancelled) {
        on reason; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A prompt is about to be sent to the model.
    PromptSubmit prompt_submit(Prompt) {
        on -; block Refuse; rewrites [Prompt]; context Model; text yes; halt yes; time Turn
    }
    /// A command that the user typed becomes a prompt.
    PromptExpansion prompt_expansion(PromptExpansion) {
        on command_name; block Refuse; rewrites [Prompt]; context Model; text yes; halt yes; time Turn
    }
    /// The user steers the agent while it works.
    SteeringSubmit steering_submit(Prompt) {
        on -; block Refuse; rewrites [Prompt]; context Model; text yes; halt yes; time Turn
    }
    /// A prompt that waited for the agent is sent.
    FollowupSubmit followup_submit(Prompt) {
        on -; block Refuse; rewrites [Prompt]; context Model; text yes; halt yes; time Turn
    }
    /// The agent said something.
    AgentResponse agent_response(AgentText) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The agent thought something.
    AgentThought agent_thought(AgentText) {
        on -; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A piece of a message is about to be shown.
    MessageDisplay message_display(AgentText) {
        on -; block Ignored; rewrites [Output]; context None; text -; halt -; time Display
    }
    /// The agent is about to stop and hand back.
    Stop stop(Stop) {
        on envelope.agent_type; block Continue; rewrites []; context Model; text -; halt yes; time Turn
    }
    /// A turn was ended by an error of the model's service.
    StopFailure stop_failure(ErrorInfo) {
        on error_type; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// Something went wrong in the agent.
    Error error(ErrorInfo) {
        on error_type; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The agent has made all the model calls that it may make.
    MaxIterations max_iterations(ErrorInfo) {
        on error_type; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The conversation is about to be shortened.
    PreCompact pre_compact(Compaction) {
        on trigger; block Refuse; rewrites []; context Model; text yes; halt yes; time Turn
    }
    /// The summary that shortens the conversation is about to be written; a hook may write it.
    BeforeCompaction before_compaction(Compaction) {
        on trigger; block Refuse; rewrites [Summary]; context None; text -; halt -; time Turn
    }
    /// The conversation has been shortened.
    PostCompact post_compact(Compaction) {
        on trigger; block Ignored; rewrites []; context None; text -; halt yes; time Notice
    }
    /// The agent tells its user something.
    Notification notification(Notification) {
        on notification_type; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// The agent waits for its user.
    UserInputNeeded user_input_needed(Notification) {
        on notification_type; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }

    // Models.

    /// The model is about to be called.
    BeforeModel before_model(ModelCall) {
        on model; block Refuse; rewrites [Messages, Output]; context None; text -; halt yes; time Turn
    }
    /// The model has answered, or a piece of its answer came.
    AfterModel after_model(ModelCall) {
        on model; block Ignored; rewrites [Output]; context None; text -; halt yes; time Display
    }
    /// It is about to be settled which tools the model may use.
    ToolSelection tool_selection(ModelCall) {
        on model; block Ignored; rewrites [Input]; context None; text -; halt -; time Turn
    }
    /// The session is about to change its model.
    PreModelSwitch pre_model_switch(ModelSwitch) {
        on to_model; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// The session has changed its model.
    PostModelSwitch post_model_switch(ModelSwitch) {
        on to_model; block Ignored; rewrites []; context Model; text yes; halt -; time Turn
    }

    // Tools.

    /// The input of a tool call may be rewritten, before anybody judges it.
    ToolInputTransform tool_input_transform(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// A tool call is judged before the host's own rules, and whatever they say.
    ToolGuard tool_guard(ToolCall) {
        on tool_name; block Refuse; rewrites []; context None; text -; halt yes; time Tool
    }
    /// A tool is about to be used.
    PreToolUse pre_tool_use(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context Model; text -; halt yes; time Tool
    }
    /// The host is about to ask its user for leave to use a tool.
    PermissionRequest permission_request(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// The host refused a tool call by itself.
    PermissionDenied permission_denied(PermissionDenied) {
        on tool_name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// It is settled whether a tool call may happen.
    ToolApprovalDecision tool_approval_decision(ApprovalDecision) {
        on tool_name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A tool has been used.
    PostToolUse post_tool_use(ToolOutcome) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// A tool has been used and failed.
    PostToolFailure post_tool_failure(ToolFailure) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// The output of a tool may be rewritten before the model sees it.
    ToolOutputTransform tool_output_transform(ToolOutcome) {
        on tool_name; block Ignored; rewrites [Output]; context None; text -; halt -; time Tool
    }
    /// All tool calls of one answer are done.
    PostToolBatch post_tool_batch(ToolBatch) {
        on -; block EndLoop; rewrites []; context Model; text -; halt yes; time Tool
    }
    /// A shell command is about to run.
    PreShell pre_shell(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// A shell command has run.
    PostShell post_shell(ToolOutcome) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// The environment of a shell command is put together.
    ShellEnvironment shell_environment(ToolCall) {
        on tool_name; block Ignored; rewrites [Input]; context None; text -; halt -; time Tool
    }
    /// A tool of an MCP server is about to be called.
    PreMcp pre_mcp(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// A request to an MCP server is put together; what goes along with it may be changed.
    McpRequest mcp_request(ToolCall) {
        on tool_name; block Ignored; rewrites [Input]; context None; text -; halt -; time Tool
    }
    /// A tool of an MCP server has been called.
    PostMcp post_mcp(ToolOutcome) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// A file is about to be read.
    PreFileRead pre_file_read(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// A file has been read.
    PostFileRead post_file_read(ToolOutcome) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// A file is about to be written.
    PreFileWrite pre_file_write(ToolCall) {
        on tool_name; block Refuse; rewrites [Input]; context None; text -; halt yes; time Tool
    }
    /// A file has been written.
    PostFileWrite post_file_write(ToolOutcome) {
        on tool_name; block Feedback; rewrites [Output]; context Model; text -; halt yes; time Tool
    }
    /// A file is about to be read to complete what the user types.
    PreTabRead pre_tab_read(ToolCall) {
        on tool_name; block Refuse; rewrites []; context None; text -; halt -; time Tool
    }
    /// What the user types has been completed.
    PostTabEdit post_tab_edit(ToolOutcome) {
        on tool_name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// An MCP server asks the user for something.
    Elicitation elicitation(Elicitation) {
        on mcp_server_name; block Refuse; rewrites [Input]; context None; text -; halt -; time Turn
    }
    /// The user's answer is about to go to an MCP server.
    ElicitationResult elicitation_result(Elicitation) {
        on mcp_server_name; block Refuse; rewrites [Input]; context None; text -; halt -; time Turn
    }

    // Agents and tasks.

    /// A sub-agent is about to begin.
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
    /// A task is about to be put on the list.
    TaskCreated task_created(Task) {
        on -; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// A task is about to be marked as done.
    TaskCompleted task_completed(Task) {
        on -; block Refuse; rewrites []; context None; text -; halt yes; time Turn
    }
    /// A to-do entry is about to be made.
    TodoCreated todo_created(Task) {
        on -; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// A to-do entry is about to be marked as done.
    TodoCompleted todo_completed(Task) {
        on -; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// A step of a plan is about to be carried out.
    PreSpecTask pre_spec_task(Task) {
        on -; block Refuse; rewrites []; context Model; text yes; halt -; time Turn
    }
    /// A step of a plan has been carried out.
    PostSpecTask post_spec_task(Task) {
        on -; block Ignored; rewrites []; context Model; text yes; halt -; time Notice
    }

    // Plugins.

    /// A plugin is about to be installed.
    PrePluginInstall pre_plugin_install(Plugin) {
        on plugin.name; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// A plugin has been installed, or that failed.
    PostPluginInstall post_plugin_install(Plugin) {
        on plugin.name; block Ignored; rewrites []; context None; text -; halt -; time Notice
    }
    /// A plugin is about to be removed.
    PrePluginUninstall pre_plugin_uninstall(Plugin) {
        on plugin.name; block Refuse; rewrites []; context None; text -; halt -; time Turn
    }
    /// A plugin has been removed, or that failed.
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
