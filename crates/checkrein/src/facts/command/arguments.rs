//! Options and operands of a command, as its program reads them.

use std::collections::BTreeMap;

use checkrein_expression::{Unknown, Value};

use super::subcommands;
use crate::builtins::global_options;
use crate::builtins::option_names::{OptionName, OptionNames, Takes};
use crate::builtins::shell::{Expanded, starts_others};
use crate::facts::word;

/// Programs, or programs with their subcommands, whose options end at the first operand: the rest belongs to another program.
const ENDS_AT_OPERAND: &[&str] = &[
    "docker run",
    "docker exec",
    "docker create",
    "docker container run",
    "docker container exec",
    "docker compose run",
    "docker compose exec",
    "docker-compose run",
    "docker-compose exec",
    "podman run",
    "podman exec",
    "nerdctl run",
    "nerdctl exec",
    "kubectl exec",
    "uv run",
    "uv tool run",
    "poetry run",
    "pipenv run",
    "npm exec",
    "npm run",
    "pnpm exec",
    "pnpm run",
    "pnpm dlx",
    "yarn run",
    "yarn dlx",
    "bun run",
    "bun x",
    "python",
    "python3",
    "py",
    "node",
    "ruby",
    "perl",
    "deno run",
    "java",
    "npx",
    "bunx",
    "pnpx",
    "cargo run",
    "go run",
    "git submodule foreach",
    "git bisect run",
    "make",
];

/// Programs whose first word may have the letters of options without a dash.
const TAKES_BARE_LETTERS: &[&str] = &["tar", "gtar", "bsdtar"];

/// Programs whose options before the subcommand have other meanings behind it: `git -C dir` and `git commit -C commit`.
const OWN_GLOBAL_OPTIONS: &[&str] = &["git"];

/// Options of `find` behind which a command is.
const RUNS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// Parts of the names of variables that usually hold options.
const OPTION_VARIABLES: &[&str] = &["OPT", "FLAG", "ARG", "PARAM"];

/// The parts of a command line.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Words of the subcommand.
    pub(super) subcommand: Vec<Expanded>,
    /// Known options with all their spellings, in order.
    pub(super) flags: Vec<String>,
    /// Options of which a part is unknown.
    pub(super) partial_flags: Vec<Expanded>,
    /// A word that may be further options.
    pub(super) more_flags: Option<Unknown>,
    /// Values of options in order, each with all spellings of its option.
    pub(super) values: Vec<(Vec<String>, Expanded)>,
    /// Number of `values` before the subcommand.
    global_values: usize,
    pub(super) operands: Vec<Expanded>,
    /// Operands behind `--`.
    pub(super) behind_dashes: usize,
}

impl Arguments {
    /// Reads the arguments of a program.
    pub(super) fn new(program: &str, args: &[Expanded]) -> Self {
        let mut own = Self::default();
        let has_subcommands = subcommands::has_subcommands(program);
        let mut names = OptionNames::of(program, "");
        let mut ends = starts_others(program) || ENDS_AT_OPERAND.contains(&program);
        let mut at = 0;
        if TAKES_BARE_LETTERS.contains(&program) {
            at = own.bare_letters(&names, args);
        }
        while let Some(arg) = args.get(at) {
            at += 1;
            if arg.known && arg.text == "--" {
                own.behind_dashes = args.len() - at;
                own.operands.extend_from_slice(&args[at..]);
                break;
            }
            if is_option(arg, names.is_single_dash) {
                let reader = Reader { program, names: &names, is_global: own.subcommand.is_empty() };
                at += reader.option(arg, args.get(at), &mut own);
                // The command behind `-exec` has options of its own.
                if names.is_single_dash && RUNS.contains(&arg.text.as_str()) {
                    let is_end = |arg: &Expanded| matches!(arg.text.as_str(), ";" | "+");
                    at = args[at..].iter().position(is_end).map_or(args.len(), |end| at + end + 1);
                }
                continue;
            }
            own.note_unknown(arg);
            if has_subcommands && own.operands.is_empty() {
                if own.subcommand.is_empty() && arg.known && arg.text.starts_with('+') {
                    continue;
                }
                let words: Vec<&str> = own.subcommand.iter().map(|word| word.text.as_str()).collect();
                if subcommands::continues(program, &words) && own.subcommand.iter().all(|word| word.known) {
                    if own.subcommand.is_empty() && own_options_differ(program) {
                        // `git -C dir` and `git commit -C commit` are different options.
                        own.flags.clear();
                        own.global_values = own.values.len();
                    }
                    own.subcommand.push(arg.clone());
                    let joined = own.joined_subcommand();
                    names = OptionNames::of(program, &joined);
                    ends |= ENDS_AT_OPERAND.contains(&format!("{program} {joined}").as_str());
                    continue;
                }
            }
            own.operands.push(arg.clone());
            if ends {
                own.operands.extend_from_slice(&args[at..]);
                break;
            }
        }
        own
    }

