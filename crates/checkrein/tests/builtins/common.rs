use std::path::Path;

use checkrein::event::Target;
use checkrein::payload::{ToolCall, ToolOutcome};
use checkrein::{Engine, Envelope, Event, EventKind, HookSpec, RawJson, Verdict};
use proptest::test_runner::Config as ProptestConfig;
use tempfile::TempDir;

/// An engine with hooks that use builtins, a home directory and a project.
pub struct Bench {
    pub root: TempDir,
    pub engine: Engine,
}

impl Bench {
    pub fn new(kind: EventKind, name: &str, args: &[&str]) -> Self {
        Self::with(vec![HookSpec::builtin(name, kind, name).args(args.iter().copied())])
    }

    pub fn with(hooks: Vec<HookSpec>) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("home/ann/project")).unwrap();
        let home = root.path().join("home/ann");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let engine = Engine::builder()
            .hooks(hooks)
            .cwd(home.join("project"))
            .vars([
                ("HOME", home.as_os_str()),
                ("PATH", path.as_os_str()),
                ("USER", "ann".as_ref()),
                ("SHELL", "/bin/zsh".as_ref()),
                // Directories above the project are not part of its repository.
                ("GIT_CEILING_DIRECTORIES", home.as_os_str()),
            ])
            .build();
        assert_eq!(engine.problems().len(), 0, "{:?}", engine.problems());
        Self { root, engine }
    }

    pub fn home(&self) -> std::path::PathBuf {
        self.root.path().join("home/ann")
    }

    pub fn project(&self) -> std::path::PathBuf {
        self.home().join("project")
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.project().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub async fn fire(&self, event: Event) -> Verdict {
        self.fire_at(event, &self.project()).await
    }

    pub async fn fire_at(&self, event: Event, cwd: &Path) -> Verdict {
        let envelope = Envelope::new().session_id("s-1").cwd(cwd.to_str().unwrap());
        self.engine.fire(event.within(envelope)).await
    }

    /// Returns the verdict for a shell command.
    pub async fn shell(&self, command: &str) -> Verdict {
        let input = format!(r#"{{"command":{}}}"#, RawJson::string(command));
        self.fire(Event::pre_tool_use(ToolCall::new("Bash", json(&input)))).await
    }

    /// Returns the tool output after the hooks.
    pub async fn output(&self, input: &str, output: RawJson) -> RawJson {
        let event = Event::post_tool_use(ToolOutcome::new("Read", json(input)).tool_response(output.clone()));
        let verdict = self.fire(event).await;
        assert_eq!(verdict.failures().count(), 0, "{verdict:?}");
        verdict.rewritten(Target::Output).map_or(output, |rewritten| rewritten.effective.clone())
    }
}

/// Configuration of property tests.
pub fn config() -> ProptestConfig {
    ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() }
}

pub fn json(text: &str) -> RawJson {
    text.parse().unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the context for the model as one text.
pub fn context(verdict: &Verdict) -> String {
    assert_eq!(verdict.warnings().len(), 0, "{verdict:?}");
    verdict.context().iter().map(|context| context.text.as_str()).collect::<Vec<_>>().join("\n---\n")
}
