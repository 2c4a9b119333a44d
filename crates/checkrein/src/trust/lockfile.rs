//! `checkrein.lock`: what a team has approved in review, signed by somebody whom its reader trusts.

use std::io;
use std::path::Path;

use super::approvals::Approval;
use super::script_copy;

/// What the file is called, at the root of a project.
pub const LOCKFILE: &str = "checkrein.lock";

/// What its signature is called.
pub const SIGNATURE: &str = "checkrein.lock.sig";

/// What signatures are made for: `ssh-keygen -Y sign -n checkrein`.
#[cfg(feature = "lockfile")]
pub(super) const NAMESPACE: &str = "checkrein";

/// The first line. A later form will have another number.
const HEAD: &str = r#"{"checkrein_lock":1}"#;

/// Larger ones are nobody's.
const LARGEST: usize = 8 << 20;

/// A project's lockfile.
#[derive(Debug)]
pub(super) struct Lock {
    pub(super) approvals: Vec<Approval>,
    /// Who has signed it, if that is somebody who is trusted, or why it is not believed.
    pub(super) signed_by: Result<String, String>,
}

impl Lock {
    /// Reads the lockfile of a project. `None`: there is none.
    pub(super) fn read(root: &Path, keys: &[String]) -> Option<Self> {
        let refused = |why: String| Some(Self { approvals: Vec::new(), signed_by: Err(why) });
        let bytes = match script_copy::read(&root.join(LOCKFILE)) {
            Ok(bytes) if bytes.len() > LARGEST => return refused(format!("it has more than {LARGEST} bytes")),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => return refused(format!("it cannot be read: {error}")),
        };
        let approvals = match parse(&bytes) {
            Ok(approvals) => approvals,
            Err(why) => return refused(why),
        };
        Some(Self { approvals, signed_by: signed_by(root, &bytes, keys) })
    }
}

fn signed_by(root: &Path, bytes: &[u8], keys: &[String]) -> Result<String, String> {
    if keys.is_empty() {
        return Err("you trust no key: see `trusted_keys`".to_owned());
    }
    let signature = match script_copy::read(&root.join(SIGNATURE)) {
        Ok(signature) => String::from_utf8(signature).map_err(|_| "its signature is no text".to_owned())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!("nobody has signed it: there is no {SIGNATURE}"));
        }
        Err(error) => return Err(format!("its signature cannot be read: {error}")),
    };
    #[cfg(feature = "lockfile")]
    return super::signature::verify(bytes, &signature, keys);
    #[cfg(not(feature = "lockfile"))]
    {
        let _ = (bytes, signature);
        Err("signatures need checkrein's feature `lockfile`, and this program is built without it".to_owned())
    }
}

/// The lines of a lockfile.
fn parse(bytes: &[u8]) -> Result<Vec<Approval>, String> {
    let text = str::from_utf8(bytes).map_err(|_| "it is no UTF-8".to_owned())?;
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err(format!("its first line is not {HEAD}"));
    }
    let read = |(at, line)| Approval::read(line).ok_or_else(|| format!("line {} makes no sense", at + 2));
    lines.enumerate().map(read).collect()
}

/// A lockfile with these, sorted: one line each, so that a change is a change of a line.
pub(super) fn text(approvals: &[Approval]) -> String {
    let mut lines: Vec<_> = approvals.iter().map(|approval| approval.line(false)).collect();
    lines.sort();
    lines.dedup();
    lines.iter().fold(format!("{HEAD}\n"), |text, line| text + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_sorted_and_read_again() {
        let approval = |id: &str| Approval {
            file: "f".to_owned(),
            id: id.to_owned(),
            entry: "e".to_owned(),
            scripts: Vec::new(),
            facts: Vec::new(),
        };
        let text = text(&[approval("b"), approval("a"), approval("b")]);
        assert_eq!(text.lines().count(), 3);
        assert_eq!(parse(text.as_bytes()), Ok(vec![approval("a"), approval("b")]));
        assert_eq!(super::text(&[approval("a"), approval("b")]), text);
        assert!(parse(b"{}").unwrap_err().contains("first line"));
        assert!(parse(format!("{HEAD}\nx").as_bytes()).unwrap_err().contains("line 2"));
    }
}
