//! List items of one construct that share an entry: what one of them is mapped for
//! holds, whichever makes the entry or gives up its last reference, and nothing is
//! copied twice.

mod support;

use gangway_runtime::DataOperation::{Begin, End};
use gangway_runtime::map_type as bit;
use gangway_runtime::{Components, Item, Label};
use std::ffi::c_void;
use support::construct::{Access, ListItem, World};
use support::device::{Call, Options};

const BOTH: u64 = bit::TO | bit::FROM;

/// Bytes of the variable, and of a half of it.
const SIZE: usize = 32;
const HALF: usize = SIZE / 2;

fn part(memory: &[u8], range: std::ops::Range<usize>, map_type: u64) -> ListItem {
    let part = &memory[range];
    ListItem::section(part.as_ptr().addr(), part.len(), map_type)
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
    world.data(Begin, &[part(&memory, 0..SIZE, bit::TO)]).unwrap();
    world.launch(&[part(&memory, 0..SIZE, 0).parameter(Access::Increment)]).unwrap();
    assert!(memory.iter().all(|&byte| byte == 1));
    let (_, back) = copies(&mock, || world.data(End, &items(&memory)).unwrap());
    assert_eq!(world.mapped(), []);
    mock.assert_all_freed();
    (memory, back)
}

/// Pushes the second half of what it is given.
unsafe extern "C" fn second_half(to: *mut c_void, base: usize, begin: usize, size: i64, bits: u64, _: Label) {
    // SAFETY: the runtime's own components.
    let components = unsafe { &mut *to.cast::<Components>() };
    let (begin, size) = (begin + size as usize / 2, size / 2);
    components.push(Item { base, begin, size, map_type: bits, label: Label::NONE, mapper: None });
}

#[test]
fn the_last_reference_may_go_with_another_item() {
    type Case = (&'static str, fn(&[u8]) -> Vec<ListItem>);
    let whole: [Case; 7] = [
        ("from, delete", |m| vec![part(m, 0..SIZE, bit::FROM), part(m, 0..SIZE, bit::DELETE)]),
        ("delete, from", |m| vec![part(m, 0..SIZE, bit::DELETE), part(m, 0..SIZE, bit::FROM)]),
        ("from, release", |m| vec![part(m, 0..SIZE, bit::FROM), part(m, 0..SIZE, 0)]),
        ("release, from", |m| vec![part(m, 0..SIZE, 0), part(m, 0..SIZE, bit::FROM)]),
        ("from, from", |m| vec![part(m, 0..SIZE, bit::FROM); 2]),
        ("one byte, from", |m| vec![part(m, 3..4, 0), part(m, 0..SIZE, bit::FROM), part(m, 9..9, 0)]),
        ("member before its structure", |m| {
            let member = part(m, 0..SIZE, bit::FROM | 1 << bit::MEMBER_OF.trailing_zeros());
            vec![part(m, 0..SIZE, 0), member, part(m, 0..4, 0)]
        }),
    ];
    for options in Options::ALL {
        for (name, items) in whole {
            let (memory, back) = after_end(options, items);
            assert_eq!((memory, back), (vec![2; SIZE], 1), "{options:?}: {name}");
        }
        // Two sections, both copied once.
        let (memory, back) = after_end(options, |m| {
            let sections = [part(m, 0..HALF, bit::FROM), part(m, HALF..SIZE, bit::FROM)];
            vec![sections[0], sections[1], sections[0], sections[1]]
        });
        assert_eq!((memory, back), (vec![2; SIZE], 2), "{options:?}: two sections");
        // A mapper's component and the whole, in either order.
        for mapper_first in [false, true] {
            let (memory, back) = after_end(options, |m| {
                let whole = part(m, 0..SIZE, bit::FROM);
                let mapped = ListItem { mapper: Some(second_half), ..whole };
                if mapper_first { vec![mapped, whole] } else { vec![whole, mapped] }
            });
            assert_eq!(memory, [2; SIZE], "{options:?}");
            // The half first, if it stands behind: items are given up in reverse.
            assert_eq!(back, if mapper_first { 1 } else { 2 }, "{options:?}");
        }
        // What is not asked for is not copied.
        let (memory, back) =
            after_end(options, |m| vec![part(m, 0..HALF, bit::FROM), part(m, 0..SIZE, bit::DELETE)]);
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

/// One item makes the entry, another says what is to be copied.
#[test]
fn a_region_whose_items_share_what_it_makes() {
    let regions: [(&str, &[u64], (usize, usize)); 6] = [
        ("tofrom twice", &[BOTH, BOTH], (1, 1)),
        ("tofrom three times", &[BOTH, BOTH, BOTH], (1, 1)),
        ("alloc, to, from", &[0, bit::TO, bit::FROM], (1, 1)),
        ("from, to", &[bit::FROM, bit::TO], (1, 1)),
        ("always twice", &[BOTH | bit::ALWAYS, BOTH | bit::ALWAYS], (1, 2)),
        ("nothing", &[0, 0], (0, 0)),
    ];
    for options in Options::ALL {
        for (name, types, expected) in regions {
            let (world, mock) = World::mock(options);
            let memory = vec![1u8; SIZE];
            let mut items: Vec<_> = types.iter().map(|&bits| part(&memory, 0..SIZE, bits)).collect();
            items[0] = items[0].parameter(Access::Increment);
            let found = copies(&mock, || world.launch(&items).unwrap());
            assert_eq!(found, expected, "{options:?}: {name}");
            let copied_back = types.iter().any(|bits| bits & bit::FROM != 0);
            assert_eq!(memory, [if copied_back { 2 } else { 1 }; SIZE], "{options:?}: {name}");
            // The same as `target data` around a region.
            let found = copies(&mock, || {
                world.data(Begin, &items).unwrap();
                world.launch(&[part(&memory, 0..SIZE, 0).parameter(Access::Increment)]).unwrap();
                world.data(End, &items).unwrap();
            });
            assert_eq!(found, expected, "{options:?}: {name}");
            assert_eq!(memory, [if copied_back { 3 } else { 1 }; SIZE], "{options:?}: {name}");
            mock.assert_all_freed();
        }
    }
}

/// Sections of a structure are copied once each, and no byte of it is left out.
#[test]
fn parts_of_what_a_construct_makes() {
    let member_of_first = 1 << bit::MEMBER_OF.trailing_zeros();
    for options in Options::ALL {
        let (world, mock) = World::mock(options);
        let memory = vec![1u8; SIZE];
        let member = |range| part(&memory, range, BOTH | member_of_first);
        let items = [
            part(&memory, 0..SIZE, 0).parameter(Access::Increment),
            member(0..8),
            member(0..8),
            member(8..HALF),
            member(4..12),
            member(HALF..SIZE),
        ];
        // Items are given up in reverse: the overlap comes before what it overlaps.
        assert_eq!(copies(&mock, || world.launch(&items).unwrap()), (3, 4), "{options:?}");
        assert_eq!(memory, [2; SIZE], "{options:?}");
        mock.assert_all_freed();
    }
}
