#![no_main]

use checkrein_dialects::testing::{exercise_config, with_dialect};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| with_dialect(bytes, exercise_config));
