//! One connection and what is said on it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use checkrein_core::Captured;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::header::{HeaderName, HeaderValue, LOCATION};
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::body::Pieces;
use super::sign;

/// What bytes go over.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Io = TokioIo<Box<dyn Stream>>;

/// A connection that is driven by whoever waits for an answer on it. No task of its own does that: a request then costs no
/// trip between threads, and nothing goes on when the one that waits is dropped.
pub(super) struct Link {
    sender: SendRequest<Pieces>,
    /// Gone when it has ended. Boxed, since a link is moved often.
    connection: Option<Box<Connection<Io, Pieces>>>,
}

/// The headers of answers that somebody reads.
static READ: [HeaderName; 4] = [LOCATION, sign::ID, sign::TIMESTAMP, sign::SIGNATURE];

/// An answer, up to the cap.
pub(super) struct Answer {
    pub(super) status: u16,
    /// Those that somebody reads.
    pub(super) headers: HeaderMap,
    pub(super) body: Captured,
}

impl Link {
    pub(super) async fn open(stream: Box<dyn Stream>) -> hyper::Result<Self> {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        Ok(Self { sender, connection: Some(Box::new(connection)) })
    }

    /// Whether another request can be sent, as far as is known.
    pub(super) fn is_idle(&mut self) -> bool {
        self.drive(&mut unheard());
        self.connection.is_some() && self.sender.is_ready()
    }

    /// Sends a request and waits for the head of the answer.
    pub(super) async fn send(&mut self, request: Request<Pieces>) -> hyper::Result<Response<Incoming>> {
        let mut response = pin!(self.sender.send_request(request));
        let connection = &mut self.connection;
        poll_fn(|cx| {
            drive(connection, cx);
            response.as_mut().poll(&mut unheard())
        })
        .await
    }

    /// Reads an answer up to the cap. What is longer is left unread, and the connection is of no more use then.
    pub(super) async fn read(&mut self, response: Response<Incoming>, cap: usize) -> hyper::Result<Answer> {
        let (head, mut body) = response.into_parts();
        let (status, headers) = (head.status.as_u16(), copied(&head.headers));
        drop(head);
        let announced = body.size_hint().exact().unwrap_or(0);
        let mut bytes = Vec::new();
        let mut total = 0;
        if announced <= cap as u64 {
            while !body.is_end_stream()
                && let Some(piece) = self.piece(&mut body).await
            {
                let piece = piece?;
                total += piece.len() as u64;
                let kept = piece.len().min(cap - bytes.len());
                bytes.extend_from_slice(&piece[..kept]);
                if total > cap as u64 {
                    break;
                }
            }
        }
        let body = Captured::new(bytes, total.max(announced));
        Ok(Answer { status, headers, body })
    }

    async fn piece(&mut self, body: &mut Incoming) -> Option<hyper::Result<Bytes>> {
        poll_fn(|cx| {
            self.drive(cx);
            let piece = Pin::new(&mut *body).poll_frame(&mut unheard());
            // Trailers have no data, and say nothing to us.
            piece.map_ok(|frame| frame.into_data().unwrap_or_default())
        })
        .await
    }

    fn drive(&mut self, cx: &mut Context<'_>) {
        drive(&mut self.connection, cx);
    }
}

/// The headers that somebody reads, on their own: as they come they are parts of what was received, which the connection could
/// not use for the next answer while they are there.
fn copied(headers: &HeaderMap) -> HeaderMap {
    let read = headers.iter().filter(|(name, _)| READ.contains(name));
    read.filter_map(|(name, value)| Some((name.clone(), HeaderValue::from_bytes(value.as_bytes()).ok()?))).collect()
}

/// For what only a connection can wake that is driven right before: nobody has to be woken to hear of it. Woken all the
/// same, the task would run once more for nothing.
fn unheard() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Lets the connection read and write. What goes wrong with it is told to the one that waits for the answer.
fn drive(connection: &mut Option<Box<Connection<Io, Pieces>>>, cx: &mut Context<'_>) {
    if let Some(open) = connection
        && Pin::new(&mut **open).poll(cx).is_ready()
    {
        *connection = None;
    }
}
