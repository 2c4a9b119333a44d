//! Somebody swaps a script while it is fired.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::common::*;

const FIRES: usize = 300;

/// Ends the swapping thread, also if an assertion fails.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Each run is what was approved or a refusal, whatever is done to the file meanwhile.
fn raced(command: &str, swap: impl Fn(&Path, &str) + Sync) {
    let world = World::guard(command);
    let (good, evil) = (denies("approved"), "#!/bin/sh\ntouch evil\necho evil >&2\nexit 2\n");
    world.write("project/x.sh", &good);
    world.approve();
    let engine = world.engine();
    let stop = AtomicBool::new(false);
    let script = world.path("project/x.sh");
    let (mut ran, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                swap(&script, evil);
                std::thread::yield_now();
                swap(&script, &good);
                std::thread::yield_now();
            }
        });
        for _ in 0..FIRES {
            let verdict = fire(&engine);
            match verdict.reason() {
                Some("approved") => ran += 1,
                Some(reason) if reason.contains("untrusted") => refused += 1,
                other => panic!("{command}: {other:?}"),
            }
        }
    });
    assert!(!world.path("project/evil").exists());
    assert_eq!(ran + refused, FIRES);
    // Left alone, it runs.
    swap(&script, &good);
    assert_eq!(fire(&engine).reason(), Some("approved"));
}

fn by_rename(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let beside = path.with_file_name("beside");
    std::fs::write(&beside, text).unwrap();
    std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&beside, path).unwrap();
}

fn in_place(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[test]
fn by_renaming_another_over_it() {
    raced("./x.sh", by_rename);
}

#[test]
fn by_writing_into_it() {
    raced("./x.sh", in_place);
}

#[test]
fn behind_an_interpreter() {
    raced("sh ./x.sh || exit 2", by_rename);
}
