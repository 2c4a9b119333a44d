//! The head: the number and hash of the last entry, in a file beside the log. Writers hold its lock.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use super::hash_chain::HASH;
use crate::{append_file, regular_file};

/// Position of an entry in the chain. As text: `SEQ:HASH`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Head {
    /// Number of the entry, from 1.
    pub seq: u64,
    /// Hash of the entry.
    pub hash: String,
}

impl Head {
    /// The position before the first entry.
    pub(super) fn start() -> Self {
        Self { seq: 0, hash: "0".repeat(HASH) }
    }
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Head {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (seq, hash) = text.trim().split_once(':')?;
            let is_hash = hash.len() == HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !is_hash {
                return None;
            }
            Some(Self { seq: seq.trim_start().parse().ok()?, hash: hash.to_ascii_lowercase() })
        };
        read().ok_or_else(|| "expected SEQ:HASH, a number and a hash of 64 hexadecimal digits".to_owned())
    }
}

/// Returns the path of the head.
pub(super) fn path(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(".head");
    PathBuf::from(name)
}

/// The head of a log under an exclusive lock.
pub(super) struct Locked(File);

impl Locked {
    pub(super) fn open(log: &Path) -> io::Result<Self> {
        let file = append_file::open_to_write(&path(log))?;
        append_file::lock(&file, append_file::PATIENCE)?;
        Ok(Self(file))
    }

    /// Reads the head of the last writer. Returns `None` for a new or an invalid file.
    pub(super) fn read(&mut self) -> io::Result<Option<Head>> {
        read(&mut self.0)
    }

    /// Overwrites the head. Its length is fixed, so that the write succeeds on a full disk and is never partial.
    pub(super) fn write(&mut self, head: &Head) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(format!("{:>20}:{}\n", head.seq, head.hash).as_bytes())
    }
}

/// Calls `work` under a shared lock, which blocks writers. Returns the head and the result.
pub(super) fn with_shared_lock<T>(
    log: &Path,
    mut work: impl FnMut() -> io::Result<T>,
) -> io::Result<(Option<Head>, T)> {
    let path = path(log);
    loop {
        match regular_file::open(&path) {
            Ok(mut file) => {
                append_file::lock_shared(&file, append_file::PATIENCE)?;
                return Ok((read(&mut file)?, work()?));
            }
            Err(error) if error.is_missing() => {
                let result = work()?;
                // The first writer may have created the head in between.
                if !path.exists() {
                    return Ok((None, result));
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn read(file: &mut File) -> io::Result<Option<Head>> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    match file.take(256).read_to_string(&mut text) {
        Ok(_) => Ok(text.parse().ok()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        Err(error) => Err(error),
    }
}
