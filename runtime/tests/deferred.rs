//! A region's own small data, of which no entries are made unless somebody asks for them: what
//! others do with it at each of the region's steps.

mod support;

use gangway_runtime::present::Relation;
use gangway_runtime::{DataOperation, ErrorKind, MapKind};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use support::construct::{Access, EXPECTED, ListItem, World};
use support::device::{Call, Mock, Options};
use support::within;

const BOTH: MapKind = MapKind::TO.with(MapKind::FROM);
const ARRAYS: usize = 8;
const SIZE: usize = 64;

/// Before the region has published its data, when it has, when its kernel runs, and when it has
/// given its references up.
const STEPS: [Call; 4] = [Call::ToDevice, Call::Launch, Call::FromDevice, Call::Synchronize];

type Arrays = [[u8; SIZE]; ARRAYS];

fn section(memory: &[u8], kind: MapKind) -> ListItem {
    ListItem::section(memory.as_ptr().addr(), memory.len(), kind)
}

/// A region that checks all arrays and copies them back.
fn items(arrays: &Arrays) -> Vec<ListItem> {
    arrays.iter().map(|array| section(array, BOTH).parameter(Access::Check)).collect()
}

/// What somebody does while the region is under way, and what is mapped when both are done.
struct Stranger {
    name: &'static str,
    acts: fn(&World, &Arrays),
    /// Which of the arrays has how many references then.
    left: fn() -> Option<(usize, u32)>,
    /// Undoes it.
    ends: fn(&World, &Arrays),
}

fn nothing(_: &World, _: &Arrays) {}

const STRANGERS: [Stranger; 7] = [
    Stranger {
        name: "looks at all entries",
        acts: |world, _| assert!(matches!(world.device.table.entries().len(), 0 | ARRAYS)),
        left: || None,
        ends: nothing,
    },
    Stranger {
        name: "asks for one",
        acts: |world, arrays| {
            let found = world.device.table.lookup(arrays[3].as_ptr().addr() + 5, 3);
            assert!(!matches!(found, Relation::Partial(_)));
        },
        left: || None,
        ends: nothing,
    },
    Stranger {
        name: "uses some in a region",
        acts: |world, arrays| {
            let some: Vec<_> = [1, 2, 6, 7, 4, 5]
                .map(|at| section(&arrays[at][8..40], BOTH).parameter(Access::Check))
                .into();
            // Where the region has ended, the parts are mapped by themselves.
            world.launch(&some).unwrap();
        },
        left: || None,
        ends: nothing,
    },
    Stranger {
        name: "keeps one",
        acts: |world, arrays| {
            world.data(DataOperation::Begin, &[section(&arrays[2], BOTH)]).unwrap();
        },
        left: || Some((2, 1)),
        ends: |world, arrays| world.data(DataOperation::End, &[section(&arrays[2], MapKind::FROM)]).unwrap(),
    },
    Stranger {
        name: "deletes one",
        acts: |world, arrays| {
            world.data(DataOperation::End, &[section(&arrays[0], MapKind::DELETE)]).unwrap();
        },
        left: || None,
        ends: nothing,
    },
    Stranger {
        name: "updates two",
        acts: |world, arrays| {
            let both = [section(&arrays[5], MapKind::FROM), section(&arrays[6], MapKind::TO)];
            world.data(DataOperation::Update, &both).unwrap();
        },
        left: || None,
        ends: nothing,
    },
    Stranger {
        name: "maps too much",
        acts: |world, arrays| {
            let begin = arrays[4].as_ptr().addr() + SIZE / 2;
            match world.data(DataOperation::Begin, &[ListItem::section(begin, SIZE, MapKind::TO)]) {
                Err(error) => assert!(matches!(error.kind, ErrorKind::PartlyPresent { .. }), "{error}"),
                // The region had ended.
                Ok(()) => {
                    let end = ListItem::section(begin, SIZE, MapKind::DELETE);
                    world.data(DataOperation::End, &[end]).unwrap();
                }
            }
        },
        left: || None,
        ends: nothing,
    },
];

