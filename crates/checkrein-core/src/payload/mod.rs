//! Typed payloads of events: one struct per set of fields, shared by the kinds that have the same fields.
//!
//! The kind table ([`EventKind`](crate::EventKind)) assigns the structs to the kinds. Hosts and dialects build payloads;
//! hooks read them. Required fields are arguments of `new`; each optional field has a setter of the same name.

mod agent;
mod custom;
mod model;
mod plugin;
mod session;
mod tool;
mod turn;
mod wire;

pub use agent::{AgentSwitch, SubagentStart, SubagentStop, Task, Teammate};
pub use custom::CustomPayload;
pub use model::{ModelCall, ModelSwitch};
pub use plugin::{Plugin, PluginInfo};
pub use session::{
    ConfigChange, CwdChanged, DirectoryAdded, FileEvent, Heartbeat, InstructionsLoaded, Manual, SessionDelete,
    SessionEnd, SessionResume, SessionStart, Setup, Workspace, Worktree,
};
pub use tool::{ApprovalDecision, Elicitation, PermissionDenied, ToolBatch, ToolCall, ToolFailure, ToolOutcome};
pub use turn::{
    AgentText, Cancelled, Compaction, ErrorInfo, Notification, Prompt, PromptExpansion, Stop, Turn, UserTurn,
};
pub use wire::{EventFields, Field, FieldInfo, FieldValue, JsonPiece};
pub(crate) use wire::{JsonWriter, Replace, Wire, Writer};

use crate::contract::Target;
use crate::event::DecodeError;
use crate::json::RawJson;

/// Interface of payload structs. Implemented by the `payload!` macro.
pub(crate) trait PayloadData: Sized {
    const FIELDS: &'static [FieldInfo];

    fn read(fields: &mut EventFields<'_>) -> Result<Self, DecodeError>;
    fn write(&self, out: &mut Writer<'_>);
    fn field(&self, name: &str) -> Option<Field<'_>>;
    fn original(&self, target: Target) -> Option<RawJson>;
    /// Replaces the target. Returns `false` if there is no such target or the value has the wrong type.
    fn replace(&mut self, target: Target, value: &RawJson) -> bool;
}

/// Declares a payload struct: its fields, constructor and setters, its JSON form, and the fields that rewrites replace.
macro_rules! payload {
    (
        $(#[$meta:meta])*
        $name:ident {
            $( required { $( $(#[$rmeta:meta])* $rfield:ident : $rtype:ty ),* $(,)? } )?
            $( optional { $( $(#[$ometa:meta])* $ofield:ident : $otype:ty ),* $(,)? } )?
            $( open { $(#[$pmeta:meta])* $open:ident } )?
            $( targets { $( $target:ident => $tfield:ident ),* $(,)? } )?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct $name {
            $( $( $(#[$rmeta])* pub $rfield: $rtype, )* )?
            $( $( $(#[$ometa])* pub $ofield: Option<$otype>, )* )?
            $( $(#[$pmeta])* pub $open: std::collections::BTreeMap<String, $crate::json::RawJson>, )?
        }

        impl $name {
            /// Creates a value with the required fields.
            pub fn new($( $( $rfield: impl Into<$rtype> ),* )?) -> Self {
                Self {
                    $( $( $rfield: $rfield.into(), )* )?
                    ..Self::default()
                }
            }

            $( $(
                $(#[$ometa])*
                #[must_use]
                pub fn $ofield(mut self, $ofield: impl Into<$otype>) -> Self {
                    self.$ofield = Some($ofield.into());
                    self
                }
            )* )?
        }

        impl $crate::payload::PayloadData for $name {
            const FIELDS: &'static [$crate::payload::FieldInfo] = &[
                $( $( $crate::payload::FieldInfo {
                    name: stringify!($rfield),
                    required: true,
                    json: <$rtype as $crate::payload::Wire>::EXPECTED,
                }, )* )?
                $( $( $crate::payload::FieldInfo {
                    name: stringify!($ofield),
                    required: false,
                    json: <$otype as $crate::payload::Wire>::EXPECTED,
                }, )* )?
            ];

            #[allow(unused_variables, reason = "a payload may have no fields")]
            fn read(fields: &mut $crate::payload::EventFields<'_>) -> Result<Self, $crate::event::DecodeError> {
                Ok(Self {
                    $( $( $rfield: fields.required(stringify!($rfield))?, )* )?
                    $( $( $ofield: fields.optional(stringify!($ofield))?, )* )?
                    $( $open: fields.rest(), )?
                })
            }

            #[allow(unused_variables, reason = "a payload may have no fields")]
            fn write(&self, out: &mut $crate::payload::Writer<'_>) {
                $( $( out.field(stringify!($rfield), &self.$rfield); )* )?
                $( $( out.optional(stringify!($ofield), self.$ofield.as_ref()); )* )?
                $( out.all(&self.$open); )?
            }

            fn field(&self, name: &str) -> Option<$crate::payload::Field<'_>> {
                match name {
                    $( $( stringify!($rfield) => Some($crate::payload::Wire::view(&self.$rfield)), )* )?
                    $( $( stringify!($ofield) => self.$ofield.as_ref().map($crate::payload::Wire::view), )* )?
                    $( name => self.$open.get(name).map($crate::payload::Field::Json), )?
                    #[allow(unreachable_patterns, reason = "open payloads look the name up")]
                    _ => None,
                }
            }

            #[allow(unused_variables, clippy::match_single_binding, reason = "a payload may have no targets")]
            fn original(&self, target: $crate::contract::Target) -> Option<$crate::json::RawJson> {
                match target {
                    $( $( $crate::contract::Target::$target =>
                        self.field(stringify!($tfield)).map(|field| field.to_json()), )* )?
                    #[allow(unreachable_patterns, reason = "a payload may have all targets")]
                    _ => None,
                }
            }

            #[allow(unused_variables, clippy::match_single_binding, reason = "a payload may have no targets")]
            fn replace(&mut self, target: $crate::contract::Target, value: &$crate::json::RawJson) -> bool {
                match target {
                    $( $( $crate::contract::Target::$target =>
                        $crate::payload::Replace::replace(&mut self.$tfield, value), )* )?
                    #[allow(unreachable_patterns, reason = "a payload may have all targets")]
                    _ => false,
                }
            }
        }
    };
}
pub(crate) use payload;
