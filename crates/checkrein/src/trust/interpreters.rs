//! Tables of programs that run a script on their command line, and of programs whose code the command does not show.
//!
//! The search for scripts uses them. A program whose code is unknown must be reported as such.

/// A program that runs a script.
pub(super) struct Interpreter {
    /// Name without the version, which is digits and dots at the end.
    name: &'static str,
    /// Word before the script: `run` in `deno run x.ts`.
    verb: Option<&'static str>,
    /// Options whose value is the next word.
    with_value: &'static [&'static str],
    /// Options that are followed by code.
    inline: &'static [&'static str],
    /// Options that run code outside of the command.
    elsewhere: &'static [&'static str],
    /// `true` if options of one letter can be combined.
    clusters: bool,
    /// `true` if the first operand is code.
    takes_code: bool,
    /// `true` if code in the command imports modules from the working directory.
    imports_here: bool,
}

const fn row(name: &'static str) -> Interpreter {
    Interpreter {
        name,
        verb: None,
        with_value: &[],
        inline: &[],
        elsewhere: &[],
        clusters: false,
        takes_code: false,
        imports_here: false,
    }
}

const SHELL: Interpreter = Interpreter {
    name: "",
    verb: None,
    with_value: &["-o", "-O", "+o", "+O"],
    inline: &["-c"],
    elsewhere: &["-i", "-l", "--login", "--rcfile", "--init-file"],
    clusters: true,
    takes_code: false,
    imports_here: false,
};

const PYTHON: Interpreter = Interpreter {
    with_value: &["-W", "-X"],
    inline: &["-c"],
    elsewhere: &["-m"],
    clusters: true,
    imports_here: true,
    ..row("")
};

const INTERPRETERS: &[Interpreter] = &[
    Interpreter { name: "sh", ..SHELL },
    Interpreter { name: "bash", ..SHELL },
    Interpreter { name: "dash", ..SHELL },
    Interpreter { name: "zsh", ..SHELL },
    Interpreter { name: "ksh", ..SHELL },
    Interpreter { name: "mksh", ..SHELL },
    Interpreter { name: "ash", ..SHELL },
    Interpreter { name: "fish", ..SHELL },
    Interpreter { name: "python", ..PYTHON },
    Interpreter { name: "pypy", ..PYTHON },
    Interpreter { inline: NODE_INLINE, elsewhere: NODE_ELSEWHERE, imports_here: true, ..row("node") },
    Interpreter { inline: NODE_INLINE, elsewhere: NODE_ELSEWHERE, imports_here: true, ..row("nodejs") },
    Interpreter { inline: NODE_INLINE, elsewhere: NODE_ELSEWHERE, imports_here: true, ..row("tsx") },
    Interpreter { inline: NODE_INLINE, elsewhere: NODE_ELSEWHERE, imports_here: true, ..row("ts-node") },
    Interpreter { with_value: &["-c", "--config", "--import-map"], verb: Some("run"), ..row("deno") },
    Interpreter { verb: Some("run"), inline: &["-e", "--eval"], elsewhere: &["-r", "--preload"], ..row("bun") },
    Interpreter { inline: &["-e"], elsewhere: &["-r", "-S"], with_value: &["-I"], clusters: true, ..row("ruby") },
    Interpreter { inline: &["-e", "-E"], elsewhere: &["-M", "-S"], with_value: &["-I"], clusters: true, ..row("perl") },
    Interpreter { inline: &["-r"], with_value: &["-d", "-c"], ..row("php") },
    Interpreter { inline: &["-e"], ..row("Rscript") },
    Interpreter { inline: &["-e"], elsewhere: &["-l"], ..row("lua") },
    Interpreter { inline: &["-c", "-Command"], with_value: &["-ExecutionPolicy"], ..row("pwsh") },
    Interpreter { inline: &["-e"], with_value: &["-l"], ..row("osascript") },
    Interpreter { verb: Some("run"), with_value: &["--with", "-p", "--python"], elsewhere: &["-m"], ..row("uv") },
    Interpreter { inline: AWK_INLINE, elsewhere: AWK, takes_code: true, ..row("awk") },
    Interpreter { inline: AWK_INLINE, elsewhere: AWK, takes_code: true, ..row("gawk") },
    Interpreter { inline: AWK_INLINE, elsewhere: AWK, takes_code: true, ..row("mawk") },
    Interpreter { inline: AWK_INLINE, elsewhere: AWK, takes_code: true, ..row("nawk") },
    Interpreter { inline: &["-e", "--expression"], elsewhere: FILE, clusters: true, takes_code: true, ..row("sed") },
    Interpreter { inline: &["-e", "--expression"], elsewhere: FILE, clusters: true, takes_code: true, ..row("gsed") },
    Interpreter {
        elsewhere: &["-f", "--from-file", "-L", "--library-path"],
        clusters: true,
        takes_code: true,
        ..row("jq")
    },
    Interpreter { elsewhere: &["-x", "--command", "-ix", "--init-command"], takes_code: true, ..row("gdb") },
    Interpreter { elsewhere: &["-s", "-S", "-u", "-c", "--cmd"], takes_code: true, ..row("vim") },
    Interpreter { elsewhere: &["-s", "-S", "-u", "-c", "--cmd"], takes_code: true, ..row("nvim") },
    Interpreter { elsewhere: &["-l", "--load", "--script"], takes_code: true, ..row("emacs") },
    Interpreter { elsewhere: &["-f", "--file", "-init"], takes_code: true, ..row("psql") },
    Interpreter { elsewhere: &["-init"], takes_code: true, ..row("sqlite3") },
    Interpreter { with_value: &["-cp", "-classpath", "--class-path"], ..row("java") },
    Interpreter { inline: &["-e", "-E", "--eval"], elsewhere: &["-L", "--load"], ..row("julia") },
    Interpreter { inline: &["-c", "--commands"], ..row("nu") },
    Interpreter { inline: &["-c"], ..row("xonsh") },
    Interpreter { inline: &["-c"], elsewhere: &["-l"], ..row("guile") },
    Interpreter { inline: &["-e"], elsewhere: &["-r", "--require"], ..row("elixir") },
    Interpreter { inline: &["-e"], ..row("groovy") },
    Interpreter { inline: &["-c"], ..row("expect") },
    row("tclsh"),
    row("wish"),
    row("escript"),
    row("racket"),
    row("swift"),
    row("dart"),
    row("dotnet"),
    row("mono"),
    row("source"),
    row("."),
];

