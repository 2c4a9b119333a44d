//! One program of a shell call.

mod arguments;
mod database;
mod git;
mod output;
mod packages;
mod sql;
mod subcommands;
mod targets;

#[cfg(test)]
mod tests;

pub(super) use subcommands::has_subcommands;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use checkrein_expression::{List, Object, Schema, Type, Value};

use super::record::Record;
use super::{STRINGS, Shared, cached, field, formats, word};
use crate::builtins::doubt::{Doubt, base};
use crate::builtins::shell::{Expanded, SimpleCommand};
use crate::builtins::text::head;
use arguments::Arguments;

/// Maximum length of the text for messages, in bytes.
const LONGEST_TEXT: usize = 200;

/// Maximum length of the fact `text`, in bytes. Rules of packs search it for words that can be far behind the start.
const LONGEST_LINE: usize = 1000;

/// Programs whose command runs on another machine or in a container.
const REMOTE: &[&str] = &[
    "ssh",
    "autossh",
    "mosh",
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "podman-compose",
    "kubectl",
    "oc",
    "lxc",
    "incus",
    "vagrant",
    "multipass",
    "fly",
    "flyctl",
    "heroku",
    "gcloud",
    "aws",
    "az",
    "gh",
    "kamal",
    "ansible",
    "salt",
    "salt-ssh",
];

/// Fields that depend on the program.
const OF_PROGRAM: &[&str] =
    &["subcommand", "targets", "git", "manager", "installs", "global", "packages", "expected_manager", "sql"];

/// Returns the command at this index of the call.
pub(super) fn value(shared: &Arc<Shared>, index: usize) -> Value {
    cached::value(Command::new(shared, index))
}

/// One program with its arguments. Fields are computed when an expression reads them.
pub(super) struct Command {
    shared: Arc<Shared>,
    index: usize,
    /// Name of the program, as far as it is known.
    name: OnceLock<String>,
    arguments: OnceLock<Arguments>,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(LONGEST_TEXT))
    }
}

impl Command {
    fn new(shared: &Arc<Shared>, index: usize) -> Self {
        Self { shared: shared.clone(), index, name: OnceLock::new(), arguments: OnceLock::new() }
    }

    fn simple(&self) -> &SimpleCommand {
        static EMPTY: std::sync::LazyLock<SimpleCommand> = std::sync::LazyLock::new(SimpleCommand::default);
        self.shared.parsed().simple_commands.get(self.index).unwrap_or(&EMPTY)
    }

