//! What the runtime may assume of back ends: little. They wait for locks that another
//! caller of the runtime holds, and their objects may have no address of their own.

mod support;

use gangway_backend::{
    AllocationKind, ArgumentTable, Backend, Capabilities, Device, DevicePtr, Kernel, KernelHandle, Launch,
    Module, Result, Stream,
};
use gangway_runtime::events::Site;
use gangway_runtime::memory::{self, Place};
use gangway_runtime::{EntryKind, HostEntry, NoItems, Registration, Runtime, Shape};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use support::within;

/// A lock like the system loader's: a thread that has it may take it again.
#[derive(Default)]
struct LoaderLock {
    state: Mutex<Loader>,
    changed: Condvar,
}

#[derive(Default)]
struct Loader {
    held: bool,
    /// From this call on, others wait for who holds the lock.
    contended_from: Option<Call>,
    /// The calls that have come to the lock.
    arrived: Vec<Call>,
}

thread_local! {
    /// Whether this thread has the loader's lock.
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

impl LoaderLock {
    /// Takes the lock, which others will want when they come to `call`.
    fn hold(&self, call: Call) {
        *self.state.lock().unwrap() = Loader { held: true, contended_from: Some(call), arrived: Vec::new() };
        HOLDS.set(true);
    }

    fn let_go(&self) {
        HOLDS.set(false);
        self.state.lock().unwrap().held = false;
        self.changed.notify_all();
    }

    /// What a back end does in the loader: it waits until nobody else is there.
    fn visit(&self, call: Call) {
        let mut state = self.state.lock().unwrap();
        state.arrived.push(call);
        self.changed.notify_all();
        if !HOLDS.get() {
            let must_wait = |state: &mut Loader| {
                state.held && state.contended_from.is_some_and(|call| state.arrived.contains(&call))
            };
            drop(self.changed.wait_while(state, must_wait).unwrap());
        }
    }

    fn wait_for(&self, call: Call) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| !state.arrived.contains(&call)).unwrap());
    }
}

/// The calls of a back end in which it may wait for the loader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Recognises,
    DeviceCount,
    Open,
    Load,
    Global,
    Constructors,
    Kernel,
    Unload,
}

/// A back end that goes through the loader in every call.
struct Loading(Arc<LoaderLock>);
struct LoadingDevice(Arc<LoaderLock>);
struct LoadingModule(Arc<LoaderLock>);

impl Backend for Loading {
    fn name(&self) -> &str {
        "loading"
    }

    fn recognises(&self, _image: &[u8]) -> bool {
        self.0.visit(Call::Recognises);
        true
    }

    fn device_count(&self) -> usize {
        self.0.visit(Call::DeviceCount);
        1
    }

    fn open(&self, _ordinal: usize) -> Result<Box<dyn Device>> {
        self.0.visit(Call::Open);
        Ok(Box::new(LoadingDevice(self.0.clone())))
    }
}

impl Module for LoadingModule {
    fn kernel(&self, _name: &str) -> Result<Kernel> {
        self.0.visit(Call::Kernel);
        Ok(Kernel::new(KernelHandle(1)))
    }

    fn global(&self, _name: &str, _size: usize) -> Result<DevicePtr> {
        self.0.visit(Call::Global);
        Ok(DevicePtr(0x1000))
    }

    fn constructors(&self) -> Result<Vec<Kernel>> {
        self.0.visit(Call::Constructors);
        Ok(Vec::new())
    }
}

impl Drop for LoadingModule {
    fn drop(&mut self) {
        self.0.visit(Call::Unload);
    }
}

/// The part of a device that is the same for all of these: it has no memory.
macro_rules! device_without_memory {
    () => {
        fn immediate(&self) -> &dyn Stream {
            self
        }

        fn allocate(&self, _size: usize, _kind: AllocationKind, _overwritten: bool) -> Result<DevicePtr> {
            Ok(DevicePtr(0x10_0000))
        }

        unsafe fn deallocate(&self, _pointer: DevicePtr, _kind: AllocationKind) -> Result<()> {
            Ok(())
        }
    };
}

