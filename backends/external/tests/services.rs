//! What a back end may offer or ask for besides: host calls, notices of mapped ranges, memory
//! in the order of streams, handles of any value. The null back end under the real runtime.

mod support;

use gangway_backend::{
    AllocationKind, Backend, Capabilities, DevicePtr, Error, ForeignRuntime, ForeignRuntimeKind, HostCalls,
    Vendor,
};
use gangway_runtime::events::Site;
use gangway_runtime::{
    DataOperation, EntryKind, HostEntry, Item, Items, Label, MapKind, Registration, Runtime, Shape,
    host_calls,
};
use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};
use support::{IMAGE, Null, allocate, null, null_of, null_with, put, run};

/// Items of a construct.
struct List(Vec<Item>);

impl List {
    /// Words that go to the device, if they are not only to be fetched.
    fn words(words: &[u64], kind: MapKind) -> Item {
        let begin = words.as_ptr().addr();
        Item { base: begin, begin, size: size_of_val(words), kind, label: Label::NONE }
    }

    fn value(value: u64) -> Item {
        let kind = MapKind::LITERAL | MapKind::PARAMETER;
        Item { base: value as usize, begin: 0, size: 8, kind, label: Label::NONE }
    }
}

impl Items for List {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn kind(&self, index: usize) -> MapKind {
        self.0[index].kind
    }

    fn item(&self, index: usize) -> Item {
        self.0[index]
    }

    fn knows(&self, _kind: MapKind) -> bool {
        true
    }

    fn explain_unknown(&self, kind: MapKind) -> String {
        format!("{kind:?}")
    }
}

const REGION: usize = 0x4000;

/// A runtime over a back end, with a program of one kernel.
fn runtime(null: Null, image: &'static [u8], kernel: &'static CStr) -> &'static Runtime {
    let runtime: &'static Runtime = Box::leak(Box::default());
    runtime.add_backend(Box::new(null.backend));
    runtime.register(Registration {
        key: 1,
        images: vec![image],
        entries: vec![HostEntry { kind: EntryKind::Kernel, address: REGION, name: kernel, size: 0 }],
        ..Registration::default()
    });
    runtime
}

fn launch(runtime: &'static Runtime, items: Vec<Item>) -> gangway_runtime::Result<()> {
    let device = runtime.device(0, &Site::NONE)?;
    runtime.run(device, Site::NONE, REGION, &List(items), &Shape::default())?.complete()
}

const ASKING: &[u8] = b"GWNULL\0kernel ask\nglobal channel 8\n";

const CALLING: [&[&str]; 4] = [
    &["-DHOST_CALLS"],
    &["-DHOST_CALLS", "-DASYNCHRONOUS"],
    &["-DCHANNEL"],
    &["-DCHANNEL", "-DASYNCHRONOUS"],
];

#[test]
fn kernels_call_the_host_from_several_threads_at_once() {
    for (number, variant) in (1..).zip(CALLING) {
        let runtime = runtime(null(variant), ASKING, c"ask");
        assert!(
            host_calls::register(number, |call| call.words()[0] = call.words()[0] * 1000 + call.words()[1])
        );
        const THREADS: u64 = 8;
        const CALLS: u64 = 40;
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let sums = [0u64; THREADS as usize];
                    let sums = std::hint::black_box(&sums);
                    let out = List::words(sums, MapKind::FROM | MapKind::PARAMETER);
                    let values = [number, THREADS, CALLS].map(List::value);
                    launch(runtime, [vec![out], values.to_vec()].concat()).unwrap();
                    for (thread, sum) in (0..).zip(sums) {
                        let expected = CALLS * thread * 1000 + CALLS * (CALLS - 1) / 2;
                        assert_eq!(*sum, expected, "{variant:?}: thread {thread}");
                    }
                });
            }
        });
        assert!(host_calls::unregister(number));
        // Nobody answers any more: the kernel is told so, and fails.
        let sums = [0u64; 1];
        let items = [
            vec![List::words(&sums, MapKind::FROM | MapKind::PARAMETER)],
            [number, 1, 1].map(List::value).to_vec(),
        ];
        let error = launch(runtime, items.concat()).unwrap_err().to_string();
        assert!(error.contains("a host call of ask failed (error 101)"), "{variant:?}: {error}");
    }
}

