//! Frames and requests on the socket of the resident process.
//!
//! A frame is its length (`u32`, little-endian) and a JSON object of that length. Every frame has the key `version`. A request
//! also has `kind`. The answer to a request is one frame with the key `ok` or the key `error`. An `event` has no answer: the
//! sender does not wait.
//!
//! ```
//! use checkrein_serve::protocol::{Kind, Request, frame};
//!
//! let bytes = frame(&Request::text(Kind::Status));
//! let request = Request::parse(&bytes[4..])?;
//! assert_eq!(request.kind, Kind::Status);
//! # Ok::<(), checkrein_serve::protocol::ProtocolError>(())
//! ```

use std::fmt::Write as _;

use checkrein_core::{JsonError, JsonType, RawJson};
use serde::{Deserialize, Serialize};

use crate::store::PushedEvent;

/// Version of the protocol. A process refuses requests of another version, and the sender then does everything itself.
pub const VERSION: u32 = 1;

/// Maximum length of the JSON in a frame, in bytes.
pub const MAX_FRAME: usize = 16 << 20;

/// Length of the number before the JSON, in bytes.
pub const PREFIX: usize = 4;

/// Kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// An answered event, for the page.
    Event,
    /// Facts about the process.
    Status,
    /// The process must end.
    Stop,
    /// Address of the page, with a token for one login.
    Login,
    /// A hook that a warm interpreter runs. The connection belongs to the pool of interpreters from then on.
    Warm,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Event, Self::Status, Self::Stop, Self::Login, Self::Warm];

    /// Name in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Status => "status",
            Self::Stop => "stop",
            Self::Login => "login",
            Self::Warm => "warm",
        }
    }
}

/// A valid request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// Kind of the request.
    pub kind: Kind,
    /// The whole object.
    pub body: RawJson,
}

/// Reason why a frame cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The frame is larger than [`MAX_FRAME`].
    #[error("a frame of {0} bytes is too large; the limit is {MAX_FRAME}")]
    TooLarge(usize),
    /// The text is not JSON.
    #[error("the frame is not valid JSON: {0}")]
    Json(#[from] JsonError),
    /// The JSON is no object.
    #[error("the frame must be a JSON object, but is {0}")]
    NotAnObject(JsonType),
    /// The sender has another version of the protocol.
    #[error("unknown version `{0}` of the protocol; this process has version {VERSION}")]
    Version(String),
    /// The kind of the request is unknown.
    #[error("unknown kind of request `{0}`")]
    Kind(String),
    /// A value is missing or has the wrong form.
    #[error("invalid `{kind}` request: {error}", kind = .kind.name())]
    Body {
        /// Kind of the request.
        kind: Kind,
        /// Error of the reader.
        error: serde_json::Error,
    },
}

impl Request {
    /// Parses the JSON of a frame.
    ///
    /// # Errors
    /// The frame is no request of this version.
    pub fn parse(json: &[u8]) -> Result<Self, ProtocolError> {
        if json.len() > MAX_FRAME {
            return Err(ProtocolError::TooLarge(json.len()));
        }
        let body = RawJson::parse_bytes(json)?;
        if body.json_type() != JsonType::Object {
            return Err(ProtocolError::NotAnObject(body.json_type()));
        }
        let version = body.field("version").map(|version| version.as_str().to_owned()).unwrap_or_default();
        if version.parse() != Ok(VERSION) {
            return Err(ProtocolError::Version(shortened(&version)));
        }
        let name = body.field("kind").and_then(|kind| kind.as_text().map(std::borrow::Cow::into_owned));
        let name = name.unwrap_or_default();
        match Kind::ALL.into_iter().find(|kind| kind.name() == name) {
            Some(kind) => Ok(Self { kind, body }),
            None => Err(ProtocolError::Kind(shortened(&name))),
        }
    }

