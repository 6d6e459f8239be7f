//! The null back end, written in C against the header, driven through the traits.

mod support;

use gangway_backend::{
    AllocationKind, ArgumentForm, Backend, Completion, Device, DevicePtr, Error, ExecutionMode, Kernel,
    Launch, OwnSlots, Rank, Session, SourceText, TableRequest,
};
use gangway_commands::Folder;
use gangway_external::discover_in;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use support::{IMAGE, Way, allocate, get, null, null_with, put, run, run_in};

fn refusal(variant: &[&str]) -> String {
    let null = null(variant);
    assert_eq!(null.backend.device_count(), 0);
    assert!(!null.backend.recognises(IMAGE));
    let reason = null.backend.why_absent().unwrap();
    assert_eq!(null.backend.refusal(), Some(reason.as_str()));
    let Err(error) = null.backend.open(0) else { panic!("a refused back end opened a device") };
    assert_eq!(error.to_string(), reason);
    reason.replace(&*null.directory.to_string_lossy(), "DIR")
}

#[test]
fn another_version_is_refused() {
    assert_eq!(
        refusal(&["-DVERSION=0x20003"]),
        "DIR/libgangway-rtl-null.so is refused: it was built for version 2.3 of gangway/rtl.h, this Gangway needs \
         version 1.x: build it again with the header that is installed with this Gangway"
    );
    // A later minor version only has more.
    assert_eq!(null(&["-DVERSION=0x10007"]).backend.device_count(), 1);
}

#[test]
fn a_missing_mandatory_function_is_named() {
    assert_eq!(
        refusal(&["-DWITHOUT_LAUNCH"]),
        "DIR/libgangway-rtl-null.so is refused: gangway_rtl_launch_kernel is missing, mandatory function of \
         gangway/rtl.h version 1"
    );
}

#[test]
fn what_is_no_back_end_is_refused() {
    let folder = Folder::new();
    let backend = || discover_in(&[folder.to_owned()]).remove(0);

    folder.write("libgangway-rtl-other.so", "no library");
    let reason = backend().why_absent().unwrap();
    assert!(reason.contains("libgangway-rtl-other.so cannot be loaded: "), "{reason}");

    folder.write("other.c", "int other;");
    folder.tool("cc", &["-shared", "-o", "libgangway-rtl-other.so", "other.c"]);
    let reason = backend().why_absent().unwrap();
    assert!(
        reason.ends_with("it does not define gangway_rtl_version, so it is no Gangway back end"),
        "{reason}"
    );
}

#[test]
fn absent_hardware_is_no_devices_and_a_reason() {
    let null = null(&["-DDEVICES=0"]);
    assert_eq!((null.backend.device_count(), null.backend.refusal()), (0, None));
    assert_eq!(null.backend.why_absent().unwrap(), "the null back end was built without devices");
}

#[test]
fn a_device_that_cannot_be_opened_says_why() {
    let null = null(&["-DFAILING_OPEN"]);
    let Err(error) = null.backend.open(0) else { panic!("opened") };
    assert_eq!(error, Error::Device { code: 802, message: "the accelerator is not powered".to_owned() });
}

#[test]
fn nothing_is_opened_before_it_is_needed() {
    let null = null(&[]);
    let mapped = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        maps.contains(&*null.backend.path().to_string_lossy())
    };
    assert_eq!(null.backend.name(), "null");
    assert!(!mapped(), "discovery has opened the library");
    assert!(null.backend.recognises(IMAGE));
    assert!(mapped());
    for other in [&b"GWNULL"[..], b"", b"\x7fELF\x02\x01\x01"] {
        assert!(!null.backend.recognises(other));
    }
}

#[test]
fn three_devices_have_names_and_their_own_memory() {
    let null = null(&["-DDEVICES=3", "-DMEMORY=1000"]);
    assert_eq!((null.backend.device_count(), null.backend.why_absent()), (3, None));
    assert_eq!(null.backend.unique_id(2), "NULL-0002");
    let devices: Vec<_> = (0..3).map(|i| null.backend.open(i).unwrap()).collect();
    assert!(null.backend.open(3).is_err());
    let block = allocate(&*devices[0], 900);
    assert_eq!(
        devices[0].allocate(101, AllocationKind::Device, false),
        Err(Error::OutOfMemory { requested: 101 })
    );
    assert_eq!(devices[0].describe()[1], ("Memory".to_owned(), "900 of 1000 bytes used".to_owned()));
    let other = allocate(&*devices[1], 900);
    assert!(matches!(devices[2].allocate(8, AllocationKind::Host, false), Err(Error::Unsupported { .. })));

    put(devices[0].immediate(), block, &17_u64);
    assert!(devices[0].capabilities().peer_copy);
    // SAFETY: both blocks are live and large enough.
    unsafe {
        devices[0].immediate().copy_between(1, other, block, 8).unwrap();
        assert_eq!(get::<u64>(devices[1].immediate(), other), 17);
        devices[1].immediate().fill(other, 0x11, 4).unwrap();
        assert_eq!(get::<u64>(devices[1].immediate(), other), 0x1111_1111);
        devices[0].deallocate(block, AllocationKind::Device).unwrap();
    }
    devices[0].allocate(1000, AllocationKind::Device, false).unwrap();
}

