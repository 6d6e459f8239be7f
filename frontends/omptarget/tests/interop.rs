//! Interoperability objects on an asynchronous back end that has a foreign
//! runtime, through the functions that compilers and programs call.

use gangway_backend::{
    AllocationKind, ArgumentTable, Backend, Capabilities, Device, DevicePtr, Error, ForeignRuntime,
    ForeignRuntimeKind, Launch, Module, Result, Stream, Vendor,
};
use gangway_frontend::state::RUNTIME;
use gangway_omptarget::interop::*;
use gangway_openmp::interop::*;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once};

/// Two devices: 0 has CUDA's driver underneath, 1 nothing that a program can call.
struct Fake;

/// Streams that exist, and how often one was waited for.
static STREAMS: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
static WAITED: AtomicUsize = AtomicUsize::new(0);
static CREATED: AtomicUsize = AtomicUsize::new(0);
/// The tests look at the counters above: one at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct FakeDevice {
    foreign: bool,
}

impl Backend for Fake {
    fn name(&self) -> &str {
        "fake"
    }

    fn recognises(&self, _image: &[u8]) -> bool {
        false
    }

    fn device_count(&self) -> usize {
        2
    }

    fn open(&self, ordinal: usize) -> Result<Box<dyn Device>> {
        Ok(Box::new(FakeDevice { foreign: ordinal == 0 }))
    }
}

impl Device for FakeDevice {
    fn capabilities(&self) -> Capabilities {
        Capabilities { asynchronous: true, ..Capabilities::default() }
    }

    fn foreign_runtime(&self) -> Option<ForeignRuntime> {
        self.foreign.then_some(ForeignRuntime {
            kind: ForeignRuntimeKind::CudaDriver,
            vendor: Vendor::Nvidia,
            platform: None,
            device: Some(0),
            context: Some(0xC0),
        })
    }

    fn immediate(&self) -> &dyn Stream {
        self
    }

    fn open_stream(&self) -> Result<Box<dyn Stream>> {
        let stream = CREATED.fetch_add(1, Ordering::Relaxed) + 1;
        STREAMS.lock().unwrap().insert(stream);
        Ok(Box::new(FakeStream(stream)))
    }

    fn load(&self, _image: &[u8]) -> Result<Box<dyn Module>> {
        Err(Error::Unsupported { operation: "images" })
    }

    fn allocate(&self, _size: usize, _kind: AllocationKind, _overwritten: bool) -> Result<DevicePtr> {
        Err(Error::Unsupported { operation: "memory" })
    }

    unsafe fn deallocate(&self, _pointer: DevicePtr, _kind: AllocationKind) -> Result<()> {
        Err(Error::Unsupported { operation: "memory" })
    }
}

/// The operations of the device, which has none.
macro_rules! no_operations {
    () => {
        unsafe fn copy_to_device(&self, _to: DevicePtr, _from: *const u8, _size: usize) -> Result<()> {
            Err(Error::Unsupported { operation: "copies" })
        }

        unsafe fn copy_from_device(&self, _to: *mut u8, _from: DevicePtr, _size: usize) -> Result<()> {
            Err(Error::Unsupported { operation: "copies" })
        }

        unsafe fn launch(&self, _launch: &Launch<'_>, _table: ArgumentTable<'_>) -> Result<()> {
            Err(Error::Unsupported { operation: "launches" })
        }
    };
}

impl Stream for FakeDevice {
    no_operations!();
}

/// A stream, by its number.
struct FakeStream(usize);

impl Stream for FakeStream {
    no_operations!();

