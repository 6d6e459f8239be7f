//! The back end on the virtual GPU's driver, with every call counted, and launches as the
//! runtime makes them.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod counting;
pub mod ptx;

/// So that the driver library is built.
use gangway_driver as _;

use gangway_backend::{
    AllocationKind, Backend, Device, DevicePtr, Kernel, Launch, OwnSlots, Result, Session, SourceText,
    Stream, TableRequest,
};
use gangway_cuda::{CudaBackend, Driver};
use libloading::os::unix::Library;
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Devices of the virtual GPU in these tests.
pub const DEVICES: usize = 6;

/// Tests of one process take turns: they count calls, and what one does to the current
/// context must not come between another's.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The driver library that the tests' own build has made.
pub fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let file = std::env::current_exe().unwrap().with_file_name("libgangway_driver.so");
        let settings =
            [("GANGWAY_VGPU_DEVICES", DEVICES.to_string()), ("GANGWAY_VGPU_CACHE", "0".to_owned())];
        for (name, value) in settings {
            // SAFETY: the tests of this process wait here, and none reads the environment before.
            unsafe { std::env::set_var(name, value) };
        }
        // SAFETY: our own library, whose loading runs nothing.
        unsafe { Library::new(&file) }.unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    })
}

/// The back end. One for all tests: it is what a process has.
pub fn backend() -> &'static CudaBackend {
    static BACKEND: OnceLock<CudaBackend> = OnceLock::new();
    BACKEND.get_or_init(|| {
        let find = |name: &CStr| {
            // SAFETY: nobody calls it as something else than it is.
            let symbol = unsafe { library().get::<*mut c_void>(name.to_bytes_with_nul()) };
            counting::count(name, symbol.map_or(std::ptr::null_mut(), |symbol| *symbol))
        };
        CudaBackend::with_driver(Driver::resolve(&find).unwrap())
    })
}

/// Opens a device.
pub fn open(ordinal: usize) -> Box<dyn Device> {
    backend().open(ordinal).unwrap()
}

/// What a launch asks for.
#[derive(Clone, Copy, Default)]
pub struct Shape {
    pub teams: [u32; 3],
    pub threads: [u32; 3],
    pub trip_count: u64,
    pub shared: u32,
}

impl Shape {
    pub const OPEN: Self = Self { teams: [0, 1, 1], threads: [0, 1, 1], trip_count: 0, shared: 0 };

    pub const fn of(teams: u32, threads: u32) -> Self {
        Self { teams: [teams, 1, 1], threads: [threads, 1, 1], ..Self::OPEN }
    }
}

/// Launches with one leading slot, as clang's calls have it.
pub fn launch(kernel: &Kernel, stream: &dyn Stream, shape: Shape, arguments: &[u64]) -> Result<()> {
    launch_at(kernel, stream, shape, arguments, SourceText::NONE)
}

/// As [`launch`], for a construct at a place.
pub fn launch_at(
    kernel: &Kernel,
    stream: &dyn Stream,
    shape: Shape,
    arguments: &[u64],
    source: SourceText,
) -> Result<()> {
    let mut session = Session::new();
    let request = TableRequest::of(&kernel.convention, OwnSlots { leading: 1, trailing: 0 }, arguments.len());
    let mut table = stream.argument_table(&mut session, kernel, request)?;
    table.extend(arguments.iter().copied());
    table.close();
    let launch = request_of(kernel, shape, source);
    // SAFETY: the tests' kernels take what their tests pass.
    unsafe { stream.launch(&launch, table) }
}

/// What the runtime asks for with such a launch.
pub fn request_of(kernel: &Kernel, shape: Shape, source: SourceText) -> Launch<'_> {
    Launch {
        kernel,
        name: "",
        source,
        teams: shape.teams,
        thread_limit: kernel.limits.bound(shape.threads),
        trip_count: shape.trip_count,
        dynamic_group_memory: shape.shared,
        replaced_group_memory: None,
        by_address: false,
    }
}

/// Device memory of a test, freed at its end.
pub struct Block<'d> {
    device: &'d dyn Device,
    pub address: DevicePtr,
    size: usize,
}

impl<'d> Block<'d> {
    pub fn new(device: &'d dyn Device, size: usize) -> Self {
        let address = device.allocate(size, AllocationKind::Device, false).unwrap();
        Self { device, address, size }
    }

    pub fn word(&self) -> u64 {
        self.address.0 as u64
    }

    /// Fills it with a byte.
    pub fn fill(&self, stream: &dyn Stream, byte: u8) {
        // SAFETY: the block is there until this is dropped.
        unsafe { stream.fill(self.address, byte, self.size) }.unwrap();
    }

    /// Copies it to the host.
    pub fn read(&self, stream: &dyn Stream) -> Vec<u64> {
        let mut words = vec![0_u64; self.size / 8];
        // SAFETY: the block is there, and the copy is waited for.
        unsafe {
            stream.copy_from_device(words.as_mut_ptr().cast(), self.address, self.size).unwrap();
        }
        stream.synchronize().unwrap();
        words
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        // SAFETY: tests wait for their kernels.
        let _ = unsafe { self.device.deallocate(self.address, AllocationKind::Device) };
    }
}
