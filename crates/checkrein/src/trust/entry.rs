//! A hook as it is approved: all that matters of what its file says, in one form.

use std::path::Path;

use checkrein_core::Effect;
use checkrein_dialects::{CommandLine, CommandSpec, HandlerSpec, HookSpec, HttpSpec, SandboxSpec};
use sha2::{Digest as _, Sha256};

use crate::hash::hex;

/// One thing that a hook's file says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fact {
    /// What it is about.
    pub label: String,
    /// What is said.
    pub value: String,
}

/// Stands for the project's directory, so that a team can approve for all its clones. No text of a file can hold it.
const PROJECT: &str = "\0project\0";

/// All that matters of a hook. Neither its name nor its place nor what it is for.
///
/// What is not said is not there, so that a new key changes no hook that does not have it.
pub(super) fn facts(spec: &HookSpec, root: &Path) -> Vec<Fact> {
    let mut facts = Facts(Vec::new());
    facts.put("dialect", spec.dialect.name);
    for kind in &spec.hook.kinds {
        facts.put("event", kind.name());
    }
    facts.unless_empty("matcher", spec.hook.matcher.pattern());
    if let Some(rule) = &spec.rule {
        facts.put("if", rule.to_string());
    }
    for input in &spec.input {
        facts.put("input", format!("{}: {}", input.field, input.matcher.pattern()));
    }
    match &spec.handler {
        HandlerSpec::Command(command) => facts.command(command, root),
        HandlerSpec::Http(http) => facts.http(http),
        HandlerSpec::Builtin(builtin) => {
            facts.put("builtin", &builtin.name);
            builtin.args.iter().for_each(|arg| facts.put("argument", arg));
        }
        HandlerSpec::Other { kind, settings } => {
            facts.put("handler", kind);
            facts.put("settings", settings.as_str());
        }
        other => facts.put("handler", other.kind().name()),
    }
    if let Some(timeout) = spec.timeout {
        facts.put("timeout", format!("{} s", timeout.as_secs_f64()));
    }
    let info = &spec.hook.info;
    facts.effect("on_failure", info.on_failure);
    facts.effect("on_timeout", info.on_timeout);
    let flags = [
        ("in the background", spec.background),
        ("once in a session", spec.once),
        ("strict", spec.strict),
        ("wakes the agent", spec.rewake),
        ("rewrites", info.declares_rewrites),
        ("quiet", info.quiet),
    ];
    flags.into_iter().filter(|(_, is_set)| *is_set).for_each(|(label, _)| facts.put(label, "yes"));
    if spec.hook.order != 0 {
        facts.put("order", spec.hook.order.to_string());
    }
    for (name, value) in &spec.unused {
        facts.put(name, value);
    }
    facts.0
}

struct Facts(Vec<Fact>);

impl Facts {
    fn put(&mut self, label: &str, value: impl Into<String>) {
        self.0.push(Fact { label: label.to_owned(), value: value.into() });
    }

    fn unless_empty(&mut self, label: &str, value: &str) {
        if !value.is_empty() {
            self.put(label, value);
        }
    }

    fn effect(&mut self, label: &str, effect: Option<Effect>) {
        if let Some(effect) = effect {
            self.put(label, effect.to_string());
        }
    }

    fn command(&mut self, command: &CommandSpec, root: &Path) {
        let root = root.to_string_lossy();
        let anywhere = |text: &str| match text.strip_prefix(&*root) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{PROJECT}{rest}"),
            _ => text.to_owned(),
        };
        match &command.run {
            CommandLine::Shell { text, shell } => {
                self.put("command", text);
                shell.iter().flatten().for_each(|word| self.put("shell", word));
            }
            CommandLine::Argv(argv) => argv.iter().for_each(|word| self.put("word", anywhere(word))),
        }
        if let Some(cwd) = &command.cwd {
            self.put("cwd", anywhere(&cwd.to_string_lossy()));
        }
        for (name, value) in &command.env_set {
            self.put("variable", format!("{name}={}", anywhere(value)));
        }
        command.env_allow.iter().for_each(|name| self.put("gets variable", name));
        if let Some(all) = command.env_all {
            self.put("gets all variables", if all { "yes" } else { "no" });
        }
        if command.expands {
            self.put("variables in words", "yes");
        }
        if let Some(cap) = command.output_cap {
            self.put("output cap", cap.to_string());
        }
        if let Some(leave) = command.leave_background {
            self.put("leaves processes behind", if leave { "yes" } else { "no" });
        }
        if let Some(sandbox) = &command.sandbox {
            self.sandbox(sandbox);
        }
    }

    fn sandbox(&mut self, sandbox: &SandboxSpec) {
        self.put("sandbox", "yes");
        self.put("sandbox: project", format!("{:?}", sandbox.project));
        self.put("sandbox: outside", format!("{:?}", sandbox.outside));
        sandbox.read.iter().for_each(|path| self.put("sandbox: reads", path.to_string_lossy()));
        sandbox.write.iter().for_each(|path| self.put("sandbox: writes", path.to_string_lossy()));
        self.put("sandbox: network", if sandbox.network { "yes" } else { "no" });
        let limits = [
            ("sandbox: seconds", sandbox.cpu.map(|time| time.as_secs())),
            ("sandbox: memory", sandbox.memory),
            ("sandbox: processes", sandbox.processes.map(u64::from)),
            ("sandbox: open files", sandbox.files),
            ("sandbox: file size", sandbox.file_size),
        ];
        for (label, limit) in limits {
            self.put(label, limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string()));
        }
    }

    fn http(&mut self, http: &HttpSpec) {
        self.put("method", &http.method);
        self.put("url", &http.url);
        for (name, value) in &http.headers {
            self.put("header", format!("{name}: {value}"));
        }
        http.env_allow.iter().for_each(|name| self.put("sends variable", name));
        if let Some(secret) = &http.secret {
            self.put("secret", secret);
        }
        if http.response_cap != HttpSpec::RESPONSE_CAP {
            self.put("response cap", http.response_cap.to_string());
        }
        let flags = [
            ("follows redirects", http.follow_redirects),
            ("wants signed replies", http.require_signed_reply),
            ("private addresses", http.allow_private),
        ];
        flags.into_iter().filter(|(_, is_set)| *is_set).for_each(|(label, _)| self.put(label, "yes"));
    }
}

