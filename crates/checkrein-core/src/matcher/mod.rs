//! [`Matcher`]: compiled patterns for the subjects of events, in the grammars of the agents.
//!
//! Decoders of hook files compile matchers; selection runs them. An invalid pattern must be an error and never match
//! nothing silently.

mod prefilter;
mod translate;

use std::fmt;

use std::sync::{Arc, OnceLock};

use globset::GlobBuilder;

/// Maximum length of a pattern, in bytes.
pub const MAX_PATTERN: usize = 16 * 1024;

/// Maximum memory of one compiled pattern, in bytes.
const MAX_COMPILED: usize = 1 << 20;

/// Pattern syntax of an agent.
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
    /// Patterns that match everything, besides the absent and the empty one.
    pub wildcards: &'static [&'static str],
    /// Form of a list of names, if the agent has lists.
    pub list: Option<NameList>,
    /// Syntax of all other patterns.
    pub otherwise: Syntax,
}

/// Form of a list of names: letters, digits, `_`, these characters and separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NameList {
    /// Characters of a name besides letters, digits and `_`.
    pub also: &'static str,
    /// Characters that separate names.
    pub separators: &'static str,
    /// `true` if white space around names is dropped.
    pub trim: bool,
}

/// Syntax of a pattern that is neither a wildcard nor a list of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// Regular expression that must match the whole subject.
    RegexWhole,
    /// Regular expression that must match a part of the subject.
    RegexSearch,
    /// Glob: `*` stops at `/`, `**` does not, `{a,b}` is an alternative.
    Glob,
    /// Text that must be equal to the subject.
    Exact,
}

impl Grammar {
    /// Lists of names such as `Edit|Write` and `Edit, Write`; other patterns are searched for as regular expressions.
    pub const NAMES_OR_SEARCH: Self = Self {
        wildcards: &["*"],
        list: Some(NameList { also: "- ", separators: "|,", trim: true }),
        otherwise: Syntax::RegexSearch,
    };
    /// Regular expression for the whole subject.
    pub const REGEX_WHOLE: Self = Self::plain(Syntax::RegexWhole);
    /// Regular expression for a part of the subject.
    pub const REGEX_SEARCH: Self = Self::plain(Syntax::RegexSearch);
    /// Glob. `*` does not match `/`.
    pub const GLOB: Self = Self { wildcards: &[], list: None, otherwise: Syntax::Glob };
    /// Text that must be equal to the subject.
    pub const EXACT: Self = Self::plain(Syntax::Exact);

    /// Creates a grammar.
    pub const fn new(wildcards: &'static [&'static str], list: Option<NameList>, otherwise: Syntax) -> Self {
        Self { wildcards, list, otherwise }
    }

    const fn plain(otherwise: Syntax) -> Self {
        Self { wildcards: &["*"], list: None, otherwise }
    }
}

/// Compiled pattern.
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
    /// Matches `rest` and does not match `not`.
    Except {
        not: Box<Compiled>,
        rest: Box<Compiled>,
        literal: RequiredLiteral,
    },
    /// Matches `rest` or one of the names.
    Also {
        names: Vec<String>,
        rest: Box<Compiled>,
        literal: RequiredLiteral,
    },
}

/// Regular expression in the small engine, which compiles in a tenth of the time and is as fast on names. On long subjects
/// the large engine is much faster. It is compiled for the first long subject.
#[derive(Clone)]
struct Lite {
    small: regex_lite::Regex,
    large: Arc<OnceLock<Option<regex::Regex>>>,
}

impl Lite {
    /// Subjects longer than this are not names.
    const LONG: usize = 256;

    fn is_match(&self, subject: &str) -> bool {
        if subject.len() > Self::LONG
            && let Some(large) = self.large.get_or_init(|| full_regex(self.small.as_str()).ok())
        {
            return large.is_match(subject);
        }
        self.small.is_match(subject)
    }
}

/// Text that every subject contains that a pattern matches. Empty if there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequiredLiteral {
    pub(crate) text: String,
    /// `true` if the subject must start with it.
    pub(crate) is_prefix: bool,
}

impl RequiredLiteral {
    fn none() -> Self {
        Self { text: String::new(), is_prefix: false }
    }
}