    /// Reads letters without a dash, whose values follow in order: `tar xzf a.tgz`. Returns the number of words.
    fn bare_letters(&mut self, names: &OptionNames, args: &[Expanded]) -> usize {
        let Some(first) = args.first().filter(|first| first.known && !first.text.starts_with('-')) else { return 0 };
        let options: Option<Vec<_>> = first.text.chars().map(|letter| names.find(&format!("-{letter}"))).collect();
        let mut read = 1;
        for option in options.unwrap_or_default() {
            let spellings: Vec<String> = option.spellings().map(str::to_owned).collect();
            self.flag(spellings.iter().cloned());
            if option.takes == Takes::Value
                && let Some(value) = args.get(read)
            {
                self.values.push((spellings, value.clone()));
                read += 1;
            }
        }
        if self.flags.is_empty() { 0 } else { read }
    }

    /// Returns the words of the subcommand with blanks between them.
    pub(super) fn joined_subcommand(&self) -> String {
        let words: Vec<&str> = self.subcommand.iter().map(|word| word.text.as_str()).collect();
        words.join(" ")
    }

    /// `true` if the command has this option, in any spelling.
    pub(super) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }

    pub(super) fn has_any(&self, flags: &[&str]) -> bool {
        flags.iter().any(|flag| self.has(flag))
    }

    /// Returns the values of an option, in any spelling.
    pub(super) fn values_of<'a>(&'a self, flag: &'a str) -> impl Iterator<Item = &'a Expanded> {
        values_in(self.values.get(self.global_values..).unwrap_or_default(), flag)
    }

    /// Returns the values of an option before the subcommand.
    pub(super) fn global_values_of<'a>(&'a self, flag: &'a str) -> impl Iterator<Item = &'a Expanded> {
        let end = if self.subcommand.is_empty() { self.values.len() } else { self.global_values };
        values_in(&self.values[..end], flag)
    }

    /// Returns a word that may be one of these options.
    pub(super) fn unknown_flag(&self, flags: &[&str]) -> Option<Unknown> {
        let could_be = |word: &&Expanded| flags.iter().any(|flag| word.could_be(flag));
        self.partial_flags.iter().find(could_be).map(word::unknown).or_else(|| self.more_flags.clone())
    }

    /// Returns the last value of each option, under every spelling.
    pub(super) fn options(&self) -> BTreeMap<String, Value> {
        let mut options = BTreeMap::new();
        for (names, value) in self.values.get(self.global_values..).unwrap_or_default() {
            for name in names {
                options.insert(name.clone(), word::text(value));
            }
        }
        options
    }

    fn flag(&mut self, spellings: impl Iterator<Item = String>) {
        for spelling in spellings {
            if !self.flags.contains(&spelling) {
                self.flags.push(spelling);
            }
        }
    }

    /// Notes a word that may be options: all arguments of a function, or a variable whose name says so.
    fn note_unknown(&mut self, arg: &Expanded) {
        let may_be_option = !arg.known && arg.unknown.first().is_none_or(|range| range.start == 0);
        let name = arg.text.to_ascii_uppercase();
        let is_named = OPTION_VARIABLES.iter().any(|part| name.contains(part));
        if may_be_option && (is_named || name.starts_with("$@") || name.starts_with("$*") || name.contains("[@]")) {
            self.more_flags = Some(word::unknown(arg));
        }
    }
}

fn values_in<'a>(values: &'a [(Vec<String>, Expanded)], flag: &'a str) -> impl Iterator<Item = &'a Expanded> {
    values.iter().filter(move |(names, _)| names.iter().any(|name| name == flag)).map(|(_, value)| value)
}

