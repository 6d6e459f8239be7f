//! Packed data on devices whose copies want pinned memory of the host.

mod support;

use gangway_runtime::{DataOperation, MapKind};
use std::sync::Arc;
use support::construct::{Access, EXPECTED, ListItem, World};
use support::device::{Call, Mock, Options};

const BOTH: MapKind = MapKind::TO.with(MapKind::FROM);

const PINNED: Options = Options { pinned: true, ..Options::LAZY_PACKED };

fn section(memory: &[u8], kind: MapKind) -> ListItem {
    ListItem::section(memory.as_ptr().addr(), memory.len(), kind).parameter(Access::Check)
}

/// Five arrays that each region maps anew.
struct Program {
    world: World,
    mock: Arc<Mock>,
    arrays: Vec<[u8; 64]>,
}

impl Program {
    fn new(options: Options) -> Self {
        let (world, mock) = World::mock(options);
        Self { world, mock, arrays: vec![[EXPECTED; 64]; 5] }
    }

    fn items(&self) -> Vec<ListItem> {
        self.arrays.iter().map(|array| section(array, BOTH)).collect()
    }

    fn launch(&self) {
        self.world.launch(&self.items()).unwrap();
    }

    /// Copies beside pinned memory that one more region makes.
    fn pageable(&self) -> usize {
        let before = self.mock.pageable();
        self.launch();
        self.mock.pageable() - before
    }
}

#[test]
fn packed_data_stands_in_pinned_memory() {
    for options in [PINNED, Options::WORKER_PACKED] {
        let program = Program::new(options);
        assert_eq!(program.pageable(), 0);
        // What is large is copied from and to where the program has it.
        let large = vec![EXPECTED; 1 << 16];
        let before = program.mock.pageable();
        program.world.launch(&[program.items(), vec![section(&large, BOTH)]].concat()).unwrap();
        assert_eq!(program.mock.pageable() - before, 2);
        program.mock.assert_all_freed();
    }
    let program = Program::new(Options::LAZY_PACKED);
    assert_eq!((program.pageable(), program.mock.made(Call::Pin)), (2, 0));
}

/// Both directions of a construct, and those of the next ones, share a chunk.
#[test]
fn little_is_pinned() {
    let program = Program::new(PINNED);
    for _ in 0..100 {
        program.launch();
    }
    assert_eq!(program.mock.made(Call::Pin), 1);
    program.mock.assert_all_freed();
}

/// More constructs under way than there are jobs kept: each has memory of its own.
#[test]
fn constructs_under_way_do_not_share_memory() {
    let program = Program::new(Options::WORKER_PACKED);
    std::thread::scope(|scope| {
        for index in 0..8_u8 {
            let world = &program.world;
            scope.spawn(move || {
                let array = [EXPECTED; 64].map(|byte| byte ^ index);
                for _ in 0..200 {
                    world.data(DataOperation::Begin, &[section(&array, MapKind::TO)]).unwrap();
                    world.data(DataOperation::End, &[section(&array, MapKind::FROM)]).unwrap();
                }
                assert_eq!(array, [EXPECTED; 64].map(|byte| byte ^ index));
            });
        }
    });
    program.mock.assert_all_freed();
}

#[test]
fn a_driver_that_pins_nothing_is_asked_seldom() {
    let program = Program::new(PINNED);
    program.mock.fail(Call::Pin, 0);
    for _ in 0..3 {
        assert_eq!(program.pageable(), 2);
    }
    assert!(program.mock.stop_failing());
    assert_eq!(program.mock.made(Call::Pin), 1);
    // It is asked again some time later, when it may have what it had not.
    let later = (0..100).find(|_| program.pageable() == 0);
    assert!(later.is_some_and(|round| round > 10), "{later:?}");
    program.mock.assert_all_freed();
}

/// A job that is kept still knows its blocks when the device has given them back.
#[test]
fn what_has_been_given_back_is_not_used_again() {
    let program = Program::new(PINNED);
    for round in 1..=3 {
        assert_eq!(program.pageable(), 0);
        assert_eq!(program.mock.made(Call::Pin), round);
        program.mock.assert_all_freed();
    }
}

/// Nobody waits for other threads at the end of the process, when memory is given back.
#[test]
fn what_a_construct_uses_is_not_given_back() {
    let program = Program::new(PINNED);
    let device = program.world.device;
    let job = program.world.issue(&program.items()).unwrap();
    device.trim();
    assert_eq!(program.mock.made(Call::Unpin), 0);
    job.complete().unwrap();
    // Now only a job that is kept has the blocks.
    device.trim();
    assert_eq!(program.mock.made(Call::Unpin), 1);
    assert_eq!(program.pageable(), 0);
    program.mock.assert_all_freed();
}
