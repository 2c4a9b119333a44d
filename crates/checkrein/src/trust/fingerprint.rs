//! Fingerprint of a hook's entry, which an approval covers.
//!
//! The fingerprint is a hash of all [properties](HookSpec::properties) of the hook. The types of a hook determine which of
//! their fields are properties. It must not depend on the path of the project.

use std::path::Path;

use checkrein_core::property::Property;
use checkrein_dialects::HookSpec;
use sha2::{Digest as _, Sha256};

use crate::hash::hex;

/// Placeholder for the project's directory, so that an approval applies to all clones. Texts of files cannot contain it.
const PROJECT: &str = "\0project\0";

/// First bytes of the hash input. Another number invalidates all approvals.
const VERSION: &[u8] = b"checkrein entry 2";

/// Returns all properties of a hook, independent of the project's path.
pub(super) fn properties(spec: &HookSpec, root: &Path) -> Vec<Property> {
    let root = root.to_string_lossy();
    let relative = |text: &str| match text.strip_prefix(&*root) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{PROJECT}{rest}"),
        _ => text.to_owned(),
    };
    spec.properties(&relative).into_vec()
}

/// Returns the fingerprint of a hook with these properties.
pub(super) fn fingerprint(properties: &[Property]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(VERSION);
    for Property { label, value } in properties {
        for text in [label, value] {
            // The length of each text separates it from the next one.
            hasher.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(text);
        }
    }
    hex(&hasher.finalize())
}

/// Returns the properties for display, with `<project>` for the project's directory.
pub(super) fn shown(properties: &[Property]) -> Vec<Property> {
    let readable = |value: &str| value.replace(PROJECT, "<project>");
    let shown = |property: &Property| Property { label: property.label.clone(), value: readable(&property.value) };
    properties.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use checkrein_core::{EventKind, FailurePolicy, Matcher};
    use checkrein_dialects::{CommandSpec, FileAccess, HttpSpec, InputPattern, SandboxSpec};

    use super::*;

    fn hash(spec: &HookSpec) -> String {
        fingerprint(&properties(spec, Path::new("/project")))
    }

    #[test]
    fn every_relevant_property_changes_the_fingerprint() {
        let spec = || HookSpec::shell("guard", EventKind::PreToolUse, "./guard.sh");
        let with = |change: fn(CommandSpec) -> CommandSpec| spec().command(change);
        let sandbox = |change: fn(&mut SandboxSpec)| {
            let mut sandbox = SandboxSpec::STRICT;
            change(&mut sandbox);
            spec().command(|command| command.sandbox(sandbox))
        };
        let changed = |change: fn(&mut HookSpec)| {
            let mut spec = spec();
            change(&mut spec);
            spec
        };
        let http = |change: fn(HttpSpec) -> HttpSpec| {
            HookSpec::http("guard", EventKind::PreToolUse, "https://a.example").request(change)
        };
        let all = [
            spec(),
            spec().matching(Matcher::names(["Bash"])),
            spec().also_for(EventKind::Stop),
            spec().timeout(Duration::from_secs(5)),
            spec().timeout(Duration::from_millis(5_001)),
            spec().on_failure(FailurePolicy::Open),
            spec().on_timeout(FailurePolicy::Open),
            spec().in_background(),
            spec().once(),
            spec().order(1),
            spec().rewrites(),
            spec().dry_run(),
            changed(|spec| spec.wake_agent = true),
            changed(|spec| spec.strict = true),
            changed(|spec| spec.unknown_keys.push(("model".to_owned(), "\"x\"".to_owned()))),
            changed(|spec| spec.permission_rule = "Bash(git *)".parse().ok()),
            changed(|spec| spec.input.push(InputPattern { field: "path".to_owned(), matcher: Matcher::names(["x"]) })),
            changed(|spec| Arc::make_mut(&mut spec.info).log_only_failures = true),
            spec().dialect(&checkrein_dialects::agents::claude::DIALECT),
            with(|command| command.cwd("sub")),
            with(|command| command.env("A", "1")),
            with(|command| command.env("A", "2")),
            with(|command| command.allow_env("A")),
            with(CommandSpec::allow_all_env),
            with(|command| command.output_cap(5)),
            with(CommandSpec::leave_background),
            with(|command| command.warm(checkrein_dialects::Warm::On)),
            with(|command| command.warm(checkrein_dialects::Warm::Off)),
            with(|command| command.with_shell(["bash", "-c"])),
            sandbox(|_| {}),
            sandbox(|sandbox| sandbox.network = true),
            sandbox(|sandbox| sandbox.read.push("/x".into())),
            sandbox(|sandbox| sandbox.write.push("/x".into())),
            sandbox(|sandbox| sandbox.project = FileAccess::Write),
            sandbox(|sandbox| sandbox.outside = FileAccess::Read),
            sandbox(|sandbox| sandbox.cpu = Some(Duration::from_millis(500))),
            sandbox(|sandbox| sandbox.memory = None),
            sandbox(|sandbox| sandbox.processes = None),
            sandbox(|sandbox| sandbox.files = None),
            sandbox(|sandbox| sandbox.file_size = None),
            http(|http| http),
            http(|http| http.method("PUT")),
            http(|http| http.header("a", "b")),
            http(|http| http.allow_env("A")),
            http(|http| http.response_cap(5)),
            http(HttpSpec::follow_redirects),
            http(|http| http.secret("s")),
            http(HttpSpec::require_signed_reply),
            http(HttpSpec::public_only),
            http(|http| http.ca_file("/etc/ca.pem")),
            HookSpec::builtin("guard", EventKind::PreToolUse, "log").args(["x"]),
            HookSpec::shell("guard", EventKind::PreToolUse, "./guard.sh "),
            HookSpec::argv("guard", EventKind::PreToolUse, ["./guard.sh"]),
            HookSpec::builtin("guard", EventKind::PreToolUse, "./guard.sh"),
        ];
        let hashes: std::collections::HashSet<_> = all.iter().map(hash).collect();
        assert_eq!(hashes.len(), all.len());
        let same = [
            HookSpec::shell("other name", EventKind::PreToolUse, "./guard.sh"),
            changed(|spec| spec.status = Some("x".to_owned())),
            changed(|spec| spec.description = Some("x".to_owned())),
            changed(|spec| spec.disabled_by = Some("x".to_owned())),
            with(|command| command.bounded_by(&["A".to_owned()])),
            spec().disabled(),
        ];
        assert!(same.iter().all(|same| hash(same) == hash(&spec())));
    }

    #[test]
    fn word_boundaries_change_the_fingerprint() {
        let argv = |words: &[&str]| hash(&HookSpec::argv("h", EventKind::Stop, words.iter().copied()));
        assert_ne!(argv(&["a", "b"]), argv(&["a b"]));
        assert_ne!(argv(&["ab", "c"]), argv(&["a", "bc"]));
    }

    #[test]
    fn fingerprint_does_not_depend_on_the_project_path() {
        let in_root = |root: &str| {
            let spec = HookSpec::argv("h", EventKind::Stop, [format!("{root}/run.sh")]);
            fingerprint(&properties(&spec, Path::new(root)))
        };
        assert_eq!(in_root("/a/b"), in_root("/c"));
        let other = HookSpec::argv("h", EventKind::Stop, ["/a/bc/run.sh"]);
        assert_ne!(in_root("/a/b"), fingerprint(&properties(&other, Path::new("/a/b"))));
    }
}
