//! Access to mutexes after a panic.
//!
//! All code of this crate that locks a mutex uses these functions. A panic in another thread must not stop later events. The
//! data behind each mutex is valid after every single step, so the poison flag carries no information.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, poisoned or not.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the data of a mutex that no other thread can hold, poisoned or not.
pub(crate) fn get_mut<T: ?Sized>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}
