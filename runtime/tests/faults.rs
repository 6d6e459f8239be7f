//! Everything a back end can refuse, refused at every point of a program: the
//! construct fails, what was mapped before still is, everything can be unmapped,
//! nothing leaks, nobody waits for ever.

mod support;

use gangway_runtime::{Components, Item, MapKind};
use gangway_runtime::{DataOperation, ErrorKind};
use support::construct::{Access, ListItem, World};
use support::device::{Call, Mock, Options};
use support::within;

/// The program's memory, and its list items.
struct Program {
    a: Vec<u8>,
    b: Vec<u8>,
    c: Vec<u8>,
    holder: Box<usize>,
}

impl Program {
    fn new() -> Self {
        let c = vec![3; 24];
        let holder = Box::new(c.as_ptr().addr());
        Self { a: vec![1; 64], b: vec![2; 48], c, holder }
    }

    fn section(memory: &[u8], kind: MapKind) -> ListItem {
        ListItem::section(memory.as_ptr().addr(), memory.len(), kind)
    }

    fn holder(&self, kind: MapKind) -> ListItem {
        ListItem::section((&raw const *self.holder).addr(), 8, kind)
    }

    fn everything(&self) -> [ListItem; 4] {
        let all = [&self.a, &self.b, &self.c].map(|memory| Self::section(memory, MapKind::DELETE));
        [all[0], all[1], all[2], self.holder(MapKind::DELETE)]
    }

    /// Runs the constructs, going on after a failure; answers the failures.
    fn run(&self, world: &World) -> Vec<ErrorKind> {
        let both = MapKind::TO | MapKind::FROM;
        let mut failures = Vec::new();
        let attach = ListItem {
            base: self.holder(MapKind::ALLOC).base,
            ..ListItem::section(*self.holder, 8, MapKind::ATTACH)
        };
        let pair = ListItem {
            base: self.holder(MapKind::ALLOC).base,
            ..ListItem::section(*self.holder, 24, both | MapKind::POINTER_AND_POINTEE)
        };
        // What failed to begin has changed nothing; what failed to end has ended.
        let mut begin = |items: &[ListItem]| {
            let before = world.mapped();
            let issued = world.issue_data(DataOperation::Begin, items);
            if let Err(error) = &issued {
                assert_eq!(world.mapped(), before, "after {error}");
            }
            failures.extend(issued.and_then(|job| job.complete()).err().map(|error| error.kind));
        };
        begin(&[Self::section(&self.a, both), Self::section(&self.b, MapKind::TO)]);
        begin(&[self.holder(both), Self::section(&self.c, both), attach]);
        begin(&[pair]);
        begin(&[self.holder(both), pair]);
        begin(&[
            Self::section(&self.a, MapKind::TO | MapKind::ALWAYS),
            Self::section(&self.b, MapKind::TO | MapKind::ALWAYS),
        ]);
        let launch = [
            Self::section(&self.a, both | MapKind::ALWAYS).parameter(Access::Increment),
            Self::section(&self.b, MapKind::TO).parameter(Access::None),
            Self::section(&self.c, both).parameter(Access::Increment),
        ];
        failures.extend(world.launch(&launch).err().map(|error| error.kind));
        failures.extend(world.launch(&launch).err().map(|error| error.kind));
        let update = [Self::section(&self.a, MapKind::FROM), Self::section(&self.b, MapKind::TO)];
        failures.extend(world.data(DataOperation::Update, &update).err().map(|error| error.kind));
        let end = [
            Self::section(&self.a, MapKind::FROM),
            Self::section(&self.b, MapKind::FROM),
            self.holder(MapKind::FROM),
        ];
        failures.extend(world.data(DataOperation::End, &end).err().map(|error| error.kind));
        failures
    }

    fn clean_up(&self, world: &World, mock: &Mock) {
        world.data(DataOperation::End, &self.everything()).unwrap();
        assert_eq!(world.mapped(), []);
        mock.assert_all_freed();
        assert_eq!(*self.holder, self.c.as_ptr().addr(), "the host's pointer is the host's");
    }
}

#[test]
fn without_a_fault_nothing_fails() {
    for options in Options::ALL {
        let (world, mock) = World::mock(options);
        let program = Program::new();
        assert_eq!(program.run(&world), [], "{options:?}");
        program.clean_up(&world, &mock);
    }
}

#[test]
fn every_call_fails_once() {
    within(120, || {
        for options in Options::ALL {
            for call in Call::ALL {
                for successes in 0.. {
                    let (world, mock) = World::mock(options);
                    let program = Program::new();
                    mock.fail(call, successes);
                    let failures = program.run(&world);
                    if !mock.stop_failing() {
                        // The program makes no more such calls.
                        assert_eq!(failures, []);
                        program.clean_up(&world, &mock);
                        break;
                    }
                    assert!(!failures.is_empty(), "{options:?}: {call:?} {successes} failed unnoticed");
                    program.clean_up(&world, &mock);
                }
            }
        }
    });
}

