//! Entry points for fuzzing: each takes any bytes, and checks invariants of a dialect. No input may panic.

use std::sync::Arc;

use checkrein_core::payload::{Prompt, SessionStart, Stop, ToolCall, ToolOutcome};
use checkrein_core::{
    Decision, Event, EventFilter, EventKind, HookInfo, HttpReply, ProcessExit, ProcessReply, RawJson, Reply, Scope,
    Settlement, Source,
};

use crate::ALL;
use crate::config::{DecodeOptions, Decoded, Settings};
use crate::spec::HookSpec;
use crate::table::{Dialect, PlainTextUse};
use checkrein_document::Format;

/// Exercises the dialect that the first byte selects with the other bytes.
pub fn with_dialect(bytes: &[u8], exercise: fn(&'static Dialect, &[u8])) {
    if let Some((first, rest)) = bytes.split_first() {
        exercise(ALL[usize::from(*first) % ALL.len()], rest);
    }
}

/// Decodes bytes as a hook file in every format. Encoding without loss and decoding again yields the same hooks.
pub fn exercise_config(dialect: &'static Dialect, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for format in [Format::Json, Format::Yaml, Format::Toml] {
        let decoded = dialect.decode("file", Scope::User, &text, format);
        for diagnostic in &decoded.diagnostics {
            assert!(!diagnostic.to_string().is_empty(), "an empty diagnostic");
        }
        check_filtered_decoding(dialect, &text, format, &decoded);
        let hooks: Vec<_> = decoded.hooks.iter().collect();
        let Some(encoded) = dialect.encode(&hooks) else { continue };
        if encoded.lost.is_empty() {
            // Each dialect writes JSON or YAML.
            let written = if encoded.text.trim_start().starts_with('{') { Format::Json } else { Format::Yaml };
            let again = dialect.decode("file", Scope::User, &encoded.text, written);
            let definitions = |hooks: &[HookSpec]| {
                let mut all: Vec<_> = hooks.iter().map(HookSpec::definition).collect();
                all.sort_unstable();
                all
            };
            // A hook for several events may become several hooks.
            if decoded.hooks.iter().all(|hook| hook.kinds.len() == 1) {
                assert_eq!(definitions(&again.hooks), definitions(&decoded.hooks), "changed:\n{}", encoded.text);
            }
        }
    }
}

/// Decoding with a filter must drop only hooks that cannot match.
fn check_filtered_decoding(dialect: &'static Dialect, text: &str, format: Format, all: &Decoded) {
    let tool = EventFilter::new(EventKind::PreToolUse, vec!["Edit".to_owned()]);
    for filter in [tool, EventFilter::new(EventKind::Stop, Vec::new())] {
        let options = DecodeOptions::default().only(filter.clone());
        let some = dialect.decode_with("file", Scope::User, text, format, &options);
        let may_run = |spec: &&HookSpec| spec.can_match(&spec.dialect.adapt_filter(&filter));
        let expected: Vec<_> = all.hooks.iter().filter(may_run).map(HookSpec::definition).collect();
        let found: Vec<_> = some.hooks.iter().map(HookSpec::definition).collect();
        assert_eq!(found, expected, "at {filter:?} of {}:\n{text}", dialect.name);
        assert_eq!(some.unreadable, all.unreadable, "{}:\n{text}", dialect.name);
        // Trust settings are read only without a filter.
        let settings = |decoded: &Decoded| {
            let settings = decoded.settings.clone();
            Settings { lines: Vec::new(), trusted_paths: None, trusted_keys: None, ..settings }
        };
        assert_eq!(settings(&some), settings(all), "{}:\n{text}", dialect.name);
    }
}