/// Kind of matcher, for the index.
pub(crate) enum MatcherKind<'a> {
    Everything,
    Names(&'a [String]),
    Pattern(&'a RequiredLiteral),
}

impl Matcher {
    /// Creates a matcher that matches everything.
    pub fn everything() -> Self {
        Self { pattern: String::new(), compiled: Compiled::Everything }
    }

    /// Creates a matcher for these names. Without names, it matches everything.
    pub fn names<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.is_empty() {
            return Self::everything();
        }
        Self { pattern: names.join("|"), compiled: Compiled::Names(names) }
    }

    /// Compiles a pattern. Absent and empty patterns match everything.
    ///
    /// # Errors
    /// A pattern that is too long, does not compile, or is a list without names.
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

    /// Returns the original pattern.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// `true` if it matches everything.
    pub fn is_everything(&self) -> bool {
        matches!(self.compiled, Compiled::Everything)
    }

    /// Adds names that match. [`pattern`](Self::pattern) does not change.
    #[must_use]
    pub fn also<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        self.compiled = match self.compiled {
            Compiled::Everything => Compiled::Everything,
            Compiled::Names(own) => Compiled::Names(own.into_iter().chain(names).collect()),
            rest => Compiled::Also { names, rest: Box::new(rest), literal: RequiredLiteral::none() },
        };
        self
    }

    /// Returns the names, if it is a list of names.
    pub fn as_names(&self) -> Option<&[String]> {
        match &self.compiled {
            Compiled::Names(names) => Some(names),
            _ => None,
        }
    }

    /// `true` if the subject matches.
    pub fn matches(&self, subject: &str) -> bool {
        self.compiled.matches(subject)
    }

    pub(crate) fn kind(&self) -> MatcherKind<'_> {
        match &self.compiled {
            Compiled::Everything => MatcherKind::Everything,
            Compiled::Names(names) => MatcherKind::Names(names),
            Compiled::Lite(_, literal)
            | Compiled::Regex(_, literal)
            | Compiled::Glob(_, literal)
            | Compiled::Except { literal, .. }
            | Compiled::Also { literal, .. } => MatcherKind::Pattern(literal),
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
        let kind = match &self.compiled {
            Compiled::Everything => "everything",
            Compiled::Names(_) => "names",
            Compiled::Lite(..) | Compiled::Regex(..) | Compiled::Except { .. } | Compiled::Also { .. } => "regex",
            Compiled::Glob(..) => "glob",
        };
        write!(f, "Matcher({kind} {:?})", self.pattern)
    }
}

impl NameList {
    /// Returns the names, if the pattern is a list of names.
    fn split(&self, pattern: &str) -> Option<Vec<String>> {
        if self.is_list(pattern) { Some(self.names(pattern).map(str::to_owned).collect()) } else { None }
    }
}

fn compile(syntax: Syntax, pattern: &str) -> Result<Compiled, MatcherProblem> {
    match syntax {
        Syntax::Exact => Ok(Compiled::Names(vec![pattern.to_owned()])),
        Syntax::Glob => {
            let glob = GlobBuilder::new(pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .empty_alternates(true)
                .build()
                .map_err(|error| MatcherProblem::Glob(error.kind().to_string()))?;
            // `globset` panics on patterns that are too large, so its regular expression is compiled here.
            let compiled = regex::bytes::RegexBuilder::new(glob.regex())
                .size_limit(MAX_COMPILED)
                .dot_matches_new_line(true)
                .build()
                .map_err(|error| MatcherProblem::Glob(last_line(&error.to_string())))?;
            Ok(Compiled::Glob(compiled, glob_literal(pattern)))
        }
        Syntax::RegexWhole => {
            // Compile it alone first: the group around it must not make `a)(b` valid.
            compile_regex(pattern)?;
            let literal = regex_literal(pattern, true);
            // A pattern can end in a comment, which only a line break ends.
            let whole =
                compile_regex(&format!("^(?:{pattern})$")).or_else(|_| compile_regex(&format!("^(?:{pattern}\n)$")))?;
            Ok(whole.with_literal(literal))
        }
        Syntax::RegexSearch => match split_negative_lookahead(pattern) {
            Some((not, rest)) => {
                let not = Box::new(compile_regex(&format!("^(?:{not})"))?.with_literal(RequiredLiteral::none()));
                let rest = Box::new(compile_regex(&format!("^(?:{rest})"))?.with_literal(RequiredLiteral::none()));
                Ok(Compiled::Except { not, rest, literal: RequiredLiteral::none() })
            }
            None => Ok(compile_regex(pattern)?.with_literal(regex_literal(pattern, false))),
        },
    }
}

/// Splits `^(?!X)Y`, the usual form of "all but", into `X` and `Y`. Other look-around is not supported.
fn split_negative_lookahead(pattern: &str) -> Option<(&str, &str)> {
    let inside = pattern.strip_prefix("^(?!")?;
    let (mut depth, mut class, mut escaped) = (1_usize, false, false);
    for (index, c) in inside.char_indices() {
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
            return Some((&inside[..index], &inside[index + 1..]));
        }
    }
    None
}

