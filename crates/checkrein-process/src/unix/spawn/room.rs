//! Whether there is a processor for everybody.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether nobody had to wait for a processor, as far as the last minute tells.
pub(super) fn is_there_room() -> bool {
    /// How many processors this process may use. Zero: nobody has asked yet.
    static PROCESSORS: AtomicU32 = AtomicU32::new(0);
    /// How many bits of a load are behind the point.
    const FRACTION: u32 = 16;
    let processors = match PROCESSORS.load(Ordering::Relaxed) {
        0 => {
            let found = rustix::thread::sched_getaffinity(None).map_or(1, |own| own.count());
            PROCESSORS.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    };
    load().is_some_and(|load| load < u64::from(processors) << FRACTION)
}

/// How many wanted a processor, by the last minute. `None`: the system does not tell, as in some sandboxes.
fn load() -> Option<u64> {
    let mut found = MaybeUninit::<libc::sysinfo>::uninit();
    // SAFETY: there is room for what the call writes, and it is read only if the call has written it.
    let found = unsafe { (libc::sysinfo(found.as_mut_ptr()) == 0).then(|| found.assume_init()) };
    #[allow(clippy::useless_conversion, reason = "it is as long as a pointer")]
    found.map(|found| found.loads[0].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Refuses this thread, from now on, to ask how busy the system is. Some sandboxes do.
    fn refuse_to_tell() {
        const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        const IS: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
        let step = |code: u16, jf: u8, k: u32| libc::sock_filter { code, jt: 0, jf, k };
        let call = u32::try_from(libc::SYS_sysinfo).unwrap();
        let mut steps = [
            step(LOAD, 0, 0),
            step(IS, 1, call),
            step(RETURN, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs()),
            step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let filter = libc::sock_fprog { len: 4, filter: steps.as_mut_ptr() };
        // SAFETY: the filter lives until the calls have returned, and holds for this thread alone.
        unsafe {
            assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
            assert_eq!(libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const filter), 0);
        }
    }

    #[test]
    fn where_nobody_tells_there_is_no_room() {
        let asked = std::thread::spawn(|| {
            refuse_to_tell();
            is_there_room()
        });
        assert!(!asked.join().unwrap());
    }
}
