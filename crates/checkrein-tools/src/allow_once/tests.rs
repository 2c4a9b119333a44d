use super::*;

fn call(input: &str) -> Call {
    Call {
        agent: "codex".to_owned(),
        session: Some("s".to_owned()),
        project: "/p".into(),
        cwd: Some("/p".to_owned()),
        event: "PreToolUse".to_owned(),
        tool: "Bash".to_owned(),
        input: RawJson::parse(input).unwrap(),
        rewritten: None,
        asks: vec![Ask { hook: "guard".to_owned(), source: "hooks.yaml:1".to_owned(), reason: "push?".to_owned() }],
    }
}

fn confirm(store: &WaitingCalls, call: &Call) -> Code {
    let code = store.issue(call).unwrap();
    let waiting = store.find(&code).unwrap();
    store.grant(&code, &waiting).unwrap();
    code
}

/// Rewrites a file as if its call had been denied earlier.
fn age(store: &WaitingCalls, seconds: i64) {
    for entry in fs::read_dir(&store.dir).unwrap() {
        let path = entry.unwrap().path();
        let mut stored: Stored = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        stored.issued = stored.issued.saturating_add_signed(-seconds);
        fs::write(&path, serde_json::to_string(&stored).unwrap()).unwrap();
    }
}

#[test]
fn confirmation_passes_one_identical_call() {
    let dir = tempfile::tempdir().unwrap();
    let store = WaitingCalls::in_state_directory(dir.path());
    let push = call(r#"{"command":"git push","n":9007199254740993}"#);
    let code = store.issue(&push).unwrap();
    assert_eq!(store.issue(&push).unwrap(), code, "the same call keeps its code");
    assert_eq!(store.take(&push), None, "the user has not confirmed it");
    let waiting = store.find(&code).unwrap();
    assert_eq!(waiting.call, push);
    store.grant(&code, &waiting).unwrap();
    assert!(matches!(store.find(&code), Err(AllowOnceError::Granted(_))));
    let spaced = call(r#"{ "n": 9007199254740993, "command": "git push" }"#);
    assert_eq!(store.take(&spaced), Some(code.clone()), "white space and the order of keys do not matter");
    assert_eq!(store.take(&push), None, "once");
    assert!(matches!(store.find(&code), Err(AllowOnceError::Unknown(_))));
    assert_eq!(fs::read_dir(&store.dir).unwrap().count(), 0);
}

#[test]
fn confirmation_is_bound_to_the_call() {
    let dir = tempfile::tempdir().unwrap();
    let store = WaitingCalls::in_state_directory(dir.path());
    let push = call(r#"{"command":"git push","n":9007199254740993}"#);
    confirm(&store, &push);
    let mut others = vec![
        call(r#"{"command":"git push -f","n":9007199254740993}"#),
        call(r#"{"command":"git push","n":9007199254740992}"#),
        call(r#"{"command":"git push","n":9007199254740993,"cwd":"/"}"#),
        call(r#"{"command":"git push"}"#),
        call(r#"["command"]"#),
    ];
    others.extend([
        Call { agent: "gemini".to_owned(), ..push.clone() },
        Call { session: Some("t".to_owned()), ..push.clone() },
        Call { session: None, ..push.clone() },
        Call { event: "PermissionRequest".to_owned(), ..push.clone() },
        Call { tool: "Write".to_owned(), ..push.clone() },
        Call { rewritten: Some(RawJson::parse("{}").unwrap()), ..push.clone() },
        Call { asks: vec![Ask { hook: "other".to_owned(), ..push.asks[0].clone() }], ..push.clone() },
        Call { asks: vec![Ask { reason: "delete?".to_owned(), ..push.asks[0].clone() }], ..push.clone() },
        Call { cwd: Some("/p/build".to_owned()), ..push.clone() },
    ]);
    for other in &others {
        assert_eq!(store.take(other), None, "{other:?}");
        assert_ne!(other.digest(), push.digest());
    }
    // With a session, the project does not matter. Without one, it does.
    assert!(store.take(&Call { project: "/q".into(), ..push.clone() }).is_some());
    let unnamed = Call { session: None, ..push };
    confirm(&store, &unnamed);
    assert_eq!(store.take(&Call { project: "/q".into(), ..unnamed.clone() }), None);
    assert!(store.take(&unnamed).is_some());
}

#[test]
fn codes_and_confirmations_expire() {
    let dir = tempfile::tempdir().unwrap();
    let store = WaitingCalls::in_state_directory(dir.path());
    let push = call(r#"{"command":"git push"}"#);
    for seconds in [15 * 60 + 1, -60] {
        let code = store.issue(&push).unwrap();
        age(&store, seconds);
        assert!(matches!(store.find(&code), Err(AllowOnceError::Unknown(_))));
        assert_ne!(store.issue(&push).unwrap(), code, "a new code");
        fs::remove_dir_all(&store.dir).unwrap();
        confirm(&store, &push);
        age(&store, seconds);
        assert_eq!(store.take(&push), None);
        fs::remove_dir_all(&store.dir).unwrap();
    }
}

#[test]
fn number_of_calls_is_limited() {
    let dir = tempfile::tempdir().unwrap();
    let store = WaitingCalls::in_state_directory(dir.path());
    for index in 0..MAX_CALLS + 20 {
        store.issue(&call(&format!(r#"{{"command":"{index}"}}"#))).unwrap();
    }
    assert_eq!(fs::read_dir(&store.dir).unwrap().count(), MAX_CALLS);
    let large = call(&format!(r#"{{"command":"{}"}}"#, "x".repeat(MAX_FILE)));
    assert!(matches!(store.issue(&large), Err(AllowOnceError::Io { .. })));
}

#[test]
fn of_parallel_calls_one_passes() {
    let dir = tempfile::tempdir().unwrap();
    let store = WaitingCalls::in_state_directory(dir.path());
    let push = call(r#"{"command":"git push"}"#);
    for _ in 0..20 {
        confirm(&store, &push);
        let passed = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| store.take(&push))).collect();
            threads.into_iter().filter_map(|thread| thread.join().unwrap()).count()
        });
        assert_eq!(passed, 1);
    }
}

#[test]
fn changed_files_confirm_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = WaitingCalls::in_state_directory(dir.path());
    let push = call(r#"{"command":"git push"}"#);
    confirm(&store, &push);
    let path = fs::read_dir(&store.dir).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("git push", "git pull")).unwrap();
    assert_eq!(store.take(&push), None, "the content is of another call");
    fs::write(&path, "{").unwrap();
    assert_eq!(store.take(&push), None);
}

#[cfg(unix)]
#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let store = WaitingCalls::in_state_directory(dir.path());
    let push = call(r#"{"command":"git push"}"#);
    confirm(&store, &push);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&store.dir), 0o700);
    let path = fs::read_dir(&store.dir).unwrap().next().unwrap().unwrap().path();
    assert_eq!(mode(&path), 0o600);
    fs::set_permissions(&store.dir, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(store.take(&push), None, "others could have written it");
    assert!(matches!(store.issue(&push), Err(AllowOnceError::NotPrivate(_))));
}

#[test]
fn codes_are_found_in_texts() {
    let dir = tempfile::tempdir().unwrap();
    let store = WaitingCalls::in_state_directory(dir.path());
    assert_eq!(store.code_in("AAAAA-AAAAA"), None);
    let code = store.issue(&call("{}")).unwrap();
    assert_eq!(store.code_in(&format!("x {} y", code.to_string().to_lowercase())), Some(code.clone()));
    assert_eq!(store.code_in(code.characters()), Some(code));
    assert_eq!(store.code_in("checkrein allow-once AAAAA-AAAAA"), None);
}
