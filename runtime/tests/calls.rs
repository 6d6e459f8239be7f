//! What each kind of construct asks of the driver of an asynchronous device, exactly, when
//! the runtime keeps memory and packs transfers for it.

mod support;

use Call::{
    Allocate, CreateStream, Deallocate, DestroyEvent, FromDevice, Launch, Pin, RecordEvent, Synchronize,
    ToDevice, Unpin, WaitEvent,
};
use gangway_runtime::{DataOperation, MapKind};
use support::construct::{Access, EXPECTED, ListItem, World};
use support::device::{Call, Mock, Options, Passing};

/// Everything that a device can be asked.
const CALLS: [Call; 12] = [
    Allocate,
    Deallocate,
    ToDevice,
    FromDevice,
    Launch,
    CreateStream,
    Synchronize,
    RecordEvent,
    WaitEvent,
    DestroyEvent,
    Pin,
    Unpin,
];

/// Asserts what one more `construct` asks for when it has been done before.
#[track_caller]
fn asks(mock: &Mock, construct: impl Fn(), expected: &[(Call, usize)]) {
    construct();
    construct();
    let made = || CALLS.map(|call| mock.made(call));
    let before = made();
    construct();
    let after = made();
    let calls = CALLS.iter().enumerate().map(|(index, &call)| (call, after[index] - before[index]));
    let found: Vec<_> = calls.filter(|(_, count)| *count > 0).collect();
    let mut expected = expected.to_vec();
    expected.sort_by_key(|(call, _)| CALLS.iter().position(|known| known == call));
    assert_eq!(found, expected);
    mock.assert_rules_kept();
}

/// The program's data.
struct Program {
    world: World,
    present: Vec<[u8; 64]>,
    fresh: Vec<[u8; 64]>,
    large: Vec<u8>,
    private: Vec<[u8; 24]>,
}

impl Program {
    fn new(world: World) -> Self {
        let program = Self {
            world,
            present: vec![[EXPECTED; 64]; 5],
            fresh: vec![[EXPECTED; 64]; 5],
            large: vec![EXPECTED; 1 << 20],
            private: vec![[EXPECTED; 24]; 3],
        };
        program.world.data(DataOperation::Begin, &program.present(MapKind::TO)).unwrap();
        program
    }

    fn section(memory: &[u8], kind: MapKind) -> ListItem {
        ListItem::section(memory.as_ptr().addr(), memory.len(), kind).parameter(Access::Check)
    }

    fn present(&self, kind: MapKind) -> Vec<ListItem> {
        self.present.iter().map(|array| Self::section(array, kind)).collect()
    }

    fn fresh(&self, count: usize, kind: MapKind) -> Vec<ListItem> {
        self.fresh[..count].iter().map(|array| Self::section(array, kind)).collect()
    }

    fn private(&self) -> Vec<ListItem> {
        let kind = MapKind::PRIVATE | MapKind::TO;
        self.private.iter().map(|value| Self::section(value, kind)).collect()
    }

    fn launch(&self, items: &[Vec<ListItem>]) {
        self.world.launch(&items.concat()).unwrap();
    }
}

fn each_device(test: impl Fn(&Program, &Mock)) {
    for options in [Options::LAZY_PACKED, Options::WORKER_PACKED] {
        let (world, mock) = World::mock(options);
        let program = Program::new(world);
        test(&program, &mock);
        program.world.data(DataOperation::End, &program.present(MapKind::ALLOC)).unwrap();
        assert_eq!(program.world.mapped(), []);
        mock.assert_all_freed();
    }
}

const BOTH: MapKind = MapKind::TO.with(MapKind::FROM);

#[test]
fn regions_whose_data_is_present() {
    each_device(|program, mock| {
        asks(mock, || program.launch(&[]), &[(Launch, 1), (Synchronize, 1)]);
        let present = || program.launch(&[program.present(BOTH)]);
        asks(mock, present, &[(Launch, 1), (Synchronize, 1)]);
        let private = || program.launch(&[program.present(BOTH), program.private()]);
        asks(mock, private, &[(ToDevice, 1), (Launch, 1), (Synchronize, 1)]);
    });
}

#[test]
fn regions_that_map_small_data() {
    each_device(|program, mock| {
        // Nobody asks for its entries, so that nobody has to wait for them: no event.
        let once = [(ToDevice, 1), (FromDevice, 1), (Launch, 1), (Synchronize, 1)];
        let mixed = || program.launch(&[program.private(), program.fresh(2, BOTH)]);
        asks(mock, mixed, &once);
        asks(mock, || program.launch(&[program.fresh(1, BOTH)]), &once);
        asks(mock, || program.launch(&[program.present(BOTH), program.fresh(1, BOTH)]), &once);
        let everything =
            || program.launch(&[program.private(), program.fresh(5, BOTH), program.present(BOTH)]);
        asks(mock, everything, &once);
        let one_way = || program.launch(&[program.fresh(5, MapKind::TO)]);
        let sent = [(ToDevice, 1), (Launch, 1), (Synchronize, 1)];
        asks(mock, one_way, &sent);
    });
}

