//! Libraries come and go: which device takes which image, what becomes of their
//! globals, and what is said when something is missing.

mod support;

use gangway_backend::DevicePtr;
use gangway_runtime::events::Site;
use gangway_runtime::memory::mapped_address;
use gangway_runtime::{
    Device, EntryKind, ErrorKind, HostEntry, NoItems, Registration, Requirements, Result, Runtime, Shape,
};
use std::ffi::CStr;
use std::sync::Arc;
use support::device::{CONSTANT, COUNTER, FUNCTION, INCREMENT, Mock, MockBackend, Options};
use support::null::{Counts, NullBackend};
use support::within;

const KERNEL: HostEntry = HostEntry { kind: EntryKind::Kernel, address: 0x4000, name: INCREMENT, size: 0 };
const OTHER: HostEntry = HostEntry { kind: EntryKind::Kernel, address: 0x4010, name: c"not there", size: 0 };

fn global(kind: EntryKind, address: usize, name: &'static CStr) -> HostEntry {
    HostEntry { kind, address, name, size: 8 }
}

fn library(key: usize, image: &'static [u8], entries: &[HostEntry]) -> Registration {
    Registration { key, images: vec![image], entries: entries.to_vec(), ..Registration::default() }
}

fn runtime(options: Options) -> (&'static Runtime, Arc<Mock>) {
    let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new()));
    let mock = Mock::new(options);
    runtime.add_backend(Box::new(MockBackend(mock.clone())));
    (runtime, mock)
}

