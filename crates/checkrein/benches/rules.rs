//! Cost of rules in a fire: `cargo bench -p checkrein --bench rules`. The baseline is a fire with a hook that does nothing, and the
//! result is the additional time: reading the command once, and evaluating the rules.
#![allow(clippy::unwrap_used, missing_docs, reason = "a failed benchmark panics")]

use std::time::Duration;

use checkrein::dialects::packs;
use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, HookSpec, Opinion, RawJson};
use checkrein_bench::Bench;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bench = Bench::from_args();
    // Other packs use the history of the session, which grows with every fire.
    let chosen = ["filesystem", "git", "secrets", "self"].into_iter().filter_map(packs::find);
    let rules: Vec<HookSpec> = chosen.flat_map(packs::Pack::rules).filter(is_on).filter(is_stateless).collect();
    let typical = "cargo test --workspace 2>&1 | tail -20 && git status --short";
    let long = format!("echo {}", "word ".repeat(2048));
    for (name, count, command, budget) in [
        ("1 rule, typical command", 1, typical, 10),
        ("50 rules, typical command", 50, typical, 20),
        ("500 rules, typical command", 500, typical, 200),
        ("1 rule, command of 10 KB", 1, long.as_str(), 1000),
        ("50 rules, command of 10 KB", 50, &long, 2000),
    ] {
        if !bench.is_selected(name) {
            continue;
        }
        let none = HookSpec::callback("none", EventKind::PreToolUse, |_| Opinion::none());
        let without = Engine::builder().hook(none.clone()).build();
        let chosen = rules.iter().cycle().take(count).enumerate().map(|(index, rule)| {
            let mut rule = rule.clone();
            // Equal hooks run once.
            rule.identity = Some(index.to_string());
            rule
        });
        let with = Engine::builder().hook(none).hooks(chosen).build();
        assert!(with.problems().is_empty(), "{:?}", with.problems());
        let event = event(command);
        let fire = |engine: &Engine| drop(runtime.block_on(engine.fire(event.clone())));
        bench
            .case(name)
            .rounds(2000)
            .budget_on_top(Duration::from_micros(budget))
            .compare(|| fire(&with), || fire(&without));
    }
}

fn is_on(rule: &HookSpec) -> bool {
    rule.state == checkrein::hook::HookState::Ready
}

fn is_stateless(rule: &HookSpec) -> bool {
    matches!(&rule.handler, checkrein::hook::HandlerSpec::Rule(rule) if !rule.uses_history())
}

fn event(command: &str) -> Event {
    let input = RawJson::parse(format!(r#"{{"command":{}}}"#, RawJson::string(command))).unwrap();
    let mut event = Event::pre_tool_use(ToolCall::new("Bash", input));
    event.envelope.cwd = Some("/home/user/project".to_owned());
    event
}
