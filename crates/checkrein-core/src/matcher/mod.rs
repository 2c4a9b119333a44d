//! Patterns that events' subjects are compared with, in the grammars that agents use.

mod prefilter;
mod translate;

use std::fmt;

use std::sync::{Arc, OnceLock};

use globset::GlobBuilder;

/// The longest pattern that is compiled, in bytes.
pub const MAX_PATTERN: usize = 16 * 1024;

/// How much memory one compiled pattern may take, in bytes.
const MAX_COMPILED: usize = 1 << 20;

/// How an agent writes patterns.
///
/// ```
/// use checkrein_core::{Grammar, Matcher};
///
/// let claude = |pattern| Matcher::compile(&Grammar::NAMES_OR_SEARCH, Some(pattern));
/// assert!(claude("Edit|Write")?.matches("Write"));
/// assert!(!claude("Edit")?.matches("NotebookEdit"));
/// assert!(claude("mcp__.*__delete")?.matches("mcp__db__delete_rows"));
/// assert!(claude("(").is_err());
/// # Ok::<(), checkrein_core::MatcherError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Grammar {
    /// Patterns that fit everything, besides the absent and the empty one.
    pub wildcards: &'static [&'static str],
    /// When a pattern is a list of names.
    pub list: Option<NameList>,
    /// What any other pattern is.
    pub otherwise: Syntax,
}

/// When a pattern is a list of names: it has nothing but letters, digits, `_`, these characters and separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NameList {
    /// Characters that a name may have besides letters, digits and `_`.
    pub also: &'static str,
    /// What stands between names.
    pub separators: &'static str,
    /// Whether white space around names is dropped.
    pub trim: bool,
}

/// What a pattern is if it is nothing simpler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// A regular expression that must match all of the subject.
    RegexWhole,
    /// A regular expression that must match some of the subject.
    RegexSearch,
    /// A glob: `*` stops at `/`, `**` does not, `{a,b}` is either.
    Glob,
    /// The subject itself.
    Exact,
}

impl Grammar {
    /// `Edit|Write` and `Edit, Write` are names; all else is searched for.
    pub const NAMES_OR_SEARCH: Self = Self {
        wildcards: &["*"],
        list: Some(NameList { also: "- ", separators: "|,", trim: true }),
        otherwise: Syntax::RegexSearch,
    };
    /// A regular expression for the whole subject.
    pub const REGEX_WHOLE: Self = Self::plain(Syntax::RegexWhole);
    /// A regular expression for some of the subject.
    pub const REGEX_SEARCH: Self = Self::plain(Syntax::RegexSearch);
    /// A glob. `*` fits what has no `/`.
    pub const GLOB: Self = Self { wildcards: &[], list: None, otherwise: Syntax::Glob };
    /// The subject itself.
    pub const EXACT: Self = Self::plain(Syntax::Exact);

    /// A grammar of one's own.
    pub const fn new(wildcards: &'static [&'static str], list: Option<NameList>, otherwise: Syntax) -> Self {
        Self { wildcards, list, otherwise }
    }

    const fn plain(otherwise: Syntax) -> Self {
        Self { wildcards: &["*"], list: None, otherwise }
    }
}

/// A pattern, ready for use.
#[derive(Clone)]
pub struct Matcher {
    pattern: String,
    compiled: Compiled,
}

#[derive(Clone)]
enum Compiled {
    Everything,
    Names(Vec<String>),
    Lite(Lite, RequiredLiteral),
    Regex(regex::Regex, RequiredLiteral),
    Glob(regex::bytes::Regex, RequiredLiteral),
    /// What fits `rest`, but not `not`.
    Except {
        not: Box<Compiled>,
        rest: Box<Compiled>,
        needle: RequiredLiteral,
    },
    /// What fits `rest`, and these names.
    Also {
        names: Vec<String>,
        rest: Box<Compiled>,
        needle: RequiredLiteral,
    },
}