enum AnyRegex {
    Lite(regex_lite::Regex),
    Full(regex::Regex),
}

impl AnyRegex {
    fn with_literal(self, literal: RequiredLiteral) -> Compiled {
        match self {
            Self::Lite(small) => Compiled::Lite(Lite { small, large: Arc::default() }, literal),
            Self::Full(regex) => Compiled::Regex(regex, literal),
        }
    }
}

fn compile_regex(pattern: &str) -> Result<AnyRegex, MatcherProblem> {
    if is_equal_in_both_engines(pattern) {
        let lite = regex_lite::RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build();
        if let Ok(regex) = lite {
            return Ok(AnyRegex::Lite(regex));
        }
    }
    full_regex(pattern).map(AnyRegex::Full)
}

/// `true` if a pattern has the same meaning in both engines.
///
/// In classes such as `\w`, at word boundaries and without case, the small engine supports ASCII and the large one
/// Unicode. The meaning of a pattern must not depend on the engine.
fn is_equal_in_both_engines(pattern: &str) -> bool {
    let has_class_escape =
        || pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_alphanumeric());
    let has_flags = || pattern.match_indices("(?").any(|(start, _)| !pattern[start + 2..].starts_with(':'));
    pattern.is_ascii() && !has_class_escape() && !has_flags()
}

fn full_regex(pattern: &str) -> Result<regex::Regex, MatcherProblem> {
    regex::RegexBuilder::new(pattern)
        .size_limit(MAX_COMPILED)
        .build()
        .map_err(|error| MatcherProblem::Regex(last_line(&error.to_string())))
}

/// Returns the last line of an engine's message, which has the cause. The lines before it show the pattern.
fn last_line(message: &str) -> String {
    let last = message.lines().last().unwrap_or_default();
    last.trim().trim_start_matches("error: ").to_owned()
}

const REGEX_META: &str = r"\.+*?()|[]{}^$";

/// Returns the text that every match starts with, as far as can be determined without a parser.
fn regex_literal(pattern: &str, whole: bool) -> RequiredLiteral {
    let none = RequiredLiteral::none;
    let anchored = pattern.starts_with('^');
    let body = pattern.strip_prefix('^').unwrap_or(pattern);
    let length = body.find(|c| REGEX_META.contains(c)).unwrap_or(body.len());
    let (lead, rest) = body.split_at(length);
    // An alternative outside of groups starts with another text. In classes and after backslashes a bar can have another
    // meaning; such patterns have no literal.
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
    // An operator can make the last character optional, alone or together with the next operator.
    let repeated = rest.starts_with(['*', '?', '{', '+']);
    let mut text = lead.to_owned();
    if repeated {
        text.pop();
    }
    if text.is_empty() {
        return none();
    }
    RequiredLiteral { text, is_prefix: whole || anchored }
}

fn glob_literal(pattern: &str) -> RequiredLiteral {
    let length = pattern.find(['*', '?', '[', ']', '{', '}', ',', '\\', '!']).unwrap_or(pattern.len());
    RequiredLiteral { text: pattern[..length].to_owned(), is_prefix: true }
}

/// Error: a pattern is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid matcher {pattern:?}: {problem}")]
pub struct MatcherError {
    pattern: String,
    problem: MatcherProblem,
}

impl MatcherError {
    /// Returns the pattern, shortened if it is very long.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns the cause.
    pub fn problem(&self) -> &MatcherProblem {
        &self.problem
    }
}

/// Cause of a [`MatcherError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MatcherProblem {
    /// Longer than [`MAX_PATTERN`].
    #[error("the pattern has {length} bytes; at most {MAX_PATTERN} are allowed")]
    TooLong {
        /// Length in bytes.
        length: usize,
    },
    /// A list without names.
    #[error("the list contains no names")]
    NoNames,
    /// An invalid regular expression.
    #[error("{0}")]
    Regex(String),
    /// An invalid glob.
    #[error("{0}")]
    Glob(String),
}

fn shortened(pattern: &str) -> String {
    const MAX_CHARS: usize = 200;
    match pattern.char_indices().nth(MAX_CHARS) {
        None => pattern.to_owned(),
        Some((end, _)) => format!("{}…", &pattern[..end]),
    }
}

#[cfg(test)]
mod tests;
