//! The user that this process belongs to, as the system knows it.
//!
//! Environment variables are not used: a project can set them for its agent.

use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Largest buffer for an entry of the user database.
const MAX_ENTRY: usize = 1 << 20;

/// Entry of a user in the user database.
struct Account {
    name: OsString,
    /// `None` if the entry has no absolute path.
    home: Option<PathBuf>,
}

/// Home directory in the user database, by the real user id. `None`: the user has no entry, or the entry has no absolute path.
pub(crate) fn home() -> Option<PathBuf> {
    account()?.home.clone()
}

/// Name in the user database, by the real user id. `None`: the user has no entry.
pub(crate) fn name() -> Option<OsString> {
    Some(account()?.name.clone())
}

fn account() -> Option<&'static Account> {
    static ACCOUNT: OnceLock<Option<Account>> = OnceLock::new();
    ACCOUNT.get_or_init(|| lookup(rustix::process::getuid().as_raw())).as_ref()
}

fn lookup(uid: u32) -> Option<Account> {
    let mut buffer: Vec<libc::c_char> = vec![0; 1024];
    loop {
        // SAFETY: all fields of `passwd` are numbers and pointers, for which zero bytes are valid.
        #[expect(unsafe_code, reason = "an empty entry for the call below")]
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        // SAFETY: the pointers refer to values that outlive the call, and the length is that of the buffer.
        #[expect(unsafe_code, reason = "neither std nor rustix reads the user database")]
        let error = unsafe { libc::getpwuid_r(uid, &raw mut entry, buffer.as_mut_ptr(), buffer.len(), &raw mut found) };
        if error == libc::ERANGE && buffer.len() < MAX_ENTRY {
            buffer.resize(buffer.len() * 4, 0);
            continue;
        }
        if error != 0 || found.is_null() || entry.pw_dir.is_null() || entry.pw_name.is_null() {
            return None;
        }
        // SAFETY: a found entry points to strings that end with a zero byte, in `buffer`.
        #[expect(unsafe_code, reason = "the strings of the entry are C strings")]
        let (name, home) = unsafe { (CStr::from_ptr(entry.pw_name), CStr::from_ptr(entry.pw_dir)) };
        let home = PathBuf::from(OsStr::from_bytes(home.to_bytes()));
        return Some(Account {
            name: OsStr::from_bytes(name.to_bytes()).to_owned(),
            home: home.is_absolute().then_some(home),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_has_an_entry_and_an_unknown_user_has_none() {
        let root = lookup(0).unwrap();
        assert_eq!(root.name, "root");
        assert!(root.home.is_some_and(|home| home.is_absolute()));
        assert!(lookup(3_999_999_999).is_none());
    }
}