const AWK: &[&str] = &["-f", "--file", "-i", "--include", "-E", "--exec", "-l", "--load"];
const AWK_INLINE: &[&str] = &["-e", "--source"];
const FILE: &[&str] = &["-f", "--file"];
const NODE_INLINE: &[&str] = &["-e", "--eval", "-p", "--print"];
const NODE_ELSEWHERE: &[&str] = &["-r", "--require", "--import", "--loader", "--experimental-loader", "--run"];

/// Programs that run code from a file of the project or from a registry, not from their command line.
const UNKNOWN: &[&str] = &[
    "make",
    "gmake",
    "just",
    "task",
    "npm",
    "npx",
    "pnpm",
    "pnpx",
    "yarn",
    "bunx",
    "pipx",
    "uvx",
    "poetry",
    "rake",
    "bundle",
    "cargo",
    "go",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "ant",
    "bazel",
    "composer",
    "docker",
    "podman",
    "nix",
    "nix-shell",
    "direnv",
    "mise",
    "tox",
    "nox",
    "pytest",
    "hatch",
    "pre-commit",
    "prek",
    "lefthook",
    "husky",
];

/// Code that a program runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// The script at this index of the arguments.
    Script(usize),
    /// Code in the command only.
    Inline,
    /// Code in the command, and modules from the working directory.
    InlineWithModules,
    /// The standard input.
    Input,
    /// Code that the command does not show, because of this option or program.
    Unknown(String),
    /// No script: the program is not an interpreter.
    Nothing,
}

/// Returns the index of the script in the arguments of an interpreter. `None` if the program runs no script, or other code.
pub fn script_operand(name: &str, args: &[&str]) -> Option<usize> {
    match runs(name, args) {
        Runs::Script(index) => Some(index),
        _ => None,
    }
}

/// `true` if the program runs code: that of its arguments, or of files that they do not show.
pub fn is_interpreter(name: &str) -> bool {
    runs(name, &[]) != Runs::Nothing
}

/// Returns the code that a program with these arguments runs.
pub(crate) fn runs(name: &str, args: &[&str]) -> Runs {
    if UNKNOWN.contains(&name) {
        // `npx tsx x.ts` is equivalent to `tsx x.ts`.
        let inner = args.iter().position(|arg| !arg.starts_with('-'));
        if matches!(name, "npx" | "pnpx" | "bunx")
            && let Some(inner) = inner
            && let Runs::Script(script) = runs(args[inner], &args[inner + 1..])
        {
            return Runs::Script(inner + 1 + script);
        }
        return Runs::Unknown(name.to_owned());
    }
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_named = |row: &&Interpreter| row.name == name || (!plain.is_empty() && row.name == plain);
    let Some(interpreter) = INTERPRETERS.iter().find(is_named) else { return Runs::Nothing };
    interpreter.runs(args)
}

