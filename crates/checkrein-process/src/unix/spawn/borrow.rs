//! A new process in the memory of the one that starts it.

use std::io;
use std::os::fd::OwnedFd;
#[cfg(target_arch = "x86_64")]
use std::os::fd::{FromRawFd as _, RawFd};
use std::ptr;
#[cfg(target_arch = "x86_64")]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use libc::{c_int, c_void};
use rustix::process::Pid;

use super::call::call;
use super::frame::Lent;

/// What has become of the host's signal handlers in a new process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Signals {
    /// They are still there.
    Handled,
    /// The system has taken them away.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "the call for it is written for one machine"))]
    Usual,
}

pub(super) type Child = extern "C" fn(*const c_void, Signals) -> c_int;

/// The process that was started.
pub(super) struct Borrowed {
    pub(super) pid: Pid,
    pub(super) descriptor: Option<OwnedFd>,
}

/// Runs a function in a new process, on the frame's stack. The frame is held until that has become a program or is gone. There is a
/// descriptor for the process if somebody is to be told by it, and the system gives one at once.
///
/// # Safety
///
/// The function works on the host's memory while the host does, and must change nothing there that others look at; it must
/// not return. The argument must be what it expects, and last as long as the frame is held.
pub(super) unsafe fn start(frame: &Lent, child: Child, argument: *const c_void, is_told: bool) -> io::Result<Borrowed> {
    // No signal may run one of the host's handlers in the new process, which would do its work on the host's memory.
    let before = set_mask(u64::MAX);
    frame.held().store(1, Ordering::Release);
    // SAFETY: as the caller promises.
    let started = unsafe { start_held(frame, child, argument, is_told) };
    if started.is_err() {
        frame.held().store(0, Ordering::Release);
    }
    set_mask(before);
    started
}

/// Whether the system has the newer call, as far as is known. Some sandboxes refuse it.
#[cfg(target_arch = "x86_64")]
static HAS_CLONE3: AtomicBool = AtomicBool::new(true);

#[cfg(target_arch = "x86_64")]
unsafe fn start_held(frame: &Lent, child: Child, argument: *const c_void, is_told: bool) -> io::Result<Borrowed> {
    if HAS_CLONE3.load(Ordering::Relaxed) {
        // SAFETY: as the caller promises.
        match unsafe { clone3(frame, child, argument, is_told) } {
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM | libc::EINVAL)) => {
                HAS_CLONE3.store(false, Ordering::Relaxed);
            }
            started => return started,
        }
    }
    // SAFETY: as the caller promises.
    unsafe { clone(frame, child, argument) }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn start_held(frame: &Lent, child: Child, argument: *const c_void, _: bool) -> io::Result<Borrowed> {
    // SAFETY: as the caller promises.
    unsafe { clone(frame, child, argument) }
}

/// The newer call, which takes the host's handlers away at no cost, and gives a descriptor for the process. The host
/// goes on at once; the system tells by the frame when the process has let go of it. The C library has no function for it
/// that could run on a stack of its own.
#[cfg(target_arch = "x86_64")]
unsafe fn clone3(frame: &Lent, child: Child, argument: *const c_void, is_told: bool) -> io::Result<Borrowed> {
    const CLEAR_SIGHAND: u64 = 1 << 32;
    let mut descriptor: RawFd = -1;
    let told = if is_told { libc::CLONE_PIDFD } else { 0 };
    let wanted = CLEAR_SIGHAND as i64 | i64::from(libc::CLONE_VM | libc::CLONE_CHILD_CLEARTID | told);
    let (stack, len) = frame.stack();
    // SAFETY: all zero means nothing for each of its fields.
    let mut request: libc::clone_args = unsafe { std::mem::zeroed() };
    request.flags = wanted.cast_unsigned();
    if is_told {
        request.pidfd = (&raw mut descriptor) as u64;
    }
    request.child_tid = frame.held().as_ptr() as u64;
    request.exit_signal = libc::SIGCHLD as u64;
    request.stack = stack as u64;
    request.stack_size = len as u64;
    let result: i64;
    // SAFETY: the kernel gives the new process all registers of this one but two: a result of zero, and the other stack,
    // whose end is aligned as a call wants it. There the function is called, which never comes back. In this process only
    // the registers that every system call may change are changed.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r12",
            "mov esi, r14d",
            "call r13",
            "ud2",
            "2:",
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") &raw const request,
            in("rsi") size_of::<libc::clone_args>(),
            in("r12") argument,
            in("r13") child,
            in("r14") Signals::Usual as u32,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    let failed = |result: i64| io::Error::from_raw_os_error(i32::try_from(-result).unwrap_or(libc::EINVAL));
    let pid = i32::try_from(result).ok().filter(|pid| *pid > 0).and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| failed(result))?;
    // SAFETY: the system has just made it, and nobody else knows it.
    let descriptor = (descriptor >= 0).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) });
    Ok(Borrowed { pid, descriptor })
}

