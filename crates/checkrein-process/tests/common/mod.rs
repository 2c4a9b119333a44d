//! Helpers of the integration tests.

#![allow(dead_code, reason = "each test uses a part of this module")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use checkrein_process::{ExecContext, HookCommand, Limits, RunError, RunOutput, Stdin};

/// Run time of an endless command.
pub const LONG: Duration = Duration::from_secs(100);
/// Less than [`LONG`], but much more than any test needs.
pub const SOON: Duration = Duration::from_secs(60);

/// `true` if the heavy tests run at full size.
pub fn stress() -> bool {
    std::env::var_os("CHECKREIN_STRESS").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Reports that a test is skipped because this machine lacks a capability.
///
/// # Panics
///
/// If `CHECKREIN_REQUIRE`, a list with commas, names the capability.
#[allow(clippy::print_stderr, reason = "a skipped test is reported")]
pub fn skip(capability: &str, reason: impl std::fmt::Display) {
    let required = std::env::var("CHECKREIN_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == capability), "{capability} is required: {reason}");
    eprintln!("skipped: {reason}");
}

pub fn path() -> String {
    std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".into())
}

pub fn place(cwd: impl AsRef<Path>) -> ExecContext {
    ExecContext::new(cwd.as_ref()).env([("PATH", path()), ("LC_ALL", "C".into())])
}

pub fn limits() -> Limits {
    Limits::new(SOON)
}

pub async fn run(
    program: HookCommand,
    place: &ExecContext,
    stdin: &Stdin,
    limits: &Limits,
) -> Result<RunOutput, RunError> {
    program.prepare(place)?.run(place, stdin, limits).await
}

pub async fn shell(text: &str, stdin: Stdin) -> RunOutput {
    let place = place("/");
    run(HookCommand::shell(text), &place, &stdin, &limits()).await.unwrap()
}

pub fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// Waits until a condition is true.
pub async fn until(condition: &str, mut is_true: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < SOON, "timeout: {condition}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Identifies the processes of one test by their environment, or by their arguments if they clear the environment.
pub struct Tag(String);

#[allow(clippy::new_without_default, reason = "each tag is unique")]
impl Tag {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("100.0{:07}{count:05}", std::process::id()))
    }

    /// Makes every `sleep 100` of a text unique to this test.
    pub fn text(&self, text: &str) -> String {
        text.replace("sleep 100", &format!("sleep {}", self.0))
    }

    pub fn place(&self, cwd: impl AsRef<Path>) -> ExecContext {
        ExecContext::new(cwd.as_ref()).env([("PATH", path()), ("TEST_TAG", self.0.clone())])
    }

    fn pids(&self) -> impl Iterator<Item = u32> {
        let entry = format!("TEST_TAG={}", self.0);
        let is_in = |path: String, text: &str| {
            let all = std::fs::read(path).unwrap_or_default();
            all.split(|&byte| byte == 0).any(|have| have == text.as_bytes())
        };
        processes().filter(move |pid| {
            is_in(format!("/proc/{pid}/environ"), &entry) || is_in(format!("/proc/{pid}/cmdline"), &self.0)
        })
    }

    /// Living processes with this tag, as `pid (name) state`.
    pub fn living(&self) -> Vec<String> {
        self.pids().filter_map(stat_if_alive).collect()
    }

    /// Kills the processes with this tag. Returns their number.
    pub fn kill(&self) -> usize {
        let pids: Vec<String> = self.pids().map(|pid| pid.to_string()).collect();
        if !pids.is_empty() {
            std::process::Command::new("kill").arg("-KILL").args(&pids).output().unwrap();
        }
        pids.len()
    }
}

pub fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The start of the stat line of a living process. `None` for a zombie.
pub fn stat_if_alive(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let state = stat.rsplit_once(") ")?.1.chars().next()?;
    (!matches!(state, 'Z' | 'X')).then(|| stat.chars().take(40).collect())
}

/// Children of this process that have exited and are not reaped.
pub fn zombies() -> Vec<String> {
    let me = format!(" {} ", std::process::id());
    processes()
        .filter_map(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok())
        .filter(|stat| stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(&format!(" Z{me}"))))
        .collect()
}

/// Writes an executable file, in another process. A child that is started at the same moment could inherit a descriptor
/// for writing, and a file that is open for writing cannot be executed.
pub fn script(path: &Path, text: &str) {
    let write = r#"printf %s "$1" > "$0" && chmod 755 "$0""#;
    let done = std::process::Command::new("sh").args(["-c", write]).arg(path).arg(text).status().unwrap();
    assert!(done.success());
}

/// Commands that take a hundred seconds. Each prints `up` when all its processes have started.
pub const ENDLESS: &[(&str, &str)] = &[
    ("plain", "echo up; sleep 100; echo x"),
    ("exec", "echo up; exec sleep 100"),
    ("background", "sleep 100 & echo up; sleep 100"),
    ("pipeline", "echo up; sleep 100 | sleep 100 | cat"),
    ("ignores TERM", "trap '' TERM; echo up; sleep 100; sleep 100"),
    ("child ignores TERM", "sh -c 'trap \"\" TERM; echo up; sleep 100; sleep 100'; sleep 100"),
    ("setsid", "setsid sleep 100 & echo up; sleep 100"),
    ("setsid, silent", "setsid sleep 100 >/dev/null 2>&1 </dev/null & echo up; sleep 100"),
    ("setsid, ignores TERM", "setsid sh -c 'trap \"\" TERM; echo up; sleep 100; sleep 100' & sleep 100"),
    ("daemon", "(setsid sh -c '(sleep 100 &) & sleep 100' >/dev/null 2>&1 </dev/null &); echo up; sleep 100"),
    ("setsid without the marker", "setsid env -i PATH=\"$PATH\" sh -c 'echo up; sleep 100; :' 2>/dev/null; sleep 100"),
    ("stopped", "sh -c 'echo up; kill -STOP $$; sleep 100'; sleep 100"),
    ("forks", "echo up; while :; do setsid sleep 100 >/dev/null 2>&1 & sleep 0.02; done"),
];

/// Runs a test in its own process and group, because it changes process-wide state. Returns `true` in that process.
pub fn is_own_process(variable: &str) -> bool {
    use std::os::unix::process::CommandExt as _;
    if std::env::var_os(variable).is_some() {
        return true;
    }
    let name = std::thread::current().name().unwrap().to_owned();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env(variable, "1")
        .process_group(0)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    false
}

/// Runs a function in a thread where these system calls fail with an error number, also in its child processes.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a system call that rustix does not wrap")]
pub fn without_calls<T: Send + 'static>(
    calls: &'static [libc::c_long],
    error: i32,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const IS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code: u16, jf: u8, k: u32| libc::sock_filter { code, jt: 0, jf, k };
    let thread = std::thread::spawn(move || {
        let mut steps = vec![step(LOAD, 0, 0)];
        for call in calls {
            steps.push(step(IS, 1, u32::try_from(*call).unwrap()));
            steps.push(step(RETURN, 0, libc::SECCOMP_RET_ERRNO | error.unsigned_abs()));
        }
        steps.push(step(RETURN, 0, libc::SECCOMP_RET_ALLOW));
        let filter = libc::sock_fprog { len: u16::try_from(steps.len()).unwrap(), filter: steps.as_mut_ptr() };
        rustix::thread::set_no_new_privs(true).unwrap();
        // SAFETY: the filter lives until the call has returned.
        let set = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const filter) };
        assert_eq!(set, 0);
        work()
    });
    thread.join().unwrap()
}
