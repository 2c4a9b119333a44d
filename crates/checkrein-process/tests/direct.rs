//! Shell texts have the same result with and without a shell.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::path::Path;

use checkrein_process::{ExecContext, Exit, HookCommand, RunOutput, Shell, Stdin};
use common::{limits, path, run, script, text};

/// A shell with an option that prevents the run without a shell.
fn slow_shell(program: &str) -> Shell {
    Shell::new(program, ["-C", "-c"])
}

async fn both(shell: &str, command: &str, place: &ExecContext) -> (RunOutput, RunOutput) {
    let stdin = Stdin::bytes("some input\n");
    let fast = HookCommand::shell_with(Shell::new(shell, ["-c"]), command);
    let slow = HookCommand::shell_with(slow_shell(shell), command);
    let fast = run(fast, place, &stdin, &limits()).await.unwrap();
    let slow = run(slow, place, &stdin, &limits()).await.unwrap();
    assert!(!slow.ran_without_shell);
    (fast, slow)
}

fn scripts(dir: &Path) {
    std::fs::create_dir(dir.join("sub")).unwrap();
    script(&dir.join("args"), "#!/bin/sh\nfor word in \"$0\" \"$@\"; do echo \"<$word>\"; done\n");
    script(&dir.join("sub/args"), "#!/bin/sh\necho \"$0 $#\"; echo oops >&2; exit 9\n");
    script(&dir.join("bare"), "echo \"bare $1\"; exit 5\n");
    script(&dir.join("broken"), "#!/no/such/interpreter\n");
    script(&dir.join("crash"), "#!/bin/sh\nkill -SEGV $$\n");
    script(&dir.join("where"), "#!/bin/sh\nenv | grep ^PWD=\n");
    std::fs::write(dir.join("plain"), "text").unwrap();
}

#[tokio::test]
async fn output_and_exit_status_equal_those_of_the_shell() {
    let dir = tempfile::tempdir().unwrap();
    scripts(dir.path());
    let env = [("PATH", path()), ("LC_ALL", "C".into())];
    let own = [("SPACED", "a  b"), ("PLAIN", "/p/q"), ("EMPTY", ""), ("GLOB", "* $PLAIN `x`"), ("HOME", "/h  h")];
    let place = ExecContext::new(dir.path()).env(env).add_env(own);
    // The text, and `true` if it runs without a shell.
    let table = [
        ("cat", true),
        ("  cat\t-  ", true),
        ("cat -n /dev/null no-such-file", true),
        ("ls --no-such-option", true),
        ("./args a b=c --d=e,f x:y 100% a@b +1", true),
        ("./args", true),
        ("sub/args 1 2 3", true),
        ("./crash", true),
        ("pwd", false),
        ("env pwd", true),
        ("env sh -c exit", true),
        ("dirname /a/b/c", true),
        ("seq 1 3", true),
        ("./where", true),
        ("./bare x", false),
        ("./broken", false),
        ("./plain", false),
        ("./none", false),
        ("sub", false),
        ("./sub", false),
        ("no-such-program-here", false),
        ("/no/such/file", false),
        ("./args 'a  b' \"c\"", true),
        ("./args \"$SPACED\" \"${SPACED}x\" \"a $PLAIN\" $PLAIN/y ${PLAIN}z '$PLAIN' '' \"\" \"$EMPTY\"", true),
        ("./args ~ ~/x a~ 'it''s' \"it's;|&*?\" '\"'", false),
        ("./args ~ ~/x 'it''s' \"it's;|&*?\" '\"'", true),
        ("\"$PLAIN\"/no/such/file", false),
        ("./args $SPACED", false),
        ("./args $EMPTY", false),
        ("./args $GLOB", false),
        ("./args \"$GLOB\"", true),
        ("./args \"$UNSET\"", false),
        ("./args \"${PLAIN:-x}\"", false),
        ("./args \"\\$PLAIN\"", false),
        ("./args $HOME *", false),
        ("X=1 ./args", false),
        ("./args a; exit 3", false),
        ("./args a # comment", false),
        ("true", false),
        ("false", false),
        ("exit 4", false),
        ("echo a b", false),
        ("", false),
    ];
    for shell in ["/bin/sh", "sh", "bash", "dash"] {
        if checkrein_process::ResolvedProgram::find(shell, &place).is_err() {
            continue;
        }
        for (command, direct) in table {
            let (fast, slow) = both(shell, command, &place).await;
            let label = format!("{shell}: {command:?}");
            assert_eq!(fast.ran_without_shell, direct, "{label}");
            assert_eq!(text(&fast.stdout.bytes), text(&slow.stdout.bytes), "{label}");
            // The only difference: some shells turn a signal into an exit code and a message.
            if let (Exit::Signalled(signal), Exit::Exited(code)) = (fast.exit, slow.exit) {
                assert_eq!(code, 128 + signal, "{label}");
                continue;
            }
            assert_eq!(fast.exit, slow.exit, "{label}");
            assert_eq!(text(&fast.stderr.bytes), text(&slow.stderr.bytes), "{label}");
        }
    }
}

