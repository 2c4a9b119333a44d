//! [`Stdin`]: the standard input of a process, in chunks that several runs can share.
//!
//! Callers build it, and [`pump`](crate::pump) writes it to the process.

use std::fmt;
use std::sync::Arc;

/// Standard input of a process.
///
/// Chunks are shared, so a large value between a head and a tail needs no copy:
///
/// ```
/// use checkrein_process::Stdin;
/// use std::sync::Arc;
///
/// let input: Arc<str> = Arc::from(r#"{"command": "ls"}"#);
/// let stdin = Stdin::none().then(r#"{"tool_input": "#).then(input).then("}");
/// assert_eq!(stdin.len(), 33);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Stdin {
    chunks: Vec<Chunk>,
}

impl Stdin {
    /// No input: the process reads from the null device.
    pub const fn none() -> Self {
        Self { chunks: Vec::new() }
    }

    /// Input of one chunk.
    pub fn bytes(bytes: impl Into<Chunk>) -> Self {
        Self::none().then(bytes)
    }

    /// Appends a chunk.
    #[must_use]
    pub fn then(mut self, bytes: impl Into<Chunk>) -> Self {
        let chunk = bytes.into();
        if !chunk.as_ref().is_empty() {
            self.chunks.push(chunk);
        }
        self
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.as_ref().len()).sum()
    }

    /// `true` if there is no input.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The chunks in order. None of them is empty.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }
}

impl FromIterator<Chunk> for Stdin {
    fn from_iter<I: IntoIterator<Item = Chunk>>(chunks: I) -> Self {
        chunks.into_iter().fold(Self::none(), Self::then)
    }
}

/// Bytes that many runs can share.
#[derive(Clone)]
pub struct Chunk(ChunkRepr);

#[derive(Clone)]
enum ChunkRepr {
    Static(&'static [u8]),
    Bytes(Arc<[u8]>),
    Text(Arc<str>),
    Other(Arc<dyn AsRef<[u8]> + Send + Sync>),
}

impl Chunk {
    /// A chunk with the bytes of any owner.
    pub fn from_owner(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(ChunkRepr::Other(Arc::new(owner)))
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            ChunkRepr::Static(bytes) => bytes,
            ChunkRepr::Bytes(bytes) => bytes,
            ChunkRepr::Text(text) => text.as_bytes(),
            ChunkRepr::Other(owner) => (**owner).as_ref(),
        }
    }
}

impl fmt::Debug for Chunk {
    // Payloads are large and may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chunk({} bytes)", self.as_ref().len())
    }
}

impl From<&'static str> for Chunk {
    fn from(text: &'static str) -> Self {
        Self(ChunkRepr::Static(text.as_bytes()))
    }
}

impl From<&'static [u8]> for Chunk {
    fn from(bytes: &'static [u8]) -> Self {
        Self(ChunkRepr::Static(bytes))
    }
}

impl From<Arc<[u8]>> for Chunk {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self(ChunkRepr::Bytes(bytes))
    }
}

impl From<Arc<str>> for Chunk {
    fn from(text: Arc<str>) -> Self {
        Self(ChunkRepr::Text(text))
    }
}

impl From<Vec<u8>> for Chunk {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from_owner(bytes)
    }
}

impl From<String> for Chunk {
    fn from(text: String) -> Self {
        Self::from_owner(text)
    }
}
