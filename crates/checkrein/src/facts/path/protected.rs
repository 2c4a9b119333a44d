//! Files that control agents or other programs.
//!
//! A change to such a file takes effect outside of the call: a program reads it later and does what it says. The form of rows is
//! in [`pattern`](super::pattern).

use std::collections::BTreeSet;

use checkrein_dialects::config::{FileRow, PathBase};

use super::pattern::Table;

/// Files of checkrein, and settings, hooks and servers of agents. The hook files of all dialects are rows too.
pub(super) static AGENTS: Table = Table::derived(
    &[
        // Checkrein: hook files, approvals and state.
        ".checkrein/",
        "checkrein.yaml",
        "checkrein.yml",
        "checkrein.toml",
        "checkrein.json",
        "checkrein.lock",
        "~/.config/checkrein/",
        "~/.local/state/checkrein/",
        "~/Library/Application Support/checkrein/",
        "/etc/checkrein/",
        "/Library/Application Support/checkrein/",
        // Settings, hooks, servers and plugins of agents.
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/hooks/",
        ".claude/plugins/",
        ".claude-plugin/",
        "~/.claude.json",
        "/etc/claude-code/",
        "/Library/Application Support/ClaudeCode/",
        ".mcp.json",
        ".codex/config.toml",
        ".codex/hooks.json",
        ".codex/hooks/",
        ".codex/rules/",
        "/etc/codex/",
        ".cursor/hooks.json",
        ".cursor/hooks/",
        ".cursor/mcp.json",
        ".cursor/cli.json",
        ".cursor/cli-config.json",
        ".cursor/permissions.json",
        ".cursor/sandbox.json",
        "/etc/cursor/",
        ".gemini/settings.json",
        ".gemini/hooks/",
        ".gemini/extensions/",
        ".gemini/policies/",
        ".gemini/trustedFolders.json",
        "/etc/gemini-cli/",
        ".github/hooks/",
        ".github/copilot/",
        ".copilot/config.json",
        ".copilot/mcp-config.json",
        ".copilot/hooks/",
        ".windsurf/hooks.json",
        ".codeium/windsurf/hooks.json",
        ".codeium/windsurf/mcp_config.json",
        ".factory/settings.json",
        ".factory/hooks/",
        ".qwen/settings.json",
        ".qwen/hooks/",
        ".grok/settings.json",
        ".grok/hooks/",
        ".kiro/hooks/",
        ".kiro/settings/",
        ".kiro/agents/",
        ".amazonq/cli-agents/",
        ".augment/settings.json",
        ".opencode/plugin/",
        ".opencode/plugins/",
        "opencode.json",
        "opencode.jsonc",
        "~/.config/opencode/",
        ".crush.json",
        "crush.json",
        "~/.config/goose/",
        "~/.config/amp/",
        ".amp/",
        ".cline/hooks/",
        ".clinerules/hooks/",
        ".roo/mcp.json",
        ".junie/mcp/",
        ".continue/config.yaml",
        ".vscode/mcp.json",
    ],
    hook_files,
);

