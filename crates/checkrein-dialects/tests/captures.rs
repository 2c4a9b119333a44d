//! Captured payloads of real agents: each becomes an event, and the event becomes the same payload.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::path::Path;

use checkrein_core::RawJson;
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::{claude, codex, copilot, copilot_pascal, gemini, goose, letta, qwen};

const AGENTS: &[(&str, &Dialect)] = &[
    ("claude", &claude::DIALECT),
    ("codex", &codex::DIALECT),
    ("gemini", &gemini::DIALECT),
    ("copilot", &copilot::DIALECT),
    ("copilot-pascal", &copilot_pascal::DIALECT),
    ("qwen", &qwen::DIALECT),
    ("goose", &goose::DIALECT),
    ("letta", &letta::DIALECT),
];

#[test]
fn every_agent_with_captures_is_checked() {
    let folders = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")).unwrap();
    for folder in folders {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(AGENTS.iter().any(|(agent, _)| *agent == name), "{name}");
    }
}

#[test]
fn captured_payloads_round_trip() {
    for (folder, dialect) in AGENTS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(folder);
        let mut count = 0;
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            let capture = RawJson::parse(std::fs::read_to_string(&path).unwrap()).unwrap();
            let (sent, name) = (capture.field("stdin").unwrap(), capture.field("event").unwrap());
            let name = name.as_text().unwrap().into_owned();
            let event = dialect.event(&sent, Some(&name)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(dialect.name_of(&event.kind()), Some(name.as_str()));
            let said = dialect.event_name(&sent);
            assert_eq!(said.is_some(), dialect.names_event(&event.kind()), "{}", path.display());
            assert!(said.is_none_or(|said| said == name), "{}", path.display());
            let bytes: Vec<u8> =
                dialect.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
            let again = RawJson::parse_bytes(&bytes).unwrap();
            assert!(again.semantically_eq(&sent), "{}:\n{again}\n{sent}", path.display());
            count += 1;
        }
        assert!(count > 0, "{}", folder.display());
    }
}
