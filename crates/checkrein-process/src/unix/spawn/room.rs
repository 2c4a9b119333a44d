//! Whether there is a processor for everybody.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::runs;

/// Whether nobody else had to wait for a processor, as far as the last minute tells.
pub(in super::super) fn is_there_room() -> bool {
    load().is_some_and(|load| is_room(load, runs::count(), processors()))
}

/// Where each run can have a processor, the others are not in its way: they are in the load themselves.
fn is_room(load: u64, runs: usize, processors: u32) -> bool {
    /// How many bits of a load are behind the point.
    const FRACTION: u32 = 16;
    let runs = u32::try_from(runs).unwrap_or(u32::MAX);
    let others = if runs <= processors { runs.saturating_sub(1) } else { 0 };
    load < u64::from(processors + others) << FRACTION
}

/// How many processors this process may use.
fn processors() -> u32 {
    /// Zero: nobody has asked yet.
    static PROCESSORS: AtomicU32 = AtomicU32::new(0);
    match PROCESSORS.load(Ordering::Relaxed) {
        0 => {
            let found = rustix::thread::sched_getaffinity(None).map_or(1, |own| own.count());
            PROCESSORS.store(found, Ordering::Relaxed);
            found
        }
        known => known,
    }
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
    use super::super::tests::answer_call;
    use super::*;

    #[test]
    fn runs_that_have_a_processor_each_are_not_in_each_others_way() {
        let load = |hundredths: u64| (hundredths << 16) / 100;
        let room = [(199, 1, 2), (290, 2, 2), (390, 1, 4), (690, 4, 4)];
        let none = [(200, 1, 2), (300, 2, 2), (290, 3, 2), (210, 64, 2), (100, 1, 1), (110, 2, 1)];
        for (cases, expected) in [(&room[..], true), (&none[..], false)] {
            for (hundredths, runs, processors) in cases {
                assert_eq!(
                    is_room(load(*hundredths), *runs, *processors),
                    expected,
                    "{hundredths} {runs} {processors}"
                );
            }
        }
    }

    #[test]
    fn where_nobody_tells_there_is_no_room() {
        let asked = std::thread::spawn(|| {
            // As some sandboxes do.
            let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
            assert_eq!(answer_call(libc::SYS_sysinfo, refused, 0), 0);
            is_there_room()
        });
        assert!(!asked.join().unwrap());
    }
}
