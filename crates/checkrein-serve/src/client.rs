//! [`Client`]: a connection to the resident process of the same user.
//!
//! `checkrein hook` uses it in every event, so it needs no runtime and never waits longer than its caller allows. A process that
//! does not run costs one failed system call.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use checkrein_core::RawJson;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::protocol::{self, Answer, Kind, PREFIX, ProcessStatus, Request};
use crate::runtime_dir::{RuntimeDir, RuntimeDirError};
use crate::web::Login;

/// Maximum time that `checkrein hook` spends on the resident process, after its answer.
pub const PUSH_TIMEOUT: Duration = Duration::from_millis(20);

/// A connection whose other end runs as the same user.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    pid: Option<u32>,
}

/// Reason why the process cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No process listens.
    #[error("the resident process does not run")]
    NotRunning,
    /// The directory of the socket is not private.
    #[error(transparent)]
    RuntimeDir(RuntimeDirError),
    /// The socket belongs to another user.
    #[error("the process at the socket belongs to another user (uid {0})")]
    OtherUser(u32),
    /// The process does not answer in time.
    #[error("the resident process does not answer")]
    Timeout,
    /// The connection failed.
    #[error("cannot talk to the resident process: {0}")]
    Io(#[from] io::Error),
    /// The answer is no answer of this protocol.
    #[error("the resident process sent an invalid answer: {0}; restart it if its version differs")]
    Invalid(String),
    /// The process refused the request.
    #[error("the resident process refused: {0}")]
    Refused(String),
}

