#![no_main]

use checkrein_dialects::{docker_agent, testing};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| testing::exercise_reply(&docker_agent::G2, bytes));
