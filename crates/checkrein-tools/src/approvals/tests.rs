use std::fs;
use std::time::Duration;

use checkrein_core::RawJson;
use proptest::prelude::*;

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
        policy: "sha256:0".to_owned(),
        subagent: None,
        tool_call: None,
        commands: Vec::new(),
        more_commands: 0,
        diff: None,
    }
}

fn place() -> (tempfile::TempDir, ApprovalStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = ApprovalStore::in_state_directory(dir.path());
    (dir, store)
}

fn request(store: &ApprovalStore, call: &Call) -> Approval {
    store.request(NewApproval::new(call.clone())).unwrap()
}

fn approve() -> Answer {
    Answer::approve(Via::Terminal, "ann")
}

fn deny() -> Answer {
    Answer::deny(Via::Page, "ann", Some("not today".to_owned()))
}

fn approved(store: &ApprovalStore, call: &Call) -> ApprovalId {
    let id = request(store, call).id;
    store.answer(&id, approve()).unwrap();
    id
}

fn passes(store: &ApprovalStore, call: &Call) -> bool {
    matches!(store.take(call), Ok(Some(Grant::Pass(_) | Grant::Edited(..))))
}

fn files(store: &ApprovalStore) -> Vec<std::path::PathBuf> {
    let all = fs::read_dir(store.directory()).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

/// Rewrites all files as if their approvals had been requested earlier.
fn age(store: &ApprovalStore, seconds: i64) {
    for path in files(store) {
        let mut stored: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for time in ["created", "expires", "changed"] {
            let value = stored["approval"][time].as_u64().unwrap();
            stored["approval"][time] = value.saturating_add_signed(-seconds * 1000).into();
        }
        fs::write(&path, stored.to_string()).unwrap();
    }
}

#[test]
fn approval_passes_one_identical_call() {
    let (_dir, store) = place();
    let push = call(r#"{"command":"git push","n":9007199254740993}"#);
    let approval = request(&store, &push);
    assert_eq!(approval.state, ApprovalState::Pending);
    assert_eq!(request(&store, &push).id, approval.id, "the same call keeps its approval");
    assert_eq!(store.take(&push).unwrap(), None, "the user has not answered");
    assert_eq!(store.call(&approval.id).unwrap(), push);
    let answered = store.answer(&approval.id, approve()).unwrap();
    assert_eq!((answered.state, answered.answers.len()), (ApprovalState::Approved, 1));
    assert!(
        matches!(store.answer(&approval.id, deny()), Err(ApprovalError::Answered(winner)) if winner == answered.into())
    );
    let spaced = call(r#"{ "n": 9007199254740993, "command": "git push" }"#);
    assert!(passes(&store, &spaced), "white space and the order of keys do not matter");
    assert!(!passes(&store, &push), "once");
    let used = store.find(&approval.id).unwrap();
    assert_eq!((used.state, used.uses), (ApprovalState::Consumed, 1));
    assert!(store.call(&approval.id).is_err());
    assert!(
        !fs::read_to_string(&files(&store)[0]).unwrap().contains("\"call\":{"),
        "the input is removed after the use"
    );
    let next = request(&store, &push);
    assert_ne!(next.id, approval.id, "after the use, the same call is a new question");
    assert_eq!(store.list().unwrap().len(), 2);
}

#[test]
fn denial_applies_to_repeated_calls() {
    let (_dir, store) = place();
    let push = call(r#"{"command":"git push"}"#);
    let id = request(&store, &push).id;
    store.answer(&id, deny()).unwrap();
    for _ in 0..2 {
        let Ok(Some(Grant::Denied(approval))) = store.take(&push) else { panic!() };
        assert_eq!(approval.winner().unwrap().reason.as_deref(), Some("not today"));
    }
    assert_eq!(store.take(&call("{}")).unwrap(), None);
    age(&store, 15 * 60 + 1);
    assert_eq!(store.take(&push).unwrap(), None);
}

#[test]
fn approval_for_a_session_passes_many_identical_calls() {
    let (_dir, store) = place();
    let push = call(r#"{"command":"git push"}"#);
    let for_session = || Answer { scope: Scope::Session, ..approve() };
    let id = request(&store, &push).id;
    store.answer(&id, for_session()).unwrap();
    age(&store, 60 * 60);
    assert!(passes(&store, &push) && passes(&store, &push));
    assert_eq!(store.find(&id).unwrap().uses, 2);
    assert!(!passes(&store, &Call { session: Some("t".to_owned()), ..push.clone() }));
    age(&store, 12 * 60 * 60);
    assert!(!passes(&store, &push), "it expires too");
    let unnamed = Call { session: None, ..push };
    let id = request(&store, &unnamed).id;
    assert!(matches!(store.answer(&id, for_session()), Err(ApprovalError::NoSession)));
    assert!(!passes(&store, &unnamed));
}

#[test]
fn edited_input_is_returned_with_the_grant() {
    let (_dir, store) = place();
    let push = call(r#"{"command":"git push --force"}"#);
    let id = request(&store, &push).id;
    let edit = |input: &str| Answer { edited_input: Some(RawJson::parse(input).unwrap()), ..approve() };
    assert!(matches!(store.answer(&id, edit("[]")), Err(ApprovalError::NotAnObject)));
    let answered = store.answer(&id, edit(r#"{"command":"git push"}"#)).unwrap();
    assert_eq!(answered.answers[0].edited_input.as_ref().unwrap().fields[0].text, "git push");
    let Ok(Some(Grant::Edited(_, input))) = store.take(&push) else { panic!() };
    assert_eq!(input.as_str(), r#"{"command":"git push"}"#);
    assert!(!passes(&store, &push));
}

/// Each field that an approval is bound to.
fn other_calls(push: &Call) -> Vec<Call> {
    let mut others: Vec<_> = [
        r#"{"command":"git push -f","n":9007199254740993}"#,
        r#"{"command":"git push","n":9007199254740992}"#,
        r#"{"command":"git push","n":9007199254740993,"cwd":"/"}"#,
        r#"{"command":"git push"}"#,
        r#"["command"]"#,
    ]
    .map(call)
    .into();
    let ask = &push.asks[0];
    others.extend([
        Call { agent: "gemini".to_owned(), ..push.clone() },
        Call { session: Some("t".to_owned()), ..push.clone() },
        Call { session: None, ..push.clone() },
        Call { event: "PermissionRequest".to_owned(), ..push.clone() },
        Call { tool: "Write".to_owned(), ..push.clone() },
        Call { rewritten: Some(RawJson::parse("{}").unwrap()), ..push.clone() },
        Call { asks: vec![Ask { hook: "other".to_owned(), ..ask.clone() }], ..push.clone() },
        Call { asks: vec![Ask { reason: "delete?".to_owned(), ..ask.clone() }], ..push.clone() },
        Call { asks: vec![ask.clone(), ask.clone()], ..push.clone() },
        Call { cwd: Some("/p/build".to_owned()), ..push.clone() },
        Call { policy: "sha256:1".to_owned(), ..push.clone() },
    ]);
    others
}

#[test]
fn approval_is_bound_to_the_call() {
    let (_dir, store) = place();
    let push = call(r#"{"command":"git push","n":9007199254740993}"#);
    approved(&store, &push);
    for other in other_calls(&push) {
        assert_eq!(store.take(&other).unwrap(), None, "{other:?}");
        assert_ne!(other.digest(), push.digest());
    }
    // With a session, the project does not matter. Without one, it does. A repeated call has another id.
    let again =
        Call { project: "/q".into(), tool_call: Some("2".to_owned()), subagent: Some("a".to_owned()), ..push.clone() };
    assert!(passes(&store, &again));
    let unnamed = Call { session: None, ..push };
    approved(&store, &unnamed);
    assert!(!passes(&store, &Call { project: "/q".into(), ..unnamed.clone() }));
    assert!(passes(&store, &unnamed));
}

#[test]
fn approvals_expire() {
    let (_dir, store) = place();
    let push = call(r#"{"command":"git push"}"#);
    // The second is a clock that was set back.
    for seconds in [15 * 60 + 1, -60] {
        let id = request(&store, &push).id;
        age(&store, seconds);
        assert_eq!(store.find(&id).unwrap().state, ApprovalState::Expired);
        assert!(matches!(store.answer(&id, approve()), Err(ApprovalError::Expired(_))));
        assert_ne!(request(&store, &push).id, id, "a new approval");
        fs::remove_dir_all(store.directory()).unwrap();
        let id = approved(&store, &push);
        age(&store, seconds);
        assert!(!passes(&store, &push));
        assert_eq!(store.expire().unwrap().len(), 1);
        assert_eq!(store.expire().unwrap().len(), 0, "each expiry is reported once");
        assert_eq!(store.find(&id).unwrap().state, ApprovalState::Expired);
        fs::remove_dir_all(store.directory()).unwrap();
    }
    request(&store, &push);
    age(&store, 25 * 60 * 60);
    assert_eq!(store.expire().unwrap().len(), 1);
    age(&store, 25 * 60 * 60);
    store.expire().unwrap();
    assert!(store.list().unwrap().is_empty(), "ended approvals are removed after a day");
}

#[test]
fn cancelled_approval_takes_no_answer() {
    let (_dir, store) = place();
    let push = call("{}");
    let id = request(&store, &push).id;
    assert_eq!(store.cancel(&id).unwrap().state, ApprovalState::Cancelled);
    assert!(matches!(store.answer(&id, approve()), Err(ApprovalError::Answered(_))));
    assert!(matches!(store.cancel(&id), Err(ApprovalError::Answered(_))));
    assert!(!passes(&store, &push));
}

#[test]
fn time_of_a_held_call_is_kept_and_extended() {
    let (_dir, store) = place();
    let push = call(r#"{"command":"git push"}"#);
    let asked = request(&store, &push);
    assert_eq!(asked.waits(), None);
    let minute = Duration::from_secs(60);
    let held = store.request(NewApproval::new(push.clone()).waiting(Some(minute))).unwrap();
    assert_eq!(held.id, asked.id);
    assert!(held.waits().unwrap() <= minute);
    // Another process asks the same without holding the call.
    assert_eq!(request(&store, &push).waits_until, held.waits_until);
    assert_eq!(store.answer(&asked.id, deny()).unwrap().waits(), None);
}

#[test]
fn changed_files_are_read_again_and_expired_ones_are_reported() {
    let (_dir, store) = place();
    let mut known = KnownFiles::default();
    assert_eq!(store.list_changed(&mut known).unwrap(), (Vec::new(), false));
    let commands = [r#"{"command":"a"}"#, r#"{"command":"b"}"#, r#"{"command":"c"}"#];
    let ids = commands.map(|command| request(&store, &call(command)).id);
    assert_eq!(store.list_changed(&mut known).unwrap(), (store.list().unwrap(), false));
    store.answer(&ids[1], deny()).unwrap();
    assert_eq!(store.list_changed(&mut known).unwrap(), (store.list().unwrap(), false));
    age(&store, 15 * 60 + 1);
    assert_eq!(store.list_changed(&mut known).unwrap(), (store.list().unwrap(), true));
    store.expire().unwrap();
    assert_eq!(store.list_changed(&mut known).unwrap(), (store.list().unwrap(), false));
    fs::remove_dir_all(store.directory()).unwrap();
    assert_eq!(store.list_changed(&mut known).unwrap(), (Vec::new(), false));
}

#[test]
fn hooks_end_expired_approvals_once_per_minute() {
    let (dir, store) = place();
    let locations = checkrein::hook_files::Locations::new(dir.path());
    let id = request(&store, &call(r#"{"command":"git push"}"#)).id;
    assert_eq!(expire_if_due(&store, &locations).unwrap(), []);
    age(&store, 15 * 60 + 1);
    assert_eq!(expire_if_due(&store, &locations).unwrap(), [], "a process did it just now");
    // The time decides about the state, whatever the file says.
    assert_eq!(store.find(&id).unwrap().state, ApprovalState::Expired);
    let time = fs::File::options().write(true).open(store.directory().join("expiry")).unwrap();
    let now = std::time::SystemTime::now();
    for at in [now - Duration::from_secs(61), now + Duration::from_secs(3600)] {
        time.set_modified(at).unwrap();
        assert!(store.is_expiry_due());
    }
    assert_eq!(expire_if_due(&store, &locations).unwrap().len(), 1);
}

#[test]
fn thousand_approvals_wait_and_no_more() {
    let (_dir, store) = place();
    let first = request(&store, &call("{}"));
    for index in 1..MAX_PENDING {
        request(&store, &call(&format!(r#"{{"command":"{index}"}}"#)));
    }
    assert!(matches!(store.request(NewApproval::new(call("[]"))), Err(ApprovalError::Full)));
    let all = store.list().unwrap();
    assert_eq!(all.len(), MAX_PENDING);
    assert!(all.iter().any(|approval| approval.id == first.id), "a flood removes no question");
    assert!(all.is_sorted_by(|one, other| one.created >= other.created));
    store.answer(&first.id, approve()).unwrap();
    assert!(passes(&store, &call("{}")));
    request(&store, &call("[]"));
}

#[test]
fn large_inputs_cannot_be_approved() {
    let (_dir, store) = place();
    let large = call(&format!(r#"{{"command":"{}"}}"#, "x".repeat(1 << 20)));
    assert!(matches!(store.request(NewApproval::new(large)), Err(ApprovalError::TooLarge)));
}

#[test]
fn first_of_parallel_answers_wins_and_one_call_passes() {
    let (_dir, store) = place();
    let push = call(r#"{"command":"git push"}"#);
    for round in 0..10 {
        let id = request(&store, &push).id;
        let answers: Vec<_> = std::thread::scope(|scope| {
            let answer = |index: usize| {
                let (store, id) = (&store, &id);
                move || store.answer(id, if index.is_multiple_of(2) { approve() } else { deny() })
            };
            let threads: Vec<_> = (0..8).map(|index| scope.spawn(answer(index))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let winners: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
        assert_eq!(winners.len(), 1, "{round}");
        for answer in &answers {
            // The losers get the winner.
            assert!(
                answer.is_ok() || matches!(answer, Err(ApprovalError::Answered(winner)) if **winner == *winners[0])
            );
        }
        let is_approved = winners[0].state == ApprovalState::Approved;
        let passed = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| passes(&store, &push))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|passed| *passed).count()
        });
        assert_eq!(passed, usize::from(is_approved));
        fs::remove_dir_all(store.directory()).unwrap();
    }
}

#[test]
fn changed_files_grant_nothing() {
    let (_dir, store) = place();
    let push = call(r#"{"command":"git push"}"#);
    approved(&store, &push);
    let path = files(&store).remove(0);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("git push", "git pull")).unwrap();
    assert!(!passes(&store, &push), "the content is of another call");
    fs::write(&path, "{").unwrap();
    assert!(!passes(&store, &push));
    // The file of a call under the name of another.
    let pull = call(r#"{"command":"git pull"}"#);
    let other = approved(&store, &pull);
    let source =
        files(&store).into_iter().find(|file| file.to_str().unwrap().contains(&other.to_string().replace('-', "")));
    fs::copy(source.unwrap(), &path).unwrap();
    assert!(!passes(&store, &push));
}

#[cfg(unix)]
#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_dir, store) = place();
    let push = call(r#"{"command":"git push"}"#);
    approved(&store, &push);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(store.directory()), 0o700);
    for path in files(&store) {
        assert_eq!(mode(&path), 0o600);
    }
    fs::set_permissions(store.directory(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(store.take(&push), Err(ApprovalError::NotPrivate(_))), "others could have written it");
    assert!(matches!(
        store.request(NewApproval::new(push)),
        Err(ApprovalError::NotPrivate(_) | ApprovalError::Io { .. })
    ));
}

#[test]
fn ids_are_found_in_texts() {
    let (_dir, store) = place();
    assert_eq!(store.id_in("AAAAA-AAAAA"), None);
    let id = request(&store, &call("{}")).id;
    assert_eq!(store.id_in(&format!("x {} y", id.to_string().to_lowercase())), Some(id.clone()));
    assert_eq!(store.id_in(&id.to_string().replace('-', "")), Some(id.clone()));
    assert_eq!(store.id_in("checkrein approve AAAAA-AAAAA"), None);
    store.cancel(&id).unwrap();
    assert_eq!(store.id_in(&id.to_string()), None, "it has ended");
}

#[test]
fn shown_call_has_no_credential_and_no_hidden_character() {
    let (_dir, store) = place();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let long = format!("START{}END", "x".repeat(100_000));
    let input =
        serde_json::json!({ "command": format!("curl -H {token}"), "other": "a\u{202e}b\u{1b}[2J", "long": long });
    let approval = request(&store, &call(&input.to_string()));
    let text = serde_json::to_string(&approval).unwrap();
    assert!(!text.contains(&token) && text.contains("redacted"), "{text}");
    assert!(text.contains("a<U+202E>b<U+001B>[2J"), "{text}");
    assert!(text.contains("START") && text.contains("END") && text.len() < 20_000);
    assert!(approval.shown.is_partial);
}

#[test]
fn missing_programs_are_named() {
    let text = format!("git push origin main; {} rm -rf /important", "echo a; ".repeat(60));
    let input = RawJson::parse(serde_json::json!({ "command": text }).to_string()).unwrap();
    let event = checkrein_core::Event::pre_tool_use(checkrein_core::payload::ToolCall::new("Bash", input));
    let (commands, more_commands) = parsed::commands(&event, "codex", std::path::Path::new("/"));
    assert_eq!((commands.len(), more_commands), (50, 12));
    let (_dir, store) = place();
    let input = serde_json::json!({ "command": text }).to_string();
    let approval = request(&store, &Call { commands, more_commands, ..call(&input) });
    assert!(approval.shown.is_partial && approval.shown.more_commands == 12, "{:?}", approval.shown);
}

#[test]
fn cut_word_of_a_program_is_named() {
    let (_dir, store) = place();
    let words = vec!["echo".to_owned(), "x".repeat(2000)];
    let command = ParsedCommand { words, wrappers: Vec::new(), pipes_to: Vec::new(), is_known: true };
    let approval = request(&store, &Call { commands: vec![command], ..call("{}") });
    assert!(approval.shown.is_partial);
}

/// One step of a history.
#[derive(Debug, Clone)]
enum Step {
    Request,
    Approve,
    ApproveForSession,
    Deny,
    Take,
    Cancel,
    Expire,
    Age(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Request),
        Just(Step::Approve),
        Just(Step::ApproveForSession),
        Just(Step::Deny),
        Just(Step::Take),
        Just(Step::Cancel),
        Just(Step::Expire),
        prop_oneof![Just(400), Just(1000), Just(50_000)].prop_map(Step::Age),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// After any steps, each state is one that the previous one can become, and no grant exists without an approval.
    #[test]
    fn states_only_move_forward(steps in proptest::collection::vec(step(), 1..25)) {
        let (_dir, store) = place();
        let push = call(r#"{"command":"git push"}"#);
        let mut states = std::collections::HashMap::new();
        let mut id = request(&store, &push).id;
        let (mut grants, mut once_uses) = (0, 0);
        for step in steps {
            match step {
                Step::Request => id = request(&store, &push).id,
                Step::Approve => grants += usize::from(store.answer(&id, approve()).is_ok()),
                Step::ApproveForSession => {
                    let _ = store.answer(&id, Answer { scope: Scope::Session, ..approve() });
                }
                Step::Deny => drop(store.answer(&id, deny())),
                Step::Take => {
                    if let Ok(Some(Grant::Pass(approval))) = store.take(&push) {
                        once_uses += usize::from(approval.answers[0].scope == Scope::Once);
                    }
                }
                Step::Cancel => drop(store.cancel(&id)),
                Step::Expire => drop(store.expire()),
                Step::Age(seconds) => age(&store, seconds),
            }
            prop_assert!(once_uses <= grants);
            for approval in store.list().unwrap() {
                prop_assert!(approval.answers.len() <= 1);
                if let Some(before) = states.insert(approval.id.clone(), approval.state) {
                    prop_assert!(before == approval.state || before.can_become(approval.state), "{before:?} {approval:?}");
                }
            }
        }
    }

    /// Any other input has another digest.
    #[test]
    fn other_inputs_have_other_digests(one in "[a-z \\\\\"{}:,]{0,12}", other in "[a-z \\\\\"{}:,]{0,12}") {
        let input = |text: &str| call(&serde_json::json!({ "command": text }).to_string());
        prop_assert_eq!(one == other, input(&one).digest() == input(&other).digest());
    }
}
