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
pub(super) enum Runs {
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

/// Returns the code that a program with these arguments runs.
pub(super) fn runs(name: &str, args: &[&str]) -> Runs {
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
        let mut verb = self.verb;
        let mut index = 0;
        let mut elsewhere = None;
        while let Some(arg) = args.get(index) {
            let option = arg.split('=').next().unwrap_or(arg);
            let combined = arg.strip_prefix('-').filter(|rest| self.clusters && !rest.starts_with('-'));
            let has = |options: &[&str]| {
                let letter = |own: &&str| own.strip_prefix('-')?.chars().next().filter(|_| own.len() == 2);
                options.contains(&option)
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
            None if self.takes_code => Runs::Inline,
            // With `-s`, a shell reads its standard input and the operands are arguments.
            None if self.name.ends_with("sh") && self.clusters && args[..index].contains(&"-s") => Runs::Input,
            None if args.get(index).is_some_and(|arg| *arg != "-") => Runs::Script(index),
            None => Runs::Input,
        }
    }
}

/// Variables that can make programs run code outside of the command.
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
            ("jq .a x", "nothing"),
            ("awk {print} x", "inline"),
            ("awk -f x.awk", "unknown -f"),
            ("sed s/a/b/ x", "inline"),
        ] {
            assert_eq!(code(command), expected, "{command}");
        }
    }
}
