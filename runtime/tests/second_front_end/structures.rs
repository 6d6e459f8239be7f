//! Structures with a number of members.

use crate::gomp::*;
use crate::program::{Entry, Program, address, table_devices};
use crate::support::device::{Call, Options};
use gangway_runtime::ErrorKind;

/// Members `a`, `b` and `c` of a larger structure, in an order of one's choice.
fn members(structure: &[u8; 128], order: [usize; 3], kind: u8) -> Vec<Entry> {
    const MEMBERS: [(usize, usize); 3] = [(24, 4), (40, 16), (72, 8)];
    let member = |number: usize| (address(structure) + MEMBERS[number].0, MEMBERS[number].1, kind);
    order.map(member).to_vec()
}

fn structure(structure: &[u8; 128], order: [usize; 3], kind: u8) -> Vec<Entry> {
    let sorted = order == [0, 1, 2];
    let head = (address(structure), 3, if sorted { STRUCT } else { STRUCT_UNORD });
    std::iter::once(head).chain(members(structure, order, kind)).collect()
}

/// First byte of `a`, and one behind the last of `c`.
fn hull(structure: &[u8; 128]) -> (usize, usize) {
    (address(structure) + 24, address(structure) + 80)
}

const ORDERS: [[usize; 3]; 3] = [[0, 1, 2], [2, 1, 0], [1, 2, 0]];

#[test]
fn one_allocation_covers_the_members() {
    let devices = || Options::ALL.into_iter().chain(table_devices(8));
    for (options, order) in devices().flat_map(|options| ORDERS.map(|order| (options, order))) {
        let program = Program::new(options, Language::OpenMp);
        let memory = [1u8; 128];
        let entries = structure(&memory, order, TOFROM);
        program.run(&entries, &[1, 2, 3]).unwrap();
        for (at, &byte) in memory.iter().enumerate() {
            let member = [24..28, 40..56, 72..80].iter().any(|range| range.contains(&at));
            assert_eq!(byte, if member { 2 } else { 1 }, "{options:?} {order:?}: byte {at}");
        }
        program.begin(&entries).unwrap();
        let (begin, end) = hull(&memory);
        assert_eq!(program.mapped(), [(begin, end, 1, 0)], "{options:?} {order:?}");
        let device = program.device_address(begin).unwrap().0;
        assert_eq!((device - 24) % 16, 0, "members keep the alignment that they have on the host");
        program.finish(&members(&memory, order, RELEASE)).unwrap();
        program.end();
    }
}

/// A kernel gets the address of the structure, of which nothing is mapped before the first
/// member, and those of the members.
#[test]
fn what_the_kernel_gets() {
    Program::each(Language::OpenMp, |program| {
        let memory = [1u8; 128];
        let entries = structure(&memory, [0, 1, 2], TO);
        program.begin(&entries).unwrap();
        program.run(&entries, &[]).unwrap();
        let device = program.device_address(address(&memory) + 24).unwrap().0 as u64 - 24;
        assert_eq!(program.mock.last_slots()[..4], [device, device + 24, device + 40, device + 72]);
        program.finish(&members(&memory, [0, 1, 2], RELEASE)).unwrap();
    });
}

/// In OpenMP a construct counts once on the structure, whether it names one member or all.
#[test]
fn constructs_count_once() {
    Program::each(Language::OpenMp, |program| {
        let memory = [1u8; 128];
        let entries = structure(&memory, [0, 1, 2], TO);
        for round in 1..=3 {
            program.begin(&entries).unwrap();
            assert_eq!(program.counts(), [round]);
        }
        program.begin(&members(&memory, [0, 1, 2], TO)[..1]).unwrap();
        assert_eq!(program.counts(), [4]);
        // GCC names the members alone where data ends.
        program.finish(&members(&memory, [0, 1, 2], RELEASE)).unwrap();
        program.finish(&members(&memory, [0, 1, 2], RELEASE)[1..]).unwrap();
        program.run(&entries, &[1]).unwrap();
        assert_eq!(program.counts(), [2]);
        program.finish(&members(&memory, [0, 1, 2], RELEASE)[..1]).unwrap();
        program.finish(&members(&memory, [0, 1, 2], FROM)).unwrap();
        assert_eq!(memory[24..28], [2; 4], "what the region has changed has come back");
    });
}

