//! Project files that the commands of hooks refer to.

use std::path::{Path, PathBuf};

use checkrein_dialects::{CommandLine, Data, Dialect, HandlerSpec, HookSpec};

use super::scratch::{plain, stays_below};

/// Directory of a hook's project. `dir` is the start directory of the agent.
pub(super) fn project<'a>(hook: &'a HookSpec, dir: &'a Path) -> &'a Path {
    match &hook.handler {
        HandlerSpec::Command(command) => command.script_dir.as_deref().unwrap_or(dir),
        _ => dir,
    }
}

/// Project files that a hook's command names by relative paths or by the agent's variable for the project directory. Returns
/// paths relative to the project.
pub(super) fn files(hook: &HookSpec, project: &Path) -> Vec<PathBuf> {
    let HandlerSpec::Command(command) = &hook.handler else { return Vec::new() };
    let cwd = command.cwd.clone().filter(|cwd| cwd.is_relative()).unwrap_or_default();
    let words: Vec<String> = match &command.run {
        CommandLine::Shell { text, .. } => words(&without_project(text, hook.dialect)),
        CommandLine::Argv(argv) => argv.iter().map(|word| without_project(word, hook.dialect)).collect(),
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for word in words {
        let path = plain(&cwd.join(word));
        if stays_below(&path) && project.join(&path).is_file() && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// Working directory of a hook, if the hook sets one below the project.
pub(super) fn directory(hook: &HookSpec) -> Option<PathBuf> {
    let HandlerSpec::Command(command) = &hook.handler else { return None };
    command.cwd.as_deref().map(plain).filter(|cwd| stays_below(cwd))
}

/// Replaces variables for the project directory with `.`.
fn without_project(text: &str, dialect: &Dialect) -> String {
    let rows = dialect.process.variables.iter().filter(|row| row.from == Data::ProjectDir);
    rows.fold(text.to_owned(), |text, row| {
        text.replace(&format!("${{{}}}", row.name), ".").replace(&format!("${}", row.name), ".")
    })
}

/// Words of a shell text that can be paths. False positives are harmless: the caller keeps existing files only.
fn words(text: &str) -> Vec<String> {
    let unquoted: String = text.chars().filter(|c| !matches!(c, '"' | '\'')).collect();
    let in_path = |c: char| c.is_alphanumeric() || "._-/+@%,:=~".contains(c);
    unquoted.split(|c| !in_path(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use checkrein_core::EventKind;
    use checkrein_dialects::agents::claude;

    #[test]
    fn scripts_are_found_in_all_spellings() {
        let project = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(project.path().join(".claude/hooks")).unwrap();
        std::fs::write(project.path().join(".claude/hooks/guard.py"), "").unwrap();
        let found = |text: &str| {
            let hook = HookSpec::shell("h", EventKind::PreToolUse, text).dialect(&claude::DIALECT);
            files(&hook, project.path())
        };
        for text in [
            ".claude/hooks/guard.py",
            "./.claude/hooks/guard.py --strict",
            "python3 .claude/hooks/guard.py",
            "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.py",
            "\"${CLAUDE_PROJECT_DIR}/.claude/hooks/guard.py\" x",
            "cat | .claude/hooks/guard.py; true",
        ] {
            assert_eq!(found(text), [Path::new(".claude/hooks/guard.py")], "{text}");
        }
        for text in ["echo x", ".claude/hooks/other.py", "../.claude/hooks/guard.py", ".claude/hooks"] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