#[tokio::test]
async fn environment_equals_that_of_the_shell() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let (real, link) = (real.to_str().unwrap().to_owned(), link.to_str().unwrap().to_owned());
    for cwd in [&real, &link] {
        for pwd in [None, Some(&real), Some(&link), Some(&"/".to_owned()), Some(&"nonsense".to_owned())] {
            let env = [("PATH", path()), ("A", "1".into())].into_iter();
            let place = ExecContext::new(cwd).env(env.chain(pwd.map(|pwd| ("PWD", pwd.clone()))));
            let (fast, slow) = both("/bin/sh", "env", &place).await;
            assert!(fast.ran_without_shell);
            let sorted = |reply: &RunOutput| {
                let lines = text(&reply.stdout.bytes).lines();
                // The marker is unique per run. Some shells add `_` and `SHLVL`.
                let own = ["CHECKREIN_RUN=", "_=", "SHLVL=", "OLDPWD"];
                let mut lines: Vec<_> = lines.filter(|line| !own.iter().any(|own| line.starts_with(own))).collect();
                lines.sort_unstable();
                lines.join("\n")
            };
            assert_eq!(sorted(&fast), sorted(&slow), "cwd {cwd}, PWD {pwd:?}");
        }
    }
}

#[tokio::test]
async fn program_is_resolved_again_for_another_context() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    script(&one.path().join("tool"), "#!/bin/sh\necho one\n");
    script(&two.path().join("tool"), "#!/bin/sh\necho two\n");
    let at = |dir: &Path| ExecContext::new(dir).env([("PATH", format!("{}:{}", dir.display(), path()))]);
    for program in [
        HookCommand::shell("tool"),
        HookCommand::shell("./tool"),
        HookCommand::argv(["tool"]),
        HookCommand::argv(["./tool"]),
        HookCommand::shell("tool; :"),
    ] {
        let prepared = program.prepare(&at(one.path())).unwrap();
        for (dir, expected) in [(&one, "one\n"), (&two, "two\n"), (&one, "one\n")] {
            let reply = prepared.run(&at(dir.path()), &Stdin::none(), &limits()).await.unwrap();
            assert_eq!(text(&reply.stdout.bytes), expected, "{}", prepared.program());
        }
    }
}

#[tokio::test]
async fn variable_with_a_meaning_for_shells_needs_the_shell() {
    let plain = common::place("/");
    let prepared = HookCommand::shell_with(Shell::new("bash", ["-c"]), "env").prepare(&plain).unwrap();
    assert!(prepared.run(&plain, &Stdin::none(), &limits()).await.unwrap().ran_without_shell);
    let place = ExecContext::new("/").env([("PATH", path()), ("BASH_FUNC_env%%", "() { echo mine; }".into())]);
    let reply = prepared.run(&place, &Stdin::none(), &limits()).await.unwrap();
    assert_eq!((reply.exit, text(&reply.stdout.bytes)), (Exit::Exited(0), "mine\n"));
}
