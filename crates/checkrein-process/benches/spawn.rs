//! Cost of a run relative to a floor: `cargo bench -p checkrein-process`.
//!
//! The floor is `std::process` with an absolute path, its own group, directory and environment, pipes for all three
//! streams, and blocking reads. Both run in turns, so that other load on the machine affects both.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

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

    use checkrein_bench::Bench;
    use checkrein_process::{ExecContext, HookCommand, Limits, ResolvedCommand, Stdin};
    #[cfg(target_os = "linux")]
    use checkrein_process::{Files, Sandbox};
    use tokio::runtime::{Builder, Runtime};

    struct Case {
        name: &'static str,
        floor: &'static [&'static str],
        program: HookCommand,
        stdin: usize,
        rounds: usize,
        budget: f64,
    }

    fn environment() -> Vec<(String, String)> {
        let mut all = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
        all.extend((0..20).map(|index| (format!("VARIABLE_{index}"), format!("some value of variable {index}"))));
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
        // Input that fits into a pipe needs no thread.
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

    /// Duration of one run in a spawned task, as in a host with many tasks.
    fn timed(
        runtime: &Runtime,
        prepared: &ResolvedCommand,
        context: &ExecContext,
        stdin: &Stdin,
        limits: Limits,
    ) -> Duration {
        let (prepared, context, stdin) = (prepared.clone(), context.clone(), stdin.clone());
        let run = async move {
            let begun = Instant::now();
            let output = prepared.run(&context, &stdin, &limits).await.unwrap();
            assert!(output.exit.success() && output.leftovers.is_empty());
            begun.elapsed()
        };
        runtime.block_on(async { tokio::spawn(run).await.unwrap() })
    }

    fn measure(bench: &Bench, case: &Case, runtime: &Runtime, name: &str) {
        let env = environment();
        let context = ExecContext::new("/").env(env.clone());
        let prepared: ResolvedCommand = case.program.clone().prepare(&context).unwrap();
        let limits = Limits::new(Duration::from_secs(60));
        let bytes: Arc<[u8]> = vec![b'x'; case.stdin].into();
        let stdin = Stdin::bytes(bytes.clone());

        let run_floor = || {
            let begun = Instant::now();
            floor(case.floor, &env, &bytes);
            begun.elapsed()
        };
        let run_ours = || timed(runtime, &prepared, &context, &stdin, limits);
        timing(bench, case, name).compare_timed(run_ours, run_floor);
    }

    fn timing<'a>(bench: &'a Bench, case: &Case, name: &str) -> checkrein_bench::Case<'a> {
        bench.case(format!("{}, {name}", case.name)).rounds(case.rounds).budget(case.budget)
    }

    /// Cost of a sandbox, with a run without one as the floor.
    #[cfg(target_os = "linux")]
    fn measure_sandbox(bench: &Bench, case: &Case, runtime: &Runtime, name: &str) {
        let context = ExecContext::new("/").env(environment());
        let files = Files::none().read("/srv");
        let sandbox = Sandbox::new()
            .files(files)
            .cpu(Duration::from_secs(60))
            .memory(1 << 30)
            .processes(64)
            .open_files(256)
            .file_size(256 << 20);
        let sandboxed = context.clone().sandbox(sandbox);
        let prepared: ResolvedCommand = case.program.clone().prepare(&context).unwrap();
        let limits = Limits::new(Duration::from_secs(60));
        let stdin = Stdin::bytes(vec![b'x'; case.stdin]);
        let run = |context: &ExecContext| timed(runtime, &prepared, context, &stdin, limits);
        timing(bench, case, name).compare_timed(|| run(&sandboxed), || run(&context));
    }

    pub(super) fn main() {
        let read = "cat >/dev/null; echo {}";
        let read_floor: &[&str] = &["/bin/sh", "-c", "cat >/dev/null; echo {}"];
        let case = |name, floor, text: &str, stdin, rounds, budget| Case {
            name,
            floor,
            program: HookCommand::shell(text),
            stdin,
            rounds,
            budget,
        };
        let cases = [
            case("true via sh", &["/bin/sh", "-c", "true"], "true", 0, 3000, 1.10),
            case("/bin/true direct, floor direct", &["/bin/true"], "/bin/true", 0, 3000, 1.10),
            case("/bin/true direct, floor sh -c true", &["/bin/sh", "-c", "true"], "/bin/true", 0, 3000, 1.0),
            case("/bin/true direct, floor via sh", &["/bin/sh", "-c", "/bin/true"], "/bin/true", 0, 3000, 0.86),
            case("reads 1 KiB, answers", read_floor, read, 1 << 10, 2000, 1.10),
            case("reads 100 KiB, answers", read_floor, read, 100 << 10, 1000, 1.10),
            case("reads 10 MiB, answers", read_floor, read, 10 << 20, 150, 12.0 / 9.4),
            case("ignores 10 MiB", &["/bin/sh", "-c", "true"], "true", 10 << 20, 300, 1.5 / 0.74),
        ];
        let runtimes = [
            ("1 thread", Builder::new_current_thread().enable_all().build().unwrap()),
            ("2 threads", Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()),
        ];
        let bench = Bench::from_args();
        for case in &cases {
            for (name, runtime) in &runtimes {
                measure(&bench, case, runtime, name);
            }
        }
        #[cfg(target_os = "linux")]
        {
            let sandboxed = [
                case("sandbox: /bin/true", &[], "/bin/true", 0, 2000, 1.5),
                case("sandbox: true via sh", &[], "true", 0, 2000, 1.5),
                case("sandbox: reads 1 KiB, answers", &[], read, 1 << 10, 1000, 1.5),
            ];
            for case in &sandboxed {
                for (name, runtime) in &runtimes {
                    measure_sandbox(&bench, case, runtime, name);
                }
            }
            let large = case("sandbox: true via sh, host of 1 GiB", &[], "true", 0, 500, 1.5);
            if bench.is_selected(large.name) {
                let memory = vec![1_u8; 1 << 30];
                measure_sandbox(&bench, &large, &runtimes[0].1, runtimes[0].0);
                std::hint::black_box(memory);
            }
        }
    }
}
