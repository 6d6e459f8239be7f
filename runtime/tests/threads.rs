//! Several host threads on one device, and several constructs of one thread in
//! flight: counts balance, data arrives, nothing is freed while it is in use.

mod support;

use gangway_runtime::present::Relation;
use gangway_runtime::{Components, DataOperation, Device, Item, MapKind};
use std::sync::Mutex;
use support::construct::{Access, EXPECTED, ListItem, World};
use support::device::Options;
use support::within;

const THREADS: usize = 4;
const ROUNDS: usize = 60;

fn section(memory: &[u8], kind: MapKind) -> ListItem {
    ListItem::section(memory.as_ptr().addr(), memory.len(), kind)
}

/// Private arrays come and go; everybody maps the same read-only one, so that one
/// thread creates it while others already want it, and removes it while others
/// come back.
#[test]
fn private_and_shared_data() {
    for options in Options::ALL {
        within(60, move || {
            let (world, mock) = World::mock(options);
            let shared = vec![EXPECTED; 256];
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let (world, shared) = (&world, &shared);
                    scope.spawn(move || {
                        let own = vec![0u8; 64 + thread];
                        for round in 0..ROUNDS {
                            // Many of its own after the shared one, so that others find
                            // that while it is being made.
                            let mut items = vec![section(shared, MapKind::TO).parameter(Access::Check)];
                            items.extend(own.chunks(4).map(|part| {
                                section(part, MapKind::TO | MapKind::FROM).parameter(Access::Increment)
                            }));
                            world.launch(&items).unwrap();
                            assert!(own.iter().all(|&byte| byte == (round + 1) as u8));
                        }
                    });
                }
            });
            assert_eq!(world.mapped(), []);
            mock.assert_all_freed();
        });
    }
}

/// Everybody maps many small items of everybody's, in an order of his own and with small ones of
/// his own among them: what one construct wants to make together others have made in part, or
/// make it meanwhile.
#[test]
fn small_items_that_others_make_too() {
    for options in Options::ALL {
        within(60, move || {
            let (world, mock) = World::mock(options);
            let shared = vec![EXPECTED; 256];
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let (world, shared) = (&world, &shared);
                    scope.spawn(move || {
                        let own = [0u8; 48];
                        for round in 0..ROUNDS {
                            let own_part = |part| {
                                section(part, MapKind::TO | MapKind::FROM).parameter(Access::Increment)
                            };
                            let part = |part| section(part, MapKind::TO).parameter(Access::Check);
                            let mut items: Vec<_> = shared.chunks(16).map(part).collect();
                            items.rotate_left((5 * thread + round) % 16);
                            items.truncate(12);
                            items.splice(6..6, own.chunks(8).map(own_part));
                            world.launch(&items).unwrap();
                            assert!(own.iter().all(|&byte| byte == (round + 1) as u8));
                        }
                    });
                }
            });
            assert_eq!(world.mapped(), []);
            mock.assert_all_freed();
        });
    }
}

/// `enter data` and `exit data` of one item by everybody.
#[test]
fn everybody_maps_the_same_item() {
    for options in Options::ALL {
        within(60, move || {
            let (world, mock) = World::mock(options);
            let shared = vec![EXPECTED; 128];
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let (world, shared) = (&world, &shared);
                    scope.spawn(move || {
                        for round in 0..ROUNDS {
                            // The whole or an interior part: both are inside what is mapped
                            // once the whole is, and exclude each other never.
                            let whole = section(shared, MapKind::TO);
                            world.data(DataOperation::Begin, &[whole]).unwrap();
                            let part = section(&shared[16 * (round % 4)..][..32], MapKind::TO);
                            world.launch(&[part.parameter(Access::Check)]).unwrap();
                            let present = ListItem { kind: MapKind::PRESENT, ..part };
                            world.data(DataOperation::Update, &[present]).unwrap();
                            let counter = if thread == 0 { MapKind::FROM } else { MapKind::ALLOC };
                            world.data(DataOperation::End, &[section(shared, counter)]).unwrap();
                        }
                    });
                }
            });
            assert_eq!(world.mapped(), []);
            assert!(shared.iter().all(|&byte| byte == EXPECTED));
            mock.assert_all_freed();
        });
    }
}

/// Two threads map an array again and again, and two update it, whether it is mapped or not: an
/// update moves data of the mapping that it has found, though that ends meanwhile, and takes
/// nothing away from who ends it.
#[test]
fn updates_while_the_mapping_ends() {
    for options in Options::ALL {
        within(60, move || {
            let (world, mock) = World::mock(options);
            let shared = vec![EXPECTED; 128];
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let (world, shared) = (&world, &shared);
                    scope.spawn(move || {
                        for _ in 0..2 * ROUNDS {
                            if thread % 2 == 0 {
                                let both = MapKind::TO | MapKind::FROM;
                                world.launch(&[section(shared, both).parameter(Access::Check)]).unwrap();
                            } else {
                                world
                                    .data(DataOperation::Update, &[section(&shared[32..96], MapKind::TO)])
                                    .unwrap();
                            }
                        }
                    });
                }
            });
            assert_eq!(world.mapped(), []);
            assert!(shared.iter().all(|&byte| byte == EXPECTED));
            mock.assert_all_freed();
        });
    }
}