/// Maps the first 16 and the last 16 of 64 bytes.
fn map_ends(item: &Item, components: &mut Components) {
    for begin in [item.begin, item.begin + item.size - 16] {
        components.push(Item { begin, size: 16, ..*item });
    }
}

/// What a mapper has made present goes again if a later component, a later item or
/// the launch fails.
#[test]
fn mappers_that_fail() {
    within(60, || {
        for options in Options::ALL {
            for call in Call::ALL {
                for successes in 0.. {
                    let (world, mock) = World::mock(options);
                    let (mapped, other) = ([1u8; 64], [2u8; 8]);
                    let both = MapKind::TO | MapKind::FROM;
                    let item = ListItem { mapper: Some(map_ends), ..Program::section(&mapped, both) };
                    let items =
                        [item, Program::section(&other, both), ListItem { mapper: item.mapper, ..item }];
                    mock.fail(call, successes);
                    let launched = world.launch(&items);
                    let failed = mock.stop_failing();
                    assert_eq!(launched.is_err(), failed, "{options:?}: {call:?} {successes}");
                    assert_eq!(world.mapped(), []);
                    mock.assert_all_freed();
                    if !failed {
                        break;
                    }
                }
            }
        }
    });
}

#[test]
fn too_little_memory() {
    for options in Options::ALL {
        for memory in (0..300).step_by(8) {
            let (world, mock) = World::mock(Options { memory, ..options });
            let program = Program::new();
            let failures = program.run(&world);
            let short = failures.iter().all(|kind| matches!(kind, ErrorKind::OutOfMemory { .. }));
            assert!(short, "{options:?} with {memory} bytes: {failures:?}");
            program.clean_up(&world, &mock);
        }
    }
}

/// A thread that cannot get memory does not hold up those who wait for its entry.
#[test]
fn waiting_for_an_allocation_that_fails() {
    for options in Options::ALL {
        within(60, move || {
            let (world, mock) = World::mock(Options { memory: 0, ..options });
            let shared = vec![0u8; 64];
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..100 {
                            let error = world.launch(&[Program::section(&shared, MapKind::TO)]).unwrap_err();
                            assert!(matches!(error.kind, ErrorKind::OutOfMemory { .. }));
                        }
                    });
                }
            });
            mock.assert_all_freed();
        });
    }
}

/// Data whose first item has other references and whose second one has not is given up by a job.
#[test]
fn an_end_that_gets_no_job_has_given_up_nothing() {
    let mut failed = 0;
    for options in Options::ALL {
        let (world, mock) = World::mock(options);
        let program = Program::new();
        let both = MapKind::TO | MapKind::FROM;
        let (a, b) = (Program::section(&program.a, both), Program::section(&program.b, both));
        world.data(DataOperation::Begin, &[a, b]).unwrap();
        world.data(DataOperation::Begin, &[b]).unwrap();
        let before = world.mapped();
        // No stream is left from before.
        world.device.release_idle();
        mock.fail(Call::CreateStream, 0);
        let ended = world.data(DataOperation::End, &[a, b]);
        assert_eq!(ended.is_err(), mock.stop_failing(), "{options:?}");
        if ended.is_err() {
            failed += 1;
            assert_eq!(world.mapped(), before, "{options:?}");
        }
        program.clean_up(&world, &mock);
    }
    assert!(failed > 5, "only {failed} kinds of devices had no stream");
}

/// A pointer is attached by a job to what the construct does not count itself.
#[test]
fn a_beginning_that_gets_no_job_has_counted_nothing() {
    let mut failed = 0;
    for options in Options::ALL {
        let (world, mock) = World::mock(options);
        let program = Program::new();
        let (a, holder) =
            (Program::section(&program.a, MapKind::TO), program.holder(MapKind::TO | MapKind::FROM));
        let attach = ListItem {
            base: holder.base,
            ..ListItem::section(*program.holder, 8, MapKind::ATTACH | MapKind::COUNTED)
        };
        world.data(DataOperation::Begin, &[a, holder, Program::section(&program.c, MapKind::TO)]).unwrap();
        let before = world.mapped();
        world.device.release_idle();
        mock.fail(Call::CreateStream, 0);
        let begun = world.data(DataOperation::Begin, &[a, attach]);
        assert_eq!(begun.is_err(), mock.stop_failing(), "{options:?}");
        if begun.is_err() {
            failed += 1;
            assert_eq!(world.mapped(), before, "{options:?}");
        }
        program.clean_up(&world, &mock);
    }
    assert!(failed > 5, "only {failed} kinds of devices had no stream");
}