#[test]
fn a_synchronous_device_runs_kernels() {
    for variant in [&[][..], &["-DOWN_ARGUMENTS"]] {
        let null = null(variant);
        let device = null.backend.open(0).unwrap();
        assert!(!device.capabilities().asynchronous);
        let module = device.load(IMAGE).unwrap();

        let factor = module.global("factor", 8).unwrap();
        put(device.immediate(), factor, &2.5_f64);
        let values = allocate(&*device, 32);
        put(device.immediate(), values, &[1.0_f64, 2.0, 3.0, 4.0]);
        run(device.immediate(), &*module, "scale", &[values.0 as u64, 4, factor.0 as u64]).unwrap();
        assert_eq!(get::<[f64; 4]>(device.immediate(), values), [2.5, 5.0, 7.5, 10.0]);

        for count in [1, 2, 40, 1000] {
            let mut arguments: Vec<u64> = (0..count).collect();
            arguments[0] = values.0 as u64;
            run(device.immediate(), &*module, "sum", &arguments).unwrap();
            assert_eq!(get::<u64>(device.immediate(), values), (0..count).sum());
        }
        let failed = run(device.immediate(), &*module, "fail", &[]).unwrap_err();
        assert_eq!(failed.to_string(), "the kernel fail has failed (error 719)");
    }
}

/// A kernel that takes fewer arguments than its construct has list items gets its own,
/// and not those of an earlier launch, wherever they are kept.
#[test]
fn a_launch_may_use_less_than_it_has_asked_for() {
    for variant in [&["-DMANDATORY_ONLY"][..], &["-DOWN_ARGUMENTS"]] {
        let null = null(variant);
        let device = null.backend.open(0).unwrap();
        let module = device.load(IMAGE).unwrap();
        let result = allocate(&*device, 8);
        let mut session = Session::default();
        for requested in [31, 32, 33, 64, 500] {
            for used in [2, 31, 32, 33].into_iter().filter(|&used| used <= requested) {
                for (arguments, count) in [(600, 600), (32, 32), (requested, used)] {
                    let request = TableRequest { leading: 0, arguments, trailing: 0 };
                    let mut values: Vec<u64> = (1..=count as u64).collect();
                    values[0] = result.0 as u64;
                    run_in(&mut session, request, device.immediate(), &*module, "sum", &values).unwrap();
                    let sum = (2..=count as u64).sum();
                    assert_eq!(get::<u64>(device.immediate(), result), sum, "{used} of {requested}");
                }
            }
        }
    }
}

/// With sessions, the table of a launch is used again when the session has ended, and not
/// before. Without them the library is told nothing, and the interface asks for nothing.
#[test]
fn sessions_own_what_a_launch_needs() {
    let null = null(&["-DOWN_ARGUMENTS", "-DSESSIONS"]);
    let device = null.backend.open(0).unwrap();
    let module = device.load(IMAGE).unwrap();
    let size = device.capabilities().sessions.unwrap();
    let result = allocate(&*device, 8);
    let tables = || {
        let lines = device.describe();
        lines.into_iter().find(|(key, _)| key == "Tables").map(|(_, count)| count).unwrap()
    };
    let launch = |session: &mut Session| {
        session.start(size, |state| device.immediate().session_start(state)).unwrap();
        let request = TableRequest { leading: 0, arguments: 3, trailing: 0 };
        let arguments = [result.0 as u64, 20, 1];
        run_in(session, request, device.immediate(), &*module, "sum", &arguments).unwrap();
        assert_eq!(get::<u64>(device.immediate(), result), 21);
    };
    let (mut first, mut second) = (Session::default(), Session::default());
    for _ in 0..10 {
        launch(&mut first);
        first.end(|state| device.session_end(state));
    }
    assert_eq!(tables(), "1");
    launch(&mut first);
    launch(&mut second);
    assert_eq!(tables(), "2");
    first.end(|state| device.session_end(state));
    second.end(|state| device.session_end(state));
    // A session without a launch ends, too.
    first.start(size, |state| device.immediate().session_start(state)).unwrap();
    first.end(|state| device.session_end(state));
    assert!(!first.is_open());

    let plain = support::null(&["-DOWN_ARGUMENTS"]).backend.open(0).unwrap();
    assert_eq!(plain.capabilities().sessions, Some(0));
    first.start(0, |state| plain.immediate().session_start(state)).unwrap();
    first.end(|state| plain.session_end(state));
}

