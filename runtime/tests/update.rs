//! `target update` of sections that are not contiguous: rows that are mapped one by
//! one, sections of which nothing is mapped, and descriptions that make no sense.

mod support;

use gangway_runtime::DataOperation::{Begin, End, Update};
use gangway_runtime::{ErrorKind, MapKind};
use support::construct::{Access, ListItem, Rows, World};
use support::device::{Call, Options};
use support::within;

const ROW: usize = 16;

/// An update of a section in pieces.
fn section(rows: &Rows, kind: MapKind) -> ListItem {
    ListItem::section(std::ptr::from_ref(rows).addr(), size_of::<Rows>(), kind | MapKind::IN_PIECES)
}

#[test]
fn rows_are_moved_wherever_they_are_mapped() {
    for options in Options::ALL {
        // First row and the one behind the last.
        for rows in [&[(0, 4)][..], &[(0, 1), (1, 4)], &[(1, 2)]] {
            let mapped: Vec<_> = rows.iter().map(|&(first, end)| first * ROW..end * ROW).collect();
            let (world, mock) = World::mock(options);
            let matrix = [1u8; 4 * ROW];
            let part = |range: &std::ops::Range<usize>, bits| {
                ListItem::section(matrix[range.clone()].as_ptr().addr(), range.len(), bits)
            };
            for range in &mapped {
                world.data(Begin, &[part(range, MapKind::TO)]).unwrap();
                world.launch(&[part(range, MapKind::ALLOC).parameter(Access::Increment)]).unwrap();
            }
            // Bytes 2 to 5 of rows 0, 1 and 2.
            let rows = Rows { first: matrix.as_ptr().addr() + 2, count: 3, distance: ROW, size: 4 };
            world.data(Update, &[section(&rows, MapKind::FROM)]).unwrap();
            for (at, &byte) in matrix.iter().enumerate() {
                let selected = at / ROW < 3 && (2..6).contains(&(at % ROW));
                let present = mapped.iter().any(|range| range.contains(&at));
                assert_eq!(
                    byte,
                    if selected && present { 2 } else { 1 },
                    "{options:?}: {mapped:?}: byte {at}"
                );
            }
            let items: Vec<_> = mapped.iter().map(|range| part(range, MapKind::ALLOC)).collect();
            world.data(End, &items).unwrap();
            mock.assert_all_freed();
        }
    }
}

/// A section has more rows than uses of an entry can be counted: it uses the entry once.
#[test]
fn all_rows_are_one_use() {
    let (world, mock) = World::mock(Options::LAZY);
    let matrix = [1u8; 1100 * ROW];
    let whole = |kind| ListItem::section(matrix.as_ptr().addr(), matrix.len(), kind);
    world.data(Begin, &[whole(MapKind::TO)]).unwrap();
    let rows = Rows { first: matrix.as_ptr().addr(), count: 1100, distance: ROW, size: 4 };
    let update = world.issue_data(Update, &[section(&rows, MapKind::TO)]).unwrap();
    let uses = world.device.table.entries()[0].snapshot().map(|counts| counts.unmapping);
    assert_eq!(uses, Some(1));
    world.data(End, &[whole(MapKind::FROM)]).unwrap();
    update.complete().unwrap();
    assert_eq!(world.mapped(), []);
    mock.assert_all_freed();
}

/// A section may have more runs than can be counted, if it is not there.
#[test]
fn sections_that_are_not_mapped_take_no_time() {
    within(60, || {
        let (world, mock) = World::mock(Options::SYNCHRONOUS);
        let memory = [1u8; 64];
        let rows = Rows { first: memory.as_ptr().addr(), count: 1 << 40, distance: 16, size: 8 };
        for mapped in [&memory[..0], &memory[..32]] {
            let items = [ListItem::section(mapped.as_ptr().addr(), mapped.len(), MapKind::TO)];
            world.data(Begin, &items).unwrap();
            let copied = mock.made(Call::ToDevice);
            world.data(Update, &[section(&rows, MapKind::TO)]).unwrap();
            assert_eq!(mock.made(Call::ToDevice), copied);
            let error = world.data(Update, &[section(&rows, MapKind::TO | MapKind::PRESENT)]).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::NotPresent { .. }), "{error}");
            world.data(End, &items).unwrap();
        }
        mock.assert_all_freed();
    });
}

/// The front end says whether a section that is present in part is an error.
#[test]
fn a_part_that_is_present_is_not_moved() {
    let (world, mock) = World::mock(Options::SYNCHRONOUS);
    let memory = [1u8; 64];
    let part = |first: usize, size, kind| ListItem::section(memory.as_ptr().addr() + first, size, kind);
    world.data(Begin, &[part(16, 16, MapKind::TO)]).unwrap();
    let copied = mock.made(Call::ToDevice);
    world.data(Update, &[part(8, 16, MapKind::TO)]).unwrap();
    let error = world.data(Update, &[part(8, 16, MapKind::TO | MapKind::WHOLE)]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::PartlyPresent { .. }), "{error}");
    // What is wholly there, and what is not there at all, is the same with it.
    world.data(Update, &[part(40, 8, MapKind::TO | MapKind::WHOLE)]).unwrap();
    assert_eq!(mock.made(Call::ToDevice), copied);
    world.data(Update, &[part(16, 8, MapKind::TO | MapKind::WHOLE)]).unwrap();
    assert_eq!(mock.made(Call::ToDevice), copied + 1);
    world.data(End, &[part(16, 16, MapKind::ALLOC)]).unwrap();
    mock.assert_all_freed();
}

#[test]
fn descriptions_that_make_no_sense_are_reported() {
    let (world, mock) = World::mock(Options::SYNCHRONOUS);
    let memory = vec![1u8; 256];
    let whole = ListItem::section(memory.as_ptr().addr(), memory.len(), MapKind::TO);
    world.data(Begin, &[whole]).unwrap();
    let overlapping = Rows { first: whole.begin, count: 2, distance: 4, size: 8 };
    let error = world.data(Update, &[section(&overlapping, MapKind::FROM)]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::DamagedSection { .. }));
    assert_eq!(
        error.to_string(),
        "device 0: the section of a list item cannot be updated: the compiler describes it with rows that \
         overlap\n  help: put them apart"
    );
    world.data(End, &[whole]).unwrap();
    mock.assert_all_freed();
}
