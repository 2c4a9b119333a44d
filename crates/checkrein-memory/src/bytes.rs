//! Copying and comparing bytes, in place of musl's functions of the same names.
//!
//! Most of what is copied here has a few bytes. musl begins each copy with a string instruction, which takes longer to begin than
//! all the rest, and compares byte by byte.

use std::arch::asm;
use std::arch::x86_64::__m128i;
use std::cmp::Ordering;

/// From here on, the processor does best what it is told to do at once.
const MANY: usize = 128;

/// Copies the first and the last `T`, and what lies between if they meet.
///
/// # Safety
///
/// There are at least as many bytes on both sides as a `T` has.
#[inline(always)]
unsafe fn ends<T>(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: as the caller promises. Both are read before one is written.
    unsafe {
        let last = count - size_of::<T>();
        let (head, tail) = (from.cast::<T>().read_unaligned(), from.add(last).cast::<T>().read_unaligned());
        to.cast::<T>().write_unaligned(head);
        to.add(last).cast::<T>().write_unaligned(tail);
    }
}

/// Copies up to [`MANY`] bytes, also where they overlap: all are read before the first is written.
///
/// # Safety
///
/// `from` is readable and `to` is writable for so many bytes.
#[inline(always)]
unsafe fn few(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: as the caller promises; no branch goes beyond `count`.
    unsafe {
        match count {
            0 => {}
            1 => to.write(from.read()),
            2..4 => ends::<u16>(to, from, count),
            4..8 => ends::<u32>(to, from, count),
            8..16 => ends::<u64>(to, from, count),
            16..=32 => ends::<__m128i>(to, from, count),
            33..=64 => ends::<[__m128i; 2]>(to, from, count),
            _ => ends::<[__m128i; 4]>(to, from, count),
        }
    }
}

/// Copies bytes one after the other, the first one first.
///
/// # Safety
///
/// `from` is readable and `to` is writable for so many bytes.
#[inline(always)]
unsafe fn forwards(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: as the caller promises.
    unsafe {
        asm!(
            "rep movsb",
            inout("rcx") count => _,
            inout("rdi") to => _,
            inout("rsi") from => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Copies bytes, as the C library's function does.
///
/// # Safety
///
/// `from` is readable and `to` is writable for so many bytes, and they do not overlap.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: as the caller promises. There is no loop, of which a compiler would make a call of this very function.
    unsafe {
        if count <= MANY {
            few(to, from, count);
        } else {
            forwards(to, from, count);
        }
    }
    to
}

/// Copies bytes that may overlap, as the C library's function does.
///
/// # Safety
///
/// `from` is readable and `to` is writable for so many bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: as the caller promises. Where `to` lies in what is still to be read, the last byte is copied first; the direction is
    // put back as everybody expects it.
    unsafe {
        if count <= MANY {
            few(to, from, count);
        } else if to.addr().wrapping_sub(from.addr()) >= count {
            forwards(to, from, count);
        } else {
            asm!(
                "std",
                // What is left over of words, then the words, each of which is named by its first byte.
                "rep movsb",
                "sub rdi, 7",
                "sub rsi, 7",
                "mov rcx, {words}",
                "rep movsq",
                "cld",
                words = in(reg) count / 8,
                inout("rcx") count % 8 => _,
                inout("rdi") to.add(count - 1) => _,
                inout("rsi") from.add(count - 1) => _,
                options(nostack),
            );
        }
    }
    to
}

/// Compares bytes, as the C library's function does.
///
/// # Safety
///
/// Both are readable for so many bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    const WORD: usize = size_of::<u64>();
    let mut at = 0;
    // SAFETY: as the caller promises; nothing is read from `count` on.
    unsafe {
        while at + WORD <= count {
            let word = |of: *const u8| u64::from_be_bytes(of.add(at).cast::<[u8; WORD]>().read());
            match word(left).cmp(&word(right)) {
                Ordering::Equal => at += WORD,
                other => return other as i32,
            }
        }
        while at < count {
            match left.add(at).read().cmp(&right.add(at).read()) {
                Ordering::Equal => at += 1,
                other => return other as i32,
            }
        }
    }
    0
}

/// Whether bytes differ: like [`memcmp`], for who does not ask how.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { memcmp(left, right, count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_as_long_as_they_are_told() {
        let from: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for count in (0..300).chain([511, 512, 900]) {
            for (there, here) in [(0, 0), (1, 3), (7, 8)] {
                let mut to = vec![9_u8; 1000];
                // SAFETY: both have a thousand bytes, and are apart.
                let end = unsafe { memcpy(to.as_mut_ptr().add(there), from.as_ptr().add(here), count) };
                assert_eq!(end.addr(), to.as_ptr().addr() + there);
                assert_eq!(to[there..there + count], from[here..here + count], "{count}");
                let rest = to[..there].iter().chain(&to[there + count..]);
                assert!(rest.copied().all(|byte| byte == 9), "{count}");
            }
        }
    }

    #[test]
    fn what_overlaps_is_moved() {
        let before: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for count in (0..300).chain([512]) {
            for (there, here) in [(0, 1), (1, 0), (64, 0), (0, 64), (130, 100), (100, 130), (5, 5), (400, 0)] {
                let mut moved = before.clone();
                // SAFETY: both lie in a thousand bytes.
                unsafe { memmove(moved.as_mut_ptr().add(there), moved.as_ptr().add(here), count) };
                assert_eq!(moved[there..there + count], before[here..here + count], "{there} {here} {count}");
                assert_eq!(moved[..there], before[..there]);
                assert_eq!(moved[there + count..], before[there + count..]);
            }
        }
    }

    #[test]
    fn the_first_difference_counts() {
        for count in 0..40 {
            let left = vec![100_u8; count];
            // SAFETY: both have so many bytes.
            let compare = |right: &[u8]| unsafe { memcmp(left.as_ptr(), right.as_ptr(), count) };
            assert_eq!(compare(&left), 0);
            for at in 0..count {
                for (byte, sign) in [(99, 1), (101, -1), (228, -1), (0, 1)] {
                    let mut right = left.clone();
                    right[at] = byte;
                    // What comes later does not.
                    right[at + 1..].fill(if sign > 0 { 255 } else { 0 });
                    assert_eq!(compare(&right).signum(), sign, "{count} {at} {byte}");
                    // SAFETY: both have so many bytes.
                    assert_ne!(unsafe { bcmp(left.as_ptr(), right.as_ptr(), count) }, 0);
                }
            }
        }
    }
}
