//! Seccomp programs that reject system calls.
//!
//! The tables list calls that would bypass the other parts of the sandbox, or leave it. All other calls are allowed.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use super::refused;
use crate::sandbox::{Sandbox, SandboxError};

/// The condition of a row.
#[derive(Debug, Clone, Copy)]
enum When {
    Always,
    /// The lower half of an argument, with this mask, has one of these values.
    Is(u8, u32, &'static [u32]),
    /// The lower half of an argument has none of these values.
    IsNot(u8, &'static [u32]),
    /// An argument is not 0, in either half.
    IsSet(u8),
}

/// A call that fails with an error number.
#[derive(Debug, Clone, Copy)]
struct Row {
    call: libc::c_long,
    when: When,
    error: i32,
}

const fn row(call: libc::c_long, when: When, error: i32) -> Row {
    Row { call, when, error }
}

const fn never(call: libc::c_long) -> Row {
    row(call, When::Always, libc::EPERM)
}

/// A call that fails as if the kernel did not have it. Programs use their fallback.
const fn missing(call: libc::c_long) -> Row {
    row(call, When::Always, libc::ENOSYS)
}

/// A new namespace, in which the process would be root.
const fn no_namespace(flag: &'static [u32]) -> Row {
    row(libc::SYS_clone, When::Is(0, flag[0], flag), libc::EPERM)
}

const KIND_OF_SOCKET: u32 = 0xf;
const DATAGRAMS: &[u32] = &[libc::SOCK_DGRAM as u32, libc::SOCK_RAW as u32];
const INTERNET: &[u32] = &[libc::AF_INET as u32, libc::AF_INET6 as u32, libc::AF_NETLINK as u32];
/// Requests that type on a terminal.
const TYPING: &[u32] = &[libc::TIOCSTI as u32, libc::TIOCLINUX as u32];

/// Selects all processes of a user, in `setpriority`. Its type in `libc` depends on the C library.
const PRIO_USER: u32 = 2;
/// Selects all processes of a user, in `ioprio_set`.
const IOPRIO_WHO_USER: u32 = 3;

/// In every sandbox.
const ALWAYS: &[Row] = &[
    // A filter cannot read its arguments, which are in memory. Programs fall back to `clone`.
    missing(libc::SYS_clone3),
    no_namespace(&[libc::CLONE_NEWNS as u32]),
    no_namespace(&[libc::CLONE_NEWCGROUP as u32]),
    no_namespace(&[libc::CLONE_NEWUTS as u32]),
    no_namespace(&[libc::CLONE_NEWIPC as u32]),
    no_namespace(&[libc::CLONE_NEWUSER as u32]),
    no_namespace(&[libc::CLONE_NEWPID as u32]),
    no_namespace(&[libc::CLONE_NEWNET as u32]),
    never(libc::SYS_unshare),
    never(libc::SYS_setns),
    // Processes must stay in the group, where they are counted and ended.
    never(libc::SYS_setsid),
    never(libc::SYS_setpgid),
    // `io_uring` creates sockets, and more, without system calls that a filter could see.
    missing(libc::SYS_io_uring_setup),
    missing(libc::SYS_io_uring_enter),
    missing(libc::SYS_io_uring_register),
    // Other processes of the same user.
    never(libc::SYS_ptrace),
    never(libc::SYS_process_vm_readv),
    never(libc::SYS_process_vm_writev),
    never(libc::SYS_pidfd_getfd),
    never(libc::SYS_kcmp),
    row(libc::SYS_prlimit64, When::IsSet(0), libc::EPERM),
    // Priorities and processors of other processes. 0 is the caller itself.
    row(libc::SYS_setpriority, When::IsSet(1), libc::EPERM),
    row(libc::SYS_setpriority, When::Is(0, u32::MAX, &[PRIO_USER]), libc::EPERM),
    row(libc::SYS_ioprio_set, When::IsSet(1), libc::EPERM),
    row(libc::SYS_ioprio_set, When::Is(0, u32::MAX, &[IOPRIO_WHO_USER]), libc::EPERM),
    row(libc::SYS_sched_setaffinity, When::IsSet(0), libc::EPERM),
    row(libc::SYS_sched_setscheduler, When::IsSet(0), libc::EPERM),
    row(libc::SYS_sched_setparam, When::IsSet(0), libc::EPERM),
    row(libc::SYS_sched_setattr, When::IsSet(0), libc::EPERM),
    row(libc::SYS_ioctl, When::Is(1, u32::MAX, TYPING), libc::EPERM),
    // Objects that outlive the process or are shared with processes outside.
    never(libc::SYS_shmget),
    never(libc::SYS_semget),
    never(libc::SYS_msgget),
    never(libc::SYS_mq_open),
    never(libc::SYS_add_key),
    never(libc::SYS_keyctl),
    never(libc::SYS_request_key),
    // Kernel features that no hook needs.
    never(libc::SYS_bpf),
    never(libc::SYS_perf_event_open),
    never(libc::SYS_userfaultfd),
    never(libc::SYS_open_by_handle_at),
    // Calls that need root privileges.
    never(libc::SYS_mount),
    never(libc::SYS_umount2),
    never(libc::SYS_move_mount),
    never(libc::SYS_open_tree),
    never(libc::SYS_fsopen),
    never(libc::SYS_fsmount),
    never(libc::SYS_mount_setattr),
    never(libc::SYS_pivot_root),
    never(libc::SYS_chroot),
    never(libc::SYS_swapon),
    never(libc::SYS_swapoff),
    never(libc::SYS_reboot),
    never(libc::SYS_kexec_load),
    never(libc::SYS_init_module),
    never(libc::SYS_finit_module),
    never(libc::SYS_delete_module),
];

/// Without the network.
const NO_NETWORK: &[Row] = &[
    row(libc::SYS_socket, When::Always, libc::EACCES),
    // A pair is like a pipe, but a datagram socket can send to any address.
    row(libc::SYS_socketpair, When::Is(1, KIND_OF_SOCKET, DATAGRAMS), libc::EACCES),
];

/// With the network and restricted files: a local service could otherwise access files for the process.
const INTERNET_ONLY: &[Row] = &[
    row(libc::SYS_socket, When::IsNot(0, INTERNET), libc::EACCES),
    row(libc::SYS_socketpair, When::Is(1, KIND_OF_SOCKET, DATAGRAMS), libc::EACCES),
];

/// Changes that Landlock does not restrict: modes, owners, attributes and times of files, by name or by descriptor. Only
/// the times of an open file can be set.
const NO_METADATA: &[Row] = &[
    #[cfg(target_arch = "x86_64")]
    never(libc::SYS_chmod),
    never(libc::SYS_fchmod),
    never(libc::SYS_fchmodat),
    never(FCHMODAT2),
    #[cfg(target_arch = "x86_64")]
    never(libc::SYS_chown),
    #[cfg(target_arch = "x86_64")]
    never(libc::SYS_lchown),
    never(libc::SYS_fchown),
    never(libc::SYS_fchownat),
    never(libc::SYS_setxattr),
    never(libc::SYS_lsetxattr),
    never(libc::SYS_fsetxattr),
    never(SETXATTRAT),
    never(libc::SYS_removexattr),
    never(libc::SYS_lremovexattr),
    never(libc::SYS_fremovexattr),
    never(REMOVEXATTRAT),
    never(FILE_SETATTR),
    #[cfg(target_arch = "x86_64")]
    never(libc::SYS_utime),
    #[cfg(target_arch = "x86_64")]
    never(libc::SYS_utimes),
    #[cfg(target_arch = "x86_64")]
    never(libc::SYS_futimesat),
    row(libc::SYS_utimensat, When::IsSet(1), libc::EPERM),
    // Attributes, through an ioctl.
    row(libc::SYS_ioctl, When::Is(1, u32::MAX, &[SET_FLAGS, SET_ATTRIBUTES]), libc::EPERM),
];

// Newer calls have the same number on all architectures.
const FCHMODAT2: libc::c_long = 452;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;
/// `FS_IOC_SETFLAGS` and `FS_IOC_FSSETXATTR`.
const SET_FLAGS: u32 = 0x4008_6602;
const SET_ATTRIBUTES: u32 = 0x401c_5820;

/// First number of the x32 ABI. Its calls are not in the tables, so all of them are rejected.
const X32: Option<u32> = if cfg!(target_arch = "x86_64") { Some(0x4000_0000) } else { None };

/// The programs of a sandbox, one for each error number, since a program has one action. The kernel uses the strictest result.
pub(super) fn programs(sandbox: &Sandbox) -> Result<Vec<BpfProgram>, SandboxError> {
    let machine = std::env::consts::ARCH;
    let arch = TargetArch::try_from(machine).map_err(|_| SandboxError::Machine { machine })?;
    let network: &[Row] = match (sandbox.network, sandbox.files.is_some()) {
        (false, _) => NO_NETWORK,
        (true, true) => INTERNET_ONLY,
        (true, false) => &[],
    };
    let metadata = if sandbox.files.is_some() { NO_METADATA } else { &[] };
    compile(&[ALWAYS, network, metadata].concat(), arch)
        .map_err(|error| refused("filter system calls")(io::Error::other(error)))
}

fn compile(rows: &[Row], arch: TargetArch) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let mut programs = Vec::new();
    for error in [libc::ENOSYS, libc::EACCES, libc::EPERM] {
        let mut calls: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.error == error) {
            calls.entry(row.call).or_default().extend(row.when.rules()?);
        }
        // A call without rules is always rejected, even if another row has rules for it.
        for row in rows.iter().filter(|row| row.error == error && matches!(row.when, When::Always)) {
            calls.insert(row.call, Vec::new());
        }
        let mut ranges = Vec::new();
        for part in Vec::from_iter(calls).chunks(RANGE) {
            let first = u32::try_from(part[0].0).unwrap_or_default();
            let action = SeccompAction::Errno(error.unsigned_abs());
            let filter = SeccompFilter::new(part.iter().cloned().collect(), SeccompAction::Allow, action, arch)?;
            ranges.push((first, BpfProgram::try_from(filter)?));
        }
        if error == libc::ENOSYS
            && let Some(first) = X32
        {
            ranges.push((first, vec![step(RETURN, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs())]));
        }
        if !ranges.is_empty() {
            programs.push(join(ranges));
        }
    }
    Ok(programs)
}