/// And what it does with nothing.
macro_rules! operations_without_memory {
    () => {
        unsafe fn copy_to_device(&self, _to: DevicePtr, _from: *const u8, _size: usize) -> Result<()> {
            Ok(())
        }

        unsafe fn copy_from_device(&self, _to: *mut u8, _from: DevicePtr, _size: usize) -> Result<()> {
            Ok(())
        }

        unsafe fn launch(&self, _launch: &Launch<'_>, _table: ArgumentTable<'_>) -> Result<()> {
            Ok(())
        }
    };
}

impl Stream for LoadingDevice {
    operations_without_memory!();
}

impl Device for LoadingDevice {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn load(&self, _image: &[u8]) -> Result<Box<dyn Module>> {
        self.0.visit(Call::Load);
        Ok(Box::new(LoadingModule(self.0.clone())))
    }

    device_without_memory!();
}

fn library(key: usize) -> Registration {
    let entries = vec![
        HostEntry { kind: EntryKind::Kernel, address: 0x4000 + key * 16, name: c"kernel", size: 0 },
        HostEntry { kind: EntryKind::Global, address: 0x8_0000 + key * 16, name: c"global", size: 8 },
    ];
    Registration { key, images: vec![b"IMAGE"], entries, ..Registration::default() }
}

fn launch(runtime: &'static Runtime, key: usize) {
    let device = runtime.device(0, &Site::NONE).unwrap();
    let job = runtime.run(device, Site::NONE, 0x4000 + key * 16, &NoItems, &Shape::default());
    job.unwrap().complete().unwrap();
}

/// Whatever the back end is asked on one thread while another one is in the loader: that
/// one can register a library, use it and unregister it, as the constructor and the
/// destructor of a library that is being opened do.
#[test]
fn a_thread_in_the_loader_never_waits_for_one_that_waits_for_the_loader() {
    use Call::{Constructors, DeviceCount, Global, Kernel, Load, Open, Recognises, Unload};
    for call in [Recognises, DeviceCount, Open, Load, Global, Constructors, Kernel, Unload] {
        within(60, move || {
            let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new()));
            let loader = Arc::new(LoaderLock::default());
            runtime.add_backend(Box::new(Loading(loader.clone())));
            if call == Unload {
                runtime.register(library(1));
                launch(runtime, 1);
            }
            loader.hold(call);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    if call == Unload {
                        return runtime.unregister(1);
                    }
                    runtime.register(library(1));
                    launch(runtime, 1);
                });
                loader.wait_for(call);
                runtime.register(library(3));
                launch(runtime, 3);
                assert_eq!(runtime.backends().len(), 1);
                runtime.unregister(3);
                loader.let_go();
            });
        });
    }
}

/// Back ends without fields, all of which are at the same address.
struct First;
struct Second;
struct Plain;

static COPIES_BETWEEN: AtomicUsize = AtomicUsize::new(0);

/// Back ends that count how often somebody wants to know their devices.
struct Asked<'a>(&'static str, &'static [u8], usize, &'a AtomicUsize);

impl Backend for First {
    fn name(&self) -> &str {
        "first"
    }

    fn recognises(&self, _image: &[u8]) -> bool {
        false
    }

    fn device_count(&self) -> usize {
        2
    }

    fn open(&self, _ordinal: usize) -> Result<Box<dyn Device>> {
        Ok(Box::new(Plain))
    }
}

impl Backend for Second {
    fn name(&self) -> &str {
        "second"
    }

    fn recognises(&self, _image: &[u8]) -> bool {
        false
    }

    fn device_count(&self) -> usize {
        1
    }

    fn open(&self, _ordinal: usize) -> Result<Box<dyn Device>> {
        Ok(Box::new(Plain))
    }
}

impl Backend for Asked<'static> {
    fn name(&self) -> &str {
        self.0
    }

    fn recognises(&self, image: &[u8]) -> bool {
        image == self.1
    }

    fn device_count(&self) -> usize {
        self.3.fetch_add(1, Ordering::Relaxed);
        self.2
    }

    fn open(&self, _ordinal: usize) -> Result<Box<dyn Device>> {
        Ok(Box::new(Plain))
    }
}