/// `true` if options before the subcommand have other meanings than the same options behind it. They are no flags of the
/// subcommand.
fn own_options_differ(program: &str) -> bool {
    OWN_GLOBAL_OPTIONS.contains(&program)
}

/// `true` if the word is an option, as far as it is known.
fn is_option(arg: &Expanded, is_single_dash: bool) -> bool {
    let known = arg.unknown.first().map_or(arg.text.len(), |range| range.start);
    let is_dashed = known > 0 && arg.text.starts_with('-') && arg.text != "-";
    // `find` has expressions such as `(`.
    is_dashed || (is_single_dash && arg.known && arg.text == "!")
}

struct Reader<'a> {
    program: &'a str,
    names: &'a OptionNames,
    /// `true` before the subcommand.
    is_global: bool,
}

impl Reader<'_> {
    /// Reads an option. Returns the number of further words that it takes.
    fn option(&self, arg: &Expanded, next: Option<&Expanded>, own: &mut Arguments) -> usize {
        let end = arg.text.find('=').unwrap_or(arg.text.len());
        let known = arg.unknown.first().map_or(arg.text.len(), |range| range.start);
        let is_long = arg.text.starts_with("--") || self.names.is_single_dash;
        if arg.text == "!" {
            own.flag(std::iter::once(arg.text.clone()));
            return 0;
        }
        if is_long || arg.text.len() == 2 {
            if known < end {
                own.partial_flags.push(arg.clone());
                return 0;
            }
            return self.whole(arg, &arg.text[..end], next, own);
        }
        // Some options of one dash have several letters: `wget -nv`.
        if known == arg.text.len() && self.names.find(&arg.text).is_some() {
            return self.whole(arg, &arg.text, next, own);
        }
        self.cluster(arg, known, next, own)
    }

    fn whole(&self, arg: &Expanded, name: &str, next: Option<&Expanded>, own: &mut Arguments) -> usize {
        let found = match name.starts_with("--") {
            true => self.names.find_long(name),
            false => self.names.find(name),
        };
        let spellings: Vec<String> = match found {
            Some(option) => option.spellings().map(str::to_owned).collect(),
            None => vec![name.to_owned()],
        };
        let takes = self.takes(name, found);
        own.flag(spellings.iter().cloned());
        if name.len() < arg.text.len() {
            own.values.push((spellings, arg.part(name.len() + 1..arg.text.len())));
            return 0;
        }
        match (takes, next) {
            (Takes::Value, Some(value)) => {
                own.values.push((spellings, value.clone()));
                1
            }
            _ => 0,
        }
    }

    fn takes(&self, name: &str, found: Option<OptionName>) -> Takes {
        match found {
            Some(option) => option.takes,
            None if (self.is_global || name.starts_with("--")) && global_options::takes_value(self.program, name) => {
                Takes::Value
            }
            None => Takes::Nothing,
        }
    }

    /// Reads letters behind one dash. `known` is the end of the known part.
    fn cluster(&self, arg: &Expanded, known: usize, next: Option<&Expanded>, own: &mut Arguments) -> usize {
        let letters = arg.text.get(1..known).unwrap_or_default();
        let is_number = !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || self.names.is_empty() {
            own.flag(std::iter::once(arg.text[..known].to_owned()));
        }
        if is_number {
            return 0;
        }
        for (at, letter) in letters.char_indices() {
            if letter == '=' {
                break;
            }
            let name = format!("-{letter}");
            let found = self.names.find(&name);
            let spellings: Vec<String> = match found {
                Some(option) => option.spellings().map(str::to_owned).collect(),
                None => vec![name.clone()],
            };
            own.flag(spellings.iter().cloned());
            let start = 1 + at + letter.len_utf8();
            match (self.takes(&name, found), start < arg.text.len()) {
                (Takes::Nothing, _) | (Takes::Attached, false) => {}
                (Takes::Value | Takes::Attached, true) => {
                    own.values.push((spellings, arg.part(start..arg.text.len())));
                    return 0;
                }
                (Takes::Value, false) => {
                    own.values.extend(next.map(|value| (spellings, value.clone())));
                    return usize::from(next.is_some());
                }
            }
        }
        if known < arg.text.len() {
            own.partial_flags.push(arg.clone());
        }
        0
    }
}