#[test]
fn devices_say_how_their_kernels_call_the_host() {
    for (variant, expected) in [
        (&[][..], HostCalls::None),
        (&["-DHOST_CALLS"], HostCalls::Direct),
        (&["-DCHANNEL"], HostCalls::Channel { rings: true }),
    ] {
        let null = null(variant);
        assert_eq!(null.backend.open(0).unwrap().capabilities().host_calls, expected, "{variant:?}");
    }
    // A library of version 1.0 offers and asks for nothing of this.
    let first = null_with("tests/null/v1", &["-DASYNCHRONOUS"]);
    let Capabilities { host_calls, mapping_notices, stream_ordered_memory, .. } =
        first.backend.open(0).unwrap().capabilities();
    assert_eq!((host_calls, mapping_notices, stream_ordered_memory), (HostCalls::None, false, false));
}

#[test]
fn flags_without_their_functions_are_refused() {
    for (flags, missing) in [
        ("-DFLAGS=64", "host calls need gangway_rtl_connect_host_calls and gangway_rtl_host_call_link"),
        ("-DFLAGS=128", "host calls need gangway_rtl_connect_host_calls and gangway_rtl_host_call_link"),
        ("-DFLAGS=512", "GANGWAY_RTL_MAPPING_NOTICES is set without gangway_rtl_host_range"),
    ] {
        let null = null_of("include", &[flags], &["numbers.c"]);
        let Err(error) = null.backend.open(0) else { panic!("{flags}: opened") };
        assert!(error.to_string().ends_with(missing), "{error}");
    }
}

fn property(runtime: &'static Runtime, name: &str) -> String {
    let lines = runtime.device(0, &Site::NONE).unwrap().describe().unwrap();
    lines.into_iter().find(|(key, _)| key == name).unwrap().1
}

#[test]
fn a_device_is_told_which_ranges_are_mapped() {
    for variant in [&["-DNOTICES"][..], &["-DNOTICES", "-DASYNCHRONOUS"]] {
        let runtime = runtime(null(variant), IMAGE, c"append");
        let device = runtime.device(0, &Site::NONE).unwrap();
        let arrays = [vec![1u64; 10], vec![2; 500]];
        let data = |operation, kind| {
            let items = arrays.iter().map(|array| List::words(array, kind)).collect();
            runtime.data_and_wait(device, Site::NONE, operation, &List(items)).unwrap();
        };
        data(DataOperation::Begin, MapKind::TO);
        assert_eq!(property(runtime, "Mapped"), "4080 bytes of the host", "{variant:?}");
        data(DataOperation::Begin, MapKind::TO);
        let log = List::words(&arrays[0], MapKind::TO | MapKind::FROM | MapKind::PARAMETER);
        launch(runtime, vec![log, List::value(7)]).unwrap();
        assert_eq!(property(runtime, "Mapped"), "4080 bytes of the host", "{variant:?}");
        data(DataOperation::End, MapKind::FROM);
        assert_eq!(property(runtime, "Mapped"), "4080 bytes of the host", "{variant:?}");
        data(DataOperation::End, MapKind::FROM);
        assert_eq!(property(runtime, "Mapped"), "0 bytes of the host", "{variant:?}");
        assert_eq!(arrays[0][0], 17);
    }
}

