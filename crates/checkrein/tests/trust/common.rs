//! Fixture: a cloned project, a home directory and a store of approvals.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::native;
use checkrein::hook::HookState;
use checkrein::hook_files::{Loaded, Locations, Sources};
use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, RawJson, Trust, Verdict};
use tempfile::TempDir;

pub const FILE: &str = "project/.checkrein/hooks.yaml";

pub struct World {
    dir: TempDir,
    pub dialect: &'static Dialect,
}

impl World {
    pub fn with(files: &[(&str, &str)]) -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap(), dialect: &native::DIALECT };
        for dir in ["home", "project/.git"] {
            std::fs::create_dir_all(world.path(dir)).unwrap();
        }
        for (path, text) in files {
            world.write(path, text);
        }
        world
    }

    /// A project with one hook for every tool call.
    pub fn guard(command: &str) -> Self {
        Self::with(&[(FILE, &hook("guard", command))])
    }

    pub fn dialect(mut self, dialect: &'static Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        if text.starts_with("#!") {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    pub fn place(&self) -> Locations {
        Locations::new(self.path("root")).home(self.path("home"))
    }

    pub fn trust(&self) -> Trust {
        Trust::in_dir(self.path("state"))
    }

    pub fn sources(&self) -> Sources {
        self.sources_in("project")
    }

    pub fn sources_in(&self, dir: &str) -> Sources {
        Sources::discover_in(self.dialect, self.path(dir), self.place()).trust(self.trust())
    }

    pub fn load(&self) -> Loaded {
        self.sources().load()
    }

    /// Approves all hooks.
    pub fn approve(&self) {
        let review = self.sources().review();
        review.approve(&review.awaiting()).unwrap();
    }

    /// Returns the id and the approval status of each hook.
    pub fn statuses(&self) -> Vec<(String, &'static str)> {
        self.sources().review().hooks.iter().map(|hook| (hook.hook.id.clone(), hook.status.name())).collect()
    }

    pub fn state(&self) -> HookState {
        self.load().hooks[0].state.clone()
    }

    pub fn engine(&self) -> Engine {
        Engine::builder().sources(self.sources()).cwd(self.path("project")).build()
    }

    /// Fires a tool call.
    pub fn fire(&self) -> Verdict {
        fire(&self.engine())
    }
}

/// A file with one hook.
pub fn hook(id: &str, command: &str) -> String {
    format!("hooks: [{{id: {id}, event: PreToolUse, command: {}}}]\n", RawJson::string(command))
}

pub fn tool_call() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", r#"{"command": "ls"}"#.parse::<RawJson>().unwrap()))
}

pub fn fire(engine: &Engine) -> Verdict {
    engine.fire_blocking(tool_call())
}

/// A script that denies with this reason.
pub fn denies(text: &str) -> String {
    format!("#!/bin/sh\necho '{text}' >&2\nexit 2\n")
}

pub fn warnings(verdict: &Verdict) -> String {
    verdict.warnings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

pub fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
