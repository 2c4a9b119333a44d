use std::path::Path;
use std::process::Command;
use std::time::Duration;

use checkrein::payload::{SessionStart, Turn};
use checkrein::{Engine, Event, EventKind, FailureKind, HookSpec};

use crate::common::{Bench, context};

fn bench(name: &str, args: &[&str]) -> Bench {
    Bench::new(EventKind::SessionStart, name, args)
}

async fn added(bench: &Bench) -> String {
    context(&bench.fire(Event::session_start(SessionStart::new())).await)
}

/// Runs git. Returns `false` if git is not installed.
#[expect(clippy::print_stderr, reason = "a skipped test reports the reason")]
fn git(directory: &Path, args: &[&str]) -> bool {
    let identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main"];
    let run = Command::new("git").args(identity).args(args).current_dir(directory).output();
    match run {
        Ok(output) => {
            assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
            true
        }
        Err(error) => {
            eprintln!("skipped: cannot run git: {error}");
            false
        }
    }
}

#[tokio::test]
async fn add_context_adds_its_arguments() {
    assert_eq!(added(&bench("add_context", &["be kind", "be brief"])).await, "be kind\nbe brief");
}

#[tokio::test]
async fn add_date_adds_the_date() {
    let date = added(&bench("add_date", &[])).await;
    assert!(date.starts_with("Today is ") && date.contains("day, 2") && date.contains("time zone"), "{date}");
    assert!(added(&bench("add_date", &["--time"])).await.contains(':'));
}

#[tokio::test]
async fn add_environment_info_adds_the_environment() {
    let bench = bench("add_environment_info", &[]);
    let before = added(&bench).await;
    assert!(before.contains(&format!("Working directory: {}", bench.project().display())), "{before}");
    assert!(before.contains("Git repository: no") && before.contains("Shell: /bin/zsh"), "{before}");
    assert!(before.contains(std::env::consts::OS) && before.contains(std::env::consts::ARCH), "{before}");
    bench.write(".git/HEAD", "x");
    assert!(added(&bench).await.contains("Git repository: yes"));
}

#[tokio::test]
async fn add_user_info_adds_user_home_and_host() {
    let bench = bench("add_user_info", &[]);
    let text = added(&bench).await;
    assert!(
        text.contains("User: ann\n") && text.contains(&format!("Home directory: {}", bench.home().display())),
        "{text}"
    );
    assert_eq!(text.contains("Host: "), cfg!(unix), "{text}");
}

#[tokio::test]
async fn add_directory_listing_omits_dotfiles_and_more_than_100() {
    let bench = bench("add_directory_listing", &[]);
    assert!(added(&bench).await.ends_with("is empty."));
    bench.write(".hidden", "x");
    bench.write("b.txt", "x");
    bench.write("a/inner", "x");
    assert_eq!(added(&bench).await, format!("Files in {}:\na/\nb.txt", bench.project().display()));
    for n in 0..150 {
        bench.write(&format!("c{n:03}"), "x");
    }
    let many = added(&bench).await;
    assert_eq!(many.lines().count(), 1 + 100 + 1);
    assert!(many.ends_with("[and 52 more]"), "{many}");
}

#[tokio::test]
async fn missing_directory_is_a_warning() {
    let bench = bench("add_directory_listing", &["--max=3"]);
    let verdict = bench.fire_at(Event::session_start(SessionStart::new()), &bench.project().join("gone")).await;
    assert!(verdict.warnings()[0].text.contains("cannot list"), "{verdict:?}");
}

#[tokio::test]
async fn add_prompt_files_finds_the_nearest_file() {
    let bench = bench("add_prompt_files", &["AGENTS.md", "MISSING.md", "NOTES.md", "~/own.md"]);
    std::fs::write(bench.home().join("AGENTS.md"), "from above").unwrap();
    std::fs::write(bench.home().join("own.md"), "my own").unwrap();
    bench.write("NOTES.md", "near\n");
    let project = bench.project();
    let all = added(&bench).await;
    let expected = format!(
        "From {}:\nfrom above\n---\nFrom {}:\nnear\n---\nFrom {}:\nmy own",
        bench.home().join("AGENTS.md").display(),
        project.join("NOTES.md").display(),
        bench.home().join("own.md").display()
    );
    assert_eq!(all, expected);
    bench.write("AGENTS.md", "nearer");
    assert!(added(&bench).await.contains("nearer"));
}

#[tokio::test]
async fn add_prompt_files_respects_depth_and_size() {
    let bench = bench("add_prompt_files", &["AGENTS.md", "--depth=0"]);
    std::fs::write(bench.home().join("AGENTS.md"), "from above").unwrap();
    assert_eq!(added(&bench).await, "");
    bench.write("AGENTS.md", &"é".repeat(64 * 1024));
    let cut = added(&bench).await;
    assert!(
        cut.ends_with("[cut: only the first 65536 bytes are shown]") && !cut.contains('\u{fffd}'),
        "{}",
        &cut[cut.len() - 99..]
    );
    assert!(cut.len() < 66_000);
}

#[tokio::test]
async fn git_builtins_add_nothing_outside_of_a_repository() {
    for name in ["add_git_status", "add_git_diff", "add_recent_commits"] {
        let bench = bench(name, &[]);
        if git(&bench.project(), &["--version"]) {
            assert_eq!(added(&bench).await, "", "{name}");
        }
    }
}

