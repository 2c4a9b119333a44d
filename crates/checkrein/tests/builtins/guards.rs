use checkrein::payload::{ModelCall, SessionStart, Turn};
use checkrein::{Decision, Envelope, Event, EventKind, HookSpec};

use crate::common::Bench;

#[tokio::test]
async fn max_iterations_halts_after_the_limit() {
    let bench = Bench::new(EventKind::BeforeModel, "max_iterations", &["3"]);
    let call = || Event::before_model(ModelCall::new());
    for _ in 0..3 {
        assert_eq!(bench.fire(call()).await.decision(), Decision::NoOpinion);
    }
    for _ in 0..2 {
        let verdict = bench.fire(call()).await;
        assert_eq!(verdict.decision(), Decision::Halt);
        assert_eq!(verdict.reason(), Some("the session reached its limit of 3 model calls"));
        assert_eq!(verdict.stop_reason(), verdict.reason());
    }
    // Another session has its own count.
    let other = bench.engine.fire(call().within(Envelope::new().session_id("s-2"))).await;
    assert_eq!(other.decision(), Decision::NoOpinion);
    // Reloading hooks does not reset the count.
    let again = HookSpec::builtin("max_iterations", EventKind::BeforeModel, "max_iterations").args(["3"]);
    bench.engine.replace_all(vec![again]);
    assert_eq!(bench.fire(call()).await.decision(), Decision::Halt);
}

#[tokio::test]
async fn max_iterations_uses_the_iteration_of_the_event() {
    let bench = Bench::new(EventKind::TurnStart, "max_iterations", &["10"]);
    let fire = |iteration: u64| bench.fire(Event::turn_start(Turn::new().iteration(iteration)));
    assert_eq!(fire(10).await.decision(), Decision::NoOpinion);
    assert_eq!(fire(11).await.decision(), Decision::Halt);
}

#[tokio::test]
async fn max_iterations_counts_each_kind_and_resets_at_session_start() {
    let mut hook = HookSpec::builtin("limit", EventKind::BeforeModel, "max_iterations").args(["1"]);
    hook = hook.also_for(EventKind::TurnStart).also_for(EventKind::SessionStart);
    let bench = Bench::with(vec![hook]);
    for _ in 0..2 {
        assert_eq!(bench.fire(Event::turn_start(Turn::new())).await.decision(), Decision::NoOpinion);
        assert_eq!(bench.fire(Event::before_model(ModelCall::new())).await.decision(), Decision::NoOpinion);
        assert_eq!(bench.fire(Event::before_model(ModelCall::new())).await.decision(), Decision::Halt);
        let _ = bench.fire(Event::session_start(SessionStart::new())).await;
    }
}