/// Reads bytes as replies of hooks at several events, and renders the verdicts.
pub fn exercise_reply(dialect: &'static Dialect, bytes: &[u8]) {
    let (code, rest) = bytes.split_first().map_or((0, bytes), |(first, rest)| (i32::from(*first) % 4, rest));
    let at = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    let (stdout, stderr) = (rest[..at].to_vec(), rest.get(at + 1..).unwrap_or_default().to_vec());
    let json = || RawJson::parse(r#"{"command":"ls"}"#).unwrap_or_default();
    let hook = Arc::new(HookInfo::new("h", Source::for_scope(Scope::User)).rewrites());
    for event in [
        Event::pre_tool_use(ToolCall::new("Bash", json())),
        Event::permission_request(ToolCall::new("Bash", json())),
        Event::post_tool_use(ToolOutcome::new("Bash", json())),
        Event::prompt_submit(Prompt::new("hi")),
        Event::session_start(SessionStart::new()),
        Event::stop(Stop::new()),
    ] {
        check_damaged_reply(dialect, &event, code, &stdout, &stderr);
        let process = ProcessReply::new(ProcessExit::Code(code)).stdout(stdout.clone()).stderr(stderr.clone());
        let http = HttpReply::new(200, stdout.clone());
        for reply in [Reply::Process(process), Reply::Http(http)] {
            for strict in [false, true] {
                let mut settlement = Settlement::new(&dialect.rules_at(&event.kind()), &event);
                let _ = match dialect.read(&event, reply.clone(), strict) {
                    Ok(opinion) => settlement.push(0, &hook, &opinion),
                    Err(failure) => settlement.push_failure(0, &hook, &failure),
                };
                let answer = dialect.render_verdict(&event, &settlement.finish());
                // Context may be plain text.
                let may_be_text = answer.stdout.is_empty() || dialect.plain(&event.kind()) == PlainTextUse::Context;
                assert!(may_be_text || RawJson::parse(answer.stdout.as_str()).is_ok(), "{answer:?}");
            }
        }
    }
}

/// Checks that damage around an answer does not lose its restriction.
fn check_damaged_reply(dialect: &'static Dialect, event: &Event, code: i32, stdout: &[u8], stderr: &[u8]) {
    let stdout = stdout.trim_ascii();
    if stdout.first() != Some(&b'{') || RawJson::parse_bytes(stdout).is_err() {
        return;
    }
    let end = stdout.len() - 1;
    let damaged = [
        [b"\xef\xbb\xbf", stdout].concat(),
        ["\u{a0}\u{2028}".as_bytes(), stdout].concat(),
        [b"\0", stdout].concat(),
        [stdout, b"\xe2\x80"].concat(),
        [stdout, b" done"].concat(),
        [stdout, b"\n{\"x\":"].concat(),
        [&stdout[..end], b",}"].concat(),
        [&stdout[..end], b",\"x\":NaN}"].concat(),
        [&stdout[..end], b",\"x\":\"\xe2\"}"].concat(),
        stdout[..end].to_vec(),
        RawJson::string(&String::from_utf8_lossy(stdout)).as_str().as_bytes().to_vec(),
    ];
    let process = |stdout: &[u8]| {
        Reply::Process(ProcessReply::new(ProcessExit::Code(code)).stdout(stdout.to_vec()).stderr(stderr.to_vec()))
    };
    let http = |stdout: &[u8]| Reply::Http(HttpReply::new(200, stdout.to_vec()));
    let decision = |reply| dialect.read(event, reply, false).map_or(Decision::NoOpinion, |opinion| opinion.decision());
    for reply in [&process as &dyn Fn(&[u8]) -> Reply, &http] {
        let expected = decision(reply(stdout));
        // One kind of damage per input keeps the exercise short.
        let kind = stdout.iter().map(|byte| usize::from(*byte)).sum::<usize>() % damaged.len();
        if expected >= Decision::Ask {
            let text = String::from_utf8_lossy(&damaged[kind]);
            assert!(decision(reply(&damaged[kind])) >= expected, "{} {}: lost in {text}", dialect.name, event.kind());
        }
    }
}

/// Reads bytes as a payload. An event written as a payload and read again has the same kind.
pub fn exercise_payload(dialect: &'static Dialect, bytes: &[u8]) {
    let Ok(json) = RawJson::parse_bytes(bytes) else { return };
    let Ok(event) = dialect.event(&json, None) else { return };
    // Events without external hooks have no payload.
    let rows = || dialect.fields_at(&event.kind());
    let mut required = event.kind().fields().iter().filter(|field| field.required);
    if !dialect.payload.all_fields
        && !required.all(|field| rows().any(|row| row.from.split('.').next() == Some(field.name)))
    {
        return;
    }
    let payload: Vec<u8> = dialect.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    let name = dialect.name_of(&event.kind());
    let again = RawJson::parse_bytes(&payload).ok().and_then(|json| dialect.event(&json, name).ok());
    let text = String::from_utf8_lossy(&payload);
    assert_eq!(
        again.map(|event| event.kind()),
        Some(event.kind()),
        "{}: does not round-trip: {text} from {json}",
        dialect.name
    );
}
