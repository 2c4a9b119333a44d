//! Variables that hooks of other agents get without a request.
//!
//! A project's settings can set any variable for its agent, and many variables make a program load or run other code. So hooks get
//! only variables that are known to be harmless. Directories of tools pass only with their usual value or below a system
//! directory.

use std::path::Path;

use crate::trust::is_system;

/// Variables that no program uses to load or run code.
const HARMLESS: &[&str] = &[
    // Terminal and locale.
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORFGBG",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "LINES",
    "NO_COLOR",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    // Session.
    "DESKTOP_SESSION",
    "DISPLAY",
    "GPG_TTY",
    "HOSTNAME",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    "WAYLAND_DISPLAY",
    "WSL_DISTRO_NAME",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_CLASS",
    "XDG_SESSION_ID",
    "XDG_SESSION_TYPE",
    // Continuous integration.
    "BUILDKITE",
    "CI",
    "GITHUB_ACTIONS",
    "GITHUB_ACTOR",
    "GITHUB_REF",
    "GITHUB_REPOSITORY",
    "GITHUB_RUN_ID",
    "GITHUB_SHA",
    "GITHUB_WORKFLOW",
    "GITLAB_CI",
    // Modes of tools.
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_REGION",
    "GOOGLE_CLOUD_PROJECT",
    "NODE_ENV",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "RUST_BACKTRACE",
    "RUST_LOG",
    // Set by agents for their child processes.
    "AGENT",
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_REMOTE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_ENV_FILE",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "CURSOR_TRACE_ID",
    "GEMINI_CLI",
    "GROK_SESSION_ID",
    "OPENCODE",
    "QWEN_CODE",
];

/// Variables whose value is inside of the project by their meaning. Programs do not load code from them.
const IN_PROJECT: &[&str] = &["PWD", "OLDPWD"];

/// Directories of tools, with their usual values in the home directory.
const TOOL_DIRS: &[(&str, &[&str])] = &[
    ("ASDF_DATA_DIR", &[".asdf"]),
    ("ASDF_DIR", &[".asdf"]),
    ("BUN_INSTALL", &[".bun"]),
    ("CARGO_HOME", &[".cargo"]),
    ("CONDA_PREFIX", &["anaconda3", "miniconda3", "miniforge3"]),
    ("DENO_INSTALL", &[".deno"]),
    ("GEM_HOME", &[".gem"]),
    ("GOPATH", &["go"]),
    ("GOROOT", &[]),
    ("HOMEBREW_CELLAR", &[]),
    ("HOMEBREW_PREFIX", &[]),
    ("HOMEBREW_REPOSITORY", &[]),
    ("JAVA_HOME", &[".sdkman/candidates/java/current"]),
    ("MISE_DATA_DIR", &[".local/share/mise"]),
    ("NODENV_ROOT", &[".nodenv"]),
    ("NVM_DIR", &[".nvm", ".config/nvm"]),
    ("PIPX_HOME", &[".local/pipx", ".local/share/pipx"]),
    ("PNPM_HOME", &[".local/share/pnpm", "Library/pnpm"]),
    ("POETRY_HOME", &[".poetry", ".local/share/pypoetry"]),
    ("PYENV_ROOT", &[".pyenv"]),
    ("RBENV_ROOT", &[".rbenv"]),
    ("RUSTUP_HOME", &[".rustup"]),
    ("SDKMAN_DIR", &[".sdkman"]),
    ("VIRTUAL_ENV", &[".venv"]),
    ("VOLTA_HOME", &[".volta"]),
    ("XDG_CACHE_HOME", &[".cache"]),
    ("XDG_CONFIG_DIRS", &[]),
    ("XDG_CONFIG_HOME", &[".config"]),
    ("XDG_DATA_DIRS", &[".local/share/flatpak/exports/share"]),
    ("XDG_DATA_HOME", &[".local/share"]),
    ("XDG_STATE_HOME", &[".local/state"]),
];

/// `true` if hooks may get a variable with this value although they do not ask for it.
pub(super) fn is_harmless(name: &str, value: &str, home: Option<&Path>) -> bool {
    if name == "XDG_RUNTIME_DIR" {
        return value.starts_with("/run/user/");
    }
    if name == "DBUS_SESSION_BUS_ADDRESS" {
        // Other kinds of addresses start programs.
        return value.split(';').all(|address| address.starts_with("unix:"));
    }
    if let Some((_, usual)) = TOOL_DIRS.iter().find(|(own, _)| *own == name) {
        return value.split(':').filter(|dir| !dir.is_empty()).all(|dir| is_tool_dir(Path::new(dir), usual, home));
    }
    HARMLESS.contains(&name)
}

/// `true` if the variable names a directory of a tool.
pub(super) fn is_tool_variable(name: &str) -> bool {
    TOOL_DIRS.iter().any(|(own, _)| *own == name)
}

fn is_tool_dir(dir: &Path, usual: &[&str], home: Option<&Path>) -> bool {
    home.is_some_and(|home| usual.iter().any(|usual| home.join(usual) == dir)) || is_system(dir)
}

