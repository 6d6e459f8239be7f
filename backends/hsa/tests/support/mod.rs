//! The back end on the virtual AMD GPU's library, with every call counted, and launches as the runtime makes them.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod counting;

/// So that the library is built.
use gangway_hsa_driver as _;

use gangway_backend::{
    AllocationKind, Backend, Device, DevicePtr, Kernel, Launch, OwnSlots, Result, Session, SourceText,
    Stream, TableRequest,
};
use gangway_commands::{Folder, Run};
use gangway_compilers::Maker;
use gangway_hsa::{Driver, HsaBackend};
use gangway_image::gcn_object;
use libloading::os::unix::Library;
use std::ffi::{CStr, c_void};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Devices in these tests.
pub const DEVICES: usize = 2;
/// What they are.
pub const PROCESSOR: &str = "gfx906";

/// Tests of one process take turns: they count calls.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The library that the tests' own build has made.
fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let file = std::env::current_exe().unwrap().with_file_name("libgangway_hsa_driver.so");
        let settings = [
            ("GANGWAY_VGPU_DEVICES", DEVICES.to_string()),
            ("GANGWAY_VGPU_PROCESSOR", PROCESSOR.to_owned()),
            ("GANGWAY_VGPU_MEMORY", "1G".to_owned()),
        ];
        for (name, value) in settings {
            // SAFETY: the tests of this process wait here, and none reads the environment before.
            unsafe { std::env::set_var(name, value) };
        }
        // SAFETY: our own library, whose loading runs nothing.
        unsafe { Library::new(&file) }.unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    })
}

/// A function of the library, as a program calls it that has got a handle of the library's.
///
/// # Safety
/// `F` is the function's type in `hsa.h`.
pub unsafe fn function<F: Copy>(name: &str) -> F {
    // SAFETY: the caller's promise.
    *unsafe { library().get::<F>(name) }.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The back end. One for all tests: it is what a process has.
pub fn backend() -> &'static HsaBackend {
    static BACKEND: OnceLock<HsaBackend> = OnceLock::new();
    BACKEND.get_or_init(|| {
        let find = |name: &CStr| {
            // SAFETY: nobody calls it as something else than it is.
            let symbol = unsafe { library().get::<*mut c_void>(name.to_bytes_with_nul()) };
            counting::count(name, symbol.map_or(std::ptr::null_mut(), |symbol| *symbol))
        };
        HsaBackend::with_driver(Driver::resolve(&find).unwrap())
    })
}

/// Opens a device.
pub fn open(ordinal: usize) -> Box<dyn Device> {
    backend().open(ordinal).unwrap()
}

/// An image of GCC's, of a source of these tests: what the program that GCC builds of it registers; `None` where GCC
/// has no compiler for AMD's GPUs, which is said.
pub fn image(source: &str) -> Option<Vec<u8>> {
    static MADE: Mutex<Vec<(String, Vec<u8>)>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, image)) = made.iter().find(|(name, _)| name == source) {
        return Some(image.clone());
    }
    let image = compiled(source)?;
    made.push((source.to_owned(), image.clone()));
    Some(image)
}

fn compiled(source: &str) -> Option<Vec<u8>> {
    if let Err(why) = gangway_compilers::accelerator_of(Maker::Amd) {
        eprintln!("skipped: {why}");
        return None;
    }
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let mut compiler = gangway_compilers::gcc();
    compiler.args(["-O2", "-fopenmp", "-foffload=amdgcn-amdhsa"]).arg(&source).args(["-o", "program"]);
    compiler.arg(format!("-foffload-options=amdgcn-amdhsa=-march={PROCESSOR}")).current_dir(&*folder);
    compiler.run().succeeded();
    let program = std::fs::read(folder.path("program")).unwrap();
    let contents = gangway_image::contents(&program).unwrap();
    let image = contents.images.iter().find(|image| image.triple == Some(Maker::Amd.target())).unwrap();
    Some(gcn_object::joined(image.parts[0], &[]))
}

/// A session as the runtime's jobs have one.
pub struct Job<'d> {
    device: &'d dyn Device,
    session: Session,
}

impl<'d> Job<'d> {
    pub fn new(device: &'d dyn Device) -> Self {
        Self { device, session: Session::new() }
    }

    /// Launches a kernel, whose arguments stand where the back end wants them. `place` is asked for device memory
    /// where it wants none.
    pub fn launch(
        &mut self,
        kernel: &Kernel,
        stream: &dyn Stream,
        arguments: &[u64],
        place: &mut dyn FnMut(&[u64]) -> DevicePtr,
    ) -> Result<()> {
        self.launch_at(kernel, stream, arguments, place, SourceText::NONE)
    }

    /// As [`launch`](Self::launch), for a construct at a place.
    pub fn launch_at(
        &mut self,
        kernel: &Kernel,
        stream: &dyn Stream,
        arguments: &[u64],
        place: &mut dyn FnMut(&[u64]) -> DevicePtr,
        source: SourceText,
    ) -> Result<()> {
        self.session.start(0, |state| stream.session_start(state))?;
        let request = TableRequest::of(&kernel.convention, OwnSlots::default(), arguments.len());
        let mut table = stream.argument_table(&mut self.session, kernel, request)?;
        table.extend(arguments.iter().copied());
        let address = table.visible().unwrap_or_else(|| place(table.arguments()));
        table.replace_arguments(address, &kernel.convention);
        let launch = Launch {
            kernel,
            name: "kernel",
            source,
            teams: [1, 1, 1],
            thread_limit: [1, 1, 1],
            trip_count: 0,
            dynamic_group_memory: 0,
            replaced_group_memory: None,
            by_address: false,
        };
        // SAFETY: the tests' kernels take what their tests pass.
        unsafe { stream.launch(&launch, table) }
    }

    pub fn end(&mut self) {
        self.session.end(|state| self.device.session_end(state));
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

    /// Copies words to it.
    pub fn write(&self, stream: &dyn Stream, words: &[u64]) {
        // SAFETY: the block is there until this is dropped, and the copy is waited for.
        unsafe { stream.copy_to_device(self.address, words.as_ptr().cast(), size_of_val(words)) }.unwrap();
        stream.synchronize().unwrap();
    }

    /// Copies it to the host.
    pub fn read(&self, stream: &dyn Stream) -> Vec<u64> {
        let mut words = vec![0_u64; self.size / 8];
        // SAFETY: the block is there, and the copy is waited for.
        unsafe { stream.copy_from_device(words.as_mut_ptr().cast(), self.address, self.size) }.unwrap();
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
