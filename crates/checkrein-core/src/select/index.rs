//! The index of one kind's hooks.
//!
//! A name that hooks list by itself is found by hashing. Of patterns, only those run whose needle, a text that every
//! match must have, stands in the subject: one pass of an automaton over the subject finds all needles at once. What
//! came out is remembered by name, since an agent uses the same few tools all day.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aho_corasick::AhoCorasick;
use arc_swap::{ArcSwapOption, Guard};
use foldhash::fast::FixedState;

use crate::event::Event;
use crate::hook::Hook;
use crate::matcher::Shape;

/// How many subjects are remembered per kind. A power of two.
const REMEMBERED: usize = 64;

/// Longer subjects are not remembered: no tool has such a name, and memory stays bounded.
const LONGEST_REMEMBERED: usize = 256;

/// Positions of hooks, in config order.
type Positions = Arc<[u32]>;

#[derive(Debug)]
pub(super) struct KindIndex {
    /// All hooks of the kind, for events without a subject.
    all: Positions,
    /// Those whose matcher fits everything.
    everything: Listed,
    /// For each name that a hook lists: those hooks and the ones that fit everything.
    by_name: HashMap<String, Listed, FixedState>,
    patterns: Option<Patterns>,
}

/// Hooks that need no pattern to be found.
#[derive(Debug)]
struct Listed {
    /// With duplicates: which of them go depends on what else is found.
    raw: Vec<u32>,
    distinct: Positions,
}

#[derive(Debug)]
struct Patterns {
    needles: Option<AhoCorasick>,
    /// By the automaton's number: the hook, and whether the needle must come first.
    owners: Vec<(u32, bool)>,
    /// Patterns without a needle.
    always: Vec<u32>,
    memory: Memory,
}

/// What was chosen.
pub(super) enum Chosen<'a> {
    Known(&'a [u32]),
    Remembered(Guard<Option<Arc<Remembered>>>),
    Found(Positions),
}

impl Chosen<'_> {
    pub(super) fn as_slice(&self) -> &[u32] {
        match self {
            Self::Known(positions) => positions,
            Self::Remembered(guard) => guard.as_ref().map_or(&[], |remembered| &remembered.chosen),
            Self::Found(positions) => positions,
        }
    }
}

impl std::fmt::Debug for Chosen<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl KindIndex {
    pub(super) fn new(hooks: &[Hook], positions: &[u32]) -> Self {
        let mut everything = Vec::new();
        let mut names: HashMap<&str, Vec<u32>> = HashMap::new();
        let mut needles = Vec::new();
        let mut owners = Vec::new();
        let mut always = Vec::new();
        for &position in positions {
            match hooks[position as usize].matcher.shape() {
                Shape::Everything => everything.push(position),
                Shape::Names(listed) => {
                    for name in listed {
                        names.entry(name).or_default().push(position);
                    }
                }
                Shape::Pattern(needle) if needle.text.is_empty() => always.push(position),
                Shape::Pattern(needle) => {
                    needles.push(needle.text.as_str());
                    owners.push((position, needle.leads));
                }
            }
        }
        let by_name = names
            .into_iter()
            .map(|(name, listed)| (name.to_owned(), Listed::new(hooks, [&listed[..], &everything].concat())))
            .collect();
        let has_patterns = !needles.is_empty() || !always.is_empty();
        // Subjects are short: what is done to skip fast through long ones costs more than it saves.
        let needles = AhoCorasick::builder().prefilter(false).build(&needles).ok();
        if needles.is_none() {
            // Too many or too long for an automaton: then they are all tried.
            always.extend(owners.drain(..).map(|(position, _)| position));
        }
        Self {
            all: distinct(hooks, positions),
            everything: Listed::new(hooks, everything),
            by_name,
            patterns: has_patterns.then(|| Patterns { needles, owners, always, memory: Memory::default() }),
        }
    }

