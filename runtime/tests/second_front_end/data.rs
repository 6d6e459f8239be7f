//! Kinds of data.

use crate::gomp::*;
use crate::program::{Program, address, table_devices, whole};
use crate::support::device::Options;
use gangway_runtime::ErrorKind;

/// The usual kinds, with a kernel that takes all slots, or one pointer to a table of them.
#[test]
fn regions() {
    for options in Options::ALL.into_iter().chain(table_devices(8)) {
        let program = Program::new(options, Language::OpenMp);
        for round in 1..=3 {
            let (both, to, always) = ([1u8; 16], [2u8; 24], [3u8; 8]);
            let private = [9u8; 40];
            let entries = [
                whole(&both, TOFROM),
                whole(&to, TO),
                whole(&always, ALWAYS_TOFROM),
                whole(&private, FIRSTPRIVATE),
            ];
            program.run(&entries, &[0, 1, 2, 3]).unwrap();
            let expected = ([2; 16], [2; 24], [4; 8], [9; 40]);
            assert_eq!((both, to, always, private), expected, "{options:?} round {round}");
        }
        program.end();
    }
}

#[test]
fn values_and_device_pointers_go_as_they_are() {
    Program::each(Language::OpenMp, |program| {
        let entries = [(0x1234_5678, 4, FIRSTPRIVATE_INT), (0x7dec_0000_1111, 0, FORCE_DEVICEPTR)];
        program.run(&entries, &[]).unwrap();
        assert_eq!(program.mock.last_slots(), [0x1234_5678, 0x7dec_0000_1111, 0, 0]);
    });
}

/// `omp_target_is_present` and `no_create`: nothing is made, the kernel gets the host's
/// address; what is present is counted.
#[test]
fn items_that_are_used_if_they_are_present() {
    Program::each(Language::OpenAcc, |program| {
        let (absent, present) = ([1u8; 8], [1u8; 8]);
        program.begin(&[whole(&present, TO)]).unwrap();
        program.run(&[whole(&absent, IF_PRESENT), whole(&present, IF_PRESENT)], &[1]).unwrap();
        let device = program.device_address(address(&present)).unwrap();
        assert_eq!(program.mock.last_slots()[..2], [address(&absent) as u64, device.0 as u64]);
        assert_eq!(program.counts(), [1]);
        program.begin(&[whole(&absent, IF_PRESENT), whole(&present, IF_PRESENT)]).unwrap();
        assert_eq!(program.counts(), [2]);
        program.finish(&[whole(&absent, RELEASE), whole(&present, RELEASE)]).unwrap();
        program.finish(&[whole(&present, FROM)]).unwrap();
        assert_eq!((absent, present), ([1; 8], [2; 8]));
    });
}

#[test]
fn addresses_for_the_caller() {
    Program::each(Language::OpenMp, |program| {
        let (absent, present) = ([1u8; 8], [1u8; 8]);
        program.begin(&[whole(&present, TO)]).unwrap();
        let device = program.device_address(address(&present)).unwrap().0;
        let at = |variable: &[u8; 8], kind| (address(variable) + 4, 0, kind);
        let entries = [at(&present, USE_DEVICE_PTR), at(&absent, USE_DEVICE_PTR_IF_PRESENT)];
        let returned = program.data(Construct::Begin, &entries).unwrap();
        assert_eq!(returned, [device + 4, address(&absent) + 4]);
        assert_eq!(program.counts(), [1], "asking does not count");
        let error = program.begin(&[at(&absent, USE_DEVICE_PTR)]).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::NotPresent { .. }), "{error}");
        program.finish(&[whole(&present, RELEASE)]).unwrap();
    });
}

