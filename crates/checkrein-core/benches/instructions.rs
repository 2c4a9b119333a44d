//! Instruction counts, measured by valgrind. They do not depend on the load of the machine.
//!
//! The program runs itself under callgrind with 1,000 and with 3,000 repetitions of a case. The difference is the cost of
//! the case alone.
#![allow(clippy::print_stdout, clippy::panic, missing_docs, reason = "a benchmark reports to people")]

mod cases;

use std::process::Command;

const FEW: u64 = 1000;
const MANY: u64 = 3000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, flag, index, times] = &arguments[..]
        && flag == "--repeat"
    {
        repeat(index.parse().unwrap_or_default(), times.parse().unwrap_or_default());
        return;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("valgrind is not installed: no instructions counted");
        return;
    }
    println!("{:<48} {:>14} {:>8} {:>8}", "case", "instructions", "x floor", "(time)");
    let mut counted: Vec<(String, f64)> = Vec::new();
    for (index, case) in cases::all().into_iter().enumerate() {
        let Some(count) = count(index, MANY)
            .zip(count(index, FEW))
            .map(|(many, few)| (many.saturating_sub(few)) as f64 / (MANY - FEW) as f64)
        else {
            println!("{:<48} not counted: valgrind failed", case.name);
            continue;
        };
        let floor = case.floor.and_then(|floor| counted.iter().find(|(name, _)| name == floor));
        let ratio = floor.map_or_else(String::new, |(_, floor)| format!("{:.2}", count / floor));
        // The budget is for time. It is printed for comparison.
        let budget = case.budget.map_or_else(String::new, |budget| format!("{budget:.2}"));
        println!("{:<48} {count:>14.1} {ratio:>8} {budget:>8}", case.name);
        counted.push((case.name, count));
    }
}

fn repeat(index: usize, times: u64) {
    if let Some(case) = cases::all().into_iter().nth(index) {
        let mut run = (case.prepare)();
        for _ in 0..times {
            run();
        }
    }
}

fn count(index: usize, times: u64) -> Option<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--"])
        .arg(std::env::current_exe().ok()?)
        .args(["--repeat", &index.to_string(), &times.to_string()])
        .output()
        .ok()?;
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = report.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}
