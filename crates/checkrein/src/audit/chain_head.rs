//! The head: the number and hash of the last line, in a file beside the log. Writers hold its lock.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use super::hash_chain::HASH;
use crate::append_file;

/// A place in the chain: as text `SEQ:HASH`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Head {
    /// The number of the line, from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

impl Head {
    /// Before the first line.
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
            Some(Self { seq: seq.trim_start().parse().ok()?, hash: is_hash.then(|| hash.to_ascii_lowercase())? })
        };
        read().ok_or_else(|| "it should be a number and a hash of 64 digits, SEQ:HASH".to_owned())
    }
}

/// The file of the head.
pub(super) fn path(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(".head");
    PathBuf::from(name)
}

/// The head of a log that nobody else writes to while this is there.
pub(super) struct Locked(File);

impl Locked {
    pub(super) fn open(log: &Path) -> io::Result<Self> {
        let file = append_file::open_to_write(&path(log))?;
        append_file::lock(&file, append_file::PATIENCE)?;
        Ok(Self(file))
    }

    /// What the last writer has left. `None`: there was none, or it makes no sense.
    pub(super) fn read(&mut self) -> io::Result<Option<Head>> {
        read(&mut self.0)
    }

    /// Of fixed length, so that a disk which is full takes it, and half of it never stands.
    pub(super) fn write(&mut self, head: &Head) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(format!("{:>20}:{}\n", head.seq, head.hash).as_bytes())
    }
}

/// What this gives, with the head as it is meanwhile: nobody writes until it is done.
pub(super) fn while_nobody_writes<T>(
    log: &Path,
    mut look: impl FnMut() -> io::Result<T>,
) -> io::Result<(Option<Head>, T)> {
    let path = path(log);
    loop {
        match File::open(&path) {
            Ok(mut file) => {
                append_file::lock_shared(&file, append_file::PATIENCE)?;
                return Ok((read(&mut file)?, look()?));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let looked = look()?;
                // A first writer may have come meanwhile.
                if !path.exists() {
                    return Ok((None, looked));
                }
            }
            Err(error) => return Err(error),
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
