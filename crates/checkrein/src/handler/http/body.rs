//! The event as the body of a request.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use checkrein_core::payload::JsonPiece;
use hyper::body::{Body, Bytes, Frame, SizeHint};

/// Pieces of JSON one after the other. Large ones are shared with the event, not copied.
pub(super) struct Pieces(VecDeque<Bytes>);

impl Pieces {
    pub(super) fn new(pieces: &[JsonPiece]) -> Self {
        let not_empty = pieces.iter().filter(|piece| !piece.as_ref().is_empty());
        Self(not_empty.map(|piece| Bytes::from_owner(piece.clone())).collect())
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
    }
}
