#![no_main]

use checkrein_dialects::{claw, testing};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testing::exercise_reply(&claw::DIALECT, bytes));
