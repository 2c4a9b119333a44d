use checkrein::event::Target;
use checkrein::payload::{ModelCall, Prompt, ToolCall, ToolOutcome};
use checkrein::{Event, EventKind, HookSpec, RawJson};
use proptest::prelude::*;

use crate::common::{Bench, config, json};

fn bench() -> Bench {
    let mut hook = HookSpec::builtin("redact", EventKind::PreToolUse, "redact_secrets");
    for kind in
        [EventKind::PostToolUse, EventKind::ToolOutputTransform, EventKind::PromptSubmit, EventKind::BeforeModel]
    {
        hook = hook.also_for(kind);
    }
    Bench::with(vec![hook])
}

fn redacted(bench: &Bench, input: &RawJson) -> RawJson {
    let verdict = bench.engine.fire_blocking(Event::pre_tool_use(ToolCall::new("Bash", input.clone())));
    assert_eq!(verdict.warnings().len(), 0, "{verdict:?}");
    verdict.effective_input().unwrap_or(input).clone()
}

// Concatenated at compile time, so that secret scanners do not report them.
const AWS: &str = concat!("AKIA", "IOSFODNN7EXAMPLE");
const GITHUB: &str = concat!("ghp", "_abcdefghijklmnopqrstuvwxyz0123456789");
const JWT: &str = concat!(
    "eyJ",
    "hbGciOiJIUzI1NiJ9",
    ".eyJ",
    "zdWIiOiIxMjM0NTY3ODkwIn0",
    ".dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
);