/// The small engine compiles in a tenth of the time and is as good on names. On long subjects the large one is much
/// faster; it is made when the first of them comes.
#[derive(Clone)]
struct Lite {
    small: regex_lite::Regex,
    large: Arc<OnceLock<Option<regex::Regex>>>,
}

impl Lite {
    /// Subjects beyond this are not names.
    const LONG: usize = 256;

    fn is_match(&self, subject: &str) -> bool {
        let large = (subject.len() > Self::LONG)
            .then(|| self.large.get_or_init(|| full_regex(self.small.as_str()).ok()).as_ref())
            .flatten();
        match large {
            Some(large) => large.is_match(subject),
            None => self.small.is_match(subject),
        }
    }
}

/// Text that a subject must have for a pattern to match it. May be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequiredLiteral {
    pub(crate) text: String,
    /// Whether it must come first.
    pub(crate) leads: bool,
}

impl RequiredLiteral {
    fn none() -> Self {
        Self { text: String::new(), leads: false }
    }
}

/// What an index can know of a matcher without running it.
pub(crate) enum MatcherKind<'a> {
    Everything,
    Names(&'a [String]),
    Pattern(&'a RequiredLiteral),
}

impl Matcher {
    /// Fits everything.
    pub fn everything() -> Self {
        Self { pattern: String::new(), compiled: Compiled::Everything }
    }

    /// Fits these names and no others. No names fit everything.
    pub fn names<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.is_empty() {
            return Self::everything();
        }
        Self { pattern: names.join("|"), compiled: Compiled::Names(names) }
    }

    /// Compiles a pattern. Absent and empty ones fit everything.
    ///
    /// # Errors
    /// A pattern that does not compile, or that could not match anything.
    pub fn compile(grammar: &Grammar, pattern: Option<&str>) -> Result<Self, MatcherError> {
        let pattern = pattern.unwrap_or_default();
        let refuse = |problem| Err(MatcherError { pattern: shortened(pattern), problem });
        if pattern.len() > MAX_PATTERN {
            return refuse(MatcherProblem::TooLong { length: pattern.len() });
        }
        let compiled = if pattern.is_empty() || grammar.wildcards.contains(&pattern) {
            Compiled::Everything
        } else if let Some(names) = grammar.list.and_then(|list| list.split(pattern)) {
            if names.is_empty() {
                return refuse(MatcherProblem::NoNames);
            }
            Compiled::Names(names)
        } else {
            match compile(grammar.otherwise, pattern) {
                Ok(compiled) => compiled,
                Err(problem) => return refuse(problem),
            }
        };
        Ok(Self { pattern: pattern.to_owned(), compiled })
    }

    /// The pattern, as it was written.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether it fits whatever comes.
    pub fn is_everything(&self) -> bool {
        matches!(self.compiled, Compiled::Everything)
    }

    /// Fits these names as well. The pattern stays as it was written.
    #[must_use]
    pub fn also<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        self.compiled = match self.compiled {
            Compiled::Everything => Compiled::Everything,
            Compiled::Names(own) => Compiled::Names(own.into_iter().chain(names).collect()),
            rest => Compiled::Also { names, rest: Box::new(rest), needle: RequiredLiteral::none() },
        };
        self
    }

    /// The names that fit, if it is a list of names.
    pub fn as_names(&self) -> Option<&[String]> {
        match &self.compiled {
            Compiled::Names(names) => Some(names),
            _ => None,
        }
    }

    /// Whether the subject fits.
    pub fn matches(&self, subject: &str) -> bool {
        self.compiled.matches(subject)
    }

    pub(crate) fn shape(&self) -> MatcherKind<'_> {
        match &self.compiled {
            Compiled::Everything => MatcherKind::Everything,
            Compiled::Names(names) => MatcherKind::Names(names),
            Compiled::Lite(_, needle)
            | Compiled::Regex(_, needle)
            | Compiled::Glob(_, needle)
            | Compiled::Except { needle, .. }
            | Compiled::Also { needle, .. } => MatcherKind::Pattern(needle),
        }
    }
}