/// Beyond what the pool has, memory is the driver's; the small items go together all the same.
#[test]
fn regions_that_map_large_data() {
    each_device(|program, mock| {
        let large = || vec![Program::section(&program.large, BOTH)];
        let expected = [
            (Allocate, 1),
            (Deallocate, 1),
            (ToDevice, 2),
            (FromDevice, 2),
            (Launch, 1),
            (Synchronize, 1),
            (RecordEvent, 1),
            (DestroyEvent, 1),
        ];
        asks(mock, || program.launch(&[large(), program.private(), program.fresh(3, BOTH)]), &expected);
    });
}

#[test]
fn data_constructs() {
    each_device(|program, mock| {
        let world = &program.world;
        let pair = || {
            world.data(DataOperation::Begin, &program.fresh(5, MapKind::TO)).unwrap();
            world.data(DataOperation::End, &program.fresh(5, MapKind::ALLOC)).unwrap();
        };
        asks(mock, pair, &[(ToDevice, 1), (Synchronize, 2)]);
        // What another construct has packed comes back in one copy, too.
        let back = || {
            world.data(DataOperation::Begin, &program.fresh(5, MapKind::TO)).unwrap();
            world.data(DataOperation::End, &program.fresh(5, MapKind::FROM)).unwrap();
        };
        asks(mock, back, &[(ToDevice, 1), (FromDevice, 1), (Synchronize, 2)]);
        // A region that makes nothing present takes back what others have packed.
        let taken = || {
            world.data(DataOperation::Begin, &program.fresh(5, MapKind::TO)).unwrap();
            program.launch(&[program.fresh(5, BOTH | MapKind::ALWAYS)]);
            world.data(DataOperation::End, &program.fresh(5, MapKind::ALLOC)).unwrap();
        };
        asks(mock, taken, &[(ToDevice, 6), (FromDevice, 1), (Launch, 1), (Synchronize, 3)]);
        let update = || world.data(DataOperation::Update, &program.present(BOTH)[..1]).unwrap();
        asks(mock, update, &[(ToDevice, 1), (FromDevice, 1), (Synchronize, 1)]);
    });
}

/// What is present, and stays, only has its references counted.
#[test]
fn data_constructs_that_only_count() {
    each_device(|program, mock| {
        let world = &program.world;
        let pair = |begin: &[ListItem], end: &[ListItem]| {
            world.data(DataOperation::Begin, begin).unwrap();
            world.data(DataOperation::End, end).unwrap();
        };
        let (to, from) = (program.present(MapKind::TO), program.present(MapKind::FROM));
        asks(mock, || pair(&to, &from), &[]);
        asks(mock, || pair(&to[..1], &from[..1]), &[]);
        // Not in order, and twice.
        let twice = [from[3], from[0]];
        asks(mock, || [(); 2].iter().for_each(|()| pair(&twice, &twice)), &[]);
        let other = |kind: MapKind| vec![Program::section(&program.present[0], kind)];
        let always = MapKind::ALWAYS;
        asks(mock, || pair(&other(MapKind::TO | always), &from[..1]), &[(ToDevice, 1), (Synchronize, 1)]);
        asks(mock, || pair(&to[..1], &other(MapKind::FROM | always)), &[(FromDevice, 1), (Synchronize, 1)]);
        // One leaves, of several.
        let fresh = |kind| [program.present(kind), program.fresh(1, kind)].concat();
        let leaving = || {
            world.data(DataOperation::Begin, &program.fresh(1, MapKind::TO)).unwrap();
            pair(&to, &fresh(MapKind::FROM));
            world.data(DataOperation::Begin, &to).unwrap();
            pair(&fresh(MapKind::TO)[..], &fresh(MapKind::FROM));
            world.data(DataOperation::End, &from).unwrap();
        };
        leaving();
        let counts: Vec<_> = world.mapped().iter().map(|range| range.2).collect();
        assert_eq!(counts, [1; 5]);
    });
}

/// A table of arguments in device memory is sent with the other small data.
#[test]
fn kernels_that_take_a_table() {
    for base in [Options::LAZY_PACKED, Options::WORKER_PACKED] {
        let (world, mock) = World::mock(Options { passing: Passing::Table(22), ..base });
        let program = Program::new(world);
        let items = || [program.present(BOTH), program.private(), program.fresh(3, BOTH)];
        let expected = [(ToDevice, 1), (FromDevice, 1), (Launch, 1), (Synchronize, 1)];
        asks(&mock, || program.launch(&items()), &expected);
        program.world.data(DataOperation::End, &program.present(MapKind::ALLOC)).unwrap();
        mock.assert_all_freed();
    }
}

/// Entries outlive the construct that made them, one longer than the other; their block
/// does, too.
#[test]
fn entries_keep_their_block() {
    each_device(|program, _| {
        let world = &program.world;
        world.data(DataOperation::Begin, &program.fresh(5, MapKind::TO)).unwrap();
        for array in &program.fresh {
            world.data(DataOperation::End, &[Program::section(array, MapKind::ALLOC)]).unwrap();
            // Whatever comes next must not get the memory of those that are left.
            world
                .data(DataOperation::Begin, &[Program::section(&program.large[..64], MapKind::ALLOC)])
                .unwrap();
            let left = program.fresh(5, MapKind::PRESENT);
            let left: Vec<_> = left
                .into_iter()
                .filter(|item| world.mapped().iter().any(|mapped| mapped.0 == item.begin))
                .collect();
            program.launch(&[left]);
            world
                .data(DataOperation::End, &[Program::section(&program.large[..64], MapKind::ALLOC)])
                .unwrap();
        }
    });
}
