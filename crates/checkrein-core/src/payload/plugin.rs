use super::wire::{EventFields, Field, FieldInfo, Writer};
use super::{PayloadData, payload};
use crate::contract::Target;
use crate::event::DecodeError;
use crate::json::RawJson;

payload! {
    /// What is known of a plugin.
    PluginInfo {
        required {
            /// Its name, which matchers are compared with.
            name: String,
        }
        optional {
            /// Its id.
            id: String,
            /// Its version.
            version: String,
            /// What it is for.
            description: String,
            /// Where it is, or will be.
            install_path: String,
            /// Where it comes from.
            source: String,
            /// What went wrong. Only after the fact, and only on failure.
            error: String,
        }
        open {
            /// What else the host says of it.
            more
        }
    }
}

/// A plugin is installed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Plugin {
    /// The plugin.
    pub plugin: PluginInfo,
}

impl Plugin {
    /// Of this plugin.
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

    /// Fields of the plugin, by the path that they have in JSON.
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
