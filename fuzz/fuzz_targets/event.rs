#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checkrein_core::testing::exercise_event(bytes));
