//! Names of variables that are not passed on unasked.

/// Names of secrets, besides those that end as secrets do.
const SECRETS: &[&str] =
    &["DOCKER_AUTH_CONFIG", "MYSQL_PWD", "NPM_CONFIG__AUTH", "PGPASSWORD", "REDISCLI_AUTH", "SSHPASS"];

/// How names of secrets end. A name that is one of these without the first letter is one too.
const ENDS: &[&str] = &[
    "_ACCESS_KEY",
    "_ACCOUNT_KEY",
    "_API_KEY",
    "_APIKEY",
    "_APP_KEY",
    "_AUTHTOKEN",
    "_AUTH_KEY",
    "_ENCRYPTION_KEY",
    "_MASTER_KEY",
    "_PASS",
    "_PASSPHRASE",
    "_PASSWD",
    "_PASSWORD",
    "_PAT",
    "_PRIVATE_KEY",
    "_SECRET",
    "_SECRETS",
    "_SECRET_KEY",
    "_SIGNING_KEY",
    "_TOKEN",
];

/// Names that end as secrets do and are none. `SSH_AUTH_SOCK` is none either: it is a way to ask for signatures, which hooks
/// that push need, and no secret to send away.
const NO_SECRETS: &[&str] = &["XDG_ACTIVATION_TOKEN", "SSH_ASKPASS", "GIT_ASKPASS"];

/// Values that are no secrets, whatever the name.
const PLAIN: &[&str] = &["", "0", "1", "true", "false", "yes", "no", "none", "null"];

/// Variables by which programs load or run what somebody else says: the dynamic linker, shells, interpreters.
const LOADERS: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "ENV",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "SHELLOPTS",
    "ZDOTDIR",
];

/// How names of such variables start.
const LOADER_STARTS: &[&str] = &["BASH_FUNC_", "DYLD_", "LD_"];

/// Whether a variable of this name makes programs load or run something else.
pub(super) fn is_loader(name: &str) -> bool {
    LOADERS.contains(&name) || LOADER_STARTS.iter().any(|start| name.starts_with(start))
}

/// Whether a variable of this name is a secret.
pub(super) fn is_secret_name(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let ends = |end: &&str| name.ends_with(*end) || end.strip_prefix('_') == Some(&name);
    let is_one = SECRETS.contains(&&*name) || ENDS.iter().any(ends);
    is_one && !NO_SECRETS.contains(&&*name) && !PLAIN.contains(&value.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        for name in [
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "GITHUB_TOKEN",
            "ANTHROPIC_API_KEY",
            "TOKEN",
            "PASSWORD",
            "PGPASSWORD",
            "DB_PASSWORD",
            "STRIPE_SECRET",
            "CLIENT_SECRET",
            "npm_config_//registry.npmjs.org/:_authToken",
            "GH_PAT",
            "SSHPASS",
        ] {
            assert!(is_secret_name(name, "x"), "{name}");
            assert!(!is_secret_name(name, ""), "{name}, empty");
        }
        for name in [
            "MAX_TOKEN_LIMIT",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "SSH_AUTH_SOCK",
            "GIT_ASKPASS",
            "TOKENIZERS_PARALLELISM",
            "PATH",
            "COMPASS",
            "XPAT",
            "KEY",
            "PASSWORD_STORE_DIR",
            "XDG_ACTIVATION_TOKEN",
        ] {
            assert!(!is_secret_name(name, "x"), "{name}");
        }
        assert!(!is_secret_name("USE_TOKEN", "true"));
    }

    #[test]
    fn names_that_load() {
        for name in
            ["LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "BASH_FUNC_ls%%", "IFS"]
        {
            assert!(is_loader(name), "{name}");
        }
        for name in ["OLD_PATH", "ENVIRONMENT", "BASH", "NODE_ENV", "PYTHONUNBUFFERED", "LDFLAGS"] {
            assert!(!is_loader(name), "{name}");
        }
    }
}
