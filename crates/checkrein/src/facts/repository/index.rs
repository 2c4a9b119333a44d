//! Parser for the index of a repository, in the versions 2, 3 and 4.
//!
//! The reader accepts any bytes. An index of an unknown form gives `None`.

/// Maximum number of entries. The agent waits for one system call per entry.
const ENTRIES: u32 = 20_000;

/// Maximum length of a path, in bytes.
const PATH: usize = 4096;

/// The parts of an index that matter here.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) entries: Vec<Entry>,
    /// Hash of the tree that all entries form, if the index knows it.
    pub(super) tree: Option<String>,
}

/// One tracked file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: Vec<u8>,
    /// Time of the last change: seconds and nanoseconds.
    pub(super) modified: (u32, u32),
    pub(super) mode: u32,
    /// Size modulo 2³². 0 also for a file whose content git has to compare.
    pub(super) size: u32,
    pub(super) hash: Vec<u8>,
    /// `true` if the entry is part of a merge conflict, or only announces a file.
    pub(super) is_unfinished: bool,
    /// `true` if git does not compare the file.
    pub(super) is_skipped: bool,
}

/// Parses an index. `hash_length` is 20 for SHA-1 and 32 for SHA-256.
pub(super) fn parse(bytes: &[u8], hash_length: usize) -> Option<Index> {
    let mut reader = Reader { bytes, at: 0 };
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (reader.number()?, reader.number()?);
    if !(2..=4).contains(&version) || count > ENTRIES {
        return None;
    }
    let mut entries: Vec<Entry> = Vec::new();
    for _ in 0..count {
        let before = entries.last().map_or(&[][..], |entry| entry.path.as_slice());
        let entry = reader.entry(version, hash_length, before)?;
        entries.push(entry);
    }
    let tree = reader.extensions(hash_length)?;
    Some(Index { entries, tree })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn entry(&mut self, version: u32, hash_length: usize, before: &[u8]) -> Option<Entry> {
        const EXTENDED: u16 = 0x4000;
        const ASSUMED_VALID: u16 = 0x8000;
        const STAGE: u16 = 0x3000;
        const SKIP_WORKTREE: u16 = 0x4000;
        const INTENT_TO_ADD: u16 = 0x2000;
        let start = self.at;
        self.take(8)?;
        let modified = (self.number()?, self.number()?);
        self.take(8)?;
        let mode = self.number()?;
        self.take(8)?;
        let size = self.number()?;
        let hash = self.take(hash_length)?.to_vec();
        let flags = self.short()?;
        let more = match flags & EXTENDED {
            0 => 0,
            _ if version == 2 => return None,
            _ => self.short()?,
        };
        let mut path = Vec::new();
        if version == 4 {
            let kept = before.len().checked_sub(self.offset()?)?;
            path.extend_from_slice(&before[..kept]);
        }
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().take(PATH).position(|byte| *byte == 0)?;
        path.extend_from_slice(self.take(length)?);
        if path.is_empty() || path.len() > PATH {
            return None;
        }
        if version == 4 {
            self.take(1)?;
        } else {
            // One to eight NULs end the entry at a multiple of eight.
            let padding = 8 - (self.at - start) % 8;
            self.take(padding)?;
        }
        Some(Entry {
            path,
            modified,
            mode,
            size,
            hash,
            is_unfinished: flags & STAGE != 0 || more & INTENT_TO_ADD != 0,
            is_skipped: flags & ASSUMED_VALID != 0 || more & SKIP_WORKTREE != 0,
        })
    }

    /// Reads a number of variable length, as offsets in packs have it.
    fn offset(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        }
        Some(value)
    }

    /// Reads the extensions up to the checksum. Returns the hash of the tree, if one has it.
    fn extensions(&mut self, hash_length: usize) -> Option<Option<String>> {
        let mut tree = None;
        let end = self.bytes.len().checked_sub(hash_length)?;
        while self.at < end {
            let name = self.take(4)?;
            let length = usize::try_from(self.number()?).ok()?;
            let content = self.take(length)?;
            if self.at > end {
                return None;
            }
            match name {
                b"TREE" => tree = root_tree(content, hash_length),
                // The content of a sparse index is in its entries.
                b"sdir" => {}
                // Programs must not ignore an extension in lower case, such as the one of a split index.
                [first, ..] if !first.is_ascii_uppercase() => return None,
                _ => {}
            }
        }
        if self.at == end { Some(tree) } else { None }
    }
}

/// Returns the hash of the whole tree. `None` if it is out of date.
fn root_tree(content: &[u8], hash_length: usize) -> Option<String> {
    // The root has an empty name, then the number of entries, the number of subtrees, and the hash.
    let rest = content.strip_prefix(b"\0")?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let counts = std::str::from_utf8(&rest[..end]).ok()?;
    let (entries, _) = counts.split_once(' ')?;
    entries.parse::<u32>().ok()?;
    let hash = rest.get(end + 1..end + 1 + hash_length)?;
    Some(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}