fn device(runtime: &'static Runtime) -> Result<&'static Device> {
    runtime.device(0, &Site::NONE)
}

fn launch(runtime: &Runtime, device: &'static Device, region: usize) -> Result<()> {
    let job = runtime.run(device, Site::NONE, region, &NoItems, &Shape::default());
    job.and_then(|job| job.complete())
}

#[test]
fn globals_live_as_long_as_their_library() {
    for options in Options::ALL {
        let (runtime, mock) = runtime(options);
        let entries = [
            KERNEL,
            global(EntryKind::Global, 0x8000, c"counter"),
            global(EntryKind::Indirect, 0x9000, c"function"),
        ];
        assert!(runtime.register(library(1, b"MOCK", &entries)).is_empty());
        assert_eq!(mock.images(), 0, "loaded before it is needed");
        let device = device(runtime).unwrap();
        assert_eq!((mock.images(), mock.constructed()), (1, 1));
        let counter = mapped_address(device, 0x8000).unwrap();
        assert_eq!(mock.read(counter, 8), COUNTER.to_ne_bytes());
        assert_eq!(mapped_address(device, 0x9000).unwrap().0, FUNCTION);
        launch(runtime, device, KERNEL.address).unwrap();
        // The same variable in another library, as Fortran has it: the first keeps it.
        runtime.register(library(2, b"MOCK", &entries[1..2]));
        assert_eq!(mapped_address(runtime.device(0, &Site::NONE).unwrap(), 0x8000), Some(counter));
        assert_eq!(mock.images(), 2);
        runtime.unregister(2);
        assert_eq!(mapped_address(device, 0x8000), Some(counter));
        runtime.unregister(1);
        assert!(device.table.is_empty());
        assert!(matches!(
            launch(runtime, device, KERNEL.address).unwrap_err().kind,
            ErrorKind::UnknownRegion { address: 0x4000 }
        ));
        // Opened again.
        runtime.register(library(1, b"MOCK", &entries));
        launch(runtime, runtime.device(0, &Site::NONE).unwrap(), KERNEL.address).unwrap();
        runtime.unregister(1);
        mock.assert_all_freed();
    }
}

/// Functions and virtual tables are told in the order of their host addresses, and each
/// word of a table for itself.
#[test]
fn images_are_told_what_is_called_through_host_addresses() {
    for options in Options::ALL {
        let (runtime, mock) = runtime(options);
        let table = HostEntry { size: 24, ..global(EntryKind::Indirect, 0xa000, c"function") };
        let entries = [KERNEL, table, global(EntryKind::Indirect, 0x9000, c"function")];
        runtime.register(library(1, b"MOCK", &entries));
        device(runtime).unwrap();
        let expected = [(0x9000, 0), (0xa000, 0), (0xa008, 8), (0xa010, 16)]
            .map(|(host, offset)| (host, DevicePtr(FUNCTION + offset)));
        assert_eq!(mock.indirect(), expected);
        runtime.unregister(1);
        mock.assert_all_freed();
    }
}

/// With unified shared memory the device's variables refer to the host's. What must
/// not be written is left alone.
#[test]
fn globals_under_unified_shared_memory() {
    for options in Options::ALL {
        let (runtime, mock) = runtime(Options { unified_memory: true, ..options });
        runtime.require(Requirements::UNIFIED_SHARED_MEMORY).unwrap();
        let (reference, constant) = (Box::new(0x7000u64), Box::new(0u64));
        let address = |variable: &u64| std::ptr::from_ref(variable).addr();
        let entries = [
            KERNEL,
            global(EntryKind::Global, address(&reference), c"counter"),
            global(EntryKind::Global, address(&constant), c"constant"),
            global(EntryKind::Indirect, 0x9000, c"function"),
        ];
        runtime.register(library(1, b"MOCK", &entries));
        let device = device(runtime).unwrap();
        let on_device = |variable| mock.read(mapped_address(device, address(variable)).unwrap(), 8);
        assert_eq!(on_device(&reference), reference.to_ne_bytes());
        assert_eq!(on_device(&constant), CONSTANT.to_ne_bytes());
        assert_eq!(mapped_address(device, 0x9000).unwrap().0, FUNCTION);
        launch(runtime, device, KERNEL.address).unwrap();
        runtime.unregister(1);
        mock.assert_all_freed();
    }
}

/// Kernels would follow the host's addresses on a device that cannot.
#[test]
fn devices_without_unified_shared_memory_are_refused_where_it_is_required() {
    for options in Options::ALL {
        let (runtime, mock) = runtime(options);
        runtime.require(Requirements::UNIFIED_SHARED_MEMORY).unwrap();
        runtime.register(library(1, b"MOCK", &[KERNEL]));
        let Err(error) = device(runtime) else { panic!("it has none") };
        assert!(matches!(error.kind, ErrorKind::LacksUnifiedMemory), "{error}");
        assert!(error.to_string().contains("unified shared memory, which the program requires"), "{error}");
        mock.assert_all_freed();
    }
}

#[test]
fn images_that_cannot_be_made_ready() {
    for options in Options::ALL {
        let (runtime, mock) = runtime(options);
        let entries =
            [KERNEL, global(EntryKind::Global, 0x8000, c"counter"), global(EntryKind::Global, 0x8100, c"no")];
        runtime.register(library(1, b"MOCK", &entries));
        runtime.register(library(2, b"MOCK BAD", &[OTHER]));
        let Err(error) = device(runtime) else { panic!("a global is missing") };
        assert!(error.to_string().contains("`no`"), "{error}");
        // Nothing of it stays; another library is not held up.
        let device = device(runtime).unwrap();
        assert!(device.table.is_empty());
        for region in [KERNEL.address, OTHER.address] {
            let error = launch(runtime, device, region).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::ImageLoad(_)), "{error}");
        }
        runtime.register(library(3, b"MOCK", &[HostEntry { address: 0x4020, ..KERNEL }]));
        launch(runtime, runtime.device(0, &Site::NONE).unwrap(), 0x4020).unwrap();
        mock.assert_all_freed();
    }
}

#[test]
fn what_is_missing_is_named() {
    static COUNTS: Counts = Counts::new();
    let (runtime, _mock) = runtime(Options::SYNCHRONOUS);
    // No device, as nobody takes the image; it is given back for a warning.
    assert_eq!(runtime.register(library(1, b"strange", &[KERNEL])), [b"strange"]);
    assert_eq!(runtime.device_count(), 0);
    let Err(error) = runtime.device(0, &Site::NONE) else { panic!("there is none") };
    assert!(matches!(&error.kind, ErrorKind::NoDevices { images, backends }
        if images.len() == 1 && backends.len() == 1));
    // One type of device with an image, one without.
    runtime.register(library(2, b"MOCK", &[OTHER]));
    runtime.add_backend(Box::new(NullBackend(&COUNTS)));
    runtime.number_all_devices();
    assert_eq!(runtime.device_count(), 2);
    let device = runtime.device(0, &Site::NONE).unwrap();
    assert!(matches!(launch(runtime, device, OTHER.address).unwrap_err().kind, ErrorKind::NoKernel(_)));
    let other = runtime.device(1, &Site::NONE).unwrap();
    for region in [KERNEL.address, OTHER.address] {
        let error = launch(runtime, other, region).unwrap_err();
        assert!(matches!(&error.kind, ErrorKind::NoImage { devices, .. } if devices.len() == 2), "{error}");
    }
    for number in [2, -1, i64::MAX] {
        let Err(error) = runtime.device(number, &Site::NONE) else { panic!("there is no device {number}") };
        assert!(matches!(error.kind, ErrorKind::NoSuchDevice { available: 2, .. }));
    }
}