    fn synchronize(&self) -> Result<()> {
        assert!(STREAMS.lock().unwrap().contains(&self.0), "stream {} does not exist", self.0);
        WAITED.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn foreign(&self) -> usize {
        self.0 + 0x1000
    }

    fn close(self: Box<Self>) -> Result<()> {
        assert!(STREAMS.lock().unwrap().remove(&self.0), "stream {} does not exist", self.0);
        Ok(())
    }
}

/// Adds the fake devices once, and lets one test run at a time.
fn begin() -> std::sync::MutexGuard<'static, ()> {
    static ADDED: Once = Once::new();
    ADDED.call_once(|| {
        RUNTIME.add_backend(Box::new(Fake));
        RUNTIME.number_all_devices();
    });
    ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

const TARGET: i32 = 0;
const TARGETSYNC: i32 = 1;
const FR_ID: i32 = -1;
const FR_NAME: i32 = -2;
const VENDOR: i32 = -3;
const VENDOR_NAME: i32 = -4;
const DEVICE_NUM: i32 = -5;
const PLATFORM: i32 = -6;
const DEVICE: i32 = -7;
const DEVICE_CONTEXT: i32 = -8;
const TARGETSYNC_PROPERTY: i32 = -9;

const NO_VALUE: i32 = 1;
const EMPTY: i32 = -1;
const OUT_OF_RANGE: i32 = -2;
const TYPE_INT: i32 = -3;
const TYPE_PTR: i32 = -4;
const TYPE_STR: i32 = -5;
const OTHER: i32 = -6;

fn context(flags: u32, thread: i32) -> Context {
    Context { version: 0, flags, thread }
}

macro_rules! call {
    ($function:ident($($argument:expr),*)) => {
        // SAFETY: objects of this test, and its own variables.
        unsafe { $function($($argument),*) }
    };
}

fn text(string: *const c_char) -> Option<&'static str> {
    // SAFETY: null or a constant.
    (!string.is_null()).then(|| unsafe { CStr::from_ptr(string) }.to_str().unwrap())
}

#[test]
fn properties_of_an_object_with_stream() {
    let _one = begin();
    let ctx = context(0, 0);
    let object = call!(__tgt_interop_get(null(), TARGETSYNC, 0, 0, null(), &raw const ctx, null()));
    assert!(!object.is_null());
    let mut code = 77;
    let code = &raw mut code;
    // SAFETY: the variable above.
    let last = || unsafe { *code };
    for (property, value) in [(FR_ID, 2), (VENDOR, 11), (DEVICE_NUM, 0)] {
        assert_eq!((call!(omp_get_interop_int(object, property, code)), last()), (value, 0));
        assert_eq!((text(call!(omp_get_interop_str(object, property, code))), last()), (None, TYPE_INT));
        assert!(call!(omp_get_interop_ptr(object, property, code)).is_null());
        assert_eq!(last(), TYPE_INT);
    }
    for (property, value) in [(FR_NAME, "cuda_driver"), (VENDOR_NAME, "nvidia")] {
        assert_eq!((text(call!(omp_get_interop_str(object, property, code))), last()), (Some(value), 0));
        assert_eq!((call!(omp_get_interop_int(object, property, code)), last()), (0, TYPE_STR));
    }
    assert_eq!((call!(omp_get_interop_ptr(object, DEVICE_CONTEXT, code)).addr(), last()), (0xC0, 0));
    // Handle 0 of a device is a handle.
    assert_eq!((call!(omp_get_interop_ptr(object, DEVICE, code)).addr(), last()), (0, 0));
    assert_eq!((call!(omp_get_interop_ptr(object, PLATFORM, code)).addr(), last()), (0, NO_VALUE));
    assert_eq!((call!(omp_get_interop_int(object, DEVICE, code)), last()), (0, TYPE_PTR));
    let stream = CREATED.load(Ordering::Relaxed) + 0x1000;
    assert_eq!((call!(omp_get_interop_ptr(object, TARGETSYNC_PROPERTY, code)).addr(), last()), (stream, 0));
    for property in [0, 1, -10, i32::MIN] {
        assert_eq!((call!(omp_get_interop_int(object, property, code)), last()), (0, OUT_OF_RANGE));
        assert_eq!(text(call!(omp_get_interop_name(object, property))), None);
        assert_eq!(text(call!(omp_get_interop_type_desc(object, property))), None);
    }
    // The code is optional.
    assert_eq!(call!(omp_get_interop_int(object, FR_ID, null_mut())), 2);
    let names: Vec<_> = (-9..0).rev().filter_map(|p| text(call!(omp_get_interop_name(object, p)))).collect();
    let expected = "fr_id fr_name vendor vendor_name device_num platform device device_context targetsync";
    assert_eq!(names.join(" "), expected);
    assert_eq!(text(call!(omp_get_interop_type_desc(object, TARGETSYNC_PROPERTY))), Some("CUstream"));
    assert_eq!(text(call!(omp_get_interop_type_desc(object, VENDOR_NAME))), Some("const char *"));
    assert_eq!(call!(__tgt_interop_release(null(), object, &raw const ctx, null())), 0);
}

