//! Being told to end.

#![expect(unsafe_code, reason = "system calls that nobody wraps")]

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use tokio::io::{Interest, unix::AsyncFd};

/// The signals that ask a program to end.
const ENDING: [libc::c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

/// Hears of HUP, INT and TERM instead of being ended by them, as long as it lives.
///
/// No handler is installed: the signals wait, and are read from a descriptor. They wait for the thread that makes this and for
/// those that are started afterwards, so it is made before any others. Processes that this crate starts get them as usual.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use checkrein_process::EndSignals;
///
/// let signals = EndSignals::new()?;
/// # rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM)?;
/// assert_eq!(signals.next().await?, 15);
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct EndSignals {
    descriptor: OwnedFd,
    /// Which signals waited before.
    before: u64,
    /// They wait for this thread.
    here: PhantomData<*const ()>,
}

impl EndSignals {
    /// Lets the signals wait from now on.
    ///
    /// # Errors
    ///
    /// If the system gives no descriptor.
    pub fn new() -> io::Result<Self> {
        let mask = ENDING.iter().fold(0_u64, |mask, signal| mask | 1 << (signal - 1));
        let mut before = 0_u64;
        // SAFETY: the masks are as long as the kernel's, and live on this stack.
        let descriptor = unsafe {
            let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
            let made = libc::syscall(libc::SYS_signalfd4, -1, &raw const mask, size_of::<u64>(), flags);
            let made = i32::try_from(made).ok().filter(|made| *made >= 0).ok_or_else(io::Error::last_os_error)?;
            let descriptor = OwnedFd::from_raw_fd(made);
            let how = libc::SIG_BLOCK;
            libc::syscall(libc::SYS_rt_sigprocmask, how, &raw const mask, &raw mut before, size_of::<u64>());
            descriptor
        };
        Ok(Self { descriptor, before, here: PhantomData })
    }

    /// Waits for the next one, and says its number.
    ///
    /// # Errors
    ///
    /// If the descriptor cannot be watched or read.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O switched on.
    pub async fn next(&self) -> io::Result<i32> {
        // SAFETY: the descriptor lives longer than this future, which borrows it.
        let watched = unsafe { AsyncFd::register_with_interest(self.descriptor.as_raw_fd(), Interest::READABLE) }?;
        loop {
            let mut ready = watched.readable().await?;
            if let Ok(number) = ready.try_io(|_| self.read()) {
                return number;
            }
        }
    }

    fn read(&self) -> io::Result<i32> {
        // Much is told of each; the number comes first.
        let mut told = [0_u8; size_of::<libc::signalfd_siginfo>()];
        rustix::io::read(&self.descriptor, &mut told)?;
        let [one, two, three, four, ..] = told;
        Ok(i32::from_ne_bytes([one, two, three, four]))
    }
}

impl Drop for EndSignals {
    fn drop(&mut self) {
        let none = std::ptr::null_mut::<u64>();
        // SAFETY: as above.
        unsafe {
            let how = libc::SIG_SETMASK;
            libc::syscall(libc::SYS_rt_sigprocmask, how, &raw const self.before, none, size_of::<u64>());
        }
    }
}
