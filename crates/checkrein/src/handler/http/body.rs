//! Request body with the event as JSON.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec;

use checkrein_core::payload::JsonPiece;
use hyper::body::{Body, Bytes, Frame, SizeHint};

/// Body of several pieces of JSON. Large pieces are shared with the event, not copied.
pub(super) struct Pieces {
    first: Option<Bytes>,
    /// Usually empty.
    rest: vec::IntoIter<Bytes>,
}

impl Pieces {
    pub(super) fn new(pieces: &[JsonPiece]) -> Self {
        let mut not_empty = pieces.iter().filter(|piece| !piece.as_ref().is_empty()).map(bytes);
        Self { first: not_empty.next(), rest: not_empty.collect::<Vec<_>>().into_iter() }
    }

    fn left(&self) -> impl Iterator<Item = &Bytes> {
        self.first.iter().chain(self.rest.as_slice())
    }
}

fn bytes(piece: &JsonPiece) -> Bytes {
    match piece {
        shared @ JsonPiece::Shared(_) => Bytes::from_owner(shared.clone()),
        written => Bytes::copy_from_slice(written.as_ref()),
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let next = self.first.take().or_else(|| self.rest.next());
        Poll::Ready(next.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left().next().is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left().map(|piece| piece.len() as u64).sum())
    }
}
