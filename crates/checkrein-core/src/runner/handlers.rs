//! Handlers of a [`Runner`](super::Runner), by kind of event.
//!
//! Reads must be lock-free: a fire without handlers costs a few nanoseconds. Changes copy the list of one kind.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption, Guard};

use super::{Fire, HandlerError};
use crate::kind::{EventKind, KIND_COUNT};
use crate::opinion::Opinion;
use crate::source::HookInfo;

pub(super) type Handler = Box<dyn Fn(&Fire<'_>) -> Result<Opinion, HandlerError> + Send + Sync>;

/// Number of the next registration, unique across all runners.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Token of a registered handler, returned by [`Runner::on`](super::Runner::on). Removes the handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    kind: EventKind,
    number: u64,
}

/// Registered handler.
pub(super) struct Registered {
    pub(super) info: Arc<HookInfo>,
    pub(super) handler: Handler,
    number: u64,
}

/// Handlers of one kind.
#[derive(Default)]
pub(super) struct Slot {
    /// `true` if a fire has anything to do. A fire without handlers reads only this.
    active: AtomicBool,
    /// Handlers from the builder. They never change, so reading them needs no synchronization.
    fixed: Vec<Arc<Registered>>,
    /// `true` if other handlers have been added.
    has_added: AtomicBool,
    /// Added handlers. A fire keeps the list that it started with; a change creates a new list.
    added: ArcSwapOption<List>,
}

/// Handlers of one kind at the start of a fire.
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

    /// Returns the fixed and the added handlers.
    #[inline]
    pub(super) fn lists(&self) -> [&[Arc<Registered>]; 2] {
        [self.fixed, self.added()]
    }

    /// `true` if dropping this may drop handlers that were removed during the fire.
    #[inline]
    pub(super) fn may_drop_handlers(&self) -> bool {
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
    /// `true` if fires without handlers must run as well, for an observer.
    always_active: bool,
    /// Held while a list is changed. Must never be held while foreign code runs.
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
        let mut was_registered = false;
        self.change(&registration.kind, |handlers| {
            let before = handlers.len();
            handlers.retain(|handler| handler.number != registration.number);
            was_registered = handlers.len() < before;
        });
        was_registered
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
        // Dropping a handler runs foreign code, which may call this function again.
        drop(before);
    }

    /// Returns the slot of a custom kind, and creates it if necessary. The caller must hold the lock.
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
