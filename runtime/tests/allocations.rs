//! What a launch costs: with its arguments present it allocates nothing, and
//! asks the back end for nothing but the launch.

mod support;

use gangway_runtime::MapKind;
use gangway_runtime::events::Site;
use gangway_runtime::{DataOperation, Shape};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::construct::{Access, List, ListItem, REGION, World};
use support::null::{Counts, NullBackend, NullStreams};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no counter any more.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: all is the system allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Launches with these items; answers the allocations it took.
fn launch(world: &World, list: &List) -> usize {
    let before = ALLOCATIONS.get();
    let job = world.runtime.run(world.device, Site::NONE, REGION, list, &Shape::default());
    job.unwrap().complete().unwrap();
    ALLOCATIONS.get() - before
}

/// `count` present arrays, a third of them by an interior section, and as many
/// first-private values as arrays.
fn items(memory: &[[u8; 64]], count: usize) -> Vec<ListItem> {
    let mut items = Vec::new();
    for (number, array) in memory.iter().take(count).enumerate() {
        let begin = array.as_ptr().addr();
        let item = match number % 3 {
            0 => ListItem::section(begin, 64, MapKind::TO | MapKind::FROM),
            1 => ListItem { base: begin, ..ListItem::section(begin + 16, 8, MapKind::TO) },
            _ => ListItem::section(begin, 0, MapKind::IMPLICIT),
        };
        items.push(item.parameter(Access::Check));
        items.push(ListItem::section(begin, 16, MapKind::PRIVATE | MapKind::TO).parameter(Access::None));
    }
    items
}

#[test]
fn launches_with_present_arguments_allocate_nothing() {
    static COUNTS: Counts = Counts::new();
    let world = World::with(Box::new(NullBackend(&COUNTS)));
    let memory = vec![[0u8; 64]; 100];
    let all: Vec<_> =
        memory.iter().map(|array| ListItem::section(array.as_ptr().addr(), 64, MapKind::TO)).collect();
    world.data(DataOperation::Begin, &all).unwrap();
    // The largest one once: it makes the thread's room.
    launch(&world, &List::of(&items(&memory, 100), true));
    for count in 0..=100 {
        let list = List::of(&items(&memory, count), true);
        let before = COUNTS.all();
        assert_eq!(launch(&world, &list), 0, "{count} arguments");
        let [allocations, deallocations, copies, launches] = before;
        assert_eq!(COUNTS.all(), [allocations, deallocations, copies, launches + 1], "{count} arguments");
    }
    world.data(DataOperation::End, &all).unwrap();
    assert_eq!(world.mapped(), []);
}

#[test]
fn other_threads_allocate_nothing_either() {
    static COUNTS: Counts = Counts::new();
    let world = World::with(Box::new(NullBackend(&COUNTS)));
    let memory = vec![[0u8; 64]; 30];
    let all: Vec<_> =
        memory.iter().map(|array| ListItem::section(array.as_ptr().addr(), 64, MapKind::TO)).collect();
    world.data(DataOperation::Begin, &all).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let list = List::of(&items(&memory, 30), true);
                launch(&world, &list);
                let allocations: usize = (0..500).map(|_| launch(&world, &list)).sum();
                assert_eq!(allocations, 0);
            });
        }
    });
}

/// A fresh map: one allocation, one copy each way, one deallocation; nothing on
/// the host's heap once the table has room.
#[test]
fn fresh_maps_ask_for_what_they_need() {
    static COUNTS: Counts = Counts::new();
    let world = World::with(Box::new(NullBackend(&COUNTS)));
    let memory = [0u8; 64];
    let item =
        ListItem::section(memory.as_ptr().addr(), 64, MapKind::TO | MapKind::FROM).parameter(Access::Check);
    let list = List::of(&[item], true);
    for _ in 0..100 {
        launch(&world, &list);
    }
    let [allocations, deallocations, copies, launches] = COUNTS.all();
    assert_eq!(launch(&world, &list), 0);
    assert_eq!(COUNTS.all(), [allocations + 1, deallocations + 1, copies + 2, launches + 1]);
}

/// Asynchronous devices: small data is packed in memory that the job keeps, its block and
/// its event are kept for later.
#[test]
fn packed_data_allocates_nothing_either() {
    static COUNTS: Counts = Counts::new();
    let world = World::with(Box::new(NullStreams(&COUNTS)));
    let (fresh, private) = ([[0u8; 64]; 5], [[0u8; 40]; 3]);
    let both = MapKind::TO | MapKind::FROM;
    let mut items: Vec<_> =
        fresh.iter().map(|array| ListItem::section(array.as_ptr().addr(), 64, both)).collect();
    let value =
        |value: &[u8; 40]| ListItem::section(value.as_ptr().addr(), 40, MapKind::PRIVATE | MapKind::TO);
    items.extend(private.iter().map(value));
    let items: Vec<_> = items.into_iter().map(|item| item.parameter(Access::Check)).collect();
    let list = List::of(&items, true);
    for _ in 0..100 {
        launch(&world, &list);
    }
    let [allocations, deallocations, copies, launches] = COUNTS.all();
    assert_eq!(launch(&world, &list), 0);
    assert_eq!(COUNTS.all(), [allocations, deallocations, copies + 2, launches + 1]);
}