#[test]
fn a_launch_for_which_there_is_no_argument_memory_fails() {
    let null = null(&["-DOWN_ARGUMENTS"]);
    let device = null.backend.open(0).unwrap();
    let module = device.load(IMAGE).unwrap();
    let mut session = Session::default();
    let request = TableRequest { leading: 1, arguments: 1000, trailing: 0 };
    let error =
        device.immediate().argument_table(&mut session, &module.kernel("sum").unwrap(), request).unwrap_err();
    assert_eq!(error, Error::Device { code: 11, message: "too many arguments".to_owned() });
}

#[test]
fn images_and_symbols_are_checked() {
    let null = null(&[]);
    let device = null.backend.open(0).unwrap();
    let Err(error) = device.load(b"GWNULL\0kernel nonsense\n") else { panic!("loaded") };
    assert_eq!(
        error.to_string(),
        "image cannot be loaded: `kernel nonsense` is neither a kernel nor a global"
    );
    let module = device.load(IMAGE).unwrap();
    for name in ["other", "a\0b"] {
        let missing = Error::NoSuchSymbol { name: name.to_owned() };
        assert_eq!(module.kernel(name).unwrap_err(), missing);
        assert_eq!(module.global(name, 1).unwrap_err(), missing);
    }
    assert!(matches!(module.global("factor", 9), Err(Error::InvalidImage { .. })));
    assert_eq!(module.constructors().unwrap(), [module.kernel("prepare").unwrap()]);
    // The device stays open for the image that is left.
    drop(device);
    module.kernel("sum").unwrap();
}

/// The library gets the pairs if it has the function for them; nothing goes wrong without.
#[test]
fn functions_that_device_code_finds_by_host_addresses_are_told() {
    let image = b"GWNULL\0kernel sum\nglobal indirect 32\n";
    let pairs = [(0x1000, DevicePtr(7)), (usize::MAX, DevicePtr(0)), (0, DevicePtr(9))];
    for (variant, expected) in [(&[][..], [0; 4]), (&["-DINDIRECT_CALLS"], [0x1000, 7, u64::MAX, 0])] {
        let null = null(variant);
        let device = null.backend.open(0).unwrap();
        let module = device.load(image).unwrap();
        module.indirect_calls(&pairs[..2]).unwrap();
        let indirect = module.global("indirect", 32).unwrap();
        assert_eq!(get::<[u64; 4]>(device.immediate(), indirect), expected, "{variant:?}");
        let refused = module.indirect_calls(&pairs).err();
        let message = "no room for the pairs in indirect".to_owned();
        assert_eq!(refused, (!variant.is_empty()).then_some(Error::Device { code: 22, message }));
    }
}

/// Runs `kernel` of an image that has it, through what the runtime does for its calling
/// convention.
fn run_by_convention(device: &dyn Device, image: &[u8], name: &str, arguments: &[u64]) -> Result<(), Error> {
    let module = device.load(image)?;
    let kernel = module.kernel(name)?;
    let way = Way::of(device);
    let stream = way.stream();
    let mut session = Session::new();
    let request = TableRequest::of(&kernel.convention, OwnSlots::default(), arguments.len());
    let mut table = stream.argument_table(&mut session, &kernel, request)?;
    table.extend(arguments.iter().copied());
    if kernel.convention.form == ArgumentForm::DeviceTable {
        let address = table.visible().unwrap_or_else(|| {
            let copy = allocate(device, size_of_val(table.arguments()));
            // SAFETY: allocated with that size.
            unsafe {
                let from = table.arguments().as_ptr().cast();
                stream.copy_to_device(copy, from, size_of_val(table.arguments())).unwrap();
            }
            copy
        });
        table.replace_arguments(address, &kernel.convention);
    } else {
        table.close();
    }
    let launch = Launch {
        kernel: &kernel,
        name,
        source: SourceText::NONE,
        teams: [1; 3],
        thread_limit: [0; 3],
        trip_count: 0,
        dynamic_group_memory: 0,
        replaced_group_memory: None,
        by_address: false,
    };
    // SAFETY: the tests pass what the kernels expect.
    unsafe { stream.launch(&launch, table) }?;
    stream.synchronize()
}

