//! Edits, limits, and the end of processes.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use checkrein::handler::ProcessExit;

use crate::common::{World, argv, node, python, shell};

/// Process ids of the children of this process whose command line contains a text.
fn processes_with(text: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let has_text = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_zombie = stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'));
        String::from_utf8_lossy(&line).contains(text) && !is_zombie
    };
    pids.filter(has_text).collect()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn edits_environment_and_directory_are_current() {
    let Some(python) = python() else { return };
    let mut world = World::new();
    let script = world.write("s.py", "print('first')\n");
    let mut spec = argv(&[python, script.to_str().unwrap()]);
    if let checkrein::hook::HandlerSpec::Command(command) = &mut spec.handler {
        command.env_all = Some(true);
    }
    let cwd = world.dir.path().to_owned();
    assert_eq!(world.warm(&spec, &cwd, "{}").stdout, "first\n");
    wait_until("an interpreter starts", || !processes_with(script.to_str().unwrap()).is_empty());
    world.write("s.py", "import os\nprint('second', os.environ.get('NEW'), os.getcwd(), os.umask(0))\n");
    world.vars.push(("NEW".to_owned(), "value".to_owned()));
    let other = world.dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let before = world.taken();
    let outcome = world.call(&spec, &other, "{}", true).unwrap();
    assert_eq!(world.taken(), before + 1, "the waiting interpreter ran the new text");
    assert_eq!(outcome, world.cold(&spec, &other, "{}"));
    assert!(outcome.stdout.starts_with("second value "), "{outcome:?}");
}

#[test]
fn nothing_of_the_script_runs_while_its_interpreter_waits() {
    let Some(python) = python() else { return };
    let world = World::new();
    let cwd = world.dir.path();
    let script = world.write("s.py", "print(1)\n");
    let spec = argv(&[python, script.to_str().unwrap()]);
    world.warm(&spec, cwd, "{}");
    let mark = cwd.join("ran");
    world.write("s.py", &format!("open({:?}, 'w').close()\n", mark.to_str().unwrap()));
    wait_until("an interpreter starts", || !processes_with(script.to_str().unwrap()).is_empty());
    std::thread::sleep(Duration::from_millis(300));
    assert!(!mark.exists());
    world.warm(&spec, cwd, "{}");
    assert!(mark.exists());
}

#[test]
fn runs_that_follow_each_other_closely_get_a_second_interpreter() {
    let Some(python) = python() else { return };
    let world = World::new();
    let cwd = world.dir.path();
    let script = world.write("s.py", "print(1)\n");
    let spec = argv(&[python, script.to_str().unwrap()]);
    let run = || {
        let before = world.taken();
        world.call(&spec, cwd, "{}", true).unwrap();
        world.taken() > before
    };
    assert!(!run(), "nothing is started before the first event");
    assert_eq!((world.status().missed, world.status().runs), (1, 0));
    wait_until("one interpreter waits", || world.status().waiting == 1);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(world.status().waiting, 1, "one is enough while events are far apart");
    // The next interpreter is not ready for the second of two events.
    wait_until("an event finds no interpreter", || run() && !run());
    wait_until("two interpreters wait", || world.status().waiting == 2);
    assert!(run() && run(), "both events of a pair run warm");
}

/// A program that is called `python3` and loads no gate would run the script without an event.
#[test]
fn interpreter_without_a_gate_runs_cold() {
    let world = World::new();
    let cwd = world.dir.path();
    let program = cwd.join("python3");
    std::fs::copy(std::fs::canonicalize("/bin/sh").unwrap(), &program).unwrap();
    let script = world.write("s.py", "echo run >> runs\n");
    let spec = argv(&[program.to_str().unwrap(), script.to_str().unwrap()]);
    let calls = 5;
    for _ in 0..calls {
        world.call(&spec, cwd, "{}", true).unwrap();
        std::thread::sleep(Duration::from_millis(400));
    }
    let runs = std::fs::read_to_string(cwd.join("runs")).unwrap();
    assert_eq!((world.taken(), runs.lines().count()), (0, calls));
}