/// One thread deletes what others map: whoever maps it afterwards gets it anew.
/// Such a program is in error if it relies on the data; it must do no harm all the
/// same.
#[test]
fn deleting_what_others_map() {
    for options in Options::ALL {
        within(60, move || {
            let (world, mock) = World::mock(options);
            let shared = vec![EXPECTED; 64];
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    let (world, shared) = (&world, &shared);
                    scope.spawn(move || {
                        for _ in 0..ROUNDS {
                            let operation = if thread == 0 { MapKind::DELETE } else { MapKind::ALLOC };
                            world.data(DataOperation::Begin, &[section(shared, MapKind::TO)]).unwrap();
                            world.data(DataOperation::End, &[section(shared, operation)]).unwrap();
                        }
                    });
                }
            });
            // A deletion may have taken references whose owners then found nothing,
            // or found a new life: what is left is one entry with what they gave too much.
            for (begin, end, ..) in world.mapped() {
                world
                    .data(DataOperation::End, &[ListItem::section(begin, end - begin, MapKind::DELETE)])
                    .unwrap();
            }
            mock.assert_all_freed();
        });
    }
}

/// Constructs of one thread that are all in flight, ended in any order: what one
/// still uses is not freed by another's end.
#[test]
fn constructs_in_flight() {
    for options in Options::ALL {
        within(60, move || {
            for reverse in [false, true] {
                let (world, mock) = World::mock(options);
                let shared = vec![EXPECTED; 64];
                let own: Vec<Vec<u8>> = (0..10).map(|i| vec![i; 32]).collect();
                let issue = |own: &Vec<u8>| {
                    let shared = section(&shared, MapKind::TO).parameter(Access::Check);
                    let own = section(own, MapKind::TO | MapKind::FROM).parameter(Access::Increment);
                    world.issue(&[shared, own]).unwrap()
                };
                let mut jobs: Vec<_> = own.iter().map(issue).collect();
                if reverse {
                    jobs.reverse();
                }
                jobs.into_iter().for_each(|job| job.complete().unwrap());
                for (number, own) in own.iter().enumerate() {
                    assert!(own.iter().all(|&byte| byte == number as u8 + 1), "{options:?}");
                }
                assert_eq!(world.mapped(), []);
                mock.assert_all_freed();
            }
        });
    }
}

/// What [`meet`] waits for: the device, and a host address of which two are to hold references.
static MEETING: Mutex<Option<(&'static Device, usize)>> = Mutex::new(None);

/// References to the mapped range at a host address.
fn references(device: &'static Device, host: usize) -> u32 {
    match device.table.lookup(host, 1) {
        Relation::Contained(entry) => entry.snapshot().map_or(0, |counts| counts.dynamic),
        _ => 0,
    }
}

/// A mapper that returns when another thread has joined in; asked again, at once.
fn meet(item: &Item, components: &mut Components) {
    let meeting = MEETING.lock().unwrap().take();
    while meeting.is_some_and(|(device, host)| references(device, host) < 2) {
        std::thread::yield_now();
    }
    components.push(*item);
}

/// Who finds what another thread is still making waits for the contents, even if
/// nobody waits for that thread's operations.
#[test]
fn waiting_for_what_another_thread_makes() {
    for options in Options::ALL {
        within(60, move || {
            let (world, mock) = World::mock(options);
            let (shared, other) = ([EXPECTED; 64], [0u8; 8]);
            let shared = section(&shared, MapKind::TO).parameter(Access::Check);
            *MEETING.lock().unwrap() = Some((world.device, shared.begin));
            std::thread::scope(|scope| {
                let joining = scope.spawn(|| {
                    while references(world.device, shared.begin) == 0 {
                        std::thread::yield_now();
                    }
                    world.launch(&[shared]).unwrap();
                });
                let mapped = ListItem { mapper: Some(meet), ..section(&other, MapKind::TO) };
                let job = world.issue(&[shared, mapped]).unwrap();
                joining.join().unwrap();
                job.complete().unwrap();
            });
            assert_eq!(world.mapped(), []);
            mock.assert_all_freed();
        });
    }
}

/// Private copies have the values of when the construct was issued.
#[test]
fn private_copies_in_flight() {
    for options in Options::ALL {
        within(60, move || {
            let (world, mock) = World::mock(options);
            let mut values = [[EXPECTED; 24]; 3];
            let mut jobs = Vec::new();
            for _ in 0..5 {
                let items = values.each_ref().map(|value| {
                    let private = MapKind::PRIVATE | MapKind::TO;
                    ListItem { base: value.as_ptr().addr() - 40, ..section(value, private) }
                        .parameter(Access::Check)
                });
                jobs.push(world.issue(&items).unwrap());
                values.as_flattened_mut().fill(0);
                values.as_flattened_mut().fill(EXPECTED);
            }
            values.as_flattened_mut().fill(1);
            jobs.into_iter().for_each(|job| job.complete().unwrap());
            assert_eq!(world.mapped(), []);
            mock.assert_all_freed();
        });
    }
}

/// More constructs in flight on one item than the state word can count apart.
#[test]
fn thousands_of_constructs_in_flight() {
    for options in [Options::LAZY, Options::WORKER] {
        within(60, move || {
            let (world, mock) = World::mock(options);
            let shared = vec![EXPECTED; 16];
            let item = section(&shared, MapKind::TO).parameter(Access::Check);
            let jobs: Vec<_> = (0..3000).map(|_| world.issue(&[item]).unwrap()).collect();
            jobs.into_iter().for_each(|job| job.complete().unwrap());
            assert_eq!(world.mapped(), []);
            mock.assert_all_freed();
        });
    }
}