impl Compiled {
    fn matches(&self, subject: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Names(names) => names.iter().any(|name| name == subject),
            Self::Lite(regex, _) => regex.is_match(subject),
            Self::Regex(regex, _) => regex.is_match(subject),
            Self::Glob(glob, _) => glob.is_match(subject.as_bytes()),
            Self::Except { not, rest, .. } => !not.matches(subject) && rest.matches(subject),
            Self::Also { names, rest, .. } => names.iter().any(|name| name == subject) || rest.matches(subject),
        }
    }
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match &self.compiled {
            Compiled::Everything => "everything",
            Compiled::Names(_) => "names",
            Compiled::Lite(..) | Compiled::Regex(..) | Compiled::Except { .. } | Compiled::Also { .. } => "regex",
            Compiled::Glob(..) => "glob",
        };
        write!(f, "Matcher({how} {:?})", self.pattern)
    }
}

impl NameList {
    /// The names, if the pattern is a list of names.
    fn split(&self, pattern: &str) -> Option<Vec<String>> {
        self.is_list(pattern).then(|| self.names(pattern).map(str::to_owned).collect())
    }
}

fn compile(syntax: Syntax, pattern: &str) -> Result<Compiled, MatcherProblem> {
    match syntax {
        Syntax::Exact => Ok(Compiled::Names(vec![pattern.to_owned()])),
        Syntax::Glob => {
            let glob = GlobBuilder::new(pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map_err(|error| MatcherProblem::Glob(error.kind().to_string()))?;
            // Compiled here and not there, where a pattern that is too large would be a panic.
            let compiled = regex::bytes::RegexBuilder::new(glob.regex())
                .size_limit(MAX_COMPILED)
                .dot_matches_new_line(true)
                .build()
                .map_err(|error| MatcherProblem::Glob(last_line(&error.to_string())))?;
            Ok(Compiled::Glob(compiled, glob_needle(pattern)))
        }
        Syntax::RegexWhole => {
            // Alone first: `a)(b` must not become valid by what is put around it.
            compile_regex(pattern)?;
            let needle = regex_needle(pattern, true);
            // A pattern may end in a comment, which only a line break ends.
            let whole =
                compile_regex(&format!("^(?:{pattern})$")).or_else(|_| compile_regex(&format!("^(?:{pattern}\n)$")))?;
            Ok(whole.with_needle(needle))
        }
        Syntax::RegexSearch => match not_at_start(pattern) {
            Some((not, rest)) => {
                let not = Box::new(compile_regex(&format!("^(?:{not})"))?.with_needle(RequiredLiteral::none()));
                let rest = Box::new(compile_regex(&format!("^(?:{rest})"))?.with_needle(RequiredLiteral::none()));
                Ok(Compiled::Except { not, rest, needle: RequiredLiteral::none() })
            }
            None => Ok(compile_regex(pattern)?.with_needle(regex_needle(pattern, false))),
        },
    }
}

/// `^(?!X)Y` as `X` and `Y`: what people write for "all but". Patterns have no other look-around.
fn not_at_start(pattern: &str) -> Option<(&str, &str)> {
    let inside = pattern.strip_prefix("^(?!")?;
    let (mut depth, mut class, mut escaped) = (1_usize, false, false);
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '(' if !class => depth += 1,
            ')' if !class => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&inside[..at], &inside[at + 1..]));
        }
    }
    None
}

enum AnyRegex {
    Lite(regex_lite::Regex),
    Full(regex::Regex),
}

impl AnyRegex {
    fn with_needle(self, needle: RequiredLiteral) -> Compiled {
        match self {
            Self::Lite(small) => Compiled::Lite(Lite { small, large: Arc::default() }, needle),
            Self::Full(regex) => Compiled::Regex(regex, needle),
        }
    }
}

