//! What `/proc` says about processes.

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
    /// Whether it is a part of the system itself.
    is_kernel: bool,
    /// When it started, in clock ticks since boot. With the pid, this is one process and no other.
    pub(super) start: u64,
}

/// The flag of kernel threads (`PF_KTHREAD`).
const KERNEL_THREAD: u32 = 0x0020_0000;

impl Stat {
    pub(super) fn of(pid: i32) -> Option<Self> {
        let mut buffer = [0; 1024];
        let read = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut buffer).ok()?;
        Self::parse(pid, &buffer[..read])
    }

    fn parse(pid: i32, line: &[u8]) -> Option<Self> {
        // The name may hold anything, spaces and parentheses too; what follows the last one is plain.
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

    /// Whether it still runs, and is somebody's. One that only waits for its parent to take note does not; one whose first thread has
    /// ended looks the same, but has others.
    pub(super) fn is_alive(&self) -> bool {
        !self.is_kernel && (!matches!(self.state, b'Z' | b'X' | b'x') || self.threads > 1)
    }
}

/// Whether `/proc` is there and speaks of this process's own world. In a container it may be another's, in which the
/// same number is somebody else.
pub(super) fn is_ours() -> bool {
    static OURS: OnceLock<bool> = OnceLock::new();
    *OURS.get_or_init(|| {
        let me = std::fs::read_link("/proc/self");
        me.is_ok_and(|me| me.as_os_str() == std::process::id().to_string().as_str())
    })
}

/// All processes that there are.
pub(super) fn pids() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The group of a process, or something that is no group. A hundred times cheaper than to read files.
pub(super) fn group(pid: i32) -> i32 {
    // SAFETY: takes and gives numbers.
    #[expect(unsafe_code, reason = "who wraps it does not know of the kernel's own, which have none")]
    unsafe {
        libc::getpgid(pid)
    }
}

/// The file with the last process id. It is read after every run, so it stays open.
fn loads() -> Option<&'static File> {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    FILE.get_or_init(|| File::open("/proc/loadavg").ok()).as_ref()
}

/// The process id that the kernel gave out last, to a process or a thread. They are given out in turn.
pub(super) fn last_pid() -> Option<i32> {
    let mut buffer = [0; 128];
    let read = loads()?.read_at(&mut buffer, 0).ok()?;
    parse_last_pid(str::from_utf8(&buffer[..read]).ok()?)
}

fn parse_last_pid(line: &str) -> Option<i32> {
    // Three loads, running and all threads, the last id.
    line.split_ascii_whitespace().nth(4)?.parse().ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HasMarker {
    Yes,
    No,
    /// It is just becoming another program, and has no environment for a moment.
    Unclear,
}

/// The environment that a process was started with. One that becomes another program meanwhile has none from then on, so it is
/// read at once: a part would pass for the whole.
fn environment(pid: i32) -> std::io::Result<Vec<u8>> {
    const ENOUGH: usize = 32 * 1024;
    let mut file = File::open(format!("/proc/{pid}/environ"))?;
    let mut all = Vec::new();
    loop {
        let at = all.len();
        all.resize(at + ENOUGH, 0);
        let read = loop {
            match file.read(&mut all[at..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        all.truncate(at + read);
        if read < ENOUGH {
            return Ok(all);
        }
    }
}

pub(super) fn is_marked(pid: i32, marker: &Marker) -> HasMarker {
    let by_environment = || match environment(pid) {
        Err(_) => Some(HasMarker::No),
        Ok(environment) => is_in(&environment, marker),
    };
    by_environment().unwrap_or_else(|| match std::fs::read(format!("/proc/{pid}/cmdline")) {
        // An empty environment is possible, a program without arguments hardly.
        Ok(arguments) if arguments.is_empty() => HasMarker::Unclear,
        // It may have become another program between the two looks, and has an environment now.
        _ => by_environment().unwrap_or(HasMarker::No),
    })
}

/// Whether an environment has a mark, if all of it is there.
fn is_in(environment: &[u8], marker: &Marker) -> Option<HasMarker> {
    match marker.is_in(environment) {
        true => Some(HasMarker::Yes),
        // The last entry has its end, unless it was cut off.
        false => environment.ends_with(&[0]).then_some(HasMarker::No),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_strange_name_is_read() {
        let line = b"42 (a) b (c)) S 7 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 987654 1 2 3\n";
        let stat = Stat::parse(42, line).unwrap();
        assert_eq!(stat.name, "a) b (c)");
        assert_eq!((stat.parent, stat.group, stat.threads, stat.start), (7, 40, 3, 987_654));
        assert!(stat.is_alive());
        assert_eq!(Stat::parse(42, b"42 (cut"), None);
        assert_eq!(Stat::parse(42, b"42 (a) S 1 2"), None);
    }

    #[test]
    fn the_last_process_id_is_read() {
        assert_eq!(parse_last_pid("0.52 0.58 0.59 3/412 31337\n"), Some(31337));
        for other in ["", "0.52 0.58 0.59", "0.52 0.58 0.59 3/412", "0.52 0.58 0.59 3/412 x"] {
            assert_eq!(parse_last_pid(other), None, "{other}");
        }
    }

    #[test]
    fn a_part_of_an_environment_proves_nothing() {
        let marker = Marker::new();
        let whole = [b"PATH=/bin\0CHECKREIN_RUN=", marker.value().as_encoded_bytes(), b"\0"].concat();
        assert_eq!(is_in(&whole, &marker), Some(HasMarker::Yes));
        assert_eq!(is_in(&whole, &Marker::new()), Some(HasMarker::No));
        for cut in ["", "PATH=/b", "PATH=/bin\0CHECKREIN_RUN=0"] {
            assert_eq!(is_in(cut.as_bytes(), &marker), None, "{cut}");
        }
    }

    #[test]
    fn an_environment_is_read_whole_however_long_it_is() {
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
    fn this_process_is_there() {
        let me = i32::try_from(std::process::id()).unwrap();
        let stat = Stat::of(me).unwrap();
        assert!(stat.is_alive());
        assert!(pids().any(|pid| pid == me));
        assert!(is_ours() && last_pid().is_some());
        assert_eq!(is_marked(me, &Marker::new()), HasMarker::No);
    }
}
