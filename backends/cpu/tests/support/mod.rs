//! Device images as the stock compiler makes them.

#![allow(dead_code, reason = "each test program uses its part")]

pub mod mutants;

use gangway_backend::{
    AllocationKind, Backend, Device, DevicePtr, Launch, Module, Session, SourceLocation, SourceText,
    TableRequest, read_sources_with,
};
use gangway_commands::Folder;
use gangway_cpu::CpuBackend;
use std::ffi::CStr;
use std::path::{Path, PathBuf};

/// The x86-64 device image inside the program made from `tests/programs/<source>`.
pub fn image(source: &str, flags: &[&str]) -> Vec<u8> {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    image_of(&source, flags)
}

fn compiler(source: &Path) -> &'static str {
    match source.extension().and_then(|e| e.to_str()) {
        Some("cpp") => "clang++-22",
        Some("f90") => "flang-22",
        _ => "clang-22",
    }
}

fn image_of(source: &Path, flags: &[&str]) -> Vec<u8> {
    let folder = Folder::new();
    let all = ["-O1", "-g", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu"];
    folder.tool(compiler(source), &[&all, flags, &[source.to_str().unwrap(), "-o", "program"]].concat());
    folder.tool("llvm-objcopy-22", &["--dump-section=.llvm.offloading=offload", "program", "/dev/null"]);
    folder.tool("clang-offload-packager-22", &["offload", "--image=file=image,triple=x86_64-pc-linux-gnu"]);
    folder.read("image")
}

/// A shared object made from `tests/programs/<source>`, for what regions cannot say.
pub fn object(source: &str, flags: &[&str]) -> Vec<u8> {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    shared_object_of(&source, flags)
}

/// A shared object made from C text: as good an image, for kernels that no region gives.
pub fn shared_object(text: &str) -> Vec<u8> {
    let folder = Folder::new();
    folder.write("source.c", text);
    shared_object_of(&folder.path("source.c"), &["-O2"])
}

fn shared_object_of(source: &Path, flags: &[&str]) -> Vec<u8> {
    let folder = Folder::new();
    let own = ["-fPIC", "-shared", source.to_str().unwrap(), "-o", "object.so"];
    folder.tool(compiler(source), &[&own, flags].concat());
    folder.read("object.so")
}

/// The kernels of an image, in the order of their source lines.
pub fn kernels(image: &[u8]) -> Vec<String> {
    let mut names: Vec<(u32, String)> = image
        .split(|b| *b == 0)
        .filter_map(|s| std::str::from_utf8(s).ok())
        .filter(|s| s.starts_with("__omp_offloading_"))
        .filter_map(|s| Some((s.rsplit_once("_l")?.1.parse().ok()?, s.to_owned())))
        .collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|(_, name)| name).collect()
}

/// An image on a device.
pub struct Loaded {
    pub module: Box<dyn Module>,
    pub device: Box<dyn Device>,
    pub kernels: Vec<String>,
}

pub fn load(ordinal: usize, image: &[u8]) -> Loaded {
    let device = CpuBackend::new().open(ordinal).unwrap();
    let module = device.load(image).unwrap();
    Loaded { module, device, kernels: kernels(image) }
}

impl Loaded {
    /// Runs kernel number `index` (by source line). The first argument of a
    /// region's kernel is the compiler's own; null will do.
    pub fn run(&self, index: usize, arguments: &[u64]) {
        self.run_at(index, arguments, None);
    }

    /// As [`run`](Self::run), for a construct at `"file function line"`.
    pub fn run_at(&self, index: usize, arguments: &[u64], location: Option<&'static CStr>) {
        read_sources_with(|text| {
            let mut words = text.split(' ');
            let (file, function) = (words.next()?, words.next()?);
            Some(SourceLocation { file, function, line: words.next()?.parse().ok()?, column: 1 })
        });
        let name = &self.kernels[index];
        let launch = Launch {
            kernel: &self.module.kernel(name).unwrap(),
            name,
            // SAFETY: a constant.
            source: location.map_or(SourceText::NONE, |text| unsafe { SourceText::new(text.as_ptr()) }),
            teams: [1, 1, 1],
            thread_limit: [0; 3],
            trip_count: 0,
            dynamic_group_memory: 0,
            replaced_group_memory: None,
            by_address: false,
        };
        let mut session = Session::default();
        let request = TableRequest { leading: 0, arguments: arguments.len(), trailing: 0 };
        let mut table = self.device.immediate().argument_table(&mut session, launch.kernel, request).unwrap();
        table.extend(arguments.iter().copied());
        // SAFETY: the tests pass what their kernels expect.
        unsafe { self.device.immediate().launch(&launch, table) }.unwrap();
    }

    pub fn allocate(&self, size: usize) -> DevicePtr {
        self.device.allocate(size, AllocationKind::Device, false).unwrap()
    }

    pub fn put<T: Copy>(&self, to: DevicePtr, value: T) {
        let from = std::ptr::from_ref(&value).cast();
        // SAFETY: the tests allocate enough.
        unsafe { self.device.immediate().copy_to_device(to, from, size_of::<T>()) }.unwrap();
    }

    pub fn get<T: Copy + Default>(&self, from: DevicePtr) -> T {
        let mut value = T::default();
        let to = std::ptr::from_mut(&mut value).cast();
        // SAFETY: the tests allocate enough.
        unsafe { self.device.immediate().copy_from_device(to, from, size_of::<T>()) }.unwrap();
        value
    }
}
