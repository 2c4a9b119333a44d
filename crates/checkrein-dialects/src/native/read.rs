use checkrein_core::{
    Captured, Decision, Event, Failure, FailureKind, HttpReply, Opinion, ProcessExit, ProcessReply, RawJson, Reply,
};

use super::answer::read_answer;

/// The exit code that denies.
const BLOCK: i32 = 2;

/// What a reply says, or why it says nothing that can be used.
///
/// # Errors
/// A failure with its kind: the process was ended by a signal, the exit code is unknown, the answer is not JSON, was
/// cut, or says something that the event does not allow.
pub fn read(event: &Event, reply: Reply) -> Result<Opinion, Failure> {
    match reply {
        Reply::Opinion(opinion) => Ok(opinion),
        Reply::Process(reply) => read_process(event, &reply),
        Reply::Http(reply) => read_http(event, &reply),
        _ => Err(Failure::new(FailureKind::Schema, "a reply of a kind that this dialect does not know")),
    }
}

fn read_process(event: &Event, reply: &ProcessReply) -> Result<Opinion, Failure> {
    let stderr = reply.stderr.text();
    match reply.exit {
        ProcessExit::Code(0) => read_stdout(event, &reply.stdout),
        ProcessExit::Code(BLOCK) => {
            // A guard that blocks has blocked, whatever is wrong with what it printed.
            let said = read_stdout(event, &reply.stdout).unwrap_or_else(|failure| {
                Opinion::none().with_message(format!("what it printed could not be read ({failure})"))
            });
            let reason = said.reason().map_or_else(|| stderr.trim().to_owned(), str::to_owned);
            let decision = said.decision().max(Decision::Deny);
            Ok(said.with_decision(decision).with_reason(reason))
        }
        ProcessExit::Code(code) => {
            Err(Failure::new(FailureKind::Exit, format!("exit code {code}{}", first_line(&stderr))))
        }
        ProcessExit::Signal(signal) => {
            Err(Failure::new(FailureKind::Signal, format!("ended by signal {signal}{}", first_line(&stderr))))
        }
    }
}

/// `: ` and the first line of what a process complained about, if it did.
fn first_line(stderr: &str) -> String {
    const SHOWN: usize = 200;
    match stderr.lines().map(str::trim).find(|line| !line.is_empty()) {
        None => String::new(),
        Some(line) => format!(": {}", line.chars().take(SHOWN).collect::<String>()),
    }
}

fn read_stdout(event: &Event, stdout: &Captured) -> Result<Opinion, Failure> {
    // Some shells put a byte order mark in front.
    let bytes = stdout.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&stdout.bytes).trim_ascii();
    if bytes.first() == Some(&b'{') {
        return read_json(event, stdout, bytes);
    }
    let kind = event.kind();
    let contract = kind.contract();
    if contract.is_gate() && stdout.is_cut() {
        // The answer may be in the part that is missing.
        return Err(cut(stdout));
    }
    if let Some(noise) = noise_before_answer(bytes) {
        let message = format!("printed {noise} bytes before its answer; they were skipped");
        return Ok(read_json(event, stdout, &bytes[noise..])?.with_message(message));
    }
    if contract.is_gate() && looks_like_an_answer(bytes) {
        let message = "what it printed has an answer in it that cannot be told from the rest";
        return Err(Failure::new(FailureKind::Parse, message));
    }
    if contract.plain_text && !bytes.is_empty() {
        return Ok(Opinion::context(String::from_utf8_lossy(bytes).trim()));
    }
    Ok(Opinion::none())
}

