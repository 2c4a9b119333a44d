#![no_main]

use checkrein_dialects::agents::docker_agent;
use checkrein_dialects::testing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testing::exercise_config(&docker_agent::DIALECT, bytes));
