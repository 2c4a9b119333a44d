//! Environment variables of commands.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::ffi::OsString;

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::{claude, docker_agent, native, ub};
use checkrein::hook::CommandSpec;
use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, HookSpec, RawJson, Record, Verdict};

/// Variables of a host, with `true` if a hook that inherits the environment gets them without a request.
const VARS: &[(&str, &str, bool)] = &[
    ("HOME", "/home/ann", true),
    ("EDITOR", "vi", false),
    ("COLORTERM", "truecolor", true),
    ("MAX_TOKEN_LIMIT", "4096", false),
    ("SSH_AUTH_SOCK", "/run/agent.sock", true),
    ("AWS_SECRET_ACCESS_KEY", "value-1", false),
    ("GITHUB_TOKEN", "value-2", false),
    ("DATABASE_URL", "postgres://ann:value3@db.example/x", false),
    ("RUST_LOG", "ghp_0123456789abcdefghijABCDEFGHIJ012345", false),
    ("LD_PRELOAD", "/tmp/evil.so", false),
    ("BASH_ENV", "/tmp/evil.sh", false),
    ("NODE_OPTIONS", "--require /tmp/evil.js", false),
    ("PYTHONPATH", "/tmp/evil", false),
    ("BASH_FUNC_ls%%", "() { echo evil; }", false),
];

fn call() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()))
}

fn prints_all(dialect: &'static Dialect, more: impl FnOnce(CommandSpec) -> CommandSpec) -> HookSpec {
    HookSpec::argv("prints", EventKind::PreToolUse, ["/usr/bin/env"]).dialect(dialect).command(more)
}

async fn fired(hooks: impl IntoIterator<Item = HookSpec>, path: &str) -> (Verdict, Record) {
    let vars = VARS.iter().map(|(name, value, _)| (*name, *value)).chain([("PATH", path)]);
    let vars = vars.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Engine::builder().hooks(hooks).vars(vars).build().fire_recorded(call()).await
}

/// Names of the host's variables that a hook got.
fn got(record: &Record) -> Vec<&str> {
    let lines = record.hooks[0].stdout.as_deref().unwrap().lines();
    lines
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name)
        .filter(|name| *name != "CHECKREIN_RUN")
        .collect()
}

const PATH: &str = "/usr/bin:/bin";

#[tokio::test]
async fn only_harmless_variables_are_inherited() {
    for dialect in [&claude::DIALECT, &docker_agent::DIALECT] {
        let (verdict, record) = fired([prints_all(dialect, |command| command)], PATH).await;
        for (name, _, passed_on) in VARS {
            assert_eq!(got(&record).contains(name), *passed_on, "{} {name}", dialect.name);
            assert_eq!(record.hooks[0].held_back.iter().any(|held| held == name), !*passed_on, "{name}");
        }
        let [warning] = verdict.warnings() else { panic!("{:?}", verdict.warnings()) };
        assert!(warning.text.contains("BASH_ENV") && warning.text.contains("env_allow"), "{warning}");
        assert!(warning.text.contains("and 3 others"), "{warning}");
        let output = debug_text(&record) + &warning.to_string();
        for value in ["value-1", "value-2", "value3", "ghp_0123", "evil"] {
            assert!(!output.contains(value), "{value}: {output}");
        }
    }
}

/// The whole record as text.
fn debug_text(record: &Record) -> String {
    format!("{record:?}")
}

#[tokio::test]
async fn withheld_variables_are_reported_once() {
    let hooks = || {
        (0..3).map(|number| {
            HookSpec::shell(format!("h{number}"), EventKind::PreToolUse, "true").dialect(&claude::DIALECT)
        })
    };
    let (verdict, _) = fired(hooks(), PATH).await;
    assert_eq!(verdict.warnings().len(), 1, "{:?}", verdict.warnings());
    assert_eq!(verdict.warnings()[0].hook.id, "h0");
    let (verdict, _) = fired(hooks().map(HookSpec::dry_run), PATH).await;
    assert_eq!(verdict, Verdict::default(), "dry-run hooks report nothing");
}

