//! Each cause of a failed start has its own error.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::path::Path;
use std::time::Duration;

use checkrein_process::{ExecContext, HookCommand, Limits, ResolveError, ResolvedProgram, RunError, Shell, Stdin};
use common::{limits, path, place, run, script};

async fn fails(program: HookCommand, place: &ExecContext) -> RunError {
    run(program, place, &Stdin::none(), &limits()).await.unwrap_err()
}

#[tokio::test]
async fn missing_program_is_reported() {
    let error = fails(HookCommand::argv(["no-such-program-here", "x"]), &place("/")).await;
    assert!(
        matches!(&error, RunError::Program(ResolveError::NotFound { program, .. }) if program == "no-such-program-here")
    );
    assert_eq!(error.to_string(), format!("program `no-such-program-here` not found in PATH `{}`", path()));

    let error = fails(HookCommand::argv(["./none"]), &place("/tmp")).await;
    assert_eq!(error.to_string(), "program `/tmp/./none` not found");
    let error = fails(HookCommand::shell_with(Shell::new("no-such-shell", ["-c"]), "true"), &place("/")).await;
    assert!(error.to_string().starts_with("program `no-such-shell` not found"));
    let error = fails(HookCommand::argv(["ls"]), &ExecContext::new("/")).await;
    assert_eq!(error.to_string(), "program `ls` not found (PATH is empty)");
    assert!(matches!(fails(HookCommand::argv([""; 0]), &place("/")).await, RunError::Program(ResolveError::Empty)));
}

#[tokio::test]
async fn program_removed_after_prepare_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    script(&dir.path().join("tool"), "#!/bin/sh\n");
    let place = place(dir.path());
    let prepared = HookCommand::argv(["./tool"]).prepare(&place).unwrap();
    assert!(prepared.run(&place, &Stdin::none(), &limits()).await.unwrap().exit.success());
    std::fs::remove_file(dir.path().join("tool")).unwrap();
    let error = prepared.run(&place, &Stdin::none(), &limits()).await.unwrap_err();
    assert!(matches!(error, RunError::Program(ResolveError::NotFound { .. })), "{error:?}");
}

#[tokio::test]
async fn file_without_execute_permission_and_directory_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("plain"), "text").unwrap();
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    let error = fails(HookCommand::argv(["./plain"]), &place(dir.path())).await;
    assert!(matches!(error, RunError::Program(ResolveError::NotExecutable { .. })), "{error:?}");
    let error = fails(HookCommand::argv(["./folder"]), &place(dir.path())).await;
    assert!(matches!(error, RunError::Program(ResolveError::Directory { .. })), "{error:?}");
    // A search in PATH reports this error too, since it is more helpful than "not found".
    let place = ExecContext::new("/").env([("PATH", dir.path())]);
    let error = fails(HookCommand::argv(["plain"]), &place).await;
    assert!(matches!(error, RunError::Program(ResolveError::NotExecutable { .. })), "{error:?}");
}

#[tokio::test]
async fn missing_interpreter_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    script(&dir.path().join("script"), "#!/no/such/interpreter -x\n");
    script(&dir.path().join("windows"), "#!/bin/sh\r\necho\r\n");
    script(&dir.path().join("bare"), "echo no first line\n");
    let error = fails(HookCommand::argv(["./script"]), &place(dir.path())).await;
    let RunError::BadInterpreter { interpreter, .. } = &error else { panic!("{error:?}") };
    assert_eq!(interpreter.as_deref(), Some(Path::new("/no/such/interpreter")));
    let error = fails(HookCommand::argv(["./windows"]), &place(dir.path())).await;
    assert!(error.to_string().contains(r"its interpreter `/bin/sh\r` does not exist"), "{error}");
    let error = fails(HookCommand::argv(["./bare"]), &place(dir.path())).await;
    assert!(matches!(error, RunError::NotAProgram { .. }), "{error:?}");
}

/// The error is known at the start, before the timeout is checked.
#[tokio::test]
async fn failed_start_is_reported_with_a_zero_timeout() {
    let dir = tempfile::tempdir().unwrap();
    script(&dir.path().join("script"), "#!/no/such/interpreter\n");
    let place = place(dir.path());
    let prepared = HookCommand::argv(["./script"]).prepare(&place).unwrap();
    for _ in 0..20 {
        let error = prepared.run(&place, &Stdin::none(), &Limits::new(Duration::ZERO)).await.unwrap_err();
        assert!(matches!(error, RunError::BadInterpreter { .. }), "{error:?}");
    }
}