const CONVENTIONS: &[u8] = b"GWNULL\0kernel packed\nkernel table\nkernel sum\n";

#[test]
fn kernels_say_how_they_take_their_arguments() {
    let variants: [&[&str]; 4] =
        [&[], &["-DVISIBLE_TABLES"], &["-DASYNCHRONOUS"], &["-DASYNCHRONOUS", "-DVISIBLE_TABLES"]];
    for variant in variants {
        let null = null(variant);
        let device = null.backend.open(0).unwrap();
        let result = allocate(&*device, 8);
        let way = Way::of(&*device);
        let first = result.0 as u64;
        for (name, arguments, expected) in [
            ("packed", [first, 0xff_0000_0007, 0x1_09], 7009),
            ("table", [first, 40, 2], 42),
            ("sum", [first, 30, 3], 33),
        ] {
            run_by_convention(&*device, CONVENTIONS, name, &arguments).unwrap();
            assert_eq!(get::<u64>(way.stream(), result), expected, "{name} {variant:?}");
        }
    }
    let null = null(&[]);
    let device = null.backend.open(0).unwrap();
    let module = device.load(CONVENTIONS).unwrap();
    let packed = module.kernel("packed").unwrap();
    assert_eq!((packed.mode, packed.limits.threads), (Some(ExecutionMode::Spmd), NonZeroU32::new(128)));
    assert_eq!(packed.environment, None);
    let table = module.kernel("table").unwrap();
    // An environment may stand anywhere.
    assert_eq!((table.mode, table.environment), (None, Some(DevicePtr(0))));
    assert_eq!(table.limits.dynamic_group_memory, Some(4096));
    let sum = module.kernel("sum").unwrap();
    assert_eq!(sum, Kernel::new(sum.handle));
}

/// Its devices do what they did: what version 1.1 has added is left out.
#[test]
fn a_library_of_version_1_0_works_as_before() {
    for variant in [&[][..], &["-DASYNCHRONOUS"], &["-DASYNCHRONOUS", "-DOWN_ARGUMENTS"]] {
        let null = null_with("tests/null/v1", variant);
        assert_eq!((null.backend.refusal(), null.backend.device_count()), (None, 1));
        let device = null.backend.open(0).unwrap();
        let module = device.load(IMAGE).unwrap();
        let kernel = module.kernel("sum").unwrap();
        assert_eq!(kernel, Kernel::new(kernel.handle));
        let result = allocate(&*device, 8);
        run_by_convention(&*device, IMAGE, "sum", &[result.0 as u64, 30, 3]).unwrap();
        let way = Way::of(&*device);
        assert_eq!(get::<u64>(way.stream(), result), 33);
    }
}

#[test]
fn devices_say_which_image_suits_them_best() {
    let null = null(&[]);
    let device = null.backend.open(0).unwrap();
    assert_eq!(device.fitness(b"GWNULL\0arch 1\nkernel sum\n"), Ok(Rank(1)));
    assert_eq!(device.fitness(b"GWNULL\0arch 2\nkernel sum\n"), Ok(Rank(2)));
    assert_eq!(device.fitness(IMAGE), Ok(Rank(0)));
    let error = device.fitness(b"GWNULL\0arch 3\nkernel sum\n").unwrap_err();
    assert_eq!(error, Error::InvalidImage { reason: "it is for `arch 3`, the device is older".to_owned() });
    // Libraries of version 1.0 take all images alike.
    let first = null_with("tests/null/v1", &[]);
    assert_eq!(first.backend.open(0).unwrap().fitness(IMAGE), Ok(Rank(0)));

    let module = device.load(b"GWNULL\0arch 2\nkernel prepare\nkernel finish\n").unwrap();
    assert_eq!(module.constructors().unwrap(), [module.kernel("prepare").unwrap()]);
    assert_eq!(module.destructors().unwrap(), [module.kernel("finish").unwrap()]);
}

#[test]
fn what_is_left_out_is_unsupported() {
    let null = null(&["-DWITHOUT_FILL"]);
    let device = null.backend.open(0).unwrap();
    let block = allocate(&*device, 8);
    // SAFETY: the block is live.
    unsafe {
        assert_eq!(
            device.immediate().fill(block, 0, 8),
            Err(Error::Unsupported { operation: "memory fill" })
        );
        assert!(matches!(device.pin_host(&mut 0, 1), Err(Error::Unsupported { .. })));
    }
    assert_eq!(device.open_stream().err(), Some(Error::Unsupported { operation: "streams" }));
    assert_eq!(device.immediate().record(), Err(Error::Unsupported { operation: "events" }));
}

