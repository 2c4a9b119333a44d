#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checkrein::policy::exercise_rule(bytes));
