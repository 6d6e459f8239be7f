//! Pointers: attach and detach with counts, always-pointer, pointers with an entry.

use crate::gomp::*;
use crate::program::{Entry, Program, address, whole};
use crate::support::device::{Call, Options};
use crate::support::within;
use gangway_runtime::ErrorKind;

/// A structure with a pointer, and what it points to.
struct Linked {
    holder: Box<[usize; 3]>,
    data: Vec<u8>,
    other: Vec<u8>,
}

impl Linked {
    fn new() -> Self {
        let (data, other) = (vec![1; 64], vec![1; 64]);
        Self { holder: Box::new([11, address(&*data), 22]), data, other }
    }

    fn holder(&self, kind: u8) -> Entry {
        whole(&*self.holder, kind)
    }

    fn data(&self, kind: u8) -> Entry {
        whole(&*self.data, kind)
    }

    /// The pointer; its section begins `bias` bytes behind where it points to.
    fn pointer(&self, bias: usize, kind: u8) -> Entry {
        (address(&self.holder[1]), bias, kind)
    }

    fn begin(&self, program: &Program) {
        program.begin(&[self.holder(TO), self.data(TO)]).unwrap();
    }

    fn end(&self, program: &Program) {
        program.finish(&[self.holder(DELETE), self.data(DELETE)]).unwrap();
    }

    /// The pointer on the device.
    fn on_device(&self, program: &Program) -> usize {
        program.word(address(&self.holder[1]))
    }
}

fn device(program: &Program, host: &[u8]) -> usize {
    program.device_address(address(host)).unwrap().0
}

/// A pointer to a section that has no storage is null on the device, and the host's is as it
/// was when it is detached, or copied back before.
#[test]
fn what_points_to_nothing_is_null() {
    Program::each(Language::OpenMp, |program| {
        let linked = Linked::new();
        program.begin(&[linked.holder(TOFROM)]).unwrap();
        program.begin(&[linked.pointer(0, ATTACH_ZERO_LENGTH_ARRAY_SECTION)]).unwrap();
        assert_eq!(linked.on_device(program), 0);
        program.data(Construct::Update, &[linked.holder(FROM)]).unwrap();
        assert_eq!(linked.holder[1], address(&*linked.data), "the copy goes around it");
        // What it points to becomes present: the pointer is attached to it.
        program.begin(&[linked.data(TO)]).unwrap();
        program.begin(&[linked.pointer(0, ATTACH_ZERO_LENGTH_ARRAY_SECTION)]).unwrap();
        assert_eq!(linked.on_device(program), device(program, &linked.data));
        program.finish(&[linked.pointer(0, FORCE_DETACH)]).unwrap();
        assert_eq!(linked.on_device(program), address(&*linked.data));
        linked.end(program);
    });
}

/// OpenACC 3.3 section 2.6.8: the pointer stays attached until it has been detached as
/// often, and then has the value that the host's has.
#[test]
fn attachments_count() {
    Program::each(Language::OpenAcc, |program| {
        let mut linked = Linked::new();
        linked.begin(program);
        assert_eq!(linked.on_device(program), address(&*linked.data), "not attached, just copied");
        for _ in 0..3 {
            program.begin(&[linked.pointer(0, ATTACH)]).unwrap();
            assert_eq!(linked.on_device(program), device(program, &linked.data));
        }
        for _ in 0..2 {
            program.finish(&[linked.pointer(0, DETACH)]).unwrap();
            assert_eq!(linked.on_device(program), device(program, &linked.data));
        }
        // Copies go around an attached pointer, and not around one that is none any more.
        program.data(Construct::Update, &[linked.holder(TO)]).unwrap();
        assert_eq!(linked.on_device(program), device(program, &linked.data));
        let host = address(&*linked.other);
        linked.holder[1] = host;
        program.finish(&[linked.pointer(0, DETACH)]).unwrap();
        assert_eq!(linked.on_device(program), host, "the value of now, not of when it was attached");
        linked.holder[1] = 0;
        program.data(Construct::Update, &[linked.holder(FROM)]).unwrap();
        assert_eq!(*linked.holder, [11, host, 22]);
        // Once more is a mistake, except where a construct ends.
        let again = program.finish(&[linked.pointer(0, DETACH)]).unwrap_err();
        assert!(matches!(again.kind, ErrorKind::NotAttached { within: None, .. }), "{again}");
        program.data(Construct::End, &[linked.pointer(0, ATTACH)]).unwrap();
        program.finish(&[linked.pointer(0, FORCE_DETACH)]).unwrap();
        linked.end(program);
        let absent = program.finish(&[linked.pointer(0, DETACH)]).unwrap_err();
        assert!(matches!(absent.kind, ErrorKind::NotPresent { .. }), "{absent}");
        linked.begin(program);
        for kind in [DETACH, FORCE_DETACH] {
            let never = program.finish(&[linked.pointer(0, kind)]).unwrap_err();
            assert!(matches!(never.kind, ErrorKind::NotAttached { within: Some(_), .. }), "{never}");
        }
        linked.end(program);
    });
}

