//! Whether there is a processor for everybody.

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
    rustix::system::sysinfo().loads[0] >> FRACTION < libc::c_ulong::from(processors)
}
