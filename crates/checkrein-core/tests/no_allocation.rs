//! Checks that code on the path of every tool call does not allocate.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use checkrein_core::payload::{Stop, ToolCall};
use checkrein_core::{
    Event, EventKind, Grammar, HookInfo, HookSelector, HookSet, Matcher, Opinion, RawJson, Runner, Source,
};

/// Allocator that counts the allocations of the current thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all calls are forwarded to the system's allocator; counting uses only a thread-local without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller upholds the contract, which is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(mut work: impl FnMut()) -> usize {
    // The first call initializes lazy values, which are not counted.
    work();
    let before = ALLOCATIONS.with(Cell::get);
    for _ in 0..10 {
        work();
    }
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn the_allocator_counts_allocations() {
    assert_eq!(allocations(|| drop(Box::new(1))), 10);
}

#[test]
fn a_fire_without_handlers_allocates_nothing() {
    let runner = Runner::new();
    let event = Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()));
    assert_eq!(allocations(|| drop(runner.fire(&event))), 0);
    assert_eq!(allocations(|| drop(runner.fire_with(&EventKind::Stop, || unreachable!()))), 0);
    runner.on(EventKind::Stop, "other kind", |_| Opinion::none());
    assert_eq!(allocations(|| drop(runner.fire(&event))), 0);
}

#[test]
fn handlers_without_an_opinion_allocate_nothing() {
    for handlers in [1, 10, 100] {
        let runner = Runner::new();
        for _ in 0..handlers {
            runner.on(EventKind::Stop, "h", |_| Opinion::none());
        }
        let event = Event::stop(Stop::new());
        assert_eq!(allocations(|| drop(runner.fire(&event))), 0, "{handlers}");
    }
}

#[test]
fn selection_by_name_or_without_a_match_allocates_nothing() {
    for grammar in [Grammar::EXACT, Grammar::REGEX_WHOLE] {
        let hooks = (0..1000)
            .map(|n| {
                let matcher = Matcher::compile(&grammar, Some(&format!("tool_{n}"))).unwrap();
                HookSelector::for_kind(HookInfo::new("h", Source::here()), EventKind::PreToolUse).matching(matcher)
            })
            .collect();
        let set = HookSet::new(hooks);
        for (name, expected) in [("tool_7", 1), ("Bash", 0)] {
            // Patterns that match are collected in a list.
            if grammar == Grammar::REGEX_WHOLE && expected > 0 {
                continue;
            }
            let event = Event::pre_tool_use(ToolCall::new(name, RawJson::default()));
            let count = allocations(|| assert_eq!(set.select(&event).count(), expected));
            assert_eq!(count, 0, "{name}");
        }
    }
}
