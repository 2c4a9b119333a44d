//! What a run costs, as a ratio to a floor in the same run: `cargo bench -p checkrein-process`.
//!
//! The floor is `std::process` with an absolute path, a group, a directory and an environment of its own, pipes for all
//! three streams, and blocking reads. Both take turns, so that a change of the machine's mood hits both.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may")]

#[cfg(unix)]
fn main() {
    unix::main();
}

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
mod unix {
    use std::io::Write as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    #[cfg(target_os = "linux")]
    use checkrein_process::{Files, Sandbox};
    use checkrein_process::{Limits, Place, Prepared, Program, Stdin};
    use tokio::runtime::{Builder, Runtime};

    struct Case {
        name: &'static str,
        floor: &'static [&'static str],
        program: Program,
        stdin: usize,
        rounds: u32,
        budget: f64,
    }

    fn environment() -> Vec<(String, String)> {
        let mut all = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        all.extend((0..20).map(|at| (format!("VARIABLE_{at}"), format!("some value of variable {at}"))));
        all
    }

    fn floor(argv: &[&str], env: &[(String, String)], stdin: &Arc<[u8]>) {
        let mut command = Command::new(argv[0]);
        command
            .args(&argv[1..])
            .current_dir("/")
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // What fits into a pipe needs no thread.
        if stdin.len() <= 64 * 1024 {
            let _ = pipe.write_all(stdin);
            drop(pipe);
            child.wait_with_output().unwrap();
        } else {
            let bytes = stdin.clone();
            let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
            child.wait_with_output().unwrap();
            writer.join().unwrap();
        }
    }

    fn median(times: &mut [Duration]) -> Duration {
        times.sort_unstable();
        times[times.len() / 2]
    }

    /// How long one run takes, in a task, as in a host that serves many things.
    fn timed(runtime: &Runtime, prepared: &Prepared, place: &Place, stdin: &Stdin, limits: Limits) -> Duration {
        let (prepared, place, stdin) = (prepared.clone(), place.clone(), stdin.clone());
        let run = async move {
            let begun = Instant::now();
            let reply = prepared.run(&place, &stdin, &limits).await.unwrap();
            assert!(reply.exit.success() && reply.leftovers.is_empty());
            begun.elapsed()
        };
        runtime.block_on(async { tokio::spawn(run).await.unwrap() })
    }

    fn measure(case: &Case, runtime: &Runtime, name: &str) {
        let env = environment();
        let place = Place::new("/").env(env.clone());
        let prepared: Prepared = case.program.clone().prepare(&place).unwrap();
        let limits = Limits::new(Duration::from_secs(60));
        let bytes: Arc<[u8]> = vec![b'x'; case.stdin].into();
        let stdin = Stdin::bytes(bytes.clone());

        let run_floor = || {
            let begun = Instant::now();
            floor(case.floor, &env, &bytes);
            begun.elapsed()
        };
        let run_ours = || timed(runtime, &prepared, &place, &stdin, limits);
        let (mut floors, mut ours) = (Vec::new(), Vec::new());
        for round in 0..case.rounds {
            // Who comes second inherits the other's warm caches and its mess.
            if round % 2 == 0 {
                floors.push(run_floor());
                ours.push(run_ours());
            } else {
                ours.push(run_ours());
                floors.push(run_floor());
            }
        }
        let (floor, ours) = (median(&mut floors), median(&mut ours));
        report(case, name, floor, ours);
    }

    /// What a sandbox costs, with a run without one as the floor.
    #[cfg(target_os = "linux")]
    fn measure_sandbox(case: &Case, runtime: &Runtime, name: &str) {
        let place = Place::new("/").env(environment());
        let files = Files::none().read("/srv");
        let sandbox = Sandbox::new()
            .files(files)
            .cpu(Duration::from_secs(60))
            .memory(1 << 30)
            .processes(64)
            .open_files(256)
            .file_size(256 << 20);
        let caged = place.clone().sandbox(sandbox);
        let prepared: Prepared = case.program.clone().prepare(&place).unwrap();
        let limits = Limits::new(Duration::from_secs(60));
        let stdin = Stdin::bytes(vec![b'x'; case.stdin]);
        let run = |place: &Place| timed(runtime, &prepared, place, &stdin, limits);
        let (mut floors, mut ours) = (Vec::new(), Vec::new());
        for round in 0..case.rounds {
            if round % 2 == 0 {
                floors.push(run(&place));
                ours.push(run(&caged));
            } else {
                ours.push(run(&caged));
                floors.push(run(&place));
            }
        }
        report(case, name, median(&mut floors), median(&mut ours));
    }

    fn report(case: &Case, name: &str, floor: Duration, ours: Duration) {
        let ratio = ours.as_secs_f64() / floor.as_secs_f64();
        let verdict = if ratio <= case.budget { "" } else { "  over" };
        println!(
            "{:<34} {name:<8} floor {:>9.1} µs  ours {:>9.1} µs  ratio {ratio:.3}  budget {:.2}{verdict}",
            case.name,
            floor.as_secs_f64() * 1e6,
            ours.as_secs_f64() * 1e6,
            case.budget
        );
    }

    pub(super) fn main() {
        let read = "cat >/dev/null; echo {}";
        let read_floor: &[&str] = &["/bin/sh", "-c", "cat >/dev/null; echo {}"];
        let case = |name, floor, text: &str, stdin, rounds, budget| Case {
            name,
            floor,
            program: Program::shell(text),
            stdin,
            rounds,
            budget,
        };
        let cases = [
            case("true via sh", &["/bin/sh", "-c", "true"], "true", 0, 3000, 1.05),
            case("/bin/true direct, floor direct", &["/bin/true"], "/bin/true", 0, 3000, 1.05),
            case("/bin/true direct, floor sh -c true", &["/bin/sh", "-c", "true"], "/bin/true", 0, 3000, 0.86),
            case("/bin/true direct, floor via sh", &["/bin/sh", "-c", "/bin/true"], "/bin/true", 0, 3000, 0.86),
            case("reads 1 KiB, answers", read_floor, read, 1 << 10, 2000, 1.05),
            case("reads 100 KiB, answers", read_floor, read, 100 << 10, 1000, 1.05),
            case("reads 10 MiB, answers", read_floor, read, 10 << 20, 150, 12.0 / 9.4),
            case("ignores 10 MiB", &["/bin/sh", "-c", "true"], "true", 10 << 20, 300, 1.5 / 0.74),
        ];
        let runtimes = [
            ("1 thread", Builder::new_current_thread().enable_all().build().unwrap()),
            ("2 threads", Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()),
        ];
        // With a part of a case's name, only such cases run.
        let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
        for case in cases.iter().filter(|case| case.name.contains(&wanted)) {
            for (name, runtime) in &runtimes {
                measure(case, runtime, name);
            }
        }
        #[cfg(target_os = "linux")]
        {
            let caged = [
                case("sandbox: /bin/true", &[], "/bin/true", 0, 2000, 1.5),
                case("sandbox: true via sh", &[], "true", 0, 2000, 1.5),
                case("sandbox: reads 1 KiB, answers", &[], read, 1 << 10, 1000, 1.5),
            ];
            for case in caged.iter().filter(|case| case.name.contains(&wanted)) {
                for (name, runtime) in &runtimes {
                    measure_sandbox(case, runtime, name);
                }
            }
            let large = case("sandbox: true via sh, host of 1 GiB", &[], "true", 0, 500, 1.5);
            if large.name.contains(&wanted) {
                let memory = vec![1_u8; 1 << 30];
                measure_sandbox(&large, &runtimes[0].1, runtimes[0].0);
                std::hint::black_box(memory);
            }
        }
    }
}