/// Files that control other programs.
pub(super) static PROTECTED: Table = Table::new(&[
    // Editors run these when a project is opened.
    ".vscode/settings.json",
    ".vscode/tasks.json",
    // Continuous integration.
    ".github/workflows/",
    ".github/actions/",
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".gitlab/ci/",
    ".circleci/",
    ".travis.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "Jenkinsfile",
    ".buildkite/",
    ".drone.yml",
    ".woodpecker.yml",
    ".woodpecker/",
    ".forgejo/workflows/",
    ".gitea/workflows/",
    "cloudbuild.yaml",
    "buildspec.yml",
    ".github/CODEOWNERS",
    "CODEOWNERS",
    // Hooks and settings of git.
    ".git/hooks/",
    "!*.sample",
    ".git/config",
    ".git/info/attributes",
    ".githooks/",
    ".husky/",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    "~/.gitconfig",
    "~/.config/git/",
    "/etc/gitconfig",
    // Profiles of shells and sessions.
    "~/.bashrc",
    "~/.bash_profile",
    "~/.bash_login",
    "~/.bash_logout",
    "~/.bash_aliases",
    "~/.profile",
    "~/.zshrc",
    "~/.zshenv",
    "~/.zprofile",
    "~/.zlogin",
    "~/.zlogout",
    "~/.kshrc",
    "~/.cshrc",
    "~/.tcshrc",
    "~/.inputrc",
    "~/.config/fish/",
    "~/.config/nushell/",
    "~/.config/powershell/",
    "~/.xinitrc",
    "~/.xprofile",
    "~/.xsession",
    "~/.pam_environment",
    "~/.config/environment.d/",
    "/etc/profile",
    "/etc/profile.d/",
    "/etc/bash.bashrc",
    "/etc/bashrc",
    "/etc/zsh/",
    "/etc/zshrc",
    "/etc/zshenv",
    "/etc/environment",
    "/etc/shells",
    // Logins.
    "~/.ssh/config",
    "~/.ssh/authorized_keys",
    "~/.ssh/authorized_keys2",
    "~/.ssh/rc",
    "~/.ssh/environment",
    "~/.ssh/known_hosts",
    "/etc/ssh/",
    "/etc/pam.d/",
    "/etc/sudoers",
    "/etc/sudoers.d/",
    "/etc/doas.conf",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
    "/etc/security/",
    // Programs that start on their own.
    "/etc/crontab",
    "/etc/cron.d/",
    "/etc/cron.hourly/",
    "/etc/cron.daily/",
    "/etc/cron.weekly/",
    "/etc/cron.monthly/",
    "/var/spool/cron/",
    "/etc/anacrontab",
    "/etc/systemd/",
    "/usr/lib/systemd/",
    "/lib/systemd/",
    "/run/systemd/",
    "~/.config/systemd/",
    "~/.local/share/systemd/",
    "/etc/init.d/",
    "/etc/rc.local",
    "/etc/xdg/autostart/",
    "~/.config/autostart/",
    "~/.config/autostart-scripts/",
    "~/Library/LaunchAgents/",
    "/Library/LaunchAgents/",
    "/Library/LaunchDaemons/",
    "/etc/udev/rules.d/",
    "/etc/ld.so.preload",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d/",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/nsswitch.conf",
    // Programs that read commands or sources of packages from these files.
    "~/.npmrc",
    "~/.yarnrc",
    "~/.yarnrc.yml",
    "~/.pip/pip.conf",
    "~/.config/pip/pip.conf",
    "/etc/pip.conf",
    "~/.cargo/config.toml",
    "~/.cargo/config",
    "~/.cargo/env",
    "~/.vimrc",
    "~/.config/nvim/",
    "~/.emacs",
    "~/.emacs.d/",
    "~/.tmux.conf",
    "~/.config/direnv/",
    "~/.local/share/direnv/allow/",
    "~/.docker/config.json",
    "/etc/docker/",
    "/etc/apt/",
]);

/// Returns rows for the hook files of all dialects.
fn hook_files() -> Vec<String> {
    let files = checkrein_dialects::ALL.iter().flat_map(|dialect| dialect.config.files);
    let rows: BTreeSet<_> = files.flat_map(rows_of).collect();
    rows.into_iter().collect()
}

fn rows_of(file: &FileRow) -> Vec<String> {
    let start = match file.base {
        PathBase::Root => "/".to_owned(),
        PathBase::Home => "~/".to_owned(),
        PathBase::Config => "~/.config/".to_owned(),
        PathBase::Variable(..) | PathBase::FirstVariable(..) => format!("~/{}/", file.base.variables().1),
        PathBase::Project | PathBase::Repository | PathBase::Upwards { .. } => String::new(),
    };
    match file.path.strip_suffix("/*") {
        Some(directory) => vec![format!("{start}{directory}/")],
        None if file.extensions.is_empty() => vec![format!("{start}{}", file.path)],
        None => file.extensions.iter().map(|extension| format!("{start}{}.{extension}", file.path)).collect(),
    }
}

