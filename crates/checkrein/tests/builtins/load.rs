use checkrein::payload::ToolCall;
use checkrein::{Decision, Engine, Event, EventKind, FailureKind, HookSpec, RawJson, Registry};

fn problem(name: &str, args: &[&str]) -> Option<String> {
    let hook = HookSpec::builtin("mine", EventKind::PreToolUse, name).args(args.iter().copied());
    let engine = Engine::builder().hook(hook).build();
    engine.problems().first().map(ToString::to_string)
}

#[test]
fn invalid_arguments_are_reported_at_load() {
    for (name, args, expected) in [
        ("add_context", &[][..], "has no text; pass it as an argument"),
        ("add_date", &["--tiem"], "has no option `--tiem`; the options are --time"),
        ("add_environment_info", &["x"], "takes no arguments; remove `x`"),
        ("add_user_info", &["x"], "takes no arguments"),
        ("add_git_status", &["x"], "takes no arguments"),
        ("add_git_diff", &["--all"], "the options are --full"),
        ("add_recent_commits", &["many"], "has an invalid number of commits, `many`"),
        ("add_recent_commits", &["0"], "at least 1"),
        ("add_directory_listing", &["--max=x"], "has an invalid number of entries, `x`"),
        ("add_prompt_files", &[], "has no file names"),
        ("add_prompt_files", &["A", "--depth=-1"], "has an invalid depth, `-1`; use 0 or more"),
        ("add_prompt_files", &["A", "--deep=1"], "the options are --depth=N"),
        ("max_iterations", &[], "takes one argument"),
        ("max_iterations", &["abc"], "has an invalid number of model calls, `abc`; use a whole number of at least 1"),
        ("limit_large_tool_results", &["--max-bytes=10"], "has an invalid number of bytes, `10`; use at least 1024"),
        ("limit_large_tool_results", &["--bytes=10"], "has no option `--bytes=10`"),
        ("elide_repeated_tool_results", &["x"], "takes no arguments"),
        ("redact_secrets", &["x"], "takes no arguments"),
        ("block_dangerous_commands", &["--allow=rm_rot"], "has no rule `rm_rot`; did you mean `rm_root`?"),
        ("block_dangerous_commands", &["--allow=everything"], "the rules are rm_root, rm_here"),
        ("block_dangerous_commands", &["rm_root"], "the options are --allow=RULE, --ask=RULE, --deny=RULE"),
        ("protect_paths", &[], "has no patterns"),
        ("protect_paths", &["a[b"], "has an invalid pattern, `a[b`"),
        ("protect_paths", &[""], "has an empty pattern"),
        ("log", &[], "takes one argument, the file"),
        ("http_post", &["ftp://x", "{}"], "has an invalid first argument; use a URL that starts with `http://`"),
        ("http_post", &["https://x.test"], "takes two arguments"),
        #[cfg(not(feature = "http"))]
        ("http_post", &["https://x.test", "{}"], "needs an HTTP client"),
        ("snapshot", &[], "git stash create"),
        ("unload", &[], "runs no models"),
        ("safer_shell", &[], "use `block_dangerous_commands`"),
        ("model", &[], "Registry::register"),
        ("redact_secret", &[], "unknown builtin `redact_secret`; did you mean `redact_secrets`?"),
    ] {
        let problem = problem(name, args).unwrap_or_else(|| panic!("{name} {args:?} was loaded"));
        assert!(problem.contains(expected), "{name} {args:?}: {problem}");
        assert!(problem.contains("`mine`") && problem.contains("load.rs"), "{problem}");
        assert!(problem.contains(name), "{problem}");
    }
}

#[test]
fn invalid_url_is_not_in_the_message() {
    let problem = problem("http_post", &["ftp://ann:hunter2@x.test", "{}"]).unwrap();
    assert!(!problem.contains("hunter2"), "{problem}");
}

#[tokio::test]
async fn guard_that_cannot_be_loaded_denies() {
    let hook = HookSpec::builtin("mine", EventKind::PreToolUse, "protect_paths");
    let engine = Engine::builder().hook(hook).build();
    let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()))).await;
    assert_eq!(verdict.decision(), Decision::Deny);
    assert_eq!(verdict.failures().next().unwrap().1.kind, FailureKind::Schema);
}

#[test]
fn empty_registry_has_no_builtins() {
    assert_eq!(Registry::empty().builtin_names().count(), 0);
    assert_eq!(Registry::new().builtin_names().count(), checkrein::builtins::all().len());
}