#[test]
fn modules_beside_the_script_are_found_first() {
    let Some(python) = python() else { return };
    let world = World::new();
    let script = world.write("s.py", "import json, textwrap\nprint(json.__name__, getattr(textwrap, 'X', None))\n");
    let spec = argv(&[python, script.to_str().unwrap()]);
    let cwd = world.dir.path();
    assert_eq!(world.warm(&spec, cwd, "{}").stdout, "json None\n");
    // The interpreter that waits has imported the module of the standard library already.
    world.write("textwrap.py", "X = 'shadow'\n");
    let outcome = world.warm(&spec, cwd, "payload");
    assert_eq!(outcome.stdout, "json shadow\n");
    assert_eq!(outcome, world.cold(&spec, cwd, "payload"));
}

#[test]
fn timeout_ends_the_interpreter_and_its_children() {
    let Some(python) = python() else { return };
    let world = World::new();
    let mark = format!("mark-{}", std::process::id());
    let text = format!(
        "import subprocess, sys, json\nif 'slow' in sys.stdin.read():\n    \
         subprocess.Popen(['sh', '-c', 'setsid sleep 987 {mark}; :', '{mark}'])\n    \
         subprocess.run(['sh', '-c', 'trap \"\" TERM; sleep 988; :', '{mark}'])\n"
    );
    let script = world.write("s.py", &text);
    let spec = argv(&[python, script.to_str().unwrap()]);
    let cwd = world.dir.path();
    world.warm(&spec, cwd, "{}");
    let begun = Instant::now();
    loop {
        let before = world.taken();
        let outcome = world.call_for(&spec, cwd, "slow", true, Duration::from_secs(2)).unwrap();
        assert!(outcome.timed_out, "{outcome:?}");
        assert_eq!(processes_with(&mark), Vec::<i32>::new());
        if world.taken() > before {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}

#[test]
fn leftovers_are_ended_after_a_warm_run() {
    let Some(python) = python() else { return };
    let world = World::new();
    let mark = format!("left-{}", std::process::id());
    let text = format!("import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 986; :', '{mark}'])\nprint('done')\n");
    let script = world.write("s.py", &text);
    let spec = argv(&[python, script.to_str().unwrap()]);
    let outcome = world.warm(&spec, world.dir.path(), "{}");
    assert_eq!((outcome.stdout.as_str(), outcome.exit), ("done\n", ProcessExit::Code(0)));
    assert_eq!(processes_with(&mark), Vec::<i32>::new());
}

#[test]
fn interpreters_end_with_the_resident_process() {
    let Some(python) = python() else { return };
    let mut world = World::new();
    let script = world.write("s.py", "print(1)\n");
    let spec = argv(&[python, script.to_str().unwrap()]);
    world.warm(&spec, world.dir.path(), "{}");
    wait_until("an interpreter starts", || !processes_with(script.to_str().unwrap()).is_empty());
    world.stop();
    wait_until("the interpreter ends", || processes_with(script.to_str().unwrap()).is_empty());
    assert_eq!(world.call(&spec, world.dir.path(), "{}", true).unwrap().stdout, "1\n");
}

#[test]
fn parallel_runs_fall_back_to_cold() {
    let Some(python) = python() else { return };
    let world = World::new();
    let script = world.write("s.py", "import sys\nprint(sys.stdin.read())\n");
    let spec = argv(&[python, script.to_str().unwrap()]);
    let cwd = world.dir.path().to_owned();
    world.warm(&spec, &cwd, "{}");
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|index| {
                let (world, spec, cwd) = (&world, &spec, &cwd);
                scope.spawn(move || {
                    for round in 0..5 {
                        let payload = format!("{index} {round}");
                        let outcome = world.call(spec, cwd, &payload, true).unwrap();
                        assert_eq!(outcome.stdout, format!("{payload}\n"));
                    }
                })
            })
            .collect();
        for run in runs {
            run.join().unwrap();
        }
    });
}

#[test]
fn large_payload_reaches_the_script() {
    let (Some(python), Some(node)) = (python(), node()) else { return };
    let world = World::new();
    let payload = "x".repeat(10 << 20);
    let script = world.write("s.py", "import sys\nprint(len(sys.stdin.read()))\n");
    let module = world.write("s.js", "console.log(require('fs').readFileSync(0).length)");
    for words in [[python, script.to_str().unwrap()], [node, module.to_str().unwrap()]] {
        let spec = argv(&words);
        world.warm(&spec, world.dir.path(), "{}");
        let outcome = world.warm(&spec, world.dir.path(), &payload);
        assert_eq!(outcome.stdout, format!("{}\n", 10 << 20));
    }
}

