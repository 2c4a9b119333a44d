//! Scripts whose results must be equal, byte for byte.

use crate::common::{Outcome, World, argv, node, python, shell};

const PAYLOAD: &str = r#"{"tool_name": "Bash", "text": "grün ☃", "list": [1, 2, 3]}"#;

const PYTHON: &[(&str, &str)] = &[
    ("nothing", ""),
    (
        "json answer",
        "import json, sys\nd = json.load(sys.stdin)\nprint(json.dumps({'decision': 'block', 'reason': d['text']}))",
    ),
    ("exception", "def f(x):\n    return 1 / x\n\n\nf(0)\n"),
    ("chained exception", "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('bad') from e\n"),
    ("nested exception", "try:\n    1 / 0\nexcept ZeroDivisionError:\n    undefined_name\n"),
    ("exception group", "raise ExceptionGroup('g', [ValueError(1), TypeError(2)])"),
    ("recursion", "def f():\n    f()\nf()\n"),
    ("syntax error", "def f(:\n    pass\n"),
    ("exit code", "import sys\nprint('out')\nsys.exit(2)"),
    ("exit text", "import sys\nsys.exit('blocked: ☃')"),
    ("exit none", "import sys\nsys.exit(None)"),
    ("exit large", "import sys\nsys.exit(259)"),
    ("exit builtin", "exit(3)"),
    ("system exit raised", "raise SystemExit(7)"),
    ("os._exit", "import os\nprint('lost')\nos._exit(5)"),
    ("keyboard interrupt", "raise KeyboardInterrupt"),
    ("kill self", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)"),
    ("kill self hard", "import os\nprint('a', flush=True)\nos.kill(os.getpid(), 9)"),
    ("abort", "import os\nos.abort()"),
    (
        "signal handler",
        "import os, signal\nsignal.signal(signal.SIGUSR1, lambda *a: print('got', a[0]))\nos.kill(os.getpid(), signal.SIGUSR1)",
    ),
    (
        "signal defaults",
        "import signal\nprint({s.name: str(signal.getsignal(s)) for s in signal.valid_signals() if isinstance(s, signal.Signals) and 'default_int' not in str(signal.getsignal(s))}, signal.pthread_sigmask(0, []))",
    ),
    (
        "thread",
        "import threading\nt = threading.Thread(target=lambda: print('in thread', threading.current_thread().name))\nt.start()\nprint(threading.main_thread().name)",
    ),
    (
        "thread outlives main",
        "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()\nprint('end')",
    ),
    (
        "daemon thread",
        "import threading, time\nthreading.Thread(target=lambda: (time.sleep(30), print('never')), daemon=True).start()\nprint('end')",
    ),
    ("thread exception", "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T')\nt.start()\nt.join()"),
    ("atexit", "import atexit\natexit.register(print, 'one')\natexit.register(print, 'two')\nraise ValueError('x')"),
    (
        "excepthook",
        "import sys\nsys.excepthook = lambda t, v, tb: print('hook', t.__name__, tb.tb_lineno, tb.tb_next, tb.tb_frame.f_back)\n\n1 / 0",
    ),
    (
        "subprocess",
        "import subprocess\nprint(subprocess.run(['sh', '-c', 'echo $0 $X; cat; exit 4'], input='i', capture_output=True, text=True))",
    ),
    (
        "subprocess inherits",
        "import subprocess\nsubprocess.run(['sh', '-c', 'env | sort | grep -v ^CHECKREIN_RUN; cat; echo err >&2'])",
    ),
    (
        "multiprocessing",
        "import multiprocessing\ndef f(q):\n    q.put(4)\nif __name__ == '__main__':\n    q = multiprocessing.Queue()\n    p = multiprocessing.Process(target=f, args=(q,))\n    p.start()\n    print(q.get())\n    p.join()",
    ),
    (
        "fork",
        "import os, sys\npid = os.fork()\nif pid == 0:\n    print('child')\n    sys.exit(3)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
    ),
    ("stdin late", "import sys, time\ntime.sleep(0.2)\nprint(sys.stdin.read())"),
    ("stdin partially", "import sys\nprint(sys.stdin.read(5))"),
    ("stdin never", "print('no read')"),
    ("stdin lines", "import sys\nfor line in sys.stdin:\n    print(repr(line))\nprint(sys.stdin.read() == '')"),
    ("stdin bytes", "import sys\nprint(sys.stdin.buffer.read())"),
    ("stdin by number", "import os\nprint(os.read(0, 10), os.read(0, 100000))"),
    ("input function", "print(input())"),
    ("no newline", "import sys\nsys.stdout.write('no newline')\nsys.stderr.write('err')"),
    ("unflushed streams", "import sys\nsys.stdout.write('a')\nsys.stderr.write('b')\nsys.stdout.write('c')"),
    ("large output", "print('x' * 300000)"),
    ("output over the cap", "import sys\nsys.stdout.write('y' * 2000000)"),
    ("binary output", "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 10)"),
    ("unicode output", "print('grün ☃ 🦀', ascii('\\udc80'))"),
    (
        "encodings",
        "import sys, locale\nprint(sys.stdin.encoding, sys.stdout.encoding, sys.stdout.errors, sys.stderr.errors, sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(), locale.getpreferredencoding(), locale.setlocale(locale.LC_CTYPE))",
    ),
    (
        "stream attributes",
        "import sys\nprint(sys.stdout.line_buffering, sys.stderr.line_buffering, sys.stdout.isatty(), sys.stdin.isatty(), sys.stdout.newlines, sys.stdin.name, sys.stdout.mode)",
    ),
    (
        "main module",
        "import sys\nprint(__name__, __file__, __doc__, __package__, __spec__, type(__loader__), sorted(globals()), __builtins__)",
    ),
    (
        "arguments",
        "import sys\nprint(sys.argv, sys.orig_argv, sys.path, sys.flags, sys.executable, sys.prefix, sys.warnoptions, sys._xoptions)",
    ),
    ("command line", "print(open('/proc/self/cmdline').read())"),
    (
        "environment",
        "import os, posix\nprint({k: v for k, v in os.environ.items() if k != 'CHECKREIN_RUN'}, {k: v for k, v in posix.environ.items() if k != b'CHECKREIN_RUN'}, len(os.environ['CHECKREIN_RUN']))",
    ),
    (
        "environment changes",
        "import os, subprocess\nos.environ['NEW'] = 'n'\ndel os.environ['HOME']\nsubprocess.run('env | grep -v CHECKREIN_RUN | sort', shell=True)",
    ),
    ("directory", "import os\nprint(os.getcwd(), os.listdir('.'), os.path.abspath('x'))"),
    ("relative file", "print(open('data.txt').read())"),
    ("umask", "import os\nold = os.umask(0)\nprint(oct(old))"),
    ("limits", "import resource\nprint([resource.getrlimit(n) for n in range(15)], __import__('os').nice(0))"),
    ("process group", "import os\nprint(os.getpgrp() == os.getpid())"),
    ("open descriptors", "import os\nprint(sorted(os.listdir('/proc/self/fd'))[:3], len(os.listdir('/proc/self/fd')))"),
    ("sibling", "import helper\nprint(helper.NAME, helper.__file__)"),
    ("sibling named as a module", "import shadow.textwrap as t\nprint(t.X)"),
    ("search path", "import sys\nprint(sys.path[0], [type(f).__name__ for f in sys.meta_path if isinstance(f, type)])"),
    (
        "inspect",
        "import inspect, sys\nprint(len(inspect.stack()), sys._getframe().f_back, inspect.getsource(inspect.currentframe()).count('\\n'))",
    ),
    (
        "traceback module",
        "import traceback\ntry:\n    1 / 0\nexcept Exception:\n    traceback.print_exc()\nprint(traceback.format_stack())",
    ),
    (
        "warnings",
        "import warnings\nwarnings.warn('careful')\nwarnings.warn('old', DeprecationWarning)\nimport re\nre.compile('[[a]')",
    ),
    ("resource warning", "open('data.txt')\n"),
    ("logging", "import logging\nlogging.warning('w')\nlogging.basicConfig(level=10)\nlogging.debug('d')"),
    ("asyncio", "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    return 3\nprint(asyncio.run(f()))"),
    (
        "dataclasses",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 1\nprint(A(), A.__module__)",
    ),
    ("pickle main", "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))).__module__)"),
    (
        "argparse",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('a')\np.add_argument('--needed', required=True)\np.parse_args()",
    ),
    ("time zone", "import time\nprint(time.tzname, time.timezone)"),
    ("tempfile", "import tempfile, os\nprint(tempfile.gettempdir())"),
    ("deleter", "class A:\n    def __del__(self):\n        print('deleted')\na = A()"),
    (
        "deleter at exit with error",
        "import sys\nclass A:\n    def __del__(self):\n        print('deleted', file=sys.stderr)\na = A()\nsys.exit('bye')",
    ),
    ("finally", "import sys\ntry:\n    sys.exit(4)\nfinally:\n    print('finally')"),
    ("closed stdout", "import sys\nsys.stdout.close()"),
    ("generator", "def g():\n    try:\n        yield 1\n    finally:\n        print('closed')\nx = g()\nnext(x)"),
    (
        "exec self",
        "import os, sys\nif len(sys.argv) < 4:\n    os.execv(sys.executable, [sys.executable, *sys.argv, 'again'])\nprint(sys.argv[1:], sys.stdin.read())",
    ),
    ("null bytes", "\0"),
    ("encoding line", "# -*- coding: latin-1 -*-\nprint('ä')"),
    ("future", "from __future__ import annotations\nx: undefined = 1\nprint(__annotations__)"),
    ("hash seed", "import os\nprint(os.environ.get('PYTHONHASHSEED'), len({hash('a'), hash('a')}))"),
    (
        "current files",
        "import os\nopen('made.txt', 'w').close()\nprint(os.path.exists('made.txt'))\nos.remove('made.txt')",
    ),
    (
        "zip of modules",
        "import sys\nprint(sorted(m for m in ('gate', 'sitecustomize', 'usercustomize') if m in sys.modules))",
    ),
];