/// The same with what is attached: nothing but counts changes while all stays.
#[test]
fn attachments_count_with_what_they_are_attached_to() {
    Program::each(Language::OpenMp, |program| {
        let mut linked = Linked::new();
        linked.begin(program);
        let attach = linked.pointer(0, ATTACH_ZERO_LENGTH_ARRAY_SECTION);
        let detach = linked.pointer(0, DETACH);
        let attached = device(program, &linked.data);
        for _ in 0..4 {
            program.begin(&[linked.data(TO), attach]).unwrap();
            assert_eq!(linked.on_device(program), attached);
        }
        let counts = || program.counts().into_iter().sum::<u32>();
        assert_eq!(counts(), 6);
        for _ in 0..3 {
            program.finish(&[linked.data(FROM), detach]).unwrap();
            assert_eq!(linked.on_device(program), attached);
        }
        assert_eq!(counts(), 3);
        // The host's pointer has another value now.
        let other = address(&*linked.other);
        linked.holder[1] = other;
        for _ in 0..2 {
            program.begin(&[whole(&*linked.other, TO), attach]).unwrap();
            assert_eq!(linked.on_device(program), device(program, &linked.other));
        }
        for _ in 0..2 {
            program.finish(&[whole(&*linked.other, RELEASE), detach]).unwrap();
        }
        program.finish(&[linked.data(FROM), detach]).unwrap();
        assert_eq!((linked.on_device(program), counts()), (other, 2));
        let again = program.finish(&[detach]).unwrap_err();
        assert!(matches!(again.kind, ErrorKind::NotAttached { within: None, .. }), "{again}");
        // A pointer that the device does not have.
        let local = Box::new(address(&*linked.data));
        let local = |kind| (address(&*local), 0, kind);
        for kinds in [(TO, ATTACH_ZERO_LENGTH_ARRAY_SECTION, FROM, DETACH); 3] {
            program.begin(&[linked.data(kinds.0), local(kinds.1)]).unwrap();
            assert_eq!(counts(), 3);
            program.finish(&[linked.data(kinds.2), local(kinds.3)]).unwrap();
            assert_eq!(counts(), 2);
        }
        linked.end(program);
    });
}

#[test]
fn a_forced_detach_does_not_count() {
    Program::each(Language::OpenAcc, |program| {
        let linked = Linked::new();
        linked.begin(program);
        for _ in 0..3 {
            program.begin(&[linked.pointer(0, ATTACH)]).unwrap();
        }
        program.finish(&[linked.pointer(0, FORCE_DETACH)]).unwrap();
        assert_eq!(linked.on_device(program), address(&*linked.data));
        program.begin(&[linked.pointer(0, ATTACH)]).unwrap();
        assert_eq!(linked.on_device(program), device(program, &linked.data));
        program.finish(&[linked.pointer(0, DETACH)]).unwrap();
        assert_eq!(linked.on_device(program), address(&*linked.data));
        linked.end(program);
    });
}

/// Attached to something else, a pointer stays so until it has been detached as often as attached to
/// either, as libgomp counts.
#[test]
fn a_pointer_that_points_elsewhere() {
    Program::each(Language::OpenAcc, |program| {
        let mut linked = Linked::new();
        linked.begin(program);
        program.begin(&[whole(&*linked.other, TO)]).unwrap();
        for _ in 0..3 {
            program.begin(&[linked.pointer(0, ATTACH)]).unwrap();
        }
        linked.holder[1] = address(&*linked.other);
        program.begin(&[linked.pointer(0, ATTACH)]).unwrap();
        assert_eq!(linked.on_device(program), device(program, &linked.other));
        for _ in 0..4 {
            assert_eq!(linked.on_device(program), device(program, &linked.other));
            program.finish(&[linked.pointer(0, DETACH)]).unwrap();
        }
        assert_eq!(linked.on_device(program), address(&*linked.other));
        program.finish(&[whole(&*linked.other, RELEASE)]).unwrap();
        linked.end(program);
    });
}