    /// JSON of a request without further keys.
    pub fn text(kind: Kind) -> String {
        format!(r#"{{"version":{VERSION},"kind":"{}"}}"#, kind.name())
    }

    /// JSON of a request with the keys of a value, which must serialize as an object.
    ///
    /// # Errors
    /// The value does not serialize as JSON.
    pub fn with_body<T: Serialize>(kind: Kind, body: &T) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Whole<'a, T> {
            version: u32,
            kind: &'static str,
            #[serde(flatten)]
            body: &'a T,
        }
        serde_json::to_string(&Whole { version: VERSION, kind: kind.name(), body })
    }

    /// Reads the keys of the request into a type. Other keys are ignored, so that a later version can add some.
    ///
    /// # Errors
    /// A key is missing, or its value has the wrong form.
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, ProtocolError> {
        self.body.read().map_err(|error| ProtocolError::Body { kind: self.kind, error })
    }

    /// Returns the event of an `event` request.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn event(&self) -> Result<PushedEvent, ProtocolError> {
        #[derive(Deserialize)]
        struct Line {
            line: String,
        }
        let Line { line } = self.read()?;
        let record = self.body.field("record").filter(|record| record.json_type() == JsonType::Object);
        Ok(PushedEvent { line, record })
    }

    /// Returns the variable `TRACEPARENT` of an `event` request.
    pub fn traceparent(&self) -> Option<String> {
        self.body.field("traceparent")?.as_text().map(std::borrow::Cow::into_owned)
    }
}

/// Returns the JSON of an `event` request. `line` is a line of the decision log, `record` an object.
///
/// `traceparent` is the agent's variable `TRACEPARENT`. `checkrein hook` writes one for every event, so this does without the general
/// serializer.
pub fn event_text(line: &str, record: Option<&str>, traceparent: Option<&str>) -> String {
    let mut text = String::with_capacity(line.len() * 2 + record.map_or(0, str::len) + 64);
    let _ = write!(text, r#"{{"version":{VERSION},"kind":"event","line":"#);
    RawJson::push_string(&mut text, line.trim_end());
    if let Some(record) = record {
        text.push_str(r#","record":"#);
        text.push_str(record);
    }
    if let Some(traceparent) = traceparent {
        text.push_str(r#","traceparent":"#);
        RawJson::push_string(&mut text, traceparent);
    }
    text.push('}');
    text
}

/// Returns a frame with this JSON.
pub fn frame(json: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PREFIX + json.len());
    // A longer text is refused by its reader.
    bytes.extend_from_slice(&u32::try_from(json.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(json.as_bytes());
    bytes
}

/// Returns the length of the JSON after a prefix.
///
/// # Errors
/// The length is above [`MAX_FRAME`].
pub fn frame_length(prefix: [u8; PREFIX]) -> Result<usize, ProtocolError> {
    match usize::try_from(u32::from_le_bytes(prefix)) {
        Ok(length) if length <= MAX_FRAME => Ok(length),
        Ok(length) => Err(ProtocolError::TooLarge(length)),
        Err(_) => Err(ProtocolError::TooLarge(usize::MAX)),
    }
}

/// Answer to a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// Version of the protocol.
    pub version: u32,
    /// Result, if the request succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<RawJson>,
    /// Reason, if the request failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Answer {
    /// Answer with a result.
    pub fn ok<T: Serialize>(value: &T) -> Self {
        match RawJson::from_serialize(value) {
            Ok(ok) => Self { version: VERSION, ok: Some(ok), error: None },
            Err(error) => Self::error(format!("the result is no valid JSON: {error}")),
        }
    }

    /// Answer with an error.
    pub fn error(why: impl Into<String>) -> Self {
        Self { version: VERSION, ok: None, error: Some(why.into()) }
    }

    /// JSON of the answer.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| format!(r#"{{"version":{VERSION},"error":"invalid answer"}}"#))
    }
}

/// Result of a `status` request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct ProcessStatus {
    /// Id of the process.
    pub pid: u32,
    /// Version of checkrein in the process.
    pub checkrein: String,
    /// Seconds since the start of the process.
    pub uptime: u64,
    /// Socket of the process.
    pub socket: String,
    /// Address of the page, without a token. `None`: the page has no server.
    pub page: Option<String>,
    /// Events that the page can show.
    pub events: u64,
    /// Events that arrived on the socket.
    pub received: u64,
    /// Requests that could not be used.
    pub refused: u64,
    /// Open connections, without the one that asks.
    pub connections: u64,
    /// Browsers and terminals that show the page.
    pub viewers: u64,
    /// Questions that wait for an answer.
    pub pending_approvals: u64,
    /// Seconds without work after which the process ends. `None`: it stays.
    pub idle_exit: Option<u64>,
    /// Exports of telemetry. `None`: they are off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<ExportStatus>,
    /// Warm interpreters. `None`: this system has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm: Option<WarmStatus>,
    /// Problems that do not end the process, such as a full disk.
    pub problems: Vec<String>,
}

/// State of the warm interpreters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WarmStatus {
    /// Interpreters that wait.
    pub waiting: u64,
    /// Warm runs since the start of the process.
    pub runs: u64,
    /// Runs that were cold because no interpreter waited: the first run of a script, and runs that follow each other closely.
    #[serde(default)]
    pub missed: u64,
    /// Scripts that could run warm, but whose last run was cold.
    pub cold: Vec<ColdScript>,
}