impl Client {
    /// Connects without waiting.
    ///
    /// # Errors
    /// The process does not run, is not the user's, or has too many connections.
    pub fn connect(state_dir: &Path) -> Result<Self, ClientError> {
        let dir = match RuntimeDir::open(state_dir) {
            Ok(dir) => dir,
            Err(RuntimeDirError::Missing(_)) => return Err(ClientError::NotRunning),
            Err(error) => return Err(ClientError::RuntimeDir(error)),
        };
        let stream = match connect(&dir.socket_address()) {
            Ok(stream) => stream,
            Err(error) => {
                return Err(match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => ClientError::NotRunning,
                    io::ErrorKind::WouldBlock => ClientError::Timeout,
                    _ => error.into(),
                });
            }
        };
        stream.set_nonblocking(true)?;
        let pid = check_peer(&stream)?;
        Ok(Self { stream, pid })
    }

    /// As [`connect`](Self::connect). Waits while the queue of the process is full, for commands of a user.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), or the queue stays full.
    pub fn connect_within(state_dir: &Path, timeout: Duration) -> Result<Self, ClientError> {
        let deadline = Instant::now() + timeout;
        loop {
            match Self::connect(state_dir) {
                Err(ClientError::Timeout) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
                connected => return connected,
            }
        }
    }

    /// Id of the process at the other end, where the system tells it.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Sends an answered event. Does not wait for an answer.
    ///
    /// # Errors
    /// The process does not take it in time. The decision log has the event anyway.
    pub fn push(
        mut self,
        line: &str,
        record: Option<&str>,
        traceparent: Option<&str>,
        timeout: Duration,
    ) -> Result<(), ClientError> {
        self.send(&protocol::event_text(line, record, traceparent), Instant::now() + timeout)
    }

    /// Returns the facts about the process.
    ///
    /// # Errors
    /// The process does not answer in time, or not in this protocol.
    pub fn status(&mut self, timeout: Duration) -> Result<ProcessStatus, ClientError> {
        read(&self.call(&Request::text(Kind::Status), timeout)?)
    }

    /// Asks the process to end, and waits until it has: it closes this connection last.
    ///
    /// # Errors
    /// As [`status`](Self::status), or the process does not end in time.
    pub fn stop(mut self, timeout: Duration) -> Result<(), ClientError> {
        let deadline = Instant::now() + timeout;
        self.call(&Request::text(Kind::Stop), timeout)?;
        match self.fill(&mut [0], deadline) {
            Err(ClientError::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            Err(ClientError::Io(error)) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
            Err(error) => Err(error),
            Ok(()) => Err(ClientError::Invalid("more than one answer".to_owned())),
        }
    }

    /// Returns the address of the page, with a token for one login.
    ///
    /// # Errors
    /// As [`status`](Self::status).
    pub fn login(&mut self, timeout: Duration) -> Result<Login, ClientError> {
        read(&self.call(&Request::text(Kind::Login), timeout)?)
    }

    /// Sends a request with the keys of a value, and returns the result.
    ///
    /// # Errors
    /// As [`status`](Self::status).
    pub fn request<T: Serialize>(&mut self, kind: Kind, body: &T, timeout: Duration) -> Result<RawJson, ClientError> {
        let text = Request::with_body(kind, body).map_err(|error| ClientError::Invalid(error.to_string()))?;
        self.call(&text, timeout)
    }

    fn call(&mut self, request: &str, timeout: Duration) -> Result<RawJson, ClientError> {
        let deadline = Instant::now() + timeout;
        self.send(request, deadline)?;
        let answer: Answer = read(&self.receive(deadline)?)?;
        match answer {
            Answer { ok: Some(ok), .. } => Ok(ok),
            Answer { error: Some(why), .. } => Err(ClientError::Refused(why)),
            Answer { .. } => Err(ClientError::Invalid("an answer without `ok` and `error`".to_owned())),
        }
    }

    /// Sends one frame.
    ///
    /// # Errors
    /// The frame is not written before the deadline.
    pub fn send(&mut self, json: &str, deadline: Instant) -> Result<(), ClientError> {
        if json.len() > protocol::MAX_FRAME {
            return Err(ClientError::Invalid(protocol::ProtocolError::TooLarge(json.len()).to_string()));
        }
        let bytes = protocol::frame(json);
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::WriteZero).into()),
                Ok(written) => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(PollFlags::OUT, deadline)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Receives the JSON of one frame.
    ///
    /// # Errors
    /// No whole frame arrives before the deadline.
    pub fn receive(&mut self, deadline: Instant) -> Result<RawJson, ClientError> {
        let mut prefix = [0; PREFIX];
        self.fill(&mut prefix, deadline)?;
        let length = protocol::frame_length(prefix).map_err(|error| ClientError::Invalid(error.to_string()))?;
        let mut bytes = vec![0; length];
        self.fill(&mut bytes, deadline)?;
        RawJson::parse_bytes(&bytes).map_err(|error| ClientError::Invalid(error.to_string()))
    }

    /// The connection, which does not block.
    pub fn into_stream(self) -> UnixStream {
        self.stream
    }

    fn fill(&mut self, mut bytes: &mut [u8], deadline: Instant) -> Result<(), ClientError> {
        while !bytes.is_empty() {
            match self.stream.read(bytes) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(read) => bytes = &mut bytes[read..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(PollFlags::IN, deadline)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn wait(&self, flags: PollFlags, deadline: Instant) -> Result<(), ClientError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ClientError::Timeout);
        }
        let timeout = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(&self.stream, flags)], timeout.as_ref()) {
            Ok(0) => Err(ClientError::Timeout),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(json: &RawJson) -> Result<T, ClientError> {
    json.read().map_err(|error| ClientError::Invalid(error.to_string()))
}

/// Connects without waiting: a listener whose queue is full would block a usual connection.
#[cfg(target_os = "linux")]
fn connect(path: &Path) -> io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let address = SocketAddrUnix::new(path)?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &address)?;
    Ok(UnixStream::from(socket))
}

/// Other systems refuse a connection if the queue of the listener is full.
#[cfg(not(target_os = "linux"))]
fn connect(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(path)
}

/// Checks that the process at the other end runs as this user, and returns its id.
#[cfg(target_os = "linux")]
fn check_peer(stream: &UnixStream) -> Result<Option<u32>, ClientError> {
    let peer = rustix::net::sockopt::socket_peercred(stream).map_err(io::Error::from)?;
    if peer.uid != rustix::process::geteuid() {
        return Err(ClientError::OtherUser(peer.uid.as_raw()));
    }
    Ok(u32::try_from(peer.pid.as_raw_nonzero().get()).ok())
}

/// Only the user can create a socket in the directory, which was verified.
#[cfg(not(target_os = "linux"))]
fn check_peer(_: &UnixStream) -> Result<Option<u32>, ClientError> {
    Ok(None)
}
