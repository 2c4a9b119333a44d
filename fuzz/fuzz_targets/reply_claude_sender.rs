#![no_main]

use checkrein_dialects::agents::claude;
use checkrein_dialects::testing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testing::exercise_reply(&claude::SENDER, bytes));