#[test]
fn what_is_forced_must_be_new() {
    Program::each(Language::OpenAcc, |program| {
        let memory = [7u8; 64];
        let part = (address(&memory) + 16, 32, FORCE_TO);
        program.begin(&[part]).unwrap();
        for kind in [FORCE_ALLOC, FORCE_TO, FORCE_FROM, FORCE_TOFROM] {
            // Inside what is there, around it, and overlapping.
            for (offset, size) in [(16, 32), (20, 4), (0, 64), (0, 20)] {
                let error = program.begin(&[(address(&memory) + offset, size, kind)]).unwrap_err();
                assert!(matches!(error.kind, ErrorKind::AlreadyPresent { .. }), "{error}");
                let (begin, mapped) = (address(&memory) + offset, part.0);
                assert_eq!(
                    error.to_string(),
                    format!(
                        "device 0: [{begin:#x}, {:#x}) of {size} bytes must be new on the device and is mapped \
                         already, at least in part\n  already mapped: [{mapped:#x}, {:#x}) of 32 bytes\n  \
                         help: unmap it before",
                        begin + size,
                        mapped + 32
                    )
                );
            }
        }
        assert_eq!(program.counts(), [1]);
        program.finish(&[(part.0, part.1, RELEASE)]).unwrap();
    });
}

/// Where data ends, force ends it whoever else has it, and copies.
#[test]
fn forced_ends() {
    Program::each(Language::OpenAcc, |program| {
        let memory = [7u8; 32];
        for kind in [FORCE_FROM, DELETE] {
            for _ in 0..3 {
                program.begin(&[whole(&memory, TO)]).unwrap();
            }
            program.run(&[whole(&memory, FORCE_PRESENT)], &[0]).unwrap();
            assert_eq!(program.counts(), [3]);
            program.finish(&[whole(&memory, kind)]).unwrap();
            assert_eq!(program.counts(), []);
            assert_eq!(memory, [8; 32]);
        }
        let error = program.run(&[whole(&memory, FORCE_PRESENT)], &[]).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::NotPresent { .. }), "{error}");
    });
}

/// GCC's `acc update` forces: it is an error if the data is not there.
#[test]
fn forced_updates() {
    Program::each(Language::OpenAcc, |program| {
        let memory = [7u8; 32];
        let update = |kind| program.data(Construct::Update, &[whole(&memory, kind)]);
        assert!(matches!(update(FORCE_TO).unwrap_err().kind, ErrorKind::NotPresent { .. }));
        update(TO).unwrap();
        program.begin(&[whole(&memory, ALLOC)]).unwrap();
        update(FORCE_TO).unwrap();
        program.run(&[whole(&memory, ALLOC)], &[0]).unwrap();
        update(FORCE_FROM).unwrap();
        assert_eq!(memory, [8; 32]);
        program.finish(&[whole(&memory, DELETE)]).unwrap();
    });
}

#[test]
fn sections_without_a_byte() {
    Program::each(Language::OpenMp, |program| {
        let memory = [1u8; 32];
        let section = (address(&memory) + 8, 0, ZERO_LEN_ARRAY_SECTION);
        program.run(&[section], &[]).unwrap();
        assert_eq!(program.mock.last_slots()[0], 0, "nothing is mapped there");
        program.begin(&[whole(&memory, TO)]).unwrap();
        program.run(&[section], &[]).unwrap();
        let device = program.device_address(address(&memory)).unwrap();
        assert_eq!(program.mock.last_slots()[0], device.0 as u64 + 8);
        program.begin(&[section]).unwrap();
        assert_eq!(program.counts(), [2]);
        program.finish(&[(section.0, 0, DELETE_ZERO_LEN_ARRAY_SECTION)]).unwrap();
    });
}

#[test]
fn kinds_that_are_not_known() {
    Program::each(Language::OpenMp, |program| {
        let memory = [1u8; 8];
        for construct in [Construct::Begin, Construct::End, Construct::Update] {
            let error = program.data(construct, &[whole(&memory, TO), whole(&memory, 99)]).unwrap_err();
            assert_eq!(
                error.to_string(),
                "device 0: argument 1 is mapped in a way that is not known: map kind 99\n  \
                 help: the program was made by a compiler newer than this runtime"
            );
        }
    });
}
