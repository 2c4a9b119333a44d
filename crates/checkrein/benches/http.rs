//! Cost of an HTTP hook: `cargo bench -p checkrein --bench http`. The baseline is a prepared blocking request on an open
//! connection to the same server on loopback.
//!
//! Everything runs on one CPU. With two CPUs, baseline and fire both took 20 µs in one run and 120 µs in the next, so the
//! ratio was random. A host with several CPUs has a higher cost.
#![allow(clippy::unwrap_used, missing_docs, reason = "a failed benchmark panics")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use checkrein::payload::ToolCall;
use checkrein::{Decision, Engine, Event, EventKind, HookSpec, RawJson, Verdict};
use checkrein_bench::{Bench, Case};
use tokio::runtime::{Builder, Runtime};

/// Requests in each round.
const REQUESTS: u32 = 50;
const ANSWER: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n{\"decision\":\"allow\"}";
const BUDGET: f64 = 3.0;

fn main() {
    #[cfg(target_os = "linux")]
    pin_to_one_cpu();
    let address = server();
    let bench = Bench::from_args();
    let mut floor = Floor::new(address);
    let mut measure = |case: Case<'_>, run: &dyn Fn()| case.work(REQUESTS).compare(run, || floor.run());
    let current = Builder::new_current_thread().enable_all().build().unwrap();
    let (engine, signing) = (engine(address, false), engine(address, true));
    let budgeted = |name: &str| bench.case(name).budget(BUDGET);
    measure(budgeted("fire, runtime of one thread"), &|| current.block_on(fires(&engine)));
    measure(budgeted("fire, signed"), &|| current.block_on(fires(&signing)));
    let multi = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    measure(budgeted("fire, a task of a runtime of two threads"), &|| spawned(&multi, &engine));
    measure(bench.case("fire_blocking"), &|| {
        for _ in 0..REQUESTS {
            assert_allowed(&engine.fire_blocking(event()));
        }
    });
}

/// Pins the process to one CPU. New threads inherit it.
#[cfg(target_os = "linux")]
fn pin_to_one_cpu() {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let first = (0..rustix::thread::CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap();
    let mut only = rustix::thread::CpuSet::new();
    only.set(first);
    rustix::thread::sched_setaffinity(None, &only).unwrap();
}

async fn fires(engine: &Engine) {
    for _ in 0..REQUESTS {
        assert_allowed(&engine.fire(event()).await);
    }
}

fn spawned(runtime: &Runtime, engine: &Engine) {
    let engine = engine.clone();
    runtime.block_on(runtime.spawn(async move { fires(&engine).await })).unwrap();
}

fn engine(address: SocketAddr, signed: bool) -> Engine {
    let hook = HookSpec::http("guard", EventKind::PreToolUse, format!("http://{address}/guard"));
    let hook = if signed { hook.request(|http| http.secret("a secret of some length")) } else { hook };
    Engine::builder().hook(hook).build()
}

fn event() -> Event {
    let input: RawJson = r#"{"command":"cargo test --workspace"}"#.parse().unwrap();
    Event::pre_tool_use(ToolCall::new("Bash", input))
}

fn assert_allowed(verdict: &Verdict) {
    assert_eq!(verdict.decision(), Decision::Allow, "{verdict:?}");
}

/// Baseline of a request: one write and one read.
struct Floor {
    stream: TcpStream,
    request: String,
}

impl Floor {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let body = r#"{"event":"pre_tool_use","tool_name":"Bash","tool_input":{"command":"cargo test --workspace"}}"#;
        let length = body.len();
        let request = format!(
            "POST /guard HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        Self { stream, request }
    }

    fn run(&mut self) {
        let mut answer = [0; ANSWER.len()];
        for _ in 0..REQUESTS {
            self.stream.write_all(self.request.as_bytes()).unwrap();
            self.stream.read_exact(&mut answer).unwrap();
        }
    }
}

fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// Responds to every request on a connection.
fn serve(mut stream: TcpStream) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let (mut buffer, mut filled) = ([0; 16 * 1024], 0);
    loop {
        let read = stream.read(&mut buffer[filled..]).ok().filter(|read| *read > 0)?;
        filled += read;
        let Some(head) = buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let text = str::from_utf8(&buffer[..head]).ok()?;
        let length: usize = text.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
        if filled == head + 4 + length {
            filled = 0;
            stream.write_all(ANSWER.as_bytes()).ok()?;
        }
    }
}
