//! Data constructs that only count, or count in the end, with others between any two of their steps: a
//! construct gives up what it has counted, once, and nothing of what others have counted.
//!
//! A construct asks for its items between its steps, so what other threads could do at that moment happens
//! there. It is tried at each such moment.

mod support;

use gangway_runtime::events::Site;
use gangway_runtime::{DataOperation, MapKind, memory};
use support::construct::{Interrupted, List, ListItem, World};
use support::device::{Call, Options};
use support::within;

/// A structure of two pointers, the first one to a list.
struct Structure {
    pointers: [usize; 2],
    list: [u8; 64],
}

impl Structure {
    fn new() -> &'static Self {
        let this = Box::leak(Box::new(Self { pointers: [0; 2], list: [7; 64] }));
        this.pointers[0] = this.list.as_ptr().addr();
        this
    }

    fn address(&self) -> usize {
        self.pointers.as_ptr().addr()
    }

    fn whole(&self, kind: MapKind) -> ListItem {
        ListItem::section(self.address(), 16, kind | MapKind::ONCE)
    }

    fn member(&self, number: usize, kind: MapKind) -> ListItem {
        ListItem::section(self.address() + 8 * number, 8, kind | MapKind::ONCE)
    }

    fn section(&self, kind: MapKind) -> ListItem {
        ListItem::section(self.list.as_ptr().addr(), 64, kind | MapKind::ONCE)
    }

    fn pointer(&self, kind: MapKind) -> ListItem {
        let list = self.list.as_ptr().addr();
        ListItem { base: self.address(), ..ListItem::section(list, 8, kind | MapKind::COUNTED) }
    }

    /// In orders in which compilers have them, and another.
    fn begins(&self) -> [Vec<ListItem>; 3] {
        let [whole, p, q] =
            [self.whole(MapKind::TO), self.member(0, MapKind::TO), self.member(1, MapKind::TO)];
        let [list, attach] = [self.section(MapKind::TO), self.pointer(MapKind::ATTACH)];
        [vec![whole, p, q, list, attach], vec![list, attach, whole, p, q], vec![attach, whole, list, q, p]]
    }

    fn ends(&self) -> [Vec<ListItem>; 3] {
        let [p, q] = [0, 1].map(|number| self.member(number, MapKind::FROM));
        let [list, detach] = [self.section(MapKind::FROM), self.pointer(MapKind::DETACH)];
        [vec![p, q, list, detach], vec![list, detach, p, q], vec![detach, p, list, q]]
    }
}

/// Tries a construct with each moment at which others can come between its steps. Answers how many there are.
fn at_each_moment(mut attempt: impl FnMut(usize) -> bool) -> usize {
    (1..).find(|&moment| !attempt(moment)).expect("a construct has an end")
}

fn assert_attached(world: &World, mock: &support::device::Mock, structure: &Structure, what: &str) {
    let address =
        |host| memory::mapped_address(world.device, host).unwrap_or_else(|| panic!("{what}: absent"));
    let content = mock.read(address(structure.address()), 8);
    let leads = usize::from_ne_bytes(content.try_into().unwrap());
    assert_eq!(leads, address(structure.list.as_ptr().addr()).0, "{what}: the pointer leads elsewhere");
}

/// One ends, and meanwhile the other one who has the data ends, and a third one begins.
#[test]
fn others_end_and_begin_while_one_ends() {
    within(120, || {
        for options in Options::ALL {
            for order in 0..3 {
                let moments = at_each_moment(|moment| {
                    let (world, mock) = World::mock(options);
                    let structure = Structure::new();
                    let (begin, end) = (&structure.begins()[order], &structure.ends()[order]);
                    world.data(DataOperation::Begin, begin).unwrap();
                    world.data(DataOperation::Begin, begin).unwrap();
                    let others = || {
                        world.data(DataOperation::End, end).unwrap();
                        world.data(DataOperation::Begin, begin).unwrap();
                    };
                    let meanwhile = || std::thread::scope(|scope| scope.spawn(others).join().unwrap());
                    let one = Interrupted::new(List::of(end, false), moment, meanwhile);
                    world.runtime.data_and_wait(world.device, Site::NONE, DataOperation::End, &one).unwrap();
                    if !one.has_happened() {
                        return false;
                    }
                    let what = format!("{options:?}, order {order}, moment {moment}");
                    let counts: Vec<u32> = world.mapped().iter().map(|range| range.2).collect();
                    assert_eq!(counts, [1, 1], "{what}");
                    assert_attached(&world, &mock, structure, &what);
                    world.data(DataOperation::End, end).unwrap();
                    assert_eq!(world.mapped(), [], "{what}");
                    mock.assert_all_freed();
                    true
                });
                assert!(moments > 4, "each item is asked for");
            }
        }
    });
}

/// One begins, and meanwhile the one who has the data ends, and a third one begins.
#[test]
fn others_end_and_begin_while_one_begins() {
    within(120, || {
        for options in Options::ALL {
            for order in 0..3 {
                let moments = at_each_moment(|moment| {
                    let (world, mock) = World::mock(options);
                    let structure = Structure::new();
                    let (begin, end) = (&structure.begins()[order], &structure.ends()[order]);
                    world.data(DataOperation::Begin, begin).unwrap();
                    let others = || {
                        world.data(DataOperation::End, end).unwrap();
                        world.data(DataOperation::Begin, begin).unwrap();
                    };
                    let meanwhile = || std::thread::scope(|scope| scope.spawn(others).join().unwrap());
                    let one = Interrupted::new(List::of(begin, false), moment, meanwhile);
                    world
                        .runtime
                        .data_and_wait(world.device, Site::NONE, DataOperation::Begin, &one)
                        .unwrap();
                    if !one.has_happened() {
                        return false;
                    }
                    let what = format!("{options:?}, order {order}, moment {moment}");
                    let counts: Vec<u32> = world.mapped().iter().map(|range| range.2).collect();
                    assert_eq!(counts, [2, 2], "{what}");
                    assert_attached(&world, &mock, structure, &what);
                    world.data(DataOperation::End, end).unwrap();
                    assert_attached(&world, &mock, structure, &what);
                    world.data(DataOperation::End, end).unwrap();
                    assert_eq!(world.mapped(), [], "{what}");
                    mock.assert_all_freed();
                    true
                });
                assert!(moments > 4, "each item is asked for");
            }
        }
    });
}

/// One gives up the last references, and before it copies back another one finds the structure still there
/// and attaches its pointer: the host's pointer keeps its value.
#[test]
fn others_attach_what_one_has_detached_and_copies_back() {
    within(120, || {
        for options in Options::ALL {
            for order in 0..3 {
                let (world, mock) = World::mock(options);
                let world: &'static World = Box::leak(Box::new(world));
                let structure = Structure::new();
                let [begin, end] = [structure.begins()[order].clone(), structure.ends()[order].clone()];
                world.data(DataOperation::Begin, &begin).unwrap();
                let others = move || world.data(DataOperation::Begin, &begin).unwrap();
                mock.before(Call::FromDevice, move || std::thread::spawn(others).join().unwrap());
                world.data(DataOperation::End, &end).unwrap();
                let what = format!("{options:?}, order {order}");
                assert_eq!(structure.pointers, [structure.list.as_ptr().addr(), 0], "{what}");
                assert_attached(world, &mock, structure, &what);
                world.data(DataOperation::End, &end).unwrap();
                assert_eq!(world.mapped(), [], "{what}");
                mock.assert_all_freed();
            }
        }
    });
}
