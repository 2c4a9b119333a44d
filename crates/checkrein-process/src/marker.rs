//! [`MARKER`]: the environment variable that marks all processes of a run.
//!
//! Every start sets it. On Linux, the process tree uses it to find processes that have left their process group.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

/// The environment variable that marks every process of a run. Its value is random and unique per run.
///
/// If the host itself belongs to a run, the value also contains the marker of that run. So the outer run still finds the
/// processes of the inner one.
pub const MARKER: &str = "CHECKREIN_RUN";

#[derive(Debug, Clone)]
pub(crate) struct Marker {
    value: OsString,
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "needs a list of processes"))]
    token_len: usize,
}

impl Marker {
    pub(crate) fn new() -> Self {
        static OUTER: OnceLock<Option<OsString>> = OnceLock::new();
        let outer = OUTER.get_or_init(|| std::env::var_os(MARKER).filter(|value| !value.is_empty()));
        let Some(outer) = outer else { return Self::new_inner() };
        let inner = Self::new_inner();
        let mut value = outer.clone();
        value.push(".");
        value.push(&inner.value);
        Self { value, ..inner }
    }

    /// A marker without that of the run that the host belongs to.
    pub(crate) fn new_inner() -> Self {
        let mut token = String::with_capacity(32);
        for _ in 0..2 {
            // Each new state has its own keys, from the randomness of the system.
            let random = RandomState::new().hash_one(0_u8);
            // Writing to a string cannot fail.
            let _ = write!(token, "{random:016x}");
        }
        Self { token_len: token.len(), value: token.into() }
    }

    /// The marker of a process that was started with this value.
    #[cfg(target_os = "linux")]
    pub(crate) fn from_value(value: OsString) -> Self {
        let bytes = value.as_encoded_bytes();
        let token_len = bytes.rsplit(|&byte| byte == b'.').next().map_or(0, <[u8]>::len);
        Self { token_len, value }
    }

    /// The value of the variable.
    pub(crate) fn value(&self) -> &OsStr {
        &self.value
    }

    /// The part of the value that is unique to this run.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "needs a sandbox"))]
    pub(crate) fn token(&self) -> String {
        let value = self.value.to_string_lossy();
        value[value.len() - self.token_len..].to_owned()
    }

    /// Returns `true` if an environment block (entries that end in NUL) contains the marker of this run.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "needs a list of processes"))]
    pub(crate) fn is_in(&self, environment: &[u8]) -> bool {
        let value = self.value.as_encoded_bytes();
        let token = &value[value.len() - self.token_len..];
        environment
            .split(|&byte| byte == 0)
            .filter_map(|entry| entry.strip_prefix(MARKER.as_bytes())?.strip_prefix(b"="))
            .any(|value| value.split(|&byte| byte == b'.').any(|part| part == token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_its_own_marker() {
        let (one, two) = (Marker::new(), Marker::new());
        assert_ne!(one.value(), two.value());
        assert_eq!(one.token_len, 32);
    }

    #[test]
    fn marker_is_found_alone_and_among_others() {
        let marker = Marker::new();
        let value = marker.value().to_str().unwrap();
        for (environment, found) in [
            (format!("A=1\0{MARKER}={value}\0B=2\0"), true),
            (format!("{MARKER}={value}"), true),
            (format!("{MARKER}={value}.00ff\0"), true),
            (format!("{MARKER}=00ff.{value}\0"), true),
            (format!("{MARKER}=x{value}\0"), false),
            (format!("OTHER={value}\0"), false),
            (format!("X{MARKER}={value}\0"), false),
            (String::new(), false),
        ] {
            assert_eq!(marker.is_in(environment.as_bytes()), found, "{environment:?}");
        }
    }
}
