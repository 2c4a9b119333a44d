//! `checkrein.lock`: approvals of a team, signed with a key that the user trusts.
//!
//! A review writes it, and the evaluation reads it. A lockfile without a valid signature must not approve anything.

use std::io;
use std::path::Path;

use super::approvals::Approval;
use super::script_copy;

/// Name of the lockfile, at the root of a project.
pub const LOCKFILE: &str = "checkrein.lock";

/// Name of the lockfile's signature.
pub const SIGNATURE: &str = "checkrein.lock.sig";

/// Namespace of signatures: `ssh-keygen -Y sign -n checkrein`.
#[cfg(feature = "lockfile")]
pub(super) const NAMESPACE: &str = "checkrein";

/// First line of the file, with the version of the format.
const HEAD: &str = r#"{"checkrein_lock":1}"#;

/// Maximum size, in bytes.
const LARGEST: usize = 8 << 20;

/// A project's lockfile.
#[derive(Debug)]
pub(super) struct Lock {
    pub(super) approvals: Vec<Approval>,
    /// Name of the trusted key that signed the file, or the reason why the file is not trusted.
    pub(super) signed_by: Result<String, String>,
}

impl Lock {
    /// Reads the lockfile of a project. Returns `None` if it does not exist.
    pub(super) fn read(root: &Path, keys: &[String]) -> Option<Self> {
        let rejected = |why: String| Some(Self { approvals: Vec::new(), signed_by: Err(why) });
        let bytes = match script_copy::read(&root.join(LOCKFILE)) {
            Ok(bytes) if bytes.len() > LARGEST => return rejected(format!("it is larger than {LARGEST} bytes")),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => return rejected(format!("cannot read it: {error}")),
        };
        let approvals = match parse(&bytes) {
            Ok(approvals) => approvals,
            Err(why) => return rejected(why),
        };
        Some(Self { approvals, signed_by: signed_by(root, &bytes, keys) })
    }
}

fn signed_by(root: &Path, bytes: &[u8], keys: &[String]) -> Result<String, String> {
    if keys.is_empty() {
        return Err("your config has no `trusted_keys`; add the public key of the signer".to_owned());
    }
    let signature = match script_copy::read(&root.join(SIGNATURE)) {
        Ok(signature) => String::from_utf8(signature).map_err(|_| format!("{SIGNATURE} is not text"))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!(
                "it is not signed ({SIGNATURE} is missing); sign it: `ssh-keygen -Y sign -n checkrein -f KEY {LOCKFILE}`"
            ));
        }
        Err(error) => return Err(format!("cannot read {SIGNATURE}: {error}")),
    };
    #[cfg(feature = "lockfile")]
    return super::signature::verify(bytes, &signature, keys);
    #[cfg(not(feature = "lockfile"))]
    {
        let _ = (bytes, signature);
        Err("this program is built without the feature `lockfile`, which verifies signatures".to_owned())
    }
}

/// Parses the lines of a lockfile.
fn parse(bytes: &[u8]) -> Result<Vec<Approval>, String> {
    let text = str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err(format!("its first line is not `{HEAD}`"));
    }
    let read = |(index, line)| Approval::read(line).ok_or_else(|| format!("line {} is invalid", index + 2));
    lines.enumerate().map(read).collect()
}

/// Formats a lockfile: one sorted line for each approval, so that diffs are small.
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
    fn lockfile_is_sorted_and_survives_parsing() {
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