const NODE: &[(&str, &str, &str)] = &[
    ("nothing", "a.js", ""),
    (
        "json answer",
        "a.js",
        "const d = JSON.parse(require('fs').readFileSync(0, 'utf8')); console.log(JSON.stringify({ reason: d.text }));",
    ),
    ("exception", "a.js", "function f() { throw new Error('bad ☃'); }\nf();"),
    ("thrown text", "a.js", "throw 'text'"),
    ("cause", "a.js", "throw new Error('outer', { cause: new TypeError('inner') })"),
    ("syntax error", "a.js", "function ( {"),
    ("missing module", "a.js", "require('./missing')"),
    ("rejection", "a.js", "Promise.reject(new Error('unhandled'))"),
    (
        "rejection handler",
        "a.js",
        "process.on('unhandledRejection', (e) => { console.log('got', e.message); process.exit(9); }); Promise.reject(new Error('x'))",
    ),
    ("exit in the middle", "a.js", "console.log('before'); process.exit(2); console.log('after');"),
    ("exit code", "a.js", "process.exitCode = 6; process.on('exit', (c) => console.log('exit', c));"),
    (
        "before exit",
        "a.js",
        "let n = 0; process.on('beforeExit', () => { if (n++ < 2) setTimeout(() => console.log(n), 5); });",
    ),
    ("kill self", "a.js", "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 10000);"),
    ("abort", "a.js", "process.abort()"),
    (
        "stdin events",
        "a.js",
        "let s = ''; process.stdin.on('data', (d) => s += d).on('end', () => console.log('end', s));",
    ),
    ("stdin iteration", "a.mjs", "let s = ''; for await (const c of process.stdin) s += c; console.log(s);"),
    ("stdin sync", "a.js", "console.log(require('fs').readFileSync('/dev/stdin', 'utf8'))"),
    ("stdin never", "a.js", "console.log('no read')"),
    ("stdin partially", "a.js", "const b = Buffer.alloc(5); require('fs').readSync(0, b); console.log(b.toString())"),
    ("stdin late", "a.js", "setTimeout(() => console.log(require('fs').readFileSync(0, 'utf8')), 100)"),
    ("stdin once", "a.js", "process.stdin.once('data', (d) => { console.log(d.length); process.stdin.pause(); })"),
    (
        "readline",
        "a.js",
        "const r = require('readline').createInterface({ input: process.stdin }); r.on('line', (l) => console.log('line', l)).on('close', () => console.log('close'));",
    ),
    (
        "module",
        "a.mjs",
        "import fs from 'node:fs'; console.log(import.meta.url, import.meta.dirname, typeof require, fs.readFileSync(0, 'utf8'), this);",
    ),
    ("module by package", "module/a.js", "import path from 'path'; console.log(path.basename(import.meta.url));"),
    ("top-level await", "a.mjs", "const x = await new Promise((r) => setTimeout(() => r(4), 20)); console.log(x);"),
    ("unsettled await", "a.mjs", "await new Promise(() => {});"),
    ("module exception", "a.mjs", "import './x.mjs'; throw new Error('late')"),
    ("module rejection", "a.mjs", "await Promise.reject(new Error('x'))"),
    ("dynamic import", "a.js", "import('node:os').then((os) => console.log(typeof os.cpus))"),
    (
        "arguments",
        "a.js",
        "console.log(process.argv, process.argv0, process.execArgv, process.execPath, process.title, __filename, __dirname)",
    ),
    (
        "main module",
        "a.js",
        "console.log(require.main === module, process.mainModule === module, module.id, module.parent, module.children, Object.keys(require.cache), module.paths.length, require.extensions !== undefined)",
    ),
    (
        "environment",
        "a.js",
        "const e = { ...process.env }; delete e.CHECKREIN_RUN; console.log(e, process.env.CHECKREIN_RUN.length)",
    ),
    (
        "environment changes",
        "a.js",
        "process.env.NEW = 'n'; delete process.env.HOME; console.log(require('child_process').execSync('env | grep -v CHECKREIN_RUN | sort').toString())",
    ),
    ("directory", "a.js", "console.log(process.cwd(), require('path').resolve('x'), process.umask())"),
    (
        "relative file",
        "a.js",
        "console.log(require('fs').readFileSync('data.txt', 'utf8'), require('./helper.js').NAME)",
    ),
    (
        "globals",
        "a.js",
        "console.log(Object.getOwnPropertyNames(globalThis).join(), process.listenerCount('exit'), process.eventNames())",
    ),
    ("no newline", "a.js", "process.stdout.write('out'); process.stderr.write('err')"),
    ("large output", "a.js", "process.stdout.write('x'.repeat(300000))"),
    ("large output and exit", "a.js", "console.log('x'.repeat(50000)); process.exit(1)"),
    ("binary output", "a.js", "process.stdout.write(Buffer.from(Array.from({ length: 256 }, (_, i) => i)))"),
    ("unicode", "a.js", "console.log('grün ☃ 🦀', [1, { a: 'ü' }])"),
    (
        "worker",
        "a.js",
        "const { Worker, isMainThread, workerData, parentPort } = require('worker_threads');\nif (isMainThread) { const w = new Worker(__filename, { workerData: 3 }); w.on('message', (m) => console.log(m)); w.on('exit', (c) => console.log('exit', c)); }\nelse parentPort.postMessage([workerData, process.execArgv, process.argv.length, Object.keys(require.cache).length]);",
    ),
    (
        "worker with options",
        "a.js",
        "const { Worker } = require('worker_threads'); new Worker('console.log(process.execArgv)', { eval: true, execArgv: ['--no-warnings'] });",
    ),
    (
        "worker exception",
        "a.js",
        "const { Worker } = require('worker_threads'); new Worker('throw new Error(1)', { eval: true });",
    ),
    (
        "fork",
        "a.js",
        "if (process.argv[2] === 'child') { console.log(process.execArgv, process.argv.slice(1)); process.send('hi'); process.disconnect(); }\nelse { const c = require('child_process').fork(__filename, ['child']); c.on('message', (m) => console.log(m)); c.on('exit', (code) => console.log(code)); }",
    ),
    (
        "spawn",
        "a.js",
        "const c = require('child_process').spawnSync('sh', ['-c', 'cat; echo err >&2; exit 3'], { input: 'i' }); console.log(c.status, c.stdout.toString(), c.stderr.toString())",
    ),
    ("spawn inherits", "a.js", "require('child_process').spawnSync('cat', { stdio: 'inherit' })"),
    (
        "signal handler",
        "a.js",
        "process.on('SIGUSR2', () => { console.log('got'); process.exit(0); }); setTimeout(() => {}, 9000); process.kill(process.pid, 'SIGUSR2');",
    ),
    (
        "timers",
        "a.js",
        "setTimeout(() => console.log('t'), 2); setImmediate(() => console.log('i')); process.nextTick(() => console.log('n')); Promise.resolve().then(() => console.log('p'));",
    ),
    ("warnings", "a.js", "process.emitWarning('careful'); new Buffer(3)"),
    (
        "uncaught handler",
        "a.js",
        "process.on('uncaughtException', (e, o) => console.log(e.message, o)); throw new Error('x')",
    ),
    ("stack", "a.js", "console.log(new Error('s').stack)"),
    ("shebang", "a.js", "#!/usr/bin/env node\nconsole.log(1)"),
    ("use strict", "a.js", "'use strict';\nundeclared = 1"),
    (
        "streams",
        "a.js",
        "console.log(process.stdout.isTTY, process.stdin.isTTY, process.stdout.writable, process.stdin.fd, process.stdout.fd)",
    ),
    (
        "hidden module",
        "a.cjs",
        "console.log(Object.keys(require.cache).filter((k) => k.includes('gate')), module.constructor._preloadModules !== undefined)",
    ),
    ("time zone", "a.js", "console.log(new Date(0).toString(), Intl.DateTimeFormat().resolvedOptions().timeZone)"),
    (
        "fetch and web",
        "a.js",
        "console.log(typeof fetch, typeof AbortController, typeof structuredClone, new URL('http://a/b').host)",
    ),
    (
        "open descriptors",
        "a.js",
        "const fds = require('fs').readdirSync('/proc/self/fd').slice(0, 3); console.log(fds)",
    ),
];

