//! Hooks with a `sandbox` in their file.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use checkrein::dialects::agents::native;
use checkrein::document::Format;
use checkrein::payload::ToolCall;
use checkrein::{Decision, Engine, Event, FailureKind, HookSpec, RawJson, Scope, Verdict};
use tempfile::TempDir;

/// A project, a home with a secret, and the hook of a file.
struct World {
    dir: TempDir,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("project/file", "before"),
            ("home/.ssh/id", "secret"),
            ("home/scripts/guard.sh", "#!/bin/sh\necho ran >&2; exit 2\n"),
            ("home/rules", "rule"),
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { dir }
    }

    fn at(&self, path: &str) -> String {
        self.dir.path().join(path).display().to_string()
    }

    fn hooks(yaml: &str) -> Vec<HookSpec> {
        let decoded = native::DIALECT.decode("hooks.yaml", Scope::User, yaml, Format::Yaml);
        assert!(decoded.diagnostics.is_empty(), "{:?}", decoded.diagnostics);
        decoded.hooks
    }

    async fn fire(&self, sandbox: &str, command: &str) -> Verdict {
        let command = RawJson::string(command);
        let yaml = format!("hooks:\n  PreToolUse:\n    - command: {command}\n      sandbox: {sandbox}\n");
        let engine = Engine::builder()
            .hooks(Self::hooks(&yaml))
            .cwd(self.at("project"))
            .vars([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", &self.at("home"))])
            .build();
        let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()))).await;
        engine.shutdown(Duration::from_secs(60)).await;
        verdict
    }
}

fn failures(verdict: &Verdict) -> Vec<FailureKind> {
    verdict.failures().map(|(_, failure)| failure.kind).collect()
}

/// Returns `false` and reports a skipped test if the kernel has no Landlock. Every sandboxed hook fails then.
async fn has_landlock() -> bool {
    let verdict = World::new().fire("true", "exit 0").await;
    match failures(&verdict)[..] {
        [] => true,
        [FailureKind::Sandbox] => {
            assert_eq!(verdict.decision(), Decision::Deny);
            common::skip("landlock", verdict.reason().unwrap_or_default());
            false
        }
        ref other => panic!("{other:?} {:?}", verdict.reason()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sandbox_allows_what_the_file_allows() {
    if !has_landlock().await {
        return;
    }
    let world = World::new();
    let (yes, no) = (true, false);
    let connect = "perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0) or exit 1'";
    #[rustfmt::skip]
    let rows = [
        ("cat file", [("true", yes), ("{project: none}", no), ("{outside: read}", yes)]),
        ("echo x >> file", [("strict", no), ("{project: write}", yes), ("{outside: read}", no)]),
        ("echo x > \"$TMPDIR/x\"", [("true", yes), ("{project: none}", yes), ("{outside: read}", yes)]),
        ("for key in $HOME/.ssh/*; do cat \"$key\"; done", [("true", no), ("{project: write}", no), ("{outside: read}", yes)]),
        ("cd; cat .ssh/id", [("true", no), ("{read: [~/.ssh]}", yes), ("{outside: write}", yes)]),
        ("cd; echo x > new", [("{outside: read}", no), ("{write: [~/.]}", yes), ("{outside: write}", yes)]),
        // Files in the command line are readable.
        ("cat ~/rules", [("true", yes), ("{project: none}", yes), ("{outside: read}", yes)]),
        (connect, [("true", no), ("{network: true}", yes), ("{outside: write}", no)]),
    ];
    for (command, columns) in rows {
        if command == connect && !Path::new("/usr/bin/perl").exists() {
            common::skip("perl", "no perl");
            continue;
        }
        for (sandbox, may) in columns {
            let _ = fs::remove_file(world.at("home/new"));
            let verdict = world.fire(sandbox, &format!("{{ {command}; }} 2>&1 >/dev/null || exit 2")).await;
            let expected = if may { Decision::NoOpinion } else { Decision::Deny };
            assert_eq!(verdict.decision(), expected, "{command} with {sandbox}: {:?}", verdict.reason());
            assert_eq!(failures(&verdict), [], "{command} with {sandbox}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn script_outside_the_project_runs() {
    if !has_landlock().await {
        return;
    }
    let world = World::new();
    for command in ["~/scripts/guard.sh", &world.at("home/scripts/guard.sh"), "cat | sh $HOME/scripts/guard.sh"] {
        let verdict = world.fire("true", command).await;
        assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("ran")), "{command}");
        assert_eq!(failures(&verdict), [], "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exceeded_limit_closes_the_gate() {
    let world = World::new();
    // No process exceeds the limit alone.
    let many = "for one in 1 2 3 4; do { head -c 30M /dev/zero; sleep 100; } | tail & done; wait";
    // `outside: write` needs no Landlock, so these limits work on every kernel.
    for (sandbox, command, why) in [
        ("{outside: write, processes: 10}", "while :; do sleep 100 & done", "more than 10 processes"),
        ("{outside: write, cpu: 1}", "while :; do :; done", "more than 1s of CPU time"),
        ("{outside: write, memory: 64MiB}", many, "more than 67108864 bytes of memory"),
        ("{outside: write, file_size: 64KiB}", "exec head -c 1M /dev/zero > large", "a file of more than 65536 bytes"),
    ] {
        let verdict = world.fire(sandbox, command).await;
        assert_eq!(failures(&verdict), [FailureKind::Sandbox], "{command}: {:?}", verdict.reason());
        assert_eq!(verdict.decision(), Decision::Deny, "{command}");
        assert!(verdict.reason().unwrap().contains(why), "{:?}", verdict.reason());
    }
}

/// The interpreter is outside the sandbox. On a kernel without Landlock, the hook must not run either.
#[tokio::test(flavor = "multi_thread")]
async fn hook_does_not_run_without_its_sandbox() {
    let world = World::new();
    fs::copy("/bin/sh", world.at("home/interpreter")).unwrap();
    let script = world.at("project/script");
    fs::write(&script, format!("#!{}\ntouch {}\n", world.at("home/interpreter"), world.at("project/ran"))).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let argv = format!("[{}]", RawJson::string(&script));
    let yaml = format!("hooks:\n  PreToolUse:\n    - command: {argv}\n      sandbox: {{project: write}}\n");
    let engine = Engine::builder().hooks(World::hooks(&yaml)).cwd(world.at("project")).build();
    let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()))).await;
    assert_eq!((failures(&verdict), verdict.decision()), (vec![FailureKind::Sandbox], Decision::Deny));
    assert!(!Path::new(&world.at("project/ran")).exists());
}
