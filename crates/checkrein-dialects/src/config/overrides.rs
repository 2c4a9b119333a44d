//! The keys `disable` and `override`, with which a file changes hooks of other files.
//!
//! The loader applies them only to hooks that the file [covers](checkrein_core::Scope::covers). An invalid value changes
//! nothing.

use checkrein_core::FailurePolicy;
use checkrein_document::Node;

use super::Decoder;
use super::layout::failure_policy;

/// Changes of the hooks with one id. `None` in a field: no change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookOverride {
    /// Id of the hooks.
    pub id: String,
    /// `true` makes them dry runs.
    pub dry_run: Option<bool>,
    /// Failure policy.
    pub on_failure: Option<FailurePolicy>,
    /// Policy for timeouts.
    pub on_timeout: Option<FailurePolicy>,
}

/// Keys of the changes of one hook.
pub const OVERRIDE_KEYS: &[&str] = &["dry_run", "on_failure", "on_timeout"];

pub(super) fn read(decoder: &mut Decoder<'_>, node: &Node<'_>) -> Vec<HookOverride> {
    let mut all = Vec::new();
    let Ok(members) = decoder.object(node, "override") else { return all };
    for member in members {
        let Ok(changes) = decoder.object(&member.value, &member.key) else { continue };
        decoder.check_keys(changes, OVERRIDE_KEYS);
        let mut change = HookOverride { id: member.key.to_string(), ..HookOverride::default() };
        for key in changes {
            match &*key.key {
                "dry_run" => change.dry_run = decoder.flag(&key.value, "dry_run").ok(),
                "on_failure" => change.on_failure = failure_policy(decoder, &key.value, "on_failure"),
                "on_timeout" => change.on_timeout = failure_policy(decoder, &key.value, "on_timeout"),
                _ => {}
            }
        }
        all.push(change);
    }
    all
}