fn compile_regex(pattern: &str) -> Result<AnyRegex, MatcherProblem> {
    if means_the_same_in_both_engines(pattern) {
        let lite = regex_lite::RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build();
        if let Ok(regex) = lite {
            return Ok(AnyRegex::Lite(regex));
        }
    }
    full_regex(pattern).map(AnyRegex::Full)
}

/// The small engine knows ASCII only where the large one knows all of Unicode: in classes such as `\w`, at word
/// boundaries, and where case is ignored. What a pattern means must not depend on the engine.
fn means_the_same_in_both_engines(pattern: &str) -> bool {
    let has_class_escape =
        || pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_alphanumeric());
    let has_flags = || pattern.match_indices("(?").any(|(at, _)| !pattern[at + 2..].starts_with(':'));
    pattern.is_ascii() && !has_class_escape() && !has_flags()
}

fn full_regex(pattern: &str) -> Result<regex::Regex, MatcherProblem> {
    regex::RegexBuilder::new(pattern)
        .size_limit(MAX_COMPILED)
        .build()
        .map_err(|error| MatcherProblem::Regex(last_line(&error.to_string())))
}

/// The engine draws the pattern and marks the place; what is wrong stands in its last line.
fn last_line(message: &str) -> String {
    let last = message.lines().last().unwrap_or_default();
    last.trim().trim_start_matches("error: ").to_owned()
}

const REGEX_META: &str = r"\.+*?()|[]{}^$";

/// Text that every match of the regular expression starts with, as far as can be told without parsing it.
fn regex_needle(pattern: &str, whole: bool) -> RequiredLiteral {
    let none = RequiredLiteral::none;
    let anchored = pattern.starts_with('^');
    let body = pattern.strip_prefix('^').unwrap_or(pattern);
    let length = body.find(|c| REGEX_META.contains(c)).unwrap_or(body.len());
    let (lead, rest) = body.split_at(length);
    // An alternative outside of groups starts with something else. Inside of classes and behind backslashes a bar
    // may mean other things, but then it is no loss to do without a needle.
    let mut depth = 0_i32;
    for c in rest.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '|' if depth <= 0 => return none(),
            '[' | '\\' if rest.contains('|') => return none(),
            _ => {}
        }
    }
    // Whatever operator follows may make the last character optional, if only together with the next operator.
    let repeated = rest.starts_with(['*', '?', '{', '+']);
    let mut text = lead.to_owned();
    if repeated {
        text.pop();
    }
    if text.is_empty() {
        return none();
    }
    RequiredLiteral { text, leads: whole || anchored }
}

fn glob_needle(pattern: &str) -> RequiredLiteral {
    let length = pattern.find(['*', '?', '[', ']', '{', '}', ',', '\\', '!']).unwrap_or(pattern.len());
    RequiredLiteral { text: pattern[..length].to_owned(), leads: true }
}

/// Why a pattern is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid matcher {pattern:?}: {problem}")]
pub struct MatcherError {
    pattern: String,
    problem: MatcherProblem,
}

impl MatcherError {
    /// The pattern, shortened if it is very long.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// What is wrong with it.
    pub fn problem(&self) -> &MatcherProblem {
        &self.problem
    }
}

/// What can be wrong with a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MatcherProblem {
    /// Longer than [`MAX_PATTERN`].
    #[error("it is {length} bytes long, at most {MAX_PATTERN} are allowed")]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// A list that names nothing.
    #[error("the list has no names")]
    NoNames,
    /// Not a regular expression.
    #[error("{0}")]
    Regex(String),
    /// Not a glob.
    #[error("{0}")]
    Glob(String),
}

fn shortened(pattern: &str) -> String {
    const SHOWN: usize = 200;
    match pattern.char_indices().nth(SHOWN) {
        None => pattern.to_owned(),
        Some((at, _)) => format!("{}…", &pattern[..at]),
    }
}

#[cfg(test)]
mod tests;