/// One that deletes a member after others were released deletes the structure.
#[test]
fn a_member_is_deleted() {
    Program::each(Language::OpenMp, |program| {
        let memory = [1u8; 128];
        for _ in 0..3 {
            program.begin(&structure(&memory, [0, 1, 2], TO)).unwrap();
        }
        let mut entries = members(&memory, [0, 1, 2], RELEASE);
        entries[0].2 = DELETE;
        program.finish(&entries).unwrap();
    });
}

/// In OpenACC each member counts for itself, is copied back when it leaves, and can come again only with all others.
#[test]
fn members_count() {
    let devices = || Options::ALL.into_iter().chain(table_devices(8));
    for (options, order) in devices().flat_map(|options| ORDERS.map(|order| (options, order))) {
        let program = Program::new(options, Language::OpenAcc);
        let memory = [1u8; 128];
        let at = address(&memory);
        let entries = structure(&memory, order, TO);
        program.begin(&entries).unwrap();
        let all = [(at + 24, at + 28, 1, 0), (at + 40, at + 56, 1, 0), (at + 72, at + 80, 1, 0)];
        assert_eq!(program.mapped(), all, "{options:?} {order:?}");
        let device = program.device_address(at + 24).unwrap().0;
        assert_eq!(device % 16, (at + 24) % 16, "members keep the alignment that they have on the host");
        for member in [40, 72] {
            assert_eq!(program.device_address(at + member).unwrap().0, device + member - 24);
        }
        program.begin(&members(&memory, [0, 1, 2], TO)[1..2]).unwrap();
        assert_eq!(program.counts(), [1, 2, 1]);
        program.run(&entries, &[1, 2, 3]).unwrap();
        assert_eq!((program.counts(), memory), (vec![1, 2, 1], [1; 128]));
        let copied = members(&memory, order, FROM);
        for (number, left) in order.into_iter().zip([2, 1, 0]) {
            let one =
                copied.iter().find(|(host, ..)| *host == members(&memory, [number; 3], FROM)[0].0).unwrap();
            if number == 1 {
                program.finish(&[*one]).unwrap();
                assert_eq!((program.counts().len(), memory[40]), (left + 1, 1), "{options:?} {order:?}");
            }
            program.finish(&[*one]).unwrap();
            assert_eq!(program.counts().len(), left, "{options:?} {order:?}");
            assert_eq!(memory[one.0 - at..][..one.1], vec![2; one.1], "{options:?} {order:?}");
            // It is looked for some time whether another thread is about to give them up.
            if left == 2 && order == ORDERS[0] {
                let error = program.begin(&entries).unwrap_err();
                assert!(matches!(error.kind, ErrorKind::MembersApart { .. }), "{error}");
            }
        }
        program.run(&entries, &[]).unwrap();
        program.end();
    }
}

/// Threads begin and end constructs of the same members: each finds all of them beside each other, or makes them so.
#[test]
fn members_of_threads() {
    Program::each(Language::OpenAcc, |program| {
        let memory = [1u8; 128];
        let entries = structure(&memory, [2, 0, 1], TO);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        program.begin(&entries).unwrap();
                        let first = program.device_address(address(&memory) + 24).unwrap().0;
                        for member in [40, 72] {
                            let other = program.device_address(address(&memory) + member).unwrap().0;
                            assert_eq!(other - first, member - 24);
                        }
                        program.finish(&members(&memory, [0, 1, 2], RELEASE)).unwrap();
                    }
                });
            }
        });
    });
}

/// Members that have been made present apart from each other are there, but not for one construct.
#[test]
fn members_that_come_apart() {
    Program::each(Language::OpenAcc, |program| {
        let memory = [1u8; 128];
        let entries = structure(&memory, [0, 1, 2], TO);
        for member in &entries[1..] {
            program.begin(&[*member]).unwrap();
        }
        let error = program.run(&entries, &[]).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::MembersApart { .. }), "{error}");
        program.finish(&members(&memory, [0, 1, 2], RELEASE)).unwrap();
        // All of it is there: they stand beside each other.
        let all = (address(&memory), 128, TO);
        program.begin(&[all]).unwrap();
        program.run(&entries, &[]).unwrap();
        assert_eq!(program.counts(), [1]);
        program.finish(&[(all.0, all.1, RELEASE)]).unwrap();
        // What has to be present is not made.
        let mut present = entries.clone();
        present[1..].iter_mut().for_each(|entry| entry.2 = FORCE_PRESENT);
        let error = program.begin(&present).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::NotPresent { .. }), "{error}");
        present[1..].iter_mut().for_each(|entry| entry.2 = IF_PRESENT);
        program.begin(&present).unwrap();
        assert_eq!(program.counts(), []);
    });
}

