//! Timing benchmarks of the core. `cargo bench -p checkrein-core --bench core -- fire` runs the cases with `fire` in their
//! name.
#![allow(clippy::panic, missing_docs, reason = "a benchmark reports to people")]

mod cases;

use checkrein_bench::Bench;

fn main() {
    let bench = Bench::from_args();
    let (floors, cases): (Vec<_>, Vec<_>) = cases::all().into_iter().partition(|case| case.name.starts_with("floor"));
    let mut floors: Vec<_> = floors.into_iter().map(|floor| (floor.name, (floor.prepare)())).collect();
    for case in cases {
        if !bench.is_selected(&case.name) {
            continue;
        }
        let run = (case.prepare)();
        let mut timed = bench.case(case.name).rounds(60).short();
        if let Some(budget) = case.budget {
            timed = timed.budget(budget);
        }
        match floors.iter_mut().find(|(name, _)| Some(name.as_str()) == case.floor) {
            Some((_, floor)) => timed.compare(run, floor),
            None => timed.time(run),
        }
    }
}
