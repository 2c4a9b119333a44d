//! Programs that run a script which stands behind them on their command line, and programs that run what nobody can tell.

/// A program that runs a script.
pub(super) struct Interpreter {
    /// Its name; digits and dots at the end are the version.
    name: &'static str,
    /// Words before the script: `run` in `deno run x.ts`.
    verb: Option<&'static str>,
    /// Options that have their value in the next word.
    with_value: &'static [&'static str],
    /// Options after which the code stands in the command itself.
    inline: &'static [&'static str],
    /// Options that run what nobody can tell.
    elsewhere: &'static [&'static str],
    /// Whether options of one letter may stand together.
    clusters: bool,
    /// Whether the first word that is no option is the code itself.
    takes_code: bool,
    /// Whether code that stands in the command finds modules in the directory that it runs in.
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
    Interpreter { inline: &["-e", "--source"], elsewhere: AWK, takes_code: true, ..row("awk") },
    Interpreter { inline: &["-e", "--source"], elsewhere: AWK, takes_code: true, ..row("gawk") },
    Interpreter { inline: &["-e", "--source"], elsewhere: AWK, takes_code: true, ..row("mawk") },
    Interpreter { inline: &["-e", "--expression"], elsewhere: AWK, takes_code: true, ..row("sed") },
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

const AWK: &[&str] = &["-f", "--file"];
const NODE_INLINE: &[&str] = &["-e", "--eval", "-p", "--print"];
const NODE_ELSEWHERE: &[&str] = &["-r", "--require", "--import", "--loader", "--experimental-loader", "--run"];

/// Programs that run what a file of the project or a registry says, and not what stands on their command line.
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

/// What a program does with the words behind it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// The script that is this word of them.
    Script(usize),
    /// Nothing but what stands in the command.
    Inline,
    /// What stands in the command, and modules that it finds in the directory that it runs in.
    InlineWithModules,
    /// What it reads.
    Input,
    /// What nobody can tell from the command, as this option or word says.
    Unknown(String),
    /// It is no program that runs scripts.
    Nothing,
}

/// What the program of this name does.
pub(super) fn runs(name: &str, args: &[&str]) -> Runs {
    if UNKNOWN.contains(&name) {
        // `npx tsx x.ts` is as good as `tsx x.ts`.
        let inner = args.iter().position(|arg| !arg.starts_with('-'));
        if let (true, Some(at)) = (matches!(name, "npx" | "pnpx" | "bunx"), inner)
            && let Runs::Script(script) = runs(args[at], &args[at + 1..])
        {
            return Runs::Script(at + 1 + script);
        }
        return Runs::Unknown(name.to_owned());
    }
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is = |row: &&Interpreter| row.name == name || (!plain.is_empty() && row.name == plain);
    let Some(interpreter) = INTERPRETERS.iter().find(is) else { return Runs::Nothing };
    interpreter.runs(args)
}

impl Interpreter {
    fn runs(&self, args: &[&str]) -> Runs {
        let mut verb = self.verb;
        let mut at = 0;
        let mut elsewhere = None;
        while let Some(arg) = args.get(at) {
            let option = arg.split('=').next().unwrap_or(arg);
            let together = arg.strip_prefix('-').filter(|rest| self.clusters && !rest.starts_with('-'));
            let has = |options: &[&str]| {
                let letter = |own: &&str| own.strip_prefix('-')?.chars().next().filter(|_| own.len() == 2);
                options.contains(&option)
                    || together.is_some_and(|rest| options.iter().filter_map(letter).any(|own| rest.contains(own)))
            };
            if *arg == "--" {
                at += 1;
                break;
            } else if !arg.starts_with(['-', '+']) || arg.len() < 2 {
                match verb.take() {
                    Some(verb) if verb == *arg => at += 1,
                    _ => break,
                }
            } else if self.with_value.contains(arg) {
                at += 2;
            } else {
                if elsewhere.is_none() && has(self.elsewhere) {
                    elsewhere = Some((*arg).to_owned());
                }
                if has(self.inline) {
                    let code = args[at..].join(" ");
                    let imports = self.imports_here && (code.contains("import") || code.contains("require"));
                    let inline = if imports { Runs::InlineWithModules } else { Runs::Inline };
                    return elsewhere.map_or(inline, Runs::Unknown);
                }
                at += 1;
            }
        }
        match elsewhere {
            Some(option) => Runs::Unknown(option),
            None if self.takes_code => Runs::Inline,
            // Arguments of what a shell reads.
            None if self.name.ends_with("sh") && self.clusters && args[..at].contains(&"-s") => Runs::Input,
            None if args.get(at).is_some_and(|arg| *arg != "-") => Runs::Script(at),
            None => Runs::Input,
        }
    }
}

/// Variables that have programs run code which stands nowhere in the command.
pub(super) const VARIABLES: &[&str] = &[
    "PATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "BASH_ENV",
    "ENV",
    "ZDOTDIR",
    "SHELLOPTS",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "NODE_OPTIONS",
    "NODE_PATH",
    "RUBYOPT",
    "RUBYLIB",
    "PERL5OPT",
    "PERL5LIB",
    "PERLLIB",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "CLASSPATH",
    "LUA_INIT",
    "LUA_PATH",
    "LESSOPEN",
    "PROMPT_COMMAND",
    "VISUAL",
    "GIT_ASKPASS",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_DIR",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "EDITOR",
    "PAGER",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_behind_interpreters() {
        let of = |command: &str| {
            let words: Vec<&str> = command.split(' ').collect();
            match runs(words[0], &words[1..]) {
                Runs::Script(at) => words[at + 1].to_owned(),
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
            ("jq .a x", "nothing"),
            ("awk {print} x", "inline"),
            ("awk -f x.awk", "unknown -f"),
            ("sed s/a/b/ x", "inline"),
        ] {
            assert_eq!(of(command), expected, "{command}");
        }
    }
}
