//! Attributes of a process that its children inherit and that no message can change.
//!
//! An interpreter of the pool inherits those of the resident process. A hook runs warm only if its own attributes are the same:
//! otherwise it would leave a container, a limit or a restriction of its agent.

use std::fmt::Write as _;
use std::fs;

use super::limits::{self, Limit};

/// Fields of `/proc/self/status` that are compared.
const FIELDS: &[&str] = &[
    "Uid",
    "Gid",
    "Groups",
    "CapInh",
    "CapPrm",
    "CapEff",
    "CapBnd",
    "CapAmb",
    "NoNewPrivs",
    "Seccomp",
    "Seccomp_filters",
    "Cpus_allowed",
];

/// Compared signals: the standard ones. The start of a process resets SIGPIPE, and the C library ignores internal signals (32 and 33)
/// in processes that it starts in one of several ways.
const SIGNALS: u64 = 0x7fff_ffff & !(1 << 12);

/// Namespaces that are compared.
const NAMESPACES: &[&str] = &["ipc", "mnt", "net", "pid", "pid_for_children", "user", "uts", "time_for_children"];

/// Attributes of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessContext {
    /// The compared attributes, as text.
    pub(super) inherited: String,
    /// The limits that a message can set.
    pub(super) limits: Vec<Limit>,
    /// The mask of new files, which a message can set.
    pub(super) umask: u32,
}

impl ProcessContext {
    /// Reads the attributes. `None` if the system does not show them.
    pub(super) fn current() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let mut inherited = String::new();
        let mut umask = None;
        for line in status.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            if name == "Umask" {
                umask = u32::from_str_radix(value.trim(), 8).ok();
            }
            if name == "SigIgn" {
                let ignored = u64::from_str_radix(value.trim(), 16).ok()? & SIGNALS;
                let _ = writeln!(inherited, "{name} {ignored:x}");
            } else if FIELDS.contains(&name) {
                let _ = writeln!(inherited, "{name} {}", value.trim());
            }
        }
        inherited.push_str(&limits::fixed());
        for name in NAMESPACES {
            let namespace = fs::read_link(format!("/proc/self/ns/{name}"));
            let _ =
                writeln!(inherited, "{name} {}", namespace.map(|link| link.display().to_string()).unwrap_or_default());
        }
        let root = fs::read_link("/proc/self/root").ok()?;
        let label = fs::read_to_string("/proc/self/attr/current").unwrap_or_default();
        let nice = rustix::process::getpriority_process(None).ok()?;
        let _ = writeln!(inherited, "root {}\nlabel {}\nnice {nice}", root.display(), label.trim());
        Some(Self { inherited, limits: limits::current(), umask: umask? })
    }
}

/// Returns the names of attributes that differ.
pub(super) fn differences(own: &str, other: &str) -> String {
    let differing = other.lines().filter(|line| !own.lines().any(|known| known == *line));
    differing.filter_map(|line| line.split(' ').next()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_attributes_are_read() {
        let context = ProcessContext::current().unwrap();
        assert_eq!(Some(&context), ProcessContext::current().as_ref());
        for name in ["Uid ", "NoNewPrivs ", "limit-Stack ", "mnt mnt:", "root /"] {
            assert!(context.inherited.contains(name), "{name}\n{}", context.inherited);
        }
    }
}