/// With and without a sandbox.
#[cfg(target_os = "linux")]
#[test]
fn process_limit_of_the_system_is_reported() {
    let calls = &[
        #[cfg(target_arch = "x86_64")]
        libc::SYS_fork,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_vfork,
        libc::SYS_clone,
        libc::SYS_clone3,
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    common::without_calls(calls, libc::EAGAIN, move || {
        for place in [place("/"), place("/").sandbox(checkrein_process::Sandbox::new())] {
            for program in [HookCommand::argv(["ls"]), HookCommand::shell("ls"), HookCommand::shell("echo a; b")] {
                let error = runtime.block_on(fails(program, &place));
                let RunError::Io { source, .. } = &error else { panic!("{error:?}") };
                assert_eq!(source.kind(), std::io::ErrorKind::WouldBlock);
            }
        }
    });
}

#[tokio::test]
async fn missing_working_directory_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let gone = dir.path().join("gone");
    std::fs::write(dir.path().join("file"), "").unwrap();
    for cwd in [gone, dir.path().join("file")] {
        for program in [HookCommand::argv(["ls"]), HookCommand::shell("ls"), HookCommand::shell("echo a")] {
            let error = fails(program, &place(&cwd)).await;
            assert!(matches!(&error, RunError::Cwd { cwd: named } if *named == cwd), "{error:?}");
        }
    }
}

#[tokio::test]
async fn too_long_arguments_are_reported() {
    let long = "x".repeat(200 * 1024);
    let error = fails(HookCommand::argv(["ls", &long]), &place("/")).await;
    assert!(matches!(error, RunError::ArgumentsTooLong { bytes, .. } if bytes > 200 * 1024), "{error:?}");
    let error = fails(HookCommand::shell(format!("echo {long}")), &place("/")).await;
    assert!(matches!(error, RunError::ArgumentsTooLong { .. }), "{error:?}");
    // Each argument is short enough, but their sum is not.
    let many = std::iter::once("ls".to_owned()).chain(std::iter::repeat_n("x".repeat(100 * 1024), 200));
    let error = fails(HookCommand::argv(many), &place("/")).await;
    assert!(matches!(error, RunError::ArgumentsTooLong { .. }), "{error:?}");
}

#[tokio::test]
async fn too_large_environment_is_reported() {
    let place = ExecContext::new("/").env([("PATH", path()), ("BIG", "x".repeat(200 * 1024))]);
    for program in [HookCommand::argv(["ls"]), HookCommand::shell("ls"), HookCommand::shell("echo a; b")] {
        let error = fails(program, &place).await;
        assert!(matches!(&error, RunError::EnvironmentTooLarge { largest, .. } if largest == "BIG"), "{error:?}");
    }
    let many = (0..200).map(|index| (format!("V{index}"), "x".repeat(100 * 1024)));
    let place = ExecContext::new("/").env(many.chain([("PATH".to_owned(), path())]));
    let error = fails(HookCommand::argv(["ls"]), &place).await;
    assert!(matches!(error, RunError::EnvironmentTooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn nul_byte_in_an_argument_is_rejected() {
    let error = fails(HookCommand::argv(["ls", "a\0b"]), &place("/")).await;
    assert!(matches!(error, RunError::Io { .. }), "{error:?}");
}

#[test]
fn programs_are_searched_in_the_path_of_the_context() {
    let dir = tempfile::tempdir().unwrap();
    script(&dir.path().join("tool"), "#!/bin/sh\n");
    let found =
        |name: &str, place: &ExecContext| ResolvedProgram::find(name, place).map(|found| found.path().to_owned());
    let tool = dir.path().join("tool");
    assert_eq!(found("tool", &ExecContext::new("/").env([("PATH", dir.path())])).unwrap(), tool);
    assert_eq!(found("./tool", &ExecContext::new(dir.path())).unwrap(), dir.path().join("./tool"));
    assert_eq!(found(tool.to_str().unwrap(), &ExecContext::new("/")).unwrap(), tool);
    assert_eq!(found("tool", &ExecContext::new(dir.path()).env([("PATH", "/none::/bin")])).unwrap(), tool);
    assert!(found("tool", &ExecContext::new(dir.path())).is_err(), "no PATH is not the working directory");
}
