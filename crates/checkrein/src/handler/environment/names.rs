//! Names of variables that are passed on only on request: secrets, and variables that make programs load other code.

/// Names of secrets that have none of the suffixes below.
const SECRETS: &[&str] =
    &["DOCKER_AUTH_CONFIG", "MYSQL_PWD", "NPM_CONFIG__AUTH", "PGPASSWORD", "REDISCLI_AUTH", "SSHPASS"];

/// Suffixes of names of secrets. A suffix without its underscore is the name of a secret too.
const SUFFIXES: &[&str] = &[
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

/// Names with such a suffix that are not secrets. (`SSH_AUTH_SOCK` has no such suffix: hooks that push need it, and it is no
/// secret that could be sent away.)
const NOT_SECRETS: &[&str] = &["XDG_ACTIVATION_TOKEN", "SSH_ASKPASS", "GIT_ASKPASS"];

/// Values that are never secrets.
const PLAIN: &[&str] = &["", "0", "1", "true", "false", "yes", "no", "none", "null"];

/// Variables that make the dynamic linker, shells and interpreters load or run other code.
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

/// Prefixes of such variables.
const LOADER_PREFIXES: &[&str] = &["BASH_FUNC_", "DYLD_", "LD_"];

/// `true` if a variable of this name makes programs load or run other code.
pub(super) fn is_loader(name: &str) -> bool {
    LOADERS.contains(&name) || LOADER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// `true` if a variable of this name is a secret.
pub(super) fn is_secret_name(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let has_suffix = |suffix: &&str| name.ends_with(*suffix) || suffix.strip_prefix('_') == Some(&name);
    let is_secret = SECRETS.contains(&&*name) || SUFFIXES.iter().any(has_suffix);
    is_secret && !NOT_SECRETS.contains(&&*name) && !PLAIN.contains(&value.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognized() {
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
    fn names_of_loader_variables_are_recognized() {
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
