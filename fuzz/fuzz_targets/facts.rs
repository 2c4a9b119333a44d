#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checkrein::facts::exercise_facts(bytes));
