use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;

use super::*;

/// A collector on loopback that keeps what it receives.
#[derive(Clone, Default)]
struct Collector {
    received: Arc<Mutex<Vec<(String, Value)>>>,
    is_broken: bool,
}

impl Collector {
    /// Starts the collector and returns its URL.
    async fn start(&self) -> String {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().route("/v1/{signal}", post(receive)).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        url
    }

    fn bodies(&self, signal: &str) -> Vec<Value> {
        let received = self.received.lock().unwrap();
        received.iter().filter(|(name, _)| name == signal).map(|(_, body)| body.clone()).collect()
    }
}

async fn receive(State(collector): State<Collector>, Path(signal): Path<String>, body: String) -> (StatusCode, String) {
    collector.received.lock().unwrap().push((signal, serde_json::from_str(&body).unwrap()));
    (if collector.is_broken { StatusCode::BAD_REQUEST } else { StatusCode::OK }, "{}".to_owned())
}

const LINE: &str = r#"{"time":"2026-01-31T08:00:00.250Z","agent":"claude","session":"s1","event":"pre_tool_use","call":"toolu_1",
    "tool":"Bash","digest":"0","command":"curl https://private.example","verdict":"deny","reason":"private reason",
    "hooks":["guard","slow"],"by":"guard","us":50000}"#;

fn record() -> RawJson {
    let hook = |id: &str, rest: &str| {
        format!(
            r#"{{"id":"{id}","source":{{"file":"hooks.yaml","line":1,"scope":"user"}},"handler":"command",
                "stdout":"private output","stderr":null,"exit_code":null,"truncated":false,{rest}}}"#
        )
    };
    let guard = hook("guard", r#""outcome":"opinion","decision":"deny","failure":null,"duration_ms":12"#);
    let slow = hook("slow", r#""outcome":"failure","decision":null,"failure":"timeout","duration_ms":40"#);
    let verdict = r#"{"decision":"deny","reason":"private reason","reasons":[],"context":[],"system_messages":[],"stop_reason":null,
        "original_input":{"command":"curl https://private.example"},"effective_input":null,"effective_prompt":null,
        "effective_output":null,"warnings":[],"cancelled":false}"#;
    let text = format!(
        r#"{{"event":"pre_tool_use","dialect":"native","session_id":"s1","subject":"Bash","verdict":{verdict},"hooks":[{guard},{slow}]}}"#
    );
    let text = format!(
        r#"{{"time":"2026-01-31T08:00:00.250Z","agent":"claude","project":"/p","event":{{}},"record":{text},
            "redaction":false,"checkrein":"0"}}"#
    );
    RawJson::parse(text).unwrap()
}

/// Runs the export of some events to its end.
async fn export(collector: &Collector, events: impl FnOnce(&Telemetry)) -> ExportStatus {
    let url = collector.start().await;
    let telemetry = Telemetry::start(&TelemetryOptions::new(url), Handle::current()).unwrap();
    events(&telemetry);
    tokio::task::spawn_blocking(move || {
        telemetry.stop();
        telemetry.status()
    })
    .await
    .unwrap()
}

fn attribute<'a>(of: &'a Value, name: &str) -> Option<&'a Value> {
    let attributes = of["attributes"].as_array()?;
    let found = attributes.iter().find(|attribute| attribute["key"] == name)?;
    found["value"].as_object()?.values().next()
}

#[tokio::test(flavor = "multi_thread")]
async fn event_is_a_span_in_the_trace_of_the_agent() {
    let collector = Collector::default();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let status = export(&collector, |telemetry| assert!(telemetry.line(LINE, Some(&record()), Some(parent)))).await;
    assert_eq!((status.failed, status.last_error.clone()), (0, None), "{status:?}");
    assert!(status.accepted >= 2, "spans and metrics: {status:?}");
    let traces = collector.bodies("traces");
    let span = &traces[0]["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    assert_eq!(span["name"], "checkrein.event pre_tool_use", "{span}");
    assert_eq!(span["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(span["parentSpanId"], "b7ad6b7169203331");
    let nanos = |name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(nanos("endTimeUnixNano") - nanos("startTimeUnixNano"), 50_000_000);
    for (name, value) in [
        ("checkrein.decision", "deny"),
        ("checkrein.decided_by", "guard"),
        ("gen_ai.tool.name", "Bash"),
        ("gen_ai.tool.call.id", "toolu_1"),
        ("gen_ai.conversation.id", "s1"),
    ] {
        assert_eq!(attribute(span, name).unwrap(), value, "{span}");
    }
    let hooks = span["events"].as_array().unwrap();
    assert_eq!(hooks.len(), 2, "{span}");
    assert_eq!(attribute(&hooks[1], "checkrein.failure").unwrap(), "timeout");
}

#[tokio::test(flavor = "multi_thread")]
async fn inputs_outputs_and_reasons_are_not_exported() {
    let collector = Collector::default();
    export(&collector, |telemetry| assert!(telemetry.line(LINE, Some(&record()), None))).await;
    let all = format!("{:?}", collector.received.lock().unwrap());
    assert!(all.contains("guard"), "{all}");
    assert!(!all.contains("private"), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_have_decisions_durations_and_failures() {
    let collector = Collector::default();
    export(&collector, |telemetry| {
        for _ in 0..3 {
            telemetry.line(LINE, Some(&record()), None);
        }
        // No hook ran for a repeated event.
        telemetry.line(&LINE.replace("\"us\"", "\"repeat\":true,\"us\""), None, None);
    })
    .await;
    let bodies = collector.bodies("metrics");
    let metrics =
        bodies.last().unwrap()["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap().clone();
    let named =
        |name: &str| metrics.iter().find(|metric| metric["name"] == name).unwrap_or_else(|| panic!("{metrics:?}"));
    let number = |value: &Value| value.as_str().map_or_else(|| value.as_u64(), |text| text.parse().ok());
    let decisions = &named("checkrein.decisions")["sum"]["dataPoints"][0];
    assert_eq!(number(&decisions["asInt"]), Some(3), "{decisions}");
    let failures = &named("checkrein.hook.failures")["sum"]["dataPoints"][0];
    assert_eq!(number(&failures["asInt"]), Some(3), "{failures}");
    assert_eq!(attribute(failures, "checkrein.failure").unwrap(), "timeout");
    let durations = named("checkrein.hook.duration")["histogram"]["dataPoints"].as_array().unwrap();
    assert_eq!(durations.iter().filter_map(|point| number(&point["count"])).sum::<u64>(), 6, "{durations:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_exports_are_reported() {
    let collector = Collector { is_broken: true, ..Collector::default() };
    let status = export(&collector, |telemetry| assert!(telemetry.line(LINE, None, None))).await;
    assert!(status.failed > 0, "{status:?}");
    assert!(status.last_error.as_ref().is_some_and(|error| error.contains("400")), "{status:?}");
}

#[tokio::test]
async fn invalid_settings_are_errors() {
    for endpoint in ["", "127.0.0.1:4318", "ftp://x", "file:///etc/passwd"] {
        let error = Telemetry::start(&TelemetryOptions::new(endpoint), Handle::current()).unwrap_err();
        assert!(error.to_string().contains("not a URL"), "{error}");
    }
}

#[test]
fn invalid_parents_start_a_new_trace() {
    for value in ["", "x", "00-00000000000000000000000000000000-b7ad6b7169203331-01", &"0".repeat(10_000)] {
        assert!(!parent(Some(value)).span().span_context().is_valid(), "{value}");
    }
}
