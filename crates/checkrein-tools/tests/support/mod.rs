//! Environment of hooks for tests of lints: a `PATH` with a fixed list of programs.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::OnceLock;

use checkrein::Registry;
use checkrein::handler::HandlerEnv;

/// Programs in the `PATH` of the hooks. Others are missing, whatever the machine has.
const PROGRAMS: &[&str] = &[
    "bash",
    "cargo",
    "cat",
    "checkrein",
    "curl",
    "date",
    "env",
    "git",
    "grep",
    "head",
    "jq",
    "mkdir",
    "node",
    "perl",
    "php",
    "python3",
    "ruby",
    "sed",
    "sh",
    "tee",
    "tr",
];

/// Environment of an agent in this directory.
pub fn env(dir: &Path) -> HandlerEnv {
    static BIN: OnceLock<tempfile::TempDir> = OnceLock::new();
    let bin = BIN.get_or_init(|| {
        let bin = tempfile::tempdir().unwrap();
        for program in PROGRAMS {
            let path = bin.path().join(program);
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        bin
    });
    HandlerEnv::new(dir, [("PATH".into(), bin.path().into())], Registry::new())
}
