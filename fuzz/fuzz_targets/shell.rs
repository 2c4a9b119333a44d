#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checkrein::builtins::exercise_shell(bytes));
