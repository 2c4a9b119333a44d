//! Cost of trust for 20 hooks of a project, each with its own script: `cargo bench -p checkrein --bench trust`. The baseline
//! trusts everything, and the result is the additional time. Starting 20 processes takes far longer and varies by more, so the fastest
//! tenth of each is compared.
#![allow(clippy::unwrap_used, missing_docs, reason = "a failed benchmark panics")]

#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
const HOOKS: usize = 20;
#[cfg(unix)]
const BUDGET: Duration = Duration::from_millis(1);

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    use checkrein::dialects::agents::native;
    use checkrein::hook::EventFilter;
    use checkrein::hook_files::{Locations, Sources};
    use checkrein::payload::ToolCall;
    use checkrein::{Engine, Event, RawJson, Trust};
    use checkrein_bench::Bench;

    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    write(&project);
    let sources = |trust: Trust| {
        Sources::discover_in(&native::DIALECT, &project, Locations::new(dir.path().join("root"))).trust(trust)
    };
    let approved = || sources(Trust::in_dir(dir.path().join("state")));
    let everything = || sources(Trust::everything());
    let review = approved().review();
    review.approve(&review.awaiting()).unwrap();
    let event = Event::pre_tool_use(ToolCall::new("Bash", RawJson::parse(r#"{"command":"ls"}"#).unwrap()));
    let filter = EventFilter::for_event(&event);
    let bench = Bench::from_args();
    let case = |name: &str, rounds: usize| bench.case(name).rounds(rounds).fastest_tenth().budget_on_top(BUDGET);

    let load = |sources: &Sources| assert_eq!(sources.load().hooks.len(), HOOKS);
    let (one, other) = (approved().only(&filter), everything().only(&filter));
    case("reading a file with 20 hooks", 500).compare(|| load(&one), || load(&other));

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let engine = |sources: Sources| Engine::builder().sources(sources).cwd(&project).build();
    let fire = |engine: &Engine| {
        let verdict = runtime.block_on(engine.fire(event.clone()));
        assert!(verdict.warnings().is_empty(), "{:?}", verdict.warnings());
    };
    let (one, other) = (engine(approved()), engine(everything()));
    case("a fire with 20 scripts", 150).compare(|| fire(&one), || fire(&other));

    let whole = |sources: Sources| {
        let engine = Engine::builder().hooks(sources.only(&filter).load().hooks).cwd(&project).build();
        runtime.block_on(engine.fire(event.clone()));
    };
    case("both, as `checkrein hook` does it", 150).compare(|| whole(approved()), || whole(everything()));
}

#[cfg(unix)]
fn write(project: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::create_dir_all(project.join(".checkrein/scripts")).unwrap();
    let mut hooks = String::from("hooks:\n");
    for number in 0..HOOKS {
        let script = project.join(format!(".checkrein/scripts/{number}.sh"));
        // About as long as real scripts.
        let text = format!("#!/bin/sh\n{}exit 0\n", "# a comment line of a typical guard file\n".repeat(50));
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        hooks.push_str(&format!("  - {{id: h{number}, event: PreToolUse, command: .checkrein/scripts/{number}.sh}}\n"));
    }
    std::fs::write(project.join(".checkrein/hooks.yaml"), hooks).unwrap();
}
