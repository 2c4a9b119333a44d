//! Memory for a program that lives for a millisecond.
//!
//! `checkrein hook` starts before every tool call. What it takes is little, and it is gone before anything could be used a
//! second time; but asking the system for it bit by bit, and giving it back, was a large part of its life. [`Arena`] has one
//! piece of memory that is there from the start and gives it away from one end to the other. When that is used up, and for
//! whatever is large, it leaves the work to the system's own allocator.
//!
//! ```
//! use checkrein_memory::Arena;
//!
//! #[global_allocator]
//! static MEMORY: Arena = Arena::new();
//!
//! let text = "most of what is needed, ".repeat(3);
//! assert!(MEMORY.holds(text.as_ptr()));
//! assert!(!MEMORY.holds(vec![0_u8; 1 << 20].as_ptr()));
//! ```
//!
//! A program that runs for long loses no more than that one piece.

#![expect(unsafe_code, reason = "whoever gives memory away has nobody to vouch for it")]

#[cfg(all(target_arch = "x86_64", target_env = "musl"))]
mod bytes;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much there is.
const SIZE: usize = (1 << 20) - HEAD;

/// What comes before it, on the first of its pages: each page costs time.
const HEAD: usize = 64;

/// From here on, something is large.
const LARGE: usize = 64 << 10;

/// How much is made ready at once: one call for all of it costs less than a fault for each page, but pages that nobody needs
/// cost as much as others.
#[cfg(target_os = "linux")]
const STEP: usize = 32 << 10;

/// How much is made ready at first: as much as is needed where no hook is to be run.
#[cfg(target_os = "linux")]
const FIRST: usize = 40 << 10;

/// One piece of memory, then the system's. See the [crate](self).
#[repr(C, align(4096))]
pub struct Arena {
    /// Everything below is given away.
    used: AtomicUsize,
    /// Everything below, with the head, is ready to be written.
    #[cfg(target_os = "linux")]
    ready: AtomicUsize,
    memory: Memory,
}

const _: () = assert!(std::mem::offset_of!(Arena, memory) == HEAD && size_of::<Arena>() == HEAD + SIZE);

#[repr(align(64))]
struct Memory(UnsafeCell<[MaybeUninit<u8>; SIZE]>);

// SAFETY: each part of it belongs to whoever it was given to, and `used` is moved in one step.
unsafe impl Sync for Memory {}

impl Arena {
    /// All of it is there to be given away.
    pub const fn new() -> Self {
        Self {
            used: AtomicUsize::new(0),
            #[cfg(target_os = "linux")]
            ready: AtomicUsize::new(0),
            memory: Memory(UnsafeCell::new([MaybeUninit::uninit(); SIZE])),
        }
    }

    /// Whether this is memory of its one piece.
    pub fn holds<T>(&self, pointer: *const T) -> bool {
        (self.start()..self.start() + SIZE).contains(&pointer.addr())
    }

    fn start(&self) -> usize {
        self.memory.0.get().addr()
    }

