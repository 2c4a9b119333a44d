//! Helpers for several tests.

/// Reports that a test is skipped because this machine lacks a capability.
///
/// # Panics
///
/// If `CHECKREIN_REQUIRE`, a comma-separated list, contains the capability.
#[allow(clippy::print_stderr, reason = "a skipped test reports itself")]
pub fn skip(capability: &str, reason: impl std::fmt::Display) {
    let required = std::env::var("CHECKREIN_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == capability), "{capability} is required: {reason}");
    eprintln!("skipped: {reason}");
}