/// The call that every system has. The host stands still until the process has let go of the frame.
unsafe fn clone(frame: &Lent, child: Child, argument: *const c_void) -> io::Result<Borrowed> {
    /// What is to be called, for a function that gets one argument only.
    struct Call(Child, *const c_void);
    extern "C" fn run(call: *mut c_void) -> c_int {
        // SAFETY: it is the one below, and whoever made it waits.
        let Call(child, argument) = unsafe { &*call.cast::<Call>() };
        child(*argument, Signals::Handled)
    }
    let mut both = Call(child, argument);
    let (stack, len) = frame.stack();
    // SAFETY: as the caller promises; the stack grows downwards.
    let pid = unsafe {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(run, stack.add(len).cast::<c_void>(), flags, (&raw mut both).cast::<c_void>())
    };
    let refused = io::Error::last_os_error();
    let pid = Pid::from_raw(pid).filter(|_| pid > 0).ok_or(refused)?;
    frame.held().store(0, Ordering::Release);
    Ok(Borrowed { pid, descriptor: None })
}

/// Whether the host goes on while a new process prepares itself, as far as is known.
#[cfg(test)]
pub(super) fn goes_on() -> bool {
    #[cfg(target_arch = "x86_64")]
    return HAS_CLONE3.load(Ordering::Relaxed);
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Sets which signals wait, for this thread; says which did.
fn set_mask(mask: u64) -> u64 {
    let mut before = 0_u64;
    let (new, old) = ((&raw const mask).expose_provenance(), (&raw mut before).expose_provenance());
    let how = libc::SIG_SETMASK as usize;
    // SAFETY: both masks are as long as the kernel's, and live on this stack.
    unsafe { call(libc::SYS_rt_sigprocmask, [how, new, old, size_of::<u64>(), 0, 0]) };
    before
}

/// Lets all signals through, as a program expects when it starts.
pub(super) fn let_signals_through() {
    set_mask(0);
}

/// Takes the host's handlers away, which would run in this process as soon as signals come through. And a broken pipe ends
/// a program, as everywhere, though hosts written in Rust ignore it.
///
/// # Safety
///
/// Only in a new process, whose handlers are a copy.
pub(super) unsafe fn reset_signals(now: Signals) {
    /// As the kernel has it, which is smaller than this: the handler comes first, and all zero is the default.
    type Action = [usize; 8];
    const SIGNALS: usize = 64;
    let action = |signal: usize, new: *const Action, old: *mut Action| {
        let (new, old) = (new.expose_provenance(), old.expose_provenance());
        // SAFETY: each is null, or at least as large as the kernel's structure.
        unsafe { call(libc::SYS_rt_sigaction, [signal, new, old, size_of::<u64>(), 0, 0]) }
    };
    let usual: Action = [0; 8];
    action(libc::SIGPIPE as usize, &raw const usual, ptr::null_mut());
    if now == Signals::Usual {
        return;
    }
    for signal in 1..=SIGNALS {
        let mut now: Action = [0; 8];
        let known = action(signal, ptr::null(), &raw mut now) == 0;
        if known && now[0] != libc::SIG_DFL && now[0] != libc::SIG_IGN {
            action(signal, &raw const usual, ptr::null_mut());
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::atomic::AtomicU32;

    use rustix::process::{WaitOptions, waitpid};

    use super::super::frame;
    use super::*;

    extern "C" fn handler(_: c_int) {}

    /// Ends with 0 if nothing of the host's handlers is left.
    extern "C" fn looks(out: *const c_void, signals: Signals) -> c_int {
        // SAFETY: this is a new process, and the test that started it waits; `_exit` ends this process alone.
        unsafe {
            reset_signals(signals);
            let is_usual = |signal: c_int| {
                let mut now: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, ptr::null(), &raw mut now) == 0 && now.sa_sigaction == libc::SIG_DFL
            };
            let all_usual = is_usual(libc::SIGUSR2) && is_usual(libc::SIGPIPE);
            (*out.cast::<AtomicU32>()).store(1 + signals as u32, Ordering::Release);
            libc::_exit(if all_usual { 0 } else { 1 })
        }
    }

    #[test]
    fn each_call_starts_a_process_without_the_hosts_handlers() {
        type Way = unsafe fn(&Lent, Child, *const c_void) -> io::Result<Borrowed>;
        // SAFETY: a handler that does nothing.
        unsafe { libc::signal(libc::SIGUSR2, handler as *const () as usize) };
        // Each with what becomes of handlers, and whether there is a descriptor.
        // SAFETY: whoever calls them sees to it.
        let ways: &[(Way, Signals, bool)] = &[
            (clone, Signals::Handled, false),
            #[cfg(target_arch = "x86_64")]
            (|frame, child, argument| unsafe { clone3(frame, child, argument, true) }, Signals::Usual, true),
            #[cfg(target_arch = "x86_64")]
            (|frame, child, argument| unsafe { clone3(frame, child, argument, false) }, Signals::Usual, false),
        ];
        for (way, signals, has_descriptor) in ways {
            let said = AtomicU32::new(0);
            let frame = frame::tests::lent();
            frame.held().store(1, Ordering::Release);
            let before = set_mask(u64::MAX);
            // SAFETY: `looks` writes one number, which is expected, and does not return.
            let started = unsafe { way(&frame, looks, (&raw const said).cast()) };
            set_mask(before);
            let started = match started {
                // Some sandboxes refuse the newer call.
                Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM | libc::EINVAL)) => {
                    frame.take_back();
                    continue;
                }
                started => started.unwrap(),
            };
            let (_, status) = waitpid(Some(started.pid), WaitOptions::empty()).unwrap().unwrap();
            assert_eq!((status.exit_status(), said.into_inner()), (Some(0), 1 + *signals as u32));
            assert!(frame.is_let_go());
            assert_eq!(started.descriptor.is_some(), *has_descriptor);
        }
    }
}
