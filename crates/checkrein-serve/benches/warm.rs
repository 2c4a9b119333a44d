//! Latency of Python and Node guards in warm interpreters, compared with cold runs in turns.

#![allow(missing_docs, reason = "a benchmark has no interface")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark stops at any failure, and reports to people"
)]

#[cfg(target_os = "linux")]
#[path = "../tests/warm/common.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests")]
mod common;

#[cfg(target_os = "linux")]
fn main() {
    use std::time::{Duration, Instant};

    use common::{World, argv, node, python};

    const ROUNDS: usize = 25;
    const PYTHON: &str = "import json, re, sys\nfrom pathlib import Path\ndata = json.load(sys.stdin)\n\
        command = data.get('tool_input', {}).get('command', '')\n\
        if re.search(r'rm\\s+-rf', command) or Path(command).name == '.env':\n    \
        print('blocked', file=sys.stderr)\n    sys.exit(2)\n";
    const NODE: &str = "const fs = require('fs'); const path = require('path');\n\
        const data = JSON.parse(fs.readFileSync(0, 'utf8'));\nconst command = data.tool_input?.command ?? '';\n\
        if (/rm\\s+-rf/.test(command) || path.basename(command) === '.env') { console.error('blocked'); process.exit(2); }\n";
    let payload = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "cargo test"}}"#;
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    let world = World::new();
    let cwd = world.dir.path();
    for (name, program, file, text, budget) in
        [("python", python(), "guard.py", PYTHON, 0.4), ("node", node(), "guard.js", NODE, 0.2)]
    {
        let Some(program) = program else { continue };
        let script = world.write(file, text);
        let spec = argv(&[program, script.to_str().unwrap()]);
        world.warm(&spec, cwd, payload);
        let (mut cold, mut warm) = (Vec::new(), Vec::new());
        while warm.len() < ROUNDS {
            // The next interpreter starts after the run.
            std::thread::sleep(Duration::from_millis(600));
            let begun = Instant::now();
            world.cold(&spec, cwd, payload);
            cold.push(begun.elapsed());
            let before = world.taken();
            let begun = Instant::now();
            world.call(&spec, cwd, payload, true).unwrap();
            if world.taken() > before {
                warm.push(begun.elapsed());
            }
        }
        let (cold, warm) = (median(cold), median(warm));
        let ratio = warm.as_secs_f64() / cold.as_secs_f64();
        println!("{name}: cold {cold:.1?}, warm {warm:.1?}, ratio {ratio:.2} (budget {budget})");
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: warm interpreters need Linux");
}