    fn doubt(&self) -> Doubt<'_> {
        self.shared.parsed().doubt()
    }

    /// Name of the program if it is known, or the text of a variable that names a program by convention.
    fn name(&self) -> &str {
        self.name.get_or_init(|| match self.program() {
            Value::String(name) => name.as_ref().to_owned(),
            _ => String::new(),
        })
    }

    fn program(&self) -> Value {
        let simple = self.simple();
        if simple.program_known() {
            return simple.name.as_str().into();
        }
        if self.doubt().is_everyday(simple) {
            let names = self.doubt().names(simple);
            return match names.as_slice() {
                [name] => (*name).into(),
                _ => simple.name.as_str().into(),
            };
        }
        let name = base(&simple.program);
        match word::text(&name) {
            // A wildcard can be any program. A directory before a known name is everyday.
            Value::String(_) if name.glob => Value::Unknown(word::unknown(&simple.program)),
            other => other,
        }
    }

    /// Program and arguments that are read by the tables. `python -m pip` is `pip`.
    fn effective(&self) -> (&str, &[Expanded]) {
        let args = self.simple().args.as_slice();
        let name = self.name();
        let is_python =
            name.strip_prefix("python").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
        match args {
            [dash_m, module, rest @ ..] if (is_python || name == "py") && dash_m.text == "-m" => {
                match module.text.as_str() {
                    "pip" => ("pip", rest),
                    _ => (name, args),
                }
            }
            _ => (name, args),
        }
    }

    fn arguments(&self) -> &Arguments {
        self.arguments.get_or_init(|| {
            let (program, args) = self.effective();
            Arguments::new(program, args)
        })
    }

    fn subcommand(&self) -> Value {
        let words = &self.arguments().subcommand;
        match words.iter().find(|word| !word.known) {
            Some(unknown) if words.len() == 1 => word::text(unknown),
            Some(unknown) => Value::Unknown(word::unknown(unknown)),
            None => self.arguments().joined_subcommand().into(),
        }
    }

    fn flags(&self) -> Value {
        let arguments = self.arguments();
        let known = arguments.flags.iter().map(|flag| Value::from(flag.as_str()));
        let partial = arguments.partial_flags.iter().map(word::text);
        let rest = arguments.more_flags.clone().or_else(|| self.program().unknown_part());
        Value::List(List { elements: known.chain(partial).collect(), rest })
    }

    fn text(&self, longest: usize) -> String {
        let simple = self.simple();
        let mut text = String::new();
        for word in std::iter::once(&simple.program).chain(&simple.args) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.extend(word.text.chars().map(|c| if c.is_control() { ' ' } else { c }));
            if text.len() > longest {
                return format!("{}…", head(&text, longest));
            }
        }
        text
    }

    fn redirects(&self) -> Value {
        let simple = self.simple();
        let mut redirects = Vec::new();
        let mut appended: Vec<&Expanded> = simple.appends.iter().collect();
        for write in &simple.writes {
            let append = appended.iter().position(|own| *own == write);
            if let Some(index) = append {
                appended.remove(index);
            }
            let op = if append.is_some() { "append" } else { "write" };
            redirects.push(Record::value(&REDIRECT, [op.into(), word::text(write)]));
        }
        for read in &simple.reads {
            redirects.push(Record::value(&REDIRECT, ["read".into(), word::text(read)]));
        }
        Value::list(redirects)
    }

    fn stdin(&self) -> Value {
        let simple = self.simple();
        match &simple.input {
            Some(text) => word::input(text),
            None if simple.fed_by.is_empty() && simple.reads.is_empty() => "".into(),
            None => Value::unknown(format!("the standard input of `{}`", simple.name)),
        }
    }

    fn cwd(&self) -> Value {
        let simple = self.simple();
        match &*simple.cwds {
            [cwd] if simple.cwd_known => cwd.to_string_lossy().as_ref().into(),
            _ => Value::unknown(format!("the working directory of `{}`", simple.name)),
        }
    }

    fn env(&self) -> Value {
        let env: BTreeMap<String, Value> =
            self.simple().env.iter().map(|(name, value)| (name.clone(), word::text(value))).collect();
        Value::Map(Arc::new(env))
    }

    fn wrappers(&self) -> impl Iterator<Item = &str> {
        self.simple().wrappers.iter().map(|name| &**name)
    }

    fn is_known(&self) -> bool {
        let simple = self.simple();
        simple.program_known() && simple.args.iter().all(|arg| arg.known && !arg.cut)
    }
}

/// `true` if a program starts commands on another machine or in a container.
pub(super) fn is_remote(wrapper: &str) -> bool {
    REMOTE.contains(&wrapper)
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Value {
    Value::list(texts.into_iter().map(Value::from))
}

fn words<'a>(words: impl IntoIterator<Item = &'a Expanded>) -> Value {
    Value::list(words.into_iter().map(word::text))
}

impl Object for Command {
    fn schema(&self) -> &'static Schema {
        &COMMAND
    }

    fn field(&self, index: usize) -> Value {
        let simple = self.simple();
        let name = COMMAND.fields.get(index).map_or("", |field| field.name);
        // What an unknown program does with its arguments is unknown.
        if OF_PROGRAM.contains(&name)
            && let Some(unknown) = self.program().unknown_part()
        {
            return Value::Unknown(unknown);
        }
        match name {
            "program" => self.program(),
            "path" => word::text(&simple.program),
            "argv" if simple.name.is_empty() => Value::list([]),
            "argv" => words(std::iter::once(&simple.program).chain(&simple.args)),
            "subcommand" => self.subcommand(),
            "flags" => self.flags(),
            "options" => Value::Map(Arc::new(self.arguments().options())),
            "args" => words(&self.arguments().operands),
            "text" => self.text(LONGEST_LINE).into(),
            "env" => self.env(),
            "redirects" => self.redirects(),
            "pipes_to" => texts(simple.pipes_to.iter().map(String::as_str)),
            "piped_from" => texts(simple.fed_by.iter().map(String::as_str)),
            "uses_output_of" => texts(output::uses_output_of(simple)),
            "runs_output_of" => texts(output::runs_output_of(simple, &self.shared.parsed().simple_commands)),
            "stdin" => self.stdin(),
            "multiplies" => simple.multiplies.into(),
            "wrappers" => texts(self.wrappers()),
            "remote" => self.wrappers().any(is_remote).into(),
            "cwd" => self.cwd(),
            "known" => self.is_known().into(),
            "targets" => targets::value(self),
            "git" => git::value(self),
            "manager" => packages::manager(self.effective().0).into(),
            "installs" => packages::installs(self).into(),
            "global" => packages::is_global(self).into(),
            "packages" => packages::packages(self),
            "expected_manager" => packages::expected(self).into(),
            "sql" => database::queries(self),
            _ => Value::Null,
        }
    }
}

