//! All combinations of three dialects: a hook in one agent's format runs under another agent as its host, and opinions
//! settle by the rules of a third.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::sync::Arc;

use checkrein::dialects::agents::{claude, claw, docker_agent, evva, native, ub};
use checkrein::dialects::{Dialect, canonical_input};
use checkrein::document::Format;
use checkrein::handler::{ProcessExit, ProcessReply, Reply};
use checkrein::hook::{HookInfo, Source};
use checkrein::payload::ToolCall;
use checkrein::rules::Settlement;
use checkrein::{
    Decision, Engine, Envelope, Event, EventKind, FailurePolicy, HookSpec, Opinion, RawJson, Scope, Verdict,
};

const SIX: [(&Dialect, Format); 6] = [
    (&claw::DIALECT, Format::Json),
    (&docker_agent::DIALECT, Format::Yaml),
    (&evva::DIALECT, Format::Json),
    (&claude::DIALECT, Format::Json),
    (&ub::DIALECT, Format::Yaml),
    (&native::DIALECT, Format::Json),
];

const REASON: &str = "not like this";

fn tool_call() -> Event {
    let call = ToolCall::new("Bash", r#"{"command":"ls"}"#.parse::<RawJson>().unwrap()).tool_use_id("u1");
    Event::pre_tool_use(call).within(Envelope::new().session_id("s1").cwd("/tmp").turn(1_u64))
}

fn verdict(dialect: &Dialect, event: &Event, opinion: &Opinion) -> Verdict {
    let hook = Arc::new(HookInfo::new("h", Source::for_scope(Scope::Code)));
    let mut settlement = Settlement::new(&dialect.rules_at(&event.kind()), event);
    let _ = settlement.push(0, &hook, opinion);
    settlement.finish()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A hook that denies in this dialect, encoded in its format and decoded again.
fn guard(dialect: &'static Dialect, format: Format) -> Vec<HookSpec> {
    let answer = dialect.render_verdict(&tool_call(), &verdict(&native::DIALECT, &tool_call(), &Opinion::deny(REASON)));
    let script = format!(
        "grep -q ls || exit 0; printf %s {}; printf %s {} >&2; exit {}",
        quoted(&answer.stdout),
        quoted(&answer.stderr),
        answer.exit
    );
    let hook = HookSpec::argv("guard", EventKind::PreToolUse, ["sh", "-c", script.as_str()]);
    let hook = if dialect.process.shell == checkrein::dialects::Shell::None {
        hook.on_failure(FailurePolicy::Closed)
    } else {
        HookSpec::shell("guard", EventKind::PreToolUse, script.as_str())
    };
    let encoded = dialect.encode(&[&hook.dialect(dialect)]).unwrap();
    assert!(!encoded.lost.iter().any(|lost| lost.all), "{}: {:?}", dialect.name, encoded.lost);
    let decoded = dialect.decode("hooks", Scope::User, &encoded.text, format);
    assert_eq!(decoded.diagnostics, [], "{}:\n{}", dialect.name, encoded.text);
    assert_eq!(decoded.hooks.len(), 1);
    decoded.hooks
}

/// Decision and reason that an agent reads from the rendered verdict.
fn rendered(host: &Dialect, event: &Event, verdict: &Verdict) -> (Decision, String) {
    let answer = host.render_verdict(event, verdict);
    let reply =
        ProcessReply::new(ProcessExit::Code(answer.exit)).stdout(answer.stdout.as_str()).stderr(answer.stderr.as_str());
    match host.read(event, Reply::Process(reply), false) {
        Ok(opinion) => (opinion.decision(), opinion.reason().unwrap_or_default().to_owned()),
        // In some agents, hooks block by failing.
        Err(failure) => (Decision::Deny, failure.reason.unwrap_or(failure.message)),
    }
}

#[tokio::test]
async fn every_dialect_works_as_hook_host_and_rules() {
    let guards: Vec<_> = SIX.iter().map(|(dialect, format)| guard(dialect, *format)).collect();
    for ((hook, _), guard) in SIX.iter().zip(&guards) {
        for (rules, _) in SIX {
            let engine = Engine::builder().settle_as(rules).hooks(guard.iter().cloned()).build();
            for (host, _) in SIX {
                let parts = format!("hook {}, host {}, rules {}", hook.name, host.name, rules.name);
                let sent: Vec<u8> =
                    host.payload(&tool_call(), None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
                let event = host.event(&RawJson::parse_bytes(&sent).unwrap(), None).unwrap();
                assert_eq!(canonical_input(&event).unwrap().as_str(), r#"{"command":"ls"}"#, "{parts}");
                let verdict = engine.fire(event.clone()).await;
                assert_eq!(verdict.decision(), Decision::Deny, "{parts}: {verdict:?}");
                let (decision, reason) = rendered(host, &event, &verdict);
                assert_eq!(decision, Decision::Deny, "{parts}");
                assert!(reason.contains(REASON), "{parts}: {reason}");
            }
        }
    }
}
