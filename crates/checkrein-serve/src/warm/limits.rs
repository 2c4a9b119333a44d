//! Resource limits of a hook, which its interpreter takes over.
//!
//! An interpreter inherits the limits of the resident process. Agents differ: those that run on Node raise the soft limit of open
//! files, and a service manager sets other ones than a shell. The pool sets the limits of the hook before it gives an interpreter.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde::{Deserialize, Serialize};

/// Limits that a running process can take over.
const APPLIED: &[Resource] = &[
    Resource::Nofile,
    Resource::Core,
    Resource::Fsize,
    Resource::Nproc,
    Resource::Rss,
    Resource::Memlock,
    Resource::Locks,
    Resource::Sigpending,
    Resource::Msgqueue,
    Resource::Nice,
    Resource::Rtprio,
    Resource::Rttime,
];

/// Limits that decide about memory and time that a started interpreter has used already.
const FIXED: &[Resource] = &[Resource::Cpu, Resource::Stack, Resource::As, Resource::Data];

/// A soft and a hard limit. `None`: unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Limit {
    soft: Option<u64>,
    hard: Option<u64>,
}

impl Limit {
    fn current(resource: Resource) -> Self {
        let Rlimit { current, maximum } = getrlimit(resource);
        Self { soft: current, hard: maximum }
    }

    fn is_above(self, other: Self) -> bool {
        self.hard.unwrap_or(u64::MAX) > other.hard.unwrap_or(u64::MAX)
    }

    /// Node raises the soft limit of open files when it starts.
    fn as_raised(self, resource: Resource, is_node: bool) -> Self {
        if is_node && resource == Resource::Nofile { Self { soft: self.hard, ..self } } else { self }
    }
}

/// Limits of this process that an interpreter can take over, in the order of [`APPLIED`].
pub(super) fn current() -> Vec<Limit> {
    APPLIED.iter().map(|resource| Limit::current(*resource)).collect()
}

/// Limits of this process that an interpreter must share, one per line.
pub(super) fn fixed() -> String {
    FIXED.iter().map(|resource| format!("limit-{resource:?} {:?}\n", Limit::current(*resource))).collect()
}

/// Checks that a process with the limits of this one can take these over.
///
/// # Errors
/// The reason why it cannot.
pub(super) fn check(limits: &[Limit]) -> Result<(), String> {
    if limits.len() != APPLIED.len() {
        return Err("the hook has another list of limits than the resident process".to_owned());
    }
    match APPLIED.iter().zip(limits).find(|(resource, limit)| limit.is_above(Limit::current(**resource))) {
        Some((resource, _)) => {
            Err(format!("the hook has a higher limit than the resident process: {resource:?}, see `prlimit`"))
        }
        None => Ok(()),
    }
}

/// Sets the limits of an interpreter.
///
/// # Errors
/// The system refuses a limit.
pub(super) fn apply(process: Pid, limits: &[Limit], is_node: bool) -> std::io::Result<()> {
    for (resource, limit) in APPLIED.iter().zip(limits) {
        let wanted = limit.as_raised(*resource, is_node);
        if wanted != Limit::current(*resource).as_raised(*resource, is_node) {
            prlimit(Some(process), *resource, Rlimit { current: wanted.soft, maximum: wanted.hard })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_hard_limits_are_refused() {
        let own = current();
        assert_eq!(check(&own), Ok(()));
        let lower: Vec<_> = own.iter().map(|_| Limit { soft: Some(0), hard: Some(0) }).collect();
        assert_eq!(check(&lower), Ok(()));
        let finite = own.iter().position(|limit| limit.hard.is_some());
        if let Some(index) = finite {
            let mut higher = own.clone();
            higher[index].hard = None;
            assert!(check(&higher).is_err());
        }
        assert!(check(&[]).is_err());
    }
}