/// A shell's profile or a tool may print before the hook does. If the text ends in a JSON object that starts on a line of
/// its own, that is the answer: to take it for plain text would open a gate that the hook wanted closed.
fn noise_before_answer(bytes: &[u8]) -> Option<usize> {
    // Each try reads to the end, so their number is limited. The answer is the last that was printed.
    const TRIES: usize = 64;
    if bytes.last() != Some(&b'}') {
        return None;
    }
    let lines = bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let starts = lines.filter_map(|line| {
        let blank = bytes[line..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        (bytes.get(line + blank) == Some(&b'{')).then_some(line + blank)
    });
    starts.take(TRIES).find(|&at| RawJson::parse_bytes(&bytes[at..]).is_ok())
}

/// Whether the text holds something that was meant as an answer.
fn looks_like_an_answer(bytes: &[u8]) -> bool {
    const KEYS: [&[u8]; 4] = [b"\"decision\"", b"\"permissionDecision\"", b"\"continue\"", b"\"hookSpecificOutput\""];
    KEYS.iter().any(|key| bytes.windows(key.len()).any(|window| window == *key))
}

fn cut(captured: &Captured) -> Failure {
    let message = format!("printed {} bytes, only {} are read", captured.total, captured.bytes.len());
    Failure::new(FailureKind::OutputCap, message)
}

fn read_http(event: &Event, reply: &HttpReply) -> Result<Opinion, Failure> {
    if !(200..300).contains(&reply.status) {
        return Err(Failure::new(FailureKind::HttpStatus, format!("status {}", reply.status)));
    }
    let bytes = reply.body.bytes.trim_ascii();
    if bytes.is_empty() && !reply.body.is_cut() {
        return Ok(Opinion::none());
    }
    read_json(event, &reply.body, bytes)
}

fn read_json(event: &Event, captured: &Captured, bytes: &[u8]) -> Result<Opinion, Failure> {
    if captured.is_cut() {
        return Err(cut(captured));
    }
    let json = RawJson::parse_bytes(bytes).map_err(|error| Failure::new(FailureKind::Parse, error.to_string()))?;
    read_answer(event, &json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_core::payload::{SessionStart, ToolCall};

    fn gate() -> Event {
        Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()))
    }

    fn process(code: i32, stdout: &str, stderr: &str) -> Reply {
        Reply::Process(ProcessReply::new(ProcessExit::Code(code)).stdout(stdout).stderr(stderr))
    }

    fn outcome(event: &Event, reply: Reply) -> (Decision, Option<FailureKind>, String) {
        match read(event, reply) {
            Ok(opinion) => (opinion.decision(), None, opinion.reason().unwrap_or_default().to_owned()),
            Err(failure) => (Decision::NoOpinion, Some(failure.kind), failure.message),
        }
    }

    #[test]
    fn exit_codes_and_output_of_a_process() {
        use Decision::{Allow, Deny, Halt, NoOpinion};
        use FailureKind::{Exit, Parse};
        const MIXED: &str = "what it printed has an answer in it that cannot be told from the rest";
        let allow = r#"{"decision":"allow"}"#;
        for (code, stdout, stderr, expected) in [
            (0, "", "", (NoOpinion, None, "")),
            (0, " \n", "noise", (NoOpinion, None, "")),
            (0, "hello", "", (NoOpinion, None, "")),
            (0, allow, "", (Allow, None, "")),
            (0, r#"{"decision":"deny","reason":"no"}"#, "", (Deny, None, "no")),
            (0, r#"{"continue":false,"stopReason":"enough"}"#, "", (Halt, None, "enough")),
            (
                0,
                "{\"decision\":",
                "",
                (NoOpinion, Some(Parse), "the JSON text ends too early, expected a value at line 1 column 13"),
            ),
            (0, "{} {}", "", (NoOpinion, Some(Parse), "text after the end of the JSON value at line 1 column 4")),
            (0, "welcome!\n{\"decision\":\"deny\",\"reason\":\"no\"}\n", "", (Deny, None, "no")),
            (0, "\u{feff}{\"decision\":\"deny\",\"reason\":\"no\"}", "", (Deny, None, "no")),
            (0, "hi\n  {\"decision\":\"deny\",\"reason\":\"no\"}", "", (Deny, None, "no")),
            (0, "hi\n{\"decision\":\"deny\"}\nbye", "", (NoOpinion, Some(Parse), MIXED)),
            (0, "debug: {\"decision\":\"deny\"}", "", (NoOpinion, Some(Parse), MIXED)),
            (0, "[{\"decision\":\"deny\"}]", "", (NoOpinion, Some(Parse), MIXED)),
            (2, "", "not now\n", (Deny, None, "not now")),
            (2, allow, "not now", (Deny, None, "not now")),
            (2, r#"{"decision":"deny","reason":"json"}"#, "stderr", (Deny, None, "json")),
            (2, r#"{"continue":false}"#, "", (Halt, None, "")),
            (2, "{broken", "why", (Deny, None, "why")),
            (1, allow, "Traceback\nmore", (NoOpinion, Some(Exit), "exit code 1: Traceback")),
            (127, "", "", (NoOpinion, Some(Exit), "exit code 127")),
        ] {
            let (decision, failure, text) = expected;
            assert_eq!(
                outcome(&gate(), process(code, stdout, stderr)),
                (decision, failure, text.to_owned()),
                "{stdout}"
            );
        }
        let signal = Reply::Process(ProcessReply::new(ProcessExit::Signal(11)));
        assert_eq!(outcome(&gate(), signal), (NoOpinion, Some(FailureKind::Signal), "ended by signal 11".to_owned()));
    }

    #[test]
    fn the_answer_is_the_last_that_was_printed() {
        let log: String = (0..200).map(|n| format!("{{\"level\":\"info\",\"n\":{n}}}\n")).collect();
        let text = format!("banner\n{log}{{\"decision\":\"deny\",\"reason\":\"no\"}}");
        assert_eq!(outcome(&gate(), process(0, &text, "")).0, Decision::Deny);
        let cut = Captured::new(b"plain text".to_vec(), 2_000_000);
        let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(cut));
        assert_eq!(outcome(&gate(), reply).1, Some(FailureKind::OutputCap), "the answer may be in what is missing");
        let broken = read(&gate(), process(2, "{\"continue\":false,}", "why")).unwrap();
        assert!(broken.messages()[0].contains("could not be read"));
    }

    #[test]
    fn text_is_context_where_the_event_says_so() {
        let start = Event::session_start(SessionStart::new());
        let opinion = read(&start, process(0, "  be kind \n", "")).unwrap();
        assert_eq!(opinion.contexts(), ["be kind"]);
    }

    #[test]
    fn a_cut_answer_is_a_failure() {
        let stdout = Captured::new(b"{\"decision\":\"allow\"}".to_vec(), 5000);
        let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(stdout));
        let (_, kind, message) = outcome(&gate(), reply);
        assert_eq!((kind, message.as_str()), (Some(FailureKind::OutputCap), "printed 5000 bytes, only 20 are read"));
    }

    #[test]
    fn odd_bytes_are_failures_or_text_and_never_panic() {
        let bytes = |bytes: &[u8]| Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(bytes.to_vec()));
        assert_eq!(outcome(&gate(), bytes(b"{\"a\":\"\xff\"}")).1, Some(FailureKind::Parse));
        assert_eq!(outcome(&gate(), bytes(b"\xff\xfe\0\0")), (Decision::NoOpinion, None, String::new()));
        assert_eq!(outcome(&gate(), bytes(b"{\"a\0\":1}")).1, Some(FailureKind::Parse));
        let deep = "{\"a\":".repeat(200) + "1" + &"}".repeat(200);
        assert_eq!(outcome(&gate(), bytes(deep.as_bytes())).1, Some(FailureKind::Parse));
        let flood = "\n{".repeat(100_000) + "}";
        let _ = outcome(&gate(), bytes(flood.as_bytes()));
    }

    #[test]
    fn http_answers() {
        use FailureKind::{HttpStatus, OutputCap, Parse};
        for (status, body, decision, failure) in [
            (200, "", Decision::NoOpinion, None),
            (204, " ", Decision::NoOpinion, None),
            (200, r#"{"decision":"deny","reason":"x"}"#, Decision::Deny, None),
            (200, "OK", Decision::NoOpinion, Some(Parse)),
            (302, "{}", Decision::NoOpinion, Some(HttpStatus)),
            (404, r#"{"decision":"allow"}"#, Decision::NoOpinion, Some(HttpStatus)),
            (500, "", Decision::NoOpinion, Some(HttpStatus)),
        ] {
            let (found, kind, _) = outcome(&gate(), Reply::Http(HttpReply::new(status, body)));
            assert_eq!((found, kind), (decision, failure), "{status} {body}");
        }
        let cut = HttpReply::new(200, Captured::new(b"{}".to_vec(), 9));
        assert_eq!(outcome(&gate(), Reply::Http(cut)).1, Some(OutputCap));
    }
}