#[tokio::test]
async fn requested_variables_are_passed_on() {
    let asked = prints_all(&claude::DIALECT, |command| command.allow_env("GITHUB_TOKEN"));
    let (_, record) = fired([asked], PATH).await;
    assert!(got(&record).contains(&"GITHUB_TOKEN") && !got(&record).contains(&"LD_PRELOAD"));
    for all in [CommandSpec::allow_all_env as fn(_) -> _, |command: CommandSpec| command.allow_env("*")] {
        let (verdict, record) = fired([prints_all(&claude::DIALECT, all)], ".:/bin").await;
        assert!(VARS.iter().filter(|(name, ..)| *name != "LD_PRELOAD").all(|(name, ..)| got(&record).contains(name)));
        assert_eq!(verdict.warnings(), []);
    }
    let named =
        HookSpec::shell("named", EventKind::PreToolUse, "env; : \"${GITHUB_TOKEN:-none}\"").dialect(&claude::DIALECT);
    let (_, record) = fired([named], PATH).await;
    assert!(got(&record).contains(&"GITHUB_TOKEN") && !got(&record).contains(&"AWS_SECRET_ACCESS_KEY"));
}

#[tokio::test]
async fn native_hooks_get_default_and_requested_variables() {
    let (verdict, record) = fired([prints_all(&native::DIALECT, |command| command)], PATH).await;
    assert_eq!(got(&record), ["CHECKREIN_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "HOME", "PATH"]);
    assert_eq!(
        (verdict.warnings(), record.hooks[0].held_back.len()),
        (&[][..], 0),
        "native hooks expect no other variables"
    );
    let asked = prints_all(&native::DIALECT, |command| command.allow_env("EDITOR").allow_env("GITHUB_TOKEN"));
    let (_, record) = fired([asked], PATH).await;
    // The order of variables has no meaning; the standard library sorts them.
    assert_eq!(got(&record), ["CHECKREIN_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "EDITOR", "GITHUB_TOKEN", "HOME", "PATH"]);
    let (_, record) = fired([prints_all(&ub::DIALECT, |command| command)], PATH).await;
    assert!(!got(&record).contains(&"GITHUB_TOKEN"));
}

/// A program of the repository must not replace one of the system.
#[tokio::test]
async fn relative_path_entries_are_withheld() {
    for dialect in [&claude::DIALECT, &native::DIALECT] {
        for path in [".:/usr/bin:/bin", "/usr/bin:/bin:", "node_modules/.bin:/usr/bin:/bin", "/usr/bin::/bin"] {
            let (verdict, record) = fired([prints_all(dialect, |command| command)], path).await;
            assert!(record.hooks[0].stdout.as_deref().unwrap().contains("PATH=/usr/bin:/bin\n"), "{path}: {record:?}");
            assert!(verdict.warnings()[0].text.contains("PATH"), "{path}");
        }
    }
}

/// A project can set a variable that the command of a user's hook names.
#[tokio::test]
async fn command_with_a_variable_into_the_project_does_not_run() {
    let project = tempfile::tempdir().unwrap();
    let inside = project.path().canonicalize().unwrap().join("evil");
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(project.path().join(".git")).unwrap();
    for (value, runs) in [
        (inside.to_str().unwrap().to_owned(), false),
        ("./evil".to_owned(), false),
        (format!("/usr/bin:{}", inside.display()), false),
        (format!("file://{}", inside.display()), false),
        (format!("/usr/bin/../..{}", inside.display()), false),
        ("/usr/share".to_owned(), true),
        ("https://example.com/evil".to_owned(), true),
        ("evil".to_owned(), true),
    ] {
        let hook = HookSpec::shell("guard", EventKind::PreToolUse, "echo \"$DOTFILES\" >&2; exit 2");
        let mut hook = hook.dialect(&claude::DIALECT);
        std::sync::Arc::make_mut(&mut hook.info).source = checkrein::core::Source::for_scope(checkrein::Scope::User);
        let vars = [("PATH", PATH), ("DOTFILES", &value)];
        let vars = vars.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let engine = Engine::builder().cwd(project.path()).vars(vars).hook(hook).build();
        let verdict = engine.fire(call()).await;
        let reason = verdict.reason().unwrap_or_default();
        assert!(verdict.decision().is_block(), "{value}: a guard that cannot run closes its gate");
        assert_eq!(reason.trim() == value, runs, "{value}: {reason}");
    }
}