#[test]
fn an_object_for_handles_only_has_no_stream() {
    let _one = begin();
    let before = CREATED.load(Ordering::Relaxed);
    let ctx = context(0, 0);
    let object = call!(__tgt_interop_get(null(), TARGET, 0, 0, null(), &raw const ctx, null()));
    let mut code = 77;
    assert!(call!(omp_get_interop_ptr(object, TARGETSYNC_PROPERTY, &raw mut code)).is_null());
    assert_eq!((code, CREATED.load(Ordering::Relaxed)), (NO_VALUE, before));
    assert_eq!(call!(__tgt_interop_use60(null(), object, &raw const ctx, null())), 0);
    assert_eq!(call!(__tgt_interop_release(null(), object, &raw const ctx, null())), 0);
}

/// The first preference that the device can fulfil counts; CUDA's two interfaces have their
/// handles in common.
#[test]
fn the_program_may_prefer_one_of_cudas_interfaces() {
    let _one = begin();
    let ctx = context(0, 0);
    for (wanted, got) in [([5, 1, 2], 1), ([7, 2, 1], 2), ([5, 6, 7], 2)] {
        let preferences = wanted.map(|foreign_runtime| Preference {
            foreign_runtime,
            attributes: 0,
            implementation_attributes: 0,
        });
        let list = preferences.as_ptr();
        let object = call!(__tgt_interop_get(null(), TARGET, 0, 3, list, &raw const ctx, null()));
        let mut code = 77;
        assert_eq!((call!(omp_get_interop_int(object, FR_ID, &raw mut code)), code), (got, 0));
        assert_eq!(call!(__tgt_interop_release(null(), object, &raw const ctx, null())), 0);
    }
}

#[test]
fn none_is_answered_with_empty() {
    let _one = begin();
    let ctx = context(0, 0);
    let mut code = 77;
    assert_eq!((call!(omp_get_interop_int(null(), FR_ID, &raw mut code)), code), (0, EMPTY));
    assert!(call!(omp_get_interop_ptr(null(), 5, &raw mut code)).is_null());
    assert_eq!(code, EMPTY);
    assert_eq!(text(call!(omp_get_interop_str(null(), FR_NAME, null_mut()))), None);
    assert_eq!(text(call!(omp_get_interop_name(null(), FR_ID))), None);
    assert_eq!(text(call!(omp_get_interop_type_desc(null(), FR_ID))), None);
    assert_ne!(call!(__tgt_interop_use60(null(), null_mut(), &raw const ctx, null())), 0);
    assert_ne!(call!(__tgt_interop_release(null(), null_mut(), &raw const ctx, null())), 0);
    assert_eq!(call!(ompx_interop_add_completion_callback(null_mut(), None, null_mut())), OTHER);
}

#[test]
fn devices_that_give_no_object() {
    let _one = begin();
    let ctx = context(0, 0);
    // Without foreign runtime; the host; numbers of nothing.
    for device in [1, RUNTIME.device_count() as i64, 99, -5] {
        let object = call!(__tgt_interop_get(null(), TARGETSYNC, device, 0, null(), &raw const ctx, null()));
        assert!(object.is_null(), "device {device}");
    }
}