/// Several threads come first, while libraries are still being registered.
#[test]
fn first_use_by_several_threads() {
    for options in Options::ALL {
        within(60, move || {
            let (runtime, mock) = runtime(options);
            std::thread::scope(|scope| {
                for thread in 0..4usize {
                    scope.spawn(move || {
                        for round in 0..40 {
                            let address = 0x4000 + thread * 0x10000 + round * 0x10;
                            let host = 0x80_0000 + thread * 0x100;
                            let entries = [
                                HostEntry { address, ..KERNEL },
                                global(EntryKind::Global, host, c"counter"),
                            ];
                            let key = 1 + thread;
                            runtime.register(library(key, b"MOCK", &entries));
                            let device = device(runtime).unwrap();
                            assert!(mapped_address(device, host).is_some());
                            launch(runtime, device, address).unwrap();
                            runtime.unregister(key);
                            assert!(mapped_address(device, host).is_none());
                        }
                    });
                }
            });
            assert!(device(runtime).unwrap().table.is_empty());
            assert_eq!(mock.images(), 0);
            mock.assert_all_freed();
        });
    }
}

/// A binary with code for several architectures: the device takes the best that it can load.
#[test]
fn the_best_image_that_can_be_loaded_is_taken() {
    for (images, tried) in [
        (vec![&b"MOCK1"[..], b"MOCK3", b"MOCK2"], vec![&b"MOCK3"[..]]),
        (vec![b"MOCK1", b"MOCK3BAD", b"MOCKX", b"MOCK2"], vec![b"MOCK3BAD", b"MOCK2"]),
        // Equally good ones come in the compiler's order; strangers are never tried.
        (vec![b"other", b"MOCK1BAD", b"MOCK1", b"MOCK0"], vec![b"MOCK1BAD", b"MOCK1"]),
    ] {
        let (runtime, mock) = runtime(Options::LAZY);
        runtime.register(Registration { key: 1, images, entries: vec![KERNEL], ..Registration::default() });
        launch(runtime, device(runtime).unwrap(), KERNEL.address).unwrap();
        assert_eq!(mock.tried(), tried);
        assert_eq!((mock.images(), mock.constructed(), mock.destroyed()), (1, 1, 0));
        runtime.unregister(1);
        assert_eq!((mock.images(), mock.constructed(), mock.destroyed()), (0, 1, 1));
    }
}

#[test]
fn when_no_image_can_be_loaded_all_reasons_are_told() {
    let (runtime, mock) = runtime(Options::SYNCHRONOUS);
    let images = vec![&b"MOCKX"[..], b"MOCK1BAD"];
    runtime.register(Registration { key: 1, images, entries: vec![KERNEL], ..Registration::default() });
    assert_eq!(
        device(runtime).err().unwrap().to_string(),
        "device 0: the program's device image cannot be loaded: none of its 2 images for mock devices can be\n    \
         image for mock devices, 5 bytes: it is for another mock\n    \
         image for mock devices, 8 bytes: it says so\n  \
         help: build the program again; `gangway inspect` shows its images"
    );
    assert_eq!((mock.images(), mock.constructed()), (0, 0));
}

/// As in GCC's programs that have images for GPUs of two makers.
#[test]
fn images_of_one_table_may_be_registered_one_by_one() {
    static COUNTS: Counts = Counts::new();
    let (runtime, mock) = runtime(Options::ALL[0]);
    runtime.add_backend(Box::new(NullBackend(&COUNTS)));
    // What the region is called may differ.
    let other = HostEntry { name: c"another name", ..KERNEL };
    runtime.register(library(1, b"MOCK", &[KERNEL]));
    runtime.register(library(2, b"NULL", &[other]));
    assert_eq!(runtime.device_count(), 2);
    for number in 0..2 {
        let device = runtime.device(number, &Site::NONE).unwrap();
        launch(runtime, device, KERNEL.address).unwrap();
        assert_eq!(device.backend().name(), ["mock", "null"][number as usize]);
    }
    assert_eq!((mock.images(), COUNTS.all()[3]), (1, 1));
    runtime.unregister(1);
    runtime.unregister(2);
    assert_eq!((mock.images(), runtime.region_name(KERNEL.address)), (0, None));
}
