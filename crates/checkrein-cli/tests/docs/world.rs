//! Scratch home and project directory in which the commands of one page run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::common::SYSTEM_PATH;

/// Home directory as pages show it. The project is `project` below it.
const SHOWN_HOME: &str = "/home/ann";

pub struct World {
    root: TempDir,
    /// Exit status of the last command, for `$?`.
    status: i32,
}

impl World {
    /// Creates a home directory with an empty project. checkrein is in `~/.cargo/bin`, as after `cargo install`.
    pub fn new() -> Self {
        let world = Self { root: tempfile::tempdir().unwrap(), status: 0 };
        std::fs::create_dir_all(world.project().join(".git")).unwrap();
        std::fs::create_dir_all(world.programs()).unwrap();
        std::os::unix::fs::symlink(program(), world.programs().join("checkrein")).unwrap();
        world
    }

    fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("ann")
    }

    fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    fn programs(&self) -> PathBuf {
        self.home().join(".cargo/bin")
    }

    /// Saves a file of the project, or of the home directory if the path starts with `~/`.
    pub fn write(&self, path: &str, text: &str) {
        let path = match path.strip_prefix("~/") {
            Some(path) => self.home().join(path),
            None => self.project().join(path),
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs a command in the project and returns its standard output and standard error.
    pub fn run(&mut self, script: &str) -> String {
        let (status, output) = self.shell(&format!("(exit {})\n{script}", self.status), &[]);
        self.status = status;
        output
    }

    /// Runs a command as on a terminal with colors and returns its output with escape sequences.
    pub fn run_colored(&self, script: &str) -> String {
        let (status, output) = self.shell(script, &[("CLICOLOR_FORCE", "1")]);
        assert_eq!(status, 0, "{output}");
        output
    }

    fn shell(&self, script: &str, variables: &[(&str, &str)]) -> (i32, String) {
        // Under an agent, variables do not name the home directory. On a reader's machine the account database has it.
        let program = r#"checkrein() {
            [ "$1" = hook ] && set -- "$@" --home "$HOME"
            command checkrein "$@"
        }"#;
        let path = std::iter::once(self.programs()).chain(std::env::split_paths(SYSTEM_PATH));
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{program}\n{script}")])
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("HOME", self.home())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let home = self.home();
        let text = text.replace(&format!(" --home {}", home.display()), "");
        (output.status.code().unwrap(), text.replace(home.to_str().unwrap(), SHOWN_HOME))
    }
}

/// Path of the program under test: `CHECKREIN_PROGRAM`, or the one that cargo built.
fn program() -> PathBuf {
    let path = std::env::var_os("CHECKREIN_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_checkrein").into());
    Path::new(&path).canonicalize().unwrap()
}

/// Returns whether a program is in a directory of the system.
pub fn is_on_path(program: &str) -> bool {
    std::env::split_paths(SYSTEM_PATH).any(|directory| directory.join(program).is_file())
}
