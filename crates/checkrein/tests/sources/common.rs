//! A temporary home, project and root directory for a test.

use std::path::{Path, PathBuf};

use checkrein::dialects::agents::native;
use checkrein::hook::HookState;
use checkrein::hook_files::{FileStatus, Loaded, Locations, Sources};
use checkrein::payload::ToolCall;
use checkrein::{Event, HookSpec, Trust};
use tempfile::TempDir;

/// Paths of the files of each scope.
pub const MANAGED: &str = "root/etc/checkrein/hooks.json";
pub const USER: &str = "home/.config/checkrein/hooks.json";
pub const PROJECT: &str = "project/.checkrein/hooks.json";
pub const LOCAL: &str = "project/.checkrein/hooks.local.json";

pub struct World {
    dir: TempDir,
}

impl World {
    pub fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        for dir in ["home", "project/.git"] {
            std::fs::create_dir_all(world.path(dir)).unwrap();
        }
        world
    }

    /// Creates a world with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let world = Self::new();
        for (path, text) in files {
            world.write(path, text);
        }
        world
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        // Managed files must not be writable by others, with any umask.
        #[cfg(unix)]
        if let Ok(inside) = path.strip_prefix(self.path("root")) {
            for (depth, above) in inside.ancestors().enumerate() {
                self.mode(&Path::new("root").join(above).to_string_lossy(), if depth == 0 { 0o644 } else { 0o755 });
            }
        }
        path
    }

    #[cfg(unix)]
    pub fn mode(&self, path: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(self.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn place(&self) -> Locations {
        Locations::new(self.path("root")).home(self.path("home"))
    }

    pub fn sources(&self) -> Sources {
        self.sources_in("project")
    }

    pub fn sources_in(&self, dir: &str) -> Sources {
        self.untrusted_in(dir).trust(Trust::everything())
    }

    /// Sources of a repository that was just cloned.
    pub fn untrusted_in(&self, dir: &str) -> Sources {
        Sources::discover_in(&native::DIALECT, self.path(dir), self.place())
    }

    pub fn load(&self) -> Loaded {
        self.sources().load()
    }

    /// Diagnostics as `FILE CODE`, with paths relative to the test's directory.
    pub fn codes(&self, loaded: &Loaded) -> Vec<String> {
        let short = |file: &str| Path::new(file).strip_prefix(self.dir.path()).unwrap().display().to_string();
        loaded.diagnostics.iter().map(|diagnostic| format!("{} {}", short(&diagnostic.file), diagnostic.code)).collect()
    }
}

/// A file with one hook per name.
pub fn hooks(names: &[&str]) -> String {
    let hook = |name: &&str| format!(r#"{{"id": "{name}", "event": "PreToolUse", "command": "echo {name}"}}"#);
    format!(r#"{{"hooks": [{}]}}"#, names.iter().map(hook).collect::<Vec<_>>().join(","))
}

/// Id of the hook that every managed file adds.
pub const PROTECTION: &str = "protect-self";

/// Hooks that are written in files.
pub fn written(hooks: &[HookSpec]) -> impl Iterator<Item = &HookSpec> {
    hooks.iter().filter(|spec| spec.info.id != PROTECTION)
}

pub fn ids(hooks: &[HookSpec]) -> Vec<&str> {
    written(hooks).map(|spec| spec.info.id.as_str()).collect()
}

pub fn ready(hooks: &[HookSpec]) -> Vec<&str> {
    let ready = written(hooks).filter(|spec| spec.state == HookState::Ready);
    ready.map(|spec| spec.info.id.as_str()).collect()
}

/// Names of the files that were found.
pub fn found(loaded: &Loaded) -> Vec<String> {
    let found = loaded.files.iter().filter(|file| file.status != FileStatus::Missing);
    found.map(|file| file.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

pub fn tool_call(tool: &str, input: &str) -> Event {
    Event::pre_tool_use(ToolCall::new(tool, input.parse::<checkrein::RawJson>().unwrap()))
}
