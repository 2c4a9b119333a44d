//! Which system calls there are not: a program for seccomp.
//!
//! All that is not named is allowed. What is named would lead around the other parts of the sandbox, or out of it.

use std::collections::BTreeMap;

use crate::sandbox::{Sandbox, SandboxError};

/// What becomes of a call: an error number for the caller.
type Error = i32;

/// When a row holds.
#[derive(Debug, Clone, Copy)]
enum When {
    Always,
    /// An argument, with this mask over it, has one of these values. Only its lower half is looked at.
    Is(u8, u32, &'static [u32]),
    /// It has none of them.
    IsNot(u8, u32, &'static [u32]),
    /// An argument is not 0, in either half.
    IsSet(u8),
}

#[derive(Debug, Clone, Copy)]
struct Row {
    call: libc::c_long,
    when: When,
    error: Error,
}

const fn row(call: libc::c_long, when: When, error: Error) -> Row {
    Row { call, when, error }
}

const fn never(call: libc::c_long) -> Row {
    row(call, When::Always, libc::EPERM)
}

/// Programs know that this may be missing, and do without.
const fn missing(call: libc::c_long) -> Row {
    row(call, When::Always, libc::ENOSYS)
}

/// Namespaces of one's own, in which one would be root.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

const KIND_OF_SOCKET: u32 = 0xf;
const DATAGRAMS: &[u32] = &[libc::SOCK_DGRAM as u32, libc::SOCK_RAW as u32];
const INTERNET: &[u32] = &[libc::AF_INET as u32, libc::AF_INET6 as u32, libc::AF_NETLINK as u32];
/// Requests that type on a terminal.
const TYPING: &[u32] = &[libc::TIOCSTI as u32, libc::TIOCLINUX as u32];

/// In every sandbox.
const ALWAYS: &[Row] = &[
    // Its arguments lie in memory, where a filter cannot look. Without it, all use `clone`.
    missing(libc::SYS_clone3),
    row(libc::SYS_clone, When::IsNot(0, NAMESPACES, &[0]), libc::EPERM),
    never(libc::SYS_unshare),
    never(libc::SYS_setns),
    // Whoever stays in the group is ended with it, and counted.
    never(libc::SYS_setsid),
    never(libc::SYS_setpgid),
    // It makes sockets, and more, without calls that a filter could see.
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
    row(libc::SYS_ioctl, When::Is(1, u32::MAX, TYPING), libc::EPERM),
    // What outlives the process, and what is shared with those outside.
    never(libc::SYS_shmget),
    never(libc::SYS_semget),
    never(libc::SYS_msgget),
    never(libc::SYS_mq_open),
    never(libc::SYS_add_key),
    never(libc::SYS_keyctl),
    never(libc::SYS_request_key),
    // Deep parts of the kernel that no hook needs.
    never(libc::SYS_bpf),
    never(libc::SYS_perf_event_open),
    never(libc::SYS_userfaultfd),
    never(libc::SYS_open_by_handle_at),
    // What root could do.
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
    // Pairs are pipes; but one for datagrams can be turned to any address.
    row(libc::SYS_socketpair, When::Is(1, KIND_OF_SOCKET, DATAGRAMS), libc::EACCES),
];

/// With the network, but not with all files: services on this machine would do there what the process may not.
const INTERNET_ONLY: &[Row] = &[
    row(libc::SYS_socket, When::IsNot(0, u32::MAX, INTERNET), libc::EACCES),
    row(libc::SYS_socketpair, When::Is(1, KIND_OF_SOCKET, DATAGRAMS), libc::EACCES),
];

/// What Landlock does not look at: modes, owners, attributes and times of files, by name or by descriptor. Only the
/// times of a file that is open can be set.
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
    // The same by way of a request to the file system.
    row(libc::SYS_ioctl, When::Is(1, u32::MAX, &[SET_FLAGS, SET_ATTRIBUTES]), libc::EPERM),
];

// Newer calls have the same number everywhere.
const FCHMODAT2: libc::c_long = 452;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;
/// `FS_IOC_SETFLAGS` and `FS_IOC_FSSETXATTR`.
const SET_FLAGS: u32 = 0x4008_6602;
const SET_ATTRIBUTES: u32 = 0x401c_5820;

/// What the kernel calls this machine (`AUDIT_ARCH_*`).
#[cfg(target_arch = "x86_64")]
const MACHINE: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const MACHINE: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const MACHINE: Option<u32> = None;

/// Calls of a second set with other numbers, which x86 has.
const SECOND_SET: Option<u32> = if cfg!(target_arch = "x86_64") { Some(0x4000_0000) } else { None };

// Where things lie in what a filter sees.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const AND: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;
const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// The program, and what it refuses.
#[derive(Debug)]
pub(in super::super) struct Filter {
    pub(in super::super) code: Vec<libc::sock_filter>,
}

impl Filter {
    pub(super) fn new(sandbox: &Sandbox) -> Result<Self, SandboxError> {
        let machine = MACHINE.ok_or(SandboxError::Machine { machine: std::env::consts::ARCH })?;
        let network: &[Row] = match (sandbox.network, sandbox.files.is_some()) {
            (false, _) => NO_NETWORK,
            (true, true) => INTERNET_ONLY,
            (true, false) => &[],
        };
        let metadata = if sandbox.files.is_some() { NO_METADATA } else { &[] };

        let mut code = vec![
            plain(LOAD, ARCHITECTURE),
            jump(IF_EQUAL, machine, 1, 0),
            plain(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
            plain(LOAD, NUMBER),
        ];
        if let Some(second) = SECOND_SET {
            code.extend([jump(IF_AT_LEAST, second, 0, 1), refuse(libc::ENOSYS)]);
        }
        let mut calls: BTreeMap<u32, Vec<libc::sock_filter>> = BTreeMap::new();
        for row in [ALWAYS, network, metadata].into_iter().flatten() {
            let of_call = calls.entry(u32::try_from(row.call).unwrap_or(u32::MAX)).or_default();
            of_call.extend(row.when.code());
            of_call.push(refuse(row.error));
        }
        code.extend(search(&Vec::from_iter(calls)));
        Ok(Self { code })
    }
}

/// Finds a call by halves. The kernel goes through the program once for each of its calls when it is told of it: with one
/// comparison after the other that would take longer than to start a process.
fn search(calls: &[(u32, Vec<libc::sock_filter>)]) -> Vec<libc::sock_filter> {
    const FEW: usize = 3;
    let allow = plain(RETURN, libc::SECCOMP_RET_ALLOW);
    let mut code = Vec::new();
    match calls.split_at(calls.len() / 2) {
        (less, more @ [(first, _), ..]) if calls.len() > FEW => {
            let less = search(less);
            let behind = u32::try_from(less.len()).unwrap_or(u32::MAX);
            code.extend([jump(IF_AT_LEAST, *first, 0, 1), plain(JUMP, behind)]);
            code.extend(less);
            code.extend(search(more));
        }
        _ => {
            for (number, of_call) in calls {
                let behind = u8::try_from(of_call.len() + 1).unwrap_or(u8::MAX);
                code.push(jump(IF_EQUAL, *number, 0, behind));
                code.extend(of_call);
                code.push(allow);
            }
            code.push(allow);
        }
    }
    code
}

impl When {
    /// Goes on behind itself if it holds, else one further.
    fn code(self) -> Vec<libc::sock_filter> {
        let low = |argument: u8| ARGUMENTS + 8 * u32::from(argument) + if cfg!(target_endian = "big") { 4 } else { 0 };
        let high = |argument: u8| ARGUMENTS + 8 * u32::from(argument) + if cfg!(target_endian = "big") { 0 } else { 4 };
        // How far it is from one value in a list to what comes behind it.
        let behind = |values: &[u32], at: usize| u8::try_from(values.len() - 1 - at).unwrap_or(u8::MAX);
        match self {
            Self::Always => Vec::new(),
            Self::Is(argument, mask, values) => {
                let mut code = vec![plain(LOAD, low(argument)), plain(AND, mask)];
                code.extend(values.iter().enumerate().map(|(at, &value)| {
                    let otherwise = u8::from(at + 1 == values.len());
                    jump(IF_EQUAL, value, behind(values, at), otherwise)
                }));
                code
            }
            Self::IsNot(argument, mask, values) => {
                let mut code = vec![plain(LOAD, low(argument)), plain(AND, mask)];
                code.extend(
                    values.iter().enumerate().map(|(at, &value)| jump(IF_EQUAL, value, behind(values, at) + 1, 0)),
                );
                code
            }
            Self::IsSet(argument) => vec![
                plain(LOAD, low(argument)),
                jump(IF_EQUAL, 0, 0, 2),
                plain(LOAD, high(argument)),
                jump(IF_EQUAL, 0, 1, 0),
            ],
        }
    }
}

const fn plain(code: u16, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt: 0, jf: 0, k }
}

const fn jump(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

const fn refuse(error: Error) -> libc::sock_filter {
    plain(RETURN, libc::SECCOMP_RET_ERRNO | (error as u32 & libc::SECCOMP_RET_DATA))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::Files;

    /// Runs the program as the kernel would.
    fn verdict(filter: &Filter, machine: u32, number: u32, arguments: &[u64]) -> u32 {
        let word = |at: u32| match at {
            NUMBER => number,
            ARCHITECTURE => machine,
            at => {
                let argument = arguments.get(((at - ARGUMENTS) / 8) as usize).copied().unwrap_or_default();
                if at % 8 == 0 { argument as u32 } else { (argument >> 32) as u32 }
            }
        };
        let (mut at, mut value) = (0, 0);
        loop {
            let step = filter.code[at];
            at += 1;
            let jumps = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
            match step.code {
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

    fn error(error: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | error as u32
    }

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
    const STREAM: u64 = libc::SOCK_STREAM as u64 | libc::SOCK_CLOEXEC as u64;
    const DATAGRAM: u64 = libc::SOCK_DGRAM as u64 | libc::SOCK_NONBLOCK as u64;

    #[test]
    fn calls_are_refused_by_their_number_and_arguments() {
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
            ("unix socket", libc::SYS_socket, &[unix, STREAM], [denied, denied, ALLOW]),
            ("pair", libc::SYS_socketpair, &[unix, STREAM], [ALLOW; 3]),
            ("pair of datagrams", libc::SYS_socketpair, &[unix, DATAGRAM], [denied, denied, ALLOW]),
            ("fchmod", libc::SYS_fchmod, &[3, 0o777], [no, no, ALLOW]),
            ("times by name", libc::SYS_utimensat, &[3, 0x7fff_0000_0000], [no, no, ALLOW]),
            ("times by descriptor", libc::SYS_utimensat, &[3, 0], [ALLOW; 3]),
        ];
        for (name, call, arguments, expected) in rows {
            for (sandbox, expected) in [&strict, &online, &open].into_iter().zip(expected) {
                let filter = Filter::new(sandbox).unwrap();
                let found = verdict(&filter, MACHINE.unwrap(), u32::try_from(*call).unwrap(), arguments);
                assert_eq!(found, *expected, "{name} {sandbox:?}");
            }
        }
    }

    #[test]
    fn other_sets_of_calls_lead_nowhere() {
        let filter = Filter::new(&Sandbox::new()).unwrap();
        assert_eq!(verdict(&filter, 0x4000_0003, 11, &[]), libc::SECCOMP_RET_KILL_PROCESS, "32 bits");
        if let Some(second) = SECOND_SET {
            let socket = second | u32::try_from(libc::SYS_socket).unwrap();
            assert_eq!(verdict(&filter, MACHINE.unwrap(), socket, &[]), error(libc::ENOSYS));
        }
    }
}