/// Has a stranger act on a thread of its own just before a call; who acts while the region has
/// not published its data may have to wait for it. Answers whether it has been waited for.
fn acts_before(
    call: Call,
    mock: &Mock,
    world: &Arc<World>,
    arrays: &Arc<Arrays>,
    acts: fn(&World, &Arrays),
) -> Arc<Mutex<Option<std::thread::JoinHandle<()>>>> {
    let thread = Arc::new(Mutex::new(None));
    let (slot, world, arrays) = (thread.clone(), world.clone(), arrays.clone());
    mock.before(call, move || {
        let (done, is_done) = mpsc::channel();
        *slot.lock().unwrap() = Some(std::thread::spawn(move || {
            acts(&world, &arrays);
            let _ = done.send(());
        }));
        let _ = is_done.recv_timeout(Duration::from_millis(30));
    });
    thread
}

#[test]
fn others_come_to_it_at_each_step() {
    for options in [Options::LAZY_PACKED, Options::WORKER_PACKED] {
        for step in STEPS {
            for stranger in &STRANGERS {
                let case = format!("{} before {step:?} on {options:?}", stranger.name);
                within(20, move || {
                    let (world, mock) = World::mock(options);
                    let (world, arrays) = (Arc::new(world), Arc::new([[EXPECTED; SIZE]; ARRAYS]));
                    for round in 0..3 {
                        let thread = acts_before(step, &mock, &world, &arrays, stranger.acts);
                        world.launch(&items(&arrays)).unwrap_or_else(|error| panic!("{case}: {error}"));
                        let thread = thread.lock().unwrap().take();
                        thread
                            .expect("the region makes the call")
                            .join()
                            .unwrap_or_else(|_| panic!("{case}"));
                        let left = (stranger.left)().map(|(at, count)| {
                            let begin = arrays[at].as_ptr().addr();
                            (begin, begin + SIZE, count, 0)
                        });
                        assert_eq!(world.mapped(), Vec::from_iter(left), "{case}, round {round}");
                        // Nobody has to wait any more for what the region has copied.
                        assert!(world.device.table.entries().iter().all(|entry| entry.is_ready()), "{case}");
                        (stranger.ends)(&world, &arrays);
                        assert_eq!(world.mapped(), [], "{case}");
                        mock.assert_rules_kept();
                    }
                    assert!(arrays.as_flattened().iter().all(|byte| *byte == EXPECTED), "{case}");
                    mock.assert_all_freed();
                });
            }
        }
    }
}

/// The operations of the region fail while its data has, or has not, been asked for.
#[test]
fn nothing_is_left_of_a_region_that_fails() {
    for options in [Options::LAZY_PACKED, Options::WORKER_PACKED] {
        for (fails, asked) in STEPS.into_iter().flat_map(|step| [(step, false), (step, true)]) {
            within(20, move || {
                let (world, mock) = World::mock(options);
                let (world, arrays) = (Arc::new(world), Arc::new([[EXPECTED; SIZE]; ARRAYS]));
                world.launch(&items(&arrays)).unwrap();
                let thread = asked.then(|| {
                    acts_before(Call::ToDevice, &mock, &world, &arrays, |world, _| {
                        _ = world.device.table.len()
                    })
                });
                mock.fail(fails, 0);
                let failed = world.launch(&items(&arrays));
                assert!(mock.stop_failing(), "{fails:?} was called");
                assert!(failed.is_err(), "{fails:?}");
                if let Some(thread) = thread {
                    thread.lock().unwrap().take().unwrap().join().unwrap();
                }
                assert_eq!(world.mapped(), [], "{fails:?}, {asked}");
                world.launch(&items(&arrays)).unwrap();
                mock.assert_all_freed();
            });
        }
    }
}