/// Names of programs.
static PROGRAM: Type = Type::Format(&formats::PROGRAM);
const PROGRAMS: Type = Type::list(&PROGRAM);

pub(super) static COMMAND: Schema = Schema {
    name: "command",
    doc: "One program that a shell call runs, with its arguments.",
    fields: &[
        field(
            "program",
            Type::Format(&formats::PROGRAM),
            "Name of the program without its directory, such as `git`; \"\" for a redirection without a program.",
        ),
        field("path", Type::String, "The word that names the program, as it is written: `/usr/bin/git`."),
        field("argv", STRINGS, "All words, the program first."),
        field(
            "subcommand",
            Type::Format(&formats::SUBCOMMAND),
            "Subcommand after global options, such as `push`; with spaces if it has several words, such as `system prune`; \"\" if there is none.",
        ),
        field(
            "flags",
            Type::list(&Type::Format(&formats::FLAG)),
            "Options without their values, one by one: `-rf` gives `-r` and `-f`. Well-known options are in the list in every spelling, such as `-f` and `--force`.",
        ),
        field(
            "options",
            Type::map(&Type::String),
            "Values of options, under every spelling. The last one applies. Test the option first: `\"--output\" in c.options && c.options[\"--output\"] == \"x\"`.",
        ),
        field(
            "args",
            Type::list(&Type::Format(&formats::OPERAND)),
            "Operands: words that are neither options, nor values of options, nor the subcommand.",
        ),
        field(
            "text",
            Type::String,
            "The command as one line without quotes, at most 1,000 bytes. Unknown parts are in it as they are written.",
        ),
        field("env", Type::map(&Type::String), "Variables that the call sets for the command."),
        field("redirects", Type::list(&Type::Object(&REDIRECT)), "Files that the shell opens for the command."),
        field("pipes_to", PROGRAMS, "Programs further down the pipe."),
        field("piped_from", PROGRAMS, "Programs whose output is the standard input."),
        field(
            "uses_output_of",
            PROGRAMS,
            "Programs whose output is a part of the words: `docker rm $(docker ps -q)` gives `docker`. Also words from `xargs`.",
        ),
        field(
            "runs_output_of",
            PROGRAMS,
            "Programs whose output the command runs as code: `curl` in `curl … | sh`, `sh -c \"$(curl …)\"`, `bash <(curl …)`, and `curl -o x …; sh x`.",
        ),
        field(
            "stdin",
            Type::String,
            "Text of the standard input, such as a here-document; \"\" if there is none; unknown if it comes from a file or a program.",
        ),
        field("multiplies", Type::Bool, "`true` for a fork bomb: a function that starts copies of itself endlessly."),
        field(
            "wrappers",
            PROGRAMS,
            "Programs and shells that start the command, outermost first: `sudo`, `xargs`, `sh`, `ssh`.",
        ),
        field("remote", Type::Bool, "`true` if the command runs on another machine or in a container."),
        field("cwd", Type::Format(&formats::ABSOLUTE), "Working directory; unknown if only a running shell knows it."),
        field("known", Type::Bool, "`true` if the program and all arguments are known."),
        field(
            "targets",
            Type::list(&Type::Format(&formats::ABSOLUTE)),
            "Files that `rm`, `mv`, `cp`, `chmod`, `tee`, `find -delete` and similar programs change: absolute and normalized.",
        ),
        field("git", Type::Object(&git::GIT), "Details of a git command. Empty for other programs."),
        field("manager", Type::String, "Name of the package manager, such as `npm`; \"\" for other programs."),
        field("installs", Type::Bool, "`true` if a package manager installs or adds packages."),
        field(
            "global",
            Type::Bool,
            "`true` if the packages are installed for the user or the system, not for the project.",
        ),
        field("packages", STRINGS, "Packages that are installed or removed, as they are written."),
        field(
            "expected_manager",
            Type::String,
            "Package manager of the lock file in the project, if it is of the same kind as `manager`: `pnpm` for `npm install` next to `pnpm-lock.yaml`; \"\" if there is none.",
        ),
        field(
            "sql",
            STRINGS,
            "Queries for a database client: `psql -c`, `mysql -e`, `mongosh --eval`, `redis-cli`, and its standard input. SQL is split into statements, also those inside of others, without comments: `''` is a text, `()` a subquery with a condition, and `WHERE true` a condition that always holds.",
        ),
    ],
    methods: &[],
};

static REDIRECT: Schema = Schema {
    name: "redirect",
    doc: "A file that the shell opens for a command.",
    fields: &[
        field("op", Type::OneOf(&["read", "write", "append"]), "`read`, `write` or `append`."),
        field("path", Type::String, "The file, as it is written."),
    ],
    methods: &[],
};