    /// For an event. One that lacks its subject has an empty one; a kind that has none ignores matchers.
    pub(super) fn select_for(&self, hooks: &[Hook], event: &Event) -> Chosen<'_> {
        let subject = match event.subject() {
            Some(subject) => Some(subject),
            None => event.payload.contract().matched_on.as_ref().map(|_| Cow::Borrowed("")),
        };
        self.select(hooks, subject.as_deref())
    }

    /// For a subject; without one, matchers do not count.
    pub(super) fn select(&self, hooks: &[Hook], subject: Option<&str>) -> Chosen<'_> {
        let Some(subject) = subject else {
            return Chosen::Known(&self.all);
        };
        match &self.patterns {
            None => Chosen::Known(&self.listed(subject).distinct),
            Some(patterns) => {
                let look = || self.look(hooks, patterns, subject);
                patterns.memory.recall(subject, look)
            }
        }
    }

    fn listed(&self, subject: &str) -> &Listed {
        self.by_name.get(subject).unwrap_or(&self.everything)
    }

    fn look(&self, hooks: &[Hook], patterns: &Patterns, subject: &str) -> Positions {
        let listed = self.listed(subject);
        let mut found = patterns.candidates(subject);
        found.retain(|&position| hooks[position as usize].matcher.matches(subject));
        if found.is_empty() {
            return Arc::clone(&listed.distinct);
        }
        found.extend_from_slice(&listed.raw);
        Arc::clone(&Listed::new(hooks, found).distinct)
    }
}

impl Listed {
    fn new(hooks: &[Hook], mut raw: Vec<u32>) -> Self {
        raw.sort_unstable();
        raw.dedup();
        let distinct = distinct(hooks, &raw);
        Self { raw, distinct }
    }
}

/// The hooks without those that are the same as one before them.
fn distinct(hooks: &[Hook], positions: &[u32]) -> Positions {
    let mut seen = HashSet::new();
    positions
        .iter()
        .copied()
        .filter(|&position| match hooks[position as usize].identity.as_deref() {
            None => true,
            Some(identity) => seen.insert(identity),
        })
        .collect()
}

impl Patterns {
    /// The hooks whose pattern may fit.
    fn candidates(&self, subject: &str) -> Vec<u32> {
        let mut candidates = self.always.clone();
        if let Some(needles) = &self.needles {
            let hits = needles.find_overlapping_iter(subject).filter_map(|hit| {
                let (position, leads) = self.owners[hit.pattern().as_usize()];
                (!leads || hit.start() == 0).then_some(position)
            });
            candidates.extend(hits);
        }
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }
}

/// What came out for the subjects of late. Readers never wait; a subject that takes another's place makes it
/// forgotten.
struct Memory {
    places: [Place; REMEMBERED],
    hasher: FixedState,
}

struct Place {
    remembered: ArcSwapOption<Remembered>,
    /// The hash of the subject that came here last. Remembering costs more than looking, so only what comes twice is
    /// remembered.
    last: AtomicU64,
}

pub(super) struct Remembered {
    subject: Box<str>,
    chosen: Positions,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            places: std::array::from_fn(|_| Place {
                remembered: ArcSwapOption::const_empty(),
                last: AtomicU64::new(0),
            }),
            hasher: FixedState::default(),
        }
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memory")
    }
}

impl Memory {
    fn recall(&self, subject: &str, look: impl FnOnce() -> Positions) -> Chosen<'static> {
        if subject.len() > LONGEST_REMEMBERED {
            return Chosen::Found(look());
        }
        let hash = self.hasher.hash_one(subject);
        let place = &self.places[hash as usize % REMEMBERED];
        let guard = place.remembered.load();
        if guard.as_ref().is_some_and(|remembered| *remembered.subject == *subject) {
            return Chosen::Remembered(guard);
        }
        let chosen = look();
        if place.last.swap(hash, Ordering::Relaxed) == hash {
            place.remembered.store(Some(Arc::new(Remembered { subject: subject.into(), chosen: Arc::clone(&chosen) })));
        }
        Chosen::Found(chosen)
    }
}
