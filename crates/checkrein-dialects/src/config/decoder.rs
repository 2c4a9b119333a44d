//! The decoder of one hook file.
//!
//! Layouts and the agents' own formats use it to read values, to report problems and to collect hooks. A hook that cannot
//! be read must not disappear: if it could block something, a broken hook takes its place and closes the gate.

use std::time::Duration;

use checkrein_core::{
    EventFilter, EventKind, FailurePolicy, Grammar, HookInfo, HookState, Matcher, Scope, Source, Syntax, closest_match,
};

use super::{DecodeOptions, Decoded, Diagnostic, Location, Settings, Severity};
use crate::spec::{CommandLine, CommandSpec, HandlerSpec, HookSpec, Warm};
use crate::table::Dialect;
use checkrein_document::{LineColumn, LineIndex, Member, Node, Span};

/// Help for a hook that cannot be loaded.
const FIX_HOOK: &str = "fix or remove the hook";

/// Renamed keys of checkrein's own files: the old name, then the current one. The old name is accepted with a warning.
const RENAMED_KEYS: &[(&str, &str)] = &[("shadow", "dry_run")];

/// Keys that authors add as notes to files of agents that ignore unknown keys.
const NOTES: &[&str] = &["comment", "comments", "description", "id", "name", "note", "notes", "title"];

/// Maximum number of names in the help of an unknown event.
const MAX_NAMES: usize = 5;

/// Current name of a key that has an old name, if `known` has it.
pub(super) fn current_key(old: &str, known: &[&str]) -> Option<&'static str> {
    let current = RENAMED_KEYS.iter().find(|(name, _)| *name == old)?.1;
    if known.contains(&current) { Some(current) } else { None }
}

/// Value of a key, under its current or its old name. The current name takes precedence.
pub(super) fn value_of<'n, 't>(node: &'n Node<'t>, key: &str) -> Option<&'n Node<'t>> {
    let old = || RENAMED_KEYS.iter().find(|(_, current)| *current == key).and_then(|(old, _)| node.get(old));
    node.get(key).or_else(old)
}

/// A misspelt event.
pub(super) struct Misspelling {
    /// Event that the name resembles.
    pub(super) meant: EventKind,
    /// Description of the problem.
    pub(super) why: String,
}

