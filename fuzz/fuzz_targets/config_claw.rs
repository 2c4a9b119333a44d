#![no_main]

use checkrein_dialects::agents::claw;
use checkrein_dialects::testing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testing::exercise_config(&claw::DIALECT, bytes));
