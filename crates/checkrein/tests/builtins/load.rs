use checkrein::payload::ToolCall;
use checkrein::{Decision, Engine, Event, EventKind, FailureKind, HookSpec, RawJson, Registry};

fn problem(name: &str, args: &[&str]) -> Option<String> {
    let hook = HookSpec::builtin("mine", EventKind::PreToolUse, name).args(args.iter().copied());
    let engine = Engine::builder().hook(hook).build();
    engine.problems().first().map(ToString::to_string)
}

#[test]
fn bad_arguments_are_problems_when_loading() {
    for (name, args, says) in [
        ("add_context", &[][..], "has nothing to say"),
        ("add_date", &["--tiem"], "has no option `--tiem`; it has --time"),
        ("add_environment_info", &["x"], "takes no arguments, but has `x`"),
        ("add_user_info", &["x"], "takes no arguments"),
        ("add_git_status", &["x"], "takes no arguments"),
        ("add_git_diff", &["--all"], "it has --full"),
        ("add_recent_commits", &["many"], "has `many` as the number of commits"),
        ("add_recent_commits", &["0"], "from 1 on"),
        ("add_directory_listing", &["--max=x"], "has `x` as the number of entries"),
        ("add_prompt_files", &[], "has no file to read"),
        ("add_prompt_files", &["A", "--depth=-1"], "has `-1` as the depth"),
        ("add_prompt_files", &["A", "--deep=1"], "it has --depth=N"),
        ("max_iterations", &[], "takes one argument"),
        ("max_iterations", &["abc"], "has `abc` as the number of model calls; write a whole number from 1 on"),
        ("limit_large_tool_results", &["--max-bytes=10"], "leaves no room"),
        ("limit_large_tool_results", &["--bytes=10"], "has no option `--bytes=10`"),
        ("elide_repeated_tool_results", &["x"], "takes no arguments"),
        ("redact_secrets", &["x"], "takes no arguments"),
        ("block_dangerous_commands", &["--allow=rm_rot"], "has no rule `rm_rot`; did you mean `rm_root`?"),
        ("block_dangerous_commands", &["--allow=everything"], "there are rm_root, rm_here"),
        ("block_dangerous_commands", &["rm_root"], "it has --allow=RULE, --ask=RULE, --deny=RULE"),
        ("protect_paths", &[], "has nothing to protect"),
        ("protect_paths", &["a[b"], "has a pattern that cannot be read, `a[b`"),
        ("protect_paths", &[""], "has an empty pattern"),
        ("log", &[], "takes one argument, the file"),
        ("http_post", &["ftp://x", "{}"], "something else than an `http://` or `https://` URL"),
        ("http_post", &["https://x.test"], "takes two arguments"),
        #[cfg(not(feature = "http"))]
        ("http_post", &["https://x.test", "{}"], "needs an HTTP client"),
        ("snapshot", &[], "git stash create"),
        ("unload", &[], "runs no models"),
        ("safer_shell", &[], "use `block_dangerous_commands`"),
        ("model", &[], "Registry::register"),
        ("redact_secret", &[], "there is no builtin `redact_secret`, did you mean `redact_secrets`?"),
    ] {
        let problem = problem(name, args).unwrap_or_else(|| panic!("{name} {args:?} was loaded"));
        assert!(problem.contains(says), "{name} {args:?}: {problem}");
        assert!(problem.contains("`mine`") && problem.contains("load.rs"), "{problem}");
        assert!(problem.contains(name), "{problem}");
    }
}

#[test]
fn a_url_is_not_repeated() {
    let problem = problem("http_post", &["ftp://ann:hunter2@x.test", "{}"]).unwrap();
    assert!(!problem.contains("hunter2"), "{problem}");
}

#[tokio::test]
async fn a_guard_that_cannot_be_loaded_closes_its_gate() {
    let hook = HookSpec::builtin("mine", EventKind::PreToolUse, "protect_paths");
    let engine = Engine::builder().hook(hook).build();
    let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()))).await;
    assert_eq!(verdict.decision(), Decision::Deny);
    assert_eq!(verdict.failures().next().unwrap().1.kind, FailureKind::Schema);
}

#[test]
fn an_empty_registry_has_none() {
    assert_eq!(Registry::empty().builtin_names().count(), 0);
    assert_eq!(Registry::new().builtin_names().count(), checkrein::builtins::all().len());
}
