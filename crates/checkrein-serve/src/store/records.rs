//! Full records on disk: two files of bounded size. The older one is replaced when the newer one is full.
//!
//! Each line is `ID JSON`. The index is in memory and rebuilt from the files. Only one process writes.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use checkrein::internal::{line_file, regular_file};
use checkrein_core::RawJson;

use super::row::EventId;

/// Name of the current file.
const NAME: &str = "live-records.jsonl";

/// Name of the file before it.
const PREVIOUS: &str = "live-records.1.jsonl";

/// Maximum size of a record, in bytes. Larger ones are not kept.
const MAX_RECORD: usize = 1 << 20;

/// Position of a record.
#[derive(Debug, Clone, Copy)]
struct Position {
    /// Number of the file.
    file: u64,
    start: u64,
    length: u32,
}

/// The record files.
#[derive(Debug)]
pub(super) struct Records {
    directory: PathBuf,
    /// Size at which a file is full, in bytes.
    full: u64,
    /// Number of the current file.
    current: u64,
    open: Option<(File, u64)>,
    index: HashMap<EventId, Position>,
}

impl Records {
    /// Reads the index of existing files. Calls `each` for each record, the oldest first.
    pub(super) fn open(directory: &Path, total: u64, mut each: impl FnMut(EventId, &RawJson)) -> io::Result<Self> {
        let mut records =
            Self { directory: directory.to_owned(), full: total / 2, current: 1, open: None, index: HashMap::new() };
        for (name, number) in [(PREVIOUS, 0), (NAME, 1)] {
            match regular_file::open_no_link(&directory.join(name)) {
                Ok(file) => records.read_index(file, number, &mut each)?,
                Err(error) if error.is_missing() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(records)
    }

    fn read_index(&mut self, file: File, number: u64, each: &mut dyn FnMut(EventId, &RawJson)) -> io::Result<()> {
        // A file that is larger than any that was written here is not ours to read in full.
        let mut file = BufReader::with_capacity(64 << 10, file.take(self.full.saturating_mul(2)));
        let (mut line, mut offset) = (Vec::new(), 0_u64);
        loop {
            line.clear();
            let length = file.read_until(b'\n', &mut line)? as u64;
            if length == 0 {
                return Ok(());
            }
            if let Some((id, json)) = parse(&line) {
                let start = offset + 17;
                let length = u32::try_from(json.as_str().len()).unwrap_or_default();
                self.index.insert(id, Position { file: number, start, length });
                each(id, &json);
            }
            offset += length;
        }
    }

    pub(super) fn contains(&self, id: EventId) -> bool {
        self.index.contains_key(&id)
    }

    /// Writes a record.
    pub(super) fn add(&mut self, id: EventId, json: &RawJson) -> io::Result<()> {
        let json = json.as_str().trim();
        if json.len() > MAX_RECORD {
            return Err(io::Error::other(format!("the record has {} bytes; the limit is {MAX_RECORD}", json.len())));
        }
        // Line breaks inside of strings are escaped, so others are white space.
        let line = format!("{id} {}\n", json.replace(['\n', '\r'], " "));
        let (mut file, mut length) = match self.open.take() {
            Some(open) => open,
            None => self.open_current()?,
        };
        if length > 0 && length + line.len() as u64 > self.full {
            drop(file);
            fs::rename(self.directory.join(NAME), self.directory.join(PREVIOUS))?;
            let oldest = self.current;
            self.index.retain(|_, position| position.file >= oldest);
            self.current += 1;
            (file, length) = self.open_current()?;
        }
        file.write_all(line.as_bytes())?;
        let position =
            Position { file: self.current, start: length + 17, length: u32::try_from(json.len()).unwrap_or_default() };
        self.index.insert(id, position);
        self.open = Some((file, length + line.len() as u64));
        Ok(())
    }

    fn open_current(&self) -> io::Result<(File, u64)> {
        let path = self.directory.join(NAME);
        let mut file = line_file::private(&path, OpenOptions::new().read(true).append(true))?;
        // A write can have been cut by a full disk or a crash.
        if line_file::is_cut(&mut file)? {
            file.write_all(b"\n")?;
        }
        let length = file.metadata()?.len();
        Ok((file, length))
    }

    /// Reads a record. `None`: it is not known, or too old.
    pub(super) fn get(&self, id: EventId) -> io::Result<Option<RawJson>> {
        let Some(position) = self.index.get(&id) else { return Ok(None) };
        let name = if position.file == self.current { NAME } else { PREVIOUS };
        let mut file = regular_file::open_no_link(&self.directory.join(name)).map_err(io::Error::from)?;
        file.seek(SeekFrom::Start(position.start - 17))?;
        let mut line = vec![0; 17 + position.length as usize];
        file.read_exact(&mut line)?;
        // The file can have been replaced by the user.
        Ok(parse(&line).filter(|(found, _)| *found == id).map(|(_, json)| json))
    }
}

fn parse(line: &[u8]) -> Option<(EventId, RawJson)> {
    let text = std::str::from_utf8(line).ok()?.trim_end();
    let (id, json) = text.split_once(' ')?;
    Some((id.parse().ok()?, RawJson::parse(json).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(number: u64) -> RawJson {
        RawJson::parse(format!("{{\"n\":\n{number},\"text\":\"{}\"}}", "é".repeat(50))).unwrap()
    }

    #[test]
    fn disk_use_and_index_are_bounded_and_survive_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let mut records = Records::open(dir.path(), 20_000, |_, _| {}).unwrap();
        for number in 0..1000 {
            records.add(EventId(number), &json(number)).unwrap();
            assert!(records.get(EventId(number)).unwrap().unwrap().as_str().contains(&format!(" {number},")));
        }
        let kept = records.index.len();
        assert!((75..200).contains(&kept), "{kept}");
        let size: u64 = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!(size <= 20_000, "{size}");
        assert!(records.get(EventId(0)).unwrap().is_none());
        let mut seen = Vec::new();
        let mut again = Records::open(dir.path(), 20_000, |id, _| seen.push(id.0)).unwrap();
        assert_eq!((seen.len(), seen.last().copied()), (kept, Some(999)));
        again.add(EventId(1000), &json(1000)).unwrap();
        for number in seen.into_iter().chain([1000]) {
            assert!(again.get(EventId(number)).unwrap().is_some(), "{number}");
        }
    }

    #[test]
    fn damaged_lines_are_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let text = "00000000000000aa {\"a\":1}\nnot a line\n\u{0}\n00000000000000bb {\"b\":\n00000000000000cc {\"c\"";
        fs::write(dir.path().join(NAME), text).unwrap();
        let mut records = Records::open(dir.path(), 20_000, |_, _| {}).unwrap();
        records.add(EventId(0xdd), &json(1)).unwrap();
        assert_eq!(records.get(EventId(0xaa)).unwrap().unwrap().as_str(), "{\"a\":1}");
        assert!(records.get(EventId(0xdd)).unwrap().is_some());
        assert!(records.get(EventId(0xbb)).unwrap().is_none());
        fs::write(dir.path().join(NAME), "x".repeat(text.len() + 1000)).unwrap();
        assert!(records.get(EventId(0xaa)).unwrap().is_none());
    }

    #[test]
    fn too_large_records_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut records = Records::open(dir.path(), 20_000, |_, _| {}).unwrap();
        assert!(records.add(EventId(1), &RawJson::string(&"x".repeat(MAX_RECORD))).is_err());
        assert!(!records.contains(EventId(1)));
    }

    #[cfg(unix)]
    #[test]
    fn files_are_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let mut records = Records::open(dir.path(), 20_000, |_, _| {}).unwrap();
        records.add(EventId(1), &json(1)).unwrap();
        assert_eq!(dir.path().join(NAME).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