impl Interpreter {
    fn runs(&self, args: &[&str]) -> Runs {
        if self.takes_code {
            return self.runs_code(args);
        }
        let mut verb = self.verb;
        let mut index = 0;
        let mut elsewhere = None;
        while let Some(arg) = args.get(index) {
            let option = arg.split('=').next().unwrap_or(arg);
            let combined = arg.strip_prefix('-').filter(|rest| self.clusters && !rest.starts_with('-'));
            let has = |options: &[&str]| {
                let letter = |own: &&str| own.strip_prefix('-')?.chars().next().filter(|_| own.len() == 2);
                let has_value = |own: &&str| own.len() == 2 && !self.clusters && arg.starts_with(own);
                let is_start = |own: &&str| option.len() > 3 && own.starts_with("--") && own.starts_with(option);
                options.contains(&option)
                    || options.iter().any(|own| has_value(own) || is_start(own))
                    || combined.is_some_and(|rest| options.iter().filter_map(letter).any(|own| rest.contains(own)))
            };
            if *arg == "--" {
                index += 1;
                break;
            } else if !arg.starts_with(['-', '+']) || arg.len() < 2 {
                match verb.take() {
                    Some(verb) if verb == *arg => index += 1,
                    _ => break,
                }
            } else if self.with_value.contains(arg) {
                index += 2;
            } else {
                if elsewhere.is_none() && has(self.elsewhere) {
                    elsewhere = Some((*arg).to_owned());
                }
                if has(self.inline) {
                    let code = args[index..].join(" ");
                    let imports = self.imports_here && (code.contains("import") || code.contains("require"));
                    let inline = if imports { Runs::InlineWithModules } else { Runs::Inline };
                    return elsewhere.map_or(inline, Runs::Unknown);
                }
                index += 1;
            }
        }
        match elsewhere {
            Some(option) => Runs::Unknown(option),
            // With `-s`, a shell reads its standard input and the operands are arguments.
            None if self.name.ends_with("sh") && self.clusters && args[..index].contains(&"-s") => Runs::Input,
            None if args.get(index).is_some_and(|arg| *arg != "-") => Runs::Script(index),
            None => Runs::Input,
        }
    }

    /// Returns the code of a program whose first operand is code. It accepts options behind operands.
    fn runs_code(&self, args: &[&str]) -> Runs {
        let is_elsewhere = |arg: &&&str| {
            let option = arg.split('=').next().unwrap_or(arg);
            let is_short = |own: &str| {
                let letter = own.strip_prefix('-').filter(|letter| letter.len() == 1);
                let cluster = arg.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
                letter.zip(cluster).is_some_and(|(letter, cluster)| {
                    let end = cluster.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(cluster.len());
                    if self.clusters { cluster[..end].contains(letter) } else { cluster.starts_with(letter) }
                })
            };
            let is_long = |own: &str| own.starts_with("--") && option.len() > 3 && own.starts_with(option);
            self.elsewhere.iter().any(|own| *own == option || is_short(own) || is_long(own))
        };
        let options = args.iter().take_while(|arg| **arg != "--");
        match options.filter(|arg| arg.starts_with('-')).find(is_elsewhere) {
            Some(arg) => Runs::Unknown((*arg).to_owned()),
            None => Runs::Inline,
        }
    }
}

/// Variables that can make programs run code outside of the command.
const VARIABLES: &[&str] = &[
    "AR",
    "AS",
    "BROWSER",
    "CC",
    "CDPATH",
    "CLASSPATH",
    "CPP",
    "CURL_HOME",
    "CXX",
    "CVS_RSH",
    "DIFFPROG",
    "DOCKER_CONFIG",
    "DOTNET_STARTUP_HOOKS",
    "EDITOR",
    "ELIXIR_ERL_OPTIONS",
    "EMACSLOADPATH",
    "ENV",
    "ERL_FLAGS",
    "EXINIT",
    "FCEDIT",
    "FPATH",
    "GCONV_PATH",
    "GOFLAGS",
    "HOME",
    "INPUTRC",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "KUBECONFIG",
    "LD",
    "LESSCLOSE",
    "LESSOPEN",
    "MAKE",
    "MAKEFILES",
    "MAKEFLAGS",
    "MANPAGER",
    "OPENSSL_CONF",
    "PAGER",
    "PATH",
    "PERLLIB",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "RIPGREP_CONFIG_PATH",
    "RSYNC_RSH",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTUP_TOOLCHAIN",
    "SHELL",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "SYSTEMD_PAGER",
    "TAR_OPTIONS",
    "TERMINAL",
    "TERMINFO",
    "VIMINIT",
    "VISUAL",
    "WGETRC",
    "XDG_CONFIG_HOME",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];

