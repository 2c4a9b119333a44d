//! Warm interpreters, which start before the event that they run.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::Place;
use crate::{PROJECT, asked, assert_denied, decided};

const PYTHON: &str = "/usr/bin/python3";

struct Resident(Child);

impl Drop for Resident {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn changed_script_of_a_project_does_not_run_warm() {
    if !cfg!(target_os = "linux") || !std::path::Path::new(PYTHON).exists() {
        println!("skipped: there is no {PYTHON}");
        return;
    }
    let hook = format!("hooks: [{{id: own, event: PreToolUse, command: '{PYTHON} own.py', warm: true}}]");
    let place = Place::untrusted(&[(PROJECT, &hook)]);
    place.write("own.py", "import os\nopen('parent', 'w').write(str(os.getppid()))\n");
    let mut serve = place.command(&["serve"]);
    let resident = Resident(serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let parent = place.dir.path().join("parent");
    // Without an approval, nothing starts.
    for _ in 0..3 {
        asked(&place, &[]);
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!parent.exists());
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    let begun = Instant::now();
    loop {
        let ran = asked(&place, &[]);
        assert_ne!(decided(&ran).0, "deny", "{ran:?}");
        if std::fs::read_to_string(&parent).unwrap() == resident.0.id().to_string() {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "no warm run");
        std::thread::sleep(Duration::from_millis(50));
    }
    // An interpreter for this command waits again, or starts now.
    std::fs::remove_file(&parent).unwrap();
    place.write("own.py", "open('parent', 'w').close()\n");
    for _ in 0..5 {
        assert_denied(&asked(&place, &[]), "own.py");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(!parent.exists());
}
