//! An HTTP hook. The endpoint is a small server on the loopback interface.
//!
//! `cargo run -p checkrein --example http_hook`
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use checkrein::payload::ToolCall;
use checkrein::{Action, Engine, Event, EventKind, HookSpec, RawJson};

/// Denies commands with `rm -rf`. The body of the request is the event as JSON; the body of the response is the hook's reply.
fn answer(body: &str) -> &'static str {
    match body.contains("rm -rf") {
        true => r#"{"decision": "deny", "reason": "the policy server says no"}"#,
        false => "{}",
    }
}

fn serve(stream: TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let answer = answer(&String::from_utf8_lossy(&body));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    write!(reader.get_mut(), "{head}\r\ncontent-length: {}\r\n\r\n{answer}", answer.len())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/policy", listener.local_addr()?);
    std::thread::spawn(move || listener.incoming().flatten().try_for_each(serve));

    let engine = Engine::builder()
        .hook(
            HookSpec::http("policy", EventKind::PreToolUse, url)
                // `$POLICY_TOKEN` comes from the environment. With a secret, requests are signed.
                .request(|http| http.header("authorization", "Bearer $POLICY_TOKEN").allow_env("POLICY_TOKEN"))
                .timeout(Duration::from_secs(5)),
        )
        .vars([("POLICY_TOKEN", "t0ken")])
        .try_build()?;

    let refused = Action::Refuse { reason: "the policy server says no" };
    for (input, expected) in [(r#"{"command": "ls"}"#, Action::Proceed), (r#"{"command": "rm -rf /"}"#, refused)] {
        let call = ToolCall::new("Bash", input.parse::<RawJson>()?);
        let verdict = engine.fire(Event::pre_tool_use(call)).await;
        println!("{input}: {:?}", verdict.action());
        assert_eq!(verdict.action(), expected);
    }
    Ok(())
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
