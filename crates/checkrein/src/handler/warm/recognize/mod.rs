//! Recognition of commands that start Python or Node with a script.
//!
//! A command is recognised only if a waiting interpreter gives exactly the result of a new one. In any doubt it is not.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use checkrein_dialects::Warm;
use checkrein_process::{ExecContext, MARKER, ResolvedCommand, ResolvedProgram};

use super::{Cold, InterpreterCommand, Language};

/// Maximum size of a script.
const MAX_SCRIPT: u64 = 1 << 20;

/// Maximum length of a first line.
const MAX_FIRST_LINE: usize = 256;

/// Parts of a script that could show that its interpreter was started earlier, by another process and without the terminal of
/// the agent. With `warm: true` the author of the hook accepts these differences.
const TELLING: &[&str] = &[
    "ppid",
    "psutil",
    "/proc/",
    "/dev/tty",
    "ctermid",
    "tcgetpgrp",
    "getsid",
    "getpass",
    "uptime",
    "timeOrigin",
    "process_time",
    "clock_gettime",
    "gc.get_objects",
    "sys.modules",
    "moduleLoadList",
    "getrusage",
    "resourceUsage",
    "cpuUsage",
];

/// Packages whose parts Python modules of the gate import. A script that imports only the package itself would find these parts.
const PACKAGES: &[&str] = &["urllib", "importlib", "concurrent", "xml", "email", "http"];

/// Variables that both interpreters, or the libraries below them, read when they start.
const START: &[&str] = &["HOME", "LANG", "LANGUAGE", "PATH", "TZ", "TZDIR", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"];
const START_PREFIXES: &[&str] = &["LC_", "LD_", "DYLD_", "MALLOC_", "GLIBC_", "OPENSSL_", "SSL_CERT_", "ICU_", "UV_"];

/// Known variables of Python and Node. A hook with any other one runs cold.
const PYTHON: &[&str] = &[
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONHOME",
    "PYTHONIOENCODING",
    "PYTHONNOUSERSITE",
    "PYTHONOPTIMIZE",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "PYTHONUSERBASE",
    "PYTHONUTF8",
    "PYTHONWARNINGS",
];
const NODE: &[&str] = &[
    "NODE_ENV",
    "NODE_EXTRA_CA_CERTS",
    "NODE_NO_WARNINGS",
    "NODE_PATH",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "NODE_VERSION",
];

/// Options without an argument that change nothing for the gate.
const PYTHON_FLAGS: &[&str] = &["-u", "-B", "-s", "-q", "-O", "-OO", "-b", "-bb"];
const NODE_FLAGS: &[&str] = &["--no-warnings", "--no-deprecation", "--enable-source-maps"];

pub(super) fn recognize(
    mode: Warm,
    command: &ResolvedCommand,
    context: &ExecContext,
) -> Result<InterpreterCommand, Cold> {
    let Some(start) = command.direct_start(context) else {
        return Err(Cold { reason: "its command needs a shell".to_owned(), is_other_program: true });
    };
    let cwd = context.cwd();
    let (program, argv) = interpreter(cwd.join(&start.program), start.program.as_os_str(), start.argv, context)?;
    let language = language(&program)?;
    let argv: Option<Vec<String>> = argv.into_iter().map(|word| word.into_string().ok()).collect();
    let argv = argv.ok_or_else(|| Cold::because("an argument is not valid UTF-8"))?;
    let flags = match language {
        Language::Python => PYTHON_FLAGS,
        Language::Node => NODE_FLAGS,
    };
    let script_index = 1 + argv.iter().skip(1).take_while(|word| flags.contains(&word.as_str())).count();
    let Some(named) = argv.get(script_index) else {
        return Err(Cold::because(format!("it starts {} without a script", language.name())));
    };
    if named.is_empty() || named.starts_with('-') {
        return Err(Cold::because(format!("it has the option `{named}`, and warm interpreters support few options")));
    }
    let script = cwd.join(named);
    check_script(mode, language, &script)?;
    let is_relative = Path::new(named).is_relative();
    let env = variables(context, start.pwd)?;
    let start_env = start_env(language, &env)?;
    Ok(InterpreterCommand {
        language,
        program,
        argv,
        script_index,
        script,
        start_dir: if is_relative { cwd.into() } else { PathBuf::from("/") },
        cwd: cwd.into(),
        start_env,
        env,
    })
}

/// Follows the first line of a script to its interpreter. Returns the interpreter and its arguments.
fn interpreter(
    program: PathBuf,
    named: &OsStr,
    argv: Vec<OsString>,
    context: &ExecContext,
) -> Result<(PathBuf, Vec<OsString>), Cold> {
    let Some(line) = first_line(&program) else { return Ok((program, argv)) };
    let is_interpreter = program.file_name().and_then(OsStr::to_str).is_some_and(|name| by_name(name).is_some());
    if is_interpreter {
        let message =
            format!("`{}` is a script that selects an interpreter; name the interpreter itself", program.display());
        return Err(Cold::because(message));
    }
    let unknown = Cold::other_program;
    let mut words = line.split_ascii_whitespace();
    let first = words.next().ok_or_else(unknown)?;
    let rest: Vec<_> = words.collect();
    let (path, name) = match (first, rest.as_slice()) {
        ("/usr/bin/env" | "/bin/env", [name]) if !name.starts_with('-') && !name.contains('=') => {
            let found = ResolvedProgram::find(name, context).map_err(|error| Cold::because(error.to_string()))?;
            (found.path().to_owned(), (*name).to_owned())
        }
        (first, []) if first.starts_with('/') => (PathBuf::from(first), first.to_owned()),
        _ => return Err(unknown()),
    };
    if first_line(&path).is_some() {
        let message =
            format!("`{}` is a script that selects an interpreter; name the interpreter itself", path.display());
        return Err(Cold::because(message));
    }
    // The system passes the path that was executed.
    let args = argv.into_iter().skip(1);
    Ok((path, [OsString::from(name), named.to_owned()].into_iter().chain(args).collect()))
}

/// Returns the text after `#!`. `None` if the file is not a script.
fn first_line(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    File::open(path).ok()?.take(MAX_FIRST_LINE as u64).read_to_end(&mut start).ok()?;
    let rest = start.strip_prefix(b"#!")?;
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

fn by_name(name: &str) -> Option<Language> {
    let is_version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '.');
    match name {
        "node" | "nodejs" => Some(Language::Node),
        _ => name.strip_prefix("python").filter(|rest| is_version(rest)).map(|_| Language::Python),
    }
}

/// Returns the language of an interpreter. Programs that select an interpreter by directory or variable have other real names.
fn language(program: &Path) -> Result<Language, Cold> {
    let name = |path: &Path| path.file_name().and_then(OsStr::to_str).and_then(by_name);
    let Some(language) = name(program) else { return Err(Cold::other_program()) };
    match program.canonicalize() {
        Ok(real) if name(&real) == Some(language) => Ok(language),
        Ok(real) => Err(Cold::because(format!(
            "`{}` leads to `{}`, which is no known interpreter",
            program.display(),
            real.display()
        ))),
        Err(error) => Err(Cold::because(format!("`{}`: {error}", program.display()))),
    }
}

fn check_script(mode: Warm, language: Language, script: &Path) -> Result<(), Cold> {
    let name = script.display();
    let metadata = script.metadata().map_err(|error| Cold::because(format!("its script `{name}`: {error}")))?;
    if !metadata.is_file() || metadata.len() > MAX_SCRIPT {
        return Err(Cold::because(format!("its script `{name}` is not a file of at most 1 MiB")));
    }
    let extension = script.extension().and_then(OsStr::to_str).unwrap_or_default();
    let is_known = match language {
        Language::Python => matches!(extension, "py" | ""),
        Language::Node => matches!(extension, "js" | "cjs" | "mjs"),
    };
    if !is_known {
        return Err(Cold::because(format!("its script `{name}` has an extension that is not supported")));
    }
    let text =
        std::fs::read_to_string(script).map_err(|error| Cold::because(format!("its script `{name}`: {error}")))?;
    if mode == Warm::On {
        return Ok(());
    }
    if let Some(part) = TELLING.iter().find(|part| text.contains(**part)) {
        return Err(Cold::because(format!(
            "its script contains `{part}`, which can differ in a warm interpreter; `warm: true` accepts that"
        )));
    }
    if language == Language::Python
        && let Some(package) = text.lines().find_map(bare_package)
    {
        return Err(Cold::because(format!(
            "its script imports `{package}` without naming a module of it; `warm: true` accepts a module that is already imported"
        )));
    }
    Ok(())
}

/// Returns the package that a line imports without naming a part of it.
fn bare_package(line: &str) -> Option<&'static str> {
    let imported = line.trim_start().strip_prefix("import ")?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut words = imported.split(|c| !is_word(c));
    words.find_map(|word| PACKAGES.iter().find(|package| **package == word).copied())
}