/// A pointer that is on the device already is made to point to what a region brings along.
#[test]
fn pointers_are_attached_to_it() {
    for options in [Options::LAZY_PACKED, Options::WORKER_PACKED] {
        let (world, mock) = World::mock(options);
        let (world, arrays) = (Arc::new(world), Arc::new([[EXPECTED; SIZE]; ARRAYS]));
        let pointers = Arc::new([arrays[3].as_ptr().addr(), arrays[6].as_ptr().addr()]);
        let pointer = |at: usize| std::ptr::from_ref(&pointers[at]).addr();
        let both = || [0, 1].map(|at| ListItem::section(pointer(at), 8, MapKind::TO));
        world.data(DataOperation::Begin, &both()).unwrap();
        let mut items = items(&arrays);
        for at in [0, 1] {
            items.push(ListItem { base: pointer(at), ..ListItem::section(pointers[at], 8, MapKind::ATTACH) });
        }
        let seen = Arc::new(Mutex::new(None));
        let (device, memory, slot, on_host) = (world.clone(), mock.clone(), seen.clone(), pointers.clone());
        let places = [pointer(0), pointer(1)];
        mock.before(Call::Synchronize, move || {
            let address = |host| match device.device.table.lookup(host, 1) {
                Relation::Contained(entry) => entry.translate(host),
                other => panic!("{host:#x} is not present: {other:?}"),
            };
            while !memory.is_all_done() && memory.queues().step_any() {}
            let pointers = places.map(|place| memory.read(address(place), 8));
            let targets = on_host.map(|host| address(host).0.to_ne_bytes().to_vec());
            *slot.lock().unwrap() = Some((pointers, targets));
        });
        world.launch(&items).unwrap();
        let (found, expected) = seen.lock().unwrap().take().expect("the region has been waited for");
        assert_eq!(found, expected, "{options:?}");
        world.data(DataOperation::End, &both()).unwrap();
        assert_eq!(world.mapped(), []);
        mock.assert_all_freed();
    }
}

/// Regions with more data than is deferred at a time, and with some that is listed twice or that
/// overlaps.
#[test]
fn what_is_not_deferred_is_there_all_the_same() {
    let (world, mock) = World::mock(Options::LAZY_PACKED);
    for count in [63, 64, 65, 66, 130] {
        let many = vec![[EXPECTED; 16]; count];
        let items: Vec<_> = many.iter().map(|one| section(one, BOTH).parameter(Access::Increment)).collect();
        world.launch(&items).unwrap();
        assert!(many.as_flattened().iter().all(|byte| *byte == EXPECTED + 1), "{count}");
    }
    let arrays = [[EXPECTED; SIZE]; ARRAYS];
    let mut twice = items(&arrays);
    twice.push(section(&arrays[3], BOTH).parameter(Access::Check));
    world.launch(&twice).unwrap();
    let mut inside = items(&arrays);
    inside.push(section(&arrays[1][4..9], MapKind::TO).parameter(Access::Check));
    world.launch(&inside).unwrap();
    let mut across = items(&arrays);
    across.push(ListItem::section(arrays[1].as_ptr().addr() + 60, 8, MapKind::TO));
    assert!(matches!(world.launch(&across).unwrap_err().kind, ErrorKind::PartlyPresent { .. }));
    assert_eq!(world.mapped(), []);
    mock.assert_all_freed();
}

/// Several regions of one thread are under way with data of their own and with the same.
#[test]
fn regions_under_way_at_the_same_time() {
    for options in [Options::LAZY_PACKED, Options::WORKER_PACKED] {
        within(60, move || {
            let (world, mock) = World::mock(options);
            let sets = vec![[[EXPECTED; SIZE]; ARRAYS]; 20];
            let mut jobs: Vec<_> = sets.iter().map(|set| world.issue(&items(set)).unwrap()).collect();
            jobs.extend(sets.iter().rev().map(|set| world.issue(&items(set)).unwrap()));
            jobs.into_iter().for_each(|job| job.complete().unwrap());
            assert_eq!(world.mapped(), []);
            mock.assert_all_freed();
        });
    }
}
