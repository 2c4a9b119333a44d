//! Reads processes, their environments and the last process id from `/proc`.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::sync::OnceLock;

use crate::marker::Marker;

/// One process, from `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) pid: i32,
    pub(super) name: String,
    state: u8,
    pub(super) parent: i32,
    pub(super) group: i32,
    threads: i64,
    /// `true` for a kernel thread.
    is_kernel: bool,
    /// Start time in clock ticks since boot. Together with the pid, it identifies a process.
    pub(super) start: u64,
}

/// The flag of kernel threads (`PF_KTHREAD`).
const KERNEL_THREAD: u32 = 0x0020_0000;

impl Stat {
    pub(super) fn read(pid: i32) -> Option<Self> {
        let mut buffer = [0; 1024];
        let read = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut buffer).ok()?;
        Self::parse(pid, &buffer[..read])
    }

    fn parse(pid: i32, line: &[u8]) -> Option<Self> {
        // The name may contain spaces and parentheses. The fields after the last parenthesis are plain.
        let open = line.iter().position(|&byte| byte == b'(')?;
        let close = line.iter().rposition(|&byte| byte == b')')?;
        let name = String::from_utf8_lossy(line.get(open + 1..close)?).into_owned();
        let rest = str::from_utf8(line.get(close + 2..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().take(20).collect();
        // Numbered as in proc(5), where the state is the third.
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Self {
            pid,
            name,
            state: *field(3)?.as_bytes().first()?,
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            threads: field(20)?.parse().ok()?,
            is_kernel: field(9)?.parse::<u32>().ok()? & KERNEL_THREAD != 0,
            start: field(22)?.parse().ok()?,
        })
    }

    /// `true` for a running user process. A zombie is not alive, unless it has other threads: its first thread may have
    /// ended before them.
    pub(super) fn is_alive(&self) -> bool {
        !self.is_kernel && (!matches!(self.state, b'Z' | b'X' | b'x') || self.threads > 1)
    }
}

/// Returns `true` if `/proc` exists and shows the pid namespace of this process. In a container it may show another one.
pub(super) fn is_ours() -> bool {
    static OURS: OnceLock<bool> = OnceLock::new();
    *OURS.get_or_init(|| {
        let me = std::fs::read_link("/proc/self");
        me.is_ok_and(|me| me.as_os_str() == std::process::id().to_string().as_str())
    })
}

/// Ids of all processes.
pub(super) fn pids() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The group of a process, or an invalid id. A hundred times cheaper than a read of `/proc`.
pub(super) fn group(pid: i32) -> i32 {
    // SAFETY: takes and returns numbers.
    #[expect(unsafe_code, reason = "rustix expects a nonzero group, which kernel threads do not have")]
    unsafe {
        libc::getpgid(pid)
    }
}

/// The file with the last process id. It is read after every run, so it stays open.
fn loadavg() -> Option<&'static File> {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    FILE.get_or_init(|| File::open("/proc/loadavg").ok()).as_ref()
}

/// The last id that the kernel assigned to a process or thread. Ids are assigned in sequence.
pub(super) fn last_pid() -> Option<i32> {
    let mut buffer = [0; 128];
    let read = loadavg()?.read_at(&mut buffer, 0).ok()?;
    parse_last_pid(str::from_utf8(&buffer[..read]).ok()?)
}

fn parse_last_pid(line: &str) -> Option<i32> {
    // Three load averages, running and all threads, the last id.
    line.split_ascii_whitespace().nth(4)?.parse().ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HasMarker {
    Yes,
    No,
    /// The process is in the middle of `execve` and has no environment.
    Unknown,
}

/// The environment that a process was started with. It is read in one call, since an `execve` of the process would cut off
/// the rest, and a part must not be treated as complete.
fn environment(pid: i32) -> std::io::Result<Vec<u8>> {
    const BUFFER: usize = 32 * 1024;
    let mut file = File::open(format!("/proc/{pid}/environ"))?;
    let mut all = Vec::new();
    loop {
        let start = all.len();
        all.resize(start + BUFFER, 0);
        let read = loop {
            match file.read(&mut all[start..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        all.truncate(start + read);
        if read < BUFFER {
            return Ok(all);
        }
    }
}

pub(super) fn has_marker(pid: i32, marker: &Marker) -> HasMarker {
    let by_environment = || match environment(pid) {
        Err(_) => Some(HasMarker::No),
        Ok(environment) => find_marker(&environment, marker),
    };
    by_environment().unwrap_or_else(|| match std::fs::read(format!("/proc/{pid}/cmdline")) {
        // An empty environment is possible. A program without arguments is very rare.
        Ok(arguments) if arguments.is_empty() => HasMarker::Unknown,
        // An `execve` may have ended between the two reads, so the process has an environment now.
        _ => by_environment().unwrap_or(HasMarker::No),
    })
}

/// Searches an environment for a marker. `None` if the environment is incomplete.
fn find_marker(environment: &[u8], marker: &Marker) -> Option<HasMarker> {
    match marker.is_in(environment) {
        true => Some(HasMarker::Yes),
        // A complete environment ends with NUL.
        false => environment.ends_with(&[0]).then_some(HasMarker::No),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_line_with_parentheses_in_the_name_is_parsed() {
        let line = b"42 (a) b (c)) S 7 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 987654 1 2 3\n";
        let stat = Stat::parse(42, line).unwrap();
        assert_eq!(stat.name, "a) b (c)");
        assert_eq!((stat.parent, stat.group, stat.threads, stat.start), (7, 40, 3, 987_654));
        assert!(stat.is_alive());
        assert_eq!(Stat::parse(42, b"42 (cut"), None);
        assert_eq!(Stat::parse(42, b"42 (a) S 1 2"), None);
    }

    #[test]
    fn last_process_id_is_parsed() {
        assert_eq!(parse_last_pid("0.52 0.58 0.59 3/412 31337\n"), Some(31337));
        for other in ["", "0.52 0.58 0.59", "0.52 0.58 0.59 3/412", "0.52 0.58 0.59 3/412 x"] {
            assert_eq!(parse_last_pid(other), None, "{other}");
        }
    }

    #[test]
    fn incomplete_environment_gives_no_answer() {
        let marker = Marker::new();
        let whole = [b"PATH=/bin\0CHECKREIN_RUN=", marker.value().as_encoded_bytes(), b"\0"].concat();
        assert_eq!(find_marker(&whole, &marker), Some(HasMarker::Yes));
        assert_eq!(find_marker(&whole, &Marker::new()), Some(HasMarker::No));
        for cut in ["", "PATH=/b", "PATH=/bin\0CHECKREIN_RUN=0"] {
            assert_eq!(find_marker(cut.as_bytes(), &marker), None, "{cut}");
        }
    }

    #[test]
    fn long_environment_is_read_completely() {
        for len in [0, 10, 32 * 1024, 100_000] {
            let mut sleep = std::process::Command::new("sleep");
            let mut sleep = sleep.arg("100").env_clear().env("LONG", "x".repeat(len)).spawn().unwrap();
            let read = environment(sleep.id().cast_signed()).unwrap();
            sleep.kill().unwrap();
            sleep.wait().unwrap();
            assert_eq!((read.len(), read.last()), (len + 6, Some(&0)));
        }
    }

    #[test]
    fn own_process_is_found() {
        let me = i32::try_from(std::process::id()).unwrap();
        let stat = Stat::read(me).unwrap();
        assert!(stat.is_alive());
        assert!(pids().any(|pid| pid == me));
        assert!(is_ours() && last_pid().is_some());
        assert_eq!(has_marker(me, &Marker::new()), HasMarker::No);
    }
}
