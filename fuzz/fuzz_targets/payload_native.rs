#![no_main]

use checkrein_dialects::agents::native;
use checkrein_dialects::testing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testing::exercise_payload(&native::DIALECT, bytes));