/// A script whose last run was cold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ColdScript {
    /// Path of the script.
    pub script: String,
    /// Reason.
    pub reason: String,
}

/// Exports of telemetry since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct ExportStatus {
    /// Requests that the collector accepted.
    pub accepted: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Last error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// First characters of a text from outside.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_survive_the_protocol() {
        for record in [None, Some(r#"{"a":[1,2],"b":"\u00e9"}"#)] {
            let line = "{\"time\":\"now\",\"command\":\"echo \\\"é\\\"\"}\n";
            let bytes = frame(&event_text(line, record, Some("00-1-2-01")));
            let length = frame_length([bytes[0], bytes[1], bytes[2], bytes[3]]).unwrap();
            assert_eq!(length, bytes.len() - PREFIX);
            let event = Request::parse(&bytes[PREFIX..]).unwrap().event().unwrap();
            assert_eq!(event.line, line.trim_end());
            assert_eq!(event.record.as_ref().map(RawJson::as_str), record);
        }
    }

    #[test]
    fn other_frames_are_refused_with_their_reason() {
        for (text, reason) in [
            ("", "the frame is not valid JSON"),
            ("{", "the frame is not valid JSON"),
            ("[]", "must be a JSON object, but is"),
            ("{}", "unknown version ``"),
            (r#"{"version":2,"kind":"stop"}"#, "unknown version `2`"),
            (r#"{"version":"1","kind":"stop"}"#, "unknown version `\"1\"`"),
            (r#"{"version":1}"#, "unknown kind of request ``"),
            (r#"{"version":1,"kind":"Stop"}"#, "unknown kind of request `Stop`"),
            (r#"{"version":1,"kind":["stop"]}"#, "unknown kind of request ``"),
        ] {
            let error = Request::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let error = Request::parse(br#"{"version":1,"kind":"event"}"#).unwrap().event().unwrap_err().to_string();
        assert!(error.starts_with("invalid `event` request: missing field `line`"), "{error}");
        assert!(frame_length(u32::MAX.to_le_bytes()).is_err());
        assert!(Request::parse(&vec![b' '; MAX_FRAME + 1]).is_err());
    }

    #[test]
    fn bodies_are_flat() {
        #[derive(Serialize, Deserialize)]
        struct Body {
            script: String,
        }
        let text = Request::with_body(Kind::Warm, &Body { script: "x".to_owned() }).unwrap();
        assert_eq!(text, r#"{"version":1,"kind":"warm","script":"x"}"#);
        assert_eq!(Request::parse(text.as_bytes()).unwrap().read::<Body>().unwrap().script, "x");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Request::parse(&bytes).and_then(|request| request.event());
        }
    }
}
