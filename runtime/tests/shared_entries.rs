//! List items of one construct that share an entry: what one of them is mapped for
//! holds, whichever makes the entry or gives up its last reference, and nothing is
//! copied twice.

mod support;

use gangway_runtime::DataOperation::{Begin, End};
use gangway_runtime::{Components, Item, MapKind};
use support::construct::{Access, ListItem, World};
use support::device::{Call, Options};

const BOTH: MapKind = MapKind::TO.with(MapKind::FROM);

/// Bytes of the variable, and of a half of it.
const SIZE: usize = 32;
const HALF: usize = SIZE / 2;

fn part(memory: &[u8], range: std::ops::Range<usize>, kind: MapKind) -> ListItem {
    let part = &memory[range];
    ListItem::section(part.as_ptr().addr(), part.len(), kind)
}

/// Copies to the device and back that `construct` leads to.
fn copies(mock: &support::device::Mock, construct: impl FnOnce()) -> (usize, usize) {
    let made = || (mock.made(Call::ToDevice), mock.made(Call::FromDevice));
    let before = made();
    construct();
    (made().0 - before.0, made().1 - before.1)
}

/// Ends with `items` what one reference keeps on the device, where it has been changed;
/// answers the host's memory and the copies back.
fn after_end(options: Options, items: impl FnOnce(&[u8]) -> Vec<ListItem>) -> (Vec<u8>, usize) {
    let (world, mock) = World::mock(options);
    let memory = vec![1u8; SIZE];
    world.data(Begin, &[part(&memory, 0..SIZE, MapKind::TO)]).unwrap();
    world.launch(&[part(&memory, 0..SIZE, MapKind::ALLOC).parameter(Access::Increment)]).unwrap();
    assert!(memory.iter().all(|&byte| byte == 1));
    let (_, back) = copies(&mock, || world.data(End, &items(&memory)).unwrap());
    assert_eq!(world.mapped(), []);
    mock.assert_all_freed();
    (memory, back)
}

/// Pushes the second half of what it is given.
fn second_half(item: &Item, components: &mut Components) {
    components.push(Item { begin: item.begin + item.size / 2, size: item.size / 2, ..*item });
}

