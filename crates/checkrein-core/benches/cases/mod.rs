//! Benchmark cases and the floors that they are compared with. Used by the timer and by the instruction counter.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use checkrein_core::payload::{Stop, ToolCall};
use checkrein_core::runner::Fire;
use checkrein_core::{
    Event, EventKind, Grammar, HookInfo, HookSelector, HookSet, Matcher, Opinion, RawJson, Rules, Runner, Settlement,
    Source,
};

/// One case. `prepare` builds its data and returns a function that runs it once.
pub struct Case {
    pub name: String,
    /// Name of its floor.
    pub floor: Option<&'static str>,
    /// Budget of the design, as a multiple of the floor.
    pub budget: Option<f64>,
    pub prepare: Box<dyn FnOnce() -> Box<dyn FnMut()>>,
}

fn case<R: FnMut() + 'static>(
    name: impl Into<String>,
    floor: Option<&'static str>,
    budget: Option<f64>,
    prepare: impl FnOnce() -> R + 'static,
) -> Case {
    Case { name: name.into(), floor, budget, prepare: Box::new(|| Box::new(prepare())) }
}

/// Returns all cases. Floors come before the cases that are compared with them.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    fire(&mut cases);
    fire_registered_later(&mut cases);
    select(&mut cases);
    settling(&mut cases);
    cases
}

fn fire(cases: &mut Vec<Case>) {
    // Minimum of a fire: load a flag through a shared pointer.
    cases.push(case("floor: one flag", None, None, || {
        let flag = Arc::new(AtomicBool::new(false));
        move || {
            black_box(black_box(&flag).load(Ordering::Acquire));
        }
    }));
    cases.push(case("fire/no handler", Some("floor: one flag"), Some(5.0 / 1.4), || {
        let (runner, event) = (Runner::new(), Event::stop(Stop::new()));
        move || {
            black_box(black_box(&runner).fire(black_box(&event)).decision());
        }
    }));
    for (count, floor, budget) in [
        (1, "floor: 1 call", 12.0 / 2.8),
        (10, "floor: 10 calls", 60.0 / 20.0),
        (100, "floor: 100 calls", 400.0 / 171.0),
    ] {
        cases.push(case(floor, None, None, move || {
            let (calls, event) = (bare_calls(count), Event::stop(Stop::new()));
            move || {
                for call in black_box(&calls) {
                    if call(black_box(&event)).is_some() {
                        break;
                    }
                }
            }
        }));
        cases.push(case(format!("fire/{count} handlers"), Some(floor), Some(budget), move || {
            let event = Event::stop(Stop::new());
            let handler = |fire: &Fire<'_>| {
                black_box(fire);
                Opinion::none()
            };
            let builder = (0..count).fold(Runner::builder(), |builder, _| builder.on(EventKind::Stop, "h", handler));
            let runner = builder.build();
            move || {
                black_box(black_box(&runner).fire(black_box(&event)).decision());
            }
        }));
    }
}

/// Cases with a handler that is registered after the runner is built.
fn fire_registered_later(cases: &mut Vec<Case>) {
    cases.push(case("fire/1 handler registered later", Some("floor: 1 call"), None, || {
        let (runner, event) = (Runner::new(), Event::stop(Stop::new()));
        runner.on(EventKind::Stop, "h", |fire| {
            black_box(fire);
            Opinion::none()
        });
        move || {
            black_box(black_box(&runner).fire(black_box(&event)).decision());
        }
    }));
}

type Bare = Box<dyn Fn(&Event) -> Option<Box<Opinion>>>;

/// Minimum of calling handlers: indirect calls.
fn bare_calls(count: usize) -> Vec<Bare> {
    let call = || -> Bare {
        Box::new(|event| {
            black_box(event);
            None
        })
    };
    std::iter::repeat_with(call).take(count).collect()
}

fn hooks(grammar: &Grammar, count: usize) -> HookSet {
    let suffix = if *grammar == Grammar::EXACT { "" } else { "__.*" };
    let hooks = (0..count)
        .map(|n| {
            let pattern =
                if n == count / 2 { format!("mcp__server__tool{suffix}") } else { format!("mcp__server{n}{suffix}") };
            let matcher = Matcher::compile(grammar, Some(&pattern)).unwrap_or_else(|error| panic!("{error}"));
            HookSelector::for_kind(HookInfo::new(n.to_string(), Source::here()), EventKind::PreToolUse)
                .matching(matcher)
        })
        .collect();
    HookSet::new(hooks)
}

fn call(name: &str) -> Event {
    Event::pre_tool_use(ToolCall::new(name, RawJson::default()))
}

fn select(cases: &mut Vec<Case>) {
    const FLOOR: &str = "floor: one name in a map";
    // Minimum of finding a name.
    cases.push(case(FLOOR, None, None, || {
        let map: HashMap<String, u32, foldhash::fast::FixedState> =
            (0..32).map(|n| (format!("mcp__other{n}"), n)).collect();
        move || {
            black_box(black_box(&map).get(black_box("mcp__other7")));
        }
    }));
    for (what, grammar, fitting) in
        [("literal", Grammar::EXACT, "mcp__server__tool"), ("regex", Grammar::REGEX_WHOLE, "mcp__server__tool__x")]
    {
        for count in [10, 100, 1000] {
            // A selected hook then runs, which takes longer than any search. So only the case without a match has a budget.
            for (fits, name, budget) in [("none fits", "mcp__other7", Some(200.0 / 7.0)), ("one fits", fitting, None)] {
                cases.push(case(format!("select/{what}, {count} hooks, {fits}"), Some(FLOOR), budget, move || {
                    let (set, event) = (hooks(&grammar, count), call(name));
                    move || {
                        black_box(black_box(&set).select(black_box(&event)).count());
                    }
                }));
            }
        }
    }
}

fn settling(cases: &mut Vec<Case>) {
    for count in [1, 10, 100] {
        for (what, opinion) in [
            ("no opinions", Opinion::none()),
            ("allows", Opinion::allow()),
            ("denies", Opinion::deny("because of this")),
        ] {
            cases.push(case(format!("settle/{count} {what}"), None, None, move || {
                let event = call("Bash");
                let info = |n: usize| Arc::new(HookInfo::new(n.to_string(), Source::here()));
                let infos: Vec<_> = (0..count).map(info).collect();
                move || {
                    let mut settlement = Settlement::new(&Rules::NATIVE, black_box(&event));
                    for (position, hook) in infos.iter().enumerate() {
                        let _ = black_box(settlement.push(position, hook, black_box(&opinion)));
                    }
                    black_box(settlement.finish());
                }
            }));
        }
    }
}