#[test]
fn memory_is_freed_in_the_order_of_a_stream() {
    let null = null(&["-DASYNCHRONOUS", "-DSTREAM_ORDERED"]);
    let device = null.backend.open(0).unwrap();
    assert!(device.capabilities().stream_ordered_memory);
    let module = device.load(IMAGE).unwrap();
    let stream = device.open_stream().unwrap();
    let memory = stream.allocate_in_order(1000).unwrap();
    let flag = AtomicU64::new(0);
    let on = &*stream;
    run(on, &*module, "wait_for", &[std::ptr::from_ref(&flag).addr() as u64]).unwrap();
    put(on, memory, &5u64);
    // SAFETY: the copy comes before it in the stream.
    unsafe { stream.deallocate_in_order(memory) }.unwrap();
    let used = || device.describe().into_iter().find(|(key, _)| key == "Memory").unwrap().1;
    assert!(used().starts_with("1000 of "), "{}", used());
    flag.store(1, Ordering::Release);
    stream.synchronize().unwrap();
    assert!(used().starts_with("0 of "), "{}", used());
    let error = stream.allocate_in_order(2 << 20).unwrap_err();
    assert_eq!(error, Error::OutOfMemory { requested: 2 << 20 });
    stream.close().unwrap();

    // Under the runtime.
    let null = support::null(&["-DASYNCHRONOUS", "-DSTREAM_ORDERED"]);
    let runtime = runtime(null, IMAGE, c"append");
    let log = vec![1u64; 60_000];
    for round in 0..10 {
        let log = List::words(&log, MapKind::TO | MapKind::FROM | MapKind::PARAMETER);
        launch(runtime, vec![log, List::value(round)]).unwrap();
    }
    assert_eq!(log[0], 10_123_456_789);
    runtime.unregister(1);
    assert!(property(runtime, "Memory").starts_with("0 of "));
}

/// A back end may number what it has from 0, and its memory may begin there.
#[test]
fn any_value_is_a_handle() {
    let null = null_of("include", &[], &["numbers.c"]);
    let device = null.backend.open(0).unwrap();
    assert_eq!(device.open_stream().unwrap().foreign(), 0);
    assert_eq!(allocate(&*device, 8), DevicePtr(0));
    let foreign = ForeignRuntime {
        kind: ForeignRuntimeKind::Hsa,
        vendor: Vendor::Amd,
        platform: Some(0),
        device: None,
        context: None,
    };
    assert_eq!(device.foreign_runtime(), Some(foreign));
    let other = null_of("include", &["-DCONTEXT=0x10"], &["numbers.c"]);
    let other = other.backend.open(0).unwrap();
    // Version 1.0 had no flags: what is not null is there.
    assert_eq!(other.foreign_runtime(), Some(ForeignRuntime { context: Some(0x10), ..foreign }));
    drop((device, other));

    let runtime = runtime(null_of("include", &[], &["numbers.c"]), b"N", c"double");
    let device = runtime.device(0, &Site::NONE).unwrap();
    let (value, other) = ([21u64], [1u64]);
    let both = MapKind::TO | MapKind::FROM;
    let data = |operation, word: &[u64]| {
        let items = List(vec![List::words(word, both)]);
        runtime.data_and_wait(device, Site::NONE, operation, &items).unwrap();
    };
    data(DataOperation::Begin, &value);
    assert_eq!(gangway_runtime::memory::mapped_address(device, value.as_ptr().addr()), Some(DevicePtr(0)));
    launch(runtime, vec![List::words(&value, both | MapKind::PARAMETER)]).unwrap();
    launch(runtime, vec![List::words(&other, both | MapKind::PARAMETER)]).unwrap();
    data(DataOperation::End, &value);
    assert_eq!((value, other), ([42], [2]));
    assert!(device.table.entries().is_empty());
    let kind = AllocationKind::Device;
    let memory = gangway_runtime::memory::allocate(device, 8, kind, &Site::NONE).unwrap();
    // SAFETY: nobody uses it.
    unsafe { gangway_runtime::memory::free(device, memory, kind, &Site::NONE) }.unwrap();
}
