//! The index of one kind's hooks.
//!
//! A name that hooks list by itself is found by hashing. Of patterns, only those run whose needle, a text that every
//! match must have, stands in the subject: one pass of an automaton over the subject finds all needles at once.

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
    /// Those whose matcher fits everything.
    everything: Vec<u32>,
    /// Those that list a name, by that name.
    by_name: HashMap<String, Vec<u32>, FixedState>,
    /// Apart, since most kinds have none and this is large.
    patterns: Option<Box<Patterns>>,
}

#[derive(Debug)]
struct Patterns {
    needles: Option<AhoCorasick>,
    /// By the automaton's number: the hooks with that needle, and whether it must come first.
    owners: Vec<(Vec<u32>, bool)>,
    /// Patterns without a needle.
    always: Vec<u32>,
}

/// The hooks that match, as positions in config order.
pub(super) enum Candidates<'a> {
    /// Two lists that have no hook in common.
    Known(&'a [u32], &'a [u32]),
    Found(Vec<u32>),
}

impl Candidates<'_> {
    /// Both in one.
    pub(super) fn with(&self, other: &Self) -> Self {
        let mut found: Vec<u32> = Vec::new();
        for chosen in [self, other] {
            let (one, more) = chosen.lists();
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
        let mut needles: HashMap<(&str, bool), Vec<u32>> = HashMap::new();
        let mut always = Vec::new();
        for &position in positions {
            match hooks[position as usize].matcher.shape() {
                MatcherKind::Everything => everything.push(position),
                MatcherKind::Names(listed) => {
                    for name in listed {
                        let hooks = by_name.entry(name.clone()).or_default();
                        // A name listed twice is still one hook.
                        if hooks.last() != Some(&position) {
                            hooks.push(position);
                        }
                    }
                }
                MatcherKind::Pattern(needle) if needle.text.is_empty() => always.push(position),
                MatcherKind::Pattern(needle) => {
                    needles.entry((&needle.text, needle.leads)).or_default().push(position);
                }
            }
        }
        let has_patterns = !needles.is_empty() || !always.is_empty();
        let texts: Vec<&str> = needles.keys().map(|(text, _)| *text).collect();
        // Subjects are short: what is done to skip fast through long ones costs more than it saves.
        let automaton =
            (!texts.is_empty()).then(|| AhoCorasick::builder().prefilter(false).build(&texts).ok()).flatten();
        let mut owners: Vec<_> = needles.iter().map(|((_, leads), hooks)| (hooks.clone(), *leads)).collect();
        if automaton.is_none() {
            // Too many or too long for an automaton: then they are all tried.
            always.extend(owners.drain(..).flat_map(|(hooks, _)| hooks));
            always.sort_unstable();
        }
        Self {
            all: positions.to_vec(),
            everything,
            by_name,
            patterns: has_patterns.then(|| Box::new(Patterns { needles: automaton, owners, always })),
        }
    }

    /// The hooks whose matchers accept one of the names.
    pub(super) fn select(&self, hooks: &[HookSelector], names: &Names<'_>) -> Candidates<'_> {
        match names {
            Names::Ignored => Candidates::Known(&self.all, &[]),
            Names::Compared { subject, aliases: [] } => self.select_name(hooks, subject),
            // Only agents with names of their own come here.
            Names::Compared { subject, aliases } => aliases
                .iter()
                .fold(self.select_name(hooks, subject), |chosen, alias| chosen.with(&self.select_name(hooks, alias))),
        }
    }

    fn select_name(&self, hooks: &[HookSelector], subject: &str) -> Candidates<'_> {
        match &self.patterns {
            None => Candidates::Known(&self.everything, self.listed(subject)),
            Some(patterns) => self.look(hooks, patterns, subject),
        }
    }

    fn listed(&self, subject: &str) -> &[u32] {
        self.by_name.get(subject).map_or(&[], Vec::as_slice)
    }

    fn look(&self, hooks: &[HookSelector], patterns: &Patterns, subject: &str) -> Candidates<'_> {
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
    /// The hooks whose pattern may fit, each once.
    fn candidates(&self, subject: &str) -> Vec<u32> {
        let mut candidates = self.always.clone();
        let Some(needles) = &self.needles else {
            return candidates;
        };
        // A long subject may have a needle many times over.
        let mut seen = Vec::new();
        for hit in needles.find_overlapping_iter(subject) {
            let number = hit.pattern().as_usize();
            let (hooks, leads) = &self.owners[number];
            if *leads && hit.start() != 0 {
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
