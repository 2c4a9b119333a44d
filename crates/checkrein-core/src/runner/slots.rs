//! Who is called for which kind.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption};

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

/// The handlers of one kind. A fire takes the list as it is and keeps it; a change makes a new list.
#[derive(Default)]
pub(super) struct Slot {
    /// Whether there is anything to do: the one thing that a fire without handlers reads.
    active: AtomicBool,
    pub(super) handlers: ArcSwapOption<Vec<Arc<Registered>>>,
}

impl Slot {
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.active.load(Ordering::Acquire)
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
    pub(super) fn new(always_active: bool) -> Self {
        let named: [Slot; KIND_COUNT] = std::array::from_fn(|_| Slot::default());
        for slot in &named {
            slot.active.store(always_active, Ordering::Release);
        }
        Self { named, custom: ArcSwap::default(), always_active, changing: Mutex::new(()) }
    }

    #[inline]
    pub(super) fn named(&self, index: usize) -> &Slot {
        &self.named[index]
    }

    pub(super) fn custom(&self, name: &str) -> Option<Arc<Slot>> {
        self.custom.load().get(name).cloned()
    }

    pub(super) fn count(&self) -> usize {
        let count = |slot: &Slot| slot.handlers.load().as_ref().map_or(0, |handlers| handlers.len());
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
        let mut handlers = slot.handlers.load().as_deref().cloned().unwrap_or_default();
        change(&mut handlers);
        let active = self.always_active || !handlers.is_empty();
        let before = slot.handlers.swap(Some(Arc::new(handlers)));
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
