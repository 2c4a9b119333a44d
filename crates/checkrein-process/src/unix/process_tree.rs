//! A process and all that it started.
//!
//! On Linux, `/proc` tells who belongs to it: members of its group, children of those that belong to it, and whoever
//! carries its mark. A process that has left the group, lost its parent and dropped the mark is not found. Where there
//! is no such list, the group is all that is known.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

#[cfg(target_os = "linux")]
use super::procfs_tree::{self, ProcEntry};
use crate::marker::Marker;
use crate::run_output::Leftover;

#[derive(Debug, Clone)]
pub(super) struct ProcessTree {
    leader: Pid,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "needs a list of processes"))]
    marker: Marker,
    known: Vec<Member>,
    /// Whether there may be more who could not be told from others when they were last looked for.
    unclear: bool,
    /// Whether nobody can leave the group.
    confined: bool,
}

/// One that belongs to it, beside the first process.
#[derive(Debug, Clone)]
pub(super) enum Member {
    #[cfg(target_os = "linux")]
    Process(ProcEntry),
    /// The whole group, where its members can't be told apart.
    Group(Pid),
}

impl ProcessTree {
    /// The family of a process that leads a group of its own. Where processes can be listed, its exit status
    /// must not be taken as long as the family is in use: the group's id would no longer be safe.
    pub(super) fn new(leader: Pid, marker: Marker) -> Self {
        Self { leader, marker, known: Vec::new(), unclear: false, confined: false }
    }

    /// Nobody can leave the group, so there is nobody else.
    #[cfg(target_os = "linux")]
    pub(super) fn restrict_to_group(&mut self) {
        self.confined = true;
    }

    /// Whether nobody can leave the group.
    pub(super) fn is_confined(&self) -> bool {
        self.confined
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// Whether its members can be told apart.
    pub(super) fn can_list() -> bool {
        #[cfg(target_os = "linux")]
        return super::procfs::is_ours();
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Whether provably nobody is left but the first process, which has exited. Cheap, and never wrongly true.
    pub(super) fn has_no_descendants(&self) -> bool {
        #[cfg(target_os = "linux")]
        if Self::can_list() {
            return procfs_tree::has_no_descendants(self.leader, &self.marker);
        }
        !Member::Group(self.leader).is_alive()
    }

    /// All that live, but for the first process. They are known from now on.
    pub(super) fn find_alive(&mut self) -> Vec<Member> {
        #[cfg(target_os = "linux")]
        if Self::can_list() {
            let known = self.known.iter().filter_map(Member::listed).cloned().collect::<Vec<_>>();
            let (found, unclear) = match self.confined {
                true => (procfs_tree::living_in_group(self.leader), false),
                false => procfs_tree::find_alive(self.leader, &self.marker, &known),
            };
            self.unclear = unclear;
            let new = found.iter().filter(|found| !known.iter().any(|known| known.is_same(found)));
            self.known.extend(new.cloned().map(Member::Process));
            return found.into_iter().map(Member::Process).collect();
        }
        let group = Member::Group(self.leader);
        self.known = Vec::from_iter(group.is_alive().then_some(group));
        self.known.clone()
    }

    /// Whether provably nobody lives but the first process. Those that do are known from now on.
    pub(super) fn is_gone(&mut self) -> bool {
        self.find_alive().is_empty() && !self.unclear
    }

    /// Whether there may be more who could not be told from others when they were last looked for.
    pub(super) fn is_ambiguous(&self) -> bool {
        self.unclear
    }

    /// Everybody who was ever found.
    pub(super) fn known(&self) -> &[Member] {
        &self.known
    }

    /// Sends a signal to the group, and to those known who have left it.
    pub(super) fn signal(&self, signal: Signal) {
        // An error means that the group is gone.
        let _ = kill_process_group(self.leader, signal);
        #[cfg(target_os = "linux")]
        for member in self.known.iter().filter_map(Member::listed) {
            if !member.is_in_group(self.leader) {
                member.signal(signal);
            }
        }
    }
}

impl Member {
    #[cfg(target_os = "linux")]
    fn listed(&self) -> Option<&ProcEntry> {
        match self {
            Self::Process(listed) => Some(listed),
            Self::Group(_) => None,
        }
    }

    pub(super) fn is_alive(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Process(listed) => listed.is_alive(),
            Self::Group(id) => test_kill_process_group(*id).is_ok(),
        }
    }

    pub(super) fn report(&self, ended: bool) -> Leftover {
        let (pid, name) = match self {
            #[cfg(target_os = "linux")]
            Self::Process(listed) => (listed.pid(), listed.name().to_owned()),
            Self::Group(id) => (id.as_raw_nonzero().get(), String::new()),
        };
        Leftover { pid: pid.unsigned_abs(), name, ended }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use super::super::procfs;
    use super::*;

    #[test]
    fn who_leaves_the_group_after_being_found_is_signalled_all_the_same() {
        // The second stays in the group until it is told to go.
        let text = "exec 3<&0; (read go <&3; exec setsid sleep 100) & wait";
        let mut sh = Command::new("sh");
        let mut leader = sh.args(["-c", text]).stdin(Stdio::piped()).process_group(0).spawn().unwrap();
        let id = Pid::from_child(&leader);
        let mut family = ProcessTree::new(id, Marker::new());
        let second = loop {
            if let [Member::Process(second)] = &family.find_alive()[..] {
                break second.clone();
            }
            std::thread::yield_now();
        };
        leader.stdin.take().unwrap().write_all(b"go\n").unwrap();
        while procfs::group(second.pid()) == id.as_raw_nonzero().get() {
            std::thread::yield_now();
        }
        assert!(second.is_alive());
        assert_eq!(family.find_alive().len(), 1);
        family.signal(Signal::KILL);
        leader.wait().unwrap();
        let begun = std::time::Instant::now();
        while second.is_alive() && begun.elapsed().as_secs() < 10 {
            std::thread::yield_now();
        }
        let survived = second.is_alive();
        second.signal(Signal::KILL);
        assert!(!survived);
    }
}
