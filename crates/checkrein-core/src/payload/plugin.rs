//! Payloads of events about plugins.

use super::wire::{EventFields, Field, FieldInfo, Writer};
use super::{PayloadData, payload};
use crate::contract::Target;
use crate::event::DecodeError;
use crate::json::RawJson;

payload! {
    /// Description of a plugin.
    PluginInfo {
        required {
            /// Name. Matchers are compared with it.
            name: String,
        }
        optional {
            /// Id.
            id: String,
            /// Version.
            version: String,
            /// Description.
            description: String,
            /// Directory of the installation.
            install_path: String,
            /// Source of the plugin.
            source: String,
            /// Error message. Only after a failed installation or removal.
            error: String,
        }
        open {
            /// Further fields from the host.
            more
        }
    }
}

/// A plugin is installed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Plugin {
    /// Plugin.
    pub plugin: PluginInfo,
}

impl Plugin {
    /// Creates a payload.
    pub fn new(plugin: impl Into<PluginInfo>) -> Self {
        Self { plugin: plugin.into() }
    }
}

impl PayloadData for Plugin {
    const FIELDS: &'static [FieldInfo] = &[FieldInfo { name: "plugin", required: true, json: "an object" }];

    fn read(fields: &mut EventFields<'_>) -> Result<Self, DecodeError> {
        fields.nested("plugin", "plugin.", PluginInfo::read).map(Self::new)
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.nested("plugin", |out| self.plugin.write(out));
    }

    /// Returns a field of the plugin by its JSON path, such as `plugin.name`.
    fn field(&self, name: &str) -> Option<Field<'_>> {
        self.plugin.field(name.strip_prefix("plugin.")?)
    }

    fn original(&self, _target: Target) -> Option<RawJson> {
        None
    }

    fn replace(&mut self, _target: Target, _value: &RawJson) -> bool {
        false
    }
}
