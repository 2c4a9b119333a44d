//! Rule for downloaded and decoded text that runs unread.

use super::super::shell::SimpleCommand;
use super::rules::Context;
use crate::facts::runs_output_of;

/// Programs whose output has not been reviewed: downloads and decoded text.
const DOWNLOADS: &[&str] = &[
    "curl",
    "wget",
    "fetch",
    "aria2c",
    "http",
    "https",
    "nc",
    "ncat",
    "base64",
    "base32",
    "xxd",
    "lynx",
    "lwp-request",
    "curlie",
    "xh",
    "wget2",
    "axel",
    "socat",
    "openssl",
    "uudecode",
];

pub(super) fn runs_download(command: &SimpleCommand, context: &Context<'_>) -> Option<String> {
    let sources = runs_output_of(command, context.commands);
    let source = sources.into_iter().find(|name| DOWNLOADS.contains(name))?;
    // The shell around it has the reason.
    if !command.program.known {
        return None;
    }
    let program = &command.name;
    Some(format!("`{program}` runs the output of `{source}` unread; save it to a file and review it first"))
}