/// Returns the variables as the process gets them: sorted, and each name once.
fn variables(context: &ExecContext, pwd: Option<OsString>) -> Result<Vec<(String, String)>, Cold> {
    let mut all = std::collections::BTreeMap::new();
    let pwd = pwd.map(|pwd| (OsString::from("PWD"), pwd));
    for (name, value) in context.variables().iter().cloned().chain(pwd) {
        all.insert(name, value);
    }
    if all.contains_key(OsStr::new(MARKER)) {
        return Err(Cold::because(format!("it gets the variable `{MARKER}`")));
    }
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let all: Option<Vec<_>> = all.into_iter().map(text).collect();
    all.ok_or_else(|| Cold::because("a variable is not valid UTF-8"))
}

/// Returns the variables that an interpreter reads when it starts.
fn start_env(language: Language, env: &[(String, String)]) -> Result<Vec<(String, String)>, Cold> {
    let (prefix, known) = match language {
        Language::Python => ("PYTHON", PYTHON),
        Language::Node => ("NODE_", NODE),
    };
    let mut start = Vec::new();
    for (name, value) in env {
        let is_own = name.starts_with(prefix);
        if is_own && !known.contains(&name.as_str()) && !value.is_empty() {
            return Err(Cold::because(format!(
                "it gets the variable `{name}`, which warm interpreters do not support"
            )));
        }
        // A relative entry depends on the directory.
        if matches!(name.as_str(), "PYTHONPATH" | "NODE_PATH")
            && !std::env::split_paths(value).all(|entry| entry.is_absolute())
        {
            return Err(Cold::because(format!("`{name}` has a relative entry")));
        }
        let is_start = START.contains(&name.as_str()) || START_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        if is_own || is_start {
            start.push((name.clone(), value.clone()));
        }
    }
    Ok(start)
}

#[cfg(test)]
mod tests;
