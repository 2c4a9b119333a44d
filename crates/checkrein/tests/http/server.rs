//! A handwritten server that can violate HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Connection of the server.
pub trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

/// Action after a response.
#[derive(PartialEq)]
pub enum Then {
    Keep,
    Close,
}

/// A received request.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names are in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

type Wrap = dyn Fn(TcpStream) -> Box<dyn Stream> + Send + Sync;
type Answer = dyn Fn(&Request, &mut dyn Stream) -> Then + Send + Sync;

pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Calls the function for every request.
    pub fn new(answer: impl Fn(&Request, &mut dyn Stream) -> Then + Send + Sync + 'static) -> Self {
        Self::wrapped(|stream| Box::new(stream), answer)
    }

    /// Always sends the same response.
    pub fn saying(status: &'static str, headers: &'static str, body: &'static str) -> Self {
        Self::new(move |_, stream| respond(stream, status, headers, body))
    }

    pub fn wrapped(
        wrap: impl Fn(TcpStream) -> Box<dyn Stream> + Send + Sync + 'static,
        answer: impl Fn(&Request, &mut dyn Stream) -> Then + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, requests) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (wrap, answer): (Arc<Wrap>, Arc<Answer>) = (Arc::new(wrap), Arc::new(answer));
        let (counted, kept) = (Arc::clone(&connections), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let (wrap, answer, kept) = (Arc::clone(&wrap), Arc::clone(&answer), Arc::clone(&kept));
                std::thread::spawn(move || serve(&mut *wrap(stream), &*answer, &kept));
            }
        });
        Self { address, connections, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Number of accepted connections.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap()
    }

    /// The only request.
    pub fn request(&self) -> Request {
        let requests = self.requests();
        assert_eq!(requests.len(), 1);
        requests[0].clone()
    }
}

pub fn respond(stream: &mut dyn Stream, status: &str, headers: &str, body: &str) -> Then {
    let length = if status.starts_with("204") { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    // The client may have closed the connection.
    let _ = write!(stream, "HTTP/1.1 {status}\r\n{length}{headers}\r\n{body}");
    let _ = stream.flush();
    Then::Keep
}

/// Waits until the client closes the connection.
pub fn wait_for_end(stream: &mut dyn Stream) {
    let _ = stream.read(&mut [0]);
}

fn serve(stream: &mut dyn Stream, answer: &Answer, kept: &Mutex<Vec<Request>>) {
    while let Some(request) = read(stream) {
        kept.lock().unwrap().push(request.clone());
        if answer(&request, stream) == Then::Close {
            return;
        }
    }
}

fn read(stream: &mut dyn Stream) -> Option<Request> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        more(stream, &mut bytes)?;
        // A TLS handshake on a plain connection.
        if bytes[0] == 0x16 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).ok()?;
    let mut lines = text.lines();
    let mut first = lines.next()?.split(' ');
    let mut request = Request { method: first.next()?.into(), path: first.next()?.into(), ..Request::default() };
    for line in lines {
        let (name, value) = line.split_once(':')?;
        request.headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length: usize = request.header("content-length").unwrap_or("0").parse().ok()?;
    while bytes.len() < head + 4 + length {
        more(stream, &mut bytes)?;
    }
    request.body = String::from_utf8(bytes[head + 4..].to_vec()).ok()?;
    Some(request)
}

fn more(stream: &mut dyn Stream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut buffer = [0; 64 * 1024];
    let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
    bytes.extend_from_slice(&buffer[..read]);
    Some(())
}
