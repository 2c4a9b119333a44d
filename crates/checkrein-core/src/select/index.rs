//! [`KindIndex`]: the index of the hooks of one kind, used by [`HookSet`](super::HookSet).
//!
//! Listed names are found by hashing. A pattern has a required literal: a text that every match contains. One pass of an
//! automaton over the subject finds the literals of all patterns, and only patterns whose literal was found are run.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use foldhash::fast::FixedState;

use super::filter::Names;
use crate::hook::HookSelector;
use crate::matcher::MatcherKind;

#[derive(Debug)]
pub(super) struct KindIndex {
    /// All hooks of the kind, for events without a subject.
    all: Vec<u32>,
    /// Hooks whose matcher accepts everything.
    everything: Vec<u32>,
    /// Hooks that list a name, by that name.
    by_name: HashMap<String, Vec<u32>, FixedState>,
    /// Boxed, because most kinds have no patterns and the type is large.
    patterns: Option<Box<Patterns>>,
}

#[derive(Debug)]
struct Patterns {
    literals: Option<AhoCorasick>,
    /// By pattern number of the automaton: the hooks with that literal, and `true` if the subject must start with it.
    owners: Vec<(Vec<u32>, bool)>,
    /// Hooks whose pattern has no required literal.
    always: Vec<u32>,
}

/// Hooks whose matchers match, as positions in config order.
pub(super) enum Candidates<'a> {
    /// Two lists without a common hook.
    Known(&'a [u32], &'a [u32]),
    Found(Vec<u32>),
}

impl Candidates<'_> {
    /// Returns the union.
    pub(super) fn with(&self, other: &Self) -> Self {
        let mut found: Vec<u32> = Vec::new();
        for candidates in [self, other] {
            let (one, more) = candidates.lists();
            found.extend(one.iter().chain(more));
        }
        found.sort_unstable();
        found.dedup();
        Self::Found(found)
    }

    pub(super) fn none() -> Self {
        Self::Known(&[], &[])
    }

    pub(super) fn lists(&self) -> (&[u32], &[u32]) {
        match self {
            Self::Known(one, other) => (one, other),
            Self::Found(positions) => (positions, &[]),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let (one, other) = self.lists();
        one.is_empty() && other.is_empty()
    }
}

impl std::fmt::Debug for Candidates<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.lists().fmt(f)
    }
}

impl KindIndex {
    pub(super) fn new(hooks: &[HookSelector], positions: &[u32]) -> Self {
        let mut everything = Vec::new();
        let mut by_name: HashMap<String, Vec<u32>, FixedState> = HashMap::default();
        let mut literals: HashMap<(&str, bool), Vec<u32>> = HashMap::new();
        let mut always = Vec::new();
        for &position in positions {
            match hooks[position as usize].matcher.kind() {
                MatcherKind::Everything => everything.push(position),
                MatcherKind::Names(listed) => {
                    for name in listed {
                        let hooks = by_name.entry(name.clone()).or_default();
                        // A matcher can list a name twice.
                        if hooks.last() != Some(&position) {
                            hooks.push(position);
                        }
                    }
                }
                MatcherKind::Pattern(literal) if literal.text.is_empty() => always.push(position),
                MatcherKind::Pattern(literal) => {
                    literals.entry((&literal.text, literal.is_prefix)).or_default().push(position);
                }
            }
        }
        let has_patterns = !literals.is_empty() || !always.is_empty();
        let texts: Vec<&str> = literals.keys().map(|(text, _)| *text).collect();
        // Subjects are short, so the automaton's prefilter for long texts costs more than it saves.
        let automaton =
            (!texts.is_empty()).then(|| AhoCorasick::builder().prefilter(false).build(&texts).ok()).flatten();
        let mut owners: Vec<_> = literals.iter().map(|((_, is_prefix), hooks)| (hooks.clone(), *is_prefix)).collect();
        if automaton.is_none() {
            // The literals are too many or too long for an automaton: try all patterns.
            always.extend(owners.drain(..).flat_map(|(hooks, _)| hooks));
            always.sort_unstable();
        }
        Self {
            all: positions.to_vec(),
            everything,
            by_name,
            patterns: has_patterns.then(|| Box::new(Patterns { literals: automaton, owners, always })),
        }
    }

    /// Returns the hooks whose matchers accept one of the names.
    pub(super) fn select(&self, hooks: &[HookSelector], names: &Names<'_>) -> Candidates<'_> {
        match names {
            Names::Ignored => Candidates::Known(&self.all, &[]),
            Names::Compared { subject, aliased: None } => self.select_name(hooks, subject),
            // Only agents with their own tool names have aliases.
            Names::Compared { subject, aliased: Some(event) } => event
                .tool_aliases()
                .fold(self.select_name(hooks, subject), |found, alias| found.with(&self.select_name(hooks, alias))),
        }
    }

    fn select_name(&self, hooks: &[HookSelector], subject: &str) -> Candidates<'_> {
        match &self.patterns {
            None => Candidates::Known(&self.everything, self.listed(subject)),
            Some(patterns) => self.select_with_patterns(hooks, patterns, subject),
        }
    }

    fn listed(&self, subject: &str) -> &[u32] {
        self.by_name.get(subject).map_or(&[], Vec::as_slice)
    }

    fn select_with_patterns(&self, hooks: &[HookSelector], patterns: &Patterns, subject: &str) -> Candidates<'_> {
        let mut found = patterns.candidates(subject);
        found.retain(|&position| hooks[position as usize].matcher.matches(subject));
        if found.is_empty() {
            return Candidates::Known(&self.everything, self.listed(subject));
        }
        found.extend_from_slice(&self.everything);
        found.extend_from_slice(self.listed(subject));
        found.sort_unstable();
        Candidates::Found(found)
    }
}

impl Patterns {
    /// Returns the hooks whose pattern can match, each once.
    fn candidates(&self, subject: &str) -> Vec<u32> {
        let mut candidates = self.always.clone();
        let Some(literals) = &self.literals else {
            return candidates;
        };
        // A subject can contain a literal many times.
        let mut seen = Vec::new();
        for hit in literals.find_overlapping_iter(subject) {
            let number = hit.pattern().as_usize();
            let (hooks, is_prefix) = &self.owners[number];
            if *is_prefix && hit.start() != 0 {
                continue;
            }
            seen.resize(self.owners.len(), false);
            if !std::mem::replace(&mut seen[number], true) {
                candidates.extend_from_slice(hooks);
            }
        }
        candidates
    }
}