#[test]
fn other_commands_run_cold() {
    let Some(python) = python() else { return };
    let mut world = World::new();
    world.vars.push(("PYTHONSAFEPATH".to_owned(), "1".to_owned()));
    let script = world.write("s.py", "print(1)\n");
    let script = script.to_str().unwrap();
    let mut all = argv(&[python, script]);
    if let checkrein::hook::HandlerSpec::Command(command) = &mut all.handler {
        command.env_all = Some(true);
    }
    let mut off = argv(&[python, script]);
    if let checkrein::hook::HandlerSpec::Command(command) = &mut off.handler {
        command.warm = Some(checkrein::dialects::Warm::Off);
    }
    let cwd = world.dir.path();
    for spec in [
        all,
        off,
        argv(&[python, "-I", script]),
        argv(&[python, "-c", "print(1)"]),
        argv(&[python, "-m", "this"]),
        shell(&format!("{python} {script} | cat")),
        shell(&format!("exec {python} {script}")),
        argv(&["cat"]),
    ] {
        for _ in 0..2 {
            world.call(&spec, cwd, "{}", true).unwrap();
            std::thread::sleep(Duration::from_millis(250));
        }
    }
    assert_eq!(world.client.taken.load(Ordering::SeqCst), 0);
    assert_eq!(processes_with(&cwd.join("s.py").to_string_lossy()), Vec::<i32>::new());
}

/// A hook has its own limits in a warm interpreter, too. An interpreter cannot take over another limit of the stack.
#[test]
fn limits_of_the_hook_apply() {
    let (Some(python), Some(node)) = (python(), node()) else { return };
    let world = World::new();
    let names = "['NOFILE', 'CORE', 'FSIZE']";
    let limits =
        format!("import resource\nprint([resource.getrlimit(getattr(resource, 'RLIMIT_' + n)) for n in {names}])\n");
    let python_script = world.write("s.py", &limits);
    let files = "require('child_process').execSync('ulimit -Sn; ulimit -Hn; ulimit -Sc').toString()";
    let node_script = world.write("s.js", &format!("process.stdout.write({files});\n"));
    // Limits belong to the process, so another process asks.
    let ask = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "lifecycle::ask_with_limits", "--nocapture"])
        .env("WARM_STATE", world.state.path())
        .env("WARM_PYTHON", format!("{python}\n{}", python_script.display()))
        .env("WARM_NODE", format!("{node}\n{}", node_script.display()))
        .output()
        .unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&ask.stdout), String::from_utf8_lossy(&ask.stderr));
    assert!(ask.status.success() && text.contains("equal limits, and other stack: cold"), "{text}");
    let status = world.status();
    assert!(status.runs >= 4, "{status:?}");
    assert!(
        status.cold.iter().any(|cold| cold.reason.ends_with("attributes than the resident process: limit-Stack")),
        "{status:?}"
    );
}

/// The other process of the test above.
#[test]
#[ignore = "limits_of_the_hook_apply runs it"]
fn ask_with_limits() {
    use checkrein_serve::warm::WarmClient;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let [state, python, node] = ["WARM_STATE", "WARM_PYTHON", "WARM_NODE"].map(|name| std::env::var(name).unwrap());
    let world = World::without_process();
    let world = world.of(WarmClient::of_user(Path::new(&state)));
    let specs = [&python, &node].map(|words| argv(&words.lines().collect::<Vec<_>>()));
    let same = || {
        for spec in &specs {
            let cold = world.cold(spec, world.dir.path(), "{}");
            assert_eq!(world.warm(spec, world.dir.path(), "{}"), cold);
        }
    };
    same();
    let files = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(400), maximum: files }).unwrap();
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
    setrlimit(Resource::Fsize, Rlimit { current: Some(1 << 30), maximum: None }).unwrap();
    same();
    setrlimit(Resource::Nofile, Rlimit { current: Some(300), maximum: Some(300) }).unwrap();
    same();
    let stack = getrlimit(Resource::Stack).maximum;
    setrlimit(Resource::Stack, Rlimit { current: Some(4 << 20), maximum: stack }).unwrap();
    let before = world.taken();
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(50));
        world.call(&specs[0], world.dir.path(), "{}", true).unwrap();
    }
    assert_eq!(world.taken(), before);
    println!("equal limits, and other stack: cold");
}