#[test]
fn streams_work_behind_the_callers_back_and_in_order() {
    for variant in [&["-DASYNCHRONOUS"][..], &["-DASYNCHRONOUS", "-DOWN_ARGUMENTS"]] {
        let null = null(variant);
        let device = null.backend.open(0).unwrap();
        assert!(device.capabilities().asynchronous);
        let module = device.load(IMAGE).unwrap();
        let stream = device.open_stream().unwrap();
        let on = &*stream;

        // The kernel waits for a flag in host memory: whoever waited for it here
        // would never get to set it.
        let flag = AtomicU64::new(0);
        let log = allocate(&*device, 8);
        put(on, log, &0_u64);
        run(on, &*module, "wait_for", &[std::ptr::from_ref(&flag).addr() as u64]).unwrap();
        for digit in 1..=9 {
            run(on, &*module, "append", &[log.0 as u64, digit]).unwrap();
        }
        assert!(!stream.is_idle().unwrap());
        flag.store(1, Ordering::Release);
        stream.synchronize().unwrap();
        assert!(stream.is_idle().unwrap());
        assert_eq!(get::<u64>(on, log), 123_456_789);

        // A failure shows at the next synchronisation, once.
        run(on, &*module, "fail", &[]).unwrap();
        let failed = stream.synchronize().unwrap_err();
        assert_eq!(failed.to_string(), "the kernel fail has failed (error 719)");
        stream.synchronize().unwrap();
        stream.close().unwrap();
    }
}

#[test]
fn events_order_streams() {
    let null = null(&["-DASYNCHRONOUS"]);
    let device = null.backend.open(0).unwrap();
    let module = device.load(IMAGE).unwrap();
    let (first, second) = (device.open_stream().unwrap(), device.open_stream().unwrap());
    let log = allocate(&*device, 8);
    put(&*first, log, &0_u64);
    let flag = AtomicU64::new(0);
    run(&*first, &*module, "wait_for", &[std::ptr::from_ref(&flag).addr() as u64]).unwrap();
    run(&*first, &*module, "append", &[log.0 as u64, 1]).unwrap();
    let event = first.record().unwrap();
    second.wait(event).unwrap();
    device.destroy_event(event).unwrap();
    run(&*second, &*module, "append", &[log.0 as u64, 2]).unwrap();
    assert!(!second.is_idle().unwrap());
    flag.store(1, Ordering::Release);
    assert_eq!(get::<u64>(&*second, log), 12);
    for stream in [first, second] {
        stream.synchronize().unwrap();
        stream.close().unwrap();
    }
}

#[test]
fn a_device_tells_when_it_has_got_somewhere() {
    let null = null(&["-DASYNCHRONOUS"]);
    let device = null.backend.open(0).unwrap();
    assert!(device.capabilities().completions);
    let module = device.load(IMAGE).unwrap();
    let stream = device.open_stream().unwrap();
    let flag = AtomicU64::new(0);
    let (send, told) = std::sync::mpsc::channel();
    run(&*stream, &*module, "wait_for", &[std::ptr::from_ref(&flag).addr() as u64]).unwrap();
    stream.on_complete(Completion::new(move || send.send(()).unwrap())).unwrap();
    assert!(told.try_recv().is_err());
    flag.store(1, Ordering::Release);
    // By a thread of the device's, without anybody waiting for the stream.
    told.recv().unwrap();
    stream.synchronize().unwrap();
    stream.close().unwrap();
}

#[test]
fn two_back_ends_in_one_process_do_not_meet() {
    let (one, three) = (null(&[]), null(&["-DDEVICES=3"]));
    let merged = Folder::new();
    for (name, from) in [("one", &one), ("three", &three)] {
        let to = merged.path(format!("libgangway-rtl-{name}.so"));
        std::fs::copy(from.backend.path(), to).unwrap();
    }
    let found = discover_in(&[merged.to_owned()]);
    let counts: Vec<_> = found.iter().map(|b| (b.name(), b.device_count())).collect();
    assert_eq!(counts, [("one", 1), ("three", 3)]);
}

#[test]
fn the_guide_quotes_the_code_that_is_tested() {
    let guide = include_str!("../../../docs/writing-a-back-end.md");
    let code =
        concat!(include_str!("null/null.c"), include_str!("null/null.h"), include_str!("null/calls.c"));
    let quotes: Vec<_> = guide.split("```c\n").skip(1).filter_map(|part| part.split("```").next()).collect();
    assert!(quotes.len() >= 6);
    for quote in quotes {
        assert!(code.contains(quote), "no longer in the null back end:\n{quote}");
    }
}
