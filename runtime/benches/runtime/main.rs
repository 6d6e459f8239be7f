//! What the runtime's own parts cost, without a device: `cargo bench -p
//! gangway-runtime`.

mod arrays;
#[path = "../../tests/support/mod.rs"]
mod support;

use arrays::Arrays;
use divan::{Bencher, black_box, counter::ItemsCount};
use gangway_runtime::MapKind;
use gangway_runtime::events::Site;
use gangway_runtime::present::{Counter, NewEntry, PresentTable, Relation, Release};
use gangway_runtime::{DataOperation, Label, Shape};
use support::construct::{Access, ListItem, REGION, World};
use support::null::{Counts, NullBackend};

fn main() {
    divan::main();
}

/// Host addresses like those of many arrays on a heap.
fn host(number: usize) -> usize {
    0x7f00_0000_0000 + number * 4096
}

fn entry(number: usize) -> NewEntry {
    NewEntry {
        host_begin: host(number),
        size: 4000,
        host_base: host(number),
        label: Label::NONE,
        counter: Counter::Dynamic,
        associated: None,
    }
}

fn table(entries: usize) -> PresentTable {
    let table = PresentTable::new();
    for number in 0..entries {
        table.insert(&entry(number)).unwrap();
    }
    table
}

/// A hit, at a place that is not the last one's.
#[divan::bench(args = [1, 10, 1000, 100_000])]
fn lookup(bencher: Bencher<'_, '_>, entries: usize) {
    let table = table(entries);
    let mut number = 0;
    bencher.counter(ItemsCount::new(1usize)).bench_local(|| {
        number = (number + 7919) % entries;
        assert!(matches!(table.lookup(black_box(host(number) + 8), 16), Relation::Contained(_)));
    });
}

#[divan::bench(args = [1, 10, 1000, 100_000])]
fn insert_and_remove(bencher: Bencher<'_, '_>, entries: usize) {
    let table = table(entries);
    let new = entry(entries);
    bencher.bench_local(|| {
        let entry = table.insert(black_box(&new)).unwrap();
        assert!(matches!(entry.release(Counter::Dynamic, false, false), Some((_, Release::Last))));
        table.finish_unmapping(entry).removed().unwrap();
    });
}

#[divan::bench(threads = [1, 2])]
fn acquire_and_release(bencher: Bencher<'_, '_>) {
    let table = table(10);
    bencher.bench(|| {
        let Relation::Contained(entry) = table.lookup(black_box(host(3)), 8) else { unreachable!() };
        let _ = black_box(entry.acquire(Counter::Dynamic));
        black_box(entry.release(Counter::Dynamic, false, false))
    });
}

/// The whole launch path over a back end that does nothing.
#[divan::bench(args = [0, 1, 5, 10])]
fn launch_with_present_arguments(bencher: Bencher<'_, '_>, arguments: usize) {
    let world = null_world();
    let memory = vec![[0u8; 64]; arguments];
    let items = items(&memory);
    world.data(DataOperation::Begin, &items).unwrap();
    let arrays = Arrays::of(&items);
    bencher.bench_local(|| run(&world, &arrays));
}

/// Two threads, each with arguments of its own.
#[divan::bench(threads = [1, 2])]
fn launch_on_threads(bencher: Bencher<'_, '_>) {
    let world = null_world();
    bencher
        .with_inputs(|| {
            let memory = vec![[0u8; 64]; 5];
            let items = items(&memory);
            world.data(DataOperation::Begin, &items).unwrap();
            (Arrays::of(&items), items, memory)
        })
        .bench_refs(|(arrays, ..)| {
            for _ in 0..100 {
                run(&world, arrays);
            }
        });
}

/// A fresh small map: allocation, two copies, deallocation.
#[divan::bench(threads = [1, 2])]
fn launch_with_a_fresh_map(bencher: Bencher<'_, '_>) {
    let world = null_world();
    bencher
        .with_inputs(|| {
            let memory = vec![[0u8; 64]; 1];
            (Arrays::of(&items(&memory)), memory)
        })
        .bench_refs(|(arrays, _)| {
            for _ in 0..100 {
                run(&world, arrays);
            }
        });
}

fn null_world() -> World {
    static COUNTS: Counts = Counts::new();
    World::with(Box::new(NullBackend(&COUNTS)))
}

fn items(memory: &[[u8; 64]]) -> Vec<ListItem> {
    let item = |array: &[u8; 64]| {
        ListItem::section(array.as_ptr().addr(), 64, MapKind::TO | MapKind::FROM).parameter(Access::None)
    };
    memory.iter().map(item).collect()
}

fn run(world: &World, arrays: &Arrays) {
    let job = world.runtime.run(world.device, Site::NONE, REGION, &arrays.items(), &Shape::default());
    job.unwrap().complete().unwrap();
}
