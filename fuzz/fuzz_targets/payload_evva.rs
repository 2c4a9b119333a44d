#![no_main]

use checkrein_dialects::agents::evva;
use checkrein_dialects::testing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testing::exercise_payload(&evva::DIALECT, bytes));
