//! Loose objects of a repository.

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::place::Place;
use super::refs::is_hash;
use crate::regular_file;

/// Maximum size of a commit, in bytes, compressed or not. Most have some hundred bytes.
const COMMIT: usize = 256 << 10;

/// Returns the hash of a commit's tree. `None` if the commit is packed, in another repository, or invalid.
pub(super) fn tree_of(place: &Place, commit: &str) -> Option<String> {
    let (directory, file) = commit.split_at_checked(2).filter(|_| is_hash(commit))?;
    let path = place.common_dir.join("objects").join(directory).join(file);
    let bytes = regular_file::read(&path, COMMIT as u64).ok()?;
    let object = decompress_to_vec_zlib_with_limit(&bytes, COMMIT).ok()?;
    let end = object.iter().position(|byte| *byte == 0)?;
    let (head, body) = (object.get(..end)?, object.get(end + 1..)?);
    if !head.starts_with(b"commit ") {
        return None;
    }
    let line = body.strip_prefix(b"tree ")?.split(|byte| *byte == b'\n').next()?;
    let tree = std::str::from_utf8(line).ok()?;
    if is_hash(tree) { Some(tree.to_ascii_lowercase()) } else { None }
}
