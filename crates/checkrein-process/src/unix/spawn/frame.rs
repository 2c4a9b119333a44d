//! The memory that a new process works on until it has become its program.
//!
//! The host goes on meanwhile, and may lose interest: the run is dropped, say. The memory outlives that, until the system
//! says that the process has let go of it.

use std::io;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::sandbox::Cage;
use super::plan::Plan;
use super::texts::Texts;
use crate::launch::{Launch, StartError};

/// How large the stack is on which a new process makes its calls.
const STACK: usize = 4 * 1024;
/// What the end of a stack is a multiple of.
const ALIGNMENT: usize = 16;

/// All that a new process works on.
struct Frame {
    plan: Plan,
    /// Not zero as long as it does.
    held: AtomicU32,
    stack: Box<[MaybeUninit<u8>]>,
    texts: Texts,
    cage: Option<Cage>,
}

/// What a new process works on. It is freed when nobody needs it any more.
pub(in super::super) struct Lent(NonNull<Frame>);

// SAFETY: what changes while the process and the host both look at it is atomic. The stack is the process's alone.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

/// Those that the host needs no longer, and the processes may.
static FORSAKEN: Mutex<Vec<Lent>> = Mutex::new(Vec::new());

impl Lent {
    pub(super) fn new(launch: &Launch<'_>, cage: Option<Cage>) -> io::Result<Self> {
        let texts = Texts::of(launch)?;
        let mut frame = Box::new(Frame {
            plan: Plan::new(&texts),
            held: AtomicU32::new(0),
            stack: Box::new_uninit_slice(STACK),
            texts,
            cage,
        });
        // It is where it stays only now.
        if let Some(cage) = &frame.cage {
            frame.plan.confine(cage)?;
        }
        Ok(Self(NonNull::from(Box::leak(frame))))
    }

    fn frame(&self) -> &Frame {
        // SAFETY: it is freed when this is dropped, and nobody has it for writing.
        unsafe { self.0.as_ref() }
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.frame().plan
    }

    /// Where the stack begins and how large it is. Its end is aligned as a call wants it.
    pub(super) fn stack(&self) -> (*mut u8, usize) {
        let start = self.frame().stack.as_ptr().cast_mut().cast::<u8>();
        (start, STACK - (start.addr() + STACK) % ALIGNMENT)
    }

    /// What is not zero as long as a process works on it.
    pub(super) fn held(&self) -> &AtomicU32 {
        &self.frame().held
    }

    /// Whether the process is its program by now, or gone.
    pub(in super::super) fn is_let_go(&self) -> bool {
        self.held().load(Ordering::Acquire) == 0
    }

    /// Why a process that is gone was never its program, if it was not.
    pub(in super::super) fn failed(&self) -> Option<StartError> {
        let Frame { plan, texts, cage, .. } = self.frame();
        let (step, error) = plan.failed()?;
        Some(match cage {
            Some(_) => step.failed_in_a_sandbox(error, || texts.program_in_cwd()),
            None => StartError::before(error),
        })
    }

    /// Frees it: the process is gone.
    pub(in super::super) fn take_back(self) {
        self.held().store(0, Ordering::Release);
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.is_let_go() {
            let mut forsaken = lock_forsaken();
            // Once more: who frees what is forsaken when the process is gone may have been here meanwhile.
            if !self.is_let_go() {
                forsaken.push(Self(self.0));
                return;
            }
        }
        // SAFETY: nobody works on it, and this is the only one that knows it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// Frees what the host needs no longer, and the processes neither by now.
pub(in super::super) fn free_forsaken() {
    // They are dropped when the lock is free again.
    let free: Vec<Lent> = lock_forsaken().extract_if(.., |other| other.is_let_go()).collect();
    drop(free);
}

fn lock_forsaken() -> MutexGuard<'static, Vec<Lent>> {
    FORSAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::marker::Marker;
    use crate::place::Place;

    pub(in super::super) fn lent() -> Lent {
        let (place, marker) = (Place::new("/"), Marker::new());
        let launch = Launch::of_nothing(&place, &marker);
        Lent::new(&launch, None).unwrap()
    }

    fn is_forsaken(frame: NonNull<Frame>) -> bool {
        FORSAKEN.lock().unwrap().iter().any(|other| other.0 == frame)
    }

    #[test]
    fn what_a_process_works_on_outlives_the_hosts_interest() {
        let first = lent();
        let at = first.0;
        first.held().store(1, Ordering::Release);
        drop(first);
        assert!(is_forsaken(at));
        free_forsaken();
        assert!(is_forsaken(at));
        // SAFETY: it was not freed.
        unsafe { at.as_ref() }.held.store(0, Ordering::Release);
        free_forsaken();
        assert!(!is_forsaken(at));
    }

    /// One that nobody needs any more, and whether it is still there.
    pub(in super::super) fn forsaken_and_let_go() -> impl Fn() -> bool {
        let frame = lent();
        let at = frame.0.addr();
        lock_forsaken().push(frame);
        move || lock_forsaken().iter().any(|other| other.0.addr() == at)
    }

    #[test]
    fn a_stack_ends_where_a_call_wants_it() {
        let (start, len) = lent().stack();
        assert_eq!((start.addr() + len) % ALIGNMENT, 0);
        assert!(len > STACK - ALIGNMENT);
    }
}