/// Number of calls in one program of `seccompiler`, which compares numbers one by one. At installation the kernel runs a
/// program once per system call. With a single list, that takes a quarter of a millisecond.
const RANGE: usize = 8;

const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
const IF_AT_LEAST: u32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
const JUMP: u32 = libc::BPF_JMP | libc::BPF_JA;
const RETURN: u32 = libc::BPF_RET | libc::BPF_K;

fn step(code: u32, jf: u8, k: u32) -> seccompiler::sock_filter {
    seccompiler::sock_filter { code: code as u16, jt: 0, jf, k }
}

/// Joins programs, sorted by number, into one. It runs the last program whose number is not above that of the call, or the
/// first.
fn join(ranges: Vec<(u32, BpfProgram)>) -> BpfProgram {
    /// Offset of the call's number in the input of a program.
    const NUMBER: u32 = 0;
    let mut choice = Vec::new();
    let mut programs = BpfProgram::new();
    for (first, program) in ranges {
        if !programs.is_empty() {
            // The jump skips the steps and programs for smaller numbers.
            let distance = u32::try_from(choice.len() + programs.len()).unwrap_or(u32::MAX);
            choice.splice(0..0, [step(IF_AT_LEAST, 1, first), step(JUMP, 0, distance)]);
        }
        programs.extend(program);
    }
    choice.insert(0, step(LOAD, 0, NUMBER));
    choice.extend(programs);
    choice
}

