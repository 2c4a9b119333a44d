//! A process and its descendants.
//!
//! On Linux, members are found in `/proc`: processes of the group, children of members, and processes with the marker. A
//! process that has left the group, lost its parent and removed the marker is not found. Without `/proc`, only the group
//! is known.

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
    /// `true` if the last search found processes whose membership is ambiguous.
    ambiguous: bool,
    /// `true` if no process can leave the group.
    confined: bool,
    /// Last process id before the leader could start any process, if that is later than its own id.
    #[cfg(target_os = "linux")]
    since: Option<i32>,
}

/// A member other than the first process.
#[derive(Debug, Clone)]
pub(super) enum Member {
    #[cfg(target_os = "linux")]
    Process(ProcEntry),
    /// The whole group, if processes cannot be listed.
    Group(Pid),
}

impl ProcessTree {
    /// The tree of a process that leads its own group. If processes can be listed, the leader must not be reaped while
    /// the tree is in use: the kernel could reuse the id of the group.
    pub(super) fn new(leader: Pid, marker: Marker) -> Self {
        Self {
            leader,
            marker,
            known: Vec::new(),
            ambiguous: false,
            confined: false,
            #[cfg(target_os = "linux")]
            since: None,
        }
    }

    /// Sets the last process id before the leader could start any process.
    #[cfg(target_os = "linux")]
    pub(super) fn set_childless_until(&mut self, since: Option<i32>) {
        self.since = since;
    }

    /// Restricts the search to the group, for a sandbox whose processes cannot leave it.
    #[cfg(target_os = "linux")]
    pub(super) fn restrict_to_group(&mut self) {
        self.confined = true;
    }

    /// `true` if no process can leave the group.
    pub(super) fn is_confined(&self) -> bool {
        self.confined
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// `true` if processes can be listed.
    pub(super) fn can_list() -> bool {
        #[cfg(target_os = "linux")]
        return super::procfs::is_ours();
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Returns `true` if it is certain that only the first process, which has exited, is left. Cheap.
    pub(super) fn has_no_descendants(&self) -> bool {
        #[cfg(target_os = "linux")]
        if Self::can_list() {
            return procfs_tree::has_no_descendants(self.leader, &self.marker, self.since);
        }
        !Member::Group(self.leader).is_alive()
    }

    /// Finds all living members other than the first process, and adds them to the known ones.
    pub(super) fn find_alive(&mut self) -> Vec<Member> {
        #[cfg(target_os = "linux")]
        if Self::can_list() {
            let known = self.known.iter().filter_map(Member::listed).cloned().collect::<Vec<_>>();
            let (found, ambiguous) = match self.confined {
                true => (procfs_tree::find_alive_in_group(self.leader), false),
                false => procfs_tree::find_alive(self.leader, &self.marker, &known),
            };
            self.ambiguous = ambiguous;
            let new = found.iter().filter(|found| !known.iter().any(|known| known.is_same(found)));
            self.known.extend(new.cloned().map(Member::Process));
            return found.into_iter().map(Member::Process).collect();
        }
        let group = Member::Group(self.leader);
        self.known = Vec::from_iter(group.is_alive().then_some(group));
        self.known.clone()
    }

    /// Returns `true` if it is certain that no member other than the first process is alive. Adds living members to the
    /// known ones.
    pub(super) fn confirm_gone(&mut self) -> bool {
        self.find_alive().is_empty() && !self.ambiguous
    }

    /// `true` if the last search found processes whose membership is ambiguous.
    pub(super) fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }

    /// All members that were ever found.
    pub(super) fn known(&self) -> &[Member] {
        &self.known
    }

    /// Sends a signal to the group and to known members outside of it.
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
    fn known_member_is_signalled_after_it_left_the_group() {
        // The second process leaves the group when it reads a line.
        let text = "exec 3<&0; (read go <&3; exec setsid sleep 100) & wait";
        let mut sh = Command::new("sh");
        let mut leader = sh.args(["-c", text]).stdin(Stdio::piped()).process_group(0).spawn().unwrap();
        let id = Pid::from_child(&leader);
        let mut tree = ProcessTree::new(id, Marker::new());
        let second = loop {
            if let [Member::Process(second)] = &tree.find_alive()[..] {
                break second.clone();
            }
            std::thread::yield_now();
        };
        leader.stdin.take().unwrap().write_all(b"go\n").unwrap();
        while procfs::group(second.pid()) == id.as_raw_nonzero().get() {
            std::thread::yield_now();
        }
        assert!(second.is_alive());
        assert_eq!(tree.find_alive().len(), 1);
        tree.signal(Signal::KILL);
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
