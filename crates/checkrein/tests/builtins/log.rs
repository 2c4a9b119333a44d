use checkrein::payload::{Prompt, ToolCall};
use checkrein::{Event, EventKind, HookSpec, RawJson};

use crate::common::{Bench, json};

#[tokio::test]
async fn log_writes_one_redacted_line_per_event() {
    let mut hook = HookSpec::builtin("log", EventKind::PreToolUse, "log").args(["~/state/new/events.jsonl"]);
    hook = hook.also_for(EventKind::PromptSubmit);
    let bench = Bench::with(vec![hook]);
    let secret = concat!("ghp", "_abcdefghijklmnopqrstuvwxyz0123456789");
    let input = format!("{{\n \"command\": \"echo {secret}\\n\",\r\n \"big\": 12345678901234567890123\n}}");
    let _ = bench.fire(Event::pre_tool_use(ToolCall::new("Bash", json(&input)))).await;
    let _ = bench.fire(Event::prompt_submit(Prompt::new("line one\nline two"))).await;
    let file = bench.home().join("state/new/events.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.ends_with('\n') && !text.contains(secret) && text.contains("[redacted:github_token]"), "{text}");
    assert!(text.contains("12345678901234567890123"), "{text}");
    let lines: Vec<RawJson> = text.lines().map(json).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0].field("event").unwrap().as_text().unwrap(), "pre_tool_use");
    assert_eq!(lines[1].field("prompt").unwrap().as_text().unwrap(), "line one\nline two");
    let time = lines[0].field("logged_at").unwrap();
    assert!(time.as_text().unwrap().ends_with('Z'), "{time}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_lines_do_not_mix() {
    let bench = Bench::new(EventKind::PromptSubmit, "log", &["events.jsonl"]);
    let fires: Vec<_> = (0..64)
        .map(|n| {
            let engine = bench.engine.clone();
            let prompt = format!("{n} {}", "x".repeat(20_000));
            tokio::spawn(async move { engine.fire(Event::prompt_submit(Prompt::new(prompt))).await })
        })
        .collect();
    for fire in fires {
        assert_eq!(fire.await.unwrap().warnings().len(), 0);
    }
    let text = std::fs::read_to_string(bench.project().join("events.jsonl")).unwrap();
    assert_eq!(text.lines().map(json).count(), 64);
}

#[tokio::test]
async fn unwritable_file_is_a_failure() {
    let bench = Bench::new(EventKind::PromptSubmit, "log", &["."]);
    let verdict = bench.fire(Event::prompt_submit(Prompt::new("x"))).await;
    assert!(verdict.failures().next().unwrap().1.message.contains("cannot write to"), "{verdict:?}");
}
