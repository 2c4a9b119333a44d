//! Benchmark harness. A case runs in turns with a floor: the minimum cost of the same work. Other load on the machine slows
//! both down equally, so the ratio of the two is the result. Only benchmarks use this crate.
//!
//! ```
//! let bench = checkrein_bench::Bench::from_args();
//! let numbers: Vec<u32> = (0..1000).collect();
//! bench.case("sort a copy").rounds(10).budget(100.0).compare(|| numbers.clone().sort(), || drop(numbers.clone()));
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::time::{Duration, Instant};

/// Rounds before the measured ones.
const WARM_UP: usize = 3;

/// Length of a round of a [short](Case::short) case.
const SHORT_ROUND: Duration = Duration::from_micros(500);

/// A table of results. An argument of the benchmark (`cargo bench … -- TEXT`) selects the cases with this text in their names.
#[derive(Debug)]
pub struct Bench {
    filter: String,
}

impl Bench {
    /// Reads the arguments and prints the head of the table.
    pub fn from_args() -> Self {
        let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
        row("case", ["time", "floor", "x floor", "at best", "on top", "budget"]);
        Self { filter }
    }

    /// Returns `true` if a case is selected.
    pub fn is_selected(&self, name: &str) -> bool {
        name.contains(&self.filter)
    }

    /// Creates a case. `compare` and `time` skip it if it is not selected.
    pub fn case(&self, name: impl Into<String>) -> Case<'_> {
        let name = name.into();
        Case { bench: self, name, rounds: 100, work: 1, is_short: false, part: 2, ratio: None, on_top: None }
    }
}

/// One case of a benchmark, with its settings.
#[derive(Debug)]
#[must_use = "a case is measured by `compare` or `time`"]
pub struct Case<'a> {
    bench: &'a Bench,
    name: String,
    rounds: usize,
    work: u32,
    is_short: bool,
    /// 2 for the median, 10 for the fastest tenth.
    part: usize,
    ratio: Option<f64>,
    on_top: Option<Duration>,
}

impl Case<'_> {
    /// Sets the number of rounds. The default is 100.
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets the units of work of one call. Times are shown for one unit.
    pub fn work(mut self, units: u32) -> Self {
        self.work = units;
        self
    }

    /// Repeats the work in each round until the resolution of the clock is sufficient. For work of nanoseconds.
    pub fn short(mut self) -> Self {
        self.is_short = true;
        self
    }

    /// Uses the fastest tenth instead of the median. For work that varies by more than the difference to its floor.
    pub fn fastest_tenth(mut self) -> Self {
        self.part = 10;
        self
    }

    /// Sets the allowed multiple of the floor.
    pub fn budget(mut self, ratio: f64) -> Self {
        self.ratio = Some(ratio);
        self
    }

    /// Sets the allowed time above the floor.
    pub fn budget_on_top(mut self, time: Duration) -> Self {
        self.on_top = Some(time);
        self
    }

    /// Measures the case in turns with its floor.
    pub fn compare(self, run: impl FnMut(), floor: impl FnMut()) {
        if self.bench.is_selected(&self.name) {
            let (run, floor) = (self.timed(run), self.timed(floor));
            self.measure(run, Some(floor));
        }
    }

    /// Measures the case in turns with its floor. Both functions return their own time.
    pub fn compare_timed(self, mut run: impl FnMut() -> Duration, mut floor: impl FnMut() -> Duration) {
        if self.bench.is_selected(&self.name) {
            self.measure(|| nanos(run()), Some(|| nanos(floor())));
        }
    }

    /// Measures the case without a floor.
    pub fn time(self, run: impl FnMut()) {
        if self.bench.is_selected(&self.name) {
            let run = self.timed(run);
            self.measure(run, None::<fn() -> f64>);
        }
    }

    /// A function that does the work and returns the time of one repetition in nanoseconds.
    fn timed(&self, mut run: impl FnMut()) -> impl FnMut() -> f64 {
        let mut repeat = move |repetitions: u32| {
            let begun = Instant::now();
            for _ in 0..repetitions {
                run();
            }
            begun.elapsed()
        };
        let mut repetitions = 1;
        while self.is_short && repeat(repetitions) < SHORT_ROUND {
            repetitions *= 2;
        }
        move || nanos(repeat(repetitions)) / f64::from(repetitions)
    }

    fn measure(&self, mut run: impl FnMut() -> f64, mut floor: Option<impl FnMut() -> f64>) {
        let (mut times, mut floors) = (Vec::new(), Vec::new());
        for round in 0..WARM_UP + self.rounds {
            // The first one affects the caches of the second, so the order alternates.
            let (time, floor_time) = if round % 2 == 0 {
                (run(), floor.as_mut().map(|floor| floor()))
            } else {
                let floor_time = floor.as_mut().map(|floor| floor());
                (run(), floor_time)
            };
            if round >= WARM_UP {
                times.push(time / f64::from(self.work));
                floors.extend(floor_time.map(|time| time / f64::from(self.work)));
            }
        }
        times.sort_by(f64::total_cmp);
        floors.sort_by(f64::total_cmp);
        self.report(&times, &floors);
    }

    fn report(&self, times: &[f64], floors: &[f64]) {
        let time = times[times.len() / self.part];
        if floors.is_empty() {
            return row(&self.name, [&shown(time), "", "", "", "", ""]);
        }
        let floor = floors[floors.len() / self.part];
        let (ratio, on_top) = (time / floor, time - floor);
        let at_best = times[times.len() / 10] / floors[floors.len() / 10];
        let mut budget = match (self.ratio, self.on_top) {
            (Some(allowed), _) => format!("{allowed:.2} x"),
            (None, Some(allowed)) => shown(nanos(allowed)),
            (None, None) => "-".to_owned(),
        };
        let is_over = self.ratio.is_some_and(|allowed| ratio > allowed)
            || self.on_top.is_some_and(|allowed| on_top > nanos(allowed));
        if is_over {
            budget.push_str("  over budget");
        }
        let cells = [shown(time), shown(floor), format!("{ratio:.2}"), format!("{at_best:.2}"), shown(on_top), budget];
        row(&self.name, cells.each_ref().map(String::as_str));
    }
}

fn row(name: &str, [time, floor, ratio, at_best, on_top, budget]: [&str; 6]) {
    let line = format!("{name:<50} {time:>10} {floor:>10} {ratio:>8} {at_best:>8} {on_top:>10}   {budget}");
    println!("{}", line.trim_end());
}

fn nanos(time: Duration) -> f64 {
    time.as_nanos() as f64
}

fn shown(nanos: f64) -> String {
    if nanos.abs() < 1e3 {
        format!("{nanos:.1} ns")
    } else if nanos.abs() < 1e7 {
        format!("{:.1} µs", nanos / 1e3)
    } else {
        format!("{:.1} ms", nanos / 1e6)
    }
}