/// What a region attaches it detaches, and no more than that.
#[test]
fn regions_detach_what_they_attach() {
    Program::each(Language::OpenAcc, |program| {
        let linked = Linked::new();
        let entries = [linked.holder(TO), linked.data(TOFROM), linked.pointer(0, ATTACH)];
        for before in 0..3 {
            linked.begin(program);
            for _ in 0..before {
                program.begin(&[linked.pointer(0, ATTACH)]).unwrap();
            }
            program.run(&entries, &[1]).unwrap();
            let expected = if before == 0 { address(&*linked.data) } else { device(program, &linked.data) };
            assert_eq!(linked.on_device(program), expected, "attached {before} times before");
            for _ in 0..before {
                assert_eq!(linked.on_device(program), device(program, &linked.data));
                program.finish(&[linked.pointer(0, DETACH)]).unwrap();
            }
            assert_eq!(linked.on_device(program), address(&*linked.data));
            linked.end(program);
        }
        // All new, all gone afterwards; the host's pointer is what it was.
        program.run(&[linked.holder(TOFROM), entries[1], entries[2]], &[1]).unwrap();
        assert_eq!((*linked.holder, linked.data[0]), ([11, address(&*linked.data), 22], 2));
    });
}

/// The section need not begin where the pointer points to.
#[test]
fn sections_with_a_bias() {
    Program::each(Language::OpenAcc, |program| {
        let linked = Linked::new();
        let part = (address(&*linked.data) + 16, 32, TO);
        for kind in [ATTACH, ALWAYS_POINTER] {
            program.begin(&[linked.holder(TO), part, linked.pointer(16, kind)]).unwrap();
            let section = program.device_address(part.0).unwrap().0;
            assert_eq!(linked.on_device(program), section - 16);
            program.finish(&[linked.holder(DELETE), (part.0, part.1, DELETE)]).unwrap();
        }
    });
}

/// Of what a pointer points to only a section is there, to which it has been attached.
#[test]
fn attached_once_more_without_a_section() {
    Program::each(Language::OpenAcc, |program| {
        let linked = Linked::new();
        let part = (address(&*linked.data) + 16, 32, TO);
        program.begin(&[linked.holder(TO), part, linked.pointer(16, ATTACH)]).unwrap();
        let section = program.device_address(part.0).unwrap().0;
        program.begin(&[linked.pointer(0, ATTACH)]).unwrap();
        program.finish(&[linked.pointer(0, DETACH)]).unwrap();
        assert_eq!(linked.on_device(program), section - 16);
        program.finish(&[linked.pointer(0, DETACH)]).unwrap();
        assert_eq!(linked.on_device(program), address(&*linked.data));
        program.finish(&[linked.holder(DELETE), (part.0, part.1, DELETE)]).unwrap();
    });
}

#[test]
fn nothing_to_attach_to() {
    Program::each(Language::OpenAcc, |program| {
        let linked = Linked::new();
        for kind in [ATTACH, ALWAYS_POINTER] {
            for present in [linked.holder(TO), linked.data(TO)] {
                program.begin(&[present]).unwrap();
                let error = program.begin(&[linked.pointer(0, kind)]).unwrap_err();
                assert!(matches!(error.kind, ErrorKind::NotPresent { .. }), "{error}");
                program.finish(&[(present.0, present.1, DELETE)]).unwrap();
            }
        }
    });
}

/// Written whatever the runtime believes to be there: a kernel may have changed it.
#[test]
fn always_pointers_are_always_written() {
    Program::each(Language::OpenMp, |program| {
        let linked = Linked::new();
        linked.begin(program);
        let target = device(program, &linked.data);
        let changed = usize::from_ne_bytes(target.to_ne_bytes().map(|byte| byte.wrapping_add(1)));
        for _ in 0..3 {
            program.begin(&[linked.data(ALLOC), linked.pointer(0, ALWAYS_POINTER)]).unwrap();
            assert_eq!(linked.on_device(program), target);
            // The kernel adds one to each byte of the pointer.
            program.run(&[(address(&linked.holder[1]), 8, ALLOC)], &[0]).unwrap();
            assert_eq!(linked.on_device(program), changed);
        }
        assert_eq!(program.counts().len(), 2);
        linked.end(program);
    });
}

