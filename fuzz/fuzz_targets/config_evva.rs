#![no_main]

use checkrein_dialects::{evva, testing};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testing::exercise_config(&evva::DIALECT, bytes));