/// State of reading one file: the hooks and the diagnostics so far.
#[derive(Debug)]
pub struct Decoder<'a> {
    dialect: &'static Dialect,
    file: &'a str,
    scope: Scope,
    lines: LineIndex<'a>,
    options: &'a DecodeOptions,
    hooks: Vec<HookSpec>,
    diagnostics: Vec<Diagnostic>,
    /// Settings that apply to other hooks or files.
    pub settings: Settings,
    unreadable: bool,
    /// Filter for the hooks to read, adapted to the current dialect. `None`: all hooks.
    pub(super) filter: Option<EventFilter>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(
        dialect: &'static Dialect,
        file: &'a str,
        scope: Scope,
        text: &'a str,
        options: &'a DecodeOptions,
    ) -> Self {
        Self {
            dialect,
            file,
            scope,
            lines: LineIndex::new(text),
            options,
            hooks: Vec::new(),
            diagnostics: Vec::new(),
            settings: Settings::default(),
            unreadable: false,
            filter: options.only.as_ref().map(|filter| dialect.adapt_filter(filter)),
        }
    }

    /// Returns the line and column of a span.
    pub fn place(&self, span: Span) -> LineColumn {
        self.lines.place(span.start)
    }

    /// Scope of the file.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Options of the caller.
    pub fn options(&self) -> &'a DecodeOptions {
        self.options
    }

    /// Path of the file.
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// `true` if hooks for this event are to be read.
    pub fn wants(&self, kind: &EventKind) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.has_kind(kind))
    }

    /// `true` if hooks with this matcher are to be read.
    pub fn wants_matcher(&self, kind: &EventKind, matcher: &Matcher) -> bool {
        let accepts = |name: &str| matcher.matches(name);
        self.filter.as_ref().is_none_or(|filter| filter.can_match(std::slice::from_ref(kind), accepts))
    }

    /// Current dialect.
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Calls `read` with another dialect as the current one.
    pub(super) fn with_dialect(&mut self, dialect: &'static Dialect, read: impl FnOnce(&mut Self)) {
        let filter = self.options.only.as_ref().map(|filter| dialect.adapt_filter(filter));
        let own = std::mem::replace(&mut self.dialect, dialect);
        let own_filter = std::mem::replace(&mut self.filter, filter);
        read(self);
        self.dialect = own;
        self.filter = own_filter;
    }

    pub(super) fn finish(mut self) -> Decoded {
        self.diagnostics = in_file_order(self.diagnostics);
        let Self { dialect, mut hooks, diagnostics, settings, unreadable, options, filter, .. } = self;
        if let (Some(original), Some(own)) = (&options.only, &filter) {
            hooks.retain(|spec| match spec.dialect.name == dialect.name {
                true => spec.can_match(own),
                false => spec.can_match(&spec.dialect.adapt_filter(original)),
            });
        }
        for spec in hooks.iter_mut().filter(|spec| spec.identity.is_none()) {
            spec.identity = dialect.config.dedup_key.identity(spec);
        }
        Decoded { hooks, diagnostics, settings, unreadable }
    }

    /// Returns the hooks without identities, and the first problem. For hooks that the caller changes and pushes to another decoder.
    pub(super) fn into_hooks(mut self) -> (Vec<HookSpec>, Option<Diagnostic>) {
        let first = (!self.diagnostics.is_empty()).then(|| self.diagnostics.swap_remove(0));
        (self.hooks, first)
    }

    /// Reports an error.
    pub fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.report(Severity::Error, code, span, message.into())
    }

    /// Checks a command, and reports a command that cannot be started.
    pub(crate) fn check_command(&mut self, command: &CommandSpec, span: Span) -> Result<(), String> {
        command.check().map_err(|wrong| {
            let text = wrong.to_string();
            self.error("bad-command", span, text.as_str());
            text
        })
    }

    /// Reports a warning.
    pub fn warning(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.report(Severity::Warning, code, span, message.into())
    }

    fn report(&mut self, severity: Severity, code: &'static str, span: Span, message: String) -> &mut Diagnostic {
        let at = Some(Location::of(&self.lines, span));
        let file = self.file.to_owned();
        self.diagnostics.push(Diagnostic { severity, code, message, file, at, help: None });
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    /// Reports keys that are not known, and old names of known ones.
    pub fn check_keys(&mut self, members: &[Member<'_>], known: &[&str]) {
        for member in members.iter().filter(|member| !known.contains(&&*member.key)) {
            match current_key(&member.key, known) {
                Some(current) => self.renamed(member, current),
                None if self.dialect.config.rejects_unknown_keys => {
                    self.unknown("unknown-key", member.key_span, "key", &member.key, known);
                }
                None => self.ignored_key(member, known),
            }
        }
    }

    /// Reports a key that the agent ignores, once per file. Notes for readers of the file are no problem.
    fn ignored_key(&mut self, member: &Member<'_>, known: &[&str]) {
        let key = &*member.key;
        if NOTES.contains(&key) || key.starts_with(['_', '$', '#', '/']) {
            return;
        }
        let text = format!("{} ignores the unknown key `{key}`", self.dialect.title());
        if self.diagnostics.iter().any(|earlier| earlier.code == "unknown-key" && earlier.message == text) {
            return;
        }
        let meant = closest_match(key, known.iter().copied()).map(|meant| format!("did you mean `{meant}`?"));
        self.warning("unknown-key", member.key_span, text).help = meant;
    }

    /// Reports an old name of a key.
    pub(super) fn renamed(&mut self, member: &Member<'_>, current: &str) {
        let text = format!("`{}` is now called `{current}`; rename it", member.key);
        self.warning("renamed-key", member.key_span, text);
    }

    /// Reports an unknown word. `what` names its role: `key`, `dialect`.
    pub fn unknown(&mut self, code: &'static str, span: Span, what: &str, word: &str, known: &[&str]) {
        let meant = closest_match(word, known.iter().copied()).map(str::to_owned);
        let choices = known.join(", ");
        let diagnostic = self.error(code, span, format!("unknown {what} `{word}`"));
        diagnostic.help = Some(match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("use one of: {choices}"),
        });
    }

    /// Reports a value of the wrong type, and returns the message.
    pub fn wrong_type(&mut self, node: &Node<'_>, what: &str, expected: &str) -> String {
        let message = format!("`{what}` should be {expected}, but is {}", node.type_name());
        self.error("wrong-type", node.span, message.clone());
        message
    }

    /// Returns the members of an object.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn object<'n, 't>(&mut self, node: &'n Node<'t>, what: &str) -> Result<&'n [Member<'t>], String> {
        node.as_object().ok_or_else(|| self.wrong_type(node, what, "an object"))
    }

    /// Returns the items of an array.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn array<'n, 't>(&mut self, node: &'n Node<'t>, what: &str) -> Result<&'n [Node<'t>], String> {
        node.as_array().ok_or_else(|| self.wrong_type(node, what, "an array"))
    }

    /// Returns a string.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn text(&mut self, node: &Node<'_>, what: &str) -> Result<String, String> {
        node.as_str().map(str::to_owned).ok_or_else(|| self.wrong_type(node, what, "a string"))
    }

    /// Returns a boolean.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn flag(&mut self, node: &Node<'_>, what: &str) -> Result<bool, String> {
        node.as_bool().ok_or_else(|| self.wrong_type(node, what, "true or false"))
    }

    /// Returns an array of strings.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn texts(&mut self, node: &Node<'_>, what: &str) -> Result<Vec<String>, String> {
        let mut texts = Vec::new();
        for item in self.array(node, what)? {
            texts.push(self.text(item, what)?);
        }
        Ok(texts)
    }

    /// Returns an array of strings, also for numbers and booleans: `[head, -n, 5]` in YAML has a number, and the author means text.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn words(&mut self, node: &Node<'_>, what: &str) -> Result<Vec<String>, String> {
        let mut words = Vec::new();
        for item in self.array(node, what)? {
            words.push(self.scalar(item, what)?);
        }
        Ok(words)
    }

    fn scalar(&mut self, node: &Node<'_>, what: &str) -> Result<String, String> {
        match (node.as_number(), node.as_bool()) {
            (Some(number), _) => Ok(number.to_owned()),
            (_, Some(flag)) => Ok(flag.to_string()),
            _ => self.text(node, what),
        }
    }

    /// Returns the members of an object whose values are strings. `PORT: 8080` in YAML is a number, and the author means text.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn pairs(&mut self, node: &Node<'_>, what: &str) -> Result<Vec<(String, String)>, String> {
        let mut pairs = Vec::new();
        for member in self.object(node, what)? {
            let value = self.scalar(&member.value, &format!("{what}.{}", member.key))?;
            pairs.push((member.key.to_string(), value));
        }
        Ok(pairs)
    }

    /// Returns a duration above 0, written as a number of units.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn time(&mut self, node: &Node<'_>, what: &str, unit: Duration) -> Result<Duration, String> {
        let Some(number) = node.as_number() else {
            return Err(self.wrong_type(node, what, "a number"));
        };
        let time = number.parse::<f64>().ok().and_then(|count| {
            Duration::try_from_secs_f64(count * unit.as_secs_f64()).ok().filter(|time| !time.is_zero())
        });
        time.ok_or_else(|| {
            let message = format!("`{what}` should be above 0, but is `{number}`; omit it to use the default");
            self.error("bad-time", node.span, message.clone());
            message
        })
    }

    /// Returns the kind of event with this name, and reports an unknown name. checkrein's own names are valid only in
    /// a dialect that has all of checkrein's events.
    pub fn event(&mut self, name: &str, span: Span) -> Option<EventKind> {
        match self.event_or_misspelling(name, span) {
            Ok(kind) => Some(kind),
            Err(misspelt) => {
                if let Some(Misspelling { meant, why }) = misspelt {
                    self.broken(name, &meant, None, span, &why);
                }
                None
            }
        }
    }

    /// As [`event`](Self::event). A misspelt event must not open a gate: the caller adds a broken hook for each hook of it.
    pub(super) fn event_or_misspelling(&mut self, name: &str, span: Span) -> Result<EventKind, Option<Misspelling>> {
        let own = self.dialect.kind_of(name).cloned();
        match own.or_else(|unknown| name.parse().ok().filter(|_| self.dialect.has_all_events).ok_or(unknown)) {
            Ok(kind) => Ok(kind),
            Err(unknown) => {
                self.error("unknown-event", span, format!("{unknown}"));
                // A name that is an event of another agent is not a misspelling.
                let named = || crate::ALL.iter().flat_map(|dialect| dialect.events).filter(|row| row.name == name);
                let is_misspelling =
                    |kind: &EventKind| named().next().is_none() || named().any(|row| row.kind == *kind);
                let meant = unknown.suggestion().and_then(|meant| self.dialect.kind_named(meant).ok());
                let meant = meant.filter(is_misspelling);
                let help = self.events_help();
                if meant.is_none()
                    && let Some(diagnostic) = self.diagnostics.last_mut()
                {
                    diagnostic.help = Some(help);
                }
                Err(meant.map(|meant| Misspelling { meant, why: unknown.to_string() }))
            }
        }
    }

    /// Help for an unknown event: some names. The message names the command that lists all of them.
    fn events_help(&self) -> String {
        const USUAL: &[EventKind] = &[
            EventKind::SessionStart,
            EventKind::PromptSubmit,
            EventKind::PreToolUse,
            EventKind::PostToolUse,
            EventKind::Stop,
        ];
        let usual = USUAL.iter().filter_map(|kind| self.dialect.name_of(kind));
        let all = self.dialect.events.iter().map(|row| row.name);
        let mut names: Vec<&str> = Vec::new();
        for name in usual.chain(all) {
            if names.len() < MAX_NAMES && !names.contains(&name) {
                names.push(name);
            }
        }
        let is_all = self.dialect.events.len() <= MAX_NAMES && !self.dialect.has_all_events;
        format!("use {} {}", if is_all { "one of:" } else { "for example" }, names.join(", "))
    }

    /// Returns the matcher of a hook. Reports a matcher at an event without matchers, and ignores it.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn matcher(&mut self, node: Option<&Node<'_>>, kind: &EventKind) -> Result<Matcher, String> {
        let Some(node) = node.filter(|node| !node.is_null()) else { return Ok(Matcher::everything()) };
        let pattern = self.text(node, "matcher")?;
        let matcher = self.pattern_in(self.dialect.grammar(kind), &pattern, node.span)?;
        self.foreign_pattern(&pattern, node.span);
        if !self.dialect.is_matched(kind) && !matcher.is_everything() {
            let name = self.dialect.name_of(kind).unwrap_or(kind.name());
            let text = format!("`{name}` ignores matchers, so this hook always runs; remove the matcher");
            self.warning("matcher-ignored", node.span, text);
            return Ok(Matcher::everything());
        }
        Ok(matcher)
    }

    /// Returns the matcher of a broken hook, if the matcher is valid. The broken hook then blocks only what it matches.
    pub(super) fn matcher_of(&self, node: &Node<'_>, kind: &EventKind) -> Option<Matcher> {
        let pattern = node.get("matcher")?.as_str().filter(|_| self.dialect.is_matched(kind))?;
        Matcher::compile(&self.dialect.matcher, Some(pattern)).ok()
    }

    /// Reports syntax of other agents' patterns in a glob.
    fn foreign_pattern(&mut self, pattern: &str, span: Span) {
        let grammar = &self.dialect.matcher;
        if grammar.otherwise != Syntax::Glob || grammar.list.is_some() {
            return;
        }
        let (foreign, meant) = if pattern.contains('|') {
            ("|", format!("{{{}}}", pattern.replace('|', ",")))
        } else if pattern.contains(".*") {
            (".*", pattern.replace(".*", "*"))
        } else {
            return;
        };
        let text = format!("`{foreign}` is literal in a glob, so this matches only names that contain `{foreign}`");
        self.warning("foreign-pattern", span, text).help = Some(format!("did you mean `{meant}`?"));
    }

    /// Compiles a pattern in the dialect's grammar.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn pattern(&mut self, pattern: &str, span: Span) -> Result<Matcher, String> {
        self.pattern_in(&self.dialect.matcher, pattern, span)
    }

    /// Compiles a pattern for a text, such as a field of tool input. In every dialect it is a regular expression that is
    /// searched for: a text is seldom equal to a name.
    ///
    /// # Errors
    /// The message of the problem, which is already reported.
    pub fn text_pattern(&mut self, pattern: &str, span: Span) -> Result<Matcher, String> {
        self.pattern_in(&Grammar::REGEX_SEARCH, pattern, span)
    }

    fn pattern_in(&mut self, grammar: &Grammar, pattern: &str, span: Span) -> Result<Matcher, String> {
        let own = self.dialect.config.pattern.and_then(|meaning| meaning(pattern));
        let pattern = own.as_deref().unwrap_or(pattern);
        Matcher::compile(grammar, Some(pattern)).map_err(|error| {
            let message = error.to_string();
            self.error("bad-matcher", span, message.clone());
            message
        })
    }

    /// Returns a hook with this place in the file as its source.
    pub fn start(&self, id: impl Into<String>, kind: EventKind, handler: HandlerSpec, span: Span) -> HookSpec {
        let place = self.lines.place(span.start);
        let mut spec = HookSpec::new("", kind, handler);
        spec.info = HookInfo::new(id, Source::in_file(self.scope, self.file, place.line, place.column)).into();
        spec.dialect = self.dialect;
        if self.settings.dry_run { spec.dry_run() } else { spec }
    }

    /// Reads the use of warm interpreters.
    ///
    /// # Errors
    /// Another value than `true`, `false` or `auto`.
    pub(super) fn warm(&mut self, node: &Node<'_>, name: &str) -> Result<Warm, String> {
        match (node.as_bool(), node.as_str()) {
            (Some(true), _) => Ok(Warm::On),
            (Some(false), _) => Ok(Warm::Off),
            (None, Some("auto")) => Ok(Warm::Auto),
            _ => Err(self.wrong_type(node, name, "`true`, `false` or `auto`")),
        }
    }

    /// Calls `read` with this value of the file's `dry_run`.
    pub(super) fn with_dry_run(&mut self, dry_run: bool, read: impl FnOnce(&mut Self)) {
        let of_file = std::mem::replace(&mut self.settings.dry_run, dry_run);
        read(self);
        self.settings.dry_run = of_file;
    }

    /// Adds a hook.
    pub fn push(&mut self, mut spec: HookSpec) {
        if let HandlerSpec::Command(command) = &mut spec.handler {
            command.warm = command.warm.or(self.settings.warm);
        }
        if self.hooks.is_empty() {
            // With a filter, more than one hook is rare.
            self.hooks.reserve_exact(1);
        }
        self.hooks.push(spec);
    }

    /// Disables the hooks of this file with one of these names or commands.
    pub fn switch_off(&mut self, names: &[(String, Span)]) {
        for (name, span) in names {
            let is_meant = |spec: &HookSpec| match &spec.handler {
                _ if spec.info.id == *name => true,
                HandlerSpec::Command(command) => {
                    matches!(&command.run, CommandLine::Shell { text, .. } if text == name)
                }
                _ => false,
            };
            let mut found = false;
            for spec in self.hooks.iter_mut().filter(|spec| is_meant(spec)) {
                // A broken hook stays broken.
                if spec.state == HookState::Ready {
                    spec.state = HookState::Disabled;
                }
                found = true;
            }
            if !found {
                let text = format!("this file has no hook `{name}`; a file can disable only its own hooks");
                self.warning("no-effect", *span, text);
            }
        }
    }

    /// Adds the file itself as a hook, if its name is that of an event. Letter case does not matter. Other files are ignored.
    pub(super) fn script(&mut self, executable: bool) {
        const EXTENSIONS: [&str; 11] = ["sh", "bash", "zsh", "js", "mjs", "cjs", "ts", "mts", "cts", "py", "ps1"];
        let path = std::path::Path::new(self.file);
        let extension = path.extension().and_then(|extension| extension.to_str());
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if extension.is_some_and(|extension| !EXTENSIONS.contains(&extension)) {
            return;
        }
        let Some(row) = self.dialect.events.iter().find(|row| row.name.eq_ignore_ascii_case(stem)) else {
            if closest_match(stem, self.dialect.events.iter().map(|row| row.name)).is_some() {
                self.event(stem, Span::default());
            }
            return;
        };
        if !executable {
            let why = "the file is not executable, so its agent skips it";
            self.error("not-executable", Span::default(), why).help = Some(format!("chmod +x {}", self.file));
            self.broken(row.name, &row.kind, None, Span::default(), why);
            return;
        }
        let program = CommandSpec::new(CommandLine::Argv(vec![self.file.to_owned()]));
        let mut spec = self.start(row.name, row.kind.clone(), HandlerSpec::Command(program), Span::default());
        spec.background = row.always_background;
        self.push(spec);
    }

    /// Adds a broken hook. If it could block `kind`, the gate is closed until the hook is fixed.
    pub fn broken(&mut self, id: impl Into<String>, kind: &EventKind, matcher: Option<Matcher>, span: Span, why: &str) {
        if !self.dialect.is_gate(kind) {
            return;
        }
        let nothing = HandlerSpec::Command(CommandSpec::new(CommandLine::Argv(Vec::new())));
        let mut spec = self.start(id, kind.clone(), nothing, span);
        spec.state = HookState::Broken(why.to_owned());
        close(&mut spec);
        if let Some(matcher) = matcher {
            spec.matcher = matcher;
        }
        let (dry_run, pattern) = (spec.info.dry_run, spec.matcher.pattern().to_owned());
        self.hooks.push(spec);
        let name = self.dialect.name_of(kind).unwrap_or(kind.name()).to_owned();
        if dry_run {
            let text = format!("this hook cannot be loaded; it is a dry run, so `{name}` is not blocked");
            self.error("not-loaded", span, text).help = Some(FIX_HOOK.to_owned());
            return;
        }
        let text = match pattern.as_str() {
            "" => format!("this hook cannot be loaded, so every `{name}` is blocked"),
            pattern => format!("this hook cannot be loaded, so `{name}` is blocked for `{pattern}`"),
        };
        self.error("closed-gate", span, text).help = Some(FIX_HOOK.to_owned());
    }

    /// Reports hooks in the wrong place of a file that has none under `root`, the key for hooks.
    pub fn misplaced(&mut self, members: &[Member<'_>], root: &str) {
        for member in members {
            let is_event = self.dialect.kind_of(&member.key).is_ok()
                && (member.value.as_array().is_some() || member.value.as_object().is_some());
            if is_event {
                let why = format!("`{}` is outside `{root}`, so its hooks are not read", member.key);
                self.error("misplaced", member.key_span, why.clone()).help = Some(format!("move it into `{root}`"));
                if let Ok(kind) = self.dialect.kind_of(&member.key).cloned() {
                    self.broken(member.key.clone(), &kind, None, member.key_span, &why);
                }
            } else if closest_match(&member.key, [root]).is_some() && member.key != root {
                let why = format!("unknown key `{}`", member.key);
                self.error("unknown-key", member.key_span, why.clone()).help = Some(format!("did you mean `{root}`?"));
                self.broken_somewhere(member.key.clone(), member.key_span, &why);
            }
        }
    }

    /// Adds a broken hook whose events are unknown. All gates are closed.
    pub fn broken_somewhere(&mut self, id: impl Into<String>, span: Span, why: &str) {
        let mut gates = EventKind::ALL.iter().filter(|kind| self.dialect.is_gate(kind)).cloned();
        let Some(first) = gates.next() else { return };
        let nothing = HandlerSpec::Command(CommandSpec::new(CommandLine::Argv(Vec::new())));
        let mut spec = self.start(id, first, nothing, span);
        spec.kinds.extend(gates);
        spec.state = HookState::Broken(why.to_owned());
        self.hooks.push(spec.on_failure(FailurePolicy::Closed));
        let text = "this cannot be read, so every event that a hook could block is blocked";
        self.error("closed-gate", span, text).help = Some("fix or remove it".to_owned());
    }

    /// Adds one broken hook for a file that cannot be read. All gates are closed, because the file could guard any of them.
    pub(crate) fn unreadable(&mut self, why: &str, place: LineColumn) {
        self.unreadable = true;
        let mut gates = EventKind::ALL.iter().filter(|kind| self.dialect.is_gate(kind)).cloned();
        let Some(first) = gates.next() else { return };
        let nothing = HandlerSpec::Command(CommandSpec::new(CommandLine::Argv(Vec::new())));
        let mut spec = self.start("", first, nothing, Span::default());
        spec.kinds.extend(gates);
        let source = Source::in_file(self.scope, self.file, place.line, place.column);
        // Messages name the hook, and the file is all that is known of it.
        let name = std::path::Path::new(self.file).file_name().map(|name| name.to_string_lossy().into_owned());
        let info = HookInfo::new(name.unwrap_or_else(|| self.file.to_owned()), source);
        spec.info = if spec.info.dry_run { info.dry_run() } else { info }.into();
        spec.state = HookState::Broken(why.to_owned());
        close(&mut spec);
        self.hooks.push(spec);
    }

    /// Reports a file in a format that checkrein does not read.
    pub(super) fn not_read(&mut self, language: &str) {
        let why = format!("checkrein does not read {language}");
        self.error("not-readable", Span::default(), why.clone()).help =
            Some("write the hooks in another format that the agent reads, such as YAML".to_owned());
        self.unreadable(&why, self.lines.place(0));
    }
}

/// Makes a hook fail closed, also in dialects in which failures are open.
fn close(spec: &mut HookSpec) {
    std::sync::Arc::make_mut(&mut spec.info).on_failure = Some(FailurePolicy::Closed);
}

/// Codes of diagnostics about the consequence of the problem that was reported before.
const CONSEQUENCES: &[&str] = &["closed-gate", "not-loaded"];

/// Sorts by position. A consequence stays behind its cause, which may be inside of the entry that cannot be loaded.
fn in_file_order(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut keyed: Vec<(Option<u32>, Diagnostic)> = Vec::with_capacity(diagnostics.len());
    for diagnostic in diagnostics {
        let own = diagnostic.at.as_ref().map(|at| at.span.start);
        let cause = keyed.last().filter(|_| CONSEQUENCES.contains(&diagnostic.code)).map(|(at, _)| *at);
        keyed.push((cause.unwrap_or(own), diagnostic));
    }
    keyed.sort_by_key(|(at, _)| *at);
    keyed.into_iter().map(|(_, diagnostic)| diagnostic).collect()
}
