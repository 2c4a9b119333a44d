//! Short fuzzing runs from seed files, with cuts, changes and repetitions.
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use std::path::Path;

use checkrein_dialects::ALL;
use checkrein_dialects::testing::{exercise_config, exercise_payload, exercise_reply};

/// Returns the bytes and deterministic variants: cut, changed, repeated.
fn variants(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![bytes.to_vec()];
    // A fixed generator, so that the test is the same on every machine.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ bytes.len() as u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for _ in 0..4 {
        all.push(bytes[..next(bytes.len() + 1)].to_vec());
        let mut changed = bytes.to_vec();
        if let Some(byte) = changed.get_mut(next(bytes.len())) {
            *byte = b"{}[]\",:\\0 \n-#|&*!\xff"[next(18)];
        }
        all.push(changed);
        let (from, to) = (next(bytes.len() + 1), next(bytes.len() + 1));
        all.push([bytes, &bytes[from.min(to)..from.max(to)]].concat());
    }
    all
}

fn files(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().filter(|path| path.is_file()).map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn modified_configs_do_not_panic() {
    for bytes in files("../checkrein/tests/corpus").iter().filter(|bytes| bytes.len() < 10_000) {
        for variant in variants(bytes) {
            ALL.iter().for_each(|dialect| exercise_config(dialect, &variant));
        }
    }
}

#[test]
fn modified_replies_do_not_panic() {
    let seeds: &[&[u8]] = &[
        b"\0",
        b"\0plain text",
        b"\0{}",
        b"\x02{\"decision\":\"block\",\"reason\":\"no\"}\0stderr",
        b"\0{\"continue\":false,\"stopReason\":\"s\",\"systemMessage\":\"m\",\"suppressOutput\":true}",
        b"\x01{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\",\"updatedInput\":{\"a\":1}}}\0err",
        b"\0{\"hook_specific_output\":{\"permission_decision\":\"deny\",\"updated_input\":{},\"additional_context\":\"c\"}}",
        b"\0{\"hookSpecificOutput\":{\"decision\":{\"behavior\":\"deny\",\"message\":\"m\",\"interrupt\":true}}}",
        b"\0noise\n{\"decision\":\"allow\"}",
        b"\x03\0\xff\xfe",
    ];
    for seed in seeds {
        for variant in variants(seed).into_iter().chain((0..8).flat_map(|n| variants(&[&seed[..], &[n]].concat()))) {
            ALL.iter().for_each(|dialect| exercise_reply(dialect, &variant));
        }
    }
}

#[test]
fn modified_payloads_do_not_panic() {
    for agent in ["claude", "codex", "gemini", "copilot", "copilot-pascal", "qwen", "goose", "letta"] {
        for capture in files(&format!("tests/captures/{agent}")) {
            let json = checkrein_core::RawJson::parse_bytes(&capture).unwrap();
            for variant in variants(json.field("stdin").unwrap().as_str().as_bytes()) {
                ALL.iter().for_each(|dialect| exercise_payload(dialect, &variant));
            }
        }
    }
}
