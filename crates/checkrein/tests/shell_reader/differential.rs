//! Runs texts under bash and dash with stubs as programs, and compares what runs with what the reader reports.
//!
//! A program that runs must be reported with its arguments, or the reader must mark it as unknown: an unknown program, an
//! unknown argument that could have this value, or an error.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use checkrein::internal::shell::{Expanded, ShellEnv, SimpleCommand, simple_commands};

use crate::common::skip;
use crate::generated::{Random, generate};
use crate::scripts::{BASH_SCRIPTS, SCRIPTS};
use crate::written::{BASH, BOTH};

/// Number of generated texts.
const GENERATED: usize = 1_150;

/// Programs that write down their arguments.
const STUBS: &[&str] = &["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "no"];

/// Programs of the system that texts use.
const TOOLS: &[&str] = &[
    "bash", "dash", "sh", "cat", "env", "nohup", "nice", "timeout", "xargs", "stdbuf", "setsid", "find", "tr",
    "ionice", "flock", "chrt", "taskset", "time", "tee", "head", "tail", "sed", "sort", "uniq", "grep", "cut", "tac",
    "awk", "base64", "rev", "git", "split", "tar", "mkfifo", "rm", "less", "dd", "fold", "nl", "touch", "mkdir",
    "rsync",
];

/// A text and whether only bash understands it.
pub struct Text {
    pub text: String,
    pub only_bash: bool,
}

fn texts() -> Vec<Text> {
    let both = BOTH.iter().chain(SCRIPTS).map(|text| Text { text: (*text).to_owned(), only_bash: false });
    let bash = BASH.iter().chain(BASH_SCRIPTS).map(|text| Text { text: (*text).to_owned(), only_bash: true });
    let count = std::env::var("CHECKREIN_SHELL_TEXTS").ok().and_then(|count| count.parse().ok()).unwrap_or(GENERATED);
    let seed = if count == GENERATED { 7 } else { count as u64 };
    let mut random = Random(seed);
    both.chain(bash).chain((0..count).map(|_| generate(&mut random))).collect()
}

/// Directory with stubs and tools. It is the only entry of `PATH`.
fn programs(dir: &Path) -> PathBuf {
    let bin = dir.join("bin");
    fs::create_dir(&bin).unwrap();
    let stub = bin.join("stub");
    let record = "printf '%s\\0' \"${0##*/}\" \"$@\" '<end>' >>\"$OUT\"\n[ \"${0##*/}\" != no ]\n";
    fs::write(&stub, format!("#!/bin/sh\n{record}")).unwrap();
    fs::set_permissions(&stub, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for name in STUBS {
        symlink("stub", bin.join(name)).unwrap();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    for name in TOOLS {
        if let Some(found) = std::env::split_paths(&path).map(|entry| entry.join(name)).find(|file| file.exists()) {
            symlink(found, bin.join(name)).unwrap();
        }
    }
    bin
}

/// Runs a text and returns the arguments of each stub that ran.
fn run(shell: &str, text: &str, bin: &Path, dir: &Path) -> Vec<Vec<String>> {
    let work = dir.join("work");
    fs::create_dir_all(&work).unwrap();
    symlink(bin, work.join("bin")).unwrap();
    let out = dir.join("out");
    let mut child = Command::new(bin.join(shell))
        .args(["-c", &format!("ulimit -t 2 -f 1024\n{text}\n")])
        .current_dir(&work)
        .env_clear()
        .envs([
            ("PATH", bin.as_os_str()),
            ("OUT", out.as_os_str()),
            ("HOME", OsStr::new("/home/me")),
            ("U1", OsStr::new("m9 q")),
            ("U2", OsStr::new("u")),
            ("LC_ALL", OsStr::new("C.UTF-8")),
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(10) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    if text.contains('&') || text.contains("coproc") || text.contains(">(") {
        // Processes in the background may still write.
        std::thread::sleep(Duration::from_millis(15));
    }
    // A coprocess that reads its own pipe never ends. The group is empty in most cases.
    let group = rustix::process::Pid::from_child(&child);
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    let written = fs::read(&out).unwrap_or_default();
    let _ = fs::remove_file(&out);
    let _ = fs::remove_dir_all(&work);
    let work_path = work.to_string_lossy().into_owned();
    let mut runs = Vec::new();
    let mut words = Vec::new();
    for word in written.split(|byte| *byte == 0) {
        match word {
            b"<end>" => runs.push(std::mem::take(&mut words)),
            word => words.push(String::from_utf8_lossy(word).replace(&work_path, "/work")),
        }
    }
    runs
}

pub fn read(text: &str) -> Result<Vec<SimpleCommand>, checkrein::internal::shell::ParseError> {
    simple_commands(text, ShellEnv { home: Some("/home/me"), cwd: Path::new("/work") })
}

/// `true` if nothing is known about the command, so that it covers every program.
fn is_anything(command: &SimpleCommand) -> bool {
    let is_unknown = command.program.may_split && command.program.could_be("m1") && command.program.could_be("x");
    is_unknown && command.args.is_empty() || runs_a_file(command)
}

/// `true` for a shell that runs a file of the disk.
fn runs_a_file(command: &SimpleCommand) -> bool {
    let is_file = |file: &Expanded| file.known && !file.text.starts_with("/dev") && !file.text.starts_with("/proc");
    match command.name.as_str() {
        "." | "source" => command.operands().next().is_some_and(is_file),
        "sh" | "bash" | "dash" => {
            let file = command.operands().next().or(command.reads.first());
            !command.has_option("c", &[]) && file.is_some_and(is_file)
        }
        _ => false,
    }
}

fn covers(command: &SimpleCommand, run: &[String]) -> bool {
    if is_anything(command) {
        return true;
    }
    let words: Vec<&Expanded> = std::iter::once(&command.program).chain(&command.args).collect();
    fits(&words, run, true)
}

/// Matches words with the arguments of a program.
fn fits(words: &[&Expanded], run: &[String], is_program: bool) -> bool {
    let Some((first, rest)) = words.split_first() else { return run.is_empty() };
    let is_one = |text: &String| {
        // `find` replaces `{}`.
        first.could_be(text)
            || first.text == "{}"
            || is_program && (first.could_be(&format!("bin/{text}")) || first.text.ends_with(&format!("/{text}")))
    };
    let one = run.first().is_some_and(is_one) && fits(rest, &run[1..], false);
    let is_many = first.may_split || first.glob;
    one || is_many
        && (fits(rest, run, is_program)
            || !run.is_empty() && (first.may_split || is_one(&run[0])) && fits(words, &run[1..], false))
}

fn compare(shell: &str, texts: &[Text]) {
    if Command::new(shell).args(["-c", ":"]).status().is_err() {
        skip(shell, format!("{shell} is not installed"));
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let bin = programs(dir.path());
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for (index, Text { text, .. }) in texts.iter().enumerate() {
        let found = read(text);
        let Ok(found) = found else { continue };
        if found.iter().any(is_anything) {
            continue;
        }
        for run in run(shell, text, &bin, &dir.path().join(index.to_string())) {
            ran += 1;
            if !found.iter().any(|command| covers(command, &run)) {
                let shown: Vec<String> = found.iter().map(show).collect();
                wrong.push(format!("{shell} runs {run:?}, the reader reports {shown:?}:\n{text}\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {ran} runs:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    assert!(ran > texts.len() / 2, "only {ran} runs: the texts are not worth comparing");
}

fn show(command: &SimpleCommand) -> String {
    let words = std::iter::once(&command.program).chain(&command.args);
    let shown = |word: &Expanded| format!("{}{}", word.text, if word.may_split { "…" } else { "" });
    words.map(shown).collect::<Vec<_>>().join(" ")
}

fn halves(shell: &str, texts: &[Text]) {
    std::thread::scope(|scope| {
        let (first, second) = texts.split_at(texts.len() / 2);
        let other = scope.spawn(|| compare(shell, first));
        compare(shell, second);
        if let Err(panic) = other.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn bash_runs_only_commands_that_the_reader_reports() {
    halves("bash", &texts());
}

#[test]
fn dash_runs_only_commands_that_the_reader_reports() {
    let texts: Vec<_> = texts().into_iter().filter(|text| !text.only_bash).collect();
    halves("dash", &texts);
}

#[test]
fn most_texts_are_read_completely() {
    let texts = texts();
    assert!(texts.len() >= 1_500);
    assert!(BOTH.len() + BASH.len() >= 200, "{} written texts", BOTH.len() + BASH.len());
    let is_unread = |text: &&Text| read(&text.text).is_ok_and(|found| !found.iter().any(is_anything));
    let unread = texts.len() - texts.iter().filter(is_unread).count();
    assert!(unread * 100 < texts.len() * 15, "{unread} of {} texts are unknown", texts.len());
}