/// `true` if the value of a variable is expected to be inside of the project.
pub(super) fn belongs_in_project(name: &str) -> bool {
    IN_PROJECT.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_variables_pass() {
        let home = Some(Path::new("/home/ann"));
        for (name, value) in [
            ("COLORTERM", "truecolor"),
            ("SSH_AUTH_SOCK", "/run/user/1000/agent"),
            ("CARGO_HOME", "/home/ann/.cargo"),
            ("RUSTUP_HOME", "/home/ann/.rustup"),
            ("GOPATH", "/home/ann/go"),
            ("PNPM_HOME", "/home/ann/.local/share/pnpm"),
            ("JAVA_HOME", "/usr"),
            ("XDG_DATA_DIRS", "/usr/share:/usr/share"),
            ("XDG_RUNTIME_DIR", "/run/user/1000"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
        ] {
            assert!(is_harmless(name, value, home), "{name}={value}");
        }
    }

    /// Variables with which a project could run its own code in a hook, or move a directory of the user.
    #[test]
    fn variables_that_change_programs_are_withheld() {
        let home = Some(Path::new("/home/ann"));
        for name in [
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "BASH_ENV",
            "ENV",
            "BASH_FUNC_ls%%",
            "IFS",
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_KEY_0",
            "GIT_CONFIG_VALUE_0",
            "GIT_CONFIG_PARAMETERS",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_SYSTEM",
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_EXTERNAL_DIFF",
            "GIT_SSH_COMMAND",
            "GIT_SSH",
            "GIT_EXEC_PATH",
            "GIT_EDITOR",
            "GIT_PAGER",
            "GIT_ASKPASS",
            "GIT_PROXY_COMMAND",
            "GIT_TEMPLATE_DIR",
            "PYTHONUSERBASE",
            "PYTHONWARNINGS",
            "BROWSER",
            "PYTHONPATH",
            "PYTHONHOME",
            "PYTHONSTARTUP",
            "PERLLIB",
            "PERL5LIB",
            "PERL5OPT",
            "MAKEFILES",
            "MAKEFLAGS",
            "TAR_OPTIONS",
            "LESSOPEN",
            "LESSCLOSE",
            "WGETRC",
            "CURL_HOME",
            "npm_config_script_shell",
            "NPM_CONFIG_USERCONFIG",
            "NODE_OPTIONS",
            "NODE_PATH",
            "_JAVA_OPTIONS",
            "JAVA_TOOL_OPTIONS",
            "LUA_INIT",
            "PHPRC",
            "PHP_INI_SCAN_DIR",
            "RUBYOPT",
            "RUBYLIB",
            "RUBYGEMS_GEMDEPS",
            "BUNDLE_GEMFILE",
            "DOTNET_STARTUP_HOOKS",
            "ERL_FLAGS",
            "ERL_AFLAGS",
            "RIPGREP_CONFIG_PATH",
            "RUSTC_WRAPPER",
            "RUSTUP_TOOLCHAIN",
            "RUSTFLAGS",
            "CARGO_BUILD_RUSTC",
            "GOFLAGS",
            "GOTOOLCHAIN",
            "CC",
            "CXX",
            "EDITOR",
            "VISUAL",
            "PAGER",
            "MANPAGER",
            "SSH_ASKPASS",
            "SUDO_ASKPASS",
            "DOCKER_CONFIG",
            "DOCKER_HOST",
            "KUBECONFIG",
            "AWS_CONFIG_FILE",
            "CLOUDSDK_CONFIG",
            "HTTPS_PROXY",
            "https_proxy",
            "ALL_PROXY",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "CURL_CA_BUNDLE",
            "REQUESTS_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "TERMINFO",
            "TERMCAP",
            "LOCPATH",
            "GCONV_PATH",
            "NLSPATH",
            "HOSTALIASES",
            "INPUTRC",
            "SCREENRC",
            "VIMINIT",
            "EXINIT",
            "ZDOTDIR",
            "PS4",
            "PROMPT_COMMAND",
            "SHELLOPTS",
            "BASHOPTS",
            "CDPATH",
            "GREP_OPTIONS",
            "JQ_LIBRARY_PATH",
            "ANSIBLE_CONFIG",
            "PIP_CONFIG_FILE",
            "PIP_INDEX_URL",
            "UV_INDEX_URL",
            "GTK_PATH",
            "QT_PLUGIN_PATH",
            "GST_PLUGIN_PATH",
        ] {
            assert!(!is_harmless(name, "1", home), "{name}");
            assert!(!super::super::is_usual(name), "{name}");
        }
        for (name, value) in [
            ("CARGO_HOME", "/home/ann/src/clone"),
            ("CARGO_HOME", "/home/ann/.cargo/registry/src/x/evil"),
            ("RUSTUP_HOME", "/tmp/evil"),
            ("GOPATH", "/home/ann/go:/tmp/evil"),
            ("XDG_CONFIG_HOME", "/tmp/evil"),
            ("XDG_DATA_DIRS", "/usr/share:/tmp/evil"),
            ("XDG_RUNTIME_DIR", "/tmp/evil"),
            ("VIRTUAL_ENV", "evil"),
            ("JAVA_HOME", "/usr/../tmp/evil"),
            ("DBUS_SESSION_BUS_ADDRESS", "unixexec:path=/tmp/evil"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/x;unixexec:path=/tmp/evil"),
        ] {
            assert!(!is_harmless(name, value, home), "{name}={value}");
        }
    }
}