impl Device for Plain {
    fn capabilities(&self) -> Capabilities {
        Capabilities { peer_copy: true, ..Capabilities::default() }
    }

    fn load(&self, _image: &[u8]) -> Result<Box<dyn Module>> {
        Err(gangway_backend::Error::Unsupported { operation: "images" })
    }

    device_without_memory!();
}

impl Stream for Plain {
    unsafe fn copy_between(
        &self,
        _to_ordinal: usize,
        _to: DevicePtr,
        _from: DevicePtr,
        _size: usize,
    ) -> Result<()> {
        COPIES_BETWEEN.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    operations_without_memory!();
}

#[test]
fn back_ends_are_told_apart_whatever_their_addresses() {
    let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new()));
    runtime.add_backend(Box::new(First));
    runtime.add_backend(Box::new(Second));
    runtime.number_all_devices();
    assert_eq!(runtime.device_count(), 3);
    let place = |number| Place { device: runtime.device_unprepared(number), address: 0x10_0000 };
    let copy = |to, from| {
        // SAFETY: the devices touch no memory.
        unsafe { memory::copy(place(to), place(from), 64, &Site::NONE) }.unwrap();
        COPIES_BETWEEN.swap(0, Ordering::Relaxed)
    };
    assert_eq!(copy(0, 1), 1, "two devices of one back end");
    assert_eq!(copy(0, 2), 0, "the second back end knows nothing of the first one's memory");
    assert_eq!(copy(2, 1), 0);
}

fn library_of(key: usize, images: &[&'static [u8]]) -> Registration {
    Registration { key, images: images.to_vec(), ..Registration::default() }
}

/// A driver that has been started is of no use to a forked child.
#[test]
fn back_ends_are_asked_for_devices_when_the_program_asks() {
    static EARLY: AtomicUsize = AtomicUsize::new(0);
    static LATE: AtomicUsize = AtomicUsize::new(0);
    let asked = || (EARLY.load(Ordering::Relaxed), LATE.load(Ordering::Relaxed));
    let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new()));
    runtime.add_backend(Box::new(Asked("early", b"early", 2, &EARLY)));
    runtime.add_backend(Box::new(Asked("late", b"late", 1, &LATE)));
    runtime.register(library_of(1, &[b"early"]));
    runtime.register(library_of(2, &[b"strange"]));
    runtime.unregister(2);
    runtime.trim();
    drop(runtime.before_fork());
    assert_eq!(runtime.numbered_devices().count(), 0);
    assert_eq!(asked(), (0, 0), "before the first question");

    assert_eq!(runtime.device_count(), 2);
    assert_eq!(runtime.device_count(), 2);
    assert_eq!(asked(), (1, 0), "a back end without images stays unasked");

    // The program knows its devices: those of a new library join them at once.
    runtime.register(library_of(3, &[b"late"]));
    assert_eq!(asked().1, 1);
    assert_eq!(runtime.device_count(), 3);
}

/// Whoever comes first, numbers follow the order of the libraries and of the back ends.
#[test]
fn the_order_of_libraries_and_back_ends_gives_devices_their_numbers() {
    static NEVER_MIND: AtomicUsize = AtomicUsize::new(0);
    for (libraries, expected) in [
        (vec![vec![&b"second"[..], b"first"]], ["first", "first", "second"]),
        (vec![vec![&b"second"[..]], vec![b"first"]], ["second", "first", "first"]),
    ] {
        let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new()));
        runtime.add_backend(Box::new(Asked("first", b"first", 2, &NEVER_MIND)));
        runtime.add_backend(Box::new(Asked("second", b"second", 1, &NEVER_MIND)));
        for (key, images) in libraries.iter().enumerate() {
            runtime.register(library_of(key + 1, images));
        }
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(runtime.device_count(), 3));
            }
        });
        let names: Vec<_> = runtime.devices().map(|device| device.backend().name()).collect();
        assert_eq!(names, expected);
    }
}
