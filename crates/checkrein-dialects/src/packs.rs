//! Packs: sets of rules that come with checkrein. The key `packs` of a hook file adds their rules.
//!
//! The sources are the YAML files in `packs/`: ordinary hook files with tests. The build script converts them to JSON.

use checkrein_core::RawJson;

use crate::config::{default_params, rules_of};
use crate::spec::HookSpec;

/// A set of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pack {
    /// Name in files.
    pub name: &'static str,
    /// Purpose, in one line.
    pub description: &'static str,
    /// Source.
    pub yaml: &'static str,
    /// Source as JSON, without tests.
    pub(crate) json: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/packs.rs"));

/// Returns the pack with this name.
pub fn find(name: &str) -> Option<&'static Pack> {
    ALL.iter().find(|pack| pack.name == name)
}

impl Pack {
    /// Returns the rules with their tests. Rules that are off until they are selected are disabled. Without the feature `yaml`, they
    /// have no tests.
    pub fn rules(&self) -> Vec<HookSpec> {
        rules_of(self)
    }

    /// Returns the parameters with their defaults.
    pub fn params(&self) -> Vec<(String, RawJson)> {
        default_params(self)
    }
}