/// The JSON before and after. `None` if it does not change.
fn table() -> Vec<(String, Option<String>)> {
    let key = |head: &str, tail: &str| format!("{head}{tail}");
    let long = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ";
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7".repeat(4);
    let mut rows: Vec<(String, Option<String>)> = Vec::new();
    let mut row = |before: String, after: &str| {
        let after = (!after.is_empty()).then(|| after.to_owned());
        rows.push((before, after));
    };
    // Keys with a fixed format.
    row(format!(r#"{{"c":"id {AWS}."}}"#), r#"{"c":"id [redacted:aws_access_key]."}"#);
    row(
        format!(r#"{{"c":"aws_secret_access_key = {}"}}"#, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        r#"{"c":"aws_secret_access_key = [redacted:aws_secret_key]"}"#,
    );
    row(format!(r#"{{"c":"{GITHUB}"}}"#), r#"{"c":"[redacted:github_token]"}"#);
    row(format!(r#"["{}{long}{long}"]"#, "github_pat_"), r#"["[redacted:github_token]"]"#);
    row(format!(r#""{}""#, key("glpat-", &long[..20])), r#""[redacted:gitlab_token]""#);
    row(format!(r#""{}""#, key("xoxb-", "123456789012-abcdefGHIJ")), r#""[redacted:slack_token]""#);
    row(
        format!(r#""{}""#, key("https://hooks.slack.com/services/", "T000/B000/XXXXXXXXXXXXXXXX")),
        r#""https://hooks.slack.com/services/[redacted:slack_webhook]""#,
    );
    row(format!(r#""{}""#, key("sk_live_", &long[..24])), r#""[redacted:stripe_key]""#);
    row(format!(r#""{}""#, key("sk-ant-", &long[..40])), r#""[redacted:anthropic_key]""#);
    row(format!(r#""{}""#, key("sk-proj-", &long[..40])), r#""[redacted:openai_key]""#);
    row(format!(r#""{}""#, key("AIza", &long[..35])), r#""[redacted:google_key]""#);
    row(format!(r#""{}""#, key("npm_", &long[..36])), r#""[redacted:npm_token]""#);
    row(format!(r#""Authorization: Bearer {JWT}""#), r#""Authorization: Bearer [redacted:jwt]""#);
    row(format!(r#""authorization: bearer {}""#, &long[..30]), r#""authorization: bearer [redacted:bearer_token]""#);
    row(
        format!(
            r#""x\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{body}\n-----END RSA PRIVATE KEY-----\ny""#
        ),
        r#""x\n[redacted:private_key]\ny""#,
    );
    row(format!(r#""-----BEGIN PRIVATE KEY-----\\n{body}""#), r#""[redacted:private_key]""#);
    row(r#""postgres://ann:s3cr3t@db.test/x""#.to_owned(), r#""postgres://ann:[redacted:url_password]@db.test/x""#);
    // Values behind names.
    row(r#""PASSWORD=hunter2hunter2 make""#.to_owned(), r#""PASSWORD=[redacted:password] make""#);
    row(r#""api_key: 'abcd1234efgh'""#.to_owned(), r#""api_key: '[redacted:password]'""#);
    row(r#""login --password hunter2hunter2""#.to_owned(), r#""login --password [redacted:password]""#);
    row(
        r#"{"password":"hunter2hunter2","user":"ann"}"#.to_owned(),
        r#"{"password":"[redacted:password]","user":"ann"}"#,
    );
    row(
        r#"{"auth":{"client_secret" : ["abcd1234efgh"]}}"#.to_owned(),
        r#"{"auth":{"client_secret" : ["[redacted:password]"]}}"#,
    );
    // All other bytes stay the same.
    row(
        format!(
            r#" {{"id": 12345678901234567890123, "r":1.50,"e":1E400, "t":"\u00e9\/\ud83d\ude00 {GITHUB} \ud800\u000a" ,"z":[ ]}}  "#
        ),
        r#" {"id": 12345678901234567890123, "r":1.50,"e":1E400, "t":"\u00e9\/\ud83d\ude00 [redacted:github_token] \ud800\u000a" ,"z":[ ]}  "#,
    );
    row(r#"{"c":"\u0041KIAIOSFODNN7EXAMPL\u0045!"}"#.to_owned(), r#"{"c":"[redacted:aws_access_key]!"}"#);
    row(format!(r#"{{"{GITHUB}":1}}"#), "");
    // Similar but harmless texts.
    for harmless in [
        r#""password: string""#,
        r#""let token = tokens.next();""#,
        r#""token: CancellationToken2""#,
        r#""password = hashlib.sha256(x)""#,
        r#""max_tokens: 4096, tokens=12345678""#,
        r#""password = config.password2""#,
        r#""token=$TOKEN1234 secret=${SECRET_1}""#,
        r#""password: <your-password-1>""#,
        r#"{"password":"correct horse battery staple"}"#,
        r#"{"token":12345678901234567890}"#,
        r#""sk-learn and sk-1234""#,
        r#""AKIA is a prefix""#,
        r#""https://example.com:8080/a@b""#,
        r#""if s.contains(\"-----BEGIN PRIVATE KEY-----\") { s.split(\"-----END PRIVATE KEY-----\") }""#,
        r#""9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08""#,
        r#""secret_file=/run/secrets/db1""#,
        "12345678901234567890123",
        "null",
    ] {
        row(harmless.to_owned(), "");
    }
    rows
}

#[test]
fn secrets_of_the_table_are_redacted() {
    let bench = bench();
    let mut wrong = Vec::new();
    for (before, after) in table() {
        let found = redacted(&bench, &json(&before));
        let expected = after.as_deref().unwrap_or(&before);
        // White space around the JSON is part of the host's text.
        if found.as_str().trim() != expected.trim() {
            wrong.push(format!("{before}\n    is {found}\n    not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn each_event_rewrites_its_own_part() {
    let bench = bench();
    let response = json(&format!(r#"{{"stdout":"{GITHUB}"}}"#));
    let outcome =
        || ToolOutcome::new("Bash", json(&format!(r#"{{"command":"echo {GITHUB}"}}"#))).tool_response(response.clone());
    for event in [Event::post_tool_use(outcome()), Event::tool_output_transform(outcome())] {
        let verdict = bench.fire(event).await;
        assert_eq!(verdict.effective_output().unwrap().as_str(), r#"{"stdout":"[redacted:github_token]"}"#);
        assert!(verdict.effective_input().is_none(), "the tool has already run");
        assert_eq!(verdict.messages()[0].text, "redacted 1 GitHub token in the output");
    }
    let verdict = bench.fire(Event::prompt_submit(Prompt::new(format!("use {GITHUB}\nplease")))).await;
    assert_eq!(verdict.effective_prompt().unwrap(), "use [redacted:github_token]\nplease");
    assert_eq!(verdict.messages()[0].text, "redacted 1 GitHub token in the prompt");
    let verdict = bench.fire(Event::prompt_submit(Prompt::new(format!("{AWS} {GITHUB} {AWS}")))).await;
    assert_eq!(verdict.messages()[0].text, "redacted 2 AWS access keys and 1 GitHub token in the prompt");
    let messages = json(&format!(r#"[{{"role":"user","content":"{GITHUB}"}}]"#));
    let verdict = bench.fire(Event::before_model(ModelCall::new().messages(messages))).await;
    assert_eq!(
        verdict.effective_messages().unwrap().as_str(),
        r#"[{"role":"user","content":"[redacted:github_token]"}]"#
    );
    let verdict = bench.fire(Event::prompt_submit(Prompt::new("nothing here"))).await;
    assert!(verdict.rewritten(Target::Prompt).is_none() && verdict.messages().is_empty());
}

#[tokio::test]
async fn secrets_in_large_texts_are_redacted() {
    let bench = bench();
    let text = format!("{}{GITHUB}", "all work and no play\n".repeat(50_000));
    let output = bench.output("{}", RawJson::string(&text)).await;
    assert!(output.as_text().unwrap().ends_with("play\n[redacted:github_token]"));
}

/// Parts of secrets and of the text around them.
fn piece() -> impl Strategy<Value = String> {
    let body = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ";
    prop_oneof![
        prop::sample::select(vec![
            AWS.to_owned(),
            GITHUB.to_owned(),
            JWT.to_owned(),
            format!("{}{body}", "sk-ant-"),
            format!("{}{body}", "glpat-"),
            format!("-----BEGIN PRIVATE KEY-----\n{body}{body}"),
            "-----END PRIVATE KEY-----".to_owned(),
            "password=".to_owned(),
            "token: ".to_owned(),
            "https://a:".to_owned(),
            "@host".to_owned(),
            "Bearer ".to_owned(),
            "abcd1234efgh".to_owned(),
            "[redacted:password]".to_owned(),
            "é\u{1F600}\"\\\n\u{0}".to_owned(),
        ]),
        any::<String>(),
        "[ -~]{0,12}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..6).prop_map(|pieces| pieces.concat())
}

/// A JSON string with some of its characters written as escapes.
fn escaped(text: &str, every: usize) -> String {
    let mut out = String::from('"');
    for (at, c) in text.chars().enumerate() {
        if at % every == 0 || c < ' ' || c == '"' || c == '\\' {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04X}")));
        } else {
            out.push(c);
        }
    }
    out.push('"');
    out
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<u128>().prop_map(|n| n.to_string()),
        (text(), 1_usize..9).prop_map(|(text, every)| escaped(&text, every)),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let key = prop_oneof![Just("password".to_owned()), Just("token".to_owned()), "[a-z]{1,4}", text()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::btree_map(key, inner, 0..5).prop_map(|fields| {
                let fields: Vec<_> =
                    fields.iter().map(|(key, value)| format!("{}:{value}", RawJson::string(key))).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

/// The JSON without the contents of its strings.
fn form(json: &RawJson) -> String {
    let (mut out, mut inside, mut escaped) = (String::new(), false, false);
    for c in json.as_str().chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => {
                inside = !inside;
                out.push(c);
            }
            _ if inside => {}
            c => out.push(c),
        }
    }
    out
}

#[test]
fn redaction_keeps_json_valid_and_is_idempotent() {
    let bench = bench();
    proptest!(config(), |(text in any_json())| {
        let before = json(&text);
        let after = redacted(&bench, &before);
        prop_assert!(RawJson::parse(after.as_str()).is_ok(), "{}", after);
        prop_assert_eq!(form(&after), form(&before));
        let again = redacted(&bench, &after);
        prop_assert_eq!(again.as_str(), after.as_str());
    });
}

#[test]
fn keys_are_found_in_any_text() {
    let bench = bench();
    proptest!(config(), |(before in any::<String>(), behind in any::<String>(), every in 1_usize..9)| {
        for secret in [AWS, GITHUB, JWT] {
            let text = format!("{before} {secret} {behind}");
            let after = redacted(&bench, &json(&escaped(&text, every)));
            let text = after.as_text().unwrap().into_owned();
            prop_assert!(!text.contains(secret) && text.contains("[redacted:"), "{}", text);
        }
    });
}
