#![no_main]

use checkrein_tools::coverage::{FORMATS, read_bytes};

// The first byte selects the format.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some((first, rest)) = bytes.split_first() {
        read_bytes(&FORMATS[usize::from(*first) % FORMATS.len()], rest);
    }
});
