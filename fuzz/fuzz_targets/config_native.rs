#![no_main]

use checkrein_dialects::{native, testing};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testing::exercise_config(&native::DIALECT, bytes));
