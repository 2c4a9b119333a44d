//! Questions that the approver of a host resolves.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use checkrein::approver::{Approver, ApproverFuture, Question, Resolution};
use checkrein::payload::ToolCall;
use checkrein::verdict::{Decision, Verdict};
use checkrein::{Engine, Event, EventKind, Opinion, RawJson};

/// Gives the same answer to every question, and counts them.
struct Says(Answer, Arc<AtomicUsize>);

#[derive(Clone)]
enum Answer {
    Resolution(Resolution),
    Error,
    Panic,
    Never,
}

impl Approver for Says {
    fn resolve<'a>(&'a self, question: &'a Question) -> ApproverFuture<'a> {
        self.1.fetch_add(1, Ordering::SeqCst);
        assert!(!question.reasons.is_empty() && question.input.is_some());
        Box::pin(async move {
            match &self.0 {
                Answer::Resolution(resolution) => Ok(resolution.clone()),
                Answer::Error => Err("no user is there".into()),
                Answer::Panic => panic!("approver"),
                Answer::Never => std::future::pending().await,
            }
        })
    }
}

/// Asks before a push, with another question for a force push, and denies `rm`.
async fn fire(answer: Answer, command: &str) -> (Verdict, usize) {
    let count = Arc::new(AtomicUsize::new(0));
    let engine = Engine::builder()
        .on(EventKind::PreToolUse, "guard", |fire| {
            let input = fire.event.tool_input().map(ToString::to_string).unwrap_or_default();
            if input.contains("rm ") {
                Opinion::deny("no rm")
            } else if input.contains("--force") {
                Opinion::ask("force?")
            } else if input.contains("push") {
                Opinion::ask("push?")
            } else {
                Opinion::none()
            }
        })
        .approver(Says(answer, Arc::clone(&count)))
        .approver_timeout(Duration::from_millis(200))
        .build();
    let input = format!(r#"{{"command":"{command}"}}"#).parse::<RawJson>().unwrap();
    let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Bash", input))).await;
    (verdict, count.load(Ordering::SeqCst))
}

fn with(command: &str) -> Answer {
    Answer::Resolution(Resolution::ApproveWith(format!(r#"{{"command":"{command}"}}"#).parse().unwrap()))
}

#[tokio::test]
async fn approver_decides_about_questions() {
    let (verdict, _) = fire(Answer::Resolution(Resolution::Approve), "git push").await;
    assert_eq!(verdict.decision(), Decision::NoOpinion);
    let (verdict, _) = fire(Answer::Resolution(Resolution::Deny("later".into())), "git push").await;
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("later")));
    let (verdict, _) = fire(Answer::Resolution(Resolution::Leave), "git push").await;
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Ask, Some("push?")));
}

#[tokio::test]
async fn approver_passes_no_deny() {
    let (verdict, count) = fire(Answer::Resolution(Resolution::Approve), "rm x").await;
    assert_eq!((verdict.decision(), count), (Decision::Deny, 0), "it is not asked");
    let (verdict, count) = fire(Answer::Resolution(Resolution::Approve), "ls").await;
    assert_eq!((verdict.decision(), count), (Decision::NoOpinion, 0));
}

#[tokio::test]
async fn failed_approver_leaves_the_question() {
    for answer in [Answer::Error, Answer::Panic, Answer::Never] {
        let (verdict, count) = fire(answer, "git push").await;
        assert_eq!((verdict.decision(), verdict.reason(), count), (Decision::Ask, Some("push?"), 1));
        assert!(verdict.failures().any(|(hook, _)| hook.id == "approver"), "{verdict:?}");
    }
}

#[tokio::test]
async fn edited_input_is_judged_again() {
    let (verdict, count) = fire(with("git push dev"), "git push").await;
    assert_eq!((verdict.decision().is_block(), count), (false, 1), "{verdict:?}");
    assert_eq!(verdict.effective_input().unwrap().as_str(), r#"{"command":"git push dev"}"#);
    let (verdict, _) = fire(with("ls"), "git push").await;
    assert_eq!(verdict.effective_input().unwrap().as_str(), r#"{"command":"ls"}"#);
    let (verdict, _) = fire(with("rm x"), "git push").await;
    assert_eq!(verdict.decision(), Decision::Deny, "a denial wins");
    assert!(verdict.reason().unwrap().contains("no rm"));
    let (verdict, _) = fire(with("git push --force"), "git push").await;
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Ask, Some("push?")), "another question");
}
