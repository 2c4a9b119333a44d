//! How long a hook that is an HTTP endpoint takes, in turns with a floor: a bare blocking request, ready made, on a
//! connection that is kept, to the same server on loopback. The ratio is what counts.
//!
//! All of it runs on one processor. Where the threads of both ends could move between two, floor and fire alike took 20 µs
//! in one run and 120 or more in the next, so that the ratio was luck. A host that is spread over processors pays more
//! than what is shown here.
//!
//! `cargo bench -p checkrein --bench http`
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a benchmark reports to people")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Instant;

use checkrein::payload::ToolCall;
use checkrein::{Decision, Engine, Event, EventKind, HookSpec, RawJson, Verdict};
use tokio::runtime::{Builder, Runtime};

const ROUNDS: usize = 100;
const REPETITIONS: u32 = 50;
const ANSWER: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 20\r\n\r\n{\"decision\":\"allow\"}";
const BUDGET: f64 = 3.0;

fn main() {
    #[cfg(target_os = "linux")]
    on_one_processor();
    let address = server();
    println!("{:<44} {:>10} {:>10} {:>8} {:>8}", "case", "time", "floor", "x floor", "budget");
    let current = Builder::new_current_thread().enable_all().build().unwrap();
    let engine = engine(address, false);
    case("fire, runtime of one thread", address, Some(BUDGET), |times| {
        current.block_on(async {
            for _ in 0..times {
                allowed(&engine.fire(event()).await);
            }
        });
    });
    let signing = self::engine(address, true);
    case("fire, signed", address, Some(BUDGET), |times| {
        current.block_on(async {
            for _ in 0..times {
                allowed(&signing.fire(event()).await);
            }
        });
    });
    let multi = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    case("fire, a task of a runtime of two threads", address, Some(BUDGET), |times| spawned(&multi, &engine, times));
    case("fire_blocking", address, None, |times| {
        for _ in 0..times {
            allowed(&engine.fire_blocking(event()));
        }
    });
}

/// Threads that are started afterwards stay there too.
#[cfg(target_os = "linux")]
fn on_one_processor() {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let first = (0..rustix::thread::CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap();
    let mut only = rustix::thread::CpuSet::new();
    only.set(first);
    rustix::thread::sched_setaffinity(None, &only).unwrap();
}

fn spawned(runtime: &Runtime, engine: &Engine, times: u32) {
    let engine = engine.clone();
    let fires = async move {
        for _ in 0..times {
            allowed(&engine.fire(event()).await);
        }
    };
    runtime.block_on(runtime.spawn(fires)).unwrap();
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

fn allowed(verdict: &Verdict) {
    assert_eq!(verdict.decision(), Decision::Allow, "{verdict:?}");
}

/// Times something against the floor: many short rounds of both in turns, so that whatever else the machine does befalls
/// both alike.
fn case(name: &str, address: SocketAddr, budget: Option<f64>, mut run: impl FnMut(u32)) {
    let mut floor = Floor::new(address);
    let (mut times, mut floors) = (Vec::new(), Vec::new());
    run(REPETITIONS);
    floor.run(REPETITIONS);
    for _ in 0..ROUNDS {
        times.push(micros(|| run(REPETITIONS)));
        floors.push(micros(|| floor.run(REPETITIONS)));
    }
    let (time, floor) = (median(times), median(floors));
    let ratio = time / floor;
    let (shown, over) = match budget {
        Some(budget) => (format!("{budget:.1}"), if ratio > budget { "  over budget" } else { "" }),
        None => ("-".to_owned(), ""),
    };
    println!("{name:<44} {time:>7.1} µs {floor:>7.1} µs {ratio:>8.2} {shown:>8}{over}");
}

fn micros(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e6 / f64::from(REPETITIONS)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The least that a request can cost: one write and one read.
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

    fn run(&mut self, times: u32) {
        let mut answer = [0; ANSWER.len()];
        for _ in 0..times {
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

/// Answers every request on a connection.
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