#[test]
fn the_last_reference_may_go_with_another_item() {
    type Case = (&'static str, fn(&[u8]) -> Vec<ListItem>);
    let whole: [Case; 7] = [
        ("from, delete", |m| vec![part(m, 0..SIZE, MapKind::FROM), part(m, 0..SIZE, MapKind::DELETE)]),
        ("delete, from", |m| vec![part(m, 0..SIZE, MapKind::DELETE), part(m, 0..SIZE, MapKind::FROM)]),
        ("from, release", |m| vec![part(m, 0..SIZE, MapKind::FROM), part(m, 0..SIZE, MapKind::ALLOC)]),
        ("release, from", |m| vec![part(m, 0..SIZE, MapKind::ALLOC), part(m, 0..SIZE, MapKind::FROM)]),
        ("from, from", |m| vec![part(m, 0..SIZE, MapKind::FROM); 2]),
        ("one byte, from", |m| {
            vec![
                part(m, 3..4, MapKind::ALLOC),
                part(m, 0..SIZE, MapKind::FROM),
                part(m, 9..9, MapKind::ALLOC),
            ]
        }),
        ("member before its structure", |m| {
            let member = part(m, 0..SIZE, MapKind::FROM.member_of(0));
            vec![part(m, 0..SIZE, MapKind::ALLOC), member, part(m, 0..4, MapKind::ALLOC)]
        }),
    ];
    for options in Options::ALL {
        for (name, items) in whole {
            let (memory, back) = after_end(options, items);
            assert_eq!((memory, back), (vec![2; SIZE], 1), "{options:?}: {name}");
        }
        // Two sections, both copied once.
        let (memory, back) = after_end(options, |m| {
            let sections = [part(m, 0..HALF, MapKind::FROM), part(m, HALF..SIZE, MapKind::FROM)];
            vec![sections[0], sections[1], sections[0], sections[1]]
        });
        assert_eq!((memory, back), (vec![2; SIZE], packed(options, (0, 2)).1), "{options:?}: two sections");
        // A mapper's component and the whole, in either order.
        for mapper_first in [false, true] {
            let (memory, back) = after_end(options, |m| {
                let whole = part(m, 0..SIZE, MapKind::FROM);
                let mapped = ListItem { mapper: Some(second_half), ..whole };
                if mapper_first { vec![mapped, whole] } else { vec![whole, mapped] }
            });
            assert_eq!(memory, [2; SIZE], "{options:?}");
            // The half first, if it stands behind: items are given up in reverse.
            assert_eq!(back, packed(options, (0, if mapper_first { 1 } else { 2 })).1, "{options:?}");
        }
        // What is not asked for is not copied.
        let (memory, back) =
            after_end(options, |m| vec![part(m, 0..HALF, MapKind::FROM), part(m, 0..SIZE, MapKind::DELETE)]);
        assert_eq!((&memory[..HALF], &memory[HALF..], back), (&[2; HALF][..], &[1; HALF][..], 1));
    }
}

/// Other references keep the entry: nothing is copied back.
#[test]
fn what_others_keep_is_not_copied_back() {
    for options in Options::ALL {
        let (world, mock) = World::mock(options);
        let memory = vec![1u8; SIZE];
        let whole = part(&memory, 0..SIZE, BOTH);
        for _ in 0..3 {
            world.data(Begin, &[whole]).unwrap();
        }
        assert_eq!(copies(&mock, || world.data(End, &[whole, whole]).unwrap()), (0, 0), "{options:?}");
        assert_eq!(copies(&mock, || world.data(End, &[whole]).unwrap()), (0, 1), "{options:?}");
        mock.assert_all_freed();
    }
}

/// A construct's copies on a device of this kind.
fn packed(options: Options, (to, from): (usize, usize)) -> (usize, usize) {
    if options.packed { (to.min(1), from.min(1)) } else { (to, from) }
}

/// One item makes the entry, another says what is to be copied.
#[test]
fn a_region_whose_items_share_what_it_makes() {
    let regions: [(&str, &[MapKind], (usize, usize)); 6] = [
        ("tofrom twice", &[BOTH, BOTH], (1, 1)),
        ("tofrom three times", &[BOTH, BOTH, BOTH], (1, 1)),
        ("alloc, to, from", &[MapKind::ALLOC, MapKind::TO, MapKind::FROM], (1, 1)),
        ("from, to", &[MapKind::FROM, MapKind::TO], (1, 1)),
        ("always twice", &[BOTH | MapKind::ALWAYS, BOTH | MapKind::ALWAYS], (1, 2)),
        ("nothing", &[MapKind::ALLOC; 2], (0, 0)),
    ];
    for options in Options::ALL {
        for (name, types, expected) in regions {
            let (world, mock) = World::mock(options);
            let memory = vec![1u8; SIZE];
            let mut items: Vec<_> = types.iter().map(|&bits| part(&memory, 0..SIZE, bits)).collect();
            items[0] = items[0].parameter(Access::Increment);
            let found = copies(&mock, || world.launch(&items).unwrap());
            assert_eq!(found, packed(options, expected), "{options:?}: {name}");
            let copied_back = types.iter().any(|bits| bits.has(MapKind::FROM));
            assert_eq!(memory, [if copied_back { 2 } else { 1 }; SIZE], "{options:?}: {name}");
            // The same as `target data` around a region.
            let found = copies(&mock, || {
                world.data(Begin, &items).unwrap();
                world.launch(&[part(&memory, 0..SIZE, MapKind::ALLOC).parameter(Access::Increment)]).unwrap();
                world.data(End, &items).unwrap();
            });
            assert_eq!(found, packed(options, expected), "{options:?}: {name}");
            assert_eq!(memory, [if copied_back { 3 } else { 1 }; SIZE], "{options:?}: {name}");
            mock.assert_all_freed();
        }
    }
}

/// Sections of a structure are copied once each, and no byte of it is left out.
#[test]
fn parts_of_what_a_construct_makes() {
    for options in Options::ALL {
        let (world, mock) = World::mock(options);
        let memory = vec![1u8; SIZE];
        let member = |range| part(&memory, range, BOTH.member_of(0));
        let items = [
            part(&memory, 0..SIZE, MapKind::ALLOC).parameter(Access::Increment),
            member(0..8),
            member(0..8),
            member(8..HALF),
            member(4..12),
            member(HALF..SIZE),
        ];
        // Items are given up in reverse: the overlap comes before what it overlaps.
        let found = copies(&mock, || world.launch(&items).unwrap());
        assert_eq!(found, packed(options, (3, 4)), "{options:?}");
        assert_eq!(memory, [2; SIZE], "{options:?}");
        mock.assert_all_freed();
    }
}