/// A structure that is too large for a block of small data, and members that overlap.
#[test]
fn large_members_and_members_of_members() {
    Program::each(Language::OpenAcc, |program| {
        let memory = vec![1u8; 300_000];
        let at = address(&*memory);
        let entries = [
            (at, 4, STRUCT),
            (at + 8, 100_000, TOFROM),
            (at + 16, 8, TOFROM),
            (at + 250_000, 40_000, TOFROM),
            (at + 299_000, 8, TOFROM),
        ];
        program.begin(&entries).unwrap();
        let ends: Vec<_> = program.mapped().iter().map(|entry| (entry.0 - at, entry.1 - at)).collect();
        assert_eq!(ends, [(8, 100_008), (250_000, 290_000), (299_000, 299_008)]);
        assert_eq!(program.counts(), [2, 1, 1]);
        program.run(&entries, &[1, 3]).unwrap();
        for entry in entries[1..].iter().rev() {
            program.finish(&[(entry.0, entry.1, FROM)]).unwrap();
        }
        assert_eq!(program.counts(), []);
        for (at, expected) in [(7, 1), (8, 2), (100_007, 2), (100_008, 1), (250_000, 2), (299_000, 1)] {
            assert_eq!(memory[at], expected, "{at}");
        }
    });
}

#[test]
fn a_structure_inside_what_is_mapped() {
    Program::each(Language::OpenMp, |program| {
        let memory = [1u8; 128];
        let all = (address(&memory), 128, TO);
        program.begin(&[all]).unwrap();
        program.begin(&structure(&memory, [0, 1, 2], TO)).unwrap();
        assert_eq!(program.counts(), [2]);
        program.finish(&members(&memory, [0, 1, 2], RELEASE)).unwrap();
        program.finish(&[(all.0, all.1, RELEASE)]).unwrap();
        // Of which a part is mapped: as libgomp, an error.
        program.begin(&[(address(&memory) + 40, 16, TO)]).unwrap();
        let error = program.begin(&structure(&memory, [0, 1, 2], TO)).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::PartlyPresent { .. }), "{error}");
        program.finish(&[(address(&memory) + 40, 16, RELEASE)]).unwrap();
    });
}

#[test]
fn structures_with_other_items() {
    Program::each(Language::OpenMp, |program| {
        let (memory, other) = ([1u8; 128], [1u8; 8]);
        let mut entries = vec![(address(&other), 8, TOFROM)];
        entries.extend(structure(&memory, [2, 0, 1], TOFROM));
        entries.push((address(&other), 4, TOFROM));
        program.run(&entries, &[0, 2]).unwrap();
        assert_eq!(other, [2; 8]);
        assert_eq!((memory[72..80].to_vec(), memory[24]), (vec![2; 8], 1));
        // The same variable twice counts once.
        program.begin(&[entries[0], entries[0], entries[5]]).unwrap();
        assert_eq!(program.counts(), [1]);
        program.finish(&[(address(&other), 8, RELEASE)]).unwrap();
    });
}

#[test]
fn structures_that_lack_members() {
    Program::each(Language::OpenMp, |program| {
        let memory = [1u8; 128];
        for count in [0, 4, usize::MAX] {
            let mut entries = structure(&memory, [0, 1, 2], TO);
            entries[0].1 = count;
            let error = program.begin(&entries).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "device 0: argument 0 is mapped in a way that is not known: a structure of {count} members is \
                     followed by 3 items\n  help: the program was made by a compiler newer than this runtime"
                )
            );
        }
    });
}

/// Whatever fails half-way, nothing stays mapped.
#[test]
fn faults() {
    for language in [Language::OpenMp, Language::OpenAcc] {
        for (options, call) in Options::ALL.into_iter().flat_map(|o| Call::ALL.map(|call| (o, call))) {
            for successes in 0.. {
                let program = Program::new(options, language);
                let (memory, other) = ([1u8; 128], [1u8; 8]);
                let mut entries = structure(&memory, [0, 1, 2], TOFROM);
                entries.push((address(&other), 8, TOFROM));
                program.mock.fail(call, successes);
                let result = program.run(&entries, &[1, 2, 3, 4]);
                let failed = program.mock.stop_failing();
                assert_eq!(result.is_err(), failed, "{options:?}: {call:?} {successes}");
                program.end();
                if !failed {
                    break;
                }
            }
        }
    }
}
