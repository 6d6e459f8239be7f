//! Regions that are under way at the same time and map the same variable: what each of them has written is
//! there when all are done (OpenMP 6.0 section 7.9.6: whoever ends last copies back).

mod support;

use gangway_runtime::events::Site;
use gangway_runtime::{DataOperation, Job, MapKind, Shape};
use std::cell::Cell;
use std::sync::mpsc;
use support::construct::{Access, Interrupted, List, ListItem, REGION, World};
use support::device::{Call, Options, Timing};
use support::within;

const BOTH: MapKind = MapKind::TO.with(MapKind::FROM);

/// Small enough to be packed, and not.
const SIZES: [usize; 2] = [48, 100_000];

/// All of it, which the region adds one to.
fn increment(memory: &[u8]) -> ListItem {
    ListItem::section(memory.as_ptr().addr(), memory.len(), BOTH).parameter(Access::Increment)
}

/// The same as several items that share an entry.
fn in_halves(memory: &[u8]) -> Vec<ListItem> {
    let half = memory.len() / 2;
    let section = |part: &[u8], kind| ListItem::section(part.as_ptr().addr(), part.len(), kind);
    let whole = section(memory, MapKind::ALLOC).parameter(Access::Increment);
    vec![whole, section(&memory[..half], BOTH), section(&memory[half..], BOTH)]
}

fn asynchronous() -> impl Iterator<Item = Options> {
    Options::ALL.into_iter().filter(|options| options.timing != Timing::Synchronous)
}

/// Ends two regions, of which the second was issued between the first one's kernel and its end, or behind it.
#[test]
fn two_regions_end_in_either_order() {
    for options in asynchronous() {
        for (size, inside, first_ends_first, halves) in SIZES
            .into_iter()
            .flat_map(|size| (0..8).map(move |bits| (size, bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)))
        {
            let (world, mock) = World::mock(options);
            let world: &'static World = Box::leak(Box::new(world));
            let memory: &'static [u8] = vec![1; size].leak();
            let items = move || if halves { in_halves(memory) } else { vec![increment(memory)] };
            let (send, issued) = mpsc::channel::<Box<Job>>();
            let second = move || send.send(world.issue(&items()).unwrap()).unwrap();
            let first = if inside {
                // Both have references then, and the first one gives up the last.
                mock.before(Call::Launch, second);
                world.issue(&items()).unwrap()
            } else {
                let first = world.issue(&items()).unwrap();
                second();
                first
            };
            let second = issued.recv().unwrap();
            let order = if first_ends_first { [first, second] } else { [second, first] };
            order.into_iter().for_each(|job| job.complete().unwrap());
            let what = format!("{options:?}, {size} bytes, {inside}, {first_ends_first}, {halves}");
            assert!(memory.iter().all(|&byte| byte == 3), "{what}: {:?}", &memory[..8]);
            assert_eq!(world.mapped(), [], "{what}");
            mock.assert_all_freed();
        }
    }
}

/// A region whose data others keep is not in the way of the copy at their end.
#[test]
fn the_end_of_data_under_a_region() {
    for options in asynchronous() {
        for size in SIZES {
            let (world, mock) = World::mock(options);
            let memory = vec![1; size];
            let kept = ListItem::section(memory.as_ptr().addr(), size, BOTH);
            world.data(DataOperation::Begin, &[kept]).unwrap();
            let region = world.issue(&[increment(&memory)]).unwrap();
            world.data(DataOperation::End, &[kept]).unwrap();
            region.complete().unwrap();
            assert_eq!(memory, vec![2; size], "{options:?}");
            assert_eq!(world.mapped(), [], "{options:?}");
            mock.assert_all_freed();
        }
    }
}

/// More regions under way than an entry counts uses of, when the data that they use is given up: what they
/// write is not lost either.
#[test]
fn more_regions_than_can_be_counted() {
    const REGIONS: usize = 1100;
    for options in asynchronous() {
        for kept in [false, true] {
            let (world, mock) = World::mock(options);
            let memory = vec![1_u8; 48];
            let data = [ListItem::section(memory.as_ptr().addr(), memory.len(), BOTH)];
            if kept {
                world.data(DataOperation::Begin, &data).unwrap();
            }
            let jobs: Vec<_> = (0..REGIONS).map(|_| world.issue(&[increment(&memory)]).unwrap()).collect();
            if kept {
                world.data(DataOperation::End, &data).unwrap();
            }
            jobs.into_iter().for_each(|job| job.complete().unwrap());
            assert_eq!(memory, vec![1_u8.wrapping_add(REGIONS as u8); 48], "{options:?}, {kept}");
            assert_eq!(world.mapped(), [], "{options:?}");
            mock.assert_all_freed();
        }
    }
}

/// What another construct maps, changes and unmaps while one looks at its items is not lost, whenever it does,
/// until the first of them is mapped: from then on others wait.
#[test]
fn a_region_while_another_one_begins() {
    for options in asynchronous() {
        let mut steps = 0;
        for when in 1.. {
            let (world, mock) = World::mock(options);
            let arrays = [[1_u8; 48], [1; 48], [1; 48]];
            let items: Vec<_> = arrays.iter().map(|array| increment(array)).collect();
            let acted = Cell::new(false);
            let act = || {
                if world.device.table.is_empty() {
                    acted.set(true);
                    world.launch(&items).unwrap();
                }
            };
            let list = Interrupted::new(List::of(&items, true), when, act);
            let job = world.runtime.run(world.device, Site::NONE, REGION, &list, &Shape::default());
            job.unwrap().complete().unwrap();
            assert_eq!(world.mapped(), []);
            mock.assert_all_freed();
            assert_eq!(arrays, [[if acted.get() { 3 } else { 2 }; 48]; 3], "{options:?}, step {when}");
            if !acted.get() {
                break;
            }
            steps += 1;
        }
        assert!(steps > 0, "{options:?}");
    }
}

/// Nothing is lost that threads do at the same time.
#[test]
fn threads_update_one_variable() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 400;
    within(120, || {
        for options in asynchronous().filter(|options| options.timing == Timing::Worker) {
            for size in SIZES {
                let (world, mock) = World::mock(options);
                let memory = vec![1; size];
                std::thread::scope(|scope| {
                    for _ in 0..THREADS {
                        scope.spawn(|| {
                            for _ in 0..ROUNDS {
                                world.launch(&[increment(&memory)]).unwrap();
                            }
                        });
                    }
                });
                assert_eq!(memory, vec![1_u8.wrapping_add((THREADS * ROUNDS) as u8); size], "{options:?}");
                assert_eq!(world.mapped(), [], "{options:?}");
                mock.assert_all_freed();
            }
        }
    });
}
