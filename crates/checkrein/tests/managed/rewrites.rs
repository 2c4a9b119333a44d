//! Managed hooks check the final input, after the rewrites of other hooks.

use std::sync::{Arc, Mutex};

use checkrein::dialects::agents::{claude, claw, docker_agent, evva};
use checkrein::event::Target;
use checkrein::handler::Builtin;
use checkrein::hook::Source;
use checkrein::rules::RunOrder;
use checkrein::{
    Decision, Engine, EventKind, HookSpec, Matcher, Opinion, RawJson, Registry, Rules, Scope, engine::EngineBuilder,
};

use crate::common::tool_call;

/// An engine with builtins that rewrite, and a guard that records its inputs.
fn engine(seen: &Arc<Mutex<Vec<String>>>) -> EngineBuilder {
    let mut registry = Registry::new();
    let rewrite = |command: &'static str| {
        Builtin::immediate(move |_| Ok(Opinion::allow().with_rewrite(input(&format!(r#"{{"command":"{command}"}}"#)))))
    };
    registry.register_builtin("to-rm", rewrite("rm")).unwrap();
    registry.register_builtin("to-ls", rewrite("ls")).unwrap();
    let seen = Arc::clone(seen);
    let guard = Builtin::immediate(move |call| {
        let command = call.event.tool_input().unwrap().to_string();
        seen.lock().unwrap().push(command.clone());
        Ok(if command.contains("rm") { Opinion::deny("no rm") } else { Opinion::none() })
    });
    registry.register_builtin("guard", guard).unwrap();
    Engine::builder().registry(registry)
}

fn input(text: &str) -> checkrein::Rewrite {
    checkrein::Rewrite::replace(Target::Input, text.parse::<RawJson>().unwrap())
}

fn hook(id: &str, builtin: &str, scope: Scope) -> HookSpec {
    let mut spec = HookSpec::builtin(id, EventKind::PreToolUse, builtin).matching(Matcher::names(["Bash"]));
    Arc::make_mut(&mut spec.info).source = Source::for_scope(scope);
    spec
}

/// Builds an engine for each agent's rules and each order.
fn engines(engine: impl Fn() -> EngineBuilder) -> Vec<(String, Engine)> {
    let mut engines: Vec<_> = [&claude::DIALECT, &claw::DIALECT, &docker_agent::DIALECT, &evva::DIALECT]
        .into_iter()
        .map(|dialect| (dialect.name.to_owned(), engine().settle_as(dialect).build()))
        .collect();
    engines.push(("native".to_owned(), engine().build()));
    engines.push(("callbacks".to_owned(), engine().rules(Rules::FIRST_DECISION).build()));
    for order in [RunOrder::Sequential, RunOrder::Parallel, RunOrder::Pipeline, RunOrder::Phased] {
        engines.push((format!("{order:?}"), engine().rules(Rules::NATIVE.order(order)).build()));
    }
    engines
}

#[tokio::test]
async fn managed_guard_checks_rewritten_input_again() {
    for declares in [true, false] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let builder = || {
            // A hook of another agent need not declare that it rewrites.
            let rewriter = hook("rewriter", "to-rm", Scope::Project).order(-100);
            let rewriter = if declares { rewriter.rewrites() } else { rewriter.dialect(&claude::DIALECT) };
            engine(&seen).hook(rewriter).hook(hook("guard", "guard", Scope::Managed))
        };
        for (name, engine) in engines(builder) {
            seen.lock().unwrap().clear();
            let verdict = engine.fire(tool_call("Bash", r#"{"command":"ls"}"#)).await;
            assert_eq!(verdict.decision(), Decision::Deny, "{name} {declares}");
            assert_eq!(verdict.reason(), Some("no rm"), "{name} {declares}");
            assert_eq!(seen.lock().unwrap().last().unwrap(), r#"{"command":"rm"}"#, "{name} {declares}");
        }
    }
}

#[tokio::test]
async fn condition_of_a_managed_guard_uses_the_final_input() {
    let file = tempfile::tempdir().unwrap();
    let path = file.path().join("hooks.json");
    let text = r#"{"hooks": [{"id": "guard", "event": "PreToolUse", "if": "Bash(rm *)", "command": "echo no rm >&2; exit 2"}]}"#;
    std::fs::write(&path, text).unwrap();
    let mut guard =
        checkrein::Sources::of_files(&checkrein::dialects::agents::native::DIALECT, [&path]).load().hooks.remove(0);
    Arc::make_mut(&mut guard.info).source = Source::for_scope(Scope::Managed);
    for (from, to, expected) in [
        ("ls", r#"{"command":"rm -rf x"}"#, Decision::Deny),
        ("rm -rf x", r#"{"command":"ls"}"#, Decision::NoOpinion),
        ("rm -rf x", r#"{"command":"rm -rf x"}"#, Decision::Deny),
    ] {
        let mut registry = Registry::new();
        let to = to.to_owned();
        let rewrite = Builtin::immediate(move |_| Ok(Opinion::none().with_rewrite(input(&to))));
        registry.register_builtin("rewrite", rewrite).unwrap();
        let rewriter = hook("rewriter", "rewrite", Scope::User).rewrites();
        let engine = Engine::builder().registry(registry).hook(rewriter).hook(guard.clone()).build();
        let verdict = engine.fire(tool_call("Bash", &format!(r#"{{"command":"{from}"}}"#))).await;
        assert_eq!(verdict.decision(), expected, "{from}");
    }
}

#[tokio::test]
async fn managed_rewrite_is_the_last() {
    for declares in [true, false] {
        let seen = Arc::default();
        let theirs = hook("theirs", "to-rm", Scope::User);
        let theirs = if declares { theirs.rewrites() } else { theirs.dialect(&claude::DIALECT) };
        let own = hook("own", "to-ls", Scope::Managed).rewrites();
        let guard = hook("guard", "guard", Scope::Managed);
        let engine = engine(&seen).hook(theirs).hook(own).hook(guard).build();
        let verdict = engine.fire(tool_call("Bash", r#"{"command":"x"}"#)).await;
        assert_eq!(verdict.rewritten(Target::Input).unwrap().effective.as_str(), r#"{"command":"ls"}"#, "{declares}");
        assert_eq!(verdict.decision(), Decision::Allow, "{declares}");
    }
}

#[tokio::test]
async fn managed_guard_runs_once_without_rewrites() {
    let seen = Arc::default();
    let engine =
        engine(&seen).hook(hook("guard", "guard", Scope::Managed)).hook(hook("user", "guard", Scope::User)).build();
    let _ = engine.fire(tool_call("Bash", r#"{"command":"x"}"#)).await;
    // Both hooks use this builtin, and each runs once.
    assert_eq!(seen.lock().unwrap().len(), 2);
}
