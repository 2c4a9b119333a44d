//! A thread replaces a script during its runs.

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

/// Checks that each run executes the approved script or is rejected, while another thread changes the file.
fn race(command: &str, swap: impl Fn(&Path, &str) + Sync) {
    let world = World::guard(command);
    let (good, evil) = (denies("approved"), "#!/bin/sh\ntouch evil\necho evil >&2\nexit 2\n");
    world.write("project/x.sh", &good);
    world.approve();
    let engine = world.engine();
    let stop = AtomicBool::new(false);
    let script = world.path("project/x.sh");
    let (mut ran, mut rejected) = (0, 0);
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
                Some(reason) if reason.contains("untrusted") || reason.contains("checkrein trust approve") => {
                    rejected += 1;
                }
                other => panic!("{command}: {other:?}"),
            }
        }
    });
    assert!(!world.path("project/evil").exists());
    assert_eq!(ran + rejected, FIRES);
    // Without changes, it runs.
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
fn script_replaced_by_rename_never_runs() {
    race("./x.sh", by_rename);
}

#[test]
fn script_overwritten_in_place_never_runs() {
    race("./x.sh", in_place);
}

#[test]
fn replaced_script_of_an_interpreter_never_runs() {
    race("sh ./x.sh || exit 2", by_rename);
}