/// Starts of names of such variables.
const PREFIXES: &[&str] = &[
    "BASH_",
    "CARGO_",
    "DYLD_",
    "GIT_",
    "LD_",
    "LUA_",
    "NODE_",
    "NPM_CONFIG_",
    "PERL5",
    "PYTHON",
    "RUBY",
    "UV_",
    "npm_config_",
    "PIP_",
];

/// Names with such a start that only hold data.
const DATA: &[&str] = &[
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "NODE_ENV",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
];

/// `true` if the variable can make programs run code outside of the command.
pub(super) fn selects_code(variable: &str) -> bool {
    let has_prefix = || PREFIXES.iter().any(|prefix| variable.starts_with(prefix));
    VARIABLES.contains(&variable) || (has_prefix() && !DATA.contains(&variable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_behind_interpreters() {
        let code = |command: &str| {
            let words: Vec<&str> = command.split(' ').collect();
            match runs(words[0], &words[1..]) {
                Runs::Script(index) => words[index + 1].to_owned(),
                Runs::Inline => "inline".to_owned(),
                Runs::InlineWithModules => "modules".to_owned(),
                Runs::Input => "input".to_owned(),
                Runs::Unknown(why) => format!("unknown {why}"),
                Runs::Nothing => "nothing".to_owned(),
            }
        };
        for (command, expected) in [
            ("bash x.sh", "x.sh"),
            ("bash -e x.sh -c", "x.sh"),
            ("bash -o pipefail x.sh", "x.sh"),
            ("bash -c x", "inline"),
            ("bash -lc x", "unknown -lc"),
            ("bash", "input"),
            ("bash -s x.sh", "input"),
            ("python3 -", "input"),
            ("python3 -c import", "modules"),
            ("java -cp a -jar x.jar", "x.jar"),
            ("tclsh x.tcl", "x.tcl"),
            ("sh -- -x.sh", "-x.sh"),
            ("python3 x.py", "x.py"),
            ("python3.12 -u -W ignore x.py -m", "x.py"),
            ("python3 -m pkg", "unknown -m"),
            ("python3 -c code", "inline"),
            ("node --no-warnings x.mjs", "x.mjs"),
            ("node -r ./y.js x.js", "unknown -r"),
            ("node -e code", "inline"),
            ("deno run --allow-read x.ts", "x.ts"),
            ("bun x.ts", "x.ts"),
            ("uv run x.py", "x.py"),
            ("npx tsx x.ts", "x.ts"),
            ("npx --yes tsx x.ts", "x.ts"),
            ("npx prettier x.ts", "unknown npx"),
            ("make check", "unknown make"),
            ("ruby -I lib x.rb", "x.rb"),
            ("perl -w x.pl", "x.pl"),
            (". x.sh", "x.sh"),
            ("source x.sh", "x.sh"),
            ("jq .a x", "inline"),
            ("sed -nf x.sed", "unknown -nf"),
            ("cat x", "nothing"),
            ("awk {print} x", "inline"),
            ("awk -f x.awk", "unknown -f"),
            ("awk -fx.awk", "unknown -fx.awk"),
            ("awk -F : -f x.awk", "unknown -f"),
            ("awk --file=x.awk", "unknown --file=x.awk"),
            ("awk --fil=x.awk", "unknown --fil=x.awk"),
            ("awk -F: {print}", "inline"),
            ("sed -e s/a/b/ -f x.sed", "unknown -f"),
            ("sed -n -fx.sed", "unknown -fx.sed"),
            ("jq -rf x.jq", "unknown -rf"),
            ("jq -r .a", "inline"),
            ("node -r./y.js x.js", "unknown -r./y.js"),
            ("sed s/a/b/ x", "inline"),
        ] {
            assert_eq!(code(command), expected, "{command}");
        }
    }
}
