//! How long it takes. Each case is measured in turns with its floor, many short rounds of each, so that whatever else
//! the machine does befalls both alike. The ratio is what counts: figures of one machine mean little on another.
//!
//! `cargo bench -p checkrein-core --bench core -- fire` measures only what has `fire` in its name.
#![allow(clippy::print_stdout, clippy::panic, missing_docs, reason = "a benchmark reports to people")]

mod cases;

use std::time::{Duration, Instant};

const ROUNDS: usize = 60;
const ROUND: Duration = Duration::from_micros(500);

fn main() {
    let wanted = std::env::args().nth(1).filter(|argument| !argument.starts_with('-')).unwrap_or_default();
    let (floors, cases): (Vec<_>, Vec<_>) = cases::all().into_iter().partition(|case| case.name.starts_with("floor"));
    let mut floors: Vec<_> = floors.into_iter().map(|floor| (floor.name, Timed::new((floor.prepare)()))).collect();
    println!("{:<48} {:>10} {:>10} {:>8} {:>8}", "case", "time", "floor", "x floor", "budget");
    for case in cases.into_iter().filter(|case| case.name.contains(&wanted)) {
        let mut timed = Timed::new((case.prepare)());
        let mut floor = floors.iter_mut().find(|(name, _)| Some(name.as_str()) == case.floor).map(|(_, timed)| timed);
        let (mut times, mut floor_times) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            times.push(timed.round());
            floor_times.extend(floor.as_mut().map(|floor| floor.round()));
        }
        let time = median(times);
        print!("{:<48} {time:>7.1} ns", case.name);
        if let (Some(_), Some(budget)) = (&floor, case.budget) {
            let floor = median(floor_times);
            let ratio = time / floor;
            let over = if ratio > budget { "  over budget" } else { "" };
            print!(" {floor:>7.1} ns {ratio:>8.2} {budget:>8.2}{over}");
        }
        println!();
    }
}

/// Something that is timed in rounds of about equal length.
struct Timed {
    run: Box<dyn FnMut()>,
    repetitions: u32,
}

impl Timed {
    fn new(run: Box<dyn FnMut()>) -> Self {
        let mut timed = Self { run, repetitions: 16 };
        // The rounds before the length is right also warm up what there is to warm up.
        loop {
            let nanos = timed.round() * f64::from(timed.repetitions);
            if nanos >= ROUND.as_nanos() as f64 {
                return timed;
            }
            timed.repetitions *= 2;
        }
    }

    /// Nanoseconds for one repetition.
    fn round(&mut self) -> f64 {
        let start = Instant::now();
        for _ in 0..self.repetitions {
            (self.run)();
        }
        start.elapsed().as_nanos() as f64 / f64::from(self.repetitions)
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