    /// A part of the one piece, if there is enough left.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        if layout.size() >= LARGE {
            return None;
        }
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let from = (self.start() + used).checked_next_multiple_of(layout.align())? - self.start();
            let to = from.checked_add(layout.size()).filter(|to| *to <= SIZE)?;
            match self.used.compare_exchange_weak(used, to, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.make_ready(to);
                    // SAFETY: `from` is within the piece.
                    return Some(unsafe { self.memory.0.get().cast::<u8>().add(from) });
                }
                Err(now) => used = now,
            }
        }
    }

    /// Moves the end of the last part that was given away, if it is this one.
    fn resize(&self, pointer: *mut u8, size: usize, new_size: usize) -> bool {
        let from = pointer.addr() - self.start();
        let Some(to) = from.checked_add(new_size).filter(|to| *to <= SIZE) else { return false };
        let moved = self.used.compare_exchange(from + size, to, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if moved && to > from + size {
            self.make_ready(to);
        }
        moved
    }

    #[cfg(target_os = "linux")]
    fn make_ready(&self, to: usize) {
        let (to, ready) = (HEAD + to, self.ready.load(Ordering::Relaxed));
        if to <= ready {
            return;
        }
        let next = (FIRST + to.saturating_sub(FIRST).next_multiple_of(STEP)).min(HEAD + SIZE);
        // Whoever comes second has nothing to do; at worst a page is made ready by a fault.
        if self.ready.compare_exchange(ready, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            // SAFETY: within the head and the piece. The call changes nothing of what is in them. Where the system does not
            // know it, pages come one by one.
            unsafe {
                let from = ptr::from_ref(self).cast::<u8>().cast_mut().add(ready);
                let _ = rustix::mm::madvise(from.cast(), next - ready, rustix::mm::Advice::LinuxPopulateWrite);
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn make_ready(&self, _: usize) {}
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arena").field("used", &self.used).finish_non_exhaustive()
    }
}

// SAFETY: a part is given to one only, since `used` moves past it in one step and comes back over it only when it is given
// back or shrunk by its owner. What is not of the piece is the system's, in every call.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        self.take(layout).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            // It may have been given away before.
            // SAFETY: it is as large as that, and nobody else's.
            Some(part) => unsafe {
                part.write_bytes(0, layout.size());
                part
            },
            // SAFETY: as the caller promises.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if self.holds(pointer) {
            self.resize(pointer, layout.size(), 0);
        } else {
            // SAFETY: it came from there.
            unsafe { System.dealloc(pointer, layout) }
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !self.holds(pointer) {
            // SAFETY: it came from there.
            return unsafe { System.realloc(pointer, layout, new_size) };
        }
        if self.resize(pointer, layout.size(), new_size) || new_size <= layout.size() {
            return pointer;
        }
        // SAFETY: the caller promises that the size fits the alignment; both parts are as large as what is copied, and the new
        // one is nobody else's.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(pointer, new, layout.size());
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn parts_are_aligned_and_apart() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        let mut last = 0;
        for (size, align) in [(1, 1), (3, 1), (8, 8), (1, 64), (100, 16), (4096, 4096), (7, 2)] {
            // SAFETY: the size is not zero.
            let part = unsafe { arena.alloc(layout(size, align)) };
            assert!(arena.holds(part));
            assert_eq!(part.addr() % align, 0);
            assert!(part.addr() >= last, "{size} {align}");
            last = part.addr() + size;
        }
    }

    #[test]
    fn what_is_given_back_last_is_given_away_again_and_zeroed_if_asked() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        let of = layout(64, 8);
        // SAFETY: each part is used within its size, by its owner.
        unsafe {
            let first = arena.alloc(of);
            first.write_bytes(7, 64);
            arena.dealloc(first, of);
            let second = arena.alloc_zeroed(of);
            assert_eq!(first, second);
            assert_eq!(std::slice::from_raw_parts(second, 64), [0; 64]);
            // It grows where it is while it is the last.
            assert_eq!(arena.realloc(second, of, 1000), second);
            second.write_bytes(1, 1000);
            let behind = arena.alloc(of);
            behind.write_bytes(2, 64);
            let moved = arena.realloc(second, layout(1000, 8), 2000);
            assert_ne!(moved, second);
            assert_eq!(std::slice::from_raw_parts(moved, 1000), [1; 1000]);
            assert_eq!(std::slice::from_raw_parts(behind, 64), [2; 64]);
            assert_eq!(arena.realloc(behind, of, 8), behind, "it shrinks where it is");
        }
    }

    #[test]
    fn when_it_is_used_up_the_system_goes_on() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        let of = layout(LARGE - 1, 1);
        let mut parts = Vec::new();
        for _ in 0..40 {
            // SAFETY: the size is not zero.
            parts.push(unsafe { arena.alloc(of) });
        }
        assert!(arena.holds(parts[0]) && !arena.holds(parts[39]));
        // SAFETY: each is given back once, as it was asked for; in between it is used within its size.
        unsafe {
            for part in &parts {
                part.write_bytes(3, LARGE - 1);
            }
            // From the piece to the system's, with what was in it.
            let moved = arena.realloc(parts[1], of, LARGE * 2);
            assert!(!arena.holds(moved));
            assert_eq!(std::slice::from_raw_parts(moved, LARGE - 1), [3; LARGE - 1]);
            arena.dealloc(moved, layout(LARGE * 2, 1));
            for part in [parts[0]].into_iter().chain(parts[2..].iter().copied()) {
                arena.dealloc(part, of);
            }
        }
    }

    #[test]
    fn many_threads_get_parts_of_their_own() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        let threads: Vec<u8> = (1..9).collect();
        std::thread::scope(|scope| {
            for mark in &threads {
                scope.spawn(move || {
                    let mut kept: Vec<(*mut u8, usize)> = Vec::new();
                    for round in 1..2000_usize {
                        let size = 1 + round * usize::from(*mark) % 200;
                        // SAFETY: each part is used within its size by the thread that it was given to, until it gives it back.
                        unsafe {
                            let part = arena.alloc(layout(size, 1));
                            part.write_bytes(*mark, size);
                            if round % 3 == 0 {
                                arena.dealloc(part, layout(size, 1));
                            } else {
                                kept.push((part, size));
                            }
                        }
                    }
                    for (part, size) in kept {
                        // SAFETY: as above.
                        let bytes = unsafe { std::slice::from_raw_parts(part, size) };
                        assert!(bytes.iter().all(|byte| byte == mark));
                        // SAFETY: as above.
                        unsafe { arena.dealloc(part, layout(size, 1)) };
                    }
                });
            }
        });
    }
}