/// The hash of an entry.
pub(super) fn hash(facts: &[Fact]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"checkrein entry 1");
    for Fact { label, value } in facts {
        for text in [label, value] {
            // With its length, so that no two lists of texts are one text.
            hasher.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
            hasher.update(text);
        }
    }
    hex(&hasher.finalize())
}

/// For people: where the project is, is said so.
pub(super) fn shown(facts: &[Fact]) -> Vec<Fact> {
    let readable = |value: &str| value.replace(PROJECT, "<project>");
    facts.iter().map(|fact| Fact { label: fact.label.clone(), value: readable(&fact.value) }).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use checkrein_core::{EventKind, Matcher};

    use super::*;

    fn of(spec: &HookSpec) -> String {
        hash(&facts(spec, Path::new("/project")))
    }

    /// Whatever matters is part of the hash, and no two of these are the same.
    #[test]
    fn everything_that_matters_changes_it() {
        let spec = || HookSpec::shell("guard", EventKind::PreToolUse, "./guard.sh");
        let with = |change: fn(CommandSpec) -> CommandSpec| spec().command(change);
        let sandbox = |change: fn(&mut SandboxSpec)| {
            let mut sandbox = SandboxSpec::STRICT;
            change(&mut sandbox);
            spec().command(|command| command.sandbox(sandbox))
        };
        let mut rewake = spec();
        rewake.rewake = true;
        let all = [
            spec(),
            spec().matching(Matcher::names(["Bash"])),
            spec().also_for(EventKind::Stop),
            spec().timeout(Duration::from_secs(5)),
            spec().timeout(Duration::from_millis(5_001)),
            spec().on_failure(Effect::Open),
            spec().on_timeout(Effect::Open),
            spec().in_background(),
            spec().once(),
            spec().order(1),
            spec().rewrites(),
            rewake,
            spec().speaking(&checkrein_dialects::agents::claude::DIALECT),
            with(|command| command.cwd("sub")),
            with(|command| command.env("A", "1")),
            with(|command| command.env("A", "2")),
            with(|command| command.allow_env("A")),
            with(CommandSpec::allow_all_env),
            with(|command| command.output_cap(5)),
            with(CommandSpec::leave_background),
            with(|command| command.with_shell(["bash", "-c"])),
            sandbox(|_| {}),
            sandbox(|sandbox| sandbox.network = true),
            sandbox(|sandbox| sandbox.read.push("/x".into())),
            sandbox(|sandbox| sandbox.memory = None),
            HookSpec::shell("guard", EventKind::PreToolUse, "./guard.sh "),
            HookSpec::argv("guard", EventKind::PreToolUse, ["./guard.sh"]),
            HookSpec::builtin("guard", EventKind::PreToolUse, "./guard.sh"),
        ];
        let hashes: std::collections::HashSet<_> = all.iter().map(of).collect();
        assert_eq!(hashes.len(), all.len());
        assert_eq!(of(&spec()), of(&HookSpec::shell("other name", EventKind::PreToolUse, "./guard.sh")));
    }

    #[test]
    fn texts_do_not_run_into_one_another() {
        let argv = |words: &[&str]| of(&HookSpec::argv("h", EventKind::Stop, words.iter().copied()));
        assert_ne!(argv(&["a", "b"]), argv(&["a b"]));
        assert_ne!(argv(&["ab", "c"]), argv(&["a", "bc"]));
    }

    #[test]
    fn a_project_may_lie_anywhere() {
        let at = |root: &str| {
            let spec = HookSpec::argv("h", EventKind::Stop, [format!("{root}/run.sh")]);
            hash(&facts(&spec, Path::new(root)))
        };
        assert_eq!(at("/a/b"), at("/c"));
        let other = HookSpec::argv("h", EventKind::Stop, ["/a/bc/run.sh"]);
        assert_ne!(at("/a/b"), hash(&facts(&other, Path::new("/a/b"))));
    }
}