unsafe extern "C" fn count(_object: *mut Interop, data: *mut c_void) {
    // SAFETY: the test's counter.
    unsafe { *data.cast::<usize>() += 1 };
}

#[test]
fn completion_functions_run_once_when_the_stream_has_been_waited_for() {
    let _one = begin();
    let (ctx, nowait) = (context(0, 0), context(flag::NOWAIT, 0));
    let object = call!(__tgt_interop_get(null(), TARGETSYNC, 0, 0, null(), &raw const ctx, null()));
    let mut calls = 0usize;
    let calls = &raw mut calls;
    // SAFETY: the variable above.
    let called = || unsafe { *calls };
    let add =
        || assert_eq!(call!(ompx_interop_add_completion_callback(object, Some(count), calls.cast())), 0);
    add();
    let waited = WAITED.load(Ordering::Relaxed);
    assert_eq!(call!(__tgt_interop_use60(null(), object, &raw const nowait, null())), 0);
    assert_eq!((called(), WAITED.load(Ordering::Relaxed)), (0, waited));
    assert_eq!(call!(__tgt_interop_use60(null(), object, &raw const ctx, null())), 0);
    assert_eq!((called(), WAITED.load(Ordering::Relaxed)), (1, waited + 1));
    assert_eq!(call!(__tgt_interop_use60(null(), object, &raw const ctx, null())), 0);
    assert_eq!(called(), 1);
    add();
    assert_eq!(call!(__tgt_interop_release(null(), object, &raw const ctx, null())), 0);
    assert_eq!(called(), 2);
}

#[test]
fn what_clang_calls() {
    let _one = begin();
    let streams = STREAMS.lock().unwrap().len();
    for kind in [1, 2] {
        let mut object: *mut Interop = null_mut();
        let variable = &raw mut object;
        call!(__tgt_interop_init(null(), 0, variable, kind, -1, 0, null(), 0));
        assert!(!object.is_null());
        assert_eq!(STREAMS.lock().unwrap().len(), streams + 1);
        call!(__tgt_interop_use(null(), 0, variable, -1, 0, null(), 0));
        assert!(!object.is_null());
        call!(__tgt_interop_destroy(null(), 0, variable, -1, 0, null(), 1));
        assert!(object.is_null());
        assert_eq!(STREAMS.lock().unwrap().len(), streams);
    }
}

#[test]
fn objects_of_dispatch_constructs_are_the_threads_own_and_waited_for() {
    let _one = begin();
    let get = |thread, kind, attributes| {
        let ctx = context(flag::IMPLICIT, thread);
        let preference =
            Preference { foreign_runtime: 2, attributes: 0, implementation_attributes: attributes };
        call!(__tgt_interop_get(null(), kind, 0, 1, &raw const preference, &raw const ctx, null()))
    };
    let first = get(71, TARGETSYNC, 0);
    assert_eq!(get(71, TARGETSYNC, 0), first);
    assert_ne!(get(72, TARGETSYNC, 0), first);
    assert_ne!(get(71, TARGET, 0), first);
    assert_ne!(get(71, TARGETSYNC, 3), first);
    let waited = WAITED.load(Ordering::Relaxed);
    synchronize_implicit(71);
    assert_eq!(WAITED.load(Ordering::Relaxed), waited + 2);
    // Nothing was put into them since.
    synchronize_implicit(71);
    assert_eq!(WAITED.load(Ordering::Relaxed), waited + 2);
    get(71, TARGETSYNC, 0);
    synchronize_implicit(71);
    assert_eq!(WAITED.load(Ordering::Relaxed), waited + 3);
    // Releasing does not end them.
    let ctx = context(flag::IMPLICIT, 71);
    assert_eq!(call!(__tgt_interop_release(null(), first, &raw const ctx, null())), 0);
    assert_eq!(get(71, TARGETSYNC, 0), first);
}
