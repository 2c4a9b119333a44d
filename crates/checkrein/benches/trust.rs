//! What trust adds to a fire: 20 hooks of a project, each with a script of its own. `cargo bench -p checkrein --bench trust`
//!
//! The same hooks are fired in turns, approved and with everything trusted, so that whatever else the machine does befalls
//! both alike. Starting 20 processes takes far longer than what is measured, and varies by more than that, so what counts is
//! the difference of what the fastest tenth of each takes. What reading files costs is measured in the same way.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a benchmark reports to people")]

#[cfg(unix)]
use std::time::{Duration, Instant};

#[cfg(unix)]
const HOOKS: usize = 20;
#[cfg(unix)]
const BUDGET: Duration = Duration::from_millis(1);

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    use checkrein::EventFilter;
    use checkrein::dialects::agents::native;
    use checkrein::payload::ToolCall;
    use checkrein::sources::{Sources, Where};
    use checkrein::{Engine, Event, RawJson, Trust};

    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    write(&project);
    let sources = |trust: Trust| {
        Sources::discover_in(&native::DIALECT, &project, Where::new(dir.path().join("root"))).trust(trust)
    };
    let approved = || sources(Trust::in_dir(dir.path().join("state")));
    let everything = || sources(Trust::everything());
    let review = approved().review();
    review.approve(&review.awaiting()).unwrap();
    let event = Event::pre_tool_use(ToolCall::new("Bash", RawJson::parse(r#"{"command":"ls"}"#).unwrap()));
    let filter = EventFilter::for_event(&event);
    println!("{:<44} {:>10} {:>10} {:>10} {:>8}", "case", "approved", "everything", "adds", "budget");

    let load = |sources: &Sources| {
        let begun = Instant::now();
        let hooks = sources.load().hooks;
        let took = begun.elapsed();
        assert_eq!(hooks.len(), HOOKS);
        took
    };
    let (one, other) = (approved().only(&filter), everything().only(&filter));
    report("reading a file with 20 hooks", 500, || load(&one), || load(&other));

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let engine = |sources: Sources| Engine::builder().sources(sources).cwd(&project).build();
    let fire = |engine: &Engine| {
        let begun = Instant::now();
        let verdict = runtime.block_on(engine.fire(event.clone()));
        let took = begun.elapsed();
        assert!(verdict.warnings().is_empty(), "{:?}", verdict.warnings());
        took
    };
    let (one, other) = (engine(approved()), engine(everything()));
    report("a fire with 20 scripts", 150, || fire(&one), || fire(&other));

    let whole = |sources: &dyn Fn() -> Sources| {
        let begun = Instant::now();
        let engine = Engine::builder().hooks(sources().only(&filter).load().hooks).cwd(&project).build();
        runtime.block_on(engine.fire(event.clone()));
        begun.elapsed()
    };
    report("both, as `checkrein hook` does it", 150, || whole(&approved), || whole(&everything));
}

#[cfg(unix)]
fn write(project: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::create_dir_all(project.join(".checkrein/scripts")).unwrap();
    let mut hooks = String::from("hooks:\n");
    for at in 0..HOOKS {
        let script = project.join(format!(".checkrein/scripts/{at}.sh"));
        // As long as real ones are.
        let text = format!("#!/bin/sh\n{}exit 0\n", "# what a guard explains to its readers\n".repeat(50));
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        hooks.push_str(&format!("  - {{id: h{at}, event: PreToolUse, command: .checkrein/scripts/{at}.sh}}\n"));
    }
    std::fs::write(project.join(".checkrein/hooks.yaml"), hooks).unwrap();
}

#[cfg(unix)]
fn report(name: &str, rounds: usize, one: impl Fn() -> Duration, other: impl Fn() -> Duration) {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        with.push(one());
        without.push(other());
    }
    let (with, without) = (fastest_tenth(with), fastest_tenth(without));
    let adds = with.saturating_sub(without);
    let over = if adds > BUDGET { "  over budget" } else { "" };
    println!("{name:<44} {with:>10.1?} {without:>10.1?} {adds:>10.1?} {BUDGET:>8.0?}{over}");
}

#[cfg(unix)]
fn fastest_tenth(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 10]
}
