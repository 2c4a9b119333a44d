//! One connection: reads frames, checks the sender, and calls the part of the process that answers.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::Shared;
use super::events::Arrived;
use crate::protocol::{self, Answer, Kind, PREFIX, ProtocolError, Request};

/// Longest wait for a request, or for the rest of one.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Reason why a connection ends.
#[derive(Debug, thiserror::Error)]
pub(super) enum Ended {
    /// The sender closed it between two frames.
    #[error("closed")]
    Closed,
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("no request arrived in time")]
    Idle,
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    #[error("the connection comes from another user (uid {0})")]
    OtherUser(u32),
}

/// Serves a connection to its end.
pub(super) async fn serve(mut stream: UnixStream, shared: &Arc<Shared>) {
    let ended = match check_peer(&stream, shared.uid) {
        Ok(()) => loop {
            match next(&mut stream, shared).await {
                Ok(request) if request.body.kind == Kind::Warm => {
                    return super::warm::serve(stream, request.body, shared).await;
                }
                Ok(request) => {
                    if let Err(ended) = answer(&mut stream, shared, request).await {
                        break ended;
                    }
                }
                Err(ended) => break ended,
            }
        },
        Err(ended) => ended,
    };
    if !matches!(ended, Ended::Closed) {
        shared.refused.fetch_add(1, Ordering::Relaxed);
        // The sender may be gone, or may not read.
        let _ = timeout(REQUEST_TIMEOUT, send(&mut stream, &Answer::error(ended.to_string()))).await;
    }
}

/// Checks that the sender runs as the user of this process.
fn check_peer(stream: &UnixStream, own: u32) -> Result<(), Ended> {
    match stream.peer_cred()?.uid() {
        uid if uid == own => Ok(()),
        uid => Err(Ended::OtherUser(uid)),
    }
}

/// A request, and the memory that it has reserved.
struct Received {
    body: Request,
    memory: tokio::sync::OwnedSemaphorePermit,
}

async fn next(stream: &mut UnixStream, shared: &Arc<Shared>) -> Result<Received, Ended> {
    let mut prefix = [0; PREFIX];
    let first = timeout(REQUEST_TIMEOUT, stream.read(&mut prefix)).await.map_err(|_| Ended::Idle)??;
    if first == 0 {
        return Err(Ended::Closed);
    }
    let rest = async {
        stream.read_exact(&mut prefix[first..]).await?;
        let length = protocol::frame_length(prefix)?;
        let memory = shared.events.reserve(length).await;
        let mut bytes = Vec::new();
        // Memory grows with the bytes that arrive, not with the length that the sender names.
        (&mut *stream).take(length as u64).read_to_end(&mut bytes).await?;
        if bytes.len() < length {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(Received { body: Request::parse(&bytes)?, memory })
    };
    timeout(REQUEST_TIMEOUT, rest).await.map_err(|_| Ended::Idle)?
}

async fn answer(stream: &mut UnixStream, shared: &Arc<Shared>, request: Received) -> Result<(), Ended> {
    let Received { body: request, memory } = request;
    let answer = match request.kind {
        Kind::Event => {
            let event = request.event()?;
            shared.activity.touch();
            let traceparent = request.traceparent();
            shared.events.insert(Arrived { event, traceparent, _memory: memory }).await;
            return Ok(());
        }
        Kind::Status => Answer::ok(&shared.status()),
        Kind::Stop => {
            timeout(REQUEST_TIMEOUT, send(stream, &Answer::ok(&true))).await.map_err(|_| Ended::Idle)??;
            shared.stop.notify_one();
            // The connection closes with the runtime, after everything else has ended.
            return std::future::pending().await;
        }
        Kind::Login => {
            shared.activity.touch();
            match shared.login() {
                Ok(login) => Answer::ok(&login),
                Err(why) => Answer::error(why),
            }
        }
        // Taken before.
        Kind::Warm => return Ok(()),
    };
    timeout(REQUEST_TIMEOUT, send(stream, &answer)).await.map_err(|_| Ended::Idle)??;
    Ok(())
}

async fn send(stream: &mut UnixStream, answer: &Answer) -> io::Result<()> {
    stream.write_all(&protocol::frame(&answer.text())).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn other_users_are_refused() {
        let (one, _other) = UnixStream::pair().unwrap();
        let own = rustix::process::geteuid().as_raw();
        assert!(check_peer(&one, own).is_ok());
        let error = check_peer(&one, own + 1).unwrap_err();
        assert!(matches!(error, Ended::OtherUser(uid) if uid == own), "{error}");
    }
}