impl When {
    /// Alternative rules: at least one of them must match.
    fn rules(self) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
        let dword = SeccompCmpArgLen::Dword;
        match self {
            Self::Always => Ok(Vec::new()),
            Self::Is(argument, mask, values) => values
                .iter()
                .map(|&value| {
                    let masked = SeccompCmpOp::MaskedEq(mask.into());
                    SeccompRule::new(vec![SeccompCondition::new(argument, dword.clone(), masked, value.into())?])
                })
                .collect(),
            Self::IsNot(argument, values) => {
                let differs =
                    |&value: &u32| SeccompCondition::new(argument, dword.clone(), SeccompCmpOp::Ne, value.into());
                Ok(vec![SeccompRule::new(values.iter().map(differs).collect::<Result<_, _>>()?)?])
            }
            Self::IsSet(argument) => {
                let set = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
                Ok(vec![SeccompRule::new(vec![set])?])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Files;

    #[cfg(target_arch = "x86_64")]
    const MACHINE: u32 = 0xc000_003e;
    #[cfg(target_arch = "aarch64")]
    const MACHINE: u32 = 0xc000_00b7;

    const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
    const IF_EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;

    /// Runs a program as the kernel would.
    fn result(program: &BpfProgram, machine: u32, number: u32, arguments: &[u64]) -> u32 {
        let word = |at: u32| match at {
            0 => number,
            4 => machine,
            at => {
                let argument = arguments.get(((at - 16) / 8) as usize).copied().unwrap_or_default();
                if at % 8 == 0 { argument as u32 } else { (argument >> 32) as u32 }
            }
        };
        let (mut at, mut value) = (0, 0);
        loop {
            let step = &program[at];
            at += 1;
            let jumps = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
            match u32::from(step.code) {
                LOAD => value = word(step.k),
                AND => value &= step.k,
                JUMP => at += step.k as usize,
                IF_EQUAL => at += jumps(value == step.k),
                IF_AT_LEAST => at += jumps(value >= step.k),
                RETURN => return step.k,
                code => panic!("{code}"),
            }
        }
    }

    /// The strictest result of all programs.
    fn verdict(programs: &[BpfProgram], machine: u32, number: u32, arguments: &[u64]) -> u32 {
        let results = programs.iter().map(|program| result(program, machine, number, arguments));
        results.min_by_key(|result| (result & libc::SECCOMP_RET_ACTION_FULL).cast_signed()).unwrap()
    }

    fn error(error: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | error as u32
    }

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const STREAM: u64 = libc::SOCK_STREAM as u64 | libc::SOCK_CLOEXEC as u64;
    const DATAGRAM: u64 = libc::SOCK_DGRAM as u64 | libc::SOCK_NONBLOCK as u64;

    #[test]
    fn calls_are_rejected_by_number_and_arguments() {
        let strict = Sandbox::new().files(Files::none());
        let online = strict.clone().allow_network();
        let open = Sandbox::new().allow_network();
        let typing = u64::from(TYPING[0]);
        let (inet, unix) = (libc::AF_INET as u64, libc::AF_UNIX as u64);
        let user = libc::CLONE_NEWUSER as u64 | libc::SIGCHLD as u64;
        let thread = (libc::CLONE_VM | libc::CLONE_THREAD) as u64;
        let (no, denied, absent) = (error(libc::EPERM), error(libc::EACCES), error(libc::ENOSYS));
        #[rustfmt::skip]
        let rows: &[(&str, libc::c_long, &[u64], [u32; 3])] = &[
            ("read", libc::SYS_read, &[], [ALLOW; 3]),
            ("execve", libc::SYS_execve, &[], [ALLOW; 3]),
            ("fork", libc::SYS_clone, &[libc::SIGCHLD as u64], [ALLOW; 3]),
            ("thread", libc::SYS_clone, &[thread], [ALLOW; 3]),
            ("namespace", libc::SYS_clone, &[user], [no; 3]),
            ("namespaces", libc::SYS_clone, &[libc::CLONE_NEWNET as u64 | libc::CLONE_NEWNS as u64], [no; 3]),
            ("clone3", libc::SYS_clone3, &[], [absent; 3]),
            ("io_uring", libc::SYS_io_uring_setup, &[], [absent; 3]),
            ("setsid", libc::SYS_setsid, &[], [no; 3]),
            ("setpgid", libc::SYS_setpgid, &[], [no; 3]),
            ("ptrace", libc::SYS_ptrace, &[], [no; 3]),
            ("own limit", libc::SYS_prlimit64, &[0], [ALLOW; 3]),
            ("another's limit", libc::SYS_prlimit64, &[77], [no; 3]),
            ("another's limit, high half", libc::SYS_prlimit64, &[1 << 32], [no; 3]),
            ("size of a terminal", libc::SYS_ioctl, &[0, 0x5413], [ALLOW; 3]),
            ("typing", libc::SYS_ioctl, &[0, typing], [no; 3]),
            ("typing, high half", libc::SYS_ioctl, &[0, typing | (1 << 40)], [no; 3]),
            ("socket", libc::SYS_socket, &[inet, STREAM], [denied, ALLOW, ALLOW]),
            ("udp", libc::SYS_socket, &[inet, DATAGRAM], [denied, ALLOW, ALLOW]),
            ("netlink", libc::SYS_socket, &[libc::AF_NETLINK as u64, DATAGRAM], [denied, ALLOW, ALLOW]),
            ("unix socket", libc::SYS_socket, &[unix, STREAM], [denied, denied, ALLOW]),
            ("pair", libc::SYS_socketpair, &[unix, STREAM], [ALLOW; 3]),
            ("pair of datagrams", libc::SYS_socketpair, &[unix, DATAGRAM], [denied, denied, ALLOW]),
            ("fchmod", libc::SYS_fchmod, &[3, 0o777], [no, no, ALLOW]),
            ("times by name", libc::SYS_utimensat, &[3, 0x7fff_0000_0000], [no, no, ALLOW]),
            ("times by descriptor", libc::SYS_utimensat, &[3, 0], [ALLOW; 3]),
        ];
        for (name, call, arguments, expected) in rows {
            for (sandbox, expected) in [&strict, &online, &open].into_iter().zip(expected) {
                let programs = programs(sandbox).unwrap();
                let found = verdict(&programs, MACHINE, u32::try_from(*call).unwrap(), arguments);
                assert_eq!(found, *expected, "{name} {sandbox:?}");
            }
        }
    }

    #[test]
    fn every_row_is_rejected_and_nothing_else() {
        let programs = programs(&Sandbox::new().files(Files::none())).unwrap();
        let always = |row: &&Row| matches!(row.when, When::Always);
        for row in [ALWAYS, NO_NETWORK, NO_METADATA].concat().iter().filter(always) {
            let found = verdict(&programs, MACHINE, u32::try_from(row.call).unwrap(), &[]);
            assert_eq!(found, error(row.error), "{}", row.call);
        }
        let named = [ALWAYS, NO_NETWORK, NO_METADATA].concat();
        for call in (0..600).filter(|call| !named.iter().any(|row| row.call == *call)) {
            assert_eq!(verdict(&programs, MACHINE, u32::try_from(call).unwrap(), &[]), ALLOW, "{call}");
        }
    }

    #[test]
    fn other_system_call_abis_are_rejected() {
        let programs = programs(&Sandbox::new()).unwrap();
        assert_eq!(verdict(&programs, 0x4000_0003, 11, &[]), libc::SECCOMP_RET_KILL_PROCESS, "32 bits");
        if let Some(first) = X32 {
            let socket = first | u32::try_from(libc::SYS_socket).unwrap();
            assert_eq!(verdict(&programs, MACHINE, socket, &[]), error(libc::ENOSYS));
        }
    }
}
