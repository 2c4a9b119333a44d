//! Who is called for which kind.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption, Guard};

use super::{Fire, HandlerError};
use crate::kind::{EventKind, KIND_COUNT};
use crate::opinion::Opinion;
use crate::source::HookInfo;

pub(super) type Handler = Box<dyn Fn(&Fire<'_>) -> Result<Opinion, HandlerError> + Send + Sync>;

/// Each registration has a number of its own, whichever runner it is for.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// What [`Runner::on`](super::Runner::on) gives back, to take the handler out again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    kind: EventKind,
    number: u64,
}

/// A handler and what it is called.
pub(super) struct Registered {
    pub(super) info: Arc<HookInfo>,
    pub(super) handler: Handler,
    number: u64,
}

/// The handlers of one kind.
#[derive(Default)]
pub(super) struct Slot {
    /// Whether there is anything to do: the one thing that a fire without handlers reads.
    active: AtomicBool,
    /// Those that the runner was built with. They never change, so reading them needs no care.
    fixed: Vec<Arc<Registered>>,
    /// Whether others have been added.
    has_added: AtomicBool,
    /// The others. A fire takes the list as it is and keeps it; a change makes a new list.
    added: ArcSwapOption<List>,
}

/// The handlers of one kind, as they were when a fire began.
pub(super) struct Handlers<'a> {
    fixed: &'a [Arc<Registered>],
    added: Option<Guard<Option<Arc<List>>>>,
}

type List = Vec<Arc<Registered>>;

impl Slot {
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }

    #[inline]
    pub(super) fn handlers(&self) -> Handlers<'_> {
        Handlers { fixed: &self.fixed, added: self.has_added.load(Ordering::Acquire).then(|| self.added.load()) }
    }
}

impl Handlers<'_> {
    #[inline]
    pub(super) fn get(&self, position: usize) -> Option<&Registered> {
        match self.fixed.get(position) {
            Some(fixed) => Some(fixed),
            None => self.added().get(position - self.fixed.len()).map(|added| &**added),
        }
    }

    /// The two lists that they are in.
    #[inline]
    pub(super) fn lists(&self) -> [&[Arc<Registered>]; 2] {
        [self.fixed, self.added()]
    }

    /// Whether handlers may go with this: those that were taken out since.
    #[inline]
    pub(super) fn holds_others(&self) -> bool {
        self.added.is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.fixed.len() + self.added().len()
    }

    #[inline]
    fn added(&self) -> &[Arc<Registered>] {
        match &self.added {
            Some(list) => list.as_ref().map_or(&[], |list| list.as_slice()),
            None => &[],
        }
    }
}

pub(super) struct Slots {
    named: [Slot; KIND_COUNT],
    custom: ArcSwap<HashMap<String, Arc<Slot>>>,
    /// Fires that call nothing must be seen through as well.
    always_active: bool,
    /// Held while a list is changed. Never held while foreign code runs.
    changing: Mutex<()>,
}

impl Slots {
    pub(super) fn new(always_active: bool, fixed: Vec<(EventKind, Arc<HookInfo>, Handler)>) -> Self {
        let mut named: [Slot; KIND_COUNT] = std::array::from_fn(|_| Slot::default());
        let mut custom: HashMap<String, Slot> = HashMap::new();
        for (kind, info, handler) in fixed {
            let slot = match kind.index() {
                Some(index) => &mut named[index],
                None => custom.entry(kind.name().to_owned()).or_default(),
            };
            let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
            slot.fixed.push(Arc::new(Registered { info, handler, number }));
        }
        for slot in named.iter().chain(custom.values()) {
            slot.active.store(always_active || !slot.fixed.is_empty(), Ordering::Release);
        }
        let custom = custom.into_iter().map(|(name, slot)| (name, Arc::new(slot))).collect::<HashMap<_, _>>();
        Self { named, custom: ArcSwap::from_pointee(custom), always_active, changing: Mutex::new(()) }
    }

    #[inline]
    pub(super) fn named(&self, index: usize) -> &Slot {
        &self.named[index]
    }

    pub(super) fn custom(&self, name: &str) -> Option<Arc<Slot>> {
        self.custom.load().get(name).cloned()
    }

    pub(super) fn count(&self) -> usize {
        let count = |slot: &Slot| slot.handlers().len();
        let custom: usize = self.custom.load().values().map(|slot| count(slot)).sum();
        self.named.iter().map(count).sum::<usize>() + custom
    }

    pub(super) fn register(&self, kind: EventKind, info: Arc<HookInfo>, handler: Handler) -> Registration {
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let registered = Arc::new(Registered { info, handler, number });
        self.change(&kind, |handlers| handlers.push(registered));
        Registration { kind, number }
    }

    pub(super) fn remove(&self, registration: &Registration) -> bool {
        if registration.kind.index().is_none() && self.custom(registration.kind.name()).is_none() {
            return false;
        }
        let mut was_there = false;
        self.change(&registration.kind, |handlers| {
            let before = handlers.len();
            handlers.retain(|handler| handler.number != registration.number);
            was_there = handlers.len() < before;
        });
        was_there
    }

    fn change(&self, kind: &EventKind, change: impl FnOnce(&mut Vec<Arc<Registered>>)) {
        let lock = self.lock();
        let custom;
        let slot = match kind.index() {
            Some(index) => &self.named[index],
            None => {
                custom = self.custom_slot(kind.name());
                &*custom
            }
        };
        let mut handlers = slot.added.load().as_deref().cloned().unwrap_or_default();
        change(&mut handlers);
        let has_added = !handlers.is_empty();
        let active = self.always_active || has_added || !slot.fixed.is_empty();
        let before = slot.added.swap(Some(Arc::new(handlers)));
        slot.has_added.store(has_added, Ordering::Release);
        slot.active.store(active, Ordering::Release);
        drop(lock);
        // Dropping a handler runs foreign code, which may come back here.
        drop(before);
    }

    /// The caller holds the lock.
    fn custom_slot(&self, name: &str) -> Arc<Slot> {
        let custom = self.custom.load();
        if let Some(slot) = custom.get(name) {
            return Arc::clone(slot);
        }
        let slot = Arc::new(Slot::default());
        let mut more = HashMap::clone(&custom);
        more.insert(name.to_owned(), Arc::clone(&slot));
        self.custom.store(Arc::new(more));
        slot
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