/// A pointer with an entry of its own, as for the section of an array.
#[test]
fn pointers_of_their_own() {
    Program::each(Language::OpenMp, |program| {
        let linked = Linked::new();
        let part = (address(&*linked.data) + 16, 32, TOFROM);
        let entries = [part, linked.pointer(16, POINTER)];
        program.begin(&entries).unwrap();
        let section = program.device_address(part.0).unwrap().0;
        assert_eq!((linked.on_device(program), program.counts()), (section - 16, vec![1, 1]));
        program.run(&entries, &[0]).unwrap();
        assert_eq!(program.counts(), [1, 1]);
        program.finish(&[(part.0, part.1, FROM), (entries[1].0, 8, RELEASE)]).unwrap();
        assert_eq!((linked.data[15], linked.data[16], linked.data[48]), (1, 2, 1));
        // A descriptor that contains the pointer.
        let descriptor = [part, linked.holder(TO_PSET), linked.pointer(16, POINTER)];
        program.begin(&descriptor).unwrap();
        let section = program.device_address(part.0).unwrap().0;
        assert_eq!(linked.on_device(program), section - 16);
        assert_eq!(program.word(address(&linked.holder[2])), 22);
        assert_eq!(program.counts(), [1, 1]);
        program.finish(&[(part.0, part.1, RELEASE), linked.holder(RELEASE)]).unwrap();
    });
}

/// A structured data construct ends with the items that it began with.
#[test]
fn data_regions() {
    Program::each(Language::OpenAcc, |program| {
        let linked = Linked::new();
        let entries = [linked.holder(TO), linked.data(TOFROM), linked.pointer(0, ATTACH)];
        program.begin(&entries).unwrap();
        program.run(&entries, &[1]).unwrap();
        program.begin(&entries).unwrap();
        program.finish(&entries).unwrap();
        assert_eq!(linked.on_device(program), device(program, &linked.data));
        program.finish(&entries).unwrap();
        assert_eq!((linked.data[0], *linked.holder), (2, [11, address(&*linked.data), 22]));
    });
}

/// While one thread has attached a pointer it stays so, whatever others do.
#[test]
fn threads_attach_and_detach() {
    within(120, || {
        Program::each(Language::OpenAcc, |program| {
            let linked = Linked::new();
            linked.begin(program);
            let target = device(program, &linked.data);
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let linked = &linked;
                    scope.spawn(move || {
                        for round in 0..60 {
                            let attach = [linked.pointer(0, ATTACH)];
                            program.begin(&attach).unwrap();
                            assert_eq!(linked.on_device(program), target);
                            if (round + thread) % 3 == 0 {
                                let entries = [linked.holder(TO), linked.data(TO), attach[0]];
                                program.run(&entries, &[]).unwrap();
                                assert_eq!(linked.on_device(program), target);
                            }
                            program.finish(&[linked.pointer(0, DETACH)]).unwrap();
                        }
                    });
                }
            });
            assert_eq!(linked.on_device(program), address(&*linked.data));
            linked.end(program);
        });
    });
}

/// A construct that fails takes back what it has attached.
#[test]
fn faults() {
    for (options, call) in Options::ALL.into_iter().flat_map(|o| Call::ALL.map(|call| (o, call))) {
        for successes in 0.. {
            let program = Program::new(options, Language::OpenAcc);
            let (linked, fresh) = (Linked::new(), [1u8; 16]);
            linked.begin(&program);
            program.begin(&[linked.pointer(0, ATTACH)]).unwrap();
            let entries = [linked.holder(TO), linked.pointer(0, ATTACH), whole(&fresh, TOFROM)];
            program.mock.fail(call, successes);
            let result = program.run(&entries, &[2]);
            let failed = program.mock.stop_failing();
            assert_eq!(result.is_err(), failed, "{options:?}: {call:?} {successes}");
            assert_eq!(linked.on_device(&program), device(&program, &linked.data));
            program.finish(&[linked.pointer(0, DETACH)]).unwrap();
            assert_eq!(
                linked.on_device(&program),
                address(&*linked.data),
                "{options:?}: {call:?} {successes}"
            );
            linked.end(&program);
            program.end();
            if !failed {
                break;
            }
        }
    }
}