/// `true` for a directory of a project or of the home directory that holds hook files of an agent.
pub(super) fn is_agent_directory(name: &str) -> bool {
    // Other programs use these as well.
    const SHARED: &[&str] = &[".github", ".vscode", ".config", ".local"];
    let first = |file: &FileRow| match file.base {
        PathBase::Root | PathBase::Config => None,
        PathBase::Variable(..) | PathBase::FirstVariable(..) => Some(file.base.variables().1),
        _ => file.path.split_once('/').map(|(first, _)| first),
    };
    let mut files = checkrein_dialects::ALL.iter().flat_map(|dialect| dialect.config.files);
    name.starts_with('.') && !SHARED.contains(&name) && files.any(|file| first(file) == Some(name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn is_protected(path: &str) -> bool {
        [&AGENTS, &PROTECTED].iter().any(|table| table.has(Path::new(path), Some("/home/a")))
    }

    #[test]
    fn hook_files_of_every_dialect_are_files_of_agents() {
        for dialect in checkrein_dialects::ALL {
            for file in dialect.config.files {
                let base = match file.base {
                    PathBase::Root => "/".to_owned(),
                    PathBase::Home => "/home/a/".to_owned(),
                    PathBase::Config => "/home/a/.config/".to_owned(),
                    PathBase::Variable(..) | PathBase::FirstVariable(..) => {
                        format!("/home/a/{}/", file.base.variables().1)
                    }
                    _ => "/p/".to_owned(),
                };
                let extension = file.extensions.first().map(|own| format!(".{own}")).unwrap_or_default();
                let path = format!("{base}{}{extension}", file.path.replace('*', "x"));
                assert!(AGENTS.has(Path::new(&path), Some("/home/a")), "{}: {path}", dialect.name);
            }
        }
        assert!(is_agent_directory(".claude") && is_agent_directory(".codex") && is_agent_directory(".checkrein"));
        assert!(!is_agent_directory(".github") && !is_agent_directory("src"));
    }

    #[test]
    fn controlling_files_are_protected_and_ordinary_files_are_not() {
        for path in [
            "/p/.claude/settings.json",
            "/home/a/.claude/settings.json",
            "/p/.claude/hooks/guard.sh",
            "/p/.checkrein/hooks.yaml",
            "/home/a/.config/checkrein/hooks.yaml",
            "/etc/checkrein/managed.yaml",
            "/home/a/.codex/config.toml",
            "/p/.cursor/hooks.json",
            "/p/.gemini/settings.json",
            "/p/.mcp.json",
            "/p/.github/workflows/ci.yml",
            "/p/.github/hooks/x.json",
            "/p/.gitlab-ci.yml",
            "/p/.git/hooks/pre-commit",
            "/p/.git/config",
            "/p/.husky/pre-push",
            "/home/a/.bashrc",
            "/home/a/.zshrc",
            "/home/a/.config/fish/config.fish",
            "/home/a/.ssh/authorized_keys",
            "/home/a/.ssh/config",
            "/etc/crontab",
            "/var/spool/cron/a",
            "/etc/systemd/system/x.service",
            "/home/a/.config/systemd/user/x.service",
            "/home/a/.config/autostart/x.desktop",
            "/home/a/Library/LaunchAgents/x.plist",
            "/etc/ld.so.preload",
            "/home/a/.gitconfig",
        ] {
            assert!(is_protected(path), "{path}");
        }
        for path in [
            "/p/.git/hooks/pre-commit.sample",
            "/p/.git/HEAD",
            "/p/.github/ISSUE_TEMPLATE.md",
            "/p/.bashrc",
            "/p/src/settings.json",
            "/p/.claude/commands/x.md",
            "/p/CLAUDE.md",
            "/p/Makefile",
            "/home/a/notes.txt",
            "/p/systemd/x.service",
            "/etc/hostname",
            "/p/.npmrc",
        ] {
            assert!(!is_protected(path), "{path}");
        }
    }
}
