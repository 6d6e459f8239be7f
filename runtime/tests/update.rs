//! `target update` of sections that are not contiguous: rows that are mapped one by
//! one, sections of which nothing is mapped, and descriptions that make no sense.

mod support;

use gangway_runtime::DataOperation::{Begin, End, Update};
use gangway_runtime::map_type as bit;
use gangway_runtime::{Damage, Dimension, ErrorKind};
use support::construct::{Access, ListItem, World};
use support::device::{Call, Options};
use support::within;

const ROW: usize = 16;

fn dimension([offset, count, stride]: [u64; 3]) -> Dimension {
    Dimension { offset, count, stride }
}

/// A section as the compiler passes it: the dimensions and their number.
fn section(base: usize, dimensions: &[Dimension], count: i64, bits: u64) -> ListItem {
    let begin = dimensions.as_ptr().addr();
    ListItem { base, ..ListItem::section(begin, count as usize, bits | bit::NON_CONTIGUOUS) }
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
                world.data(Begin, &[part(range, bit::TO)]).unwrap();
                world.launch(&[part(range, 0).parameter(Access::Increment)]).unwrap();
            }
            // Bytes 2 to 5 of rows 0, 1 and 2.
            let dimensions = [dimension([0, 3, ROW as u64]), dimension([2, 4, 1])];
            let item = section(matrix.as_ptr().addr(), &dimensions, 2, bit::FROM);
            world.data(Update, &[item]).unwrap();
            for (at, &byte) in matrix.iter().enumerate() {
                let selected = at / ROW < 3 && (2..6).contains(&(at % ROW));
                let present = mapped.iter().any(|range| range.contains(&at));
                assert_eq!(
                    byte,
                    if selected && present { 2 } else { 1 },
                    "{options:?}: {mapped:?}: byte {at}"
                );
            }
            let items: Vec<_> = mapped.iter().map(|range| part(range, 0)).collect();
            world.data(End, &items).unwrap();
            mock.assert_all_freed();
        }
    }
}

/// A section may have more runs than can be counted, if it is not there.
#[test]
fn sections_that_are_not_mapped_take_no_time() {
    within(60, || {
        let (world, mock) = World::mock(Options::SYNCHRONOUS);
        let memory = [1u8; 64];
        let base = memory.as_ptr().addr();
        let dimensions = [dimension([0, 1 << 40, 16]), dimension([0, 1, 8])];
        for mapped in [&memory[..0], &memory[..32]] {
            let items = [ListItem::section(mapped.as_ptr().addr(), mapped.len(), bit::TO)];
            world.data(Begin, &items).unwrap();
            let copied = mock.made(Call::ToDevice);
            world.data(Update, &[section(base, &dimensions, 2, bit::TO)]).unwrap();
            assert_eq!(mock.made(Call::ToDevice), copied);
            let error =
                world.data(Update, &[section(base, &dimensions, 2, bit::TO | bit::PRESENT)]).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::NotPresent { .. }), "{error}");
            world.data(End, &items).unwrap();
        }
        mock.assert_all_freed();
    });
}

#[test]
fn descriptions_that_make_no_sense_are_reported() {
    let (world, mock) = World::mock(Options::SYNCHRONOUS);
    let memory = vec![1u8; 256];
    let whole = ListItem::section(memory.as_ptr().addr(), memory.len(), bit::TO);
    world.data(Begin, &[whole]).unwrap();
    let mut dimensions = vec![dimension([0x7ffd_0000_1000, 3, 0x7ffd_0000_2000]); 4096];
    dimensions[0] = dimension([0, 8, 16]);
    dimensions[1] = dimension([0, 1, 8]);
    let update = |base, count| world.data(Update, &[section(base, &dimensions, count, bit::FROM)]);
    let base = whole.begin;
    update(base, 2).unwrap();
    update(base, 0).unwrap();
    for count in [1, 33, 64, 4096, -1, i64::MIN, i64::MAX] {
        let error = update(base, count).unwrap_err();
        let ErrorKind::DamagedSection { reason, .. } = error.kind else { panic!("{error}") };
        assert_eq!(reason, Damage::Count(count));
    }
    for count in [3, 8, 32] {
        let error = update(base, count).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::DamagedSection { reason: Damage::Dimension { .. }, .. }));
    }
    let error = update(usize::MAX - 8, 2).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::DamagedSection { reason: Damage::TooLarge, .. }));
    assert_eq!(
        update(base, 64).unwrap_err().to_string(),
        "device 0: the section of a list item cannot be updated: the compiler describes it with 64 dimensions, 2 \
         to 32 are possible\n  help: clang 22 does so for sections with a stride and a length that is no constant; \
         give it a constant length, or update the elements one by one"
    );
    world.data(End, &[whole]).unwrap();
    mock.assert_all_freed();
}
