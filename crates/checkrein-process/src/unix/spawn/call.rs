//! System calls of a process that works on the host's memory.
//!
//! The C library keeps the number of what went wrong in a place that belongs to the host's thread, which may be at work
//! meanwhile. So these are made without it, where the host does not stand still.

use libc::c_long;

/// What a system call gives: less than zero is the number of what went wrong.
pub(super) type Answer = isize;

/// One system call. Those that take less than six values don't look at the others.
///
/// # Safety
///
/// As the call wants it: each pointer is valid for what the call does with it.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn call(number: c_long, [a, b, c, d, e, f]: [usize; 6]) -> Answer {
    let answer: Answer;
    // SAFETY: as the caller promises; the registers that every system call may change are named.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => answer,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    answer
}

/// The same by the C library: on these machines the host's thread stands still.
///
/// # Safety
///
/// As the call wants it: each pointer is valid for what the call does with it.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn call(number: c_long, [a, b, c, d, e, f]: [usize; 6]) -> Answer {
    // SAFETY: as the caller promises; and where the number of what went wrong is kept is always valid.
    unsafe {
        match libc::syscall(number, a, b, c, d, e, f) {
            -1 => -(*libc::__errno_location() as Answer),
            answer => answer as Answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_wrong_is_in_the_answer_and_nowhere_else() {
        // SAFETY: these take and give numbers, and the place of the C library's number is always valid.
        unsafe {
            *libc::__errno_location() = 0;
            let me = call(libc::SYS_getpid, [0; 6]);
            assert_eq!(u32::try_from(me).unwrap(), std::process::id());
            assert_eq!(call(libc::SYS_close, [usize::MAX, 0, 0, 0, 0, 0]), -(libc::EBADF as Answer));
            if cfg!(target_arch = "x86_64") {
                assert_eq!(*libc::__errno_location(), 0);
            }
        }
    }
}