#[tokio::test]
async fn git_builtins_add_status_diff_and_commits() {
    let (status, diff, full, commits) = (
        bench("add_git_status", &[]),
        bench("add_git_diff", &[]),
        bench("add_git_diff", &["--full"]),
        bench("add_recent_commits", &["3"]),
    );
    for bench in [&status, &diff, &full, &commits] {
        let project = bench.project();
        if !git(&project, &["init", "-q"]) {
            return;
        }
        // Without commits.
        let empty = added(bench).await;
        assert!(empty.is_empty() || empty.contains("No commits yet"), "{empty}");
        bench.write("a.txt", "one\n");
        git(&project, &["add", "."]);
        for n in 1..=5 {
            git(&project, &["commit", "-q", "--allow-empty", "-m", &format!("commit {n}")]);
        }
        bench.write("a.txt", &"two\n".repeat(5000));
        bench.write("new.txt", "x");
    }
    let status = added(&status).await;
    assert!(status.contains("## main") && status.contains(" M a.txt") && status.contains("?? new.txt"), "{status}");
    let diff = added(&diff).await;
    assert!(diff.contains("-one\n+two") && diff.len() < 4300 && diff.contains("[cut: "), "{diff}");
    let full = added(&full).await;
    assert!(full.len() > 20_000 && !full.contains("[cut"), "{}", full.len());
    let commits = added(&commits).await;
    assert_eq!(commits.lines().count(), 4, "{commits}");
    assert!(commits.contains("commit 5") && commits.contains("commit 3") && !commits.contains("commit 2"), "{commits}");
}

const GIT_BUILTINS: [&str; 3] = ["add_git_status", "add_git_diff", "add_recent_commits"];

/// Writes a script that leaves a mark when it runs. Returns the script and the mark.
#[cfg(unix)]
fn marking_script(bench: &Bench, name: &str) -> (std::path::PathBuf, std::path::PathBuf) {
    let (mark, script) = (bench.root.path().join("ran"), bench.root.path().join(name));
    std::fs::create_dir_all(script.parent().unwrap()).unwrap();
    std::fs::write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", mark.display())).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    (script, mark)
}

#[cfg(unix)]
#[tokio::test]
async fn git_runs_no_program_that_the_repository_names() {
    for name in GIT_BUILTINS {
        let bench = bench(name, &[]);
        let project = bench.project();
        if !git(&project, &["init", "-q"]) {
            return;
        }
        bench.write("a.txt", "one\n");
        bench.write(".gitattributes", "*.txt diff=evil filter=evil\n");
        git(&project, &["add", "."]);
        git(&project, &["commit", "-q", "-m", "first"]);
        bench.write("a.txt", "two\n");
        let (script, mark) = marking_script(&bench, "evil.sh");
        for setting in [
            "core.fsmonitor",
            "diff.external",
            "diff.evil.command",
            "diff.evil.textconv",
            "core.pager",
            "gpg.program",
            "filter.evil.clean",
            "filter.evil.smudge",
            "filter.evil.process",
            "filter.Other.Name.clean",
        ] {
            git(&project, &["config", setting, script.to_str().unwrap()]);
        }
        git(&project, &["config", "filter.evil.required", "true"]);
        git(&project, &["config", "log.showSignature", "true"]);
        let context = added(&bench).await;
        assert!(!mark.exists(), "{name} ran it");
        assert!(!context.is_empty(), "{name} works without the programs");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn git_is_not_taken_from_the_path() {
    for name in GIT_BUILTINS {
        let bench = bench(name, &[]);
        let project = bench.project();
        if !git(&project, &["init", "-q"]) {
            return;
        }
        let (script, mark) = marking_script(&bench, "bin/git");
        let hook = HookSpec::builtin("context", EventKind::SessionStart, name);
        let path = format!("{}:/usr/bin:/bin", script.parent().unwrap().display());
        let engine = Engine::builder().hook(hook).cwd(&project).vars([("PATH", path.as_str())]).build();
        let verdict = engine.fire(Event::session_start(SessionStart::new())).await;
        assert_eq!(verdict.failures().count(), 0);
        assert!(!mark.exists(), "{name} ran the git of the project");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn an_embedded_bare_repository_is_not_used() {
    for name in GIT_BUILTINS {
        let bench = bench(name, &[]);
        let project = bench.project();
        if !git(&project, &["init", "-q", "--bare"]) {
            return;
        }
        let (script, mark) = marking_script(&bench, "evil.sh");
        git(&project, &["config", "core.fsmonitor", script.to_str().unwrap()]);
        git(&project, &["config", "core.bare", "false"]);
        git(&project, &["config", "core.worktree", project.to_str().unwrap()]);
        assert_eq!(added(&bench).await, "", "{name}");
        assert!(!mark.exists(), "{name} ran it");
    }
}

/// Git blocks when it opens an index that is a FIFO.
#[cfg(unix)]
#[tokio::test]
async fn git_that_takes_too_long_is_ended() {
    let bench = bench("add_git_status", &[]);
    let project = bench.project();
    if !git(&project, &["init", "-q"]) {
        return;
    }
    let index = project.join(".git/index");
    rustix::fs::mkfifoat(rustix::fs::CWD, &index, rustix::fs::Mode::RWXU).unwrap();
    let hook = HookSpec::builtin("status", EventKind::SessionStart, "add_git_status");
    let engine = Engine::builder().hook(hook.timeout(Duration::from_secs(1))).cwd(&project).build();
    let verdict = engine.fire(Event::session_start(SessionStart::new())).await;
    assert_eq!(verdict.failures().next().unwrap().1.kind, FailureKind::Timeout);
    // Without a reader of the FIFO, opening it for writing without blocking fails.
    let is_read =
        || rustix::fs::open(&index, rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK, 0.into()).is_ok();
    while is_read() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn add_context_works_at_turn_start() {
    let bench = Bench::new(EventKind::TurnStart, "add_context", &["each turn"]);
    assert_eq!(context(&bench.fire(Event::turn_start(Turn::new())).await), "each turn");
}
