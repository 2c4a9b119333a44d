use std::path::PathBuf;

use checkrein::json::JsonType;
use checkrein::payload::{Compaction, SessionEnd, ToolOutcome};
use checkrein::{Event, EventKind, HookSpec, RawJson};

use crate::common::{Bench, json};

const LIMIT: &str = "limit_large_tool_results";
const ELIDE: &str = "elide_repeated_tool_results";

fn limiting(more: &[&str]) -> (Bench, tempfile::TempDir) {
    let files = tempfile::tempdir().unwrap();
    let directory = format!("--dir={}", files.path().display());
    let mut hook = HookSpec::builtin(LIMIT, EventKind::PostToolUse, LIMIT);
    hook = hook.also_for(EventKind::SessionEnd);
    let args: Vec<&str> = more.iter().copied().chain([directory.as_str()]).collect();
    (Bench::with(vec![hook.args(args)]), files)
}

fn files_in(directory: &tempfile::TempDir) -> Vec<PathBuf> {
    std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn small_results_do_not_change() {
    let (bench, files) = limiting(&[]);
    for text in [String::new(), "x".repeat(50 * 1024), "line\n".repeat(2000)] {
        let output = RawJson::string(&text);
        assert_eq!(bench.output("{}", output.clone()).await, output);
    }
    let object = json(r#"{"stdout":"a","n":12345678901234567890123}"#);
    assert_eq!(bench.output("{}", object.clone()).await, object);
    assert_eq!(files_in(&files).len(), 0);
}

#[tokio::test]
async fn large_results_are_shortened_and_saved_to_a_file() {
    let (bench, files) = limiting(&[]);
    let text = format!("start\n{}end é", "€ some text\n".repeat(20_000));
    let short = bench.output("{}", RawJson::string(&text)).await.as_text().unwrap().into_owned();
    assert!(short.len() <= 50 * 1024, "{}", short.len());
    assert!(short.starts_with("start\n€") && short.ends_with("end é") && !short.contains('\u{fffd}'));
    let [file] = &files_in(&files)[..] else { panic!("one file") };
    assert!(short.contains(&file.display().to_string()));
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let _ = bench.fire(Event::session_end(SessionEnd::new())).await;
    assert_eq!(files_in(&files).len(), 0);
}

#[tokio::test]
async fn results_with_many_lines_are_shortened() {
    let (bench, _files) = limiting(&[]);
    let text: String = (1..=2001).map(|n| format!("{n}\n")).collect();
    let short = bench.output("{}", RawJson::string(&text)).await.as_text().unwrap().into_owned();
    assert!(short.lines().count() <= 2002, "{}", short.lines().count());
    assert!(short.starts_with("1\n2\n") && short.ends_with("2000\n2001\n"), "{short}");
    let (bench, _files) = limiting(&["--max-lines=10"]);
    let short = bench.output("{}", RawJson::string(&text)).await.as_text().unwrap().into_owned();
    assert!(short.lines().count() <= 12, "{short}");
}

#[tokio::test]
async fn results_are_cut_between_characters() {
    for shift in 0..4 {
        let (bench, _files) = limiting(&["--max-bytes=1100"]);
        let text = format!("{}{}", "x".repeat(shift), "😀".repeat(1000));
        let short = bench.output("{}", RawJson::string(&text)).await.as_text().unwrap().into_owned();
        assert!(short.len() <= 1100 && short.ends_with('😀') && !short.contains('\u{fffd}'));
    }
}

#[tokio::test]
async fn objects_keep_their_structure() {
    let (bench, files) = limiting(&[]);
    let long = "\\\"quoted\\\" \\u00e9\\n".repeat(20_000);
    let output =
        json(&format!(r#"{{"exit": 0, "big":12345678901234567890123, "stdout":"{long}","stderr":"\u0041 short"}}"#));
    let short = bench.output("{}", output.clone()).await;
    assert_eq!(short.json_type(), JsonType::Object);
    assert!(short.as_str().len() < 80 * 1024, "{}", short.as_str().len());
    assert_eq!(short.field("big").unwrap().as_str(), "12345678901234567890123");
    assert_eq!(short.field("stderr").unwrap().as_str(), r#""\u0041 short""#);
    assert!(short.field("stdout").unwrap().as_text().unwrap().contains("bytes omitted; the full result is in "));
    assert_eq!(std::fs::read_to_string(&files_in(&files)[0]).unwrap(), output.as_str());
    // A long array of short values.
    let numbers = json(&format!("[{}1]", "12345678,".repeat(20_000)));
    let short = bench.output("{}", numbers).await;
    assert_eq!(short.json_type(), JsonType::String);
    assert!(short.as_str().len() < 52 * 1024);
}

#[tokio::test]
async fn missing_directory_is_a_failure() {
    let bench = Bench::new(EventKind::PostToolUse, LIMIT, &["--dir=/nowhere/at/all"]);
    let outcome = ToolOutcome::new("Read", json("{}")).tool_response(RawJson::string(&"x".repeat(60_000)));
    let verdict = bench.fire(Event::post_tool_use(outcome)).await;
    assert!(verdict.failures().next().unwrap().1.message.contains("cannot write the full result"), "{verdict:?}");
}

#[tokio::test]
async fn repeated_results_are_elided_until_a_compaction() {
    let mut hook = HookSpec::builtin(ELIDE, EventKind::PostToolUse, ELIDE);
    hook = hook.also_for(EventKind::PostCompact);
    let bench = Bench::with(vec![hook]);
    let large = RawJson::string(&"x".repeat(1000));
    for _ in 0..2 {
        assert_eq!(bench.output(r#"{"p":1}"#, large.clone()).await, large);
        let note = "[same result as the earlier call of Read with the same input, 1002 bytes; not repeated]";
        assert_eq!(bench.output(r#"{"p":1}"#, large.clone()).await.as_text().unwrap(), note);
        assert_eq!(bench.output(r#"{"p":1}"#, large.clone()).await.as_text().unwrap(), note);
        // Other input, other output, small output.
        assert_eq!(bench.output(r#"{"p":2}"#, large.clone()).await, large);
        let other = RawJson::string(&"y".repeat(1000));
        assert_eq!(bench.output(r#"{"p":1}"#, other.clone()).await, other);
        for _ in 0..2 {
            assert_eq!(bench.output("{}", RawJson::string("small")).await, RawJson::string("small"));
        }
        let _ = bench.fire(Event::post_compact(Compaction::new())).await;
    }
}

#[tokio::test]
async fn rewriters_receive_the_previous_result() {
    let hooks = ["redact_secrets", LIMIT, ELIDE]
        .map(|name| HookSpec::builtin(name, EventKind::PostToolUse, name))
        .into_iter()
        .collect();
    let bench = Bench::with(hooks);
    let secret = concat!("ghp", "_abcdefghijklmnopqrstuvwxyz0123456789");
    let text = RawJson::string(&format!("{secret} {}", "x".repeat(1000)));
    let first = bench.output("{}", text.clone()).await;
    assert!(first.as_text().unwrap().starts_with("[redacted:github_token] xxx"), "{first}");
    assert!(bench.output("{}", text).await.as_text().unwrap().starts_with("[same result"));
}