fn setup() -> World {
    let mut world = World::new();
    world.vars.extend([("X".to_owned(), "grün ☃".to_owned()), ("A_B".to_owned(), String::new())]);
    world.write("data.txt", "data ☃\n");
    world.write("helper.py", "NAME = 'sibling'\n");
    world.write("helper.js", "exports.NAME = 'sibling';\n");
    world.write("shadow/textwrap.py", "X = 'shadow'\n");
    world.write("shadow/__init__.py", "");
    world.write("module/package.json", r#"{"type": "module"}"#);
    // Compiled helpers exist in both runs.
    world.write("__pycache__/.keep", "");
    world
}

fn compare(world: &World, name: &str, words: &[&str]) -> Option<String> {
    let mut spec = argv(words);
    allow_all(&mut spec);
    let cwd = world.dir.path();
    // Compiled siblings exist before the results are compared.
    world.cold(&spec, cwd, PAYLOAD);
    let mut different = None;
    // Under load, some errors of Node's worker threads have another text in any run.
    for _ in 0..3 {
        let warm = world.warm(&spec, cwd, PAYLOAD);
        let cold = world.cold(&spec, cwd, PAYLOAD);
        let [cold, warm] = [cold, warm].map(without_changing_parts);
        if cold == warm {
            return None;
        }
        different = Some(format!("{name}\n  cold {cold:?}\n  warm {warm:?}\n"));
    }
    different
}

fn allow_all(spec: &mut checkrein::HookSpec) {
    if let checkrein::hook::HandlerSpec::Command(command) = &mut spec.handler {
        command.env_all = Some(true);
    }
}

/// Replaces process ids and addresses, which differ between any two runs.
fn without_changing_parts(mut outcome: Outcome) -> Outcome {
    let address = regex_lite(&outcome.stdout);
    outcome.stdout = address;
    outcome.stderr = regex_lite(&outcome.stderr);
    outcome.bytes = if outcome.stdout.len() > 1000 { outcome.bytes } else { (0, 0) };
    outcome
}

/// Replaces `0x…`, `(node:PID)` and numbers of more than four digits after ` at `.
fn regex_lite(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = ["0x", "(node:"].iter().filter_map(|mark| rest.find(mark).map(|at| at + mark.len())).min() {
        out.push_str(&rest[..start]);
        rest = rest[start..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    out.push_str(rest);
    out
}

#[test]
fn python_scripts_give_equal_results() {
    let Some(python) = python() else { return };
    let world = setup();
    let mut different = Vec::new();
    for (index, (name, text)) in PYTHON.iter().enumerate() {
        let file = format!("s{index}.py");
        let path = world.write(&file, text);
        // Every other script has a relative path.
        let script = if index % 2 == 0 { path.to_str().unwrap() } else { &file };
        different.extend(compare(&world, name, &[python, script, "one", "two ☃"]));
    }
    assert!(different.is_empty(), "{} of {} differ\n{}", different.len(), PYTHON.len(), different.join("\n"));
}

#[test]
fn node_scripts_give_equal_results() {
    let Some(node) = node() else { return };
    let world = setup();
    let mut different = Vec::new();
    for (index, (name, file, text)) in NODE.iter().enumerate() {
        let file = match file.rsplit_once('/') {
            Some((dir, name)) => format!("{dir}/n{index}{name}"),
            None => format!("n{index}{file}"),
        };
        let path = world.write(&file, text);
        let script = if index % 2 == 0 { path.to_str().unwrap() } else { &file };
        different.extend(compare(&world, name, &[node, script, "one"]));
    }
    assert!(different.is_empty(), "{} of {} differ\n{}", different.len(), NODE.len(), different.join("\n"));
}

#[test]
fn forms_of_commands_give_equal_results() {
    let Some(python) = python() else { return };
    let mut world = setup();
    let text =
        "import sys, os\nprint(sys.argv, sys.orig_argv, __file__, sys.flags, sys.path[0], os.environ.get('PWD'))\n";
    let script = world.write("a b/s.py", text);
    world.write("t.py", text);
    let first = world.write("u.py", &format!("#!{python}\n{text}"));
    std::fs::set_permissions(&first, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(&script, world.dir.path().join("link.py")).unwrap();
    world.vars.push(("ROOT".to_owned(), world.dir.path().to_str().unwrap().to_owned()));
    world.vars.push(("SPACED".to_owned(), script.to_str().unwrap().to_owned()));
    let mut different = Vec::new();
    for spec in [
        shell(&format!("{python} t.py")),
        shell(&format!("{python} -u -B ./t.py --flag -x")),
        shell(&format!("{python} \"$ROOT\"/t.py '' 'a b'")),
        shell(&format!("{python} $ROOT/t.py \"${{SPACED}}\"")),
        shell(&format!("{python} \"$SPACED\"")),
        shell(&format!("{python} 'a b/s.py'")),
        shell("./u.py x"),
        argv(&[first.to_str().unwrap(), "y"]),
        argv(&[python, "-O", "-s", "link.py"]),
    ] {
        let mut spec = spec;
        allow_all(&mut spec);
        let warm = world.warm(&spec, world.dir.path(), "{}");
        let cold = world.cold(&spec, world.dir.path(), "{}");
        if warm != cold {
            different.push(format!("{:?}\n  cold {cold:?}\n  warm {warm:?}", spec.handler));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
